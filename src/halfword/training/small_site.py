"""Small sites: logs of few queries, most of which are typed again and again.

Whoever owns such a log knows its queries, and misses each that is not there; what nobody typed is seldom wanted.
"""

import numpy as np

from halfword.data.query_table import QueryTable
from halfword.training.options import FEW_QUERIES

_MOSTLY = 0.5  # of the rows were typed before: the log's own words are enough


def is_small_site(table: QueryTable) -> bool:
    """Tell whether a log has few queries."""
    return len(table) < FEW_QUERIES


def typed_again(table: QueryTable) -> float:
    """Return how likely the next row of a log was typed before, after Good and Turing."""
    counts = np.frombuffer(table.count, "<u8")
    return float(1 - (counts == 1).sum() / max(counts.sum(), 1))


def has_words_enough(table: QueryTable) -> bool:
    """Tell whether little is new in a log of few queries, so that no words of the background are offered.

    >>> has_words_enough(QueryTable.of({"opening hours": 9, "wifi": 4, "bike rack": 1}))
    True
    >>> has_words_enough(QueryTable.of({"opening hours": 1, "wifi": 1}))
    False
    """
    return is_small_site(table) and typed_again(table) >= _MOSTLY
