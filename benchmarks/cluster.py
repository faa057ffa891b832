"""Measure how fast DuckDB and Spark prepare a log and count its n-grams on this machine; prints JSON.

What a cluster needs is worked out from these rates (docs/research/scale.md). Each command runs in a process of its own.
Of a second, tiny log the time is what starting takes; it is taken off before rates are worked out.

python benchmarks/cluster.py --rows 2000000
"""

import argparse
import json
import os
import tempfile
from pathlib import Path
from typing import Any

from aol_log import write_log
from halfword.data.dataset import Split, open_dataset
from scale import NEW, run

TINY = 2_000  # rows
LEAST = 5  # how often an n-gram must occur


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
    """Return the times of an engine, and the rows and queries per second and core."""
    order = ("--spark-master", master) if engine == "spark" else ()
    tiny, whole = (measure(folder, size, engine, order) for size in (TINY, rows))
    queries = len(open_dataset(folder / f"data-{rows}-{engine}").table(Split.TRAIN))
    windows = json.loads((folder / f"counts-{rows}-{engine}" / "counts.json").read_text())["windows"]["train.parquet"]
    at_work = {step: whole[step]["seconds"] - tiny[step]["seconds"] for step in whole}
    cores = os.cpu_count() or 1
    return {
        "engine": engine,
        "rows": rows,
        "train_queries": queries,
        "windows_kept": windows,
        "seconds": {step: each["seconds"] for step, each in whole.items()},
        "seconds_of_a_tiny_log": {step: each["seconds"] for step, each in tiny.items()},
        "rows_per_second_and_core": round(rows / at_work["prepare"] / cores),
        "queries_counted_per_second_and_core": round(queries / at_work["count"] / cores),
    }


def main() -> None:
    """Measure both engines."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--engines", nargs="+", default=["duckdb", "spark"])
    parser.add_argument("--master", default="local[*]")
    parser.add_argument("--folder", type=Path, help="where the logs are kept")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        for engine in given.engines:
            print(json.dumps(rates(given.folder or Path(temporary), given.rows, engine, given.master)), flush=True)


if __name__ == "__main__":
    main()
