"""The weights of a blend, fitted on the validation split: network against memory, and both against popularity."""

import itertools
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple, dataclass, replace
from pathlib import Path

import numpy as np

from halfword.core import metrics
from halfword.core.model_file import Array
from halfword.core.text import SHORTEST_QUERY
from halfword.search.model import Blend, EngineCompleter, SearchOptions, engine_options, load

TOKENS_FROM = 3000  # queries whose tokens decide between network and memory
RANKED = 20_000  # queries that decide between popularity and model, each at one prefix,
WALKED = 4_000  # and the first of them at every prefix
FEWEST = 300  # with fewer the usual weights are the better guess
FEW = 3.0  # different queries that begin with a prefix; there a long text loses half of what it may lose
GROWTH = 0.75  # the model's weight grows with this power of the different queries that begin with a prefix
_ROUNDS = 50
_PRIOR = 2.0  # tokens that each bucket has seen of either part before it starts
_SHRINK = 0.5  # half-way from an even mixture to the likeliest one ranks best (docs/blend.md)
_DISCOUNTS = (0.5, 0.8)
_BREADTHS = (0.5, 1.0, 1.5, 2.0, 3.0, 4.0)
_LEAST = 0.1
_SHORTNESSES = (0.0, 0.03, 0.06, 0.09, 0.12, 0.15)
_CHARACTERS = 20.0  # of MRL that count as much as an MRR of 1
_OFFERED = 10
_PASSES = 2  # over order and choice, each fitted while the other stays

Progress = Callable[[str], None]
Offered = tuple[str, str, list[tuple[str, float, float]], float]  # query, prefix, candidates, distinct queries


@dataclass(frozen=True, slots=True)
class Weights:
    """What popularity counts against the model; the engine's header explains them."""

    discount: float
    breadth: float
    least: float
    shortness: float


@dataclass(frozen=True, slots=True)
class BlendWeights:
    """How the answers are put in order, and which ten they are."""

    order: Weights
    choice: Weights


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
    asked = tabulate([_offered(blend, query, metrics.hashed_prefix_length(query)) for query in rows])
    walked = tabulate([_offered(blend, query, typed) for query in rows[:WALKED] for typed in _walk(query)])

    def worth(weights: BlendWeights) -> float:
        return quality(asked, weights) + recovered(walked, weights.choice) / _CHARACTERS

    middling = Weights(0.8, 2.0, _LEAST, 0.09)
    best = BlendWeights(middling, middling)
    for _ in range(_PASSES):
        best = max((replace(best, order=each) for each in _grid()), key=lambda weights: quality(asked, weights))
        best = max((replace(best, choice=each) for each in _grid()), key=worth)
    return {"blend.order": _array(best.order), "blend.choice": _array(best.choice)}


def _grid() -> Iterable[Weights]:
    return itertools.starmap(Weights, itertools.product(_DISCOUNTS, _BREADTHS, [_LEAST], _SHORTNESSES))


def _array(weights: Weights) -> Array:
    return Array("F32", np.array(astuple(weights), "<f4").tobytes())


def _walk(query: str) -> range:
    """Return the lengths of the prefixes of `query`, the longest first."""
    return range(len(query) - 1, metrics.SHORTEST_PREFIX - 1, -1)


def _offered(blend: EngineCompleter, query: str, typed: int) -> Offered:
    prefix = query[:typed]
    candidates, _, distinct = blend._part.candidates(prefix, engine_options(SearchOptions()))  # type: ignore[union-attr]
    return query, prefix, candidates, distinct


@dataclass(frozen=True, slots=True)
class Offers:
    """What was offered at many prefixes, a row each; the candidates of a row are in the order of their texts."""

    counts: np.ndarray  # (prefixes, candidates); how often each was typed, -inf where a row has no more
    scores: np.ndarray  # (prefixes, candidates)
    added: np.ndarray  # (prefixes, candidates); characters beyond the prefix
    distinct: np.ndarray  # (prefixes, 1)
    whole: np.ndarray  # (prefixes, candidates); whether it is the query
    partial: np.ndarray  # (prefixes, candidates); whether it is the query, or whole words from its beginning
    longest: np.ndarray  # (prefixes); whether this is the longest prefix of its query, the first of a walk


def tabulate(offered: Sequence[Offered]) -> Offers:
    """Lay what was offered out in arrays, so that many weights can be tried on it."""
    shape = len(offered), max((len(candidates) for _, _, candidates, _ in offered), default=0) or 1
    counts, scores, added = np.full(shape, -np.inf), np.zeros(shape), np.zeros(shape)
    whole, partial = np.zeros(shape, bool), np.zeros(shape, bool)
    for row, (query, prefix, candidates, _) in enumerate(offered):
        for column, (text, count, score) in enumerate(sorted(candidates)):
            counts[row, column], scores[row, column] = count, score
            added[row, column] = len(text) - len(prefix)
            whole[row, column] = text == query
            partial[row, column] = metrics.partial_rank(query, [text]) is not None
    distinct = np.array([[each[3]] for each in offered])
    longest = np.array([len(prefix) == len(query) - 1 for query, prefix, _, _ in offered])
    return Offers(counts, scores, added, distinct, whole, partial, longest)


def quality(offers: Offers, weights: BlendWeights) -> float:
    """Return how well `weights` rank: MRR first, and a quarter each of PMRR and success@10."""
    chosen = _chosen(_scores(offers, weights.choice))
    scores = np.where(chosen, _scores(offers, weights.order), -1.0)
    place, partial = _places(scores, offers.whole & chosen), _places(scores, offers.partial & chosen)
    return float(np.mean(1 / place + 0.25 * (1 / partial + (place <= _OFFERED))))


def recovered(walks: Offers, choice: Weights) -> float:
    """Return how many characters at the end of a query need not be typed, on average (MRL)."""
    missed = np.cumsum(_places(_scores(walks, choice), walks.whole) > _OFFERED)
    starts = np.flatnonzero(walks.longest)
    before = np.concatenate([[0], missed])[starts]  # what was missed before each walk
    unbroken = missed == np.repeat(before, np.diff([*starts, len(missed)]))
    return float(unbroken.sum() / len(starts))


def _scores(offers: Offers, weights: Weights) -> np.ndarray:
    model = weights.least + weights.breadth * offers.distinct**GROWTH
    shortness = weights.shortness * offers.distinct / (offers.distinct + FEW)
    scores = np.maximum(offers.counts - weights.discount, 0.0) + model * np.exp(offers.scores)
    return np.where(offers.counts >= 0, scores * np.exp(-shortness * offers.added), -1.0)


def _chosen(scores: np.ndarray) -> np.ndarray:
    """Return which of each row's candidates are the ten with the best scores, ties by text."""
    best = np.argsort(-scores, axis=1, kind="stable")[:, :_OFFERED]
    chosen = np.zeros(scores.shape, bool)
    np.put_along_axis(chosen, best, True, 1)
    return chosen & (scores >= 0)


def _places(scores: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Return the place of the best that is wanted among each row's scores, from 1; infinite beyond the tenth."""
    best = np.where(wanted, scores, -2.0).argmax(1)[:, None]
    mine = np.take_along_axis(scores, best, 1)
    earlier = np.arange(scores.shape[1]) < best
    place = 1.0 + (scores > mine).sum(1) + ((scores == mine) & earlier).sum(1)
    return np.where(wanted.any(1) & (place <= _OFFERED), place, np.inf)


def _sample(queries: Sequence[str], size: int, seed: int) -> list[str]:
    rows = [query for query in queries if len(query) >= SHORTEST_QUERY]
    return random.Random(seed).sample(rows, min(size, len(rows)))
