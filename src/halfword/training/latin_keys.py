"""What is typed on other keys than it seems: romaji for kana, and words typed on the wrong keyboard.

Japanese is typed in Latin letters, which an input method turns into kana one by one: `たまg` will be `たまご`. Who
types Russian, Greek, Hebrew, Arabic or Korean often forgets to switch the keyboard: `gskt` stands for `пылесос`. A
query has such keys where Chinese has those by pinyin (`pinyin.py`, `engine/sources/pinyin.h`); they are looked at only
where no query goes on from what was typed.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from itertools import chain

_OTHER_SCRIPT = 0.2  # share of the rows; fewer do not tell that people have another keyboard
_KANA = re.compile("[\u3041-\u3096\u30a1-\u30fa]")

# The letters on the keys of a row, from left to right, of the usual keyboards; what needs another key is left out.
_ROWS = ("qwertyuiop[]", "asdfghjkl;", "zxcvbnm,.")
_KEYBOARDS = (
    ("йцукенгшщзхъ", "фывапролдж", "ячсмитьбю"),  # Russian
    ("йцукенгшщзхї", "фівапролдж", "ячсмитьбю"),  # Ukrainian
    (" ςερτυθιοπ", "ασδφγηξκλ", "ζχψωβνμ"),  # Greek
    ("  קראטוןםפ", "שדגכעיחלךף", "זסבהנמצתץ"),  # Hebrew
    ("ضصثقفغعهخحجد", "شسيبلاتنمك", "ئءؤر ىةوز"),  # Arabic
)
_LEADS = "rRseEfaqQtTdwWczxvg"  # of Korean syllables, in the order of Unicode
_VOWELS = re.split(" ", "k o i O j p u P h hk ho hl y n nj np nl b m ml l")
_TAILS = re.split(" ", " r R rt s sw sg e f fr fa fq ft fx fv fg a q qt t T d w c z x v g")

_VOWEL_ROWS = {
    "": "あいうえお",
    "k": "かきくけこ",
    "s": "さしすせそ",
    "t": "たちつてと",
    "n": "なにぬねの",
    "h": "はひふへほ",
    "m": "まみむめも",
    "y": "や ゆ よ",
    "r": "らりるれろ",
    "w": "わ   を",
    "g": "がぎぐげご",
    "z": "ざじずぜぞ",
    "d": "だぢづでど",
    "b": "ばびぶべぼ",
    "p": "ぱぴぷぺぽ",
}
_ROMAJI = {
    letter: consonant + vowel
    for consonant, row in _VOWEL_ROWS.items()
    for letter, vowel in zip(row, "aiueo", strict=False)
    if letter != " "
} | {"ん": "n", "っ": "", "ー": "-"}
_HEPBURN = {"し": "shi", "ち": "chi", "つ": "tsu", "ふ": "fu", "じ": "ji"}
_SMALL = dict(zip("ぁぃぅぇぉゃゅょ", ["a", "i", "u", "e", "o", "a", "u", "o"], strict=True))


def _key_of() -> dict[str, str]:
    """Return the keys of each letter that is on one of the keyboards."""
    rows = ((keys, letters) for board in _KEYBOARDS for keys, letters in zip(_ROWS, board, strict=True))
    pairs = chain.from_iterable(zip(letters, keys, strict=False) for keys, letters in rows)
    return {letter: key for letter, key in pairs if letter != " "}


_KEY_OF = _key_of()


def usual_keyboard(counts: Mapping[str, int]) -> dict[str, str]:
    """Return the letter on each Latin key of the keyboard with which most of a log is typed; none if that is Latin.

    >>> keyboard = usual_keyboard({"пылесос": 9, "samsung": 5})
    >>> "".join(keyboard[key] for key in "samsung"), usual_keyboard({"samsung": 5, "café": 2})
    ('ыфьыгтп', {})
    """
    typed = Counter[int]()
    boards = [dict(zip("".join(_ROWS), "".join(board), strict=False)) for board in map(_filled, _KEYBOARDS)]
    letters = [set(board.values()) - {" "} for board in boards]
    for query, count in counts.items():
        if not query.isascii():
            for number, board in enumerate(letters):
                typed[number] += count * sum(letter in board for letter in query)
    if sum(count for query, count in counts.items() if not query.isascii()) < _OTHER_SCRIPT * sum(counts.values()):
        return {}
    number, often = max(typed.items(), key=lambda each: (each[1], -each[0]), default=(0, 0))
    return {key: letter for key, letter in boards[number].items() if letter != " "} if often else {}


def _filled(board: tuple[str, ...]) -> tuple[str, ...]:
    """Return the rows of a keyboard with a space for each key that has no letter."""
    return tuple(row.ljust(len(keys)) for row, keys in zip(board, _ROWS, strict=True))


def has_kana(text: str) -> bool:
    """Tell whether a text holds kana.

    >>> has_kana("たまご"), has_kana("卵")
    (True, False)
    """
    return not text.isascii() and _KANA.search(text) is not None


def on_latin_keys(query: str) -> list[str] | None:
    """Return what is typed for each character of a query if the keyboard was not switched; None if all are Latin.

    >>> on_latin_keys("пылесос"), on_latin_keys("한국"), on_latin_keys("usb")
    (['g', 's', 'k', 't', 'c', 'j', 'c'], ['gks', 'rnr'], None)
    """
    if query.isascii():
        return None
    typed = [_key(character) for character in query]
    known = any(each != character for each, character in zip(typed, query, strict=True))
    return typed if known and all(each.isascii() for each in typed) else None


def _key(character: str) -> str:
    """Return the keys of a character; the character itself if it is on none of the keyboards."""
    if "가" <= character <= "힣":
        syllable, tail = divmod(ord(character) - ord("가"), len(_TAILS))
        lead, vowel = divmod(syllable, len(_VOWELS))
        return (_LEADS[lead] + _VOWELS[vowel] + _TAILS[tail]).lower()
    plain = unicodedata.normalize("NFD", character)[0]
    return _KEY_OF.get(character) or _KEY_OF.get(plain, character)


def in_hiragana(text: str) -> str:
    """Return a text with hiragana for katakana, as it is typed before it is converted."""
    return "".join(chr(ord(letter) - 0x60) if "ァ" <= letter <= "ヶ" else letter for letter in text)


def in_romaji(query: str) -> list[list[str]]:
    """Return the ways in which a query with kana is typed, each what is typed for every character; others stay.

    >>> in_romaji("たまご"), in_romaji("カツ丼")
    ([['ta', 'ma', 'go']], [['ka', 'tu', '丼'], ['ka', 'tsu', '丼']])
    """
    hiragana, ways = in_hiragana(query), []
    for table in (_ROMAJI, _ROMAJI | _HEPBURN):
        typed = [table.get(letter, letter) for letter in hiragana]
        for place, letter in enumerate(hiragana):
            if letter in _SMALL:
                typed[place] = _SMALL[letter]
                if letter in "ゃゅょ" and place and hiragana[place - 1] in table:
                    typed[place - 1] = _before_small(typed[place - 1])
            if letter == "っ" and place + 1 < len(typed):
                typed[place] = typed[place + 1][:1]
        if typed not in ways:
            ways.append(typed)
    return ways


def _before_small(typed: str) -> str:
    """Return what is typed for a syllable before a small letter: `ki` is `ky`, `shi` is `sh`."""
    stem = typed.removesuffix("i")
    return stem if stem in ("sh", "ch", "j") else f"{stem}y"
