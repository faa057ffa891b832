"""How far a correction is to be believed: weights that turn what speaks for it into odds against the text as typed.

`engine/rank/belief.h` has the formula, `search/reference_belief.py` explains the features. The rows are natural ones,
in which what was typed is right, and mistyped ones. The weights make what people meant the likeliest, that is, they
minimise

    −log Σ over readings of p(reading) · p(what was meant | reading)

where the ranker tells the latter. They start from weights that ship (`models/belief.json`, made by
`benchmarks/belief_prior.py` from public logs) and pay for leaving them, so a log with few rows stays near them.

There are two sets of weights: with the first, which know a correction only at a glance, it is decided which corrections
are worth completing.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from halfword.core.model_file import Array
from halfword.core.options import UNFILTERED, Typos
from halfword.search.model import Model, engine_options, import_engine
from halfword.training.new_features import widened
from halfword.training.offers import Asked

PRIOR = Path(__file__).parent.parent / "models" / "belief.json"
PARTS = ("glance", "belief")
NATURAL = 12_000  # natural prefixes that are asked
_NOT_FOUND = 0.7  # what a natural prefix counts whose query is not found anyway: a correction is still wrong there
_RIGHT = 100.0  # natural prefixes that a group of others counts for: much where there are few, else little
_CLOSENESS = 3.0  # prefixes that a weight must speak for before it leaves the prior by one standard deviation
_STEPS = 600
_RATE = 0.02  # of Adam, at its highest
_TOGETHER = 1024  # prefixes that are asked at once, on all cores
_UNLIKELY = -60.0  # the logarithm of what was not proposed

Doubles = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class BeliefWeights:
    """The arrays of one set of weights; `engine/rank/belief.h` explains them."""

    mean: Doubles  # (features)
    scale: Doubles  # (features)
    linear: Doubles  # (features)
    hidden: Doubles  # (units, features)
    hidden_bias: Doubles  # (units)
    output: Doubles  # (units)

    @classmethod
    def read(cls, part: str, path: Path = PRIOR) -> Self:
        """Read weights that were written as JSON, such as those that ship; features added since weigh nothing."""
        values: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))[part]
        arrays = {name: np.array(value, np.float64) for name, value in values.items()}
        return cls(**widened(arrays, len(import_engine().belief_names())))

    @classmethod
    def blank(cls, rows: "ReadRows", units: int, chance: np.random.Generator) -> Self:
        """Return weights that say nothing yet of features that are as large as those of some rows."""
        features = rows.features[:, 1:][rows.there[:, 1:]]
        size = features.shape[1]
        mean, scale = features.mean(0), features.std(0) + 1e-3
        constant = features.std(0) == 0.0  # such as the feature that is always 1
        mean[constant], scale[constant] = 0.0, 1.0
        hidden = chance.normal(0, size**-0.5, (units, size))
        hidden[:, constant & (features.mean(0) == 0.0)] = 0.0  # what no row has tells nothing
        return cls(mean, scale, np.zeros(size), hidden, np.zeros(units), np.zeros(units))

    def to_json(self) -> dict[str, Any]:
        """Return all weights by name."""
        return {each.name: np.round(getattr(self, each.name), 4).tolist() for each in fields(self)}

    def arrays(self, part: str) -> dict[str, Array]:
        """Return the weights as arrays of a model file."""
        return {f"{part}.{name}": Array("F32", value.astype("<f4").tobytes()) for name, value in self._values().items()}

    def _values(self) -> dict[str, Doubles]:
        return {each.name: getattr(self, each.name) for each in fields(self)}


def prior_arrays() -> dict[str, Array]:
    """Return the weights that ship, as arrays of a model file."""
    return {name: array for part in PARTS for name, array in BeliefWeights.read(part).arrays(part).items()}


@dataclass(frozen=True, slots=True)
class ReadRows:
    """The readings of prefixes, as typed first, and how likely what was meant is by each."""

    features: Doubles  # (prefixes, readings, features)
    there: NDArray[np.bool_]  # (prefixes, readings)
    chances: Doubles  # (prefixes, readings): log p(what was meant | reading)
    worth: Doubles  # (prefixes): what each row counts

    @classmethod
    def joined(cls, each: Sequence[Self]) -> Self:
        """Return the rows of several logs, or of several models of one, as one."""
        readings = max(rows.there.shape[1] for rows in each)

        def widened(values: NDArray[Any], fill: float) -> NDArray[Any]:
            room = [(0, 0), (0, readings - values.shape[1]), *[(0, 0)] * (values.ndim - 2)]
            return np.pad(values, room, constant_values=fill)

        return cls(
            np.concatenate([widened(rows.features, 0.0) for rows in each]),
            np.concatenate([widened(rows.there, False) for rows in each]),
            np.concatenate([widened(rows.chances, _UNLIKELY) for rows in each]),
            np.concatenate([rows.worth for rows in each]),
        )


def read_rows(
    model: Model,
    natural: Sequence[Asked],
    mistyped: Sequence[Asked],
    share: float,
    right: Sequence[Sequence[Asked]],
) -> ReadRows:
    """Ask a model for the readings of natural and of mistyped prefixes; those without a correction are left out.

    All mistyped prefixes together count `share` for each natural one. Each group of others that are right as typed
    counts as much as a few natural ones.
    """
    each = share * len(natural) / max(len(mistyped), 1)
    rows = [
        *_read(model, natural, True, 1.0),
        *_read(model, mistyped, False, each),
        *(row for group in right for row in _read(model, group, True, _RIGHT / max(len(group), 1))),
    ]
    size = max((len(row.chances) for row in rows), default=1)
    features = np.zeros((len(rows), size, len(import_engine().belief_names())))
    there = np.zeros((len(rows), size), bool)
    chances = np.full((len(rows), size), _UNLIKELY)
    for place, row in enumerate(rows):
        features[place, : len(row.features)] = row.features
        there[place, : len(row.features)] = True
        chances[place, : len(row.chances)] = row.chances
    return ReadRows(features, there, chances, np.array([row.worth for row in rows]))


@dataclass(frozen=True, slots=True)
class _Row:
    features: list[list[float]]
    chances: list[float]
    worth: float


def _read(model: Model, asked: Sequence[Asked], natural: bool, worth: float) -> list[_Row]:
    options, rows = engine_options(replace(UNFILTERED, fold=False, typos=Typos.AUTO)), []
    for begin in range(0, len(asked), _TOGETHER):
        some = asked[begin : begin + _TOGETHER]
        for each, readings in zip(
            some, model._engine.read_batch([one.prefix for one in some], options, 0), strict=True
        ):
            chances = [
                scores[texts.index(each.query)] if each.query in texts else _UNLIKELY
                for _, _, texts, scores in readings
            ]
            if natural:  # a correction is wrong, whatever it leads to
                found = chances[0] > _UNLIKELY
                chances = [chances[0] if found else 0.0] + [_UNLIKELY] * (len(chances) - 1)
                counts = worth if found else worth * _NOT_FOUND
            else:
                counts = worth if max(chances) > _UNLIKELY else 0.0
            if counts and len(readings) > 1:
                rows.append(_Row([features for _, features, _, _ in readings], chances, counts))
    return rows


def fit_belief(prior: BeliefWeights, rows: ReadRows, *, glance: bool, closeness: float = _CLOSENESS) -> BeliefWeights:
    """Return the weights under which what was meant is the likeliest, held near the prior."""
    if not len(rows.worth):
        return prior
    later = slice(*import_engine().KNOWN_WHEN_COMPLETED)
    readings = _Readings.of(rows, prior)
    if glance:
        readings.scaled[:, later] = 0.0
    start = {name: getattr(prior, name) for name in ("linear", "hidden", "hidden_bias", "output")}
    with threadpool_limits(1, "blas"):  # the products are small: threads would only wait for each other
        values = _descended(start, readings, closeness)
    if glance:  # what is not known yet is 0 in the engine
        values["linear"][later] = 0.0
        values["hidden"][:, later] = 0.0
    return replace(prior, **values)


def _descended(start: dict[str, Doubles], readings: "_Readings", closeness: float) -> dict[str, Doubles]:
    """Return the weights that Adam finds from where it starts."""
    values, total = dict(start), float(readings.worth.sum())
    means = {name: np.zeros_like(value) for name, value in values.items()}
    squares = {name: np.zeros_like(value) for name, value in values.items()}
    for step in range(1, _STEPS + 1):
        gradients = _gradients(values, readings)
        for name in values:
            slope = gradients[name] / total + closeness / total * (values[name] - start[name])
            means[name] += 0.1 * (slope - means[name])
            squares[name] += 0.001 * (slope**2 - squares[name])
            moved = means[name] / (1 - 0.9**step) / (np.sqrt(squares[name] / (1 - 0.999**step)) + 1e-8)
            values[name] = values[name] - _RATE * (1 - step / (_STEPS + 1)) * moved
    return values


@dataclass(frozen=True, slots=True)
class _Readings:
    """The readings of all prefixes, one after the other, those as typed first among their own."""

    scaled: Doubles  # (readings, features)
    likely: Doubles  # (readings): p(what was meant | reading), as a share of the largest of its prefix
    begin: NDArray[np.intp]  # (prefixes): where the readings of each begin
    owner: NDArray[np.intp]  # (readings): the prefix
    worth: Doubles  # (prefixes)

    @classmethod
    def of(cls, rows: ReadRows, weights: BeliefWeights) -> Self:
        """Return the readings that are there, scaled as weights want them."""
        number = rows.there.sum(1)
        likely = np.exp(rows.chances - rows.chances.max(1, keepdims=True))[rows.there]
        scaled = (rows.features[rows.there] - weights.mean) / weights.scale
        return cls(scaled, likely, number.cumsum() - number, np.arange(len(number)).repeat(number), rows.worth)

    def shares(self, values: Doubles) -> Doubles:
        """Return the share of each reading in what those of its prefix have together."""
        shares: Doubles = values / np.add.reduceat(values, self.begin)[self.owner]
        return shares


def _log_odds(values: dict[str, Doubles], readings: _Readings) -> tuple[Doubles, Doubles, Doubles]:
    """Return the odds of each reading against the text as typed, the hidden sums, and the slopes of their curve."""
    sums = readings.scaled @ values["hidden"].T + values["hidden_bias"]  # (readings, units)
    slope = 1 / (1 + np.abs(sums))
    odds = readings.scaled @ values["linear"] + (sums * slope) @ values["output"]
    odds[readings.begin] = 0.0
    return odds, sums, slope


def _cross_entropy(values: dict[str, Doubles], readings: _Readings) -> float:
    """Return what the weights minimise, but for what does not depend on them."""
    odds, _, _ = _log_odds(values, readings)
    beliefs = readings.shares(np.exp(odds))
    meant = np.add.reduceat(beliefs * readings.likely, readings.begin)
    return float(-(np.log(meant) * readings.worth).sum())


def _gradients(values: dict[str, Doubles], readings: _Readings) -> dict[str, Doubles]:
    """Return the gradients of the cross-entropy, summed over the prefixes."""
    odds, sums, slope = _log_odds(values, readings)
    odds -= np.maximum.reduceat(odds, readings.begin)[readings.owner]
    beliefs = readings.shares(np.exp(odds))
    meant = readings.shares(beliefs * readings.likely)  # how likely each reading is, given what was meant
    wrong = (beliefs - meant) * readings.worth[readings.owner]
    wrong[readings.begin] = 0.0
    wrong_sums = (wrong[:, None] * values["output"]) * slope**2
    return {
        "linear": wrong @ readings.scaled,
        "hidden": wrong_sums.T @ readings.scaled,
        "hidden_bias": wrong_sums.sum(0),
        "output": wrong @ (sums * slope),
    }
