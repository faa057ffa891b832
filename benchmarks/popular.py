"""Build time, size and latency of the popularity index, and a reference time from the same run; prints JSON.

python benchmarks/popular.py                      a million invented queries
python benchmarks/popular.py --data DATASET       the train split of a dataset, asked at the prefixes of its test split
"""

import argparse
import bisect
import json
import tempfile
import time
from collections import Counter
from pathlib import Path

from aol_log import write_log
from halfword import load
from halfword.core.card import Card
from halfword.core.metrics import hashed_prefix_length
from halfword.core.model_file import write_model
from halfword.data.dataset import Split, open_dataset
from halfword.training.train import popular_arrays

CALLS = 20_000


def invented(size: int) -> tuple[dict[str, int], list[str]]:
    """Return `size` distinct queries with counts, and rows to complete."""
    with tempfile.TemporaryDirectory() as folder:
        [path] = write_log(Path(folder), rows=4 * size, files=1)
        rows = [line.split("\t")[1] for line in path.read_text().splitlines()[1:]]
    counts = Counter(row for row in rows if len(row) >= 3)
    return dict(list(counts.items())[:size]), [row for row in rows[-CALLS:] if len(row) >= 3]


def percentiles(nanoseconds: list[int]) -> dict[str, float]:
    """Return the median and the 99th percentile in microseconds."""
    ordered = sorted(nanoseconds)
    return {f"p{share}": ordered[len(ordered) * share // 100] / 1000 for share in (50, 99)}


def timed(calls: list[str], function: object) -> list[int]:
    """Return the nanoseconds of each call, after a warm-up."""
    assert callable(function)
    for argument in calls[:1000]:
        function(argument)
    times = []
    for argument in calls:
        begun = time.perf_counter_ns()
        function(argument)
        times.append(time.perf_counter_ns() - begun)
    return times


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=1_000_000)
    parser.add_argument("--data", type=Path)
    arguments = parser.parse_args()
    if arguments.data:
        data = open_dataset(arguments.data)
        counts, rows = data.counts(Split.TRAIN), [row for row in data.rows(Split.TEST) if len(row) >= 3][:CALLS]
    else:
        counts, rows = invented(arguments.queries)
    prefixes = [row[: hashed_prefix_length(row)] for row in rows]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "popular.halfword"
        begun = time.perf_counter()
        write_model(path, popular_arrays(counts), Card(profile="default"))
        built = time.perf_counter() - begun
        begun = time.perf_counter()
        model = load(path)
        loaded = time.perf_counter() - begun
        latency = percentiles(timed(prefixes, model.complete))
        ordered = sorted(counts)
        yardstick = percentiles(timed(prefixes, lambda prefix: bisect.bisect(ordered, prefix)))
        result = {
            "queries": len(counts),
            "mean_bytes_of_a_query": sum(len(query.encode()) for query in counts) / len(counts),
            "build_seconds": built,
            "load_milliseconds": 1000 * loaded,
            "bytes_a_query": path.stat().st_size / len(counts),
            "microseconds_a_call": latency,
            "yardstick_microseconds": yardstick,  # a binary search in a sorted list of Python strings
            "ratio_to_yardstick": {name: latency[name] / yardstick[name] for name in latency},
        }
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
