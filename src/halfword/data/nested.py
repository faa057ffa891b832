"""Values inside others: `event.search.terms` is the field `terms` of the field `search` of the column `event`."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from halfword.data.log_columns import Column, pc


def leaf_names(fields: Sequence[Any]) -> Iterator[str]:
    """Yield the names of columns; those inside a struct have the names of all structs around them, with dots."""
    for field in fields:
        if pa.types.is_struct(field.type):
            yield from (f"{field.name}.{name}" for name in leaf_names(list(field.type)))
        else:
            yield field.name


def text_names(fields: Sequence[Any]) -> Iterator[str]:
    """Yield those names of `leaf_names` whose values are texts."""
    for name, field in zip(leaf_names(fields), _leaves(fields), strict=True):
        if any(is_text(field.type) for is_text in (pa.types.is_string, pa.types.is_large_string)):
            yield name


def _leaves(fields: Sequence[Any]) -> Iterator[Any]:
    for field in fields:
        yield from _leaves(list(field.type)) if pa.types.is_struct(field.type) else [field]


def leaf_keys(record: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of the values of a JSON object, as `leaf_names` does.

    >>> list(leaf_keys({"at": 1, "event": {"search": {"terms": "news"}}}))
    ['at', 'event.search.terms']
    """
    for name, value in record.items():
        if isinstance(value, Mapping):
            yield from (f"{name}.{inner}" for inner in leaf_keys(value))
        else:
            yield name


def value_at(record: Mapping[str, Any], name: str) -> Any:
    """Return the value of a JSON object that `leaf_keys` calls `name`, or None."""
    if name in record:
        return record[name]
    first, _, rest = name.partition(".")
    inner = record.get(first)
    return value_at(inner, rest) if rest and isinstance(inner, Mapping) else None


def cells_of(records: Sequence[Mapping[str, Any]], names: Sequence[str]) -> list[list[str]]:
    """Return the values of records as rows of text, in the order of some names; what is not there is empty.

    >>> cells_of([{"at": 1, "event": {"terms": "news"}}, {"at": None}], ["event.terms", "at"])
    [['news', '1'], ['', '']]
    """
    rows = [[value_at(record, name) for name in names] for record in records]
    return [["" if value is None else str(value) for value in row] for row in rows]


def column_at(table: pa.Table | pa.RecordBatch, name: str) -> Column | None:
    """Return the column of a table that `leaf_names` calls `name`; None if there is none."""
    first, *path = [name] if name in table.schema.names else name.split(".")
    if first not in table.schema.names:
        return None
    column: Column = table[first]
    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    for step in path:
        if not pa.types.is_struct(column.type) or column.type.get_field_index(step) < 0:
            return None
        column = pc.struct_field(column, step)
    return column


def schema_of(name: str, kind: pa.DataType) -> pa.Schema:
    """Return the schema of a table in which the values that `leaf_names` calls `name` are of a certain type."""
    first, *path = name.split(".")
    for step in reversed(path):
        kind = pa.struct([(step, kind)])
    return pa.schema({first: kind})
