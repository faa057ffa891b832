"""Normalisation of queries and of prefixes: the one definition that every stage shares.

Text becomes NFKC and lower case with single spaces. Characters that nobody sees are taken out, because they would hide
a word from a blocklist, count one query as two, or steer the terminal that shows it:

- control characters, except white space, which becomes a space;
- Unicode's Default_Ignorable_Code_Point: soft hyphens, zero-width spaces, bidirectional controls, variation selectors
  (so an emoji is the same with and without one), Hangul fillers, tags; and interlinear annotation marks;
- a zero-width joiner or non-joiner (U+200D, U+200C), unless it stands between two letters of a script that spells words
  with them (Arabic, Persian, the scripts of India and others), or, for the joiner, between two emoji;
- a Mongolian variation selector, unless it follows a Mongolian letter.

A joiner at the end of a prefix is taken out too; what is left still begins every query that went on behind it.
`▁` (U+2581), which SentencePiece writes for a space, becomes a space. `´`, which many type for an apostrophe, becomes
one.
"""

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


_REPLACED = str.maketrans({"\u2581": " ", "\u00b4": "'"})  # to NFKC, an acute accent alone is a space and a mark
_CONTROLS = r"\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f"  # those of them that are not white space
_IGNORABLE = (
    r"\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    r"\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_INVISIBLE = re.compile(rf"[{_CONTROLS}{_IGNORABLE}](?<![\u1820-\u18aa][\u180b-\u180f])")
_JOINED_SCRIPTS = (  # Arabic and its neighbours; India, Sri Lanka; Burma; Khmer, Mongolian; smaller ones
    r"\u0600-\u08ff\u0900-\u0dff\u1000-\u109f\u1780-\u18af\u1b00-\u1b7f\ua840-\ua87f\ua8e0-\ua8ff\ua980-\ua9df"
    r"\U00010d00-\U00010d3f\U00011000-\U00011fff\U0001e900-\U0001e95f"
)
_EMOJI = r"\u2190-\u21ff\u2300-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff"
_ANY_JOINER = re.compile(r"[\u200c\u200d]")
_JOINERS = re.compile(
    rf"(?<=[{_JOINED_SCRIPTS}])([\u200c\u200d])[\u200c\u200d]*+(?=[{_JOINED_SCRIPTS}])"
    rf"|(?<=[{_EMOJI}])(\u200d)\u200d*+(?=[{_EMOJI}])|[\u200c\u200d]"
)


def normalise_query(text: str, profile: Profile = DEFAULT) -> str:
    """Return `text` as a query: NFKC, lower case, nothing invisible, single spaces, none at either end.

    >>> normalise_query("  Ｎew\\tYORK ")
    'new york'
    """
    return " ".join(_clean(text, profile).split())


def normalise_prefix(text: str, profile: Profile = DEFAULT) -> str:
    """Return `text` as the beginning of a query: like a query, but a space at its end stays, as a single one.

    >>> normalise_prefix(" New  ")
    'new '
    """
    clean = _clean(text, profile)
    prefix = " ".join(clean.split())
    return f"{prefix} " if prefix and clean[-1].isspace() else prefix


def _clean(text: str, profile: Profile) -> str:
    if text.isascii():
        lower = text.lower()
        return lower if lower.isprintable() else _INVISIBLE.sub("", lower)
    _refuse_surrogates(text)
    clean = _clean_unicode(text, profile)
    if _ANY_JOINER.search(clean) and _clean_unicode(clean, profile) != clean:
        # Marks changed places, and with them a joiner's neighbours. Only nonsense does that, and it loses its joiners.
        return _clean_unicode(_ANY_JOINER.sub("", clean), profile)
    return clean


def _clean_unicode(text: str, profile: Profile) -> str:
    composed = unicodedata.normalize("NFKC", text.translate(_REPLACED))
    visible = _INVISIBLE.sub("", composed)
    if _ANY_JOINER.search(visible):
        visible = _JOINERS.sub(r"\1\2", visible)
    if profile.ascii_only:
        return visible.encode("ascii", "ignore").decode("ascii").lower()
    lower = visible.lower().replace("i\u0307", "i")  # the small letter of İ is i, as Turkish has it
    return unicodedata.normalize("NFKC", lower)  # lower-casing can part what NFKC joined


def _refuse_surrogates(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise TextError(
            f"character {error.start + 1} is half of a surrogate pair, not text; decode the input as UTF-8"
        ) from None


def width_of(text: str) -> int:
    """Return how much a text says: its characters, where those of three bytes and more count twice.

    Most of these stand for a syllable or a word.

    >>> width_of("ausweis"), width_of("ковёр"), width_of("手机")
    (7, 5, 4)
    """
    return sum(2 if ord(character) >= 0x800 else 1 for character in text)


def common_beginning(one: str, other: str) -> int:
    """Return how many characters two texts begin with alike.

    >>> common_beginning("weather", "wealth"), common_beginning("new", "new york")
    (3, 3)
    """
    differ = (place for place, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1])
    return next(differ, min(len(one), len(other)))
