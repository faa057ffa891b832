"""Words letter by letter, as they are typed: a Hangul syllable is two or three letters."""

_SYLLABLES = range(0xAC00, 0xD7A4)
_LEAD, _VOWEL, _TAIL = 0x1100, 0x1161, 0x11A7
_VOWELS, _TAILS = 21, 28


def spelled(text: str) -> str:
    """Return the letters of a text: its characters, but each Hangul syllable as its letters.

    >>> len(spelled("tea")), len(spelled("삼성"))
    (3, 6)
    """
    return text if text.isascii() else "".join(map(_letters, text))


def _letters(character: str) -> str:
    if ord(character) not in _SYLLABLES:
        return character
    number = ord(character) - _SYLLABLES.start
    tail = number % _TAILS
    letters = chr(_LEAD + number // (_VOWELS * _TAILS)) + chr(_VOWEL + number // _TAILS % _VOWELS)
    return letters + (chr(_TAIL + tail) if tail else "")


def unspelled(letters: str) -> str:
    """Return the text with these letters.

    >>> unspelled(spelled("삼성 tv"))
    '삼성 tv'
    """
    text, place = "", 0
    while place < len(letters):
        lead, vowel = ord(letters[place]) - _LEAD, ord(letters[place + 1 : place + 2] or "\0") - _VOWEL
        if not (0 <= lead < 19 and 0 <= vowel < _VOWELS):
            text, place = text + letters[place], place + 1
            continue
        tail = ord(letters[place + 2 : place + 3] or "\0") - _TAIL
        tail = tail if 0 < tail < _TAILS else 0
        text += chr(_SYLLABLES.start + (lead * _VOWELS + vowel) * _TAILS + tail)
        place += 3 if tail else 2
    return text
