"""A dataset becomes a model file: each part that was asked for is learned from the train split."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from halfword.complete import import_engine
from halfword.dataset import Dataset, Split
from halfword.errors import OptionError
from halfword.files import check_output_file
from halfword.model_file import Array, write_model

PARTS = ("popular",)
_LARGEST_COUNT = 2**32 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainOptions:
    """What to learn."""

    parts: tuple[str, ...] = PARTS

    def __post_init__(self) -> None:
        unknown = [part for part in self.parts if part not in PARTS]
        if unknown or not self.parts:
            raise OptionError(f"parts must be some of {', '.join(PARTS)}; got {', '.join(unknown) or 'none'}")


def train(
    data: Dataset, output: Path, options: TrainOptions, progress: Callable[[str], None] = lambda stage: None
) -> dict[str, Any]:
    """Learn from the train split of `data`, write the model file `output` and return its card."""
    check_output_file(output)
    progress("reading the train split")
    counts = data.counts(Split.TRAIN)
    progress(f"indexing {len(counts):,} queries")
    arrays = popular_arrays(counts)
    card = {
        "halfword": version("halfword"),
        "date": datetime.now(UTC).date().isoformat(),
        "profile": data.profile.name,
        "parts": {"popular": {"queries": len(counts), "rows": sum(counts.values())}},
        "data": data.about(),
    }
    progress("writing the model")
    write_model(output, arrays, card)
    return card


def popular_arrays(counts: dict[str, int]) -> dict[str, Array]:
    """Return the popularity index of `counts`, as arrays for a model file."""
    too_large = next((query for query, count in counts.items() if count > _LARGEST_COUNT), None)
    if too_large is not None:
        raise OptionError(f"the count of {too_large!r} is {counts[too_large]}; scale the counts below 2^32")
    arrays = import_engine().popular_arrays(list(counts.items()))
    return {name: Array(dtype, data) for name, (dtype, data) in arrays.items()}
