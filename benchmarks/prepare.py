"""Time `halfword prepare` on a log in AOL's format, generated or given; prints JSON.

python benchmarks/prepare.py --rows 36000000
python benchmarks/prepare.py --log 'logs/*.txt.gz' -- --profile paper
"""

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from aol_log import write_log

ROOT = Path(__file__).parent.parent


def measure(logs: list[str], options: list[str], folder: Path) -> dict[str, Any]:
    """Run the command once and return its time and memory."""
    command = [sys.executable, "-m", "halfword", "prepare", *logs, "-o", str(folder / "data"), "--json", *options]
    begin = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - begin
    if done.returncode:
        sys.exit(done.stderr.strip())
    funnel = json.loads(done.stdout)
    return {
        "rows": funnel["read"],
        "seconds": round(seconds, 2),
        "rows_per_second": round(funnel["read"] / seconds),
        "peak_megabytes": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024,
        "splits": funnel["splits"],
        "seen": funnel["seen"],
        "stderr": done.stderr,
    }


def yardstick(logs: list[Path]) -> dict[str, float]:
    """Return, for comparison, the time to read the lines of the log and to split a million of them."""
    begin = time.perf_counter()
    lines = 0
    for path in logs:
        with path.open("rb") as stream:
            while block := stream.read(1 << 24):
                lines += block.count(b"\n")
    counted = time.perf_counter()
    with logs[0].open("rb") as stream:
        split = sum(len(line.split(b"\t")) == 5 for _, line in zip(range(1_000_000), stream, strict=False))
    seconds = time.perf_counter() - counted
    return {"count_lines_seconds": round(counted - begin, 2), "python_split_rows_per_second": round(split / seconds)}


def main() -> None:
    """Measure with the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--files", type=int, default=10)
    parser.add_argument("--log", nargs="+", help="prepare this log instead of a generated one")
    parser.add_argument("--folder", type=Path, help="where to put the generated log and the dataset")
    parser.add_argument("options", nargs="*", help="options of `halfword prepare`, after --")
    given = parser.parse_args()
    git = ["git", "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(git, capture_output=True, text=True, cwd=ROOT, check=False)
    with tempfile.TemporaryDirectory(dir=given.folder) as name:
        folder = Path(name)
        written = [] if given.log else write_log(folder / "log", given.rows, given.files)
        yard = yardstick(written) if written else {}
        found = measure(given.log or [str(folder / "log")], given.options, folder)
    machine = {"processor": platform.processor() or platform.machine(), "cores": os.cpu_count()}
    print(json.dumps({**found, "yardstick": yard, "machine": machine, "commit": commit.stdout.strip()}, indent=2))


if __name__ == "__main__":
    main()
