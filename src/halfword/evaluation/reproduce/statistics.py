"""Bootstrap intervals and tests for means and differences of means.

Queries are drawn with replacement, each together with all its rows: the repeats of a query always have the same result,
so they are not independent evidence. All rows of the table use the same bootstrap samples, so a difference between two
of them is paired.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
_HELD = 2**23  # counts of drawn queries that are in memory at once


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean and its 95 % interval; None if the group is empty."""

    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference of two means, its 95 % interval, and its p-value."""

    value: float
    low: float
    high: float
    p: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Bootstrap:
    """The number and the seed of the bootstrap samples."""

    draws: int = 2000
    seed: int = 0

    def sums(self, columns: Numbers) -> Numbers:
        """Return the sum of each column over the queries of each draw: (queries, columns) → (draws, columns)."""
        chance = np.random.default_rng(self.seed)
        queries = len(columns)
        at_once = max(1, _HELD // queries)
        parts = []
        for start in range(0, self.draws, at_once):
            times = np.empty((min(at_once, self.draws - start), queries))  # how often each query is drawn
            for draw in times:
                draw[:] = np.bincount(chance.integers(0, queries, queries), minlength=queries)
            parts.append(times @ columns)
        return np.concatenate(parts)

    def means(self, values: Numbers, weights: Numbers) -> Numbers:
        """Return the weighted means of each draw.

        Values are (queries, rows), weights (queries, groups), the means (draws, rows, groups).
        """
        queries, groups = weights.shape
        weighted = values[:, :, None] * weights[:, None, :]
        sums = self.sums(np.hstack([weighted.reshape(queries, -1), weights]))
        totals = sums[:, None, -groups:]
        return sums[:, :-groups].reshape(self.draws, -1, groups) / np.where(totals > 0, totals, np.nan)


def mean(values: Numbers, weights: Numbers) -> float | None:
    """Return a weighted mean, or None if all weights are 0.

    >>> mean(np.array([1.0, 0.0]), np.array([3.0, 1.0]))
    0.75
    """
    total = weights.sum()
    return float(values @ weights / total) if total else None


def estimate(value: float | None, drawn: Numbers) -> Estimate:
    """Return a mean with the 95 % interval of its draws."""
    if value is None or np.isnan(drawn).all():
        return Estimate(value)
    low, high = np.nanpercentile(drawn, [2.5, 97.5])
    return Estimate(value, float(low), float(high))


def difference(value: float, drawn: Numbers) -> Difference:
    """Return a difference with the interval of its draws, and the two-sided p from their standard error."""
    low, high = np.nanpercentile(drawn, [2.5, 97.5])
    error = float(np.nanstd(drawn))
    p = math.erfc(abs(value) / error / math.sqrt(2)) if error > 0 else float(value == 0)
    return Difference(value, float(low), float(high), p)


def holm(p_values: Sequence[float]) -> list[float]:
    """Correct p-values for the number of tests by the method of Holm.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for place, index in enumerate(sorted(range(len(p_values)), key=lambda each: p_values[each])):
        largest = max(largest, min(1.0, p_values[index] * (len(p_values) - place)))
        adjusted[index] = largest
    return adjusted
