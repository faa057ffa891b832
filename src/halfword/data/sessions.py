"""Sessions: what one person searched one after the other, and what was searched before each query."""

import random
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from halfword.core.text import SHORTEST_QUERY
from halfword.data.query_table import QueryTable, Stored

CONTEXT = 10  # earlier queries that make the context of a row, as a search box sends them


class TypedRow(NamedTuple):
    """A query as it was typed once, and the queries before it in its session, the oldest first."""

    query: str
    context: tuple[str, ...] = ()


def with_context(sessions: Iterable[Sequence[str]], size: int = CONTEXT) -> Iterator[TypedRow]:
    """Yield every query of the sessions with at most `size` queries before it.

    >>> list(with_context([["new york", "new york hotels"]]))[1]
    TypedRow(query='new york hotels', context=('new york',))
    """
    for session in sessions:
        for place, query in enumerate(session):
            yield TypedRow(query, tuple(session[max(0, place - size) : place]))


@dataclass(frozen=True, slots=True, eq=False)
class Sessions(Stored[list[str]]):
    """Sessions in which every query is a place in a table."""

    table: QueryTable
    places: "array[int]"  # U32: the query of each row
    begins: "array[int]"  # U64: the row with which each session begins, and the number of all rows

    @classmethod
    def of(cls, table: QueryTable, batches: Iterable[tuple[memoryview, memoryview]]) -> "Sessions":
        """Return the sessions of some batches of rows: whether one begins there (U8), and its place (U32)."""
        places, begins = array("I"), array("Q")
        for starts, some in batches:
            first = len(places)
            begins.extend(first + row for row, starts_here in enumerate(starts) if starts_here or not first + row)
            places.frombytes(some)
        begins.append(len(places))
        return cls(table, places, begins)

    def item(self, place: int) -> list[str]:
        return [self.table.at(each) for each in self.places[self.begins[place] : self.begins[place + 1]]]

    def __len__(self) -> int:
        return len(self.begins) - 1

    def lengths(self) -> Iterator[int]:
        """Yield how many rows each session has."""
        return (end - begin for begin, end in pairwise(self.begins))


@dataclass(frozen=True, slots=True, eq=False)
class TypedRows(Stored[TypedRow]):
    """The rows of sessions, each with what was typed before it."""

    sessions: Sessions
    size: int = CONTEXT  # of a context

    def item(self, place: int) -> TypedRow:
        known, begins = self.sessions, self.sessions.begins
        first = max(begins[bisect_right(begins, place) - 1], place - self.size)
        *context, query = map(known.table.at, known.places[first : place + 1])
        return TypedRow(query, tuple(context))

    def queries(self) -> Iterator[str]:
        """Yield the query of every row."""
        return map(self.sessions.table.at, self.sessions.places)

    def __len__(self) -> int:
        return len(self.sessions.places)


def queries_of(rows: Sequence[TypedRow]) -> Iterator[str]:
    """Yield the query of every row."""
    return rows.queries() if isinstance(rows, TypedRows) else (row.query for row in rows)


def lengths_of(sessions: Sequence[Sequence[str]]) -> Iterator[int]:
    """Yield how many rows each session has."""
    return sessions.lengths() if isinstance(sessions, Sessions) else map(len, sessions)


def drawn(queries: Iterable[str], size: int, seed: int) -> list[int]:
    """Return the places of at most `size` queries that are long enough to be asked, drawn at random."""
    enough = array("Q", (place for place, query in enumerate(queries) if len(query) >= SHORTEST_QUERY))
    return random.Random(seed).sample(enough, min(size, len(enough)))
