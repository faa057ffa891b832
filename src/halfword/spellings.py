"""The same query in another spelling: with or without `www.`, spaces, signs, a doubled letter, `.com` at its end.

Somebody types `www.homede`, which nobody typed before; but `home depot` was typed. But for a domain these spellings
have the same letters: what is left of a text without `http://` and `www.` at its beginning, letters and digits alone
(all that is not ASCII among them), each repeated one of ASCII once. As arrays of a model file:

- `popular.by_letters` U32: where queries lie in the popularity index, sorted by their letters. Phrases that are never
  suggested are found as words, so queries that hold one are left out: joined, it would be found no more;
- `popular.domain` U8: the ending like `.com` that most queries have; empty if fewer than one in a hundred has it.

How likely a query is by other spellings alone: let q be the queries whose letters begin with those of the prefix (two
bytes of letters at least, and fifty queries at most). What q has beyond them is its rest: without as many repeats of
the last letter as the prefix has, and without signs at its beginning if the prefix ends with one. The rest may follow
the prefix as it stands, or without q's domain; and if there is no space in the prefix, also without its spaces, and
so with q's domain or, if it has none, the commonest. How often q was typed, as a share of how often all of them were,
is divided evenly among those of these ways that differ. (What leads to q itself or to the prefix is not offered.) A
domain that the prefix has begun already is part of the rest, and none is added to a text that ends with one or with a
sign, but for a dot.
"""

import re
import struct
from collections import Counter
from collections.abc import Callable, Sequence

from halfword.model_file import Array

_LEAD = re.compile(r"(https?:?/*)?(www[. ]?)?")
_DOMAIN = re.compile(r"(\.(ac|co|com|edu|gov|net|org)\.[a-z]{2}|\.[a-z]{2,4})\Z")
_SIGNS = bytes(byte for byte in range(128) if not chr(byte).isalnum())
_REPEATED = re.compile(rb"([A-Za-z0-9])\1+")
_SHARE_OF_A_DOMAIN = 0.01


def learn_spellings(queries: Sequence[str], is_left_out: Callable[[str], bool]) -> dict[str, Array]:
    """Return different queries by their letters, and how an address mostly ends, as arrays."""
    places = [place for place in enumerate(sorted(queries, key=str.encode)) if not is_left_out(place[1])]
    order = [place for _, place in sorted((letters(query), place) for place, query in places)]
    domains = Counter(domain for query in queries if (domain := cut_domain(query)[1])).most_common(1)
    common = next((name for name, count in domains if count >= _SHARE_OF_A_DOMAIN * len(queries)), "")
    return {
        "popular.by_letters": Array("U32", struct.pack(f"<{len(order)}I", *order)),
        "popular.domain": Array("U8", common.encode()),
    }


def letters(text: str) -> bytes:
    """Return what all spellings of a text share.

    >>> letters("http://www.miss-issippi.com")
    b'misisipicom'
    """
    return only_letters(without_lead(text))


def without_lead(text: str) -> str:
    """Return a text without `http://` and `www.` at its beginning, whole or in part."""
    return _LEAD.sub("", text, count=1)


def only_letters(text: str) -> bytes:
    """Return the letters and digits of a text, repeated ones once; what is not ASCII stays as it is.

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
