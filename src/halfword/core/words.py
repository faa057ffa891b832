"""What a word is: what stands between spaces, but in scripts without spaces every character is one by itself."""

import re

# Thai, Lao, Burmese, Khmer; kana; Chinese characters. `engine/text/words.h` has the same ranges.
_WITHOUT_SPACES = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_CHARACTER = re.compile(rf"[{_WITHOUT_SPACES}]")
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_WORD = re.compile(rf"[{_WITHOUT_SPACES}]|[^ {_WITHOUT_SPACES}]+")


def words_in(text: str) -> list[str]:
    """Return the words of a query.

    >>> words_in("new york 手机 case")
    ['new', 'york', '手', '机', 'case']
    """
    return text.split() if text.isascii() else _WORD.findall(text)


def is_han(text: str) -> bool:
    """Tell whether a text holds a Chinese character.

    >>> is_han("手机 case"), is_han("ケース")
    (True, False)
    """
    return not text.isascii() and _HAN.search(text) is not None


def is_without_spaces(text: str) -> bool:
    """Tell whether a text holds a character of a script that is written without spaces.

    >>> is_without_spaces("手机 case"), is_without_spaces("café")
    (True, False)
    """
    return not text.isascii() and _CHARACTER.search(text) is not None
