"""What completes a prefix: the types that callers meet, and the completers that stand on the engine."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, TypedDict, Unpack

from halfword.errors import MissingExtraError, ModelFileError, OptionError
from halfword.model_file import Header, read_header
from halfword.text import DEFAULT, PROFILES, Profile, normalise_prefix

if TYPE_CHECKING:
    from halfword import _engine

MOST_COMPLETIONS = 1000


class Completion(NamedTuple):
    """One way to finish a prefix."""

    text: str
    score: float  # natural logarithm of p(text | prefix)
    source: Literal["popular", "model", "both"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions:
    """How many completions to look for, and which."""

    count: int = 10  # completions returned
    echo: bool = False  # offer the prefix itself, less its trailing space, as the paper's code does by accident

    def __post_init__(self) -> None:
        if not 1 <= self.count <= MOST_COMPLETIONS:
            raise OptionError(f"count must lie between 1 and {MOST_COMPLETIONS}, got {self.count}")


class SearchFields(TypedDict, total=False):
    """The fields of `SearchOptions`, for those who pass them by name."""

    count: int
    echo: bool


DEFAULTS = SearchOptions()


class Completer(Protocol):
    """Anything that can be evaluated and served."""

    def complete(self, prefix: str, options: SearchOptions = DEFAULTS) -> list[Completion]:
        """Return the likeliest completions of `prefix`, best first."""
        ...


class Popular:
    """Most popular completion: the queries that begin with the prefix, those typed most often first.

    Immutable; one instance serves every thread, and the GIL is free while it searches.
    """

    def __init__(self, index: "_engine.Popular", profile: Profile = DEFAULT) -> None:
        self._index = index
        self._profile = profile

    def __len__(self) -> int:
        return len(self._index)

    def complete(
        self, prefix: str, options: SearchOptions = DEFAULTS, **fields: Unpack[SearchFields]
    ) -> list[Completion]:
        """Return the most typed queries that begin with `prefix`; ties go by text."""
        if fields:
            options = _with_fields(options, fields)
        return self._index.complete(normalise_prefix(prefix, self._profile), options.count, options.echo, Completion)

    def complete_batch(
        self, prefixes: Sequence[str], options: SearchOptions = DEFAULTS, **fields: Unpack[SearchFields]
    ) -> list[list[Completion]]:
        """Complete many prefixes on all cores."""
        if fields:
            options = _with_fields(options, fields)
        normalised = [normalise_prefix(prefix, self._profile) for prefix in prefixes]
        return self._index.complete_batch(normalised, options.count, options.echo, 0, Completion)


def load(path: str | Path) -> Popular:
    """Open a model file; it is mapped into memory, so this takes milliseconds whatever its size."""
    path = Path(path)
    header = read_header(path)
    if not header.holds("popular"):
        raise ModelFileError(f"{path} has no part that can complete; make one with: halfword train data/ -o {path}")
    engine = import_engine()
    places = {name: engine.ArrayPlace(place.dtype, place.begin, place.end) for name, place in header.places.items()}
    try:
        return Popular(engine.Popular(engine.ModelFile(str(path), places)), _profile_of(path, header))
    except engine.EngineFileError as error:
        raise ModelFileError(f"{path} is damaged: {error}; copy or train it again") from error


def _with_fields(options: SearchOptions, fields: SearchFields) -> SearchOptions:
    try:
        return replace(options, **fields)
    except TypeError:
        known = ", ".join(SearchOptions.__slots__)
        unknown = ", ".join(sorted(set(fields) - set(SearchOptions.__slots__)))
        raise OptionError(f"unknown option {unknown}; the options are: {known}") from None


def _profile_of(path: Path, header: Header) -> Profile:
    name = header.card.get("profile")
    if name not in PROFILES:
        raise ModelFileError(f"{path} is damaged: its card names no known profile; copy or train it again")
    return PROFILES[name]


def import_engine() -> ModuleType:
    """Return the compiled engine, or say how to get it."""
    try:
        from halfword import _engine
    except ImportError as error:
        raise MissingExtraError(f"the compiled engine is missing ({error}); install it with: pip install .") from error
    return _engine
