"""Reading a query log: files of all formats become batches of one schema, in which unusable rows carry the reason."""

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from halfword.core.errors import LogError
from halfword.core.text import SHORTEST_QUERY, Profile
from halfword.data.log_columns import WHITE_SPACE, Column, counts_of, displays_of, draws_of, pc, queries_of, times_of
from halfword.data.log_format import LogFile
from halfword.data.log_rows import rows_of
from halfword.data.rows import NOT_BROKEN, Broken, Problem, Rows

LINE_BITS = 40  # a row's number has its line in the lower bits and the index of its file above them
MOST_BROKEN = 0.05
ENOUGH_ROWS = 200_000  # after so many rows a file is refused if too many of them are broken

Item = TypeVar("Item")
Result = TypeVar("Result")

_KINDS: dict[str, pa.DataType] = {
    "row": pa.int64(),
    "user": pa.string(),
    "query": pa.string(),
    "time": pa.int64(),  # microseconds since 1970, so that no engine applies a time zone
    "count": pa.int64(),
    "draw": pa.float64(),  # a random number in [0, 1), the same for a run of rows
    "problem": pa.string(),
    "found": pa.string(),
    "display": pa.string(),  # the query with its capitals, if it has any
}
SCHEMA = pa.schema(_KINDS)


def read_batches(
    file: LogFile,
    profile: Profile,
    max_length: int,
    threads: int = 1,
    position: Callable[[int], None] = lambda place: None,
) -> Iterator[pa.RecordBatch]:
    """Read a file as batches of SCHEMA; too many broken rows in a long file are an error before its end."""
    read = broken = 0
    first: Broken | None = None
    with _readable(file):
        portions = rows_of(file, position)
        for batch, faults in _in_parallel(lambda rows: _finish(rows(), file, profile, max_length), portions, threads):
            yield batch
            read, broken = read + batch.num_rows, broken + len(faults)
            first = first or next(iter(faults), None)
            if first and read >= ENOUGH_ROWS and broken > MOST_BROKEN * read:
                raise too_broken(file, first, broken / read)


def too_broken(file: LogFile, example: Broken, share: float) -> LogError:
    """Return the error that says where a log is broken and what was expected there."""
    expected = {
        Problem.COLUMNS: f"{len(file.names)} columns" if len(file.names) > 1 else "1 column, one query per line",
        Problem.UTF8: "UTF-8 text (for another encoding say which, such as --encoding latin-1)",
        Problem.DATE: "a time such as 2006-03-01 07:17:12, or seconds since 1970",
        Problem.COUNT: "a count of 1 or more",
        Problem.JSON: "a JSON object",
        Problem.QUERY: f"a query in {file.names[file.columns['query']]!r}",
    }[example.problem]
    return LogError(
        f"{file.path}, line {example.line}: expected {expected}, found {example.found}; "
        f"{share:.1%} of the rows are broken, at most {MOST_BROKEN:.0%} may be"
    )


def row_number(file_index: int, line: int) -> int:
    """Return the number of a row in the whole log: unique, and in the order of files and lines."""
    return (file_index << LINE_BITS) + line


def file_and_line(row: int) -> tuple[int, int]:
    """Return the index of a row's file and its line there."""
    return row >> LINE_BITS, row & ((1 << LINE_BITS) - 1)


def _finish(rows: Rows, file: LogFile, profile: Profile, max_length: int) -> tuple[pa.RecordBatch, list[Broken]]:
    """Return the rows as a batch of SCHEMA, and a list of those that are broken."""
    cells = {name: pa.array(column, None if name == "time" else pa.string()) for name, column in rows.cells.items()}
    lines: Column = pa.array(rows.lines, pa.int64())
    columns: dict[str, Any] = {
        "query": queries_of(cells.get("query", pa.nulls(0, pa.string())), profile),
        "user": _users(cells["user"]) if "user" in cells else pa.nulls(len(lines), pa.string()),
        "time": _times(cells["time"]) if "time" in cells else pa.nulls(len(lines), pa.int64()),
        "count": counts_of(cells["count"]) if "count" in cells else pa.repeat(pa.scalar(1, pa.int64()), len(lines)),
    }
    columns["display"] = displays_of(cells["query"], columns["query"]) if "query" in cells else columns["query"]
    good = pa.array(np.ones(len(lines), bool))
    for name, problem in ((name, problem) for name, problem in _EXPECTED.items() if name in cells):
        bad = pc.and_(good, pc.is_null(columns[name]))
        if pc.any(bad).as_py():
            pairs = zip(lines.filter(bad).to_pylist(), cells[name].filter(bad).to_pylist(), strict=True)
            rows.broken += [Broken(line, problem, _shown(found)) for line, found in pairs]
            good = pc.and_not(good, bad)
    columns["problem"] = _lengths_judged(columns["query"], max_length)
    batch = _batch(file, lines, columns, good, rows)
    return batch, [row for row in rows.broken if row.problem not in NOT_BROKEN]


_EXPECTED = {"query": Problem.QUERY, "time": Problem.DATE, "count": Problem.COUNT}


def _lengths_judged(queries: Column, max_length: int) -> Column:
    """Return what is wrong with the length of each query, null where nothing is."""
    lengths = pc.utf8_length(queries)
    nothing = pa.scalar(None, pa.string())
    long = pc.if_else(pc.greater(lengths, max_length), pa.scalar(Problem.LONG.value), nothing)
    return pc.if_else(pc.less(lengths, SHORTEST_QUERY), pa.scalar(Problem.SHORT.value), long)


def _batch(file: LogFile, lines: Column, columns: dict[str, Any], good: Column, rows: Rows) -> pa.RecordBatch:
    columns["row"] = pc.add(lines, row_number(file.index, 0))
    runs = lines.to_numpy(zero_copy_only=False) // file.run_rows
    columns["draw"] = pa.array(draws_of(runs.astype(np.uint64) + np.uint64(row_number(file.index, 0))))
    columns["found"] = pa.nulls(len(lines), pa.string())
    batch = pa.record_batch([columns[name] for name in SCHEMA.names], schema=SCHEMA)
    if not rows.broken and not len(rows.empty):
        return batch
    records = [
        {"row": row_number(file.index, row.line), "problem": row.problem.value, "found": row.found}
        for row in rows.broken
    ]
    empty = _empty_rows(pc.add(pa.array(rows.empty, pa.int64()), row_number(file.index, 0)))
    tables = pa.Table.from_batches([batch.filter(good), empty]), pa.Table.from_pylist(records, SCHEMA)
    return pa.concat_tables(tables).combine_chunks().to_batches()[0]


def _empty_rows(numbers: Column) -> pa.RecordBatch:
    columns = {field.name: pa.nulls(len(numbers), field.type) for field in SCHEMA}
    columns |= {"row": numbers, "problem": pa.repeat(pa.scalar(Problem.SHORT.value), len(numbers))}
    columns |= {"found": pa.repeat(pa.scalar("nothing"), len(numbers))}
    return pa.record_batch([columns[name] for name in SCHEMA.names], schema=SCHEMA)


def _shown(found: Any) -> str:
    return repr(found.strip(WHITE_SPACE) if isinstance(found, str) else found)[:60]


def _users(cells: Column) -> Column:
    trimmed = pc.ascii_trim(cells, characters=WHITE_SPACE)
    return pc.if_else(pc.equal(trimmed, ""), pa.scalar(None, pa.string()), trimmed)


def _times(cells: Column) -> Column:
    return times_of(cells) if pa.types.is_string(cells.type) else cells.cast(pa.int64())


def _in_parallel(work: Callable[[Item], Result], items: Iterator[Item], threads: int) -> Iterator[Result]:
    """Yield the results of `work` in the order of `items`; Arrow releases the GIL, so that threads run at once."""
    with ThreadPoolExecutor(threads) as pool:
        waiting: deque[Future[Result]] = deque()
        try:
            for item in items:
                waiting.append(pool.submit(work, item))
                if len(waiting) > 2 * threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            pool.shutdown(cancel_futures=True)


@contextmanager
def _readable(file: LogFile) -> Iterator[None]:
    try:
        yield
    except UnicodeError as error:
        raise LogError(f"{file.path} is not {file.encoding} text ({error}); name its encoding: --encoding") from error
    except (OSError, pa.ArrowInvalid) as error:
        raise LogError(f"{file.path} cannot be read ({str(error).partition(chr(10))[0]})") from error
