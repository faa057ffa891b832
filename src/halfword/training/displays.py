"""How queries and words are shown: with the capitals that most people give them.

The model knows lower case alone: what is typed, matched, blocked and ranked is the text. Beside it lie the forms that
differ from it, of queries that were typed, and of words for queries that nobody typed before.
"""

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from halfword.core.model_file import Array
from halfword.core.text import normalise_query
from halfword.data.query_table import QueryTable
from halfword.search.model import import_engine

_FEWEST = 3  # times that a word must have been typed in a form before texts nobody typed take it over
_MOST_OTHERWISE = 0.1  # of its occurrences


def learn_displays(counts: Mapping[str, int], displays: Iterable[tuple[str, str]]) -> dict[str, Array]:
    """Return the arrays of the written forms; none where all is lower case.

    `displays` are queries, each with its written form, sorted by the bytes of the queries.
    """
    left = iter(displays)
    first = next(left, None)
    if first is None:
        return {}
    forms, words = _Forms(), _Words()
    for query, count, form in _joined(QueryTable.of(counts), first, left):
        # A form of another length cannot be shown in the place of the text, part of which is highlighted.
        if len(form) == len(query) and normalise_query(form) == query:
            forms.add(query, form)
            words.add(query, form, count)
        else:
            words.add(query, query, count)
    of_words = _Forms()
    for word, form in words.usual():
        of_words.add(word, form)
    return forms.arrays("display.query") | of_words.arrays("display.word")


def _joined(
    table: QueryTable, first: tuple[str, str], left: Iterator[tuple[str, str]]
) -> Iterator[tuple[str, int, str]]:
    """Yield the queries of a table with their counts and written forms; an empty form where none is known."""
    query, form = first[0].encode(), first[1]
    for text, count in table.sorted():
        while query < text:
            found = next(left, None)
            if found is None:
                break
            query, form = found[0].encode(), found[1]
        yield text.decode(), count, form if query == text else ""


@dataclass(slots=True)
class _Forms:
    """Texts, sorted by their bytes, each with its form, in columns."""

    text: bytearray = field(default_factory=bytearray)
    begin: "array[int]" = field(default_factory=lambda: array("Q", [0]))
    form: bytearray = field(default_factory=bytearray)
    form_begin: "array[int]" = field(default_factory=lambda: array("I", [0]))

    def add(self, text: str, form: str) -> None:
        self.text += text.encode()
        self.begin.append(len(self.text))
        self.form += form.encode()
        self.form_begin.append(len(self.form))

    def arrays(self, part: str) -> dict[str, Array]:
        if not self.form:
            return {}
        made = import_engine().sorted_text_arrays(self.text, self.begin)
        arrays = {f"{part}.{name}": Array(dtype, data) for name, (dtype, data) in made.items()}
        begin, form = self.form_begin.tobytes(), bytes(self.form)
        return arrays | {f"{part}.begin": Array("U32", begin), f"{part}.form": Array("U8", form)}


@dataclass(slots=True)
class _Words:
    """How often words are typed, and how often in a form that is not lower case."""

    typed: Counter[str] = field(default_factory=Counter)
    written: Counter[tuple[str, str]] = field(default_factory=Counter)  # by word and form

    def add(self, query: str, form: str, count: int) -> None:
        for word, written in zip(query.split(" "), form.split(" "), strict=True):
            self.typed[word] += count
            if word != written:
                self.written[word, written] += count

    def usual(self) -> Iterator[tuple[str, str]]:
        """Yield the words that nearly everybody writes in one way that is not lower case, such as iPhone."""
        for (word, form), often in sorted(self.written.items()):
            # No other form can be as frequent, since most of all are of this one.
            if often >= _FEWEST and often >= (1 - _MOST_OTHERWISE) * self.typed[word]:
                yield word, form
