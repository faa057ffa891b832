"""What `prepare` sorts: only rows whose order says something, and a large log once."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ibis  # type: ignore[import-untyped]
import pytest

from halfword.data import backends
from halfword.data.counting import count_queries, without_repeats
from halfword.data.log_format import Format, LogFile
from halfword.data.options import Engine, PrepareOptions
from halfword.data.read_log import SCHEMA
from halfword.data.session_rows import with_starts
from halfword.data.splits import SMALL_LOG

pytestmark = pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")

KNOWN, UNKNOWN = 3, 5  # rows with a user, and without


@pytest.fixture
def connection() -> Iterator[Any]:
    connection = ibis.duckdb.connect()
    yield connection
    connection.disconnect()


def log_file() -> LogFile:
    columns = {"user": 0, "query": 1}
    return LogFile(path=Path("log.tsv"), index=0, format=Format.TAB, header=True, names=tuple(columns), columns=columns)


def rows_of(connection: Any, known: int, unknown: int) -> Any:
    """Return a log in which one user types the same query again and again, and nobody the rest."""
    users = ["joe"] * known + [None] * unknown
    rows = [
        {"row": row, "user": user, "query": "new york", "time": row, "count": 1, "draw": 0.5}
        for row, user in enumerate(users)
    ]
    columns = {name: [row.get(name) for row in rows] for name in SCHEMA.names}
    return connection.create_table("log", ibis.memtable(columns, schema=ibis.Schema.from_pyarrow(SCHEMA)))


def sorted_rows(connection: Any, table: Any) -> int:
    """Return how many rows DuckDB sorts to answer."""
    plan = connection.con.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {ibis.to_sql(table)}").fetchall()[0][1]

    def windows(step: dict[str, Any]) -> int:
        own = step["intermediate_rows"] if step["type"] == "WINDOW" else 0
        return int(own) + sum(windows(child) for child in step.get("children", []))

    return sum(windows(step) for step in json.loads(plan)["operator"])


def test_rows_without_a_user_are_not_sorted_to_find_repeats(connection: Any) -> None:
    rows = without_repeats(rows_of(connection, KNOWN, UNKNOWN), [log_file()])
    assert rows.count().to_pyarrow().as_py() == 1 + UNKNOWN
    assert sorted_rows(connection, rows) == KNOWN


def test_rows_without_a_user_are_not_sorted_to_find_sessions(connection: Any) -> None:
    rows = with_starts(rows_of(connection, KNOWN, UNKNOWN), True, PrepareOptions())
    assert rows.starts.cast("int64").sum().to_pyarrow().as_py() == 1 + UNKNOWN
    assert sorted_rows(connection, rows) == KNOWN


def test_a_large_log_is_sorted_once(connection: Any) -> None:
    log = rows_of(connection, SMALL_LOG, SMALL_LOG)
    counted = count_queries(connection, log, [log_file()], PrepareOptions())
    assert counted.rows.count().to_pyarrow().as_py() == 1 + SMALL_LOG
    assert sorted_rows(connection, counted.rows) == 0


@pytest.mark.parametrize(("cores", "threads"), [(1, 1), (2, 2), (64, 4)])
def test_little_memory_is_shared_by_few_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cores: int, threads: int
) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: cores)
    monkeypatch.setattr(backends, "MOST_MEMORY", 512 << 20)
    with backends.connected(Engine.DUCKDB, tmp_path, "") as connection:
        assert connection.con.execute("SELECT current_setting('threads')").fetchall() == [(threads,)]
