"""Personal things that a pattern can find, taken out of queries.

The patterns are written so that each takes time proportional to the length of the text: it can start only where its
first run of characters starts (a lookbehind), and gives nothing back once it has read it (`++`, a possessive
quantifier). Without this, Python tries a row of 40,000 digits from each of its digits.
"""

import re

from halfword.core.text import DEFAULT, Profile, normalise_query

_EMAIL = re.compile(r"(?<!\S)@*+[^\s@]++@++[^\s@]\S*+")
_LONG_NUMBER = re.compile(r"\d{6,}+")
_NUMBER_GROUPS = re.compile(r"\+?\(?(?<!\d)\d++(?:[ ().\-/]{1,2}+\d++)++")
_LOCAL_PHONE = re.compile(r"\d{3}[-.]\d{4}")
_PHONE_DIGITS = 9  # from here on, groups of digits are a phone, card or insurance number; a date has 8
# What is taken out may bring the two halves of something else together, so scrubbing is repeated until nothing changes.
# A query that takes more passes than this was made to defeat it, and nothing of it is kept.
_MOST_PASSES = 8


def query_of(text: str, profile: Profile = DEFAULT) -> str:
    """Return the query that a line of a log becomes: normalised and, if the profile says so, scrubbed.

    >>> query_of("Mail JOE@example.com")
    'mail'
    """
    query = normalise_query(text, profile)
    return scrub(query) if profile.scrub else query


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
