"""Small sites: logs of few queries, or of some more if most of them are typed again and again.

Whoever owns such a log knows its queries, and misses each that is not there; what nobody typed is seldom wanted.
"""

import numpy as np

from halfword.data.query_table import QueryTable

_FEW_QUERIES = 1_000  # a log with fewer different ones knows too few words to invent any, and has none to leave out
MOST_QUERIES = 10_000  # of a small site: looking inside all of them takes a part of a millisecond
_MOSTLY = 0.5  # of the rows were typed before: the log's own words are enough
_LIST = 100  # rows; fewer are a list of what there is, such as a menu


def has_few_queries(table: QueryTable) -> bool:
    """Tell whether a log has so few queries that whoever owns it knows nearly all of them."""
    return len(table) < _FEW_QUERIES


def is_small_site(table: QueryTable) -> bool:
    """Tell whether a log has few queries, or some more, most of which are typed again.

    >>> is_small_site(QueryTable.of({f"question {number}": 2 for number in range(3_000)}))
    True
    >>> is_small_site(QueryTable.of({f"question {number}": 1 for number in range(3_000)}))
    False
    """
    return has_few_queries(table) or (len(table) < MOST_QUERIES and typed_again(table) >= _MOSTLY)


def typed_again(table: QueryTable) -> float:
    """Return how likely the next row of a log was typed before, after Good and Turing."""
    counts = np.frombuffer(table.count, "<u8")
    return float(1 - (counts == 1).sum() / max(counts.sum(), 1))


def has_words_enough(table: QueryTable) -> bool:
    """Tell whether little is new in the log of a small site, so that no words of the background are offered.

    >>> has_words_enough(QueryTable.of({"opening hours": 90, "wifi": 40, "bike rack": 1}))
    True
    >>> has_words_enough(QueryTable.of({f"question {number}": 1 for number in range(300)}))
    False
    >>> has_words_enough(QueryTable.of({"margherita": 1, "tiramisu": 1}))  # a list of what there is
    True
    """
    return is_small_site(table) and (table.total < _LIST or typed_again(table) >= _MOSTLY)
