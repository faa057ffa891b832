"""The queries by their words, so that they are found whatever the order of the words (`engine/sources/other_order.h`).

Only words that several queries hold are kept, and of each word only the most typed queries. Scripts without spaces
between words have no words to put in another order.
"""

from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from halfword.core.model_file import Array
from halfword.search.model import import_engine

Numbers = NDArray[np.int64]

FEWEST = 2  # queries that hold a word
MOST = 64  # queries that are listed of a word, the most typed ones


def learn_order(counts: Mapping[str, int], most: int = MOST) -> dict[str, Array]:
    """Return the places of queries in the popularity index by their words, as arrays for a model file."""
    queries = sorted(counts, key=str.encode)
    holding = Counter(word for query in queries for word in words_of(query))
    words = sorted((word for word, number in holding.items() if number >= FEWEST), key=str.encode)
    if not words:
        return {}
    number = {word: place for place, word in enumerate(words)}
    found = [(number[word], place) for place, query in enumerate(queries) for word in words_of(query) if word in number]
    typed = np.array([counts[query] for query in queries], np.int64)
    lists = _most_typed(np.array(found, np.int64), typed, most)
    coded = [_coded(places.tolist()) for places in lists]
    begin = np.cumsum([0, *map(len, coded)]).astype("<u4")
    index = import_engine().popular_arrays([(word, holding[word]) for word in words])
    return {
        **{name.replace("popular", "order"): Array(dtype, data) for name, (dtype, data) in index.items()},
        "order.begin": Array("U32", begin.tobytes()),
        "order.places": Array("U8", b"".join(coded)),
    }


def words_of(query: str) -> Iterable[str]:
    """Return the different words of a query; none where there is only one, which has no order.

    >>> sorted(words_of("new york new york")), list(words_of("weather"))
    (['new', 'york'], [])
    """
    words = query.split()
    return set(words) if len(words) > 1 else ()


def _most_typed(found: Numbers, counts: Numbers, most: int) -> list[Numbers]:
    """Return the places of the most typed queries of every word, ascending; `found` has words and places."""
    word, place = found.T
    order = np.lexsort((place, -counts[place], word))
    lists = np.split(place[order], np.flatnonzero(np.diff(word[order])) + 1)
    return [np.sort(each[:most]) for each in lists]


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
