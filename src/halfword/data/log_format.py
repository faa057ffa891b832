"""Finding the files of a query log, their formats and their columns."""

import csv
import glob
import io
import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pyarrow.parquet as parquet

from halfword.core.errors import LogError
from halfword.data.guess_columns import columns_by_content, is_header, named_columns
from halfword.data.options import ColumnNames

SAMPLE_BYTES = 256 * 1024
COMPRESSION = {".gz": "gzip", ".zst": "zstd", ".zstd": "zstd"}
FOREIGN = {".bz2", ".xz", ".zip", ".7z", ".rar", ".tar", ".tgz", ".xlsx"}
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
    delimiter: str = "\t"

    @property
    def compression(self) -> str | None:
        return COMPRESSION.get(self.path.suffix.lower())

    def holds(self, field: str) -> bool:
        return field in self.columns


def find_files(inputs: Sequence[str | Path], names: ColumnNames) -> list[LogFile]:
    """Return the files that `inputs` (files, folders, globs) stand for, with their formats, in a fixed order."""
    paths = list(dict.fromkeys(path for given in inputs for path in _expand(str(given))))
    found = [file for path in paths if (file := _inspect(path, len(paths), names))]
    if not found:
        raise LogError(f"{', '.join(map(str, inputs)) or 'no file'}: no row to read; name a log that holds queries")
    files = [_numbered(file, index) for index, file in enumerate(found)]
    _check_alike(files)
    return files


def open_stream(path: Path) -> pa.NativeFile:
    """Open a file for reading, decompressed according to its suffix."""
    try:
        return pa.input_stream(str(path), compression=cast(Any, COMPRESSION.get(path.suffix.lower())))
    except OSError as error:
        raise LogError(f"{path} cannot be read ({error.strerror or error})") from error


def _numbered(file: LogFile, index: int) -> LogFile:
    return replace(file, index=index)


def _expand(given: str) -> Iterable[Path]:
    path = Path(given)
    if path.is_dir():
        inside = sorted(child for child in path.rglob("*") if child.is_file() and not _hidden(child.relative_to(path)))
        if not inside:
            raise LogError(f"{path} holds no file; name a log or a folder of logs")
        return inside
    if path.exists():
        return [path]
    matches = [Path(match) for match in sorted(glob.glob(given, recursive=True)) if Path(match).is_file()]  # noqa: PTH207
    if not matches:
        raise LogError(f"{given} does not exist; name a log file, a folder or a pattern such as 'logs/*.tsv.gz'")
    return matches


def _hidden(path: Path) -> bool:
    return any(part.startswith((".", "_")) for part in path.parts)  # files such as _SUCCESS are not logs


def _inspect(path: Path, together: int, names: ColumnNames) -> LogFile | None:
    """Return the format and columns of `path`; None for an empty file if there are other files."""
    bare = path.with_suffix("") if path.suffix.lower() in COMPRESSION else path
    if bare.suffix.lower() in FOREIGN:
        raise LogError(f"{path}: {bare.suffix} files are not read; unpack it, or pack it with gzip or zstd")
    sample = _sample(path)
    if not sample.strip():
        if together > 1:
            return None
        raise LogError(f"{path} is empty; name a log that holds queries")
    form = SUFFIXES.get(bare.suffix.lower()) or _guess_format(sample)
    if sample.startswith(b"PAR1") or form is Format.PARQUET:
        return _inspect_parquet(path, names)
    if path.suffix.lower() not in COMPRESSION and (
        suffix := next((s for m, s in MAGIC.items() if sample[:4].startswith(m)), None)
    ):
        raise LogError(f"{path} is compressed; rename it to {path.name}{suffix}")
    lines = _lines(sample.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace"), form)
    lines = lines[:-1] if len(sample) == SAMPLE_BYTES and len(lines) > 1 else lines  # the last line is incomplete
    if form is Format.JSONL:
        return _inspect_jsonl(path, lines, names)
    return _inspect_table(path, form, [line for line in lines if line.strip()], names)


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


def _inspect_parquet(path: Path, names: ColumnNames) -> LogFile:
    try:
        columns = tuple(parquet.read_schema(path).names)
    except (OSError, pa.ArrowInvalid) as error:
        raise LogError(f"{path} is not a Parquet file ({str(error).partition(chr(10))[0]})") from error
    return _with_header(path, Format.PARQUET, columns, names)


def _inspect_jsonl(path: Path, lines: list[str], names: ColumnNames) -> LogFile:
    keys: dict[str, None] = {}
    for line in lines:
        try:
            found: Any = json.loads(line)
        except (ValueError, RecursionError):
            continue
        keys |= dict.fromkeys(found) if isinstance(found, dict) else {}
    if not keys:
        raise LogError(f"{path}, line 1: expected one JSON object per line, found {lines[0][:60]!r}")
    return _with_header(path, Format.JSONL, tuple(keys), names)


def _inspect_table(path: Path, form: Format, lines: list[str], names: ColumnNames) -> LogFile:
    delimiter = max(",;\t|", key=lines[0].count) if form is Format.CSV and lines else "\t"
    rows = _rows_of_csv(lines, delimiter) if form is Format.CSV else [line.split("\t") for line in lines]
    if not rows:
        raise LogError(f"{path} holds no row; name a log that holds queries")
    if is_header(rows[0], names):
        return _with_header(path, form, tuple(cell.strip() for cell in rows[0]), names, delimiter)
    numbers, columns = columns_by_content(path, rows, names)
    return LogFile(path=path, index=0, format=form, header=False, names=numbers, columns=columns, delimiter=delimiter)


def _rows_of_csv(lines: list[str], delimiter: str) -> list[list[str]]:
    """Return the rows up to one that Python's parser refuses; such a cell is longer than any query."""
    rows: list[list[str]] = []
    with suppress(csv.Error):
        rows.extend(csv.reader(lines, delimiter=delimiter))
    return rows


def _with_header(
    path: Path, form: Format, header: tuple[str, ...], names: ColumnNames, delimiter: str = "\t"
) -> LogFile:
    columns = named_columns(path, header, names)
    return LogFile(path=path, index=0, format=form, header=True, names=header, columns=columns, delimiter=delimiter)


def _check_alike(files: list[LogFile]) -> None:
    first = files[0]
    for file in files[1:]:
        for field in ("user", "time", "count"):
            if file.holds(field) != first.holds(field):
                has, lacks = (file, first) if file.holds(field) else (first, file)
                raise LogError(f"{has.path} has a {field} column and {lacks.path} has none; prepare them one by one")
