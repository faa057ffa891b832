"""How likely a hypothesis must be for the network to read it; fitted on the validation split.

The network reads one hypothesis in the time in which the memory reads ten. Where a hypothesis has a small share of the
prefix's probability, what the network would say of it seldom changes the answers. How small depends on how much the
memory knows by itself: a large log has a better one.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from halfword.core import metrics
from halfword.core.options import UNFILTERED, Typos
from halfword.core.policy import Policy
from halfword.data.sessions import TypedRow
from halfword.search.model import load
from halfword.training.mixture import FEWEST, sample

CHOICES = (0.05, 0.02, 0.01, 0.005)  # shares of the prefix's probability; a larger one saves next to no time
_QUERIES = 4000  # validation queries that decide
_PRICE = 0.0025  # share of MRR, and of the queries among ten answers, that it may cost
_ASKED = replace(UNFILTERED, typos=Typos.OFF)


def fit_network_reading(write: Callable[[Policy], Path], policy: Policy, typed: Sequence[TypedRow]) -> Policy:
    """Return the policy with the largest share that costs next to nothing; `write` makes a model file with a policy."""
    rows = sample(typed, _QUERIES, seed=3)
    if len(rows) < FEWEST:
        return policy

    def quality(share: float) -> np.ndarray:
        return _quality(write(replace(policy, network_min_probability=share)), rows)

    enough = (1 - _PRICE) * quality(0.0)
    share = next((each for each in CHOICES if (quality(each) >= enough).all()), 0.0)
    return replace(policy, network_min_probability=share)


def _quality(path: Path, rows: Sequence[str]) -> np.ndarray:
    """Return the MRR of a model at one prefix of each row, and how many rows are among its answers."""
    prefixes = [row[: metrics.hashed_prefix_length(row)] for row in rows]
    answers = load(path, cache=False, verify=False).complete_batch(prefixes, _ASKED)
    found = [metrics.rank(row, answer.texts) for row, answer in zip(rows, answers, strict=True)]
    return np.array(
        [np.mean([metrics.reciprocal(rank) for rank in found]), np.mean([rank is not None for rank in found])]
    )
