"""Whole columns of a log at a time: normalising queries, reading times and counts, drawing lots.

Every function equals a plain one that works on one value; the arrow kernels only make the common case fast.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute

from halfword.core.scrub import query_of
from halfword.core.text import Profile
from halfword.data.times import microseconds

pc: Any = pyarrow.compute  # its stubs know too little of scalars
Column = Any  # an array of pyarrow; which one, its place says

WHITE_SPACE = " \t\n\x0b\x0c\r\x1c\x1d\x1e\x1f"  # what str.split() splits at, of ASCII
_UNUSUAL = r"[^ -~]|  "  # anything that is not printable ASCII, and double spaces
_PERHAPS_PRIVATE = r"|@|\d{6}|\d[ ().\-/]{1,2}\d"
_LARGEST_COUNT = 2**53 - 1  # up to here a floating-point number is exact


def queries_of(texts: Column, profile: Profile) -> Column:
    """Return `query_of` of every text; only unusual ones leave the arrow kernels."""
    usual = pc.ascii_trim(pc.ascii_lower(texts), characters=WHITE_SPACE)
    pattern = _UNUSUAL + (_PERHAPS_PRIVATE if profile.scrub else "")
    unusual = pc.match_substring_regex(usual, pattern=pattern)
    if not pc.any(unusual).as_py():
        return usual
    different = texts.filter(unusual).dictionary_encode()
    queries = pa.array([query_of(text, profile) for text in different.dictionary.to_pylist()], pa.string())
    return pc.replace_with_mask(usual, pc.fill_null(unusual, False), queries.take(different.indices))


def times_of(texts: Column) -> Column:
    """Return `microseconds` of every text, null where it is no time."""
    trimmed = pc.ascii_trim(texts, characters=WHITE_SPACE)
    for kind in (pa.timestamp("us"), pa.timestamp("us", "UTC")):
        try:
            return trimmed.cast(kind).cast(pa.int64())
        except pa.ArrowInvalid:
            continue  # one that does not fit fails the whole column
    return _each(trimmed, microseconds)


def whole_number(text: str) -> int | None:
    """Return the number from 1 up that `text` spells, or None."""
    digits = text.strip().lstrip("0")
    short = digits.isascii() and digits.isdigit() and len(digits) <= len(str(_LARGEST_COUNT))
    return int(digits) if short and int(digits) <= _LARGEST_COUNT else None


def counts_of(texts: Column) -> Column:
    """Return `whole_number` of every text, null where it is none."""
    return _each(texts, whole_number)


def draws_of(runs: npt.NDArray[np.uint64]) -> npt.NDArray[np.float64]:
    """Return a number in [0, 1) for every run, the same whenever and wherever it is asked for (SplitMix64)."""
    bits = (runs + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((bits ^ (bits >> np.uint64(31))) >> np.uint64(11)).astype(np.float64) / 2**53


def _each(texts: Column, parse: Callable[[str], int | None]) -> Column:
    encoded = texts.dictionary_encode()
    values = [parse(text) for text in encoded.dictionary.to_pylist()]
    return pa.array(values, pa.int64()).take(encoded.indices)
