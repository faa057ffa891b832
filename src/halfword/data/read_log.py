"""Reading a query log: files of all formats become batches of one schema.

Rows that cannot be used are not handed on one by one, because a log may have hundreds of millions of them. A batch has
one row for each reason instead: with the number of the first such row, what was found there, and how many there are.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from halfword.core.errors import LogError
from halfword.core.text import SHORTEST_QUERY, Profile
from halfword.data.log_columns import WHITE_SPACE, Column, counts_of, displays_of, draws_of, pc, queries_of, times_of
from halfword.data.log_format import LogFile
from halfword.data.log_rows import rows_of
from halfword.data.rows import Broken, Problem, Rows

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
    "count": pa.int64(),  # queries that the row stands for; if it has a problem, rows of this portion with the same one
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
    min_length: int = SHORTEST_QUERY,
    threads: int = 1,
    position: Callable[[int], None] = lambda place: None,
) -> Iterator[pa.RecordBatch]:
    """Read a file as batches of SCHEMA; too many broken rows in a long file are an error before its end."""
    read = broken = 0
    first: Broken | None = None
    with _readable(file):
        portions = rows_of(file, position)
        finish = partial(_finish, file=file, profile=profile, max_length=max_length, min_length=min_length)
        for part in _in_parallel(lambda rows: finish(rows()), portions, threads):
            yield part.batch
            read, broken = read + part.read, broken + part.broken
            first = first or part.first_broken
            if first and read >= ENOUGH_ROWS and broken > MOST_BROKEN * read:
                raise too_broken(file, first, broken / read)


def too_broken(file: LogFile, example: Broken, share: float) -> LogError:
    """Return the error that says where a log is broken and what was expected there."""
    expected = {
        Problem.COLUMNS: f"{len(file.names)} columns" if len(file.names) > 1 else "1 column, one query per line",
        Problem.UTF8: "UTF-8 text (for another encoding say which, such as --encoding latin-1)",
        Problem.DATE: _expected_time(file),
        Problem.COUNT: "a count of 1 or more",
        Problem.JSON: "a JSON object",
        Problem.QUERY: f"a query in {file.names[file.columns['query']]!r}",
    }[example.problem]
    return LogError(
        f"{file.path}, line {example.line}: expected {expected}, found {example.found}; "
        f"{share:.1%} of the rows are broken, at most {MOST_BROKEN:.0%} may be"
    )


def _expected_time(file: LogFile) -> str:
    if file.time_format:
        return f"a time written {file.time_format}"
    known = "a time such as 2006-03-01 07:17:12, or seconds since 1970"
    return f"{known} (for others say how, such as --time-format '%d/%m/%Y %H:%M')"


def row_number(file_index: int, line: int) -> int:
    """Return the number of a row in the whole log: unique, and in the order of files and lines."""
    return (file_index << LINE_BITS) + line


def file_and_line(row: int) -> tuple[int, int]:
    """Return the index of a row's file and its line there."""
    return row >> LINE_BITS, row & ((1 << LINE_BITS) - 1)


@dataclass(frozen=True, slots=True)
class _Portion:
    """A part of a file as a batch of SCHEMA, and how many of its rows are broken."""

    batch: pa.RecordBatch
    read: int
    broken: int
    first_broken: Broken | None


@dataclass(frozen=True, slots=True)
class _LeftOut:
    """The rows of a portion that are left out for the same reason."""

    problem: Problem
    first_line: int
    found: str | None
    number: int


def _finish(rows: Rows, file: LogFile, profile: Profile, max_length: int, min_length: int) -> _Portion:
    """Return the rows as a batch of SCHEMA."""
    cells = {name: pa.array(column, None if name == "time" else pa.string()) for name, column in rows.cells.items()}
    lines: Column = pa.array(rows.lines, pa.int64())
    read = len(lines) + len(rows.empty) + len(rows.broken)
    columns: dict[str, Any] = {
        "query": queries_of(cells.get("query", pa.nulls(0, pa.string())), profile, max_length),
        "user": _users(cells["user"]) if "user" in cells else pa.nulls(len(lines), pa.string()),
        "time": _times(cells["time"], file.time_format) if "time" in cells else pa.nulls(len(lines), pa.int64()),
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
    short = _are_short(columns["query"], min_length)
    long = pc.greater(pc.utf8_length(columns["query"]), max_length)
    too_short = pc.and_(good, short)
    texts = cells.get("query", pa.nulls(0, pa.string())).filter(too_short)
    personal = _held_more(texts, profile, max_length, min_length)
    lines_short = lines.filter(too_short)
    left = [
        *_broken_by_reason(rows.broken),
        *_left_lines(Problem.SHORT, rows.empty, "nothing"),
        *_left_lines(Problem.SHORT, lines_short.filter(pc.invert(personal)).to_numpy()),
        *_left_lines(Problem.PERSONAL, lines_short.filter(personal).to_numpy()),
        *_left_lines(Problem.LONG, lines.filter(pc.and_(good, long)).to_numpy()),
    ]
    batch = _batch(file, lines, columns).filter(pc.and_not(good, pc.or_(short, long)))
    return _Portion(_with_left_out(batch, left, file), read, len(rows.broken), next(iter(rows.broken), None))


_CJK = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}]"
_EXPECTED = {"query": Problem.QUERY, "time": Problem.DATE, "count": Problem.COUNT}


def _held_more(texts: Column, profile: Profile, max_length: int, min_length: int) -> Column:
    """Tell which of some texts are long enough for a query as long as nothing personal is taken out of them."""
    return pc.invert(_are_short(queries_of(texts, replace(profile, scrub=False), max_length), min_length))


def _are_short(queries: Column, least: int) -> Column:
    """Tell which queries have fewer characters; those of Chinese, Japanese and Korean count twice."""
    short = pc.less(pc.utf8_length(queries), least)
    some = queries.filter(short)
    lengths = pc.add(pc.utf8_length(some), pc.count_substring_regex(some, pattern=_CJK))
    return pc.replace_with_mask(short, pc.fill_null(short, False), pc.less(lengths, least))


def _broken_by_reason(broken: Sequence[Broken]) -> Iterator[_LeftOut]:
    for problem in sorted({row.problem for row in broken}):
        alike = [row for row in broken if row.problem is problem]
        first = min(alike, key=lambda row: row.line)
        yield _LeftOut(problem, first.line, first.found, len(alike))


def _left_lines(problem: Problem, lines: Sequence[int], found: str | None = None) -> Iterator[_LeftOut]:
    if len(lines):
        yield _LeftOut(problem, int(lines[0]), found, len(lines))


def _batch(file: LogFile, lines: Column, columns: dict[str, Any]) -> pa.RecordBatch:
    columns["row"] = pc.add(lines, row_number(file.index, 0))
    runs = lines.to_numpy(zero_copy_only=False) // file.run_rows
    columns["draw"] = pa.array(draws_of(runs.astype(np.uint64) + np.uint64(row_number(file.index, 0))))
    columns |= {name: pa.nulls(len(lines), pa.string()) for name in ("problem", "found")}
    return pa.record_batch([columns[name] for name in SCHEMA.names], schema=SCHEMA)


def _with_left_out(batch: pa.RecordBatch, left: Sequence[_LeftOut], file: LogFile) -> pa.RecordBatch:
    if not left:
        return batch
    records = [
        {
            "row": row_number(file.index, each.first_line),
            "count": each.number,
            "problem": each.problem.value,
            "found": each.found,
        }
        for each in left
    ]
    both = pa.concat_tables([pa.Table.from_batches([batch]), pa.Table.from_pylist(records, SCHEMA)])
    return both.combine_chunks().to_batches()[0]


def _shown(found: Any) -> str:
    return repr(found.strip(WHITE_SPACE) if isinstance(found, str) else found)[:60]


def _users(cells: Column) -> Column:
    trimmed = pc.ascii_trim(cells, characters=WHITE_SPACE)
    return pc.if_else(pc.equal(trimmed, ""), pa.scalar(None, pa.string()), trimmed)


def _times(cells: Column, time_format: str | None = None) -> Column:
    return times_of(cells, time_format) if pa.types.is_string(cells.type) else cells.cast(pa.int64())


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
