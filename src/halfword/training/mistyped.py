"""Mistyped prefixes, and what was meant: the rows from which the ranker learns when a correction is to be believed.

Those of the validation split's own sessions are the best: a query and, right after it, what was meant. Where there are
few of them, or none because the log has no sessions, mistakes are made in validation queries as the channel makes them.
"""

import random
from collections.abc import Sequence

from halfword.core.metrics import SHORTEST_PREFIX
from halfword.data.dataset import Dataset, Split
from halfword.training.channel import Channel, Pair, mine, mistype
from halfword.training.offers import Asked

MOST = 3_000  # mistyped prefixes
_SHORTEST = 5  # characters of a query in which a mistake is made
_TIMES = 2  # prefixes of each pair


def mistyped_rows(data: Dataset, channel: Channel) -> list[Asked]:
    """Return mistyped prefixes of the validation split, each with the query that was meant."""
    chance = random.Random(4)
    counts = data.counts(Split.TRAIN)
    pairs = list(mine(data.sessions(Split.VALID), counts))
    found = [_cut(pair, chance) for pair in pairs for _ in range(_TIMES)]
    rows = [row for row in dict.fromkeys(data.rows(Split.VALID)) if len(row) >= _SHORTEST]
    made = _made(chance.sample(rows, min(max(0, MOST - len(found)), len(rows))), channel, chance)
    return chance.sample(found, min(MOST, len(found))) + made


def _made(queries: Sequence[str], channel: Channel, chance: random.Random) -> list[Asked]:
    """Make a mistake in each query."""
    pairs = (Pair(mistype(query, channel, chance), query) for query in queries)
    return [_cut(pair, chance) for pair in pairs if not is_beginning(*pair)]


def is_beginning(one: str, other: str) -> bool:
    """Tell whether one of two texts begins with the other."""
    return one.startswith(other) or other.startswith(one)


def _cut(pair: Pair, chance: random.Random) -> Asked:
    """Return a beginning of what was mistyped that holds the mistake."""
    first = next(place for place, letters in enumerate(zip(*pair, strict=False)) if letters[0] != letters[1])
    typed = chance.randint(min(max(SHORTEST_PREFIX, first + 1), len(pair.typed)), len(pair.typed))
    return Asked(pair.meant, typed, mistyped=pair.typed[:typed])
