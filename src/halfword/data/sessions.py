"""Sessions: what one person searched one after the other, and what was searched before each query."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, overload

CONTEXT = 10  # earlier queries that make the context of a row, as a search box sends them


class TypedRow(NamedTuple):
    """A query as it was typed once, and the queries before it in its session, the oldest first."""

    query: str
    context: tuple[str, ...] = ()


def with_context(sessions: Sequence[Sequence[str]], size: int = CONTEXT) -> Iterator[TypedRow]:
    """Yield every query of the sessions with at most `size` queries before it.

    >>> list(with_context([["new york", "new york hotels"]]))[1]
    TypedRow(query='new york hotels', context=('new york',))
    """
    for session in sessions:
        for place, query in enumerate(session):
            yield TypedRow(query, tuple(session[max(0, place - size) : place]))


@dataclass(frozen=True, slots=True)
class TypedRows(Sequence[TypedRow]):
    """The rows of sessions in which every query is a number; a row is made when it is asked for."""

    texts: list[str]  # the queries by their numbers
    numbers: list[int]  # the query of each row
    begins: list[int]  # the row with which the session of each row begins
    size: int = CONTEXT  # of a context

    @classmethod
    def of(cls, texts: list[str], numbers: list[int], starts: Iterable[bool], size: int = CONTEXT) -> "TypedRows":
        """Return the rows of sessions that begin where `starts` is true."""
        begins: list[int] = []
        for row, begin in enumerate(starts):
            begins.append(row if begin or not begins else begins[-1])
        return cls(texts, numbers, begins, size)

    def queries(self) -> Iterator[str]:
        """Yield the query of every row."""
        return (self.texts[number] for number in self.numbers)

    @overload
    def __getitem__(self, row: int) -> TypedRow: ...
    @overload
    def __getitem__(self, row: slice) -> list[TypedRow]: ...
    def __getitem__(self, row: int | slice) -> TypedRow | list[TypedRow]:
        if isinstance(row, slice):
            return [self[each] for each in range(*row.indices(len(self)))]
        row = range(len(self))[row]
        before = self.numbers[max(self.begins[row], row - self.size) : row]
        return TypedRow(self.texts[self.numbers[row]], tuple([self.texts[number] for number in before]))

    def __len__(self) -> int:
        return len(self.numbers)


def queries_of(rows: Sequence[TypedRow]) -> Iterator[str]:
    """Yield the query of every row."""
    return rows.queries() if isinstance(rows, TypedRows) else (row.query for row in rows)
