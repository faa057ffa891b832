"""The estimated cost, in nats, of ending a query after each piece.

A hypothesis that cannot end with a better score than the last answer need not be followed. The cost of an end depends
on the last piece: it is low after a whole word, and high in the middle of one. The estimate is the likeliest way to an
end by pairs of pieces. It is not a bound, because a longer context may make the end likelier. So it is scaled down to
a value at which MRR and success@10 of a blend do not change (docs/research/blend.md).
"""

import numpy as np

from halfword.training.kneser_ney import Level, Values, logarithms

_TRUST = 0.8
_LEAST = 1.0  # nats; many queries end for less, but few of them are among the last of ten answers
_MOST = 12.0
_ROUNDS = 20  # the longest way to an end, in pieces


def ending_costs(pairs: Level, vocabulary: int, end: int) -> Values:
    """Return the cost of each piece, from the counts of all pairs of pieces."""
    totals = np.bincount(pairs.parent, pairs.count, vocabulary)
    costs = -logarithms(pairs.count / totals[pairs.parent])
    to_end = np.full(vocabulary, _MOST)
    to_end[end] = 0.0
    for _ in range(_ROUNDS):
        before = to_end.copy()
        np.minimum.at(to_end, pairs.parent, costs + before[pairs.piece])
        if np.array_equal(before, to_end):
            break
    return np.clip(_TRUST * to_end, _LEAST, _MOST)
