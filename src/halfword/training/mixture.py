"""How much the network weighs beside the memory, by how much the memory knows; fitted on the validation split."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from halfword.core.model_file import Array
from halfword.data.sessions import TypedRow, drawn, queries_of
from halfword.search.model import load

QUERIES = 3000  # validation queries whose pieces decide
FEWEST = 300  # with fewer of them the even mixture is the better guess
BOUNDS = (0.1, 0.3, 0.6)  # of the memory's backoff, between its four classes; chosen on aol-1m's validation rows
_CLASSES = 32  # of contexts: by matched order and by how sure the memory is
_ROUNDS = 50
_PRIOR = 2.0  # pieces that each class has seen of either part before it starts
_SHRINK = 0.5  # half-way from an even mixture to the likeliest one ranks best (docs/research/blend.md)


def bounds() -> dict[str, Array]:
    """Return where the classes of contexts are divided, as an array for a model file."""
    return {"mixture.bounds": Array("F32", np.array(BOUNDS, "<f4").tobytes())}


def fit_mixture(path: Path, typed: Sequence[TypedRow]) -> dict[str, Array]:
    """Return how much the network of a model file weighs beside its memory, for each class of contexts."""
    rows = sample(typed, QUERIES, seed=1)
    if len(rows) < FEWEST:
        return {}
    engine = load(path, parts=("ngram", "network"), cache=False)._engine
    views = [engine.view(query) for query in rows]
    classes, network, memory = (np.concatenate([np.asarray(view[part]) for view in views]) for part in range(3))
    weights = _SHRINK * likeliest(classes, network, memory) + (1 - _SHRINK) * 0.5
    return {"mixture.network_weight": Array("F32", weights.astype("<f4").tobytes())}


def likeliest(classes: np.ndarray, network: np.ndarray, memory: np.ndarray) -> np.ndarray:
    """Return the weights under which the pieces are the likeliest, by expectation maximisation."""
    weights = np.full(_CLASSES, 0.5)
    pieces = np.bincount(classes, minlength=_CLASSES)
    for _ in range(_ROUNDS):
        share = weights[classes] * network
        share /= share + (1 - weights[classes]) * memory + 1e-300
        weights = (np.bincount(classes, share, _CLASSES) + _PRIOR) / (pieces + 2 * _PRIOR)
    return weights


def sample(rows: Sequence[TypedRow], size: int, seed: int) -> list[str]:
    """Return the queries of at most `size` rows that are long enough to be asked, drawn at random."""
    return [rows[place].query for place in drawn(queries_of(rows), size, seed)]
