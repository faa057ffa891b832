"""Normalisation of queries and of prefixes: the one definition that every stage shares."""

import re
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


_EMAIL = re.compile(r"[^\s@]+@[^\s@]+")
_LONG_NUMBER = re.compile(r"\d{6,}")
_NUMBER_GROUPS = re.compile(r"\+?\(?\d+(?:[ ().\-/]{1,2}\d+)+")
_LOCAL_PHONE = re.compile(r"\d{3}[-.]\d{4}")
# What is taken out may bring the two halves of something else together, so scrubbing is repeated until nothing changes.
# A query that takes more passes than this was made to defeat it, and nothing of it is kept.
_MOST_PASSES = 8
_PHONE_DIGITS = 9  # from here on, groups of digits are a phone, card or insurance number; a date has 8


def scrub(query: str) -> str:
    """Take e-mail addresses, phone numbers and runs of six digits and more out of a normalised query.

    >>> scrub("mail joe@example.com or call 555-123-4567 about room 101")
    'mail or call about room 101'
    """
    for _ in range(_MOST_PASSES):
        shorter = _scrub_once(query)
        if shorter == query:
            return query
        query = shorter
    return ""


def _scrub_once(query: str) -> str:
    without_email = " ".join(_EMAIL.sub(" ", query).split())
    without_phone = _NUMBER_GROUPS.sub(_blank_phone, without_email)
    return " ".join(_LONG_NUMBER.sub(" ", without_phone).split())


def _blank_phone(match: re.Match[str]) -> str:
    group = match[0]
    digits = sum(character.isdigit() for character in group)
    return " " if digits >= _PHONE_DIGITS or _LOCAL_PHONE.fullmatch(group) else group
