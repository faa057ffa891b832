"""Small sites: logs of few queries, most of which are typed again and again.

Whoever owns such a log knows its queries, and misses each that is not there; what nobody typed is seldom wanted.
"""

import numpy as np

from halfword.data.query_table import QueryTable
from halfword.training.options import FEW_QUERIES

_MOSTLY = 0.5  # of the rows were typed before: the log's own words are enough
_LIST = 100  # rows; fewer are a list of what there is, such as a menu


def is_small_site(table: QueryTable) -> bool:
    """Tell whether a log has few queries."""
    return len(table) < FEW_QUERIES


def typed_again(table: QueryTable) -> float:
    """Return how likely the next row of a log was typed before, after Good and Turing."""
    counts = np.frombuffer(table.count, "<u8")
    return float(1 - (counts == 1).sum() / max(counts.sum(), 1))


def has_words_enough(table: QueryTable) -> bool:
    """Tell whether little is new in a log of few queries, so that no words of the background are offered.

    >>> has_words_enough(QueryTable.of({"opening hours": 90, "wifi": 40, "bike rack": 1}))
    True
    >>> has_words_enough(QueryTable.of({f"question {number}": 1 for number in range(300)}))
    False
    >>> has_words_enough(QueryTable.of({"margherita": 1, "tiramisu": 1}))  # a list of what there is
    True
    """
    return is_small_site(table) and (table.total < _LIST or typed_again(table) >= _MOSTLY)
