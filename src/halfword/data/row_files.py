"""Which file a row comes from, as expressions of Ibis: a row's number has the index of its file in its higher bits."""

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any, TypeVar

import ibis  # type: ignore[import-untyped]

from halfword.data.log_format import LogFile
from halfword.data.read_log import row_number

_UNIT = 1000  # parts of a weight, so that sums are whole numbers and do not depend on their order
Value = TypeVar("Value", bool, int)


def in_files(rows: Any, files: Sequence[LogFile], chosen: Callable[[LogFile], bool]) -> Any:
    """Return a column that tells which rows are of files that are `chosen`."""
    return _by_file(rows, files, chosen)


def weighted(rows: Any, files: Sequence[LogFile], count: Any) -> Any:
    """Return a column of counts times the weights of their files, in thousandths."""
    return count * _by_file(rows, files, lambda file: round(file.weight * _UNIT))


def rounded(total: Any) -> Any:
    """Return a sum of `weighted` counts as a whole number; what was there at all counts 1 at least."""
    nearest = ((total + _UNIT // 2) / _UNIT).floor().cast("int64")
    return (total > 0).ifelse(ibis.greatest(nearest, 1), 0)


def are_weighted(files: Sequence[LogFile]) -> bool:
    """Tell whether a row of some file counts more or less than one of another."""
    return any(file.weight != 1 for file in files)


def _by_file(rows: Any, files: Sequence[LogFile], value: Callable[[LogFile], Value]) -> Any:
    """Return a column of a value that each file has; neighbours with the same value are one case."""
    runs = [(found, next(group).index) for found, group in groupby(files, value)]
    column = ibis.literal(runs[0][0])
    for found, first in runs[1:]:
        column = (rows.row >= row_number(first, 0)).ifelse(ibis.literal(found), column)
    return column
