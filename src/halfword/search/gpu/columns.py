"""The vocabulary as tables on a device: what a batched search needs to know about a piece, without its text.

Pieces are sorted by their texts, so that those which begin with given characters are next to each other. A text is
identified by its hash, a polynomial over its bytes that does not depend on how the text is cut into pieces:
hash(text + piece) = hash(text) · power(piece) + value(piece), in 64-bit integers modulo 2^64.
"""

import random
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor

MARK = "▁".encode()
WHOLE, BROKEN = 0, 8  # states of a UTF-8 text: complete characters so far; invalid
_SPELLED_KINDS, _BYTE_KIND = (1, 4), 6
_MODULUS = 2**64
_CHANCE = random.Random(20190901)
_BASE = _CHANCE.getrandbits(64) | 1
_BYTE_VALUES = [_CHANCE.getrandbits(64) for _ in range(256)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """The pieces in the order of the columns: sorted by text, then single bytes, then those that spell nothing."""

    pieces: Tensor  # (columns): the piece of a column
    places: Tensor  # (pieces): the column of a piece
    spelled: int  # the search may choose only the first so many columns
    words: tuple[int, int]  # first and last + 1 of the columns whose pieces begin with a space
    end: int  # the column that ends a query
    begin: int
    ends_space: Tensor  # (columns): whether the text ends with a space
    powers: Tensor  # (columns)
    values: Tensor  # (columns)
    heads: Tensor  # (columns, bytes): the hashes of the beginnings of a text, by number of bytes
    shrinks: Tensor  # (bytes): the inverse of the power of so many bytes
    wholeness: Tensor | None  # (states, columns): the state after a piece; None if no piece is a single byte


def make_columns(arrays: Mapping[str, NDArray[Any]], device: torch.device) -> Columns:
    """Build the tables from the pieces of a model file."""
    texts = _surfaces(arrays)
    kinds = arrays["pieces.kind"].tolist()
    by_text = sorted((piece for piece, kind in enumerate(kinds) if kind in _SPELLED_KINDS), key=texts.__getitem__)
    single = [piece for piece, kind in enumerate(kinds) if kind == _BYTE_KIND]
    others = sorted(set(range(len(texts))) - set(by_text) - set(single))
    order = by_text + single + others
    texts = [texts[piece] for piece in order]
    places = torch.empty(len(order), dtype=torch.int64)
    places[torch.tensor(order)] = torch.arange(len(order))
    words = [column for column in range(len(by_text)) if texts[column].startswith(MARK)]
    _, _, begin, end = (int(special) for special in arrays["pieces.special"])
    longest = max(map(len, texts))
    heads = [[*_hashes(text), *[0] * (longest - len(text))] for text in texts]
    undo = pow(_BASE, -1, _MODULUS)
    return Columns(
        pieces=torch.tensor(order, device=device),
        places=places.to(device),
        spelled=len(by_text) + len(single),
        words=(words[0], words[-1] + 1) if words else (0, 0),
        end=int(places[end]),
        begin=int(places[begin]),
        ends_space=torch.tensor([text.endswith(MARK) for text in texts], device=device),
        powers=_signed([pow(_BASE, len(text), _MODULUS) for text in texts], device),
        values=_signed([head[len(text)] for head, text in zip(heads, texts, strict=True)], device),
        heads=torch.stack([_signed(head, device) for head in heads]),
        shrinks=_signed([pow(undo, length, _MODULUS) for length in range(longest + 1)], device),
        wholeness=_wholeness(texts, len(by_text), len(single)).to(device) if single else None,
    )


def _surfaces(arrays: Mapping[str, NDArray[Any]]) -> list[bytes]:
    """Return the bytes that each piece adds to a text."""
    text = arrays["pieces.text"].tobytes()
    spelled = [text[begin:end] for begin, end in pairwise(arrays["pieces.begin"].tolist())]
    kinds = arrays["pieces.kind"].tolist()
    return [
        bytes([int(piece[3:5], 16)]) if kind == _BYTE_KIND else piece if kind in _SPELLED_KINDS else b""
        for piece, kind in zip(spelled, kinds, strict=True)
    ]


def _hashes(text: bytes) -> list[int]:
    """Return the hashes of all beginnings of `text`, the empty one first."""
    return list(accumulate(text, lambda value, byte: (value * _BASE + _BYTE_VALUES[byte]) % _MODULUS, initial=0))


def _signed(values: list[int], device: torch.device) -> Tensor:
    return torch.tensor([value - _MODULUS * (value >= _MODULUS // 2) for value in values], device=device)


def _wholeness(texts: list[bytes], whole: int, single: int) -> Tensor:
    """Return the state after each piece, by the state before; the first `whole` pieces are complete characters."""
    table = torch.full((BROKEN + 1, len(texts)), BROKEN)
    table[WHOLE, :whole] = WHOLE
    for column in range(whole, whole + single):
        for state in range(BROKEN):
            table[state, column] = _after_byte(state, texts[column][0])
    return table


def _after_byte(state: int, byte: int) -> int:
    """Return the state of a UTF-8 text after one more byte; 1 to 3: bytes missing, 4 to 7: certain bytes expected."""
    if state == WHOLE:
        leads = [(0, 0x7F, WHOLE), (0xC2, 0xDF, 1), (0xE0, 0xE0, 4), (0xED, 0xED, 5), (0xE1, 0xEF, 2)]
        leads += [(0xF0, 0xF0, 6), (0xF1, 0xF3, 3), (0xF4, 0xF4, 7)]
        return next((after for first, last, after in leads if first <= byte <= last), BROKEN)
    first, last, after = {
        1: (0x80, 0xBF, WHOLE),
        2: (0x80, 0xBF, 1),
        3: (0x80, 0xBF, 2),
        4: (0xA0, 0xBF, 1),
        5: (0x80, 0x9F, 1),
        6: (0x90, 0xBF, 2),
        7: (0x80, 0x8F, 2),
    }[state]
    return after if first <= byte <= last else BROKEN
