"""Measure how fast DuckDB and Spark prepare a log and count its n-grams on this machine; prints JSON.

What a cluster needs is worked out from these rates (docs/research/scale.md). Each command runs in a process of its own.
Rates are per second of a processor at work, that of Java and of Spark's Python workers included, so that they mean the
same on a machine that has other work to do. Of a second, tiny log the time is what starting takes; it is taken off.

python benchmarks/cluster.py --rows 2000000
"""

import argparse
import ctypes
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from aol_log import write_log
from halfword.data.dataset import Split, open_dataset
from scale import NEW

TINY = 2_000  # rows
LEAST = 5  # how often an n-gram must occur
ADOPT = 36  # PR_SET_CHILD_SUBREAPER: processes whose parent has ended become our children


def run(*arguments: str) -> dict[str, float]:
    """Run a command of halfword and return its time and that of all processes that it starts."""
    begin = time.perf_counter()
    child = subprocess.Popen([sys.executable, "-m", "halfword", *arguments], stdout=sys.stderr)
    _, status, used = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - begin
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"halfword {arguments[0]} failed")
    at_work = used.ru_utime + used.ru_stime
    while True:
        try:
            _, _, used = os.wait4(-1, 0)
        except ChildProcessError:
            return {"seconds": round(seconds, 1), "processor_seconds": round(at_work, 1)}
        at_work += used.ru_utime + used.ru_stime


def measure(folder: Path, rows: int, engine: str, order: tuple[str, ...]) -> dict[str, Any]:
    """Return what each command takes with one engine."""
    log, data, counts = folder / f"log-{rows}", folder / f"data-{rows}-{engine}", folder / f"counts-{rows}-{engine}"
    if not log.exists():
        write_log(log, rows, 2 * (os.cpu_count() or 1), new=NEW)
    chosen = ("--engine", engine, *order)
    found = {"prepare": run("prepare", str(log), "-o", str(data), *chosen)}
    found["count"] = run("count", str(data), "-o", str(counts), "--hold-out", "--least-count", str(LEAST), *chosen)
    return found


def rates(folder: Path, rows: int, engine: str, master: str) -> dict[str, Any]:
    """Return the times of an engine, and the rows and queries per second of a core."""
    order = ("--spark-master", master) if engine == "spark" else ()
    tiny, whole = (measure(folder, size, engine, order) for size in (TINY, rows))
    queries = len(open_dataset(folder / f"data-{rows}-{engine}").table(Split.TRAIN))
    windows = json.loads((folder / f"counts-{rows}-{engine}" / "counts.json").read_text())["windows"]["train.parquet"]
    at_work = {step: whole[step]["processor_seconds"] - tiny[step]["processor_seconds"] for step in whole}
    return {
        "engine": engine,
        "rows": rows,
        "train_queries": queries,
        "windows_kept": windows,
        "whole": whole,
        "tiny": tiny,
        "rows_per_core_second": round(rows / at_work["prepare"]),
        "queries_counted_per_core_second": round(queries / at_work["count"]),
    }


def main() -> None:
    """Measure both engines."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--engines", nargs="+", default=["duckdb", "spark"])
    parser.add_argument("--master", default="local[*]")
    parser.add_argument("--folder", type=Path, help="where the logs are kept")
    given = parser.parse_args()
    ctypes.CDLL(None).prctl(ADOPT, 1, 0, 0, 0)
    with tempfile.TemporaryDirectory() as temporary:
        for engine in given.engines:
            print(json.dumps(rates(given.folder or Path(temporary), given.rows, engine, given.master)), flush=True)


if __name__ == "__main__":
    main()
