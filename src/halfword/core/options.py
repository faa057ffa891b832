"""How a model is asked: the options of a search, their defaults and their limits."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from functools import lru_cache
from typing import Any, TypedDict

from halfword.core.errors import OptionError
from halfword.core.fields import option

MOST_COMPLETIONS = 1000


class Invent(StrEnum):
    """Whether texts are shown that hold a word which is neither in the log nor in its background."""

    NEVER = "never"
    CAREFUL = "careful"  # those that are likely enough
    FREELY = "freely"


class Typos(StrEnum):
    """Whether texts are offered that go on from what was meant, where the prefix seems to be mistyped."""

    AUTO = "auto"
    OFF = "off"


class Order(StrEnum):
    """Whether queries are offered that hold the typed words in another order."""

    ANY = "any"
    AS_TYPED = "as typed"


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions:
    """How wide, how far back and how long to search. A model of popularity alone uses `count`, `fold` and `echo`."""

    count: int = option(10, "Completions wanted.", short="-n")
    beam: int = 10  # hypotheses followed of each length
    retrace: int | None = None  # trailing characters that may be segmented anew; None: as far as any piece reaches
    segmentations: int = 1  # best segmentations of the prefix to set out from; only unigram pieces have several
    max_pieces: int = 40  # pieces a completion may add
    merge: bool = True  # add up the probabilities of all piece sequences found that spell the same text
    prune: bool = True  # drop hypotheses that can no longer be answers; without merge and haste it loses nothing
    haste: float | None = None  # how far estimates of the cost of an end are trusted; 0: exact search. None: the
    # model's policy chooses beam and haste per prefix, and whether the network is asked (a single part: exact search)
    conditional: bool = True  # score log p(text | prefix); else log p(text)
    min_probability: float | None = option(
        None, "Offer nothing less likely than this; left out, what the model's training found worth showing.", rare=True
    )
    invent: Invent = option(Invent.CAREFUL, "Offer words that nobody typed: never, careful (likely ones) or freely.")
    deadline_ms: float | None = None  # return the best found by then
    fold: bool = True  # also offer what differs from the prefix in accents, apostrophes, hyphens or half a syllable
    typos: Typos = option(Typos.AUTO, "Correct mistakes: auto or off.", rare=True)
    order: Order = option(Order.ANY, "Word order: any or as typed.", rare=True)
    echo: bool = False  # offer the prefix itself, less its trailing space, as the paper's code does by accident

    def __post_init__(self) -> None:
        for each in fields(self):
            _check(each.name, getattr(self, each.name))


class SearchFields(TypedDict, total=False):
    """The fields of `SearchOptions`, for those who pass them by name."""

    count: int
    beam: int
    retrace: int | None
    segmentations: int
    max_pieces: int
    merge: bool
    prune: bool
    haste: float | None
    conditional: bool
    min_probability: float | None
    invent: Invent | str
    deadline_ms: float | None
    fold: bool
    typos: Typos | str
    order: Order | str
    echo: bool


_RANGES: dict[str, tuple[type, float, float]] = {
    "count": (int, 1, MOST_COMPLETIONS),
    "beam": (int, 1, 1000),
    "retrace": (int, 0, 1000),
    "segmentations": (int, 1, 100),
    "max_pieces": (int, 1, 1000),
    "haste": (float, 0.0, 100.0),
    "min_probability": (float, 0.0, 1.0),
    "deadline_ms": (float, 0.001, 3_600_000),
}
_CHOICES: dict[str, type[StrEnum]] = {"invent": Invent, "typos": Typos, "order": Order}
_MAY_BE_NONE = {"retrace", "haste", "min_probability", "deadline_ms"}


def limits_of(name: str) -> tuple[float, float]:
    """Return the lowest and the highest value of an option that is a number.

    >>> limits_of("min_probability")
    (0.0, 1.0)
    """
    _, lowest, highest = _RANGES[name]
    return lowest, highest


def _check(name: str, value: object) -> None:
    if value is None and name in _MAY_BE_NONE:
        return
    if name in _CHOICES:
        if value not in list(_CHOICES[name]):
            raise OptionError(f"{name} must be one of {', '.join(_CHOICES[name])}, got {value!r}")
        return
    if name not in _RANGES:
        if not isinstance(value, bool):
            raise OptionError(f"{name} must be True or False, got {value!r}")
        return
    kind, lowest, highest = _RANGES[name]
    allowed = (int,) if kind is int else (int, float)
    if isinstance(value, bool) or not isinstance(value, allowed):
        raise OptionError(f"{name} must be a {'whole number' if kind is int else 'number'}, got {value!r}")
    if not lowest <= value <= highest:
        raise OptionError(f"{name} must lie between {lowest} and {highest}, got {value}")


DEFAULTS = SearchOptions()
_NAMES = frozenset(SearchOptions.__slots__)
UNFILTERED = SearchOptions(min_probability=0.0, invent=Invent.FREELY)  # everything that the ranker has found


def with_fields(options: SearchOptions, given: Mapping[str, Any]) -> SearchOptions:
    """Return `options` with some fields changed.

    >>> with_fields(DEFAULTS, {"count": 3}).count
    3
    """
    if not isinstance(options, SearchOptions):
        raise OptionError(f"options must be SearchOptions, got {options!r}; pass single options by name, as in count=5")
    if not given:
        return options
    if not given.keys() <= _NAMES:
        unknown, known = sorted(given.keys() - _NAMES), ", ".join(SearchOptions.__slots__)
        raise OptionError(f"unknown option {', '.join(unknown)}; the options are: {known}")
    try:
        return _with_known_fields(options, **given)
    except TypeError:  # a value without a hash fits no field, which making the options says
        return replace(options, **given)


@lru_cache(maxsize=64, typed=True)
def _with_known_fields(options: SearchOptions, **given: Any) -> SearchOptions:
    """Change fields; most callers change the same ones again and again."""
    return replace(options, **given)
