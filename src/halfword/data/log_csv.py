"""Reading CSV files with Arrow's parser.

Lines are numbered by rows: a quoted cell that holds several lines counts as one.
"""

import sys
from collections.abc import Callable, Collection, Iterator
from functools import partial, reduce
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import csv

from halfword.core.errors import LogError
from halfword.data.log_columns import Column, pc
from halfword.data.log_format import LogFile
from halfword.data.rows import MOST_ROWS, Broken, Later, Rows, decoded, wrong_width

MOST_REJECTED = 400_000  # rows that wait until one of the right width follows; in a block that is more than a twentieth
Reject = Callable[[csv.InvalidRow], Literal["skip", "error"]]


def csv_rows(file: LogFile, stream: pa.NativeFile, block_bytes: int) -> Iterator[Later]:
    """Yield the rows of a CSV file in portions."""
    line = 1 + file.header
    rejected: dict[int, Broken] = {}

    def reject(row: csv.InvalidRow) -> Literal["skip", "error"]:
        assert row.number is not None  # Arrow numbers the rows when it reads without threads
        rejected[row.number] = wrong_width(row.number, row.actual_columns)
        return "skip" if len(rejected) < MOST_REJECTED else "error"

    try:
        for batch in _quietly(lambda: _batches(file, stream, block_bytes, reject), reject):
            # A batch may have millions of rows, so even their numbers are made in parts.
            for part in (batch[begin : begin + MOST_ROWS] for begin in range(0, batch.num_rows, MOST_ROWS)):
                lines = _numbers(line, part.num_rows, rejected)
                line = int(lines[-1]) + 1
                broken = [rejected.pop(number) for number in sorted(rejected) if number < line]
                yield partial(_portion, file, part, pa.array(lines))
                if broken:  # after the rows around them, or their share would look larger than it is
                    yield partial(Rows, broken=broken)
    except pa.ArrowInvalid as error:
        found = _what_is_wrong(str(error), file, list(rejected.values()), block_bytes)
        if found is None:
            raise
        raise LogError(f"{file.path}, line {line} or later: {found}") from error
    if rejected:
        yield partial(Rows, broken=list(rejected.values()))


def _numbers(first: int, count: int, rejected: Collection[int]) -> npt.NDArray[np.int64]:
    """Return the first `count` numbers from `first` on that were not rejected."""
    numbers = np.arange(first, first + count + len(rejected))
    return np.setdiff1d(numbers, list(rejected), assume_unique=True)[:count] if rejected else numbers


def _what_is_wrong(message: str, file: LogFile, rejected: list[Broken], block_bytes: int) -> str | None:
    """Return what made Arrow stop, where its own words would not help."""
    if "straddl" in message:
        return f"a quote that is not closed within {block_bytes >> 20} MB; close it"
    if len(rejected) >= MOST_REJECTED:
        return f"{rejected[0].found}, not {len(file.names)}, in {len(rejected):,} rows; mend the file"
    if "got" in message:  # Arrow could not call `reject`, which takes the row as text
        return "a row with the wrong number of columns that is not UTF-8; save the file as UTF-8"
    return None


def _quietly(start: Callable[[], Iterator[pa.RecordBatch]], reject: Reject) -> Iterator[pa.RecordBatch]:
    """Yield batches; what keeps Arrow from calling `reject` is not printed, because it is also an error."""
    before, batches = sys.unraisablehook, None

    def hook(unraisable: Any) -> None:
        if unraisable.object is not reject:
            before(unraisable)

    while True:
        sys.unraisablehook = hook
        try:
            batches = batches or start()  # this reads already
            batch = next(batches, None)
        finally:
            sys.unraisablehook = before
        if batch is None:
            return
        yield batch


def _batches(file: LogFile, stream: pa.NativeFile, block_bytes: int, reject: Reject) -> Iterator[pa.RecordBatch]:
    places = [str(place) for place in range(len(file.names))]  # two columns may have the same name
    skip = int(file.header)
    read = csv.ReadOptions(use_threads=False, block_size=block_bytes, column_names=places, skip_rows_after_names=skip)
    parse = csv.ParseOptions(
        delimiter=file.delimiter, newlines_in_values=True, ignore_empty_lines=False, invalid_row_handler=reject
    )
    convert = csv.ConvertOptions(
        column_types=dict.fromkeys(places, pa.binary()),  # `decoded` makes text of it row by row where it must
        include_columns=[str(place) for place in file.columns.values()],
        strings_can_be_null=False,
        null_values=[],
    )
    return iter(csv.open_csv(cast(Any, stream), read, parse, convert))


def _portion(file: LogFile, batch: pa.RecordBatch, lines: Column) -> Rows:
    rows = Rows(lines=lines)
    columns = {name: batch[str(place)] for name, place in file.columns.items()}
    empty = reduce(pc.and_, (pc.equal(column, b"") for column in columns.values()))
    if pc.any(empty).as_py():
        full = pc.invert(empty)
        rows.empty = lines.filter(empty).to_numpy()
        rows.lines, columns = lines.filter(full), {name: column.filter(full) for name, column in columns.items()}
    return decoded(rows, columns)
