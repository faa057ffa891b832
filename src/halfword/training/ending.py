"""What it costs to end: for each piece, about how many nats lie between a query that has come to it and its end.

The search follows the best hypotheses only, and one that cannot end above the last answer need not be followed. How far
it is from an end depends on its last piece: after a whole word not far, after half of one as far as the rest of it. The
estimate is the likeliest way to an end by pairs of pieces alone. It is no bound, since a longer context may make the
end likelier; so it is scaled down, to where MRR and success@10 of a blend stay what they are (docs/research/blend.md).
"""

import numpy as np

from halfword.training.kneser_ney import Level, Values

_TRUST = 0.8
_LEAST = 1.0  # nats: many a query ends for less, but few of those are among the last of ten answers
_MOST = 12.0
_ROUNDS = 20  # pieces to the end, at most


def ending_costs(pairs: Level, vocabulary: int, end: int) -> Values:
    """Return the cost of each piece, from the counts of all pairs of pieces."""
    totals = np.bincount(pairs.parent, pairs.count, vocabulary)
    costs = -np.log(pairs.count / totals[pairs.parent])
    to_end = np.full(vocabulary, _MOST)
    to_end[end] = 0.0
    for _ in range(_ROUNDS):
        before = to_end.copy()
        np.minimum.at(to_end, pairs.parent, costs + before[pairs.piece])
        if np.array_equal(before, to_end):
            break
    return np.clip(_TRUST * to_end, _LEAST, _MOST)
