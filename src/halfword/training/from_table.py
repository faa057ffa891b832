"""The parts of a model that are made of whole queries and their words, learned by the engine from a table.

Each function gives the same arrays as the plain one of its module, which says what they are: `fold_queries`,
`learn_spellings`, `word_arrays`, `learn_forms`, `word_tree` and `learn_companions`. No query becomes a Python object.
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from halfword.core.filters import SPELLED, Blocklist
from halfword.core.folding import is_plain
from halfword.core.model_file import Array
from halfword.core.words import is_without_spaces, words_in
from halfword.data.query_table import QueryTable
from halfword.search.model import import_engine
from halfword.training.companions import LONGEST, MOST_IN_A_QUERY, MOST_WORDS, Companions, choose_words, kept_pairs
from halfword.training.folding import LARGEST_COUNT, forms_of
from halfword.training.spellings import SHARE_OF_A_DOMAIN, letter_arrays
from halfword.training.word_tree import may_be_mistyped

_MOST_COUNTED = 65_536  # words whose counts the ranker knows: a third of a megabyte

Column = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class WordColumns:
    """All words of a table, sorted by their bytes, with what is counted of each."""

    words: QueryTable  # with how often each was typed
    typed: Column  # how often queries were typed that hold it
    queries: Column  # how many queries hold it
    ended: Column  # how many queries end with it

    @classmethod
    def of(cls, table: QueryTable) -> "WordColumns":
        """Count the words of a table."""
        text, begin, occurrences, *counted = import_engine().word_columns(table.columns)
        return cls(QueryTable(text, begin, occurrences), *(np.frombuffer(column, "<u8") for column in counted))

    @property
    def occurrences(self) -> Column:
        """How often each word was typed."""
        return np.frombuffer(self.words.count, "<u8")

    def where(self, holds: Callable[[str], bool]) -> NDArray[np.bool_]:
        """Return which words a function holds for."""
        return np.fromiter((holds(word) for word in self.words), bool, len(self.words))

    def find(self, words: list[str]) -> NDArray[np.int64]:
        """Return the places of words; the number of all words for one that is not there."""
        return np.array(self.words.places(words), np.int64)


def spellings_of(table: QueryTable, words: WordColumns, blocklist: Blocklist) -> dict[str, Array]:
    """Return what `learn_spellings` does, without what a blocklist blocks."""
    left_out = np.zeros(len(table), np.uint8)
    left_out[_blocked(table, words, blocklist)] = 1
    order, domain = import_engine().letter_arrays(table.columns, table.order, left_out, SHARE_OF_A_DOMAIN)
    return letter_arrays(np.frombuffer(order, "<u4").astype(np.int64), domain)


def _blocked(table: QueryTable, words: WordColumns, blocklist: Blocklist) -> list[int]:
    """Return the places of the queries that are blocked; only those with a word that is suspected are looked at."""
    if not blocklist.reads_words_alone:
        return [place for place, query in enumerate(table) if blocklist.blocks(query)]
    marked, singles = bytearray(), bytearray()
    for word in words.words:
        is_suspected, single = blocklist.suspects(word)
        marked.append(is_suspected)
        singles.append(min(single, SPELLED))
    all_words = words.words
    found = import_engine().marked_queries(table.columns, all_words.text, all_words.begin, marked, singles, SPELLED)
    places: list[int] = np.frombuffer(found, "<u4").tolist()
    return [place for place in places if blocklist.blocks(table.at(place))]


def word_list_of(
    words: WordColumns, background: Collection[str], least: int, *, unspaced: bool = False
) -> dict[str, Array]:
    """Return what `word_arrays` does with the words that occur at least so often.

    `unspaced`: what stands between spaces, too, where a script is written without them.
    """
    known = {part for word in background for part in words_in(word)}
    also = {character for word in words.words for character in word} if least > 1 else set()
    if unspaced:
        also |= {word for word, count in words.words.items() if count >= least and is_without_spaces(word)}
    marked, listed = (words.typed >= least).astype(np.uint8), words.words
    made = import_engine().word_list_arrays(listed.text, listed.begin, marked, sorted(also), sorted(known))
    return _arrays(made)


def word_counts_of(words: WordColumns, least: int) -> dict[str, Array]:
    """Return how often words were typed, and how many queries end with them (`engine/store/word_counts.h`).

    Of a large log, only the most frequent words are counted; the others seem to have been typed once.
    """
    typed = np.where(words.typed >= least, words.typed, 0)
    while np.count_nonzero(typed) > _MOST_COUNTED:
        least += 1
        typed = np.where(typed >= least, typed, 0)
    listed = words.words
    return {"words.counts": Array("U32", import_engine().word_counts(listed.text, listed.begin, typed, words.ended))}


def word_forms_of(words: WordColumns) -> dict[str, Array]:
    """Return what `learn_forms` does."""
    typed = QueryTable(words.words.text, words.words.begin, words.typed)
    return forms_of((word for word in typed if not is_plain(word)), typed)


def word_tree_of(
    words: WordColumns, background: Collection[str], least: int, megabytes: float | None = None
) -> dict[str, Array]:
    """Return what `word_tree` does; a tree of more megabytes is made again of words that were typed more often."""
    listed, more = words.words, [word for word in background if may_be_mistyped(word)]
    count = np.where(words.where(may_be_mistyped), np.minimum(words.occurrences, LARGEST_COUNT), 0)
    while True:
        count = np.where(count >= least, count, 0).astype(np.uint32)
        arrays = _arrays(import_engine().tree_arrays(listed.text, listed.begin, count, more))
        size = sum(len(array.data) for array in arrays.values())
        if megabytes is None or size <= megabytes * 1e6 or not count.any():
            return arrays
        least += 1 + least // 4


def companions_of(
    table: QueryTable, words: WordColumns, megabytes: float | None, background: Companions, least: int
) -> dict[str, Array]:
    """Return what `learn_companions` does."""
    typed, ended = _most_common(words, background, least)
    chosen = choose_words(sorted(typed, key=lambda word: (-typed[word], word))[:MOST_WORDS], typed, megabytes)
    if not chosen:
        return {}
    columns = import_engine().pair_columns(table.columns, chosen, MOST_IN_A_QUERY, least)
    first, companion, together, after = map(np.frombuffer, columns, ("<u4", "<u2", "<u4", "<u4"))
    pairs = np.repeat(np.arange(len(chosen), dtype=np.uint32) << 16, np.diff(first))
    pairs |= companion
    return kept_pairs(chosen, typed, ended, (pairs, together, after), megabytes, background, least)


def _most_common(words: WordColumns, background: Companions, least: int) -> tuple[Counter[str], Counter[str]]:
    """Return the words that can be among those in most queries, with how many hold them and end with them."""
    queries, ended = words.queries.astype(np.int64), words.ended.astype(np.int64)
    found = words.find(background.words)
    for word, place in zip(background.words, found.tolist(), strict=True):
        if place < len(queries):
            queries[place] += background.typed[word]
            ended[place] += background.ended[word]
    queries[np.diff(np.frombuffer(words.words.begin, "<u8")) > LONGEST] = 0
    queries[queries < least] = 0
    bound = np.partition(queries, -MOST_WORDS)[-MOST_WORDS] if len(queries) > MOST_WORDS else 0
    # Of equal words the first come first, and they are sorted.
    places = [*np.flatnonzero(queries > bound), *np.flatnonzero((queries == bound) & (queries > 0))[:MOST_WORDS]]
    typed, last = Counter[str](), Counter[str]()
    for place in places:
        word = words.words.at(int(place))
        typed[word], last[word] = int(queries[place]), int(ended[place])
    for word, place in zip(background.words, found.tolist(), strict=True):
        if place == len(queries) and background.typed[word] >= least:
            typed[word], last[word] = background.typed[word], background.ended[word]
    return typed, last


def _arrays(made: Mapping[str, tuple[str, bytes]]) -> dict[str, Array]:
    return {name: Array(dtype, data) for name, (dtype, data) in made.items()}
