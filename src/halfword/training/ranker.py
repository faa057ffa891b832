"""The ranker: from the evidence for all proposals to one probability each, fitted on the validation split.

`engine/rank/ranker.h` has the formula, `search/reference_ranker.py` the same in plain Python. The weights are those
under which the queries that people went on to type are the likeliest: cross-entropy over the proposals and "none of
these", at a few prefixes of every query. They start from weights that ship with the package
(`models/ranker.json`, made by `benchmarks/ranker_prior.py` from public logs) and pay for leaving them, so a log with
few validation rows stays near them. Logs of few queries have weights of their own to start from, and so have requests
with a context. These start from the weights without context and are fitted to rows with the queries before them; so
sessions change nothing for other requests.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from threadpoolctl import threadpool_limits

from halfword.core.model_file import Array
from halfword.core.policy import Policy
from halfword.data.query_table import QueryTable
from halfword.data.sessions import TypedRow, drawn, queries_of
from halfword.search.model import Model, import_engine, load
from halfword.training.new_features import widened
from halfword.training.offers import (
    Asked,
    Floats,
    Offers,
    asked_again,
    at_hashed_prefix,
    at_some_prefixes,
    collect,
    join,
)
from halfword.training.showing import fit_showing
from halfword.training.small_site import is_small_site

PRIOR = Path(__file__).parent.parent / "models" / "ranker.json"
ASKED = 40_000  # validation queries that are asked at one prefix each,
AGAIN = 2  # so many times again at a prefix of random length,
WALKED = 0.25  # and so many times as many of all prefixes: long queries have most of them
LEAST_ASKED = 2_000  # prefixes in all; few rows are asked more often
JUDGED = 3_000  # prefixes by which it is judged what is worth showing
FEWEST = 300  # prefixes; with fewer of them the order of the prior is kept
_UNITS = 16  # hidden units added to those of the prior
_EPOCHS = 20
_BATCH = 256  # prefixes
_RATE = 1e-2  # of Adam, at its highest
_CLOSENESS = 10.0  # rows that a weight must speak for before it leaves the prior by one standard deviation,
_FEW = 100.0  # and twice as many where there are only so many rows: they tell by chance what many would not
_SESSION_EPOCHS = 20
_SESSION_RATE = 5e-3
_SESSION_CLOSENESS = 1.0
_SESSION_PRIOR = 2_000.0  # rows with a context that count as much as the sessions of public logs
_PENALTIES = (0.0, 0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.1)  # nats per added character
_CHANCE = 2.0  # standard errors that a difference may have by chance, nineteen times of twenty
_PARTIAL_WORTH = 0.5  # of PMRR beside MRR, when the order of the answers is chosen
_SHOWN = 10
_FITTED = ("linear", "hidden", "hidden_bias", "output", "none")


@dataclass(frozen=True, slots=True)
class RankerWeights:
    """The arrays of a ranker; `engine/rank/ranker.h` explains them."""

    mixture: Floats  # (6)
    mean: Floats  # (features)
    scale: Floats  # (features)
    linear: Floats  # (features)
    hidden: Floats  # (units, features)
    hidden_bias: Floats  # (units)
    output: Floats  # (units)
    none: Floats  # (features of the prefix, and a bias)

    @classmethod
    def read(cls, path: Path = PRIOR, part: str = "weights") -> Self:
        """Read weights that were written as JSON, such as those that ship; features added since weigh nothing.

        `weights` are those without a context, `few` those of logs of few queries, `session` those with a context.
        """
        values: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))[part]
        return cls.of({name: np.array(value, np.float32) for name, value in values.items()})

    @classmethod
    def of(cls, arrays: dict[str, Any]) -> Self:
        """Return weights given by name; features added since they were fitted weigh nothing."""
        return cls(**widened(arrays, len(import_engine().feature_names())))

    def to_json(self) -> dict[str, Any]:
        """Return all weights by name."""
        return {each.name: np.round(getattr(self, each.name).astype(float), 5).tolist() for each in fields(self)}

    def with_units(self, more: int, chance: np.random.Generator) -> Self:
        """Return the same weights with more hidden units, which say nothing yet."""
        size = self.hidden.shape[1]
        drawn = chance.normal(0, size**-0.5, (more, size)).astype(np.float32)
        return replace(
            self,
            hidden=np.concatenate([self.hidden, drawn]),
            hidden_bias=np.pad(self.hidden_bias, (0, more)),
            output=np.pad(self.output, (0, more)),
        )

    def moved(self, start: Self, end: Self, share: float = 1.0) -> Self:
        """Return these weights changed by a share of what `end` differs from `start`.

        `end` and these weights may have more hidden units than `start`. The weights are compared as if all features
        were divided by the scale of `end`. Units that only `end` has look at the same features, and say less.
        """
        begun, own = start.rescaled(end.scale), self.rescaled(end.scale)
        known = len(start.output)

        def change(name: str) -> np.ndarray:
            difference: np.ndarray = share * (getattr(end, name)[: len(getattr(begun, name))] - getattr(begun, name))
            return difference

        moved = {name: getattr(own, name) + change(name) for name in ("linear", "none")}
        for name in ("hidden", "hidden_bias", "output"):
            ours, added = getattr(own, name), getattr(end, name)[known:]
            first = ours[:known] + change(name)
            moved[name] = np.concatenate([first, ours[known:], added * np.float32(share if name == "output" else 1)])
        return replace(own, **moved)

    def rescaled(self, scale: Floats) -> Self:
        """Return weights that say the same of features which are divided by another scale."""
        factor = scale / self.scale
        of_prefix = np.append(factor[: len(self.none) - 1], np.float32(1))
        scaled = {"linear": self.linear * factor, "hidden": self.hidden * factor, "none": self.none * of_prefix}
        return replace(self, scale=scale, **scaled)

    def arrays(self, part: str = "ranker") -> dict[str, Array]:
        """Return the weights as arrays of a model file; those of requests with a context share the mixture."""
        shared = () if part == "ranker" else ("mixture",)
        values = {each.name: getattr(self, each.name) for each in fields(self) if each.name not in shared}
        return {f"{part}.{name}": Array("F32", value.astype("<f4").tobytes()) for name, value in values.items()}


def fit_ranker(
    path: Path, typed: Sequence[TypedRow], prior: RankerWeights, *, small_site: bool = False
) -> tuple[dict[str, Array], Policy]:
    """Return the weights of the ranker of a model file, without and with a context, and the policy, fitted to rows."""
    with threadpool_limits(1, "blas"):  # the products are small: threads would only wait for each other
        return _fitted(path, typed, prior, _CHANCE if small_site else 0.0)


def prior_of(table: QueryTable) -> RankerWeights:
    """Return the weights that ship for a log: those of few queries, which are typed again and again, have their own."""
    return RankerWeights.read(part="few" if is_small_site(table) else "weights")


def _fitted(
    path: Path, typed: Sequence[TypedRow], prior: RankerWeights, chance: float
) -> tuple[dict[str, Array], Policy]:
    model = load(path, cache=False)
    rows = sample_rows(typed, ASKED)
    if not rows:
        session = prior.moved(RankerWeights.read(), RankerWeights.read(part="session"))
        return prior.arrays() | session.arrays("ranker.session"), model.policy
    alone = [TypedRow(row.query) for row in rows]
    asked, elsewhere = at_hashed_prefix(alone), _walked(alone, AGAIN)
    offers = collect(model, asked)
    start = prior.with_units(_UNITS, np.random.default_rng(1))
    closeness = _CLOSENESS * (1 + _FEW / len(rows))
    closeness *= (len(asked) + len(elsewhere)) / len(rows)  # the prefixes of a row are alike
    weights = fit(start, join([offers, collect(model, elsewhere)]), closeness=closeness)
    penalty = model.policy.length_penalty if len(asked) < FEWEST else _order(weights, offers, chance)
    policy = replace(model.policy, length_penalty=penalty)
    arrays = weights.arrays() | _in_sessions(weights, model, rows).arrays("ranker.session")
    return arrays, fit_shown(policy, weights, join([offers, _elsewhere(model, alone)]), len(alone))


def _walked(rows: Sequence[TypedRow], again: int = 0) -> list[Asked]:
    """Return prefixes of any length: what is shown between the prefixes that are judged must make sense too."""
    some = at_some_prefixes(rows, int(WALKED * len(rows)))
    return some + asked_again(rows, max(again * len(rows), LEAST_ASKED - len(rows) - len(some)))


def _in_sessions(weights: RankerWeights, model: Model, rows: Sequence[TypedRow]) -> RankerWeights:
    """Return the weights of requests with a context: the others, changed as sessions of public logs change them.

    Where rows have a context, these weights are fitted to them.
    """
    with_context = [row for row in rows if row.context]
    share = _SESSION_PRIOR / (_SESSION_PRIOR + len(with_context))
    start = weights.moved(RankerWeights.read(), RankerWeights.read(part="session"), share)
    if not with_context:
        return start
    asked = collect(model, at_hashed_prefix(with_context) + _walked(with_context))
    return fit(start, asked, epochs=_SESSION_EPOCHS, closeness=_SESSION_CLOSENESS, rate=_SESSION_RATE)


def _elsewhere(model: Model, rows: list[TypedRow]) -> Offers:
    """Ask few rows again at prefixes of other lengths, so that there are enough of them to judge by."""
    return collect(model, asked_again(rows, JUDGED - len(rows)))


def fit_shown(policy: Policy, weights: RankerWeights, offers: Offers, rows: int) -> Policy:
    """Return the policy with what is worth showing."""
    invented = offers.features[:, feature_place("invented_words")] > 0
    return fit_showing(policy, offers, np.exp(_forward(weights, offers).log_probabilities), invented, rows)


def sample_rows(rows: Sequence[TypedRow], size: int) -> list[TypedRow]:
    """Return at most `size` rows whose queries are long enough to be asked, drawn at random."""
    return [rows[place] for place in drawn(queries_of(rows), size, seed=2)]


def feature_place(name: str) -> int:
    """Return where a feature stands in a row of features."""
    return int(import_engine().feature_names().index(name))


def fit(
    prior: RankerWeights,
    offers: Offers,
    *,
    epochs: int = _EPOCHS,
    closeness: float = _CLOSENESS,
    rate: float = _RATE,
) -> RankerWeights:
    """Return the weights that make what people typed the likeliest, held near the prior."""
    chance = np.random.default_rng(0)
    starts = [(begin, min(begin + _BATCH, len(offers))) for begin in range(0, len(offers), _BATCH)]
    shuffled = _shuffled(replace(offers, features=_scaled(prior, offers)), chance)
    values = {name: getattr(prior, name).astype(np.float64) for name in _FITTED}
    adam = _Adam(values)
    for epoch in range(epochs):
        for step, number in enumerate(chance.permutation(len(starts))):
            progress = (epoch + step / len(starts)) / epochs
            weights = replace(prior, **{name: value.astype(np.float32) for name, value in values.items()})
            some = shuffled.part(*starts[number])
            gradients = _gradients(weights, _judged(weights, some, some.features), some)
            for name in _FITTED:
                gradients[name] += closeness / len(offers) * (values[name] - getattr(prior, name))
            values = adam.step(values, gradients, rate * (1 - progress))
    return replace(prior, **{name: value.astype(np.float32) for name, value in values.items()})


def _shuffled(offers: Offers, chance: np.random.Generator) -> Offers:
    """Return the offers with their prefixes in random order."""
    order = chance.permutation(len(offers))
    sizes = np.diff(offers.first)[order]
    first = np.concatenate([[0], np.cumsum(sizes)])
    places = np.repeat(offers.first[order] - first[:-1], sizes) + np.arange(first[-1])
    columns = offers.features[places], first, offers.whole[places], offers.partial[places], offers.evidence[places]
    return Offers(*columns, offers.totals[order])


class _Adam:
    """The optimiser of the same name, with its usual settings."""

    def __init__(self, values: dict[str, np.ndarray]) -> None:
        self._means = {name: np.zeros_like(value) for name, value in values.items()}
        self._squares = {name: np.zeros_like(value) for name, value in values.items()}
        self._steps = 0

    def step(
        self, values: dict[str, np.ndarray], gradients: dict[str, np.ndarray], rate: float
    ) -> dict[str, np.ndarray]:
        self._steps += 1
        moved = {}
        for name, gradient in gradients.items():
            self._means[name] += 0.1 * (gradient - self._means[name])
            self._squares[name] += 0.001 * (gradient**2 - self._squares[name])
            mean = self._means[name] / (1 - 0.9**self._steps)
            square = self._squares[name] / (1 - 0.999**self._steps)
            moved[name] = values[name] - rate * mean / (np.sqrt(square) + 1e-8)
        return moved


@dataclass(frozen=True, slots=True)
class _Forward:
    """What the ranker makes of some offers."""

    scaled: np.ndarray  # (proposals, features)
    prefix: np.ndarray  # (prefixes, features of the prefix, and 1)
    sums: np.ndarray  # (proposals, units), before the non-linearity
    log_probabilities: np.ndarray  # (proposals)
    log_none: np.ndarray  # (prefixes)
    owner: np.ndarray  # (proposals): the number of its prefix


def _scaled(weights: RankerWeights, offers: Offers) -> Floats:
    return (offers.features - weights.mean) / weights.scale


def _forward(weights: RankerWeights, offers: Offers) -> _Forward:
    return _judged(weights, offers, _scaled(weights, offers))


def _judged(weights: RankerWeights, offers: Offers, scaled: Floats) -> _Forward:
    """Return what the ranker makes of offers whose features have been scaled."""
    sums = scaled @ weights.hidden.T + weights.hidden_bias
    worths = scaled @ weights.linear + (sums / (1 + np.abs(sums))) @ weights.output
    sizes = np.diff(offers.first)
    owner = np.repeat(np.arange(len(offers)), sizes)
    shared = len(weights.none) - 1
    prefix = np.ones((len(offers), shared + 1), np.float32)
    has_any = sizes > 0
    begins = offers.first[:-1][has_any]
    prefix[has_any, :shared] = scaled[begins, :shared]
    none = prefix @ weights.none
    peak = none.copy()
    if len(begins):
        peak[has_any] = np.maximum(peak[has_any], np.maximum.reduceat(worths, begins))
    sums_of = np.exp(none - peak) + np.bincount(owner, np.exp(worths - peak[owner]), len(offers))
    normaliser = peak + np.log(sums_of)
    return _Forward(scaled, prefix, sums, worths - normaliser[owner], none - normaliser, owner)


def _gradients(weights: RankerWeights, made: _Forward, offers: Offers) -> dict[str, np.ndarray]:
    """Return the gradients of the mean cross-entropy."""
    found = np.bincount(made.owner, offers.whole, len(offers)) > 0
    error = ((np.exp(made.log_probabilities) - offers.whole) / len(offers)).astype(np.float32)
    error_none = (np.exp(made.log_none) - ~found) / len(offers)
    slope = 1 / (1 + np.abs(made.sums))  # of softsign; its square is the derivative
    of_output = error @ (made.sums * slope)
    slope *= slope
    slope *= error[:, None] * weights.output
    return {
        "linear": error @ made.scaled,
        "hidden": slope.T @ made.scaled,
        "hidden_bias": slope.sum(0),
        "output": of_output,
        "none": error_none @ made.prefix,
    }


def cross_entropy(weights: RankerWeights, offers: Offers) -> float:
    """Return the mean of −log p(what was typed), in nats per prefix."""
    made = _forward(weights, offers)
    found = np.bincount(made.owner, offers.whole, len(offers)) > 0
    return float(-(made.log_probabilities[offers.whole].sum() + made.log_none[~found].sum()) / len(offers))


def _order(weights: RankerWeights, offers: Offers, chance: float) -> float:
    """Return the least length penalty that is as good as the best one, but for so many standard errors.

    A penalty puts frequent long queries below rare short ones. Whoever knows the queries of a small site sees that, so
    there it must be better by more than chance explains.
    """
    scored = {penalty: qualities(weights, offers, penalty) for penalty in _PENALTIES}
    best = max(scored.values(), key=lambda each: float(each.sum()))
    return min(penalty for penalty, each in scored.items() if _is_as_good(each, best, chance))


def _is_as_good(one: np.ndarray, best: np.ndarray, chance: float) -> bool:
    """Tell whether the qualities of rows are no worse than the best ones by more than so many standard errors."""
    lost = best - one
    return float(lost.mean()) <= chance * float(lost.std()) / math.sqrt(max(len(lost), 1))


def qualities(weights: RankerWeights, offers: Offers, penalty: float) -> np.ndarray:
    """Return how well the answers to each row are ordered: the reciprocal rank, and half of that by a first part."""
    scores = _forward(weights, offers).log_probabilities
    keys = scores - penalty * offers.features[:, feature_place("added_characters")]
    found = np.zeros(len(offers))
    for row, (begin, end) in enumerate(zip(offers.first[:-1], offers.first[1:], strict=True)):
        best = begin + np.argsort(-scores[begin:end], kind="stable")[:_SHOWN]
        shown = best[np.argsort(-keys[best], kind="stable")]
        found[row] = _reciprocal(offers.whole[shown]) + _PARTIAL_WORTH * _reciprocal(offers.partial[shown])
    return found


def _reciprocal(right: np.ndarray) -> float:
    return 1 / (1 + int(right.argmax())) if right.any() else 0.0
