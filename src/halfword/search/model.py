"""What completes a prefix: a model file, opened for asking."""

import math
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, Unpack

from halfword.core.context import check_contexts, normalise_context
from halfword.core.errors import MissingExtraError, ModelFileError, OptionError, TextError
from halfword.core.model_file import Header, read_header
from halfword.core.options import DEFAULTS, Invent, Order, SearchFields, SearchOptions, Typos, with_fields
from halfword.core.policy import Policy
from halfword.core.text import PROFILES, Profile, normalise_prefix
from halfword.core.verify import check_arrays

if TYPE_CHECKING:
    from halfword import _engine

DEFAULT_MODEL = Path(__file__).parent.parent / "models" / "default.halfword"  # ships with the package
CACHED_STATES = 1024  # what a keystroke leaves for the next one, some 10 kB each
CACHED_ANSWERS = 4096  # the first few characters of what everybody types
PRECISIONS = ("int8", "fp32")
PARTS = ("popular", "ngram", "network")


class _Fields(NamedTuple):
    text: str
    score: float  # natural logarithm of p(text | prefix)
    source: Literal["popular", "model", "both", "session"]
    display: str  # the text as most people write it, with their capitals
    corrected: bool  # the prefix was mistyped if this is what was meant
    matched: int  # characters of the text that stand for the prefix; the others are what it adds


class Completion(_Fields):
    """One way to finish a prefix."""

    __slots__ = ()

    def __new__(
        cls,
        text: str,
        score: float,
        source: Literal["popular", "model", "both", "session"],
        display: str | None = None,
        corrected: bool = False,
        matched: int = 0,
    ) -> "Completion":
        """Return a completion; it is shown as its text unless there is another form of it."""
        return super().__new__(cls, text, score, source, text if display is None else display, corrected, matched)

    @property
    def probability(self) -> float:
        """How likely it is that this query was meant.

        >>> Completion("new york", 0.0, "popular").probability
        1.0
        """
        return math.exp(self.score)


class Answer(list[Completion]):
    """The completions of a prefix, best first, and whether the deadline cut the search short."""

    __slots__ = ("timed_out",)

    def __init__(self, completions: Iterable[Completion] = (), *, timed_out: bool = False) -> None:
        super().__init__(completions)
        self.timed_out = timed_out

    @property
    def texts(self) -> list[str]:
        """The texts alone."""
        return [completion.text for completion in self]


class Completer(Protocol):
    """Anything that can be evaluated and served."""

    def complete(self, prefix: str, options: SearchOptions = DEFAULTS) -> list[Completion]:
        """Return the likeliest completions of `prefix`, best first."""
        ...


class Model:
    """A model file, mapped into memory and ready to complete.

    Immutable; one instance serves every thread, and the GIL is free while it searches.

    >>> model = load()
    >>> model.complete("new yo", count=2).texts
    ['new york city', 'new york']
    """

    def __init__(self, engine: "_engine.Completer", path: Path, header: Header, parts: Collection[str]) -> None:
        self._engine = engine
        self._profile = _profile_of(path, header)
        self._asked = DEFAULTS, engine_options(DEFAULTS)  # last, and as the engine takes them
        self.path = path
        self.card = header.card
        self.profile = self._profile
        self.policy = header.policy
        self.parts = tuple(part for part in PARTS if part in parts)
        self._lists_words = "lexicon.size" in header.places and len(parts) > 1 and "popular" in parts

    def __repr__(self) -> str:
        return f"Model({self.path.name!r}, parts={self.parts})"

    def complete(
        self,
        prefix: str,
        options: SearchOptions = DEFAULTS,
        *,
        context: Sequence[str] = (),
        **fields: Unpack[SearchFields],
    ) -> Answer:
        """Return the likeliest completions of `prefix`, best first; options may be given by name, as in count=5.

        `context` is what the same person searched before, the oldest query first. The last 20 queries are looked at.
        """
        options = with_fields(options, fields)
        known, converted = self._asked
        if options is not known:  # most callers ask with the same options again and again
            converted = engine_options(self._checked(options))
            self._asked = options, converted
        earlier = normalise_context(context, self._profile) if context else []
        found, timed_out = self._engine.complete(self._normalised(prefix), converted, Completion, earlier)
        return Answer(found, timed_out=timed_out)

    def complete_batch(
        self,
        prefixes: Sequence[str],
        options: SearchOptions = DEFAULTS,
        *,
        contexts: Sequence[Sequence[str]] = (),
        **fields: Unpack[SearchFields],
    ) -> list[Answer]:
        """Complete many prefixes on all cores; `contexts`, if given, has one context for each."""
        if isinstance(prefixes, str):
            raise TextError(f"complete_batch takes several prefixes, got one text {prefixes!r}; pass a list")
        converted = engine_options(self._checked(with_fields(options, fields)))
        normalised = [self._normalised(prefix) for prefix in prefixes]
        check_contexts(prefixes, contexts)
        earlier = [normalise_context(context, self._profile) for context in contexts]
        answers = self._engine.complete_batch(normalised, converted, 0, Completion, earlier)
        return [Answer(found, timed_out=timed_out) for found, timed_out in answers]

    @property
    def kernels(self) -> str:
        """The instruction set in use; empty where there is no language model."""
        return self._engine.kernels if set(self.parts) & {"ngram", "network"} else ""

    @property
    def queries(self) -> int:
        """How many different queries popularity knows."""
        return len(self._engine)

    def _checked(self, options: SearchOptions) -> SearchOptions:
        """Refuse what this model cannot promise."""
        if options.invent == Invent.NEVER and self.parts != ("popular",) and not self._lists_words:
            raise OptionError(
                'this model has no list of words to keep to; without invent="never" it completes, '
                "and trained again with popularity it has one"
            )
        return options

    def _normalised(self, prefix: str) -> str:
        if not isinstance(prefix, str):
            raise TextError(f"a prefix must be text, got {prefix!r}")
        return normalise_prefix(prefix, self._profile)


def load(
    path: str | Path = DEFAULT_MODEL,
    *,
    parts: Collection[str] = PARTS,
    precision: str = "int8",
    kernels: str = "",
    cache: bool = True,
    verify: bool = True,
) -> Model:
    """Open a model file, or the one that ships; it is mapped into memory.

    `parts` leaves out what is not named. `precision` and `kernels` (an instruction set; the fastest unless named) are
    the network's. With `cache` the model remembers what it made of recent prefixes and its answers to very short ones;
    the answers are the same without. With `verify` the arrays are compared with their checksums, which reads the whole
    file, about 0.2 seconds per gigabyte. Without, opening is quick whatever the size, and damage may go unnoticed.
    """
    path = Path(path)
    if precision not in PRECISIONS:
        raise OptionError(f"precision must be one of {', '.join(PRECISIONS)}; got {precision!r}")
    unknown = sorted(set(parts) - set(PARTS))
    if unknown:
        raise OptionError(f"parts must be some of {', '.join(PARTS)}; got {', '.join(unknown)}")
    header = read_header(path)
    wanted = {part for part in parts if header.holds(part)}
    if not wanted:
        raise ModelFileError(f"{path} has no part that can complete; make one with: halfword train data/ -o {path}")
    engine = import_engine()
    sizes = (CACHED_STATES, CACHED_ANSWERS) if cache else (0, 0)
    try:
        _check_features(path, header, wanted)
        file = open_model_file(path, header, left_out=set(PARTS) - set(parts), verify=verify)
        uses = [part in wanted for part in PARTS]
        policy = engine_policy(header.policy)
        completer = engine.Completer(file, policy, *uses, precision == "int8", kernels, *sizes)
    except engine.EngineFileError as error:
        raise ModelFileError(f"{path} is damaged: {error}; copy or train it again") from error
    except ValueError as error:
        raise OptionError(str(error)) from error
    return Model(completer, path, header, wanted)


def _check_features(path: Path, header: Header, parts: Collection[str]) -> None:
    """Refuse a ranker that was fitted to other features than the engine computes; new ones come after the old ones."""
    if len(parts) < 2 or "popular" not in parts:
        return
    known, mean = len(header.features), header.places.get("ranker.mean")
    fits = mean is not None and mean.shape == (known,)
    if not fits or list(header.features) != import_engine().feature_names()[:known]:
        raise ModelFileError(
            f"{path}: its ranker looks at other features than this version; "
            f"fit it again with: halfword train DATA --base {path} -o NEW"
        )


def open_model_file(
    path: Path, header: Header, left_out: Collection[str] = (), *, verify: bool = True
) -> "_engine.ModelFile":
    """Verify a model file and map it for the engine, without the arrays of the parts that are left out."""
    engine = import_engine()
    wanted = {name: place for name, place in header.places.items() if name.partition(".")[0] not in left_out}
    if verify:
        check_arrays(path, wanted)
    places = {name: engine.ArrayPlace(place.dtype, place.begin, place.end) for name, place in wanted.items()}
    mapped: _engine.ModelFile = engine.ModelFile(str(path), places)
    return mapped


@lru_cache(maxsize=256)
def engine_options(options: SearchOptions) -> "_engine.SearchOptions":
    """Return `options` as the engine takes them; where they leave a choice, `adapt` or a limit that is none."""
    converted: _engine.SearchOptions = import_engine().SearchOptions()
    open_choices = {"haste": 0.0, "retrace": 2**63 - 1, "deadline_ms": 0.0, "min_probability": -1.0}
    for field in SearchOptions.__slots__:
        value = getattr(options, field)
        if field == "invent":
            value = list(Invent).index(Invent(value))
        elif field == "typos":
            value = value == Typos.AUTO
        elif field == "order":
            converted.any_order = value == Order.ANY
            continue
        setattr(converted, field, open_choices[field] if value is None else value)
    converted.adapt = options.haste is None
    return converted


def engine_policy(policy: Policy) -> "_engine.Policy":
    """Return `policy` as the engine takes it."""
    converted: _engine.Policy = import_engine().Policy()
    values: dict[str, Any] = policy.to_json()
    for name, value in values.items():
        setattr(converted, name, float(value))
    return converted


def _profile_of(path: Path, header: Header) -> Profile:
    name = header.card.profile
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
