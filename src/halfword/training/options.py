"""What `train` can be told; each default has its home here or in the options of the network."""

from dataclasses import dataclass, field, replace
from pathlib import Path

from halfword.core.errors import OptionError
from halfword.search.model import PARTS
from halfword.training.network.options import NetworkTraining, preset_named

BEST = "best"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainOptions:
    """What to learn, and how."""

    parts: tuple[str, ...] = PARTS
    network: NetworkTraining = field(default_factory=lambda: preset_named("default"))
    best: bool = False  # train wide networks first, beside the output, which then teach this one
    memory_size: float | None = None  # megabytes of the n-gram memory; None keeps everything
    compact: bool = False  # store the network in 8 bits only, a quarter of the size
    drop_misspellings: bool = False  # do not learn likely slips of the keyboard
    note: str | None = None  # for the card
    licence: str | None = None
    base: Path | None = None  # a model file whose pieces and network are taken over instead of learned
    device: str | None = None  # cpu or cuda; None: the best there is
    resume: bool = False  # go on with a training that was stopped

    def __post_init__(self) -> None:
        unknown = [part for part in self.parts if part not in PARTS]
        if unknown or not self.parts:
            raise OptionError(f"parts must be some of {', '.join(PARTS)}; got {', '.join(unknown) or 'none'}")
        if self.best and (self.network.teachers or self.base or "network" not in self.parts):
            raise OptionError(
                "--best trains a network and its teachers; leave out --teacher and --base, keep the network in --parts"
            )


def with_preset(options: TrainOptions, name: str) -> TrainOptions:
    """Return `options` with the network of a preset; `best` is the preset `taught` and trains its teachers first."""
    if name == BEST:
        return replace(options, network=preset_named("taught"), best=True)
    return replace(options, network=preset_named(name))
