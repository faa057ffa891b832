"""Estimate a model's MRR on rows that are not at hand, if the MRR of other models on those rows is known.

python benchmarks/reweighted.py --known old-300.json=.078 --known old-3000.json=.152 --model new-300.json

Each file is a JSON list with the reciprocal ranks of one model on the same rows at hand. The rows are weighted by
exp(λ · their known reciprocal ranks), with the λ under which every known model has exactly the MRR that it had on the
other rows: of all weights that do so, these are the nearest to equal ones. Prints the MRR of each model under these
weights with its standard error (by bootstrap), and how many equally weighted rows would tell as much.
"""

import argparse
import json
from pathlib import Path

import numpy as np

ROUNDS = 300  # of Newton's method, each half a step
DRAWS = 100  # of the bootstrap


def weights_for(known: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Return the weights of the rows (of `known`, one column per model) under which the means are as wanted."""
    slopes = np.zeros(len(wanted))
    for _ in range(ROUNDS):
        weights = np.exp(known @ slopes)
        weights /= weights.sum()
        means = weights @ known
        spread = (known - means).T @ ((known - means) * weights[:, None])
        slopes += 0.5 * np.linalg.solve(spread + 1e-9 * np.eye(len(wanted)), wanted - means)
    return weights


def read(path: str) -> np.ndarray:
    """Return the reciprocal ranks in a file."""
    return np.array(json.loads(Path(path).read_text(encoding="utf-8")), float)


def main() -> None:
    """Print the figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--known", action="append", required=True, metavar="FILE=MRR")
    parser.add_argument("--model", action="append", required=True, metavar="FILE")
    given = parser.parse_args()
    named = [each.rpartition("=") for each in given.known]
    known, wanted = np.stack([read(path) for path, _, _ in named], 1), np.array([float(mrr) for _, _, mrr in named])
    models, chance = np.stack([read(path) for path in given.model], 1), np.random.default_rng(0)
    weights = weights_for(known, wanted)
    draws = [chance.integers(0, len(known), len(known)) for _ in range(DRAWS)]
    errors = np.std([weights_for(known[draw], wanted) @ models[draw] for draw in draws], 0)
    figures = {
        path: {"equal": round(equal, 4), "reweighted": round(mrr, 4), "error": round(error, 4)}
        for path, equal, mrr, error in zip(
            given.model, models.mean(0).tolist(), (weights @ models).tolist(), errors.tolist(), strict=True
        )
    }
    print(json.dumps({"rows": len(known), "effective": round(1 / float((weights**2).sum())), **figures}, indent=2))


if __name__ == "__main__":
    main()
