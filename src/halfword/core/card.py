"""The card of a model file: what it learned from, when, how, and how good its network is."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Self, get_args, get_type_hints

from halfword.core.errors import OptionError
from halfword.core.fields import converted


@dataclass(frozen=True, slots=True, kw_only=True)
class _Record:
    """A JSON object with typed fields; those that this version does not know are kept in `other`."""

    other: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Self:
        """Return what a JSON object holds; a field of the wrong type is an `OptionError`."""
        kinds = {name: kind for name, kind in get_type_hints(cls).items() if name != "other"}
        known = {name: _value(name, kinds[name], content[name]) for name in content if name in kinds}
        return cls(**known, other={name: value for name, value in content.items() if name not in kinds})

    def to_json(self) -> dict[str, Any]:
        """Return the fields that are known, and the others, as JSON can hold them."""
        values = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "other"}
        known = {
            name: value.to_json() if isinstance(value, _Record) else value
            for name, value in values.items()
            if value is not None
        }
        return {**known, **self.other}


def _value(name: str, kind: Any, value: Any) -> Any:
    record = next((each for each in (kind, *get_args(kind)) if is_dataclass(each)), None)
    if record is None:
        return converted(name, kind, value)
    if not isinstance(value, Mapping):
        raise OptionError(f"{name} must be an object, got {value!r}")
    return record.from_json(value)  # type: ignore[union-attr]


@dataclass(frozen=True, slots=True, kw_only=True)
class PopularCard(_Record):
    """What the popularity index holds."""

    queries: int | None = None
    rows: int | None = None  # how often they were typed, in all


@dataclass(frozen=True, slots=True, kw_only=True)
class PiecesCard(_Record):
    """The pieces that queries are cut into."""

    segmentation: str | None = None  # char, bpe or unigram
    size: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryCard(_Record):
    """The size of the n-gram memory."""

    megabytes: float | None = None
    background_weights: list[float] | None = None  # what an n-gram of the background counts, by order
    background_fading: float | None = None  # how much less, the more often its context was seen (`training/pooling.py`)


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkCard(_Record):
    """The sizes of a network, and how it was trained."""

    embedding_size: int | None = None
    hidden_size: int | None = None
    layers: int | None = None
    options: Mapping[str, Any] | None = None  # of the training
    data: Mapping[str, Any] | None = None  # the fingerprint of what it learned from
    best: Mapping[str, float] | None = None  # the epoch whose weights these are
    epochs: int | None = None
    minutes: float | None = None
    newest_rows: int | None = None  # that it went on over after its training; None: held out


@dataclass(frozen=True, slots=True, kw_only=True)
class PointerCard(_Record):
    """What copies from the session."""

    size: int | None = None  # numbers of a key
    rows: int | None = None  # that it was learned from
    valid_alone: float | None = None  # nats per validation query, of the network by itself
    valid_context: float | None = None  # and with the pointer


@dataclass(frozen=True, slots=True, kw_only=True)
class PartsCard(_Record):
    """The parts of a model; None where it has none."""

    pieces: PiecesCard | None = None
    network: NetworkCard | None = None
    ngram: MemoryCard | None = None
    popular: PopularCard | None = None
    pointer: PointerCard | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BackgroundCard(_Record):
    """The model that a model stands on."""

    name: str | None = None  # of its file
    date: str | None = None
    note: str | None = None
    licence: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnedCard(_Record):
    """Which rows a model has learned, by split; what it has learned cannot measure it."""

    hold_out: bool | None = None  # valid and test were not learned
    rows: Mapping[str, int] | None = None
    digests: Mapping[str, str] | None = None  # see `data.digest`

    def has_learned(self, digest: str) -> bool:
        """Tell whether the rows of a split with this digest were learned."""
        return digest in (self.digests or {}).values()


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveCard(_Record):
    """How far a journal of live changes was learned; its later counts come on top."""

    journal: str | None = None
    number: int | None = None  # of the last change


@dataclass(frozen=True, slots=True, kw_only=True)
class Card(_Record):
    """What a model file says of itself.

    >>> card = Card.from_json({"profile": "default", "parts": {"popular": {"queries": 7}}, "colour": "red"})
    >>> card.parts.popular
    PopularCard(queries=7, rows=None)
    >>> card.to_json()
    {'profile': 'default', 'parts': {'popular': {'queries': 7}}, 'colour': 'red'}
    """

    halfword: str | None = None  # the version that made it
    date: str | None = None
    profile: str | None = None  # how queries and prefixes are normalised
    parts: PartsCard = field(default_factory=PartsCard)
    data: Mapping[str, Any] | None = None  # where the queries came from, and what was dropped
    learned: LearnedCard | None = None  # None: not known, as in files of older versions
    background: BackgroundCard | None = None  # None: the log alone
    live: LiveCard | None = None  # None: no live changes were learned
    source: str | None = None  # of a model that was imported
    note: str | None = None
    licence: str | None = None
