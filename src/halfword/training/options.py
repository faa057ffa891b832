"""What `train` can be told; each default has its home here or in the options of the network."""

from dataclasses import dataclass, field, replace
from pathlib import Path

from halfword.core.errors import OptionError
from halfword.core.fields import option
from halfword.search.model import PARTS
from halfword.training.network.options import NetworkTraining, preset_named

BEST = "best"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainOptions:
    """What to learn, and how."""

    parts: tuple[str, ...] = option(PARTS, "What to learn.", commas=True)
    network: NetworkTraining = field(default_factory=lambda: preset_named("default"))
    best: bool = False  # train wide networks first, beside the output, which then teach this one
    # None keeps everything.
    memory_size: float | None = option(None, "Megabytes of the n-gram memory.")
    compact: bool = option(False, "Store the network in 8 bits only.", rare=True)  # a quarter of the size
    drop_misspellings: bool = option(False, "Do not learn likely typing mistakes.")
    base: Path | None = option(None, "Take the network over from this model.")  # its pieces too
    note: str | None = option(None, "A sentence for the model's card.", rare=True)
    licence: str | None = option(None, "The model's licence, for its card.", rare=True)
    device: str | None = option(None, "cpu or cuda; left out, the best there is.")
    resume: bool = option(False, "Go on with a training that was stopped.")

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
