"""What is worth showing: the probabilities below which a suggestion is left out, fitted on the validation split.

The ranker's probabilities are real ones, so they tell without any label what a suggestion is worth: p / its rank is
what it adds to MRR. Texts with an invented word are rarely right and always look bad, so few of them are let through.
"""

from dataclasses import dataclass, replace

import numpy as np

from halfword.core.policy import Policy
from halfword.training.offers import Offers

_CHOICES = np.geomspace(1e-4, 0.5, 75)  # probabilities
_WORTH_A_GLANCE = 0.05  # a suggestion that is likelier is always shown: a new query may have no better chance yet
_PRICE = 0.0025  # share of MRR that leaving out unlikely suggestions may cost
_MOST_INVENTED = 0.02  # share of the suggestions that may hold an invented word,
_COMMON = 2.0  # times that a text is expected in the log
_SURE = 2.5  # standard errors: for nearly every log, however few rows it has


@dataclass(frozen=True, slots=True)
class Page:
    """The proposals for many prefixes, the likeliest of each prefix first."""

    owner: np.ndarray  # the number of the prefix
    probability: np.ndarray
    invented: np.ndarray  # whether the text holds an invented word
    size: int  # suggestions that are shown at most
    rows: int  # a row is asked at several prefixes: those whose numbers leave the same remainder

    def places(self, least: float, least_invented: float) -> tuple[np.ndarray, np.ndarray]:
        """Return which proposals are shown, and the rank of each, from 1 on."""
        likely = (self.probability >= least) & (~self.invented | (self.probability >= least_invented))
        shown = np.flatnonzero(likely)
        owner = self.owner[shown]
        rank = np.arange(len(shown)) - np.searchsorted(owner, owner) + 1
        fits = rank <= self.size
        return shown[fits], rank[fits]

    def worth(self, least: float) -> float:
        """Return what the shown proposals add to the sum of reciprocal ranks."""
        shown, rank = self.places(least, 0.0)
        return float((self.probability[shown] / rank).sum())

    def most_invented(self, least: float, least_invented: float) -> float:
        """Return what share of shown proposals holds an invented word, at most: few rows tell it less exactly."""
        shown, _ = self.places(least, least_invented)
        row = self.owner[shown] % self.rows
        number, holding = np.bincount(row, minlength=1), np.bincount(row, self.invented[shown], minlength=1)
        share = holding.sum() / max(number.sum(), 1)
        error = np.sqrt(np.square(holding - share * number).sum()) / max(number.sum(), 1)  # of a ratio, by rows
        return float(share + _SURE * error)


def fit_showing(policy: Policy, offers: Offers, probabilities: np.ndarray, invented: np.ndarray, rows: int) -> Policy:
    """Return the policy with the least probabilities of what is shown.

    The prefixes are those of `rows` rows, one of each row after the other, then again from the first row on.
    """
    page = _page(policy, offers, probabilities, invented, rows)
    enough = (1 - _PRICE) * page.worth(0.0)
    glances = _CHOICES[_CHOICES <= _WORTH_A_GLANCE]
    least = max((float(each) for each in glances if page.worth(each) >= enough), default=0.0)
    sober = (float(each) for each in _CHOICES if page.most_invented(least, each) <= _MOST_INVENTED)
    return replace(policy, min_probability=least, invented_min_probability=max(least, min(sober, default=1.0)))


def with_common(policy: Policy, rows: int) -> Policy:
    """Return the policy by which a text is common if it is expected more than once in a log of so many rows."""
    return replace(policy, common_probability=min(_COMMON / max(rows, 1), 1.0))


def _page(policy: Policy, offers: Offers, probabilities: np.ndarray, invented: np.ndarray, rows: int) -> Page:
    owner = np.repeat(np.arange(len(offers)), np.diff(offers.first))
    order = np.lexsort((-probabilities, owner))
    return Page(owner[order], probabilities[order], invented[order], int(policy.page), rows)
