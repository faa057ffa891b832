"""What completes a prefix: the types that callers meet, and the completers that stand on the engine."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, TypedDict, Unpack

from halfword.core.errors import MissingExtraError, ModelFileError, OptionError
from halfword.core.model_file import Header, read_header
from halfword.core.text import DEFAULT, PROFILES, Profile, normalise_prefix

if TYPE_CHECKING:
    from halfword import _engine

DEFAULT_MODEL = Path(__file__).parent.parent / "models" / "default.halfword"  # ships with the package
MOST_COMPLETIONS = 1000
CACHED_STATES = 1024  # what a keystroke leaves for the next one, some 10 kB each
CACHED_ANSWERS = 4096  # the first few characters of what everybody types
PRECISIONS = ("int8", "fp32")
PARTS = ("popular", "ngram", "network")


class Completion(NamedTuple):
    """One way to finish a prefix."""

    text: str
    score: float  # natural logarithm of p(text | prefix)
    source: Literal["popular", "model", "both"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions:
    """How wide, how far back and how long to search. Popularity alone heeds `count` and `echo` only."""

    count: int = 10  # completions returned
    beam: int = 10  # hypotheses followed of each length
    retrace: int | None = None  # trailing characters that may be segmented anew; None: as far as any piece reaches
    segmentations: int = 1  # best segmentations of the prefix to set out from; only unigram pieces have several
    max_pieces: int = 40  # pieces a completion may add
    merge: bool = True  # add up the probabilities of all piece sequences found that spell the same text
    prune: bool = True  # drop hypotheses that can no longer be answers; without merge and haste it loses nothing
    haste: float | None = None  # trust in estimates of what an end costs; 0 is exact, and so are all but blends with
    # None, which choose for each prefix: the memory alone where popularity knows enough, else network and wide beam
    conditional: bool = True  # score log p(text | prefix); else log p(text)
    min_probability: float = 0.0  # p(text | prefix) below which nothing is offered
    deadline_ms: float | None = None  # return the best found by then
    echo: bool = False  # offer the prefix itself, less its trailing space, as the paper's code does by accident

    def __post_init__(self) -> None:
        for name, lowest, highest in _RANGES:
            value = getattr(self, name)
            if value is not None and not lowest <= value <= highest:
                raise OptionError(f"{name} must lie between {lowest} and {highest}, got {value}")


_RANGES = (
    ("count", 1, MOST_COMPLETIONS),
    ("beam", 1, 1000),
    ("retrace", 0, 1000),
    ("segmentations", 1, 100),
    ("max_pieces", 1, 1000),
    ("haste", 0.0, 100.0),
    ("min_probability", 0.0, 1.0),
    ("deadline_ms", 0.001, 3_600_000),
)


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
    min_probability: float
    deadline_ms: float | None
    echo: bool


DEFAULTS = SearchOptions()


class Completer(Protocol):
    """Anything that can be evaluated and served."""

    def complete(self, prefix: str, options: SearchOptions = DEFAULTS) -> list[Completion]:
        """Return the likeliest completions of `prefix`, best first."""
        ...


class EngineCompleter:
    """A completer that stands on a part of the engine.

    Immutable; one instance serves every thread, and the GIL is free while it searches.
    """

    def __init__(self, part: "_engine.Popular | _engine.Neural | _engine.Blend", profile: Profile = DEFAULT) -> None:
        self._part = part
        self._profile = profile
        self._defaults = engine_options(DEFAULTS)

    def complete(
        self, prefix: str, options: SearchOptions = DEFAULTS, **fields: Unpack[SearchFields]
    ) -> list[Completion]:
        """Return the likeliest completions of `prefix`, best first."""
        if fields:
            options = _with_fields(options, fields)
        converted = self._defaults if options is DEFAULTS else engine_options(options)
        return self._part.complete(normalise_prefix(prefix, self._profile), converted, Completion)

    def complete_batch(
        self, prefixes: Sequence[str], options: SearchOptions = DEFAULTS, **fields: Unpack[SearchFields]
    ) -> list[list[Completion]]:
        """Complete many prefixes on all cores."""
        if fields:
            options = _with_fields(options, fields)
        normalised = [normalise_prefix(prefix, self._profile) for prefix in prefixes]
        return self._part.complete_batch(normalised, engine_options(options), 0, Completion)


class Popular(EngineCompleter):
    """Most popular completion: the queries that begin with the prefix, those typed most often first, ties by text."""

    _part: "_engine.Popular"

    def __len__(self) -> int:
        return len(self._part)


class Neural(EngineCompleter):
    """The language model's completions, also of queries that nobody has typed before."""

    _part: "_engine.Neural"

    @property
    def kernels(self) -> str:
        """The instruction set in use."""
        return self._part.kernels


class Blend(EngineCompleter):
    """Popularity as evidence, the language model as prior: what was typed, and what might be."""

    _part: "_engine.Blend"


def load(
    path: str | Path = DEFAULT_MODEL,
    *,
    parts: Collection[str] = PARTS,
    precision: str = "int8",
    kernels: str = "",
    cache: bool = True,
) -> Popular | Neural | Blend:
    """Open a model file, or the one that ships; it is mapped into memory, so this takes milliseconds whatever its size.

    `parts` leaves out what is not named. `precision` and `kernels` (an instruction set; the fastest unless named) are
    the network's. With `cache` the model remembers what it made of recent prefixes and its answers to very short ones;
    the answers are the same without.
    """
    path = Path(path)
    if precision not in PRECISIONS:
        raise OptionError(f"precision must be one of {', '.join(PRECISIONS)}; got {precision!r}")
    unknown = sorted(set(parts) - set(PARTS))
    if unknown:
        raise OptionError(f"parts must be some of {', '.join(PARTS)}; got {', '.join(unknown)}")
    header = read_header(path)
    profile = _profile_of(path, header)
    engine = import_engine()
    try:
        return _assemble(engine, path, header, profile, parts, precision == "int8", kernels, cache)
    except engine.EngineFileError as error:
        raise ModelFileError(f"{path} is damaged: {error}; copy or train it again") from error
    except ValueError as error:
        raise OptionError(str(error)) from error


def _assemble(
    engine: ModuleType,
    path: Path,
    header: Header,
    profile: Profile,
    parts: Collection[str],
    int8: bool,
    kernels: str,
    cache: bool,
) -> Popular | Neural | Blend:
    file = open_model_file(path, header, left_out=set(PARTS) - set(parts))
    wanted = {part for part in parts if header.holds(part)}
    if "blend.popularity" in header.places and "popular" in wanted and len(wanted) > 1:
        again = f"halfword train DATA --base {path} -o NEW"
        raise ModelFileError(
            f"{path}: how it weighs its parts is of an earlier version; learn that again with: {again}"
        )
    popular = engine.Popular(file) if "popular" in wanted else None
    if wanted & {"ngram", "network"}:
        sizes = (CACHED_STATES, CACHED_ANSWERS) if cache else (0, 0)
        neural = engine.Neural(file, int8, kernels, *sizes)
        if popular is None:
            return Neural(neural, profile)
        memory = engine.Neural(file, None, kernels, *sizes) if wanted >= {"ngram", "network"} else None
        return Blend(engine.Blend(file, popular, neural, memory), profile)
    if popular is not None:
        return Popular(popular, profile)
    raise ModelFileError(f"{path} has no part that can complete; make one with: halfword train data/ -o {path}")


def open_model_file(path: Path, header: Header, left_out: Collection[str] = ()) -> "_engine.ModelFile":
    """Map a model file for the engine, without the arrays of the parts that are left out."""
    engine = import_engine()
    places = {
        name: engine.ArrayPlace(place.dtype, place.begin, place.end)
        for name, place in header.places.items()
        if name.partition(".")[0] not in left_out
    }
    mapped: _engine.ModelFile = engine.ModelFile(str(path), places)
    return mapped


@lru_cache(maxsize=256)
def engine_options(options: SearchOptions) -> "_engine.SearchOptions":
    """Return `options` as the engine takes them."""
    converted: _engine.SearchOptions = import_engine().SearchOptions()
    converted.adapt = options.haste is None
    for field in SearchOptions.__slots__:
        value = getattr(options, field)
        if value is not None:  # for which the engine's own value stands
            setattr(converted, field, value)
    return converted


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
