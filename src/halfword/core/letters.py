"""The letters of a text, which are the same in other spellings of it."""

import re

_LEAD = re.compile(r"(https?:?/*)?(www[. ]?)?")
_DOMAIN = re.compile(r"(\.(ac|co|com|edu|gov|net|org)\.[a-z]{2}|\.[a-z]{2,4})\Z")
_SIGNS = bytes(byte for byte in range(128) if not chr(byte).isalnum())
_REPEATED = re.compile(rb"([A-Za-z0-9])\1+")


def letters(text: str) -> bytes:
    """Return the letters and digits of a text, without `http://www.`, signs, spaces and repetitions.

    >>> letters("http://www.miss-issippi.com")
    b'misisipicom'
    """
    return only_letters(without_lead(text))


def without_lead(text: str) -> str:
    """Return a text without `http://` and `www.` at its beginning, also if only part of them was typed."""
    return _LEAD.sub("", text, count=1)


def only_letters(text: str) -> bytes:
    """Return the letters and digits of a text, repeated ones once; characters that are not ASCII all stay.

    >>> only_letters("to-oth éé")
    b'toth\\xc3\\xa9\\xc3\\xa9'
    """
    return _REPEATED.sub(rb"\1", text.encode().translate(None, _SIGNS))


def cut_domain(text: str) -> tuple[str, str]:
    """Return a text without its domain, and the domain.

    >>> cut_domain("rome.com"), cut_domain("rome.co.uk"), cut_domain("rome")
    (('rome', '.com'), ('rome', '.co.uk'), ('rome', ''))
    """
    found = _DOMAIN.search(text)
    return (text[: found.start()], found[0]) if found else (text, "")
