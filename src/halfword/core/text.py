"""Normalisation of queries and of prefixes: the one definition that every stage shares."""

import unicodedata
from dataclasses import dataclass

from halfword.core.errors import OptionError, TextError

SHORTEST_QUERY = 3  # code points; the metrics need a prefix of two and something to complete


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """How raw text becomes a query."""

    name: str
    ascii_only: bool  # drop what is not ASCII, as the paper does
    scrub: bool  # take out e-mail addresses, phone numbers and long numbers


DEFAULT = Profile(name="default", ascii_only=False, scrub=True)
PAPER = Profile(name="paper", ascii_only=True, scrub=False)
PROFILES = {profile.name: profile for profile in (DEFAULT, PAPER)}


def profile_named(name: str) -> Profile:
    """Return the profile called `name`."""
    if name not in PROFILES:
        raise OptionError(f"profile {name!r} is unknown; choose one of: {', '.join(PROFILES)}")
    return PROFILES[name]


def normalise_query(text: str, profile: Profile = DEFAULT) -> str:
    """Return `text` as a query: NFKC, lower case, single spaces, none at either end.

    >>> normalise_query("  Ｎew\\tYORK ")
    'new york'
    """
    return " ".join(_fold(text, profile).split())


def normalise_prefix(text: str, profile: Profile = DEFAULT) -> str:
    """Return `text` as the beginning of a query: like a query, but a space at its end stays, as a single one.

    >>> normalise_prefix(" New  ")
    'new '
    """
    folded = _fold(text, profile)
    prefix = " ".join(folded.split())
    return f"{prefix} " if prefix and folded[-1].isspace() else prefix


def _fold(text: str, profile: Profile) -> str:
    if text.isascii():
        return text.lower()
    _refuse_surrogates(text)
    composed = unicodedata.normalize("NFKC", text)
    if profile.ascii_only:
        return composed.encode("ascii", "ignore").decode("ascii").lower()
    return unicodedata.normalize("NFKC", composed.lower())  # lower-casing can part what NFKC joined


def _refuse_surrogates(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise TextError(
            f"character {error.start + 1} is half of a surrogate pair, not text; decode the input as UTF-8"
        ) from None
