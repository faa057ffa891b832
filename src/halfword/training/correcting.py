"""When a correction is to be believed: the weights of the ranker's features that begin with `corrected`.

They are fitted after all the others and alone, so what goes on from the typed text is ranked as it is without them.
The rows are natural ones, in which a correction is nearly always wrong, and mistyped ones. The loss is the same
cross-entropy, which is convex in these weights; Newton's method finds its minimum.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from halfword.search.model import import_engine
from halfword.training.offers import Offers

_STEPS = 8
_HALVINGS = 6  # of a step that goes too far
_PENALTY = 1.0  # of half the squared weights, in prefixes

Doubles = NDArray[np.float64]


def correction_places() -> list[int]:
    """Return where the features of corrections stand in a row of features."""
    return [place for place, name in enumerate(import_engine().feature_names()) if name.startswith("corrected")]


def fit_corrections(scores: Doubles, none: Doubles, columns: Doubles, offers: Offers) -> Doubles:
    """Return the weights of the features of corrections.

    `scores` and `none` are the log-probabilities of all proposals and of "none of these" without these features;
    `columns` (proposals, weights) are the features.
    """
    problem = _Problem.of(scores, none, columns, offers)
    values = np.zeros(columns.shape[1])
    if not problem.size:
        return values
    for _ in range(_STEPS):
        step = problem.step(values)
        values = min((values - step / 2**each for each in range(_HALVINGS)), key=problem.loss)
    return values


@dataclass(frozen=True, slots=True)
class _Problem:
    """The prefixes that have a correction; the others do not depend on the weights."""

    scores: Doubles  # (proposals)
    none: Doubles  # (prefixes)
    columns: Doubles  # (proposals, weights)
    owner: NDArray[np.int64]  # (proposals): the number of its prefix
    whole: NDArray[np.bool_]  # (proposals): whether it is what was meant
    size: int  # prefixes

    @classmethod
    def of(cls, scores: Doubles, none: Doubles, columns: Doubles, offers: Offers) -> "_Problem":
        owner = np.repeat(np.arange(len(offers)), np.diff(offers.first))
        corrected = np.zeros(len(offers), bool)
        corrected[owner[columns.any(axis=1)]] = True
        inside = corrected[owner]
        number = np.cumsum(corrected) - 1
        parts = scores[inside], none[corrected], columns[inside], number[owner[inside]], offers.whole[inside]
        return cls(*parts, int(corrected.sum()))

    def loss(self, values: Doubles) -> float:
        chances, none = self._log_chances(values)
        found = np.bincount(self.owner, self.whole, self.size) > 0
        return float(_PENALTY / 2 * values @ values - chances[self.whole].sum() - none[~found].sum())

    def step(self, values: Doubles) -> Doubles:
        """Return what Newton's method would take off the weights."""
        chances = np.exp(self._log_chances(values)[0])
        gradient = (chances - self.whole) @ self.columns + _PENALTY * values
        means = np.zeros((self.size, len(values)))
        np.add.at(means, self.owner, chances[:, None] * self.columns)
        curvature = (self.columns * chances[:, None]).T @ self.columns - means.T @ means
        step = np.linalg.solve(curvature + _PENALTY * np.eye(len(values)), gradient)
        return np.asarray(step, np.float64)

    def _log_chances(self, values: Doubles) -> tuple[Doubles, Doubles]:
        """Return the log-probabilities of all proposals, and of none of them."""
        worths = self.scores + self.columns @ values
        peak = self.none.copy()
        np.maximum.at(peak, self.owner, worths)
        total = np.exp(self.none - peak) + np.bincount(self.owner, np.exp(worths - peak[self.owner]), self.size)
        normaliser = peak + np.log(total)
        return worths - normaliser[self.owner], self.none - normaliser
