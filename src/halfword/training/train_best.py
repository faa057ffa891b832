"""The best model that one command makes: networks too wide to ask at every key are trained first, and teach."""

import os
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from halfword.core.errors import ModelFileError, OptionError
from halfword.core.files import check_output_file
from halfword.core.model_file import read_header
from halfword.core.progress import Progress, named, quiet
from halfword.data.dataset import Dataset
from halfword.search.model import import_engine
from halfword.training.network.options import PRESETS, TEACHERS, NetworkTraining, checkpoint_path
from halfword.training.options import TrainOptions
from halfword.training.train import train


def train_best(
    data: Dataset,
    output: Path,
    options: TrainOptions,
    progress: Progress = quiet,
    teacher: NetworkTraining | None = None,
) -> dict[str, Any]:
    """Train teachers beside `output`, then `output` with them, each in its share of the time limit; return the card."""
    _check(output, options)
    teacher = teacher or teacher_of(options.network)
    paths = [output.with_name(f"{output.stem}.teacher-{number + 1}{output.suffix}") for number in range(TEACHERS)]
    for number, path in enumerate(paths):
        network = replace(_in_its_share(teacher), seed=teacher.seed + number)
        if options.resume and _is_finished(path, data, network):
            continue
        begun = number == 0 or path.exists() or checkpoint_path(path).exists()
        alone = TrainOptions(
            parts=("network",), network=network, device=options.device, resume=options.resume and begun
        )
        train(data, path, alone, named(f"teacher {number + 1}", progress))
    pupil = replace(_in_its_share(options.network), teachers=tuple(map(str, paths)))
    resume = options.resume and checkpoint_path(output).exists()
    return train(data, output, replace(options, network=pupil, best=False, resume=resume), progress)


def teacher_of(pupil: NetworkTraining) -> NetworkTraining:
    """Return how the teachers of a network are trained: as it is, but as wide as the preset says, and untaught."""
    preset = PRESETS["teacher"]
    return replace(pupil, network=preset.network, teachers=(), teacher_share=preset.teacher_share)


def _check(output: Path, options: TrainOptions) -> None:
    """Find what would stop the last training before the first one, not hours later."""
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


def _in_its_share(network: NetworkTraining) -> NetworkTraining:
    return replace(network, time_limit=network.time_limit / (TEACHERS + 1)) if network.time_limit else network
