"""The queries by their words, so that they are found whatever the order of the words (`engine/sources/other_order.h`).

Only the most typed queries take part, only words that were typed several times are kept, and of each word only some
queries. Scripts without spaces between words have no words to put in another order.
"""

from array import array
from collections import Counter
from collections.abc import Collection, Mapping

import numpy as np
from numpy.typing import NDArray

from halfword.core.folding import is_plain
from halfword.core.model_file import Array
from halfword.data.query_table import QueryTable
from halfword.search.model import import_engine
from halfword.search.reference_order import keys_of

FEWEST = 2  # times that queries with a word were typed; once is enough for a small site
MOST = 64  # queries that are listed of a word, the most typed ones
_MOST_QUERIES = 1_000_000  # that take part, the most typed ones

Numbers = NDArray[np.int64]


def learn_order(counts: Mapping[str, int], most: int = MOST, fewest: int = FEWEST) -> dict[str, Array]:
    """Return the places of queries in the popularity index by their words, as arrays for a model file."""
    table = QueryTable.of(counts)
    order = np.frombuffer(table.order, "<u4")
    typed = np.frombuffer(table.count, "<u8").astype(np.int64)[order]
    places = np.sort(np.argsort(-typed, kind="stable")[:_MOST_QUERIES])
    queries = [table.at(place) for place in order[places].tolist()]
    holding = Counter(word for query in queries for word in words_of(query))
    often: Counter[str] = Counter()
    for query, count in zip(queries, typed[places].tolist(), strict=True):
        often.update(dict.fromkeys(words_of(query), count))
    words = sorted((word for word, count in often.items() if count >= fewest), key=str.encode)
    if not words:
        return {}
    coded = [_coded(each) for each in _listed(queries, words, places, typed, most)]
    begin = np.cumsum([0, *map(len, coded)]).astype("<u4")
    index = import_engine().popular_arrays([(word, holding[word]) for word in words])
    return {
        **{name.replace("popular", "order"): Array(dtype, data) for name, (dtype, data) in index.items()},
        "order.begin": Array("U32", begin.tobytes()),
        "order.places": Array("U8", b"".join(coded)),
    }


def words_of(query: str) -> Collection[str]:
    """Return the different folded words of a query; none where there is only one."""
    if not is_plain(query):
        return keys_of(query)
    words = query.replace("_", " ").split()
    return set(words) if len(words) > 1 else ()


def _listed(queries: list[str], words: list[str], places: Numbers, typed: Numbers, most: int) -> list[list[int]]:
    """Return the places of the most typed queries of every word, ascending."""
    number, owners, held = {word: place for place, word in enumerate(words)}, array("q"), array("q")
    for place, query in zip(places.tolist(), queries, strict=True):
        for word in words_of(query):
            if word in number:
                owners.append(number[word])
                held.append(place)
    owner, at = np.frombuffer(owners, np.int64), np.frombuffer(held, np.int64)
    by_count = np.lexsort((at, -typed[at], owner))
    lists = np.split(at[by_count], np.flatnonzero(np.diff(owner[by_count])) + 1)
    return [np.sort(each[:most]).tolist() for each in lists]


def _coded(places: list[int]) -> bytes:
    """Return the differences of ascending numbers as base-128 integers, low digits first."""
    coded, before = bytearray(), 0
    for place in places:
        step, before = place - before, place
        while step >= 128:
            coded.append(step % 128 + 128)
            step //= 128
        coded.append(step)
    return bytes(coded)
