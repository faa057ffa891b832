"""Reads the sorted, front-coded texts of a model file (`engine/store/sorted_texts.h`)."""

_BUCKET = 16  # texts that are front-coded together


def read_texts(coded: bytes, size: int) -> list[str]:
    """Return the texts of which `coded` holds so many."""
    texts: list[str] = []
    before, at = b"", 0
    for place in range(size):
        shared = 0
        if place % _BUCKET:
            shared, at = coded[at], at + 1
        length, at = _number(coded, at)
        before = before[:shared] + coded[at : at + length]
        at += length
        texts.append(before.decode())
    return texts


def _number(coded: bytes, at: int) -> tuple[int, int]:
    """Return a base-128 integer, low digits first, and where it ends."""
    value, shift = 0, 0
    while True:
        byte = coded[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
