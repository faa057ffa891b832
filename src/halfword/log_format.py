"""Finding the files of a query log and telling their formats and columns apart."""

import csv
import glob
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pyarrow.parquet as parquet

from halfword.errors import LogError
from halfword.log_columns import microseconds

SAMPLE_BYTES = 256 * 1024
COMPRESSION = {".gz": "gzip", ".zst": "zstd", ".zstd": "zstd"}
FOREIGN = {".bz2", ".xz", ".zip", ".7z", ".rar", ".tar", ".tgz", ".xlsx"}
MAGIC = {b"\x1f\x8b": ".gz", b"\x28\xb5\x2f\xfd": ".zst"}
FIELDS = ("query", "user", "time", "count")
KNOWN_NAMES = {
    "query": "query q search search_query search_term search_terms keyword keywords term query_text",
    "user": "anonid user user_id userid uid session session_id sessionid visitor visitor_id client_id",
    "time": "querytime query_time time timestamp date datetime ts created_at event_time",
    "count": "count counts frequency freq",
}


class Format(StrEnum):
    """How the rows of a file are written."""

    TAB = "tab"  # also plain text, a query a line
    CSV = "csv"
    JSONL = "jsonl"
    PARQUET = "parquet"


SUFFIXES = {".csv": Format.CSV, ".parquet": Format.PARQUET, ".pq": Format.PARQUET, ".tsv": Format.TAB} | dict.fromkeys(
    (".jsonl", ".ndjson", ".json"), Format.JSONL
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnNames:
    """The columns as the caller names them: by header, or by number from 1; None is guessed."""

    query: str | None = None
    user: str | None = None
    time: str | None = None
    count: str | None = None

    def asked(self) -> dict[str, str]:
        return {field: name for field, name in asdict(self).items() if name is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFile:
    """One file of a log: where it lies and how its rows are to be read."""

    path: Path
    index: int
    format: Format
    header: bool
    names: tuple[str, ...]  # of all columns; numbers from 1 where the file has no header
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
    """Open a file for reading, unpacked as its suffix says."""
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
    return any(part.startswith((".", "_")) for part in path.parts)  # _SUCCESS and its like are no logs


def _inspect(path: Path, together: int, names: ColumnNames) -> LogFile | None:
    """Return what `path` holds; None for an empty file among others."""
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
    lines = sample.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace").splitlines()
    lines = lines[:-1] if len(sample) == SAMPLE_BYTES and len(lines) > 1 else lines  # the last one is cut
    if form is Format.JSONL:
        return _inspect_jsonl(path, lines, names)
    return _inspect_table(path, form, [line for line in lines if line.strip()], names)


def _sample(path: Path) -> bytes:
    try:
        with open_stream(path) as stream:
            return bytes(stream.read(SAMPLE_BYTES))
    except OSError as error:
        raise LogError(f"{path} cannot be unpacked ({str(error).partition(chr(10))[0]})") from error


def _guess_format(sample: bytes) -> Format:
    first = sample.partition(b"\n")[0]
    try:
        return Format.JSONL if isinstance(json.loads(first), dict) else Format.TAB
    except ValueError:
        return Format.TAB


def _inspect_parquet(path: Path, names: ColumnNames) -> LogFile:
    try:
        columns = tuple(parquet.read_schema(path).names)
    except (OSError, pa.ArrowInvalid) as error:
        raise LogError(f"{path} is not a Parquet file ({str(error).partition(chr(10))[0]})") from error
    return _by_header(path, Format.PARQUET, columns, names)


def _inspect_jsonl(path: Path, lines: list[str], names: ColumnNames) -> LogFile:
    keys: dict[str, None] = {}
    for line in lines:
        try:
            found: Any = json.loads(line)
        except ValueError:
            continue
        keys |= dict.fromkeys(found) if isinstance(found, dict) else {}
    if not keys:
        raise LogError(f"{path}, line 1: expected a JSON object a line, found {lines[0][:60]!r}")
    return _by_header(path, Format.JSONL, tuple(keys), names)


def _inspect_table(path: Path, form: Format, lines: list[str], names: ColumnNames) -> LogFile:
    delimiter = max(",;\t|", key=lines[0].count) if form is Format.CSV else "\t"
    by_tabs = (line.split("\t") for line in lines)
    rows = list(csv.reader(lines, delimiter=delimiter) if form is Format.CSV else by_tabs)
    if _is_header(rows[0], names):
        return _by_header(path, form, tuple(cell.strip() for cell in rows[0]), names, delimiter)
    return _by_content(path, form, rows, names, delimiter)


def _is_header(cells: list[str], names: ColumnNames) -> bool:
    if any(not name.isdigit() for name in names.asked().values()):
        return True
    if any(cell.strip().isdigit() or microseconds(cell) is not None for cell in cells):
        return False
    if len(cells) == 1:  # a plain list of queries may well begin with "search"
        return _plain(cells[0]) == "query"
    return any(_plain(cell) in KNOWN_NAMES["query"].split() for cell in cells)


def _by_header(path: Path, form: Format, header: tuple[str, ...], names: ColumnNames, delimiter: str = "\t") -> LogFile:
    columns = {field: _position(path, header, name) for field, name in names.asked().items()}
    plain = [_plain(name) for name in header]
    for field in FIELDS:
        known = [plain.index(name) for name in KNOWN_NAMES[field].split() if name in plain]
        free = [position for position in known if position not in columns.values()]
        if field not in columns and free:
            columns[field] = free[0]
    if "query" not in columns:
        raise LogError(
            f"{path}: none of the columns {', '.join(header)} is known to hold queries; name it with --query-column"
        )
    return LogFile(path=path, index=0, format=form, header=True, names=header, columns=columns, delimiter=delimiter)


def _by_content(path: Path, form: Format, rows: list[list[str]], names: ColumnNames, delimiter: str) -> LogFile:
    width = Counter(map(len, rows)).most_common(1)[0][0]
    numbers = tuple(str(number + 1) for number in range(width))
    columns = {field: _position(path, numbers, name) for field, name in names.asked().items()}
    cells = list(zip(*(row for row in rows if len(row) == width), strict=True))
    kinds = {place: _kind(cells[place]) for place in range(width) if place not in columns.values()}
    texts = [place for place, kind in kinds.items() if kind == "text"]
    times = [place for place, kind in kinds.items() if kind == "time"]
    if "query" not in columns:
        sure = len(texts) == 1 and (width < 3 or bool(columns)) and kinds.get(0) != "number"
        if not sure and width > 1:
            raise LogError(
                f"{path}: {width} columns and no header; say what they hold, such as --query-column 2 --time-column 1"
            )
        columns["query"] = texts[0] if texts else 0
    if "time" not in columns and len(times) == 1:
        columns["time"] = times[0]
    if "count" not in columns and width == 2 and kinds.get(1) == "number":
        columns["count"] = 1
    return LogFile(path=path, index=0, format=form, header=False, names=numbers, columns=columns, delimiter=delimiter)


def _kind(cells: Sequence[str]) -> str:
    """Return what most of the cells are: time, number, empty or text."""

    def kind(cell: str) -> str:
        if microseconds(cell) is not None:
            return "time"
        return "number" if cell.strip().isdigit() else "text" if cell.strip() else "empty"

    return Counter(map(kind, cells)).most_common(1)[0][0]


def _position(path: Path, header: tuple[str, ...], name: str) -> int:
    if name in header:
        return header.index(name)
    if name.isdigit() and 1 <= int(name) <= len(header):
        return int(name) - 1
    raise LogError(f"{path} has no column {name!r}; its columns are: {', '.join(header)}")


def _plain(name: str) -> str:
    return name.strip().lower().replace("-", "_").replace(" ", "_")


def _check_alike(files: list[LogFile]) -> None:
    first = files[0]
    for file in files[1:]:
        for field in ("user", "time", "count"):
            if file.holds(field) != first.holds(field):
                has, lacks = (file, first) if file.holds(field) else (first, file)
                raise LogError(f"{has.path} has a {field} column and {lacks.path} has none; prepare them one by one")
