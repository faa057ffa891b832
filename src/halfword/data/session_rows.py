"""Sessions of a log: the rows that are kept, in their order, and where a session begins.

A session is what one user typed without a long pause. A log with times but no users is one stream of many people, cut
at its pauses. Sessions do not cross from one split into another.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import ibis  # type: ignore[import-untyped]
import pyarrow as pa

from halfword.data.backends import sorted_batches
from halfword.data.dataset import Split
from halfword.data.log_format import LogFile
from halfword.data.options import PrepareOptions
from halfword.data.row_files import in_files

_MINUTE = 60_000_000  # microseconds


def session_files(files: Sequence[LogFile], options: PrepareOptions) -> list[LogFile]:
    """Return the files in which the order is known in which people typed, if it is wanted."""
    return [] if options.no_sessions else [file for file in files if _in_order(file)]


def _in_order(file: LogFile) -> bool:
    """Tell whether the order of the rows is known; rows with counts stand for many moments."""
    return not file.holds("count") and (file.holds("user") or file.holds("time"))


def session_batches(
    rows: Any, kept: Any, folder: Path, files: Sequence[LogFile], options: PrepareOptions
) -> Iterator[pa.RecordBatch]:
    """Yield every row that counts for a split, in the order of users and times: split, starts, query number."""
    rows = rows.filter(in_files(rows, list(files), _in_order))
    for split in Split:
        numbers = kept.filter(kept[split] > 0)
        rank = ibis.row_number().over(ibis.window(order_by=[ibis.desc(numbers[split]), numbers.query]))
        numbered = numbers.select("query", number=rank)
        inside = rows.filter(rows[split] > 0).select("user", "time", "row", "query").inner_join(numbered, "query")
        users = any(file.holds("user") for file in session_files(files, options))
        table = with_starts(inside.select("user", "time", "row", "number"), users, options)
        for batch in sorted_batches(table, ["user", "time", "row"], folder / f"sessions-{split}.parquet"):
            name = pa.repeat(pa.scalar(str(split)), batch.num_rows)
            yield pa.record_batch([name, batch["starts"], batch["number"]], names=["split", "starts", "query"])


def with_starts(rows: Any, users: bool, options: PrepareOptions) -> Any:
    """Add whether a row is the first of its session: of its user, or after a pause; `users`: some rows have one."""
    if not users:
        return rows.mutate(starts=_starts(rows, options))
    known = rows.filter(rows.user.notnull())
    # Nobody knows who typed the row before one without a user. All of them would be one group, sorted as a whole.
    unknown = rows.filter(rows.user.isnull()).mutate(starts=True)
    return known.mutate(starts=_starts(known, options)).union(unknown)


def _starts(rows: Any, options: PrepareOptions) -> Any:
    own = ibis.window(group_by=rows.user, order_by=[rows.time, rows.row])
    paused = (rows.time - rows.time.lag().over(own)) > int(options.session_gap * _MINUTE)
    return rows.row.lag().over(own).isnull() | paused.fill_null(False)
