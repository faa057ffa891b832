"""Measure how a log of many million rows becomes a model; prints JSON.

It generates a log in AOL's format, runs `halfword prepare` and `halfword train` as a user does, each in a process of
its own, and asks the model that was made. `--folder` keeps the log, the dataset and the model; a log and a dataset that
lie there already are taken over.

python benchmarks/scale.py --rows 36000000 --folder /tmp/scale
"""

import argparse
import json
import os
import platform
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from aol_log import write_log
from halfword import load
from halfword.core.model_file import Header, read_header
from halfword.data.dataset import Split, open_dataset

ROOT = Path(__file__).parent.parent
TRAIN = ("--parts", "popular,ngram", "--background", "none")
NEW = 0.36  # the share of queries that are new; so 36 million rows hold more than 9 million different ones
ASKED = 5_000  # prefixes
WARM_UP = 500


def run(*arguments: str) -> dict[str, Any]:
    """Run a command of halfword and return its time and memory, which the system keeps for a child that has ended."""
    begin = time.perf_counter()
    child = subprocess.Popen([sys.executable, "-m", "halfword", *arguments], stdout=sys.stderr)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"halfword {arguments[0]} failed")
    return {
        "seconds": round(time.perf_counter() - begin, 1),
        "processor_seconds": round(used.ru_utime + used.ru_stime, 1),
        "peak_megabytes": round(used.ru_maxrss * 1024 / 1e6),
    }


def bytes_per_query(header: Header, queries: int) -> dict[str, float]:
    """Return the bytes of the file per distinct query, by what they are for."""
    sizes: dict[str, float] = {}
    for name, place in header.places.items():
        words = name.split(".")
        detailed = words[0] in ("popular", "words") or words[:2] == ["ngram", "words"]
        part = ".".join(words[:2]) if detailed else words[0]
        sizes[part] = sizes.get(part, 0.0) + (place.end - place.begin) / queries
    listed = {part: round(size, 2) for part, size in sorted(sizes.items(), key=lambda item: -item[1]) if size >= 0.005}
    return {"all": round(sum(sizes.values()), 2), **listed}


def opening_times(model: Path) -> dict[str, float]:
    """Return the milliseconds that opening a model takes, the best of three."""
    found = {}
    for name, verify in (("verified_ms", True), ("unverified_ms", False)):
        times = []
        for _ in range(3):
            begin = time.perf_counter()
            load(model, verify=verify)
            times.append(time.perf_counter() - begin)
        found[name] = round(1e3 * min(times), 2)
    return found


def answer_times(model: Path, data: Path) -> dict[str, float]:
    """Return how many milliseconds an answer takes, at prefixes of test rows."""
    table, chance = open_dataset(data).table(Split.TEST), random.Random(1)
    queries = [table.at(chance.randrange(len(table))) for _ in range(ASKED + WARM_UP)]
    loaded, times = load(model, cache=False, verify=False), []
    for query in queries:
        prefix = query[: chance.randint(1, len(query))]
        begin = time.perf_counter()
        loaded.complete(prefix)
        times.append(1e3 * (time.perf_counter() - begin))
    ranked = sorted(times[WARM_UP:])
    return {"p50_ms": round(ranked[len(ranked) // 2], 4), "p99_ms": round(ranked[len(ranked) * 99 // 100], 4)}


def measure(folder: Path, rows: int, files: int, options: Sequence[str]) -> dict[str, Any]:
    """Make what is missing in a folder, and return all figures."""
    log, data, model = folder / "log", folder / "data", folder / "model.halfword"
    if not log.exists():
        write_log(log, rows, files, new=NEW)
    steps = {} if data.exists() else {"prepare": run("prepare", str(log), "-o", str(data))}
    print(json.dumps(steps), file=sys.stderr)
    steps["train"] = run("train", str(data), "-o", str(model), *TRAIN, *options)
    print(json.dumps(steps), file=sys.stderr)
    header = read_header(model)
    assert header.card.parts.popular is not None
    queries = header.card.parts.popular.queries or 1
    git = ["git", "rev-parse", "--short", "HEAD"]
    return {
        "rows": rows,
        "distinct_queries": queries,
        "steps": steps,
        "megabytes": round(model.stat().st_size / 1e6, 1),
        "bytes_per_query": bytes_per_query(header, queries),
        "open": opening_times(model),
        "answer": answer_times(model, data),
        "machine": {"processor": platform.processor() or platform.machine(), "cores": os.cpu_count()},
        "commit": subprocess.run(git, capture_output=True, text=True, cwd=ROOT, check=False).stdout.strip(),
    }


def main() -> None:
    """Measure with the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--files", type=int, default=10)
    parser.add_argument("--folder", type=Path, help="where the log, the dataset and the model are kept")
    parser.add_argument("options", nargs="*", help="more options of `halfword train`, after --")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        print(json.dumps(measure(given.folder or Path(temporary), given.rows, given.files, given.options), indent=2))


if __name__ == "__main__":
    main()
