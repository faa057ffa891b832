"""Work on whole columns of a log: normalising queries, reading times and counts, drawing random numbers.

Each function gives the same result as a plain function of one value; Arrow only makes the common case fast.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute

from halfword.core.scrub import PERHAPS_PERSONAL, query_of
from halfword.core.text import Profile
from halfword.data.times import microseconds

pc: Any = pyarrow.compute  # its type stubs lack most functions
Column = Any  # an array of pyarrow

WHITE_SPACE = " \t\n\x0b\x0c\r\x1c\x1d\x1e\x1f"  # the ASCII characters at which str.split() splits
_UNUSUAL = r"[^ -~]|  "  # anything that is not printable ASCII, and double spaces
_LARGEST_COUNT = 2**53 - 1  # up to here a floating-point number is exact


def queries_of(texts: Column, profile: Profile, longest: int | None = None) -> Column:
    """Return `query_of` each text; only unusual texts are handled one by one in Python."""
    # Trimming comes first because it copies. A slice of a large_string column that was cast to string shares the buffer
    # of the whole column, and ascii_lower of Arrow 26 then returns wrong texts.
    usual = pc.ascii_lower(pc.ascii_trim(texts, characters=WHITE_SPACE))
    unusual = pc.match_substring_regex(usual, pattern=_UNUSUAL)
    if profile.scrub:
        unusual = pc.or_(unusual, _perhaps_personal(usual))
    if not pc.any(unusual).as_py():
        return usual
    different = texts.filter(unusual).dictionary_encode()
    queries = pa.array([query_of(text, profile, longest) for text in different.dictionary.to_pylist()], pa.string())
    return pc.replace_with_mask(usual, pc.fill_null(unusual, False), queries.take(different.indices))


def displays_of(texts: Column, queries: Column) -> Column:
    """Return each text with its capitals, where they are all that it differs in from its query; null elsewhere.

    So nothing is kept that normalising or scrubbing took out.
    """
    spaced = pc.replace_substring_regex(pc.utf8_trim_whitespace(texts), pattern=r"\s+", replacement=" ")
    capitals = pc.and_(pc.equal(pc.utf8_lower(spaced), queries), pc.not_equal(spaced, queries))
    return pc.if_else(pc.fill_null(capitals, False), spaced, pa.scalar(None, pa.string()))


def _perhaps_personal(queries: Column) -> Column:
    fast, strict = PERHAPS_PERSONAL
    perhaps = pc.fill_null(pc.match_substring_regex(queries, pattern=fast), False)
    return pc.replace_with_mask(perhaps, perhaps, pc.match_substring_regex(queries.filter(perhaps), pattern=strict))


def as_time(values: Column) -> Column:
    """Return timestamps of any unit in microseconds, whatever their time zone; text stays text."""
    if pa.types.is_timestamp(values.type):
        # Only the step from nanoseconds loses anything; in all others a loss would be an overflow, which is an error.
        return values.cast(pa.timestamp("us", values.type.tz), safe=values.type.unit != "ns")
    return values.cast(pa.timestamp("us") if pa.types.is_date(values.type) else pa.string())


def times_of(texts: Column, time_format: str | None = None) -> Column:
    """Return `microseconds` of each text, null where it is not a time."""
    trimmed = pc.ascii_trim(texts, characters=WHITE_SPACE)
    if time_format is not None:
        return _each(trimmed, lambda text: microseconds(text, time_format))
    for kind in (pa.timestamp("us"), pa.timestamp("us", "UTC")):
        try:
            return trimmed.cast(kind).cast(pa.int64())
        except pa.ArrowInvalid:
            continue  # one text that does not fit fails the whole column
    return _each(trimmed, microseconds)


def whole_number(text: str) -> int | None:
    """Return the whole number of 1 or more that `text` spells, or None."""
    digits = text.strip().lstrip("0")
    short = digits.isascii() and digits.isdigit() and len(digits) <= len(str(_LARGEST_COUNT))
    return int(digits) if short and int(digits) <= _LARGEST_COUNT else None


def counts_of(texts: Column) -> Column:
    """Return `whole_number` of each text, null where there is none."""
    return _each(texts, whole_number)


def draws_of(runs: npt.NDArray[np.uint64]) -> npt.NDArray[np.float64]:
    """Return a random number in [0, 1) for each run number, always the same one for the same number (SplitMix64)."""
    bits = (runs + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((bits ^ (bits >> np.uint64(31))) >> np.uint64(11)).astype(np.float64) / 2**53


def _each(texts: Column, parse: Callable[[str], int | None]) -> Column:
    encoded = texts.dictionary_encode()
    values = [parse(text) for text in encoded.dictionary.to_pylist()]
    return pa.array(values, pa.int64()).take(encoded.indices)
