"""Compare a log that stands on a background with the mean of two models' answers: the log's alone, the background's.

python benchmarks/averaged.py ALONE BACKGROUND STANDING ROWS

`ROWS` has one query per line, which none of the models has learned. Each is asked at one prefix. Prints the MRR of the
three models and of the mean of the first two, and by how much the third is better than that mean, with its standard
error: how hard the rows are has no part in it.
"""

import argparse
import json
from collections import Counter
from dataclasses import replace
from math import exp
from pathlib import Path

import numpy as np

from halfword import load
from halfword.core import metrics
from halfword.core.options import UNFILTERED

SHOWN = 10
FOUND = replace(UNFILTERED, count=20)  # so many answers of each are averaged


def answers(path: Path, rows: list[str]) -> list[Counter[str]]:
    """Return the probabilities of what a model offers at one prefix of each row."""
    prefixes = [row[: metrics.hashed_prefix_length(row)] for row in rows]
    found = load(path).complete_batch(prefixes, FOUND)
    return [Counter({each.text: exp(each.score) for each in answer}) for answer in found]


def reciprocals(answered: list[Counter[str]], rows: list[str]) -> np.ndarray:
    """Return 1/rank of each row among the likeliest answers."""
    best = ([text for text, _ in answer.most_common(SHOWN)] for answer in answered)
    return np.array([metrics.reciprocal(metrics.rank(row, texts)) for row, texts in zip(rows, best, strict=True)])


def main() -> None:
    """Print the figures as JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    for name in ("alone", "background", "standing", "rows"):
        parser.add_argument(name, type=Path)
    given = parser.parse_args()
    rows = [row for row in given.rows.read_text(encoding="utf-8").split("\n") if len(row) > metrics.SHORTEST_PREFIX]
    offered = {name: answers(getattr(given, name), rows) for name in ("alone", "background", "standing")}
    offered["averaged"] = [one + other for one, other in zip(offered["alone"], offered["background"], strict=True)]
    ranks = {name: reciprocals(each, rows) for name, each in offered.items()}
    better = ranks["standing"] - ranks["averaged"]
    figures = {name: round(float(each.mean()), 4) for name, each in ranks.items()}
    error = round(float(better.std() / len(rows) ** 0.5), 4)
    print(json.dumps({"rows": len(rows), **figures, "better": round(float(better.mean()), 4), "error": error}))


if __name__ == "__main__":
    main()
