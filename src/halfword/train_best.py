"""The best model that one command makes: a network too wide to ask at every key is trained first, and teaches."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from halfword.dataset import Dataset
from halfword.errors import OptionError
from halfword.network_training import NetworkTraining, checkpoint_path
from halfword.train import TrainOptions, train


def train_best(
    data: Dataset, output: Path, options: TrainOptions, teacher: NetworkTraining, progress: Callable[[str], None]
) -> dict[str, Any]:
    """Train `teacher` beside `output`, then `output` with it, each in half of the time limit; return the card."""
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        raise OptionError("--best is for one process; with torchrun train --preset teacher first, then --preset taught")
    assert options.network is not None
    path = output.with_name(f"{output.stem}.teacher{output.suffix}")
    if not (options.resume and path.exists() and not checkpoint_path(path).exists()):
        taught_by = TrainOptions(
            parts=("network",), network=_half_as_long(teacher), device=options.device, resume=options.resume
        )
        train(data, path, taught_by, lambda stage: progress(f"teacher: {stage}"))
    pupil = replace(_half_as_long(options.network), teachers=(str(path),))
    resume = options.resume and checkpoint_path(output).exists()
    return train(data, output, replace(options, network=pupil, resume=resume), progress)


def _half_as_long(network: NetworkTraining) -> NetworkTraining:
    return replace(network, time_limit=network.time_limit / 2) if network.time_limit else network
