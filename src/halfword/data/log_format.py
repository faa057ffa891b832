"""One file of a query log: its format, its columns and its encoding."""

import csv
import io
import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pyarrow.parquet as parquet

from halfword.core.errors import LogError
from halfword.data.encodings import as_utf8, encoding_of
from halfword.data.guess_columns import Columns, columns_by_content, is_header, named_columns
from halfword.data.nested import cells_of, leaf_keys, leaf_names, text_names
from halfword.data.options import ColumnNames
from halfword.data.times import format_of

SAMPLE_BYTES = 256 * 1024
SAMPLE_ROWS = 500  # of formats whose rows are costly to read
COMPRESSION = {".gz": "gzip", ".zst": "zstd", ".zstd": "zstd"}
FOREIGN = {".bz2", ".xz", ".zip", ".7z", ".rar", ".tar", ".tgz", ".xlsx"}
RUN_ROWS = 20
SMALL_FILE = 64 * 1024  # bytes; so few rows must be divided one by one, or a split gets none
MAGIC = {b"\x1f\x8b": ".gz", b"\x28\xb5\x2f\xfd": ".zst"}


class Format(StrEnum):
    """How the rows of a file are written."""

    TAB = "tab"  # also plain text, one query per line
    CSV = "csv"
    JSONL = "jsonl"
    PARQUET = "parquet"


SUFFIXES = {".csv": Format.CSV, ".parquet": Format.PARQUET, ".pq": Format.PARQUET, ".tsv": Format.TAB} | dict.fromkeys(
    (".jsonl", ".ndjson", ".json"), Format.JSONL
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFile:
    """One file of a log, and how its rows are read."""

    path: Path
    index: int
    format: Format
    header: bool
    names: tuple[str, ...]  # of all columns; without a header: numbers from 1
    columns: dict[str, int]  # field → position among the names
    reasons: dict[str, str] = field(default_factory=dict)  # field → why this column
    delimiter: str = "\t"
    encoding: str | None = None  # None: UTF-8
    time_format: str | None = None  # of times that are text; None: recognised
    weight: float = 1.0  # what a row counts
    is_list: bool = False  # names that nobody need have typed

    @property
    def compression(self) -> str | None:
        return COMPRESSION.get(self.path.suffix.lower())

    @property
    def run_rows(self) -> int:
        """How many rows in sequence go to the same split, and with them most sessions."""
        return 1 if self.holds("count") or self.path.stat().st_size < SMALL_FILE else RUN_ROWS

    def holds(self, field: str) -> bool:
        return field in self.columns


def open_stream(path: Path) -> pa.NativeFile:
    """Open a file for reading, decompressed according to its suffix."""
    try:
        return pa.input_stream(str(path), compression=cast(Any, COMPRESSION.get(path.suffix.lower())))
    except OSError as error:
        raise LogError(f"{path} cannot be read ({error.strerror or error})") from error


def inspect(path: Path, together: int, names: ColumnNames, encoding: str | None = None) -> LogFile | None:
    """Return the format and columns of one of `together` files; None for an empty file if there are other files."""
    bare = path.with_suffix("") if path.suffix.lower() in COMPRESSION else path
    if bare.suffix.lower() in FOREIGN:
        raise LogError(f"{path}: {bare.suffix} files are not read; unpack it, or pack it with gzip or zstd")
    sample = _sample(path)
    if not sample.strip():
        if together > 1:
            return None
        raise LogError(f"{path} is empty; name a log that holds queries")
    if sample.startswith(b"PAR1") or SUFFIXES.get(bare.suffix.lower()) is Format.PARQUET:
        return _inspect_parquet(path, names, together > 1)
    if path.suffix.lower() not in COMPRESSION and (
        suffix := next((s for m, s in MAGIC.items() if sample[:4].startswith(m)), None)
    ):
        raise LogError(f"{path} is compressed; rename it to {path.name}{suffix}")
    encoding = encoding_of(path, sample, encoding)
    text = as_utf8(sample, encoding)
    form = SUFFIXES.get(bare.suffix.lower()) or _guess_format(text)
    lines = _lines(text.decode("utf-8", "replace"), form)
    lines = lines[:-1] if len(sample) == SAMPLE_BYTES and len(lines) > 1 else lines  # the last line is incomplete
    if form is Format.JSONL:
        file = _inspect_jsonl(path, lines, names, together > 1)
    else:
        file = _inspect_table(path, form, [line for line in lines if line.strip()], names, together > 1)
    return replace(file, encoding=encoding)


def _sample(path: Path) -> bytes:
    try:
        with open_stream(path) as stream:
            return bytes(stream.read(SAMPLE_BYTES))
    except OSError as error:
        raise LogError(f"{path} cannot be unpacked ({str(error).partition(chr(10))[0]})") from error


def _lines(text: str, form: Format) -> list[str]:
    """Return the lines of a text as the readers count them: for them a form feed ends no line."""
    return io.StringIO(text, newline=None if form is Format.CSV else "\n").read().split("\n")


def _guess_format(sample: bytes) -> Format:
    first = sample.partition(b"\n")[0]
    try:
        return Format.JSONL if isinstance(json.loads(first), dict) else Format.TAB
    except (ValueError, RecursionError):  # the latter of thousands of brackets
        return Format.TAB


def _inspect_parquet(path: Path, names: ColumnNames, others: bool) -> LogFile:
    try:
        columns = tuple(leaf_names(list(parquet.read_schema(path))))
    except (OSError, UnicodeDecodeError, pa.ArrowInvalid) as error:  # the second of a damaged name
        raise LogError(f"{path} is not a Parquet file ({str(error).partition(chr(10))[0]})") from error
    found = named_columns(path, columns, names, others, partial(_parquet_rows, path, columns))
    return _log_file(path, Format.PARQUET, columns, found)


def _parquet_rows(path: Path, columns: Sequence[str]) -> list[list[str]]:
    """Return the texts of the first rows, if they can be read; what is no text is empty."""
    records: list[dict[str, Any]] = []
    with suppress(UnicodeDecodeError, pa.ArrowException, OSError), parquet.ParquetFile(path) as file:
        texts = list(text_names(list(file.schema_arrow)))
        records = next((batch.to_pylist() for batch in file.iter_batches(SAMPLE_ROWS, columns=texts)), [])
    return cells_of(records, columns)


def _inspect_jsonl(path: Path, lines: list[str], names: ColumnNames, others: bool) -> LogFile:
    records: list[dict[str, Any]] = []
    for line in lines:
        with suppress(ValueError, RecursionError):
            found = json.loads(line)
            records += [found] if isinstance(found, dict) else []
    keys = tuple(dict.fromkeys(key for record in records for key in leaf_keys(record)))
    if not keys:
        raise LogError(f"{path}, line 1: expected one JSON object per line, found {lines[0][:60]!r}")
    rows = cells_of(records[:SAMPLE_ROWS], keys)
    file = _log_file(path, Format.JSONL, keys, named_columns(path, keys, names, others, lambda: rows))
    return replace(file, time_format=_time_format(file, rows))


def _inspect_table(path: Path, form: Format, lines: list[str], names: ColumnNames, others: bool) -> LogFile:
    delimiter = max(",;\t|", key=lines[0].count) if form is Format.CSV and lines else "\t"
    rows = _rows_of_csv(lines, delimiter) if form is Format.CSV else [line.split("\t") for line in lines]
    if not rows:
        raise LogError(f"{path} holds no row; name a log that holds queries")
    if is_header(rows, names, others):
        header = tuple(cell.strip() for cell in rows[0])
        file = _log_file(path, form, header, named_columns(path, header, names, others, lambda: rows[1:]), delimiter)
        return replace(file, time_format=_time_format(file, rows[1:]))
    numbers, columns = columns_by_content(path, rows, names, others)
    file = _log_file(path, form, numbers, columns, delimiter)
    return replace(file, header=False, time_format=_time_format(file, rows))


def _time_format(file: LogFile, rows: list[list[str]]) -> str | None:
    """Return how the times are written, if some rows are needed to tell."""
    place = file.columns.get("time")
    return None if place is None else format_of(row[place] for row in rows if len(row) == len(file.names))


def _rows_of_csv(lines: list[str], delimiter: str) -> list[list[str]]:
    """Return the rows up to one that Python's parser refuses; such a cell is longer than any query."""
    rows: list[list[str]] = []
    with suppress(csv.Error):
        rows.extend(csv.reader(lines, delimiter=delimiter))
    return rows


def _log_file(path: Path, form: Format, names: tuple[str, ...], found: Columns, delimiter: str = "\t") -> LogFile:
    places, reasons = found.places, found.reasons
    return LogFile(
        path=path, index=0, format=form, header=True, names=names, columns=places, reasons=reasons, delimiter=delimiter
    )
