"""Measure how often a model recites a query that was typed only once, and how often it guesses one that it never saw.

python benchmarks/memorised.py data/ my.halfword

Of queries that occur once in the whole log, some in the train split and some in the test split, the first 40, 60 and
80 % of the characters are typed; `recited` and `guessed` are the shares that are among the answers. Both kinds
come from the same log, so only having been read makes them different: a `ratio` of 1 means that nothing is recited.
"""

import argparse
import json
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from halfword import Model, load
from halfword.data.dataset import Dataset, Split, open_dataset
from halfword.training.misspellings import Misspellings

SHARES = (0.4, 0.6, 0.8)
SHORTEST = 10  # characters of a query; shorter ones are guessed by chance


def typed_once(data: Dataset) -> tuple[list[str], list[str]]:
    """Return the queries that occur once in all splits together: those of the train split, and of the test split."""
    counts = [data.counts(split) for split in (Split.TRAIN, Split.VALID, Split.TEST)]
    total = Counter(counts[0]) + Counter(counts[1]) + Counter(counts[2])
    slips = Misspellings(counts[0])  # a model may have left them out of what it read; so nobody counts them here
    once = {query for query, count in total.items() if count == 1 and len(query) >= SHORTEST and not slips.holds(query)}
    return sorted(once & counts[0].keys()), sorted(once & counts[2].keys())


def completed(model: Model, queries: Sequence[str], share: float) -> float:
    """Return how many of the queries are among the answers to their first characters."""
    prefixes = [query[: max(1, round(share * len(query)))] for query in queries]
    answers = model.complete_batch(prefixes)
    return sum(query in answer.texts for query, answer in zip(queries, answers, strict=True)) / len(queries)


def main() -> None:
    """Print the figures as JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("model", type=Path)
    parser.add_argument("--queries", type=int, default=5000)
    given = parser.parse_args()
    model, chance = load(given.model), random.Random(0)
    kinds = [chance.sample(some, min(given.queries, len(some))) for some in typed_once(open_dataset(given.data))]
    figures = {}
    for share in SHARES:
        recited, guessed = (completed(model, queries, share) for queries in kinds)
        ratio = round(recited / guessed, 3) if guessed else None
        figures[f"{share:.0%}"] = {"recited": round(recited, 4), "guessed": round(guessed, 4), "ratio": ratio}
    print(json.dumps({"model": given.model.name, "queries": [*map(len, kinds)], "typed": figures}, indent=2))


if __name__ == "__main__":
    main()
