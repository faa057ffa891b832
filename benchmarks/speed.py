"""How long an answer takes: single prefixes, typing key by key, and batches.

    python benchmarks/speed.py --model my.halfword --data aol-1m/ [--sample 5000] [--rows 500] [--repeats 5] \\
        [--typos off]

Prints one JSON object. `--model` has popularity and memory, and may have a network; without it the model that ships is
asked. Single prefixes and batches are asked without caches, typing with them, on a model that is loaded anew. Each
prefix counts with the least of `--repeats` times, since others use the machine too; a row is typed once, as a person
types it, and counts with the processor's time of its thread. The yardstick of the same run is a binary search for each
prefix in a sorted list of the rows, in Python. With `--typos off` no corrections are looked for.
"""

import argparse
import bisect
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from halfword import SearchOptions, load
from halfword.core import metrics
from halfword.core.options import DEFAULTS
from halfword.data.dataset import Dataset
from halfword.evaluation.evaluate import EvaluateOptions, sample_rows
from halfword.search.model import DEFAULT_MODEL, Model


def least_times(prefixes: Sequence[str], repeats: int, ask: Callable[[str], object]) -> list[float]:
    """Return the least of several times that each prefix takes, in milliseconds."""
    best = [float("inf")] * len(prefixes)
    for _ in range(repeats):
        for place, prefix in enumerate(prefixes):
            begun = time.perf_counter()
            ask(prefix)
            best[place] = min(best[place], 1000 * (time.perf_counter() - begun))
    return best


def percentiles(times: Sequence[float]) -> dict[str, float]:
    ordered = sorted(times)
    found = {f"p{share}": ordered[len(ordered) * share // 100] for share in (50, 90, 99)}
    return {**found, "mean": sum(times) / len(times)}


def typed_times(model: Model, rows: Sequence[str], options: SearchOptions) -> list[float]:
    """Type rows key by key; return the processor's milliseconds of each keystroke."""
    times = []
    for row in rows:
        for length in range(1, len(row) + 1):
            begun = time.thread_time()
            model.complete(row[:length], options)
            times.append(1000 * (time.thread_time() - begun))
    return times


def batch_rate(model: Model, prefixes: Sequence[str], options: SearchOptions, repeats: int) -> float:
    """Return the best rate of several batches on all cores, per second."""
    best = float("inf")
    for _ in range(repeats):
        begun = time.perf_counter()
        model.complete_batch(prefixes, options)
        best = min(best, time.perf_counter() - begun)
    return len(prefixes) / best


def measure(asked: argparse.Namespace) -> dict[str, Any]:
    path, repeats, options = asked.model, asked.repeats, SearchOptions(typos=asked.typos)
    begun = time.perf_counter()
    model = load(path, cache=False, verify=False)
    loaded = time.perf_counter() - begun
    rows = sample_rows(Dataset.open(asked.data), EvaluateOptions(sample=asked.sample))
    prefixes = [row[: metrics.hashed_prefix_length(row)] for row in rows]
    single = percentiles(least_times(prefixes, repeats, lambda prefix: model.complete(prefix, options)))
    ordered = sorted(rows)
    yardstick = percentiles(least_times(prefixes, repeats, lambda prefix: bisect.bisect(ordered, prefix)))
    return {
        "model": path.name,
        "parts": model.parts,
        "typos": options.typos,
        "queries": model.queries,
        "load_milliseconds": 1000 * loaded,
        "milliseconds": single,
        "yardstick_milliseconds": yardstick,
        "ratio_to_yardstick": {name: single[name] / yardstick["p50"] for name in single},
        "batch_per_second": batch_rate(model, prefixes, options, repeats),
        "keystroke_milliseconds": percentiles(typed_times(load(path, verify=False), rows[: asked.rows], options)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, default=DEFAULT_MODEL)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sample", type=int, default=5000)
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--typos", default=DEFAULTS.typos)
    print(json.dumps(measure(parser.parse_args()), indent=2))


if __name__ == "__main__":
    main()
