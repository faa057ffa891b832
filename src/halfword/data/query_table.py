"""Queries and how often each was typed, in columns: ten million of them take 300 MB, where a dict takes 1.5 GB.

A table is a mapping, so what is written for a dict reads it too, one query at a time. Its columns go to the engine as
they are (`engine/training/query_table.h`).
"""

from abc import abstractmethod
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, islice, pairwise, repeat
from operator import eq
from typing import TYPE_CHECKING, Any, Self, TypeVar, overload

from halfword.core.errors import require

if TYPE_CHECKING:
    from halfword._engine import TextFinder

_BATCH = 1 << 16  # queries

Item = TypeVar("Item")
Columns = tuple[Any, Any, Any]  # objects with a buffer: bytes of text, begin (U64), count (U64)


@dataclass(frozen=True, eq=False)
class QueryTable(Mapping[str, int]):
    """Distinct queries and their counts, in the order in which they are stored.

    >>> table = QueryTable.of({"new york": 3, "weather": 1})
    >>> table["new york"], table.get("rome"), list(table), table.total
    (3, None, ['new york', 'weather'], 4)
    """

    text: Any  # a buffer with all queries in UTF-8, one after the other
    begin: Any  # a buffer of U64: where each query begins, and where the last one ends
    count: Any  # a buffer of U64

    @classmethod
    def of(cls, counts: Mapping[str, int] | Iterable[tuple[str, int]]) -> Self:
        """Return the table of queries and their counts; a table is returned as it is."""
        if isinstance(counts, cls):
            return counts
        pairs = counts.items() if isinstance(counts, Mapping) else counts
        text, begin, count = bytearray(), array("Q", [0]), array("Q")
        for query, number in pairs:
            text += query.encode()
            begin.append(len(text))
            count.append(number)
        return cls(bytes(text), begin, count)

    @classmethod
    def of_arrow(cls, queries: Any, counts: Any) -> Self:
        """Return the table of two columns of an Arrow table."""
        pa: Any = require("pyarrow", "prepare")
        texts = queries.cast(pa.large_string()).combine_chunks()
        numbers = counts.cast(pa.uint64()).combine_chunks()
        _, begin, text = texts.buffers()
        first, size = 8 * texts.offset, 8 * len(texts)
        begin = memoryview(begin)[first : first + size + 8] if begin is not None and size else bytes(8)
        whole = memoryview(numbers.buffers()[1])[8 * numbers.offset :][:size] if size else b""
        return cls(b"" if text is None else text, begin, whole)

    @classmethod
    def sum_of(cls, tables: Iterable["QueryTable"]) -> Self:
        """Return the sum of tables, the most typed queries first."""
        from halfword import _engine

        return cls(*_engine.sum_tables([table.columns for table in tables]))

    @property
    def columns(self) -> Columns:
        """The columns, for the engine."""
        return self.text, self.begin, self.count

    @cached_property
    def order(self) -> bytes:
        """The places of the queries (U32), sorted by their bytes."""
        from halfword import _engine

        return _engine.byte_order(self.text, self.begin)

    @property
    def total(self) -> int:
        """How often all queries were typed."""
        return sum(self._counts)

    @cached_property
    def is_ascii(self) -> bool:
        """Whether no query has a letter beyond ASCII."""
        return bytes(self.text).isascii()

    @property
    def queries(self) -> "Queries":
        """The queries by their places."""
        return Queries(self)

    @property
    def rows(self) -> "Rows":
        """Every query as often as it was typed."""
        return Rows(self, array("Q", accumulate(self._counts)))

    def at_least(self, count: int) -> "QueryTable":
        """Return the queries that were typed so often."""
        return self if count <= 1 else QueryTable.of(pair for pair in self.items() if pair[1] >= count)

    def batches(self, size: int = _BATCH) -> Iterator[tuple[list[str], "array[int]"]]:
        """Yield all queries with their counts, so many at a time."""
        queries = iter(self)
        for first in range(0, len(self), size):
            yield list(islice(queries, size)), array("Q", self._counts[first : first + size])

    def sorted(self) -> Iterator[tuple[bytes, int]]:
        """Yield all queries in UTF-8 with their counts, sorted by their bytes."""
        text, begin, counts = memoryview(self.text), self._begins, self._counts
        for place in memoryview(self.order).cast("I"):
            yield bytes(text[begin[place] : begin[place + 1]]), counts[place]

    def __iter__(self) -> Iterator[str]:
        text = memoryview(self.text)
        for first in range(0, len(self), _BATCH):
            ends = self._begins[first : first + _BATCH + 1].tolist()
            some = bytes(text[ends[0] : ends[-1]])
            shift = ends[0]
            for start, end in pairwise(ends):
                yield some[start - shift : end - shift].decode()

    def __len__(self) -> int:
        return memoryview(self.count).nbytes // 8

    def __getitem__(self, query: str) -> int:
        place = self._finder.find(query)
        if place == len(self):
            raise KeyError(query)
        return self._counts[place]

    def at(self, place: int) -> str:
        """Return the query at a place."""
        return bytes(memoryview(self.text)[self._begins[place] : self._begins[place + 1]]).decode()

    def places(self, queries: Iterable[str]) -> list[int]:
        """Return where queries lie; the length of the table for one that is not there."""
        find = self._finder.find
        return [find(query) for query in queries]

    @cached_property
    def _begins(self) -> "memoryview[int]":
        return memoryview(self.begin).cast("B").cast("Q")

    @cached_property
    def _counts(self) -> "memoryview[int]":
        return memoryview(self.count).cast("B").cast("Q")

    @cached_property
    def _finder(self) -> "TextFinder":
        from halfword import _engine

        return _engine.TextFinder(self.text, self.begin, self.order)

    def items(self) -> Any:  # a view that does not look every query up
        """Return the queries with their counts."""
        return _Items(self)

    def values(self) -> Any:
        """Return the counts."""
        return self._counts


class _Items:
    """The pairs of a table."""

    def __init__(self, table: QueryTable) -> None:
        self._table = table

    def __iter__(self) -> Iterator[tuple[str, int]]:
        return zip(self._table, self._table.values(), strict=True)

    def __len__(self) -> int:
        return len(self._table)


class Stored(Sequence[Item]):
    """A sequence whose items are made of columns when they are asked for; it equals a list of the same items."""

    @overload
    def __getitem__(self, place: int) -> Item: ...
    @overload
    def __getitem__(self, place: slice) -> list[Item]: ...
    def __getitem__(self, place: int | slice) -> Item | list[Item]:
        if isinstance(place, slice):
            return [self.item(each) for each in range(*place.indices(len(self)))]
        return self.item(range(len(self))[place])

    @abstractmethod
    def item(self, place: int) -> Item:
        """Return the item at a place that exists."""

    def __iter__(self) -> Iterator[Item]:
        return map(self.item, range(len(self)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(eq, self, other))


@dataclass(frozen=True, slots=True, eq=False)
class Queries(Stored[str]):
    """The queries of a table, each once."""

    table: QueryTable

    def item(self, place: int) -> str:
        return self.table.at(place)

    def __iter__(self) -> Iterator[str]:
        return iter(self.table)

    def __len__(self) -> int:
        return len(self.table)


@dataclass(frozen=True, slots=True, eq=False)
class Rows(Stored[str]):
    """The queries of a table, each as often as it was typed."""

    table: QueryTable
    ends: "array[int]"  # how many rows there are up to each query

    def item(self, place: int) -> str:
        return self.table.at(bisect_right(self.ends, place))

    def __iter__(self) -> Iterator[str]:
        for query, count in self.table.items():
            yield from repeat(query, count)

    def __len__(self) -> int:
        return self.ends[-1] if self.ends else 0
