"""Counts of n-grams of pieces, and their probabilities by interpolated modified Kneser-Ney smoothing.

All n-grams of one order form a level of a trie, sorted by (parent, piece). The parent of an n-gram is the n-gram
without its last piece. The suffix of an n-gram is the n-gram without its first piece. Both are one level below. With
a(hw) the adjusted count of piece w after context h, D the discount of that count, and T(h) the sum of a(hw) over w:

    p(w | h) = gain(hw) / T(h) + backoff(h) · p(w | h without its first piece)
    gain(hw) = a(hw) − D, backoff(h) = 1 − (sum of all gains after h) / T(h)

A kept n-gram adds 1 to the adjusted count of its suffix. A pruned n-gram has no gain and adds its whole adjusted count
to its suffix. So the lower orders make up for what was pruned, and every distribution still sums to one.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from halfword.core.errors import DatasetError

Numbers = NDArray[np.int64]
Values = NDArray[np.float64]
Mask = NDArray[np.bool_]
Discounts = list[Values]  # by order; the discounts of the counts 0, 1, 2 and 3 or more

_USUAL_DISCOUNTS = (0.0, 0.5, 1.0, 1.5)  # used if there is too little data to estimate them
_LEAST = 0.05  # the least that a discount takes from a count, and that it leaves of it


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """Segmented queries, one after the other, and their counts."""

    pieces: Numbers
    lengths: Numbers
    counts: Numbers
    vocabulary: int
    begin: int  # the piece before every query; never predicted
    end: int  # the piece after every query

    @classmethod
    def of(cls, queries: Iterable[tuple[Sequence[int], int]], *, vocabulary: int, begin: int, end: int) -> "Corpus":
        """Build a corpus from pairs (pieces, count)."""
        pairs = list(queries)
        return cls(
            pieces=np.fromiter((piece for pieces, _ in pairs for piece in pieces), np.int64),
            lengths=np.fromiter((len(pieces) for pieces, _ in pairs), np.int64, len(pairs)),
            counts=np.fromiter((count for _, count in pairs), np.int64, len(pairs)),
            vocabulary=vocabulary,
            begin=begin,
            end=end,
        )


@dataclass(frozen=True, slots=True)
class Level:
    """All n-grams of one order, sorted by (parent, piece); in level 1 each piece has the index of its id."""

    piece: Numbers
    parent: Numbers  # index in the level below: the n-gram without its last piece
    suffix: Numbers  # index in the level below: the n-gram without its first piece; for a single piece, itself
    count: Values  # how often it occurs
    begins: Mask  # whether it begins a query

    def __len__(self) -> int:
        return len(self.piece)


@dataclass(frozen=True, slots=True)
class Estimate:
    """The result of Kneser-Ney: per order, beginning with order 1, one value per n-gram or per context."""

    adjusted: list[Values]
    discounts: Discounts
    gain: list[Values]  # per n-gram; 0 if it is pruned
    probability: list[Values]  # per n-gram, pruned or not
    total: list[Values]  # per context: the sum of the adjusted counts after it; the empty context comes first
    backoff: list[Values]  # per context


def count_ngrams(corpus: Corpus, order: int) -> list[Level]:
    """Count all n-grams of up to `order` pieces."""
    tokens, left, weight = tokens_of(corpus)
    size = corpus.vocabulary
    every = np.arange(size)
    levels = [Level(every, np.zeros(size, np.int64), every, _sums(tokens, weight, size), every == corpus.begin)]
    node = tokens.copy()  # the index of the n-gram that begins at each token
    starts = np.arange(len(tokens))
    for length in range(2, order + 1):
        starts = starts[left[starts] >= length]
        key = node[starts] * size + tokens[starts + length - 1]
        distinct, first, inverse = np.unique(key, return_index=True, return_inverse=True)
        parent = distinct // size
        suffix = node[starts[first] + 1]
        count = _sums(inverse, weight[starts], len(distinct))
        levels.append(Level(distinct % size, parent, suffix, count, levels[-1].begins[parent]))
        node[starts] = inverse
    return levels


def tokens_of(corpus: Corpus) -> tuple[Numbers, Numbers, Values]:
    """Return the tokens of all queries with begin and end, and per token: how many follow in its query, its count."""
    if not len(corpus.lengths):
        raise DatasetError("there is no query to learn n-grams from")
    lengths = corpus.lengths + 2
    ends = np.cumsum(lengths)
    tokens = np.full(int(ends[-1]), -1, np.int64)
    tokens[ends - lengths] = corpus.begin
    tokens[ends - 1] = corpus.end
    tokens[tokens < 0] = corpus.pieces
    left = np.repeat(ends, lengths) - np.arange(len(tokens))
    return tokens, left, np.repeat(corpus.counts, lengths).astype(np.float64)


def estimate(levels: list[Level], keep: list[Mask] | None = None, discounts: Discounts | None = None) -> Estimate:
    """Estimate probabilities from the n-grams of `keep`; the parent of a kept n-gram must be kept too."""
    keep = keep or [np.ones(len(level), bool) for level in levels]
    adjusted = _adjusted_counts(levels, keep)
    discounts = discounts or [_discounts_of(counts) for counts in adjusted]
    predicted = ~levels[0].begins
    lower = predicted / predicted.sum()  # order 0: all pieces are equally likely
    contexts = 1
    result = Estimate(adjusted, discounts, [], [], [], [])
    for level, counts, kept, discount in zip(levels, adjusted, keep, discounts, strict=True):
        total = _sums(level.parent, counts, contexts)
        divisor = np.maximum(total, 1)  # avoids 0 / 0: nothing follows an end
        gain = np.where(kept, gains_of(counts, discount), 0.0)
        backoff = 1 - _sums(level.parent, gain, contexts) / divisor
        lower = gain / divisor[level.parent] + backoff[level.parent] * lower[level.suffix]
        contexts = len(level)
        result.gain.append(gain)
        result.probability.append(lower)
        result.total.append(divisor)
        result.backoff.append(backoff)
    return result


def estimate_unigram(adjusted: Values, discount: Values, begin: int) -> Values:
    """Return the probabilities of single pieces from their adjusted counts."""
    every = np.arange(len(adjusted))
    level = Level(every, np.zeros(len(adjusted), np.int64), every, adjusted, every == begin)
    return estimate([level], discounts=[discount]).probability[0]


def gains_of(counts: Values, discount: Values) -> Values:
    """Return what adjusted counts are worth after their discounts."""
    worth: Values = counts - discount[np.minimum(counts, 3).astype(int)]
    return worth


def logarithms(values: Values) -> Values:
    """Return natural logarithms. Those of NumPy depend on the processor in the last bit; the engine's are these."""
    return np.fromiter(map(math.log, np.ascontiguousarray(values).data), np.float64, len(values))


def _adjusted_counts(levels: list[Level], keep: list[Mask]) -> list[Values]:
    """Return adjusted counts: how often, in the top order and where a query begins; else after how many pieces."""
    adjusted = [levels[-1].count]
    for level, above, kept in zip(levels[-2::-1], levels[:0:-1], keep[:0:-1], strict=True):
        handed_down = np.where(kept, 1, adjusted[-1])
        counts = _sums(above.suffix, handed_down, len(level))
        adjusted.append(np.where(level.begins, level.count, counts))
    adjusted[-1] = np.where(levels[0].begins, 0, adjusted[-1])  # the begin piece is never predicted
    return adjusted[::-1]


def _discounts_of(counts: Values) -> Values:
    return discounts_by_times([float(np.sum(counts == number)) for number in (1, 2, 3, 4)])


def discounts_by_times(times: Sequence[float]) -> Values:
    """Return the discounts of the counts 0, 1, 2 and 3 or more, after Chen and Goodman.

    `times` says how many n-grams have the adjusted counts 1, 2, 3 and 4.
    """
    once, twice, thrice, four_times = times
    if not once or not twice:  # too few n-grams to estimate from
        return np.array(_USUAL_DISCOUNTS)
    share = once / (once + 2 * twice)
    pairs = ((once, twice), (twice, thrice), (thrice, four_times))
    found = [
        number - (number + 1) * share * more / less if less else usual
        for (number, usual), (less, more) in zip(enumerate(_USUAL_DISCOUNTS[1:], 1), pairs, strict=True)
    ]
    return np.array([0, *(min(max(value, _LEAST), number - _LEAST) for number, value in enumerate(found, 1))])


def _sums(groups: Numbers, values: Values, size: int) -> Values:
    """Return the sum of the values of each group."""
    return np.bincount(groups, values, size).astype(np.float64, copy=False)
