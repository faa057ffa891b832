"""How queries and words are shown: with the capitals that most people give them.

The model knows lower case alone: what is typed, matched, blocked and ranked is the text. Beside it lie the forms that
differ from it, of queries that were typed, and of words for queries that nobody typed before.
"""

from array import array
from collections import Counter
from collections.abc import Mapping

from halfword.core.model_file import Array
from halfword.core.text import normalise_query
from halfword.search.model import import_engine

_FEWEST = 3  # times that a word must have been typed in a form before texts nobody typed take it over
_MOST_OTHERWISE = 0.1  # of its occurrences


def learn_displays(counts: Mapping[str, int], displays: Mapping[str, str]) -> dict[str, Array]:
    """Return the arrays of the written forms; none where all is lower case."""
    if not displays:
        return {}
    forms = {query: displays[query] for query in counts if query in displays}
    # A form of another length cannot be shown in the place of the text, part of which is highlighted.
    forms = {query: form for query, form in forms.items() if len(form) == len(query) and normalise_query(form) == query}
    return _arrays("display.query", forms) | _arrays("display.word", _words(counts, forms))


def _words(counts: Mapping[str, int], forms: Mapping[str, str]) -> dict[str, str]:
    """Return the words that nearly everybody writes in one way that is not lower case, such as iPhone."""
    typed: Counter[str] = Counter()
    written: dict[str, Counter[str]] = {}
    for query, count in counts.items():
        for word, form in zip(query.split(" "), forms.get(query, query).split(" "), strict=True):
            typed[word] += count
            if word != form:
                written.setdefault(word, Counter())[form] += count
    best = {word: min(found.items(), key=lambda pair: (-pair[1], pair[0])) for word, found in written.items()}
    return {
        word: form
        for word, (form, often) in best.items()
        if often >= _FEWEST and often >= (1 - _MOST_OTHERWISE) * typed[word]
    }


def _arrays(part: str, forms: Mapping[str, str]) -> dict[str, Array]:
    if not forms:
        return {}
    texts = sorted(forms, key=str.encode)
    encoded = [forms[text].encode() for text in texts]
    begin = array("I", [0])
    for form in encoded:
        begin.append(begin[-1] + len(form))
    made = import_engine().sorted_text_arrays(texts)
    arrays = {f"{part}.{name}": Array(dtype, data) for name, (dtype, data) in made.items()}
    return arrays | {f"{part}.begin": Array("U32", begin.tobytes()), f"{part}.form": Array("U8", b"".join(encoded))}
