"""Guessing which column of a log holds the queries, the users, the times and the counts."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from halfword.core.errors import LogError
from halfword.data.options import ColumnNames
from halfword.data.times import microseconds

FIELDS = ("query", "user", "time", "count")
KNOWN_NAMES = {
    "query": "query q search search_query search_term search_terms keyword keywords term query_text",
    "user": "anonid user user_id userid uid session session_id sessionid visitor visitor_id client_id",
    "time": "querytime query_time time timestamp date datetime ts created_at event_time",
    "count": "count counts frequency freq",
}


def is_header(cells: list[str], names: ColumnNames) -> bool:
    """Tell whether the first row of a table names its columns."""
    if any(not name.isdigit() for name in names.asked().values()):
        return True
    if any(cell.strip().isdigit() or microseconds(cell) is not None for cell in cells):
        return False
    if len(cells) == 1:  # a plain list of queries may begin with the query "search"
        return _plain(cells[0]) == "query"
    return any(_plain(cell) in KNOWN_NAMES["query"].split() for cell in cells)


def named_columns(path: Path, header: tuple[str, ...], names: ColumnNames) -> dict[str, int]:
    """Return the position of each field under `header`: as the caller named it, else by the usual names."""
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
    return columns


def columns_by_content(path: Path, rows: list[list[str]], names: ColumnNames) -> tuple[tuple[str, ...], dict[str, int]]:
    """Return numbers as column names, and the position of each field: as the caller named it, else by the content."""
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
    if "time" not in columns and len(times) == 1 and times[0] not in columns.values():
        columns["time"] = times[0]
    if "count" not in columns and width == 2 and kinds.get(1) == "number":
        columns["count"] = 1
    return numbers, columns


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
