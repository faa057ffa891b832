"""Folding: the key of a text, which is the same for spellings that people do not tell apart.

`fold` takes a normalised text (`core/text.py`) and leaves out or replaces, character by character:

- accents and other marks above, below or across a letter (`é` → `e`), the points of Hebrew and Arabic, and tatweel. The
  marks of other scripts stay, because they are letters there (`が`, `की`), and so does `й`;
- letters with a stroke and ligatures (`ø` → `o`, `æ` → `ae`, `ß` → `ss`), dotless `ı` (→ `i`), final sigma;
- `ä`, `ö` and `ü`, which lose their points, or become `ae`, `oe` and `ue` if asked for, as who has no such keys writes;
- apostrophes of every kind; hyphens and dashes, which become nothing, or a space if asked for;
- katakana, which becomes hiragana; decimal digits of other scripts, which become ASCII; Arabic `ى` and `ة`;
- Hangul, which becomes the letters that are typed, one after the other: `삼성` → `ㅅㅏㅁㅅㅓㅇ`. So a syllable that is
  half typed is the beginning of a key.

Full and half width, capitals and the dot of `İ` are gone already, or are a mark: a normalised text is NFKC and lower
case. This module is the definition. The engine has the same rules as a table (`engine/text/fold_table.h`), made from
this one by `engine/text/make_fold_table.py`.
"""

import unicodedata
from functools import lru_cache

from halfword.core.text import common_beginning

APOSTROPHES = frozenset("'`´ʹʻʼʽˈ՚׳‘’‛′")
HYPHENS = frozenset("-‐‑‒–—―−־")
SIGNS = APOSTROPHES | HYPHENS  # which join the parts of a word
_LETTERS = str.maketrans(
    dict(zip("øłđðħŧıȷŀƀɨʉɵŋĸ", "olddhtijlbiuonk", strict=True))
    | {"æ": "ae", "œ": "oe", "þ": "th", "ß": "ss", "ς": "σ", "ى": "ي", "ة": "ه", "\u0640": ""}
)
_UMLAUTS = {"ä": "ae", "ö": "oe", "ü": "ue"}
_KEPT = frozenset("й")  # its mark makes another letter of it, which nobody leaves out
_MARKS = (  # the first and the last of each range
    (0x300, 0x36F),
    (0x591, 0x5BD),
    (0x5BF, 0x5BF),
    (0x5C1, 0x5C2),
    (0x5C4, 0x5C5),
    (0x5C7, 0x5C7),
    (0x610, 0x61A),
    (0x64B, 0x65F),
    (0x670, 0x670),
    (0x1AB0, 0x1AFF),
    (0x1DC0, 0x1DFF),
    (0x20D0, 0x20FF),
    (0xFE20, 0xFE2F),
)
_LEADS = "ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ"
_VOWELS = "ㅏ,ㅐ,ㅑ,ㅒ,ㅓ,ㅔ,ㅕ,ㅖ,ㅗ,ㅗㅏ,ㅗㅐ,ㅗㅣ,ㅛ,ㅜ,ㅜㅓ,ㅜㅔ,ㅜㅣ,ㅠ,ㅡ,ㅡㅣ,ㅣ"
_TAILS = "ㄱ,ㄲ,ㄱㅅ,ㄴ,ㄴㅈ,ㄴㅎ,ㄷ,ㄹ,ㄹㄱ,ㄹㅁ,ㄹㅂ,ㄹㅅ,ㄹㅌ,ㄹㅍ,ㄹㅎ,ㅁ,ㅂ,ㅂㅅ,ㅅ,ㅆ,ㅇ,ㅈ,ㅊ,ㅋ,ㅌ,ㅍ,ㅎ"
_JAMO = (
    {chr(0x1100 + place): letter for place, letter in enumerate(_LEADS)}
    | {chr(0x1161 + place): letter for place, letter in enumerate(_VOWELS.split(","))}
    | {chr(0x11A8 + place): letter for place, letter in enumerate(_TAILS.split(","))}
)


def fold(text: str, hyphen: str = "", *, umlauts: bool = False) -> str:
    """Return the key of a normalised text; a hyphen becomes `hyphen`, and umlauts become two letters if asked for.

    >>> fold("crème brûlée"), fold("i̇stanbul"), fold("straße"), fold("men's"), fold("t-shirt"), fold("t-shirt", " ")
    ('creme brulee', 'istanbul', 'strasse', 'mens', 'tshirt', 't shirt')
    >>> fold("müll"), fold("müll", umlauts=True)
    ('mull', 'muell')
    """
    letters = _UMLAUTS if umlauts else {}
    return "".join(hyphen if each in HYPHENS else letters.get(each) or fold_character(each) for each in text)


def keys(text: str) -> list[str]:
    """Return the keys of a text: more than one only if it has an umlaut, which may be written as two letters, or a
    hyphen, which stands for a space or for nothing.

    A key without a letter is none, because it would be the key of everything. A hyphen at the end is only read as a
    space, because the letter that would be joined is not there yet.

    >>> keys("new york"), keys("t-shirt"), keys("t-"), keys("-")
    (['new york'], ['tshirt', 't shirt'], ['t '], [])
    >>> keys("müll")
    ['mull', 'muell']
    """
    if is_plain(text):
        return [text] if text.strip() else []
    hyphens = [" "] if text[-1:] in HYPHENS else ["", " "]
    found = dict.fromkeys(fold(text, hyphen, umlauts=umlauts) for umlauts in (False, True) for hyphen in hyphens)
    return [key for key in found if key.strip()]


def is_plain(text: str) -> bool:
    """Tell whether a text is surely its own only key; much faster than folding it."""
    return text.isascii() and not ("'" in text or "-" in text or "`" in text)


@lru_cache(maxsize=4096)
def fold_character(character: str) -> str:
    """Return what one character of a normalised text is in its key."""
    if character in SIGNS:
        return ""
    if character in _KEPT or character.isascii():
        return character
    return "".join(_fold_part(part) for part in unicodedata.normalize("NFD", character))


def _fold_part(part: str) -> str:
    """Return what one character is that cannot be parted into a letter and its marks."""
    code = ord(part)
    if any(first <= code <= last for first, last in _MARKS):
        return ""
    if part in _JAMO:
        return _JAMO[part]
    if 0x30A1 <= code <= 0x30F6:
        return chr(code - 0x60)
    digit = unicodedata.decimal(part, None)
    return part.translate(_LETTERS) if digit is None else str(digit)


def covered(text: str, key: str) -> int | None:
    """Return how many characters of `text` stand for `key`; None if the text does not begin with it.

    Its spaces count unless it begins with the key only without them.

    >>> covered("crème brûlée", "creme br"), covered("삼성", "ㅅㅏㅁㅅ"), covered("t-shirt", "t s"), covered("tea", "b")
    (8, 2, 3, None)
    >>> covered("x ray", "xr")
    3
    """
    ways = [(hyphen, " ", umlauts) for umlauts in (False, True) for hyphen in ("", " ")]
    lengths = (_covered(text, key, *way) for way in [*ways, ("", "", False)])
    return next((length for length in lengths if length is not None), None)


def matched(text: str, typed: str) -> int:
    """Return how many characters of a completion stand for what was typed, so that the others can be highlighted.

    >>> matched("new york", "new y"), matched("men's shoes", "mens s"), matched("new york", "ny")
    (5, 7, 1)
    """
    if text.startswith(typed):
        return len(typed)
    alike = (covered(text, key) for key in keys(typed))
    return next((length for length in alike if length is not None), common_beginning(text, typed))


def _covered(text: str, key: str, hyphen: str, space: str, umlauts: bool) -> int | None:
    folded = ""
    for length, character in enumerate(text):
        if len(folded) >= len(key):
            return length if folded.startswith(key) else None
        folded += space if character == " " else fold(character, hyphen, umlauts=umlauts)
    return len(text) if folded.startswith(key) else None
