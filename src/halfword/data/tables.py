"""Tables in memory as logs: what pandas, polars, Arrow or a dictionary of counts hold, written as a Parquet file."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from halfword.core.errors import LogError, require

if TYPE_CHECKING:
    from halfword.data.options import ColumnNames

TABLE = Path("table.parquet")


def is_table(value: Any) -> bool:
    """Tell whether `value` is a table: it speaks Arrow's C interface, or that of data frames."""
    return any(hasattr(value, name) for name in ("__arrow_c_stream__", "__arrow_c_array__", "__dataframe__"))


def table_of_counts(counts: Mapping[str, int] | Iterable[tuple[str, int]]) -> Any:
    """Return a table of queries and how often each was typed."""
    pa = require("pyarrow", "prepare")
    try:
        pairs = list(counts.items() if isinstance(counts, Mapping) else counts)
        texts, numbers = [query for query, _ in pairs], [number for _, number in pairs]
        return pa.table({"query": pa.array(texts, pa.string()), "count": pa.array(numbers, pa.int64())})
    except (TypeError, ValueError, pa.ArrowException) as error:
        raise LogError(f"the counts cannot be read ({_reason(error)}); give pairs of a text and a number") from error


def write_table(folder: Path, frame: Any, names: "ColumnNames") -> Path:
    """Write those columns of a table that a log may have, as a file in `folder`, and return its path."""
    pa, parquet = require("pyarrow", "prepare"), require("pyarrow.parquet", "prepare")
    from halfword.data.guess_columns import named_columns
    from halfword.data.log_format import SAMPLE_ROWS
    from halfword.data.nested import cells_of, leaf_names

    try:
        table = pa.table(frame)
        leaves = tuple(leaf_names(list(table.schema)))

        def rows() -> list[list[str]]:
            return cells_of(table.slice(0, SAMPLE_ROWS).to_pylist(), leaves)

        found = named_columns(Path("the table"), leaves, names, rows=rows)
        wanted = {leaves[place] for place in found.places.values()}
        chosen = table.select([name for name in table.column_names if _is_part(name, wanted)])
        columns = [_plain(chosen.column(place)) for place in range(chosen.num_columns)]
        ready = pa.table(columns, names=chosen.column_names)
        path = folder / TABLE
        parquet.write_table(ready, path, coerce_timestamps="us", allow_truncated_timestamps=True)
    except (TypeError, ValueError, pa.ArrowException) as error:
        raise LogError(
            f"the table cannot be read ({_reason(error)}); keep only its columns of queries, users, times and counts"
        ) from error
    return path


def _is_part(name: str, wanted: set[str]) -> bool:
    """Tell whether a column is wanted, or a value inside it."""
    return any(leaf == name or leaf.startswith(f"{name}.") for leaf in wanted)


def _plain(column: Any) -> Any:
    """Return a column in a type that every reader of Parquet knows; pandas makes numbers with gaps to fractions."""
    pa = require("pyarrow", "prepare")
    kind, types = column.type, pa.types
    if types.is_dictionary(kind):
        return _plain(column.cast(kind.value_type))
    if types.is_large_string(kind) or types.is_string_view(kind):
        return column.cast(pa.string())
    if types.is_floating(kind):
        try:
            return column.cast(pa.int64())
        except pa.ArrowInvalid:
            return column
    return column


def _reason(error: BaseException) -> str:
    return str(error).partition("\n")[0]
