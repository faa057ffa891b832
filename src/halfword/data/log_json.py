"""Reading JSON lines: whole blocks with Arrow's parser, and line by line those that hold something unusual."""

import io
import json
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.json

from halfword.data.log_columns import Column, as_time
from halfword.data.log_format import LogFile
from halfword.data.nested import column_at, schema_of, value_at
from halfword.data.rows import Broken, Problem, Rows, is_utf8


def split_json(file: LogFile, block: bytes, first_line: int) -> Rows:
    """Return the rows of a block of whole lines."""
    fields = {name: file.names[place] for name, place in file.columns.items()}
    cells = _cells_at_once(fields, block)
    if cells is None:
        return _line_by_line(fields, block, first_line)
    return Rows(lines=pa.array(np.arange(first_line, first_line + len(cells["query"]))), cells=cells)


def _cells_at_once(fields: dict[str, str], block: bytes) -> dict[str, Column] | None:
    """Return the cells of a block; None where a line is broken, empty, or holds types that Arrow spells otherwise."""
    if not is_utf8(block):
        return None
    read = pyarrow.json.ReadOptions(use_threads=False, block_size=len(block) + 1)
    parse = pyarrow.json.ParseOptions(explicit_schema=schema_of(fields["query"], pa.string()))
    try:
        table = pyarrow.json.read_json(io.BytesIO(block), read, parse)
    except pa.ArrowInvalid:
        return None
    if table.num_rows != block.count(b"\n"):
        return None
    cells = {name: _cell_column(table, name, key) for name, key in fields.items()}
    return None if any(cell is None for cell in cells.values()) else cells


def _cell_column(table: pa.Table, name: str, key: str) -> Column | None:
    column = column_at(table, key)
    if column is None:
        return pa.nulls(table.num_rows, pa.string())
    if name == "time" and pa.types.is_timestamp(column.type):
        return as_time(column)
    plain = pa.types.is_string(column.type) or pa.types.is_integer(column.type) or pa.types.is_null(column.type)
    return column.cast(pa.string()) if plain else None


def _line_by_line(fields: dict[str, str], block: bytes, first_line: int) -> Rows:
    rows = Rows(cells={name: [] for name in fields})
    for line, raw in enumerate(block.split(b"\n")[:-1], start=first_line):
        if not raw or raw.isspace():
            rows.empty.append(line)
            continue
        try:
            record = json.loads(raw.decode())
        except (ValueError, RecursionError) as error:
            rows.broken.append(_no_json(line, raw, error))
            continue
        if not isinstance(record, dict):
            rows.broken.append(Broken(line, Problem.JSON, repr(record)[:60]))
            continue
        cells = {name: _cell(name, value_at(record, key)) for name, key in fields.items()}
        if not all(map(_is_text, cells.values())):
            rows.broken.append(Broken(line, Problem.UTF8, repr(cells["query"])[:60]))
            continue
        rows.lines.append(line)
        for name, cell in cells.items():
            rows.cells[name].append(cell)
    return rows


def _no_json(line: int, raw: bytes, error: Exception) -> Broken:
    return Broken(line, Problem.UTF8 if isinstance(error, UnicodeDecodeError) else Problem.JSON, repr(raw)[1:60])


def _cell(name: str, value: Any) -> str | None:
    """Return a value as text; a query must be text already."""
    if isinstance(value, str):
        return value
    return None if value is None or name == "query" else str(value)


def _is_text(cell: str | None) -> bool:
    try:
        (cell or "").encode()
    except UnicodeEncodeError:  # JSON can spell half of a surrogate pair
        return False
    return True
