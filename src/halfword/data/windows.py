"""N-grams counted where the queries lie, on DuckDB or on Spark's workers, by the same Ibis expressions.

A window is what begins at one piece of a query and ends after K pieces, or with the query (see also
`engine/training/windows.h`). The counts of all windows hold those of all n-grams, which are their beginnings. Here a
window is a text with one character per piece, which both engines can compare, shorten and group.
"""

from collections.abc import Callable, Iterable
from typing import Any

import ibis  # type: ignore[import-untyped]
import numpy as np
from numpy.typing import NDArray

_FIRST = 0x100  # the character of piece 0; those before it are what people type
_SURROGATES = range(0xD800, 0xE000)  # which are no characters
MOST_TIMES = 4  # Kneser-Ney asks how many n-grams have each of the adjusted counts up to this

Cut = Callable[[str], list[str]]  # a query → its windows


def letters(pieces: Iterable[int]) -> str:
    """Return a text with one character per piece.

    >>> pieces_in(letters([0, 7, 65535])).tolist()
    [0, 7, 65535]
    """
    codes = (_FIRST + piece for piece in pieces)
    return "".join(chr(code if code < _SURROGATES.start else code + len(_SURROGATES)) for code in codes)


def pieces_in(text: str) -> NDArray[np.uint32]:
    """Return the pieces of windows that lie one after the other."""
    codes = np.frombuffer(text.encode("utf-32-le"), "<u4")
    return np.where(codes < _SURROGATES.start, codes, codes - len(_SURROGATES)).astype(np.uint32) - np.uint32(_FIRST)


def windows_of(text: str, order: int) -> list[str]:
    """Return the windows of a query that is spelled in letters, with its beginning and its end.

    >>> windows_of("(ab)", 3)
    ['(ab', 'ab)', 'b)']
    """
    return [text[place : place + order] for place in range(len(text) - 1)]


def count_windows(queries: Any, cut: Cut) -> Any:
    """Return how often each window occurs in queries, a table of query and weight."""

    @ibis.udf.scalar.python  # type: ignore[untyped-decorator]
    def windows(query: str) -> list[str]:
        return cut(query)

    each = queries.select(window=windows(queries.query), weight=queries.weight).unnest("window")
    return each.group_by("window").agg(count=each.weight.sum().cast("int64"))


def cut_rare(windows: Any, order: int, least: int) -> Any:
    """Return the windows cut before what makes them rarer than `least`; what was cut adds to what is left.

    So the counts of all n-grams that occur often enough can still be read from the windows, and no rarer one is there.
    A single piece is never cut.
    """
    for length in range(order, 1, -1):
        beginning = windows.window.left(length)
        total = windows["count"].sum().over(ibis.window(group_by=beginning))
        marked = windows.mutate(rare=(windows.window.length() == length) & (total < least))
        shorter = marked.mutate(window=marked.rare.ifelse(marked.window.left(length - 1), marked.window))
        windows = shorter.group_by("window").agg(count=shorter["count"].sum().cast("int64"))
    return windows


def adjusted_times(windows: Any, order: int, begin: str) -> list[list[int]]:
    """Return, for each length up to `order`, how many n-grams have the adjusted counts 1, 2, 3 and 4.

    The adjusted count of an n-gram is the number of pieces that it occurs after; of one that begins a query, and of one
    of the highest order, how often it occurs. `windows` must not have been cut.
    """
    return [_times(_adjusted(windows, length, order, begin)) for length in range(1, order + 1)]


def _adjusted(windows: Any, length: int, order: int, begin: str) -> Any:
    """Return the adjusted counts of the n-grams of one length."""
    if length == order:
        return windows.filter(windows.window.length() == order).select(adjusted=windows["count"])
    longer = _beginnings(windows, length + 1)
    after = longer.group_by(suffix=longer.window.substr(1)).agg(adjusted=longer.count()).select("adjusted")
    if length == 1:  # the beginning alone is never predicted
        return after
    first = _beginnings(windows.filter(windows.window.left(1) == begin), length)
    return after.union(first.select(adjusted=first["count"]))


def _beginnings(windows: Any, length: int) -> Any:
    """Return the n-grams of one length."""
    long_enough = windows.filter(windows.window.length() >= length)
    return long_enough.group_by(window=long_enough.window.left(length)).agg(count=long_enough["count"].sum())


def _times(adjusted: Any) -> list[int]:
    adjusted = adjusted.filter(adjusted.adjusted <= MOST_TIMES)
    rows = adjusted.group_by("adjusted").agg(number=adjusted.count()).to_pyarrow().to_pylist()
    found = {int(row["adjusted"]): int(row["number"]) for row in rows}
    return [found.get(count, 0) for count in range(1, MOST_TIMES + 1)]
