"""What it is worth and what it costs to look for the typed words in another order; prints JSON.

python benchmarks/order.py MODEL DATA --split valid --sample 5000

Natural rows are cut at the hashed prefix, as `halfword evaluate` does. For the others the words of queries that the
model knows are shuffled, and the last word is cut at random. Everything that was found is counted. Times are of the
thread.
"""

import argparse
import json
import random
import time
from collections.abc import Sequence
from pathlib import Path

from halfword import Model, load
from halfword.core.metrics import hashed_prefix_length, rank, reciprocal
from halfword.core.options import UNFILTERED, Order, SearchOptions, Typos, with_fields
from halfword.core.text import SHORTEST_QUERY
from halfword.data.dataset import Split, open_dataset

Pair = tuple[str, str]  # what was typed, and what is wanted


def shuffled(query: str, chance: random.Random) -> Pair:
    """Return the words of a query in another order, the last one cut."""
    words = query.split()
    while words == query.split():
        chance.shuffle(words)
    typed = " ".join(words)
    return typed[: chance.randint(len(typed) - len(words[-1]) + 1, len(typed))], query


def measured(model: Model, pairs: Sequence[Pair], options: SearchOptions) -> dict[str, float]:
    """Return how well what is wanted is ranked, and milliseconds."""
    ranks, times = [], []
    for typed, wanted in pairs:
        begin = time.thread_time()
        answer = model.complete(typed, options)
        times.append(1e3 * (time.thread_time() - begin))
        ranks.append(reciprocal(rank(wanted, answer.texts)))
    times.sort()
    return {
        "mrr": round(sum(ranks) / len(ranks), 4),
        "success": round(sum(map(bool, ranks)) / len(ranks), 4),
        "p50_ms": round(times[len(times) // 2], 3),
        "p99_ms": round(times[len(times) * 99 // 100], 3),
    }


def main() -> None:
    """Ask, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("data", type=Path)
    parser.add_argument("--split", type=Split, default=Split.VALID)
    parser.add_argument("--sample", type=int, default=5000)
    asked = parser.parse_args()
    model, data, chance = load(asked.model), open_dataset(asked.data), random.Random(0)
    rows, known = list(data.rows(asked.split)), data.counts(Split.TRAIN)
    long_enough = [row for row in rows if len(row) >= SHORTEST_QUERY]
    natural = chance.sample(long_enough, min(asked.sample, len(long_enough)))
    several = sorted({row for row in rows if row in known and len(set(row.split())) > 1})
    sets = {
        "natural": [(row[: hashed_prefix_length(row)], row) for row in natural],
        "shuffled": [shuffled(row, chance) for row in chance.sample(several, min(asked.sample, len(several)))],
    }
    report = {
        name: {
            order.value: measured(model, pairs, with_fields(UNFILTERED, {"order": order, "typos": Typos.OFF}))
            for order in Order
        }
        for name, pairs in sets.items()
    }
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
