"""The two engines that prepare a log, DuckDB and Spark: each reads it into a table, on which Ibis expressions run."""

import gc
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import ibis  # type: ignore[import-untyped]
import pyarrow as pa
import pyarrow.parquet as parquet

from halfword.core.errors import LogError, OptionError, OutputError, require
from halfword.core.interrupts import undisturbed
from halfword.core.machine import machine_memory
from halfword.core.progress import Event, Progress
from halfword.data.log_format import LogFile
from halfword.data.options import Engine
from halfword.data.read_log import SCHEMA

MOST_READERS = 4  # threads; each holds several portions of a file, however many cores there are
MOST_MEMORY = 3 << 30  # bytes; above this, DuckDB writes intermediate results to disk
THREAD_MEMORY = 128 << 20  # bytes that DuckDB asks for each of its threads; what they hold is not all in its count
# How DuckDB reports Ctrl-C: when its own code was running, and when a Python function that it called was.
_INTERRUPTED = re.compile(r"^Query interrupted$|executing the UDF: KeyboardInterrupt")
LOG = "log"  # the table that both engines fill

Read = Callable[..., Iterator[pa.RecordBatch]]  # `read_batches`; takes a file and perhaps `threads` and `position`


@contextmanager
def connected(engine: Engine, folder: Path, master: str) -> Iterator[Any]:
    """Yield an Ibis connection that keeps its tables in `folder`."""
    if engine is Engine.SPARK:
        with _spark(folder, master) as session:
            yield ibis.pyspark.connect(session)
    else:
        with _duckdb(folder) as connection:
            yield connection


@contextmanager
def duckdb_log(files: Sequence[LogFile], read: Read, folder: Path, progress: Progress) -> Iterator[Any]:
    """Stream the log into a database in `folder` and yield the Ibis connection to it."""
    with _duckdb(folder) as connection:
        _fill(connection.con, _all_batches(files, read, progress))
        yield connection


@contextmanager
def _duckdb(folder: Path) -> Iterator[Any]:
    if "\\" in str(folder) or not str(folder).isprintable():
        raise OutputError(
            f"{folder.parent}: DuckDB opens no path with a backslash or a control character; name another"
        )
    memory = min(MOST_MEMORY, machine_memory() // 2)
    connection = ibis.duckdb.connect(
        folder / "log.duckdb",
        memory_limit=f"{memory >> 20}MB",
        threads=max(1, min(os.cpu_count() or 1, memory // THREAD_MEMORY)),
        temp_directory=str(folder / "spill"),
        preserve_insertion_order=False,
    )
    try:
        yield connection
    except Exception as error:
        if _INTERRUPTED.search(str(error)):
            raise KeyboardInterrupt from None
        raise
    finally:
        connection.disconnect()
        del connection
        gc.collect()  # DuckDB prints a warning at exit for each of its objects that was not collected


def _fill(connection: Any, batches: Iterator[pa.RecordBatch]) -> None:
    failures: list[BaseException] = []
    connection.register("incoming", pa.RecordBatchReader.from_batches(SCHEMA, _remembering(batches, failures)))
    try:
        connection.execute(f"CREATE TABLE {LOG} AS SELECT * FROM incoming")
    except Exception:
        if failures:
            # DuckDB wraps what the reader raised, even an interrupt, in an error of its own.
            raise failures[0] from None
        raise
    finally:
        connection.unregister("incoming")
        pa.default_memory_pool().release_unused()  # what Arrow keeps for later, DuckDB does not know of


def _remembering(batches: Iterator[pa.RecordBatch], failures: list[BaseException]) -> Iterator[pa.RecordBatch]:
    try:
        yield from batches
    except GeneratorExit:
        raise
    except BaseException as failure:
        failures.append(failure)
        raise


def _all_batches(files: Sequence[LogFile], read: Read, progress: Progress) -> Iterator[pa.RecordBatch]:
    total, before = sum(file.path.stat().st_size for file in files), 0
    for file in files:
        start = before

        def position(place: int, start: int = start) -> None:
            progress(Event("reading", start + place, total))

        yield from read(file, threads=min(os.cpu_count() or 1, MOST_READERS), position=position)
        before += file.path.stat().st_size


@contextmanager
def spark_log(files: Sequence[LogFile], read: Read, folder: Path, progress: Progress, master: str) -> Iterator[Any]:
    """Read the log on Spark's workers, one file per task, and yield the Ibis connection; all must see `folder`."""
    progress(Event("starting Spark", 0, len(files)))
    with _spark(folder, master) as session:
        progress(Event("reading", 0, len(files)))

        def read_on_worker(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                for index in batch["index"]:
                    yield from read(files[int(index)])

        columns = ", ".join(f"`{field.name}` {_SPARK_TYPES[field.type]}" for field in SCHEMA)
        indices = session.createDataFrame([(file.index,) for file in files], "index bigint").repartition(len(files))
        with _log_errors():
            indices.mapInArrow(read_on_worker, columns).write.parquet(str(folder / LOG))
        session.read.parquet(str(folder / LOG)).createOrReplaceTempView(LOG)
        yield ibis.pyspark.connect(session)


@contextmanager
def _spark(folder: Path, master: str) -> Iterator[Any]:
    session = None
    try:
        with undisturbed():  # a Java process that is interrupted while it starts never ends
            session = _spark_session(master, folder)
        yield session
    finally:
        with undisturbed():
            if session is not None:
                session.stop()


def sorted_batches(table: Any, order: Sequence[Any], path: Path) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a table in an order, by way of the file `path`."""
    table.order_by(order).to_parquet(path)
    for piece in sorted(path.glob("*.parquet")) if path.is_dir() else [path]:  # Spark writes a folder of parts
        yield from parquet.ParquetFile(piece).iter_batches()


_SPARK_TYPES = {pa.int64(): "bigint", pa.string(): "string", pa.float64(): "double"}


def _spark_session(master: str, folder: Path) -> Any:
    sql = require("pyspark.sql", "spark")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1") if master.startswith("local") else None
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": str(2 * (os.cpu_count() or 1)),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.local.dir": str(folder / "spill"),
        "spark.sql.ansi.enabled": "true",
        "spark.executorEnv.PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
    }
    builder = sql.SparkSession.builder.master(master).appName("halfword prepare")
    for name, value in settings.items():
        builder = builder.config(name, value)
    with _stderr_to(folder / "spark.log"):
        try:
            return builder.getOrCreate()
        except Exception as error:
            reason = str(error).partition("\n")[0]
            raise OptionError(
                f"Spark does not start on {master!r} ({reason}); check Java 17 and --spark-master"
            ) from error


@contextmanager
def _stderr_to(path: Path) -> Iterator[None]:
    """Send the stderr of processes started in the block to a file; the Java virtual machine always writes something."""
    kept = os.dup(2)
    with path.open("wb") as log:
        os.dup2(log.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


@contextmanager
def _log_errors() -> Iterator[None]:
    """Raise the LogError that a worker raised, without Spark's own text around it."""
    try:
        yield
    except Exception as error:
        if found := re.search(r"halfword\.core\.errors\.LogError: (.*)", str(error)):
            raise LogError(found[1]) from error
        raise
