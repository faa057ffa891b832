"""Measure what a smaller model file costs on a real log; prints one line of JSON per size.

It trains popularity and memory once for each limit, with no part kept whole, and asks each model at one prefix of
validation rows and, where they are given, at mistyped prefixes (`prefix<TAB>wanted` per line). A limit is three numbers
of bytes per distinct query: n-grams, words that co-occur, tree of words. The first line is the model of which nothing
is cut.

python benchmarks/size.py DATA --limits 24,6,6 16,3,3 --mistyped pairs.tsv
"""

import argparse
import json
import random
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from halfword import load
from halfword.core.metrics import hashed_prefix_length, rank, reciprocal
from halfword.core.model_file import read_header
from halfword.core.options import Invent, SearchOptions, Typos
from halfword.core.text import SHORTEST_QUERY
from halfword.data.dataset import Dataset, Split, open_dataset
from halfword.training.options import TrainOptions
from halfword.training.train import train
from scale import bytes_per_query
from typos import lines

WHOLE = (1e6, 1e6, 1e6)  # bytes per query, far more than there are
Pair = tuple[str, str]  # what was typed, and what is wanted


def train_to(data: Dataset, model: Path, limits: Sequence[float]) -> None:
    """Train a model of at most so many bytes per distinct query in each part."""
    of_ngrams, of_companions, of_tree = limits
    options = TrainOptions(
        parts=("popular", "ngram"),
        background="none",
        hold_out=True,
        keep_whole=0.0,
        query_bytes=of_ngrams,
        companion_bytes=of_companions,
        tree_bytes=of_tree,
    )
    train(data, model, options)


def valid_prefixes(data: Dataset, size: int) -> list[Pair]:
    """Return one prefix of each of some validation rows."""
    rows = [row for row in data.rows(Split.VALID) if len(row) >= SHORTEST_QUERY]
    drawn = random.Random(0).sample(rows, min(size, len(rows)))
    return [(row[: hashed_prefix_length(row)], row) for row in drawn]


def ranks(model: Path, pairs: Sequence[Pair], typos: Typos) -> list[float]:
    """Return 1 / rank of what is wanted, for every prefix; everything that is found is shown."""
    options = SearchOptions(typos=typos, min_probability=0.0, invent=Invent.FREELY)
    answers = load(model).complete_batch([typed for typed, _ in pairs], options)
    return [reciprocal(rank(wanted, answer.texts)) for (_, wanted), answer in zip(pairs, answers, strict=True)]


def mean(values: Sequence[float]) -> float:
    """Return the mean of some values."""
    return round(sum(values) / max(len(values), 1), 4)


def measured(model: Path, data: Dataset, valid: Sequence[Pair], mistyped: Sequence[Pair]) -> dict[str, Any]:
    """Return sizes and qualities of a model."""
    card, known = read_header(model), data.counts(Split.TRAIN)
    found = ranks(model, valid, Typos.AUTO)
    seen = [each for each, (_, row) in zip(found, valid, strict=True) if row in known]
    new = [each for each, (_, row) in zip(found, valid, strict=True) if row not in known]
    report = {"mrr": mean(found), "mrr_seen": mean(seen), "mrr_unseen": mean(new), "success": mean([*map(bool, found)])}
    report["mrr_typos_off"] = mean(ranks(model, valid, Typos.OFF))
    if mistyped:
        report["mrr_mistyped"] = mean(ranks(model, mistyped, Typos.AUTO))
    return {**report, "bytes_per_query": bytes_per_query(card, len(known))}


def main() -> None:
    """Train and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--limits", nargs="+", default=["24,6,6"], help="bytes of n-grams, co-occurring words, tree")
    parser.add_argument("--mistyped", type=Path)
    parser.add_argument("--sample", type=int, default=5000, help="validation rows")
    parser.add_argument("--folder", type=Path, help="where the models are kept")
    given = parser.parse_args()
    data = open_dataset(given.data)
    valid = valid_prefixes(data, given.sample)
    mistyped = [(line[0], line[1]) for line in lines(given.mistyped)] if given.mistyped else []
    with tempfile.TemporaryDirectory() as temporary:
        for limits in [WHOLE, *(tuple(map(float, each.split(","))) for each in given.limits)]:
            name = "whole" if limits == WHOLE else "-".join(f"{each:g}" for each in limits)
            model = (given.folder or Path(temporary)) / f"{name}.halfword"
            if not model.exists():
                train_to(data, model, limits)
            print(json.dumps({"limits": name, **measured(model, data, valid, mistyped)}))
            sys.stdout.flush()


if __name__ == "__main__":
    main()
