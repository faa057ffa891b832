"""The same query in another spelling: with or without `www.`, spaces, signs, a doubled letter, `.com` at its end.

Somebody types `www.homede`, which nobody typed before; but `home depot` was typed. All these spellings have the same
letters: what is left of a text without `http://` and `www.` at its beginning, in small letters and digits alone, each
repeated one once. As arrays of a model file:

- `popular.by_letters` U32 (queries): where the queries lie in the popularity index, sorted by their letters;
- `popular.domain` U8: the ending like `.com` that most queries have; empty if fewer than one in a hundred has it.

How likely a query is by other spellings alone: let q be the queries whose letters begin with those of the prefix (two
letters at least, and fifty queries at most). What q has beyond them may follow the prefix as it stands, or without its
domain; and if there is no space in the prefix, also without its spaces, and so with its domain or, if it has none, the
commonest. Those of these that differ have an even share of how often q was typed, of how often all of them were.
"""

import re
import struct
from collections import Counter
from collections.abc import Sequence

from halfword.model_file import Array

_LEAD = re.compile(r"(https?:?/*)?(www[. ]?)?", re.IGNORECASE | re.ASCII)
_DOMAIN = re.compile(r"\.[a-z]{2,4}\Z", re.IGNORECASE | re.ASCII)
_SIGNS = bytes(byte for byte in range(128) if not chr(byte).isalnum())
_REPEATED = re.compile(rb"([a-z0-9])\1+")
_SHARE_OF_A_DOMAIN = 0.01


def learn_spellings(queries: Sequence[str]) -> dict[str, Array]:
    """Return different queries by their letters, and how an address mostly ends, as arrays."""
    spelled = [letters(query) for query in sorted(queries, key=str.encode)]
    order = sorted(range(len(spelled)), key=spelled.__getitem__)
    domains = Counter(domain for query in queries if (domain := cut_domain(query)[1].lower())).most_common(1)
    common = next((name for name, count in domains if count >= _SHARE_OF_A_DOMAIN * len(queries)), "")
    return {
        "popular.by_letters": Array("U32", struct.pack(f"<{len(order)}I", *order)),
        "popular.domain": Array("U8", common.encode()),
    }


def letters(text: str) -> bytes:
    """Return what all spellings of a text share.

    >>> letters("http://www.Miss-Issippi.com")
    b'misisipicom'
    """
    return only_letters(without_lead(text))


def without_lead(text: str) -> str:
    """Return a text without `http://` and `www.` at its beginning, whole or in part."""
    return _LEAD.sub("", text, count=1)


def only_letters(text: str) -> bytes:
    """Return the letters and digits of a text, small, repeated ones once; what is not ASCII stays as it is.

    >>> only_letters("To-Oth éé")
    b'toth\\xc3\\xa9\\xc3\\xa9'
    """
    return _REPEATED.sub(rb"\1", text.encode().lower().translate(None, _SIGNS))


def cut_domain(text: str) -> tuple[str, str]:
    """Return a text without its domain, and the domain.

    >>> cut_domain("rome.com"), cut_domain("rome")
    (('rome', '.com'), ('rome', ''))
    """
    found = _DOMAIN.search(text)
    return (text[: found.start()], found[0]) if found else (text, "")
