"""The rows of a log file as they stand: cells of text by field, and the rows that cannot be told apart into cells."""

import csv
import io
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from itertools import islice
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet

from halfword.core.errors import LogError
from halfword.data.log_columns import Column, pc
from halfword.data.log_format import Format, LogFile

BLOCK_BYTES = 8 << 20
LONGEST_LINE = 64 << 20
BATCH_ROWS = 1 << 16
_TAB, _NEWLINE = 9, 10


class Problem(StrEnum):
    """Why a row of the log is not used."""

    COLUMNS = "wrong column count"
    UTF8 = "bad UTF-8"
    DATE = "bad date"
    COUNT = "bad count"
    CSV = "bad CSV"
    JSON = "bad JSON"
    QUERY = "no query"
    SHORT = "too short"
    LONG = "too long"


NOT_BROKEN = (Problem.SHORT, Problem.LONG)  # such rows are left out, but they are no fault of the log


@dataclass(frozen=True, slots=True)
class Broken:
    """A row that cannot be read."""

    line: int
    problem: Problem
    found: str


@dataclass(slots=True)
class Rows:
    """Some rows of a file; `cells` holds a column of text, or of times as Parquet stores them, for each field."""

    lines: Any = field(default_factory=list)
    cells: dict[str, Any] = field(default_factory=dict)
    broken: list[Broken] = field(default_factory=list)

    def add(self, line: int, cells: dict[str, str | None]) -> None:
        """Append a row, unless it is not text."""
        if any(cell is not None and not _is_text(cell) for cell in cells.values()):
            self.broken.append(Broken(line, Problem.UTF8, repr(cells["query"])[:60]))
            return
        self.lines.append(line)
        for name, cell in cells.items():
            self.cells.setdefault(name, []).append(cell)


Later = Callable[[], Rows]  # the splitting of a block can wait for a thread that has time


def rows_of(file: LogFile, position: Callable[[int], None]) -> Iterator[Later]:
    """Return the rows of a file in portions, and tell `position` how many bytes of it have been read."""
    if file.format is Format.PARQUET:
        return _parquet_rows(file, position)
    if file.format is Format.CSV:
        return _csv_rows(file, position)
    split = _split_tabs if file.format is Format.TAB else _split_json
    return (partial(split, file, block, line) for block, line in _blocks(file, position))


def _blocks(file: LogFile, position: Callable[[int], None]) -> Iterator[tuple[bytes, int]]:
    """Yield whole lines, many at a time, with the number of the first."""
    line, rest = 1, b""
    with pa.OSFile(str(file.path), "rb") as raw, _unpacked(raw, file) as stream:
        while chunk := bytes(stream.read(BLOCK_BYTES)):
            position(raw.tell())
            if line == 1 and not rest:
                chunk = chunk.removeprefix(b"\xef\xbb\xbf")
            end = chunk.rfind(b"\n") + 1
            if not end and len(rest) > LONGEST_LINE:
                raise LogError(
                    f"{file.path}, line {line}: more than {LONGEST_LINE >> 20} MB long; is this a text file?"
                )
            block, rest = (rest + chunk[:end], chunk[end:]) if end else (b"", rest + chunk)
            if block:
                yield block, line
                line += block.count(b"\n")
        if rest:
            yield rest + b"\n", line


def _unpacked(raw: pa.NativeFile, file: LogFile) -> pa.NativeFile:
    return pa.CompressedInputStream(raw, cast(Any, file.compression)) if file.compression else raw


def _split_tabs(file: LogFile, block: bytes, first_line: int) -> Rows:
    """Split a block into cells without copying it: a cell is the text between two separators, and keeps the second."""
    data = np.frombuffer(block, np.uint8)
    separators = np.flatnonzero((data == _TAB) | (data == _NEWLINE))
    offsets = np.zeros(len(separators) + 1, np.int32)
    offsets[1:] = separators + 1
    cells = pa.Array.from_buffers(pa.binary(), len(separators), [None, pa.py_buffer(offsets.data), pa.py_buffer(block)])
    last_cells = np.flatnonzero(data[separators] == _NEWLINE)
    widths = np.diff(last_cells, prepend=-1)
    starts = last_cells - widths + 1
    good = widths == len(file.names)
    if file.header and first_line == 1:
        good[0], widths[0] = False, len(file.names)
    rows = Rows(lines=pa.array(np.flatnonzero(good) + first_line))
    columns = {name: cells.take(pa.array(starts[good] + place)) for name, place in file.columns.items()}
    for index in np.flatnonzero(widths != len(file.names)):
        found = "nothing" if block[offsets[starts[index]] : offsets[last_cells[index] + 1]].isspace() else ""
        problem = Problem.SHORT if found else Problem.COLUMNS  # an empty line is no fault
        rows.broken.append(Broken(int(index) + first_line, problem, found or _columns(int(widths[index]))))
    return _decoded(rows, columns)


def _columns(width: int) -> str:
    return "1 column" if width == 1 else f"{width} columns"


def _decoded(rows: Rows, columns: dict[str, Column]) -> Rows:
    """Turn bytes to text; only where that fails is it done row by row."""
    try:
        rows.cells = {name: column.cast(pa.string()) for name, column in columns.items()}
    except pa.ArrowInvalid:
        good = pa.array(
            [_is_utf8(b"".join(row)) for row in zip(*map(pa.Array.to_pylist, columns.values()), strict=True)]
        )
        bad = pc.invert(good)
        pairs = zip(rows.lines.filter(bad).to_pylist(), columns["query"].filter(bad).to_pylist(), strict=True)
        rows.broken += [Broken(line, Problem.UTF8, repr(query)[1:60]) for line, query in pairs]
        rows.lines = rows.lines.filter(good)
        rows.cells = {name: column.filter(good).cast(pa.string()) for name, column in columns.items()}
    return rows


def _split_json(file: LogFile, block: bytes, first_line: int) -> Rows:
    rows = Rows()
    for line, raw in enumerate(block.split(b"\n")[:-1], start=first_line):
        if not raw.strip():
            rows.broken.append(Broken(line, Problem.SHORT, "nothing"))
            continue
        try:
            record = json.loads(raw.decode())
        except ValueError as error:
            problem = Problem.UTF8 if isinstance(error, UnicodeDecodeError) else Problem.JSON
            rows.broken.append(Broken(line, problem, repr(raw)[1:60]))
            continue
        if not isinstance(record, dict):
            rows.broken.append(Broken(line, Problem.JSON, repr(record)[:60]))
            continue
        values = {name: record.get(file.names[place]) for name, place in file.columns.items()}
        query = values.pop("query")
        others = {name: None if value is None else str(value) for name, value in values.items()}
        rows.add(line, {"query": query if isinstance(query, str) else None, **others})
    return rows


def _csv_rows(file: LogFile, position: Callable[[int], None]) -> Iterator[Later]:
    with pa.OSFile(str(file.path), "rb") as raw, _unpacked(raw, file) as stream:
        text = io.TextIOWrapper(cast(Any, stream), encoding="utf-8-sig", errors="surrogateescape", newline="")
        reader = csv.reader(text, delimiter=file.delimiter)
        if file.header:
            next(reader)
        records = _csv_records(reader)
        while some := list(islice(records, BATCH_ROWS)):
            position(raw.tell())
            yield partial(_csv_portion, file, some)


def _csv_records(reader: Any) -> Iterator[tuple[int, list[str] | str]]:
    while True:
        try:
            yield reader.line_num + 1, next(reader)
        except csv.Error as error:
            yield reader.line_num, str(error)
        except StopIteration:
            return


def _csv_portion(file: LogFile, records: list[tuple[int, list[str] | str]]) -> Rows:
    rows = Rows()
    for line, record in records:
        if isinstance(record, str):
            rows.broken.append(Broken(line, Problem.CSV, record))
        elif len(record) == len(file.names):
            rows.add(line, {name: record[place] for name, place in file.columns.items()})
        elif not "".join(record).strip():
            rows.broken.append(Broken(line, Problem.SHORT, "nothing"))
        else:
            rows.broken.append(Broken(line, Problem.COLUMNS, _columns(len(record))))
    return rows


def _parquet_rows(file: LogFile, position: Callable[[int], None]) -> Iterator[Later]:
    names = {name: file.names[place] for name, place in file.columns.items()}
    size = file.path.stat().st_size
    with parquet.ParquetFile(file.path) as table:
        line = 1
        for batch in table.iter_batches(batch_size=BATCH_ROWS, columns=list(names.values())):
            yield partial(_parquet_portion, file, names, batch, line)
            line += batch.num_rows
            position(size * (line - 1) // table.metadata.num_rows)


def _parquet_portion(file: LogFile, names: dict[str, str], batch: pa.RecordBatch, first_line: int) -> Rows:
    rows = Rows(lines=pa.array(np.arange(first_line, first_line + batch.num_rows)))
    for name, column in names.items():
        values = batch[column]
        try:
            rows.cells[name] = _as_time(values) if name == "time" else values.cast(pa.string())
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            raise LogError(
                f"{file.path}: column {column!r} holds {values.type}, not a {name}; name another column"
            ) from None
    return rows


def _as_time(values: Column) -> Column:
    """Return timestamps of any unit in microseconds, whatever their time zone; text stays text."""
    if pa.types.is_timestamp(values.type):
        # Only the step from nanoseconds loses anything; in all others a loss would be an overflow, which is an error.
        return values.cast(pa.timestamp("us", values.type.tz), safe=values.type.unit != "ns")
    return values.cast(pa.timestamp("us") if pa.types.is_date(values.type) else pa.string())


def _is_text(text: str) -> bool:
    try:
        return text.isascii() or bool(text.encode())
    except UnicodeEncodeError:  # half of a surrogate pair, or a byte that was not UTF-8
        return False


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True
