"""Measure what a model shows: how honest its probabilities are, how many words it invents, and what leaving out costs.

halfword train data/ --parts popular,ngram --hold-out -o held-out.halfword
python benchmarks/showing.py held-out.halfword data/

Each test row is asked at one prefix. `calibration` is the expected calibration error: suggestions are put into ten
bins of equal width by their probability; the mean distance between what is said and what comes true, weighted by the
number of suggestions. `invented` is the share of suggestions with a word that is neither in the train split nor in the
background, the whole words of the prefix aside. `everything` is what the ranker found, however unlikely, and
near-duplicates too. `popular` is the model's popularity alone.
"""

import argparse
import json
import random
from math import exp
from pathlib import Path

import numpy as np

from halfword import Model, load
from halfword.core import metrics
from halfword.core.options import DEFAULTS, UNFILTERED, Invent, SearchOptions
from halfword.core.text import SHORTEST_QUERY
from halfword.core.words import words_in
from halfword.data.dataset import Split, open_dataset
from halfword.training.background import Background

BINS = 10
WAYS = {
    "default": DEFAULTS,
    "freely": SearchOptions(invent=Invent.FREELY),
    "never": SearchOptions(invent=Invent.NEVER),
    "everything": UNFILTERED,
}


def calibration_error(said: list[float], true: list[bool]) -> float:
    """Return the expected calibration error over bins of equal width."""
    probabilities, outcomes = np.array(said), np.array(true, float)
    places = np.minimum((probabilities * BINS).astype(int), BINS - 1)
    gaps = [abs((probabilities - outcomes)[places == place].sum()) for place in range(BINS)]
    return float(sum(gaps) / max(len(said), 1))


def measure(model: Model, queries: list[str], known: set[str], options: SearchOptions) -> dict[str, float]:
    """Return the figures of a model that is asked in one way."""
    prefixes = [query[: metrics.hashed_prefix_length(query)] for query in queries]
    said: list[float] = []
    true: list[bool] = []
    invented, ranks = 0, 0.0
    for query, answer in zip(queries, model.complete_batch(prefixes, options), strict=True):
        ranks += metrics.reciprocal(metrics.rank(query, answer.texts))
        for each in answer:
            said.append(exp(each.score))
            true.append(each.text == query)
            typed = each.text[: each.matched]  # another spelling of the prefix, or its correction, may be longer
            added = each.text[typed.rfind(" ") + 1 :]
            invented += each.source == "model" and any(word not in known for word in words_in(added))
    return {
        "mrr": round(ranks / len(queries), 4),
        "shown": round(len(said) / len(queries), 2),
        "invented": round(invented / max(len(said), 1), 4),
        "calibration": round(calibration_error(said, true), 4),
    }


def main() -> None:
    """Print the figures as JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("data", type=Path)
    parser.add_argument("--rows", type=int, default=1500)
    parser.add_argument("--background", default="shipped", help="what the model was trained on, or none")
    given = parser.parse_args()
    data = open_dataset(given.data)
    rows = [query for query in data.rows(Split.TEST) if len(query) >= SHORTEST_QUERY]
    queries = random.Random(0).sample(rows, min(given.rows, len(rows)))
    known = {word for query in data.counts(Split.TRAIN) for word in words_in(query)}
    if given.background != "none":
        known |= {part for word in Background.open(given.background).words() for part in words_in(word)}
    model, popular = load(given.model), load(given.model, parts=("popular",))
    figures = {name: measure(model, queries, known, options) for name, options in WAYS.items()}
    figures["popular"] = measure(popular, queries, known, DEFAULTS)
    print(json.dumps({"model": given.model.name, "rows": len(queries), **figures}, indent=2))


if __name__ == "__main__":
    main()
