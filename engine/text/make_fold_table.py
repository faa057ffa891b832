"""Print the table of `engine/text/fold_table.h`: what each character is in the key of a text, by `core/folding.py`.

python engine/text/make_fold_table.py > engine/text/fold_table.h

Only characters that a normalised text can hold and that folding changes are listed; syllables of Hangul are left out,
because the engine parts them into their letters, which are listed.
"""

import sys

from halfword.core.folding import HYPHENS, fold_character
from halfword.core.text import normalise_query

HEAD = """#pragma once

#include <array>
#include <string_view>

namespace halfword {

/// What a character is in the key of a text. Made by make_fold_table.py; do not edit.
struct FoldedCharacter {
  char32_t character;
  std::string_view key;
};

// clang-format off
constexpr std::array<FoldedCharacter, %d> fold_table{{
"""
TAIL = """}};
// clang-format on

}  // namespace halfword
"""


def is_listed(code: int) -> bool:
    """Tell whether a character is in the table."""
    character = chr(code)
    if 0xD800 <= code < 0xE000 or 0xAC00 <= code <= 0xD7A3 or character in HYPHENS:
        return False
    return fold_character(character) != character and normalise_query(character) == character


def table() -> str:
    """Return the header."""
    listed = [code for code in range(sys.maxunicode + 1) if is_listed(code)]
    return HEAD % len(listed) + "".join(map(_row, listed)) + TAIL


def _row(code: int) -> str:
    key = "".join(f"\\x{byte:02x}" if byte > 127 else chr(byte) for byte in fold_character(chr(code)).encode())
    return f'  {{{code:#x}, "{key}"}},\n'


if __name__ == "__main__":
    sys.stdout.write(table())
