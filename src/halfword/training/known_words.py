"""Which words a model knows: those that people typed, and those of its background."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping

from halfword.core.model_file import Array
from halfword.core.words import words_in
from halfword.data.query_table import QueryTable
from halfword.search.model import import_engine


def shared_words(counts: Mapping[str, int], least: int) -> Mapping[str, int]:
    """Return queries of those words alone that occur at least so often, and every character by itself.

    Pieces that are learned from them spell no word that only one person typed.
    """
    if least <= 1:
        return counts
    often: Counter[str] = Counter()
    for query, count in counts.items():
        for word in set(query.split()):
            often[word] += count
    characters = {character for query in counts for character in query if character != " "}
    known = (
        (" ".join(word for word in query.split() if often[word] >= least), count) for query, count in counts.items()
    )
    shared = QueryTable.of(pair for pair in known if pair[0])
    return QueryTable.sum_of([shared, QueryTable.of(dict.fromkeys(sorted(characters), 1))])


def word_arrays(queries: Iterable[str], background: Collection[str]) -> dict[str, Array]:
    """Return the words of some queries and of the background: a filter for each, and the list of all."""
    engine = import_engine()
    typed = {word for query in queries for word in words_in(query)}
    known = {part for word in background for part in words_in(word)}
    arrays = {"words.filter": Array("U64", engine.word_filter(sorted(typed)))}
    if known:
        arrays["words.background"] = Array("U64", engine.word_filter(sorted(known - typed)))
    listed = engine.lexicon_arrays(sorted(typed | known))
    return arrays | {name: Array(dtype, data) for name, (dtype, data) in listed.items()}
