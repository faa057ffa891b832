"""What the readers of all formats hand on: cells of text by field, and the rows that are left out, with the reason."""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import pyarrow as pa

from halfword.data.log_columns import Column, pc

MOST_ROWS = 1 << 17  # in a portion; a broken row takes a hundred times the memory of the line end that it may be


class Problem(StrEnum):
    """Why a row of the log is not used."""

    COLUMNS = "wrong column count"
    UTF8 = "bad UTF-8"
    DATE = "bad date"
    COUNT = "bad count"
    JSON = "bad JSON"
    QUERY = "no query"
    SHORT = "too short"
    PERSONAL = "personal data alone"
    LONG = "too long"


NOT_BROKEN = (Problem.SHORT, Problem.PERSONAL, Problem.LONG)  # such rows are left out, but they are no fault of the log


@dataclass(frozen=True, slots=True)
class Broken:
    """A row that cannot be used."""

    line: int
    problem: Problem
    found: str


@dataclass(slots=True)
class Rows:
    """Some rows of a file; `cells` holds a column of text, or of times as Parquet stores them, for each field."""

    lines: Any = field(default_factory=list)
    cells: dict[str, Any] = field(default_factory=dict)
    broken: list[Broken] = field(default_factory=list)
    empty: Any = field(default_factory=list)  # lines that hold nothing; a log may have millions


Later = Callable[[], Rows]  # splitting a block into rows can wait until a thread is free


def decoded(rows: Rows, columns: dict[str, Column]) -> Rows:
    """Give `rows` the cells that `columns` hold as bytes; rows that are not UTF-8 are broken."""
    try:
        rows.cells = {name: column.cast(pa.string()) for name, column in columns.items()}
    except pa.ArrowInvalid:  # one bad row fails its whole column, so each row is looked at
        pairs = zip(*(column.to_pylist() for column in columns.values()), strict=True)
        good = pa.array([is_utf8(b"".join(pair)) for pair in pairs])
        bad = pc.invert(good)
        queries = zip(rows.lines.filter(bad).to_pylist(), columns["query"].filter(bad).to_pylist(), strict=True)
        rows.broken += [Broken(line, Problem.UTF8, repr(query)[1:60]) for line, query in queries]
        rows.lines = rows.lines.filter(good)
        rows.cells = {name: column.filter(good).cast(pa.string()) for name, column in columns.items()}
    return rows


def wrong_width(line: int, width: int) -> Broken:
    """Return the row at `line` as one with the wrong number of columns."""
    return Broken(line, Problem.COLUMNS, "1 column" if width == 1 else f"{width} columns")


def is_utf8(raw: bytes) -> bool:
    """Tell whether bytes are UTF-8 text."""
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True
