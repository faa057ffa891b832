"""The state of an unfinished training, from which it can be resumed.

A checkpoint is a safetensors file. `__metadata__` holds `halfword-checkpoint`, the version of this layout, and `state`,
a JSON text of `State`. Its arrays: `now.*` the weights, `best.*` those of the best epoch so far, `mean.*` and
`square.*` Adam's two moments, and `segmenter`, the SentencePiece model.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from halfword.core.errors import ModelFileError
from halfword.core.files import whole_file
from halfword.training.network.options import NetworkTraining

FORMAT = "2"


@dataclass(slots=True)
class State:
    """Where a training stands."""

    options: dict[str, Any]  # of the run; a resumed run must have the same
    data: dict[str, Any]  # fingerprint of the data, which must be the same too
    epoch: int = 0  # finished epochs
    step: int = 0  # finished steps of the current epoch
    steps_in_all: int = 0
    seconds: float = 0.0  # of training so far
    loss_sum: float = 0.0  # in the current epoch
    queries: int = 0  # read in the current epoch
    history: list[dict[str, float]] = field(default_factory=list)  # one entry per epoch

    @property
    def best(self) -> dict[str, float] | None:
        """Return the entry of the epoch with the lowest validation loss."""
        return min(self.history, key=lambda entry: entry["valid_loss"], default=None)


def write_checkpoint(path: Path, state: State, arrays: dict[str, Tensor]) -> None:
    """Write a checkpoint, whole or not at all."""
    metadata = {"halfword-checkpoint": FORMAT, "state": json.dumps(asdict(state))}
    ready = {name: array.detach().cpu().contiguous() for name, array in arrays.items()}
    encoded = save(ready, metadata)
    with whole_file(path) as stream:
        stream.write(encoded)


def read_checkpoint(path: Path) -> tuple[State, dict[str, Tensor]]:
    """Read a checkpoint."""
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except FileNotFoundError:
        raise ModelFileError(f"{path} does not exist, so there is nothing to resume; leave out --resume") from None
    except (OSError, SafetensorError) as error:
        raise ModelFileError(f"{path} cannot be read ({error}); delete it and train again") from error
    if metadata.get("halfword-checkpoint") != FORMAT:
        raise ModelFileError(f"{path} is not a checkpoint of this version; delete it and train again")
    return State(**json.loads(metadata["state"])), arrays


def named(prefix: str, arrays: dict[str, Tensor]) -> dict[str, Tensor]:
    """Return the arrays whose names begin with `prefix`, without it."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def check_same(path: Path, found: Mapping[str, Any], asked: Mapping[str, Any], what: str) -> None:
    """Refuse to resume with other options or other data than before; the time limit may differ."""
    names = {*found, *asked} - {"time_limit"}
    different = sorted(name for name in names if found.get(name) != asked.get(name))
    if different:
        changes = ", ".join(f"{name} was {found.get(name)}, is {asked.get(name)}" for name in different)
        raise ModelFileError(
            f"{path} was made with other {what} ({changes}); repeat them, or delete it and train again"
        )


def cpu_copy(arrays: dict[str, Tensor]) -> dict[str, Tensor]:
    """Return copies on the CPU, which later steps do not change."""
    return {name: array.detach().to("cpu", copy=True) for name, array in arrays.items()}


def fingerprint(train: Mapping[str, int], valid: Mapping[str, int]) -> dict[str, Any]:
    """Return what tells one dataset from another: how much is learned from, and a digest of every query and count.

    >>> fingerprint({"new york": 2}, {}) == fingerprint({"new york": 1}, {})
    False
    """
    digest = hashlib.blake2b(digest_size=16)
    for counts in (train, valid):
        for query, count in counts.items():
            digest.update(f"{query}\t{count}\n".encode())
        digest.update(b"\n")
    return {"queries": len(train), "rows": sum(train.values()), "digest": digest.hexdigest()}


def describe(options: NetworkTraining, least_count: int = 1) -> dict[str, Any]:
    """Return the options as a flat JSON object; `least_count` is how often a word must occur to teach pieces."""
    flat: dict[str, Any] = {"least_count": least_count} if least_count > 1 else {}
    for name, value in json.loads(json.dumps(asdict(options))).items():
        flat |= value if isinstance(value, dict) else {name: value}
    return flat
