"""What is worth showing: the probabilities below which a suggestion is left out, fitted on the validation split.

The ranker's probabilities are real ones, so they tell without any label what a suggestion is worth: p / its rank is
what it adds to MRR. Texts with an invented word are rarely right and always look bad, so few of them are let through.
Texts that read oddly (`Companions` in the engine tells) look bad too, but many are right: a small log has not seen most
pairs of words that people type. So they are left out only as far as that costs little.
"""

from bisect import bisect_left
from dataclasses import dataclass, replace
from math import log

import numpy as np

from halfword.core.policy import Policy
from halfword.data.query_table import QueryTable
from halfword.training.offers import Offers
from halfword.training.pinyin import is_chinese
from halfword.training.small_site import MOST_QUERIES, has_few_queries, has_words_enough, is_small_site, typed_again

_CHOICES = np.geomspace(1e-4, 0.5, 75)  # probabilities
_WORTH_A_GLANCE = 0.05  # a suggestion that is likelier is always shown: a new query may have no better chance yet
_GLANCES: tuple[float, ...] = tuple(_CHOICES[_CHOICES <= _WORTH_A_GLANCE].tolist())
_PRICE = 0.0025  # share of MRR that leaving out unlikely suggestions may cost
_MOST_INVENTED = 0.02  # share of the suggestions that may hold an invented word,
_MOST_ODD = 1 / 5  # share of the suggestions that nobody typed that may read oddly, unless leaving out more
_ODD_PRICE = 0.04  # costs more than this share of what such suggestions add to MRR
_NO_NEWS = 1e-6  # how often a row is new at least
_NO_PROPOSAL = 1e-300  # what is likelier is a proposal
_COMMON = 2.0  # times that a text is expected in the log
_BELIEVED = 1.0  # times that each of them was typed on average: then counts decide half
_ELSEWHERE = 0.1  # how much a query with the typed words elsewhere counts beside one that goes on from them
_MANY = 100.0  # queries that go on from the typed text; from there on none is looked for elsewhere
_ANY_NUMBER = 1e6  # of queries: all that a small site can have
_FEWEST_LETTERS = 3.0  # before queries are looked for that hold a word that begins so
_ALL_WORDS = 100.0  # of a text
_ODD = 0.2  # how likely what reads oddly must be where all rows were typed before
_REORDERED = 2 / 3  # p(a query with the typed words elsewhere is meant | a known one is, none goes on from them)
_SURE = 2.5  # standard errors: for nearly every log, however few rows it has


@dataclass(frozen=True, slots=True)
class Page:
    """The proposals for many prefixes: a column for each prefix, the likeliest first."""

    probability: np.ndarray  # 0 where a list has ended
    count: np.ndarray  # how often the text was typed
    invented: np.ndarray  # whether the text holds an invented word
    odd: np.ndarray  # whether it reads oddly
    size: int  # suggestions that are shown at most
    known: float  # what was typed so often is shown however unlikely it is
    rows: int  # a row of the log is asked at several prefixes: those whose numbers leave the same remainder

    def places(self, least: float, least_odd: float, least_invented: float) -> tuple[np.ndarray, np.ndarray]:
        """Return which proposals are shown, and the rank of each of them, from 1 on."""
        shown = (self.probability >= max(least, _NO_PROPOSAL)) | ((self.count > 0) & (self.count >= self.known))
        shown &= ~self.invented | (self.probability >= least_invented)
        rank = np.zeros(shown.shape[1:], np.int64)
        ranks = np.zeros(shown.shape, np.int64)
        for place, likely in enumerate(shown):
            likely &= ~self.odd[place] | (self.probability[place] >= least_odd * np.sqrt(rank + 1))
            likely &= rank < self.size
            rank += likely
            ranks[place] = rank
        return shown, ranks[shown]

    def worth(self, least: float, least_odd: float = 0.0, least_invented: float = 0.0, *, new: bool = False) -> float:
        """Return what the shown proposals, or those that nobody typed, add to the sum of reciprocal ranks."""
        shown, rank = self.places(least, least_odd, least_invented)
        worth = self.probability[shown] / rank
        return float(worth[self.count[shown] == 0].sum() if new else worth.sum())

    def share_of_odd(self, least: float, least_odd: float, least_invented: float) -> float:
        """Return what share of those shown proposals that nobody typed reads oddly."""
        shown, _ = self.places(least, least_odd, least_invented)
        return float(self.odd[shown].sum() / max((shown & (self.count == 0)).sum(), 1))

    def most_invented(self, least: float, least_odd: float, least_invented: float) -> float:
        """Return what share of shown proposals holds an invented word, at most: few rows tell it less exactly."""
        shown, _ = self.places(least, least_odd, least_invented)
        row = np.arange(shown.shape[1]) % self.rows
        number, holding = np.bincount(row, shown.sum(0)), np.bincount(row, (shown & self.invented).sum(0))
        share = holding.sum() / max(number.sum(), 1)
        error = np.sqrt(np.square(holding - share * number).sum()) / max(number.sum(), 1)  # of a ratio, by rows
        return float(share + _SURE * error)


def fit_showing(policy: Policy, offers: Offers, probabilities: np.ndarray, invented: np.ndarray, rows: int) -> Policy:
    """Return the policy with the least probabilities of what is shown.

    The prefixes are those of `rows` rows, one of each row after the other, then again from the first row on.
    """
    page = _page(policy, offers, probabilities, invented, rows)
    enough = (1 - _PRICE) * page.worth(0.0)
    least = max((each for each in _GLANCES if page.worth(each) >= enough), default=0.0)
    odd = _least_odd(page, least)
    return replace(
        policy,
        min_probability=least,
        odd_min_probability=odd,
        invented_min_probability=_least_invented(page, least, odd),
    )


def _least_invented(page: Page, least: float, least_odd: float) -> float:
    """Return how likely a suggestion with an invented word must be, so that few have one."""
    sober = (float(each) for each in _CHOICES if page.most_invented(least, least_odd, each) <= _MOST_INVENTED)
    return max(least, next(sober, 1.0))


def _least_odd(page: Page, least: float) -> float:
    """Return how likely a suggestion that reads oddly must be: so that few do, or so that it does not cost too much.

    One that stands lower must be likelier, by the root of its rank.
    The fewer suggestions are shown, the fewer of them may hold an invented word: that is part of the cost.
    """

    def worth(least_odd: float) -> float:
        return page.worth(least, least_odd, _least_invented(page, least, least_odd), new=True)

    def share(least_odd: float) -> float:
        return page.share_of_odd(least, least_odd, _least_invented(page, least, least_odd))

    enough = (1 - _ODD_PRICE) * worth(0.0)
    rising = [0.0, *_GLANCES]
    affordable = rising[: bisect_left(rising, True, key=lambda each: worth(each) < enough)]
    place = bisect_left(affordable, True, key=lambda each: share(each) <= _MOST_ODD)
    return affordable[min(place, len(affordable) - 1)]


def for_log(policy: Policy, table: QueryTable) -> Policy:
    """Return the policy of a log with these queries.

    A text is common if it is expected more than once in it. After a whole known query something new is expected as
    often as the next row of the log is new. Only Chinese is typed in Latin letters on purpose: of other scripts
    this is looked at where nothing goes on from what was typed. A small site shows no invented words, but all
    queries that it has: those that go on from the typed text, in whatever spelling, by their counts, and those with
    the typed words in it, also corrected ones. The more of its rows were typed before, the less may read oddly, and
    where most were, nothing is new that is nearly what was typed or has the words of a known query. Where most of
    few queries were, no short beginning is put first.
    """
    again = typed_again(table)
    other_script = not table.is_ascii and not is_chinese(table)
    policy = replace(
        policy,
        common_probability=min(_COMMON / max(table.total, 1), 1.0),
        new_after_whole=max(1 - again, _NO_NEWS),
        pinyin_most_queries=1.0 if other_script else policy.pinyin_most_queries,
    )
    if not is_small_site(table):
        return policy
    by_counts = has_few_queries(table) and has_words_enough(table)
    return replace(
        policy,
        length_penalty=0.0 if by_counts else policy.length_penalty,
        invented_min_probability=1.0,
        odd_min_probability=max(policy.odd_min_probability, _ODD * again),
        odd_words_before=_ALL_WORDS,
        known_typed=1.0,
        shown_once=float(has_words_enough(table)),
        known_surplus_factor=1.0,
        folded_most_queries=_ANY_NUMBER,
        counts_believed=_BELIEVED,
        inside_most_queries=float(MOST_QUERIES),
        other_known_factor=_ELSEWHERE,
        reordered_most_queries=_MANY,
        reordered_count=policy.page,
        reordered_inflected=1.0,
        reordered_fewest_characters=_FEWEST_LETTERS,
        reordered_corrections=policy.corrected_most_completed,
        reordered_log_probability=max(policy.reordered_log_probability, log(max(_REORDERED * again, _NO_PROPOSAL))),
    )


def _page(policy: Policy, offers: Offers, probabilities: np.ndarray, invented: np.ndarray, rows: int) -> Page:
    owner = np.repeat(np.arange(len(offers)), np.diff(offers.first))
    order = np.lexsort((-probabilities, owner))
    place = np.arange(len(owner)) - offers.first[owner]
    shape = (int(np.diff(offers.first).max(initial=0)), len(offers))

    def in_lists(values: np.ndarray) -> np.ndarray:
        made = np.zeros(shape, values.dtype)
        made[place, owner] = values[order]
        return made

    count, odd = offers.evidence[:, 0], offers.evidence[:, -1] > 0
    probability, typed, new_word, odd_one = map(in_lists, (probabilities, count, invented, odd))
    return Page(probability, typed, new_word, odd_one, int(policy.page), policy.known_typed, rows)
