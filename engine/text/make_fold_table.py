"""Print the table of `engine/text/fold_table.h`: what each character is in the key of a text, by `core/folding.py`.

python engine/text/make_fold_table.py > engine/text/fold_table.h

Only characters that a normalised text can hold and that folding changes are listed; syllables of Hangul are left out,
because the engine parts them into their letters, which are listed.
"""

import sys
from itertools import pairwise

from halfword.core.folding import HYPHENS, fold_character
from halfword.core.text import normalise_query

HEAD = """#pragma once

#include <string_view>

namespace halfword {

/// What each character is in the key of a text, one after the other: how far the character lies after the one before
/// (base 128, the high digits first, each with its high bit set), the size of its key, the key. In this form it is
/// small, and every visitor of a page downloads it. Made by make_fold_table.py; do not edit.
// clang-format off
constexpr std::string_view fold_table{
"""
TAIL = """, %d};
// clang-format on

constexpr int fold_table_size = %d;  // characters

}  // namespace halfword
"""
LINE = 24  # entries


def is_listed(code: int) -> bool:
    """Tell whether a character is in the table."""
    character = chr(code)
    if 0xD800 <= code < 0xE000 or 0xAC00 <= code <= 0xD7A3 or character in HYPHENS:
        return False
    return fold_character(character) != character and normalise_query(character) == character


def table() -> str:
    """Return the header."""
    listed = [code for code in range(sys.maxunicode + 1) if is_listed(code)]
    rows = [_row(code - before, fold_character(chr(code)).encode()) for before, code in pairwise([0, *listed])]
    lines = ["".join(map(_literal, rows[first : first + LINE])) for first in range(0, len(rows), LINE)]
    body = "\n".join(f'  "{line}"' for line in lines)
    return HEAD + body + TAIL % (sum(map(len, rows)), len(listed))


def _row(distance: int, key: bytes) -> bytes:
    digits = [distance & 127]
    while distance := distance >> 7:
        digits.insert(0, 128 | distance & 127)
    return bytes([*digits, len(key), *key])


def _literal(row: bytes) -> str:
    # Octal, because a digit may follow, and `\x` takes all that do.
    return "".join(chr(byte) if chr(byte).isascii() and chr(byte).isalpha() else f"\\{byte:03o}" for byte in row)


if __name__ == "__main__":
    sys.stdout.write(table())
