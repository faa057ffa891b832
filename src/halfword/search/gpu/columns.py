"""The vocabulary as tables on a device: what a batched search must know of a piece without spelling it.

Pieces are put in the order of their texts, so that those which begin with given characters lie side by side. A text is
known by its hash, a polynomial over its bytes that does not depend on how the text is cut into pieces:
hash(text + piece) = hash(text) · power(piece) + value(piece), in integers of 64 bits that wrap round.
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
WHOLE, BROKEN = 0, 8  # states of a text in UTF-8: whole characters so far, and beyond repair
_SPELLED_KINDS, _BYTE_KIND = (1, 4), 6
_MODULUS = 2**64
_CHANCE = random.Random(20190901)
_BASE = _CHANCE.getrandbits(64) | 1
_BYTE_VALUES = [_CHANCE.getrandbits(64) for _ in range(256)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """The pieces in the order of the columns: those that spell something by text, single bytes, and the others."""

    pieces: Tensor  # (columns): which piece it is
    places: Tensor  # (pieces): which column it is
    spelled: int  # this many columns, the first, may be chosen by a search
    words: tuple[int, int]  # the columns whose pieces begin with a space
    end: int  # the column that ends a query
    begin: int
    ends_space: Tensor  # (columns): whether the text ends in a space
    powers: Tensor  # (columns)
    values: Tensor  # (columns)
    heads: Tensor  # (columns, bytes): the hash of a text's first bytes
    shrinks: Tensor  # (bytes): what undoes the power of so many bytes
    wholeness: Tensor | None  # (states, columns): the state after a piece; none where no piece is a single byte


def make_columns(arrays: Mapping[str, NDArray[Any]], device: torch.device) -> Columns:
    """Order the pieces of a model file."""
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
    """Return what each piece adds to a text."""
    text = arrays["pieces.text"].tobytes()
    spelled = [text[begin:end] for begin, end in pairwise(arrays["pieces.begin"].tolist())]
    kinds = arrays["pieces.kind"].tolist()
    return [
        bytes([int(piece[3:5], 16)]) if kind == _BYTE_KIND else piece if kind in _SPELLED_KINDS else b""
        for piece, kind in zip(spelled, kinds, strict=True)
    ]


def _hashes(text: bytes) -> list[int]:
    """Return the hash of every beginning of `text`, the empty one first."""
    return list(accumulate(text, lambda value, byte: (value * _BASE + _BYTE_VALUES[byte]) % _MODULUS, initial=0))


def _signed(values: list[int], device: torch.device) -> Tensor:
    return torch.tensor([value - _MODULUS * (value >= _MODULUS // 2) for value in values], device=device)


def _wholeness(texts: list[bytes], whole: int, single: int) -> Tensor:
    """Return the state of a text after each piece, by the state before: the first `whole` are of whole characters."""
    table = torch.full((BROKEN + 1, len(texts)), BROKEN)
    table[WHOLE, :whole] = WHOLE
    for column in range(whole, whole + single):
        for state in range(BROKEN):
            table[state, column] = _after_byte(state, texts[column][0])
    return table


def _after_byte(state: int, byte: int) -> int:
    """Return the state of a text in UTF-8 after one more byte: 1 to 3 wait for as many, 4 to 7 for certain ones."""
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
