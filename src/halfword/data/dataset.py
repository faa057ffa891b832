"""Reading and writing a dataset folder.

A prepared folder holds two files, or three:

- `queries.parquet`: the columns split (train, valid or test), query and count, sorted by split, falling count, query;
  with --min-users or --min-count also `learn`, how often a query may be learned when all rows are; if the log has
  capitals also `display`, the query as most people write it, null where they write none;
- `sessions.parquet`, if the log has users or times: the columns split, starts (whether a session begins here) and query
  (its number: 0 for the first of its split in `queries.parquet`), one row for each time that a query was typed;
- `dataset.json`: `format` (the version of this layout), `profile`, source files, options, what was dropped and why.

A folder of plain query files is read as well (`text_folder.py`).
"""

import json
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from halfword.core.errors import DatasetError, OptionError, require
from halfword.core.progress import Progress, quiet
from halfword.core.text import DEFAULT, PROFILES, Profile
from halfword.data.query_table import QueryTable
from halfword.data.sessions import CONTEXT, Sessions, TypedRow, TypedRows, with_context

if TYPE_CHECKING:
    from halfword.data.options import PrepareOptions

FORMAT = 1
QUERIES = "queries.parquet"
SESSIONS = "sessions.parquet"
ABOUT = "dataset.json"
_SESSION_ROWS = 1 << 22  # that are read at a time
LEARN = "learn"  # the column of how often a query may be learned when all rows are


class Split(StrEnum):
    """The part of a dataset that is learned from, chosen by, or measured on."""

    TRAIN = "train"
    VALID = "valid"
    TEST = "test"


@dataclass(frozen=True, slots=True, repr=False)
class Dataset(ABC):
    """Queries by split, wherever they lie.

    >>> data = Dataset.from_counts({f"song number {number}": 20 for number in range(1, 6)})
    >>> data
    Dataset(train 90 rows, 5 queries; valid 5 rows, 5 queries; test 5 rows, 5 queries)
    >>> data.counts(Split.TRAIN)["song number 1"]
    18
    """

    path: Path
    profile: Profile

    @staticmethod
    def open(path: str | Path) -> "Dataset":
        """Open a prepared folder or a folder of plain query files."""
        return open_dataset(path)

    @staticmethod
    def from_frame(
        frame: Any,
        output: str | Path | None = None,
        options: "PrepareOptions | None" = None,
        *,
        progress: Progress = quiet,
        **fields: Any,
    ) -> "Dataset":
        """Prepare the rows of a pandas, polars or Arrow table, a query each.

        `query`, `user`, `time` and `count` name its columns; what is left out is guessed from their names. Other fields
        are those of `PrepareOptions`. Without `output` the dataset lies in a temporary folder that goes with the
        object.
        """
        from halfword.data.prepare import prepare_dataset
        from halfword.data.tables import is_table

        if not is_table(frame):
            raise OptionError(f"a pandas, polars or Arrow table was expected, got {type(frame).__name__}")
        return prepare_dataset(frame, output, options, progress, fields)

    @staticmethod
    def from_counts(
        counts: Mapping[str, int] | Iterable[tuple[str, int]],
        output: str | Path | None = None,
        options: "PrepareOptions | None" = None,
        *,
        progress: Progress = quiet,
        **fields: Any,
    ) -> "Dataset":
        """Prepare queries of which it is known how often each was typed; otherwise like `from_frame`."""
        from halfword.data.prepare import prepare_dataset
        from halfword.data.tables import table_of_counts

        return prepare_dataset(table_of_counts(counts), output, options, progress, fields)

    @abstractmethod
    def counts(self, split: Split) -> dict[str, int]:
        """Return how often each query was typed."""

    @abstractmethod
    def rows(self, split: Split) -> Sequence[str]:
        """Return every query as often as it was typed, in the order in which it is stored."""

    def sessions(self, split: Split) -> Sequence[list[str]]:
        """Return the sessions of a split, each the queries of one person in their order; none if they are not known.

        Where they are known, every row of the split is in one of them.
        """
        return []

    def numbered_sessions(self, split: Split) -> Iterator[tuple[Any, Any]] | None:
        """Yield the rows of all sessions in batches, or return None where they are not stored as numbers.

        A batch is two buffers: whether a session begins at a row (U8), and the place of its query in the table of the
        split (U32). Its first row is the last one of the batch before.
        """
        return None

    def typed_rows(self, split: Split, size: int = CONTEXT) -> Sequence[TypedRow]:
        """Return every row with at most `size` queries before it in its session; without any if none is known."""
        return list(with_context(self.sessions(split), size)) or [TypedRow(query) for query in self.rows(split)]

    def displays(self) -> dict[str, str]:
        """Return how most people write a query, for those that they write with capitals."""
        return dict(self.written_forms())

    def written_forms(self) -> Iterator[tuple[str, str]]:
        """Yield what `displays` returns, sorted by the bytes of the queries."""
        return iter(())

    def table(self, split: Split) -> QueryTable:
        """Return the counts of a split as a table, which takes far less memory."""
        return QueryTable.of(self.counts(split))

    def learnable(self, split: Split) -> dict[str, int]:
        """Return how often each query of a split may be learned; nothing if the split is empty."""
        return self.counts(split)

    def learnable_table(self, split: Split) -> QueryTable:
        """Return `learnable` as a table."""
        return QueryTable.of(self.learnable(split))

    def left_out(self) -> dict[str, int]:
        """Return the queries that are not learned since they are likely typing mistakes, with their counts."""
        return {}

    def all_table(self) -> QueryTable:
        """Return `all_counts` as a table."""
        return QueryTable.sum_of(self.learnable_table(split) for split in Split)

    def all_counts(self) -> dict[str, int]:
        """Return how often each query may be learned in all splits together, the most frequent first."""
        total: Counter[str] = Counter()
        for split in Split:
            total.update(self.learnable(split))
        return dict(sorted(total.items(), key=lambda item: (-item[1], item[0])))

    @abstractmethod
    def about(self) -> dict[str, Any]:
        """Return what is known of the data's origin, for the card of a model that learns from it."""

    def __repr__(self) -> str:
        return f"Dataset({str(self.path)!r})"


def open_dataset(path: str | Path) -> Dataset:
    """Open a prepared folder or a folder of plain query files."""
    path = Path(path)
    if not path.exists():
        raise DatasetError(f"{path} does not exist; make it with: halfword prepare LOG -o {path}")
    if not path.is_dir():
        raise DatasetError(f"{path} is a file, a dataset is a folder; make one with: halfword prepare {path} -o data/")
    if (path / ABOUT).exists():
        return PreparedFolder(path, _profile_of(path))
    from halfword.data.text_folder import TextFolder, text_file

    if any(text_file(path, split) for split in Split):
        return TextFolder(path, DEFAULT)
    raise DatasetError(f"{path} holds neither {ABOUT} nor train.query.txt; make a dataset with: halfword prepare")


class PreparedFolder(Dataset):
    """What `halfword prepare` wrote."""

    def counts(self, split: Split) -> dict[str, int]:
        counts = self._read(split, "count")
        if not counts and split is not Split.VALID:  # weights can be chosen without validation rows
            path = self.path / QUERIES
            raise DatasetError(f"{path} holds no {split} queries; prepare a larger log or change its splits")
        return counts

    def table(self, split: Split) -> QueryTable:
        table = self._table(split, "count")
        return table if len(table) else QueryTable.of(self.counts(split))  # which says what is missing

    def learnable_table(self, split: Split) -> QueryTable:
        if self._has_column(LEARN):
            return self._table(split, LEARN)
        if split is Split.TEST and self._leaves_out_rare():
            return QueryTable.of(self.learnable(split))
        return self._table(split, "count")

    def written_forms(self) -> Iterator[tuple[str, str]]:
        if not self._has_column("display"):
            return
        with self._readable() as parquet:
            filters = [[("display", "!=", "")]]
            table = parquet.read_table(self.path / QUERIES, columns=["query", "display"], filters=filters)
        for batch in table.sort_by("query").to_batches():
            yield from zip(batch["query"].to_pylist(), batch["display"].to_pylist(), strict=True)

    def learnable(self, split: Split) -> dict[str, int]:
        if self._has_column(LEARN):
            return self._read(split, LEARN)
        counts = self._read(split, "count")
        if split is not Split.TEST or not self._leaves_out_rare():
            return counts
        known = {**self._read(Split.TRAIN, "count"), **self._read(Split.VALID, "count")}
        return {query: count for query, count in counts.items() if query in known}

    def rows(self, split: Split) -> Sequence[str]:
        return self.table(split).rows

    def sessions(self, split: Split) -> Sequence[list[str]]:
        if not (self.path / SESSIONS).exists():
            return []
        return Sessions.of(self._table(split, "count"), self._own_rows(split))

    def _own_rows(self, split: Split) -> Iterator[tuple[memoryview, memoryview]]:
        """Yield the batches of `numbered_sessions` without the row that each shares with the one before."""
        for again, (starts, numbers) in enumerate(self._session_batches(split)):
            shared = min(again, 1)
            yield memoryview(starts)[shared:], memoryview(numbers).cast("B")[4 * shared :]

    def numbered_sessions(self, split: Split) -> Iterator[tuple[Any, Any]] | None:
        return self._session_batches(split) if (self.path / SESSIONS).exists() else None

    def _session_batches(self, split: Split) -> Iterator[tuple[Any, Any]]:
        pa, compute = require("pyarrow", "prepare"), require("pyarrow.compute", "prepare")
        last = None
        with self._readable(SESSIONS) as parquet, parquet.ParquetFile(self.path / SESSIONS) as file:
            for batch in file.iter_batches(_SESSION_ROWS, columns=["split", "starts", "query"]):
                batch = batch.filter(compute.equal(batch["split"], str(split))).select(["starts", "query"])
                whole = batch if last is None else pa.concat_batches([last, batch])
                if len(batch):
                    last = batch.slice(len(batch) - 1)
                    starts, numbers = whole["starts"].cast(pa.uint8()), whole["query"].cast(pa.uint32())
                    yield _buffer_of(starts), _buffer_of(numbers)

    def typed_rows(self, split: Split, size: int = CONTEXT) -> Sequence[TypedRow]:
        sessions = self.sessions(split)
        if isinstance(sessions, Sessions) and sessions.places:
            return TypedRows(sessions, size)
        return super().typed_rows(split, size)

    def about(self) -> dict[str, Any]:
        return read_about(self.path)

    def __repr__(self) -> str:
        return f"Dataset({str(self.path)!r}, {self._sizes()})"

    def _sizes(self) -> str:
        try:
            splits = self.about()["rows"]["splits"].items()
            return "; ".join(f"{name} {size['rows']:,} rows, {size['distinct']:,} queries" for name, size in splits)
        except (DatasetError, KeyError, AttributeError, TypeError):  # it may have been removed, or be no funnel
            return "sizes unknown"

    def _read(self, split: Split, column: str) -> dict[str, int]:
        """Return the positive numbers in a column of a split, by query."""
        with self._readable() as parquet:
            filters = [("split", "==", str(split)), (column, ">", 0)]
            table = parquet.read_table(self.path / QUERIES, columns=["query", column], filters=filters)
        return dict(zip(table["query"].to_pylist(), table[column].to_pylist(), strict=True))

    def _table(self, split: Split, column: str) -> QueryTable:
        """Return the positive numbers in a column of a split, by query, without a Python object for each."""
        with self._readable() as parquet:
            filters = [("split", "==", str(split)), (column, ">", 0)]
            table = parquet.read_table(self.path / QUERIES, columns=["query", column], filters=filters)
            return QueryTable.of_arrow(table["query"], table[column])

    def learnable_column(self) -> str:
        """Return which column of `queries.parquet` says how often a query may be learned when all rows are."""
        if self._has_column(LEARN):
            return LEARN
        if self._leaves_out_rare():
            raise DatasetError(f"{self.path} was prepared by an older version; run `halfword prepare` again")
        return "count"

    def most_typed(self, split: Split, number: int) -> QueryTable:
        """Return the queries of a split that were typed most often; the others are not read."""
        pa, compute = require("pyarrow", "prepare"), require("pyarrow.compute", "prepare")
        some, found = [], 0
        with self._readable() as parquet, parquet.ParquetFile(self.path / QUERIES) as file:
            for batch in file.iter_batches(columns=["split", "query", "count"]):
                kept = batch.filter(
                    compute.and_(compute.equal(batch["split"], str(split)), compute.greater(batch["count"], 0))
                )
                some.append(kept.slice(0, number - found).select(["query", "count"]))
                found += some[-1].num_rows
                if found == number or (found and not kept.num_rows):  # splits follow one another, the most typed first
                    break
            table = pa.Table.from_batches(some)
            return QueryTable.of_arrow(table["query"], table["count"])

    def _has_column(self, name: str) -> bool:
        with self._readable() as parquet:
            return name in parquet.read_schema(self.path / QUERIES).names

    def _leaves_out_rare(self) -> bool:
        """Tell whether rare queries were left out of train and valid, while test stayed as it was typed."""
        options = self.about().get("options") or {}
        return any(options.get(name, 1) > 1 for name in ("min_users", "min_count"))

    @contextmanager
    def _readable(self, name: str = QUERIES) -> Iterator[Any]:
        """Yield the module that reads Parquet; a file that it cannot read is a `DatasetError`."""
        pa, parquet = require("pyarrow", "prepare"), require("pyarrow.parquet", "prepare")
        path = self.path / name
        try:
            yield parquet
        except (OSError, pa.ArrowInvalid, pa.ArrowKeyError) as error:
            raise DatasetError(f"{path} cannot be read ({first_line(error)}); run `halfword prepare` again") from error


def _buffer_of(values: Any) -> Any:
    """Return the memory of an Arrow array of numbers."""
    width = values.type.bit_width // 8
    return memoryview(values.buffers()[1])[values.offset * width : (values.offset + len(values)) * width]


def _profile_of(folder: Path) -> Profile:
    about = read_about(folder)
    if about.get("format") != FORMAT:
        found = about.get("format")
        raise DatasetError(f"{folder / ABOUT}: format {found}, this build reads {FORMAT}; run `halfword prepare` again")
    if about.get("profile") not in PROFILES:
        raise DatasetError(f"{folder / ABOUT}: unknown profile {about.get('profile')!r}; run `halfword prepare` again")
    return PROFILES[about["profile"]]


def read_about(folder: Path) -> dict[str, Any]:
    """Return the description in a prepared folder."""
    path = folder / ABOUT
    try:
        about = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DatasetError(f"{path} cannot be read ({first_line(error)}); run `halfword prepare` again") from error
    if not isinstance(about, dict):
        raise DatasetError(f"{path} is not a description of a dataset; run `halfword prepare` again")
    return about


def first_line(error: BaseException) -> str:
    """Return the first line of what an error says."""
    return str(error).partition("\n")[0]
