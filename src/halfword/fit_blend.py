"""The weights of a blend, fitted on the validation split: network against memory, and both against popularity."""

import itertools
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from halfword import metrics
from halfword.complete import Blend, EngineCompleter, SearchOptions, engine_options, load
from halfword.model_file import Array
from halfword.text import SHORTEST_QUERY

TOKENS_FROM = 3000  # queries whose tokens decide between network and memory
RANKED = 10_000  # queries that decide between popularity and model
FEWEST = 300  # with fewer the usual weights are the better guess
_ROUNDS = 50
_PRIOR = 2.0  # tokens that each bucket has seen of either part before it starts
_SHRINK = 0.5  # half-way from an even mixture to the likeliest one ranks best (docs/blend.md)
_DISCOUNTS = (0.5, 0.8)
_BREADTHS = (0.5, 1.0, 1.5, 2.0, 3.0)
_LEAST = 0.1
_SHORTNESSES = (0.0, 0.03, 0.06, 0.09, 0.12)

Progress = Callable[[str], None]
Offered = tuple[str, str, list[tuple[str, float, float]], float]  # query, prefix, candidates, distinct queries


@dataclass(frozen=True, slots=True)
class BlendWeights:
    """What popularity counts against the model; the engine's header explains them."""

    discount: float
    breadth: float
    least: float
    shortness: float


def fit_mixture(path: Path, queries: Sequence[str], progress: Progress) -> dict[str, Array]:
    """Return how much the network of a model file weighs beside its memory, by how much the memory knows."""
    rows = _sample(queries, TOKENS_FROM, seed=1)
    if len(rows) < FEWEST:
        return {}
    progress("weighing network and memory")
    part = load(path, parts=("ngram", "network"), cache=False)._part
    views = [part.view(query) for query in rows]  # type: ignore[union-attr]
    bucket = np.concatenate([np.asarray(view[0]) for view in views])
    network = np.concatenate([np.asarray(view[1]) for view in views])
    memory = np.concatenate([np.asarray(view[2]) for view in views])
    weights = _likeliest(bucket, network, memory, size=32)
    return {"blend.network_weight": Array("F32", _even_out(weights).astype("<f4").tobytes())}


def _likeliest(bucket: np.ndarray, network: np.ndarray, memory: np.ndarray, size: int) -> np.ndarray:
    """Return the weights under which the tokens are the likeliest, by expectation and maximisation."""
    weights = np.full(size, 0.5)
    tokens = np.bincount(bucket, minlength=size)
    for _ in range(_ROUNDS):
        share = weights[bucket] * network
        share /= share + (1 - weights[bucket]) * memory + 1e-300
        weights = (np.bincount(bucket, share, size) + _PRIOR) / (tokens + 2 * _PRIOR)
    return weights


def _even_out(weights: np.ndarray) -> np.ndarray:
    return _SHRINK * weights + (1 - _SHRINK) * 0.5


def fit_popularity(path: Path, queries: Sequence[str], progress: Progress) -> dict[str, Array]:
    """Return how much popularity weighs beside the language model of a model file."""
    rows = _sample(queries, RANKED, seed=2)
    if len(rows) < FEWEST:
        return {}
    progress("weighing popularity and model")
    blend = load(path, cache=False)
    assert isinstance(blend, Blend)
    offered = [_offered(blend, query) for query in rows]
    grid = itertools.starmap(BlendWeights, itertools.product(_DISCOUNTS, _BREADTHS, [_LEAST], _SHORTNESSES))
    best = max(grid, key=lambda weights: quality(offered, weights))
    values = np.array([best.discount, best.breadth, best.least, best.shortness], "<f4")
    return {"blend.popularity": Array("F32", values.tobytes())}


def _offered(blend: EngineCompleter, query: str) -> Offered:
    prefix = query[: metrics.hashed_prefix_length(query)]
    candidates, _, distinct = blend._part.candidates(prefix, engine_options(SearchOptions()))  # type: ignore[union-attr]
    return query, prefix, candidates, distinct


def quality(offered: Sequence[Offered], weights: BlendWeights) -> float:
    """Return how well `weights` rank: MRR first, and a quarter each of PMRR and success@10."""
    total = 0.0
    for query, prefix, candidates, distinct in offered:
        texts = ranked(prefix, candidates, distinct, weights)[:10]
        place, partial = metrics.rank(query, texts), metrics.partial_rank(query, texts)
        total += metrics.reciprocal(place) + 0.25 * (metrics.reciprocal(partial) + (place is not None))
    return total / len(offered)


def ranked(
    prefix: str, candidates: Sequence[tuple[str, float, float]], distinct: float, weights: BlendWeights
) -> list[str]:
    """Return the texts in the order in which a blend of `weights` offers them."""
    model = weights.least + weights.breadth * distinct
    shortness = weights.shortness if distinct else 0.0
    scores = {
        text: (max(count - weights.discount, 0.0) + model * math.exp(score))
        * math.exp(-shortness * (len(text) - len(prefix)))
        for text, count, score in candidates
    }
    return sorted(scores, key=lambda text: (-scores[text], text))


def _sample(queries: Sequence[str], size: int, seed: int) -> list[str]:
    rows = [query for query in queries if len(query) >= SHORTEST_QUERY]
    return random.Random(seed).sample(rows, min(size, len(rows)))
