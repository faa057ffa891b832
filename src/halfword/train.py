"""A dataset becomes a model file: each part that was asked for is learned from the train split."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from halfword.complete import import_engine
from halfword.dataset import Dataset, Split
from halfword.errors import OptionError, require
from halfword.files import check_output_file
from halfword.model_file import Array, write_model

if TYPE_CHECKING:
    from halfword.network_training import NetworkTraining

PARTS = ("popular", "network")
_LARGEST_COUNT = 2**32 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainOptions:
    """What to learn; how the network learns is left to its default preset unless it is given."""

    parts: tuple[str, ...] = PARTS
    network: "NetworkTraining | None" = None
    device: str | None = None  # cpu or cuda; left out, the best there is
    resume: bool = False  # go on with a training that was stopped

    def __post_init__(self) -> None:
        unknown = [part for part in self.parts if part not in PARTS]
        if unknown or not self.parts:
            raise OptionError(f"parts must be some of {', '.join(PARTS)}; got {', '.join(unknown) or 'none'}")


def train(
    data: Dataset, output: Path, options: TrainOptions, progress: Callable[[str], None] = lambda stage: None
) -> dict[str, Any]:
    """Learn from the train split of `data`, write the model file `output` and return its card."""
    from halfword import __version__

    check_output_file(output)
    if "popular" in options.parts:
        import_engine()  # a missing engine should be known now, not after hours
    arrays: dict[str, Array] = {}
    parts: dict[str, Any] = {}
    writes = True
    if "network" in options.parts:
        arrays, parts, writes = _learn_network(data, output, options, progress)
    if "popular" in options.parts and writes:
        progress("indexing the train split")
        counts = data.counts(Split.TRAIN)
        arrays |= popular_arrays(counts)
        parts["popular"] = {"queries": len(counts), "rows": sum(counts.values())}
    card = {
        "halfword": __version__,
        "date": datetime.now(UTC).date().isoformat(),
        "profile": data.profile.name,
        "parts": parts,
        "data": data.about(),
    }
    if writes:
        progress("writing the model")
        write_model(output, arrays, card)
        output.with_name(f"{output.name}.checkpoint").unlink(missing_ok=True)
    return card


def network_training(preset: str, changes: Mapping[str, Any]) -> "NetworkTraining":
    """Return a preset with those of `changes` that are not None."""
    from halfword.network_training import changed, preset_named

    return changed(preset_named(preset), {name: value for name, value in changes.items() if value is not None})


def _learn_network(
    data: Dataset, output: Path, options: TrainOptions, progress: Callable[[str], None]
) -> tuple[dict[str, Array], dict[str, Any], bool]:
    for module in ("numpy", "torch", "sentencepiece", "safetensors"):
        require(module, "train")
    from halfword.learn_network import learn_network
    from halfword.network_training import NetworkTraining
    from halfword.train_network import RunOptions

    run = RunOptions(device=options.device, resume=options.resume)
    learned = learn_network(data, output, options.network or NetworkTraining(), run, progress)
    return learned.arrays, learned.card, learned.writes


def popular_arrays(counts: dict[str, int]) -> dict[str, Array]:
    """Return the popularity index of `counts`, as arrays for a model file."""
    too_large = next((query for query, count in counts.items() if count > _LARGEST_COUNT), None)
    if too_large is not None:
        raise OptionError(f"the count of {too_large!r} is {counts[too_large]}; scale the counts below 2^32")
    arrays = import_engine().popular_arrays(list(counts.items()))
    return {name: Array(dtype, data) for name, (dtype, data) in arrays.items()}
