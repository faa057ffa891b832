"""Live changes: what can be said of a query after the model was trained."""

from dataclasses import dataclass
from enum import StrEnum
from math import isfinite
from typing import Any

from halfword.core.errors import LiveError
from halfword.core.text import DEFAULT, Profile, normalise_prefix, normalise_query

LONGEST_TEXT = 1000  # characters
LARGEST_NUMBER = 1e9
MOST_POSITIONS = 100


class Kind(StrEnum):
    """What a change does; the engine knows the first eight by their place."""

    TYPED = "typed"  # it was typed so many times more
    WEIGHT = "weight"  # a number stands for its count in the log; below 0 the count in the log does again
    BOOST = "boost"  # its count is multiplied by this
    REMOVED = "removed"  # it is never suggested, in whatever way it is written
    REMOVED_BEGINNING = "removed_beginning"  # nor is anything that begins so
    ALLOWED = "allowed"  # both are undone
    PIN = "pin"  # it is shown at this position when `prefix` is typed
    UNPIN = "unpin"
    ACCEPTED = "accepted"  # it was chosen so many times among the suggestions
    LEARNED = "learned"  # a model learns everything up to here; it has no text


KINDS = {kind: place for place, kind in enumerate(Kind)}
_NUMBERS = {
    Kind.TYPED: (0.0, LARGEST_NUMBER),
    Kind.WEIGHT: (-1.0, LARGEST_NUMBER),
    Kind.BOOST: (0.0, 1e6),
    Kind.PIN: (1, MOST_POSITIONS),
    Kind.ACCEPTED: (1, LARGEST_NUMBER),
}


@dataclass(frozen=True, slots=True)
class Change:
    """One change; its texts are normalised."""

    kind: Kind
    text: str
    number: float = 0.0
    prefix: str = ""  # of a pin

    def to_json(self) -> list[Any]:
        """Return it as the journal writes it."""
        numbered = [self.kind.value, self.text, self.number] if self.kind in _NUMBERS else [self.kind.value, self.text]
        return [*numbered, self.prefix] if self.kind in (Kind.PIN, Kind.UNPIN) else numbered

    @classmethod
    def from_json(cls, content: Any) -> "Change":
        """Read what `to_json` wrote; raises ValueError for anything else."""
        match content:
            case [str(kind), str(text)]:
                return cls(Kind(kind), text)
            case [str(kind), str(text), int() | float() as number]:
                return cls(Kind(kind), text, number)
            case [str(kind), str(text), str(prefix)]:
                return cls(Kind(kind), text, prefix=prefix)
            case [str(kind), str(text), int() | float() as number, str(prefix)]:
                return cls(Kind(kind), text, number, prefix)
        raise ValueError("this is no change")


def change(kind: Kind, text: str, number: float = 0.0, prefix: str = "", profile: Profile = DEFAULT) -> Change:
    """Return a change, normalised as queries are; raises a LiveError that says what is wrong with it."""
    normal = normalise_prefix(text, profile) if kind is Kind.REMOVED_BEGINNING else normalise_query(text, profile)
    if not normal.strip():
        raise LiveError(f"{text!r} holds no text; name a query")
    if len(normal) > LONGEST_TEXT:
        raise LiveError(f"a query may have {LONGEST_TEXT} characters, this one has {len(normal)}")
    typed = normalise_prefix(prefix, profile)
    if len(typed) > LONGEST_TEXT:
        raise LiveError(f"a prefix may have {LONGEST_TEXT} characters, this one has {len(typed)}")
    if kind in _NUMBERS:
        least, most = _NUMBERS[kind]
        if not isfinite(number) or not least <= number <= most:
            raise LiveError(f"{kind} must lie between {least:g} and {most:g}, got {number}")
        if kind is Kind.PIN and number != int(number):
            raise LiveError(f"a position must be a whole number, got {number}")
    return Change(kind, normal, number, typed)
