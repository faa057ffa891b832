"""Words behind a disguise: `p0rn`, `s.e.x`, `s e x`, `pørn`.

A text has several readings. The first is the text as it is. Others read signs as spaces, digits as the letters they
look like, and single letters in a row as one word.
"""

import re
import unicodedata

_APOSTROPHES = str.maketrans("", "", "'’`")
_SIGNS = re.compile(r"[^\w\s]|_")
_SPELLED = re.compile(r"(?<!\S)\w(?: \w){2,}(?!\S)")
_MIXED = re.compile(r"(?<!\S)(?=\S*[a-z])(?=\S*[0-9@$!*+|])\S+")
_LOOKS_LIKE = str.maketrans("013457@$!|+", "oieastasiit")
# Letters of other scripts that look like Latin ones; NFKD does not know them.
_LOOK_ALIKE = str.maketrans("øłđıаеорсухіѕԁοαεινρτυκ", "oldiaeopcyxisdoaeivptuk")


def readings(text: str) -> list[list[str]]:
    """Return the words of a normalised text as it is and, where it differs, as somebody may mean it.

    >>> readings("new york")
    [['new', 'york']]
    >>> readings("p0rn s.e.x")
    [['p0rn', 's.e.x'], ['p0rn', 's', 'e', 'x'], ['porn', 'sex']]
    """
    words = text.split()
    found = [words]
    if is_plain(text, words):
        return found
    for reading in (
        _SIGNS.sub(" ", text).split(),
        _SIGNS.sub(" ", text.translate(_APOSTROPHES)).split(),
        _undisguised(text),
    ):
        if reading and reading not in found:
            found.append(reading)
    return found


def is_plain(text: str, words: list[str]) -> bool:
    """Tell whether a text can be read in one way only."""
    joined = "".join(words)
    if not (joined.isascii() and joined.isalpha()):
        return False
    return len(words) < 3 or min(map(len, words)) > 1 or not _SPELLED.search(text)


def _undisguised(text: str) -> list[str]:
    """Return the words of a text with digits and foreign letters read as Latin ones, spelled words joined."""
    if not text.isascii():
        text = " ".join(_latin(word) for word in text.split())
    text = _MIXED.sub(lambda match: match[0].translate(_LOOKS_LIKE), text)
    text = " ".join(_SIGNS.sub(" ", text.translate(_APOSTROPHES)).split())
    return _SPELLED.sub(lambda match: match[0].replace(" ", ""), text).split()


def _latin(word: str) -> str:
    """Return a word without accents, and its look-alike letters as Latin ones if it has Latin letters too."""
    bare = "".join(each for each in unicodedata.normalize("NFKD", word) if not unicodedata.combining(each))
    return bare.translate(_LOOK_ALIKE) if any("a" <= each <= "z" for each in bare) else word
