"""The best model that one command makes: a network too wide to ask at every key is trained first, and teaches."""

import os
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from halfword.complete import import_engine
from halfword.dataset import Dataset
from halfword.errors import ModelFileError, OptionError
from halfword.files import check_output_file
from halfword.model_file import read_header
from halfword.network_training import NetworkTraining, checkpoint_path
from halfword.train import TrainOptions, train


def train_best(
    data: Dataset, output: Path, options: TrainOptions, teacher: NetworkTraining, progress: Callable[[str], None]
) -> dict[str, Any]:
    """Train `teacher` beside `output`, then `output` with it, each in half of the time limit; return the card."""
    assert options.network is not None
    _check(output, options)
    path = output.with_name(f"{output.stem}.teacher{output.suffix}")
    if not (options.resume and _is_finished(path, data, teacher)):
        taught_by = TrainOptions(
            parts=("network",), network=_half_as_long(teacher), device=options.device, resume=options.resume
        )
        train(data, path, taught_by, lambda stage: progress(f"teacher: {stage}"))
    pupil = replace(_half_as_long(options.network), teachers=(str(path),))
    resume = options.resume and checkpoint_path(output).exists()
    return train(data, output, replace(options, network=pupil, resume=resume), progress)


def _check(output: Path, options: TrainOptions) -> None:
    """Find what would stop the second training before the first one, not hours later."""
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        raise OptionError("--best is for one process; with torchrun train --preset teacher first, then --preset taught")
    check_output_file(output)
    if len(options.parts) > 1:
        import_engine()
    left = checkpoint_path(output)
    if left.exists() and not options.resume:
        raise ModelFileError(f"{left} is left from a training that was stopped; go on with --resume, or delete it")


def _is_finished(path: Path, data: Dataset, teacher: NetworkTraining) -> bool:
    """Tell whether a teacher is there that learned the same in the same way; how long it took does not matter."""
    if not path.exists() or checkpoint_path(path).exists():
        return False
    card = read_header(path).card
    made = card.get("parts", {}).get("network", {}).get("options", {})
    wanted = {**asdict(teacher.segment), **asdict(teacher.network), "epochs": teacher.epochs, "seed": teacher.seed}
    return card.get("data") == data.about() and all(made.get(name) == value for name, value in wanted.items())


def _half_as_long(network: NetworkTraining) -> NetworkTraining:
    return replace(network, time_limit=network.time_limit / 2) if network.time_limit else network
