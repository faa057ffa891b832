"""Numbers as base-128 integers: seven bits per byte, low digits first; all bytes of a number but its last are ≥ 128."""

import numpy as np
from numpy.typing import NDArray

from halfword.training.kneser_ney import Numbers

Bytes = NDArray[np.uint8]

_DIGITS = 5  # enough for 2^35


def number_sizes(values: Numbers) -> Numbers:
    """Return how many bytes each number takes.

    >>> number_sizes(np.array([0, 127, 128, 20_000])).tolist()
    [1, 1, 2, 3]
    """
    sizes: Numbers = np.ones(len(values), np.int64)
    for digit in range(1, _DIGITS):
        sizes += values >= 1 << 7 * digit
    return sizes


def code_numbers(values: Numbers) -> Bytes:
    """Return some numbers below 2^35 one after the other.

    >>> code_numbers(np.array([5, 300])).tolist()
    [5, 172, 2]
    """
    sizes = number_sizes(values)
    ends = np.cumsum(sizes)
    coded = np.empty(int(sizes.sum()), np.uint8)
    for digit in range(_DIGITS):
        has = sizes > digit
        more = np.where(sizes[has] > digit + 1, 128, 0)
        coded[(ends - sizes)[has] + digit] = values[has] >> 7 * digit & 127 | more
    return coded


def read_numbers(coded: Bytes) -> Numbers:
    """Return the numbers that `code_numbers` has coded.

    >>> read_numbers(np.array([5, 172, 2], np.uint8)).tolist()
    [5, 300]
    """
    if not len(coded):
        return np.empty(0, np.int64)
    ends = np.flatnonzero(coded < 128) + 1
    begins = np.concatenate([[0], ends[:-1]])
    place = np.arange(len(coded)) - np.repeat(begins, ends - begins)
    return np.add.reduceat((coded & 127).astype(np.int64) << 7 * place, begins)
