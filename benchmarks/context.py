"""What the session's earlier queries cost in time, and what eight bits cost in quality; prints JSON.

python benchmarks/context.py MODEL DATA --sample 2000 --context 10

Each test row is typed once: its prefix without the last character first, then the prefix. `warm` is the second call,
`cold` the first one with a context that was never asked before. Times are milliseconds of the thread on the processor;
`beyond` is what a call with the context takes longer than the same call without. `mrr` is with the context, everything
shown, with the network in eight bits and in 32.
"""

import argparse
import json
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from halfword import Model, load
from halfword.core import metrics
from halfword.core.options import UNFILTERED
from halfword.core.text import SHORTEST_QUERY
from halfword.data.dataset import Split, open_dataset
from halfword.data.sessions import TypedRow
from halfword.search.model import PRECISIONS

Figures = dict[str, float]


@dataclass(slots=True)
class Times:
    """Milliseconds of first calls and of calls that go on from the keystroke before."""

    cold: list[float] = field(default_factory=list)
    warm: list[float] = field(default_factory=list)


def timed(model: Model, prefix: str, context: Sequence[str]) -> float:
    """Return the milliseconds that a call takes."""
    begin = time.thread_time_ns()
    model.complete(prefix, context=context)
    return (time.thread_time_ns() - begin) / 1e6


def typed(path: Path, rows: Sequence[TypedRow], *, with_context: bool) -> Times:
    """Type every row into a model that was just loaded."""
    model, times = load(path), Times()
    for row in rows:
        prefix = row.query[: metrics.hashed_prefix_length(row.query)]
        earlier = row.context if with_context else ()
        times.cold.append(timed(model, prefix[:-1], earlier))
        times.warm.append(timed(model, prefix, earlier))
    return times


def percentiles(milliseconds: Sequence[float]) -> Figures:
    """Return the median and the 99th percentile."""
    return {name: round(float(np.percentile(milliseconds, at)), 3) for name, at in (("p50", 50), ("p99", 99))}


def mean_reciprocal_rank(model: Model, rows: Sequence[TypedRow]) -> float:
    """Return the MRR of the rows with their contexts, everything shown."""
    prefixes = [row.query[: metrics.hashed_prefix_length(row.query)] for row in rows]
    answers = model.complete_batch(prefixes, UNFILTERED, contexts=[row.context for row in rows])
    ranks = (metrics.rank(row.query, answer.texts) for row, answer in zip(rows, answers, strict=True))
    return round(sum(map(metrics.reciprocal, ranks)) / len(rows), 4)


def compared(without: Times, with_context: Times) -> dict[str, dict[str, Figures]]:
    """Return the times of both, and how much longer a context makes them."""
    report = {}
    for kind in ("cold", "warm"):
        alone, beside = percentiles(getattr(without, kind)), percentiles(getattr(with_context, kind))
        beyond = {name: round(beside[name] - alone[name], 3) for name in alone}
        report[kind] = {"without": alone, "with": beside, "beyond": beyond}
    return report


def main() -> None:
    """Draw the rows, ask, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("data", type=Path)
    parser.add_argument("--sample", type=int, default=2000)
    parser.add_argument("--context", type=int, default=10)
    arguments = parser.parse_args()
    data = open_dataset(arguments.data)
    rows = [row for row in data.typed_rows(Split.TEST, arguments.context) if len(row.query) >= SHORTEST_QUERY]
    drawn = random.Random(0).sample(rows, min(arguments.sample, len(rows)))
    typed(arguments.model, drawn[:200], with_context=True)  # wakes the processor and the file's pages
    times = [typed(arguments.model, drawn, with_context=chosen) for chosen in (False, True)]
    quality = {name: mean_reciprocal_rank(load(arguments.model, precision=name), drawn) for name in PRECISIONS}
    print(json.dumps({"rows": len(drawn), "milliseconds": compared(*times), "mrr": quality}, indent=1))


if __name__ == "__main__":
    main()
