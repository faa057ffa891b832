"""What `train` can be told; each default has its home here or in the options of the network."""

import math
from dataclasses import dataclass, field, replace
from pathlib import Path

from halfword.core.errors import OptionError
from halfword.core.fields import option
from halfword.core.machine import machine_memory
from halfword.search.model import PARTS
from halfword.training.network.options import NetworkTraining, preset_named
from halfword.training.segment import SegmentOptions

BEST = "best"
SHIPPED = "shipped"  # as the background: the model that ships
NO_BACKGROUND = "none"
ORDER = 6  # of n-grams; 8 ranks no better on aol-1m's valid split, and costs time at every step
_SEGMENT = SegmentOptions()
_GIGABYTE = 1e9  # bytes
_SEVERAL = 4  # with 3, a query typed once is still recited 1.5 times as often as an unseen one is guessed


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainOptions:
    """What to learn, and how."""

    parts: tuple[str, ...] = option(PARTS, "What to learn.", commas=True)
    network: NetworkTraining = field(default_factory=lambda: preset_named("default"))
    best: bool = False  # train wide networks first, beside the output, which then teach this one
    # None: by the number of queries
    memory_size: float | None = option(None, "Megabytes of the n-gram memory.")
    # what a large log loses by it: docs/research/scale.md
    query_bytes: float = option(22.0, "Bytes of it per distinct query of a large log.", rare=True)
    companion_bytes: float = option(4.0, "Bytes of co-occurring words per distinct query of a large log.", rare=True)
    tree_bytes: float = option(7.4, "Bytes of the tree of words per distinct query of a large log.", rare=True)
    keep_whole: float = option(20.0, "Megabytes up to which each of these is kept whole.", rare=True)
    # None: a quarter of the machine's
    memory: float | None = option(None, "Gigabytes that counting n-grams may take.", rare=True)
    # pieces and n-grams that `halfword count` has counted, of this log or of a larger one
    counts: Path | None = option(None, "Take the n-grams from these counts.", rare=True)
    compact: bool = option(False, "Store the network in 8 bits only.", rare=True)  # a quarter of the size
    drop_misspellings: bool = option(False, "Do not learn likely typing mistakes.", rare=True)
    # those of a small site are not learned otherwise: `training/misspellings.py`
    keep_misspellings: bool = option(False, "Learn them in the log of a small site, too.", rare=True)
    base: Path | None = option(None, "Take the network over from this model.")  # its pieces too
    live: Path | None = option(None, "Learn this journal of live changes too.", rare=True)
    removed: Path | None = option(None, "Do not learn these queries.", rare=True)
    background: str = option(SHIPPED, "A model to stand on, or none.")
    hold_out: bool = option(False, "Learn the train split only, to measure it.")
    no_copying: bool = option(False, "Do not learn to copy from the session.", rare=True)
    private: bool = option(False, "Learn only what several queries share.", rare=True)
    note: str | None = option(None, "A sentence for the model's card.", rare=True)
    licence: str | None = option(None, "The model's licence, for its card.", rare=True)
    device: str | None = option(None, "cpu or cuda; left out, the best there is.")
    resume: bool = option(False, "Go on with a training that was stopped.")

    def drops_misspellings(self, small_site: bool) -> bool:
        """Tell whether likely typing mistakes of a log, which may be that of a small site, are not learned.

        Where there are few queries that are offered, each mistake is seen, and would be right when it is typed again.
        """
        offered = small_site and "popular" in self.parts
        return self.drop_misspellings or (offered and not self.keep_misspellings)

    def __post_init__(self) -> None:
        unknown = [part for part in self.parts if part not in PARTS]
        if unknown or not self.parts:
            raise OptionError(f"parts must be some of {', '.join(PARTS)}; got {', '.join(unknown) or 'none'}")
        for name, value in (
            ("memory", self.memory),
            ("query-bytes", self.query_bytes),
            ("companion-bytes", self.companion_bytes),
            ("tree-bytes", self.tree_bytes),
        ):
            if value is not None and not 0 < value < math.inf:
                raise OptionError(f"{name} must be more than 0, got {value}")
        if not 0 <= self.keep_whole < math.inf:
            raise OptionError(f"keep-whole must be 0 or more, got {self.keep_whole}")
        if self.background not in (SHIPPED, NO_BACKGROUND) and not self.stands:
            raise OptionError(
                f"a background brings its own pieces and memory; with --background {self.background} keep ngram in "
                f"--parts and leave out --best, --teacher, --memory-size, --counts, --segmentation and --vocabulary"
            )
        if self.counts is not None and ("network" in self.parts or self.base or self.live or self.removed):
            raise OptionError(
                "--counts brings pieces and n-grams, which nothing else may change; "
                "leave network out of --parts, and leave out --base, --live and --removed"
            )
        if self.best and (self.network.teachers or self.base or "network" not in self.parts):
            raise OptionError(
                "--best trains a network and its teachers; leave out --teacher and --base, keep the network in --parts"
            )

    @property
    def memory_bytes(self) -> float:
        """How much memory counting may take, in bytes."""
        return machine_memory() / 4 if self.memory is None else self.memory * _GIGABYTE

    def memory_room(self, queries: int) -> float:
        """Return the megabytes of the n-gram memory of so many distinct queries."""
        if self.memory_size is not None:
            return self.memory_size
        return max(self.keep_whole, self.query_bytes * queries / 1e6)

    def companion_room(self, queries: int) -> float:
        """Return the megabytes of the words that co-occur in so many queries; a quarter of a size asked for."""
        if self.memory_size is not None:
            return self.memory_size / 4
        return max(self.keep_whole, self.companion_bytes * queries / 1e6)

    def tree_room(self, queries: int) -> float:
        """Return the megabytes of the tree of the words of so many distinct queries."""
        return max(self.keep_whole, self.tree_bytes * queries / 1e6)

    @property
    def stands(self) -> bool:
        """Whether the log may stand on a background: it gives pieces and memory, so nothing else may decide on them."""
        own = self.memory_size is not None or self.network.teachers or self.best or self.network.segment != _SEGMENT
        own = own or self.counts is not None
        return self.background != NO_BACKGROUND and "ngram" in self.parts and not own

    @property
    def least_count(self) -> int:
        """How often a query, a pair of words or an n-gram must occur to be kept."""
        return _SEVERAL if self.private else 1


def with_preset(options: TrainOptions, name: str) -> TrainOptions:
    """Return `options` with the network of a preset; `best` is the preset `taught` and trains its teachers first."""
    if name == BEST:
        return replace(options, network=preset_named("taught"), best=True)
    return replace(options, network=preset_named(name))
