"""The best model that one command makes: networks too wide to ask at every key are trained first, and teach."""

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from halfword.core.card import Card, NetworkCard
from halfword.core.errors import ModelFileError, OptionError
from halfword.core.model_file import check_model_output, read_header
from halfword.core.progress import Progress, named, quiet
from halfword.data.dataset import Dataset, Split
from halfword.search.model import import_engine
from halfword.training.network.checkpoint import check_same, describe, fingerprint, read_checkpoint
from halfword.training.network.options import PRESETS, TEACHERS, NetworkTraining, checkpoint_path
from halfword.training.options import TrainOptions
from halfword.training.train import train


def train_best(
    data: Dataset,
    output: Path,
    options: TrainOptions,
    progress: Progress = quiet,
    teacher: NetworkTraining | None = None,
) -> Card:
    """Train teachers beside `output`, then `output` with them, each in its share of the time limit; return the card."""
    _check(output, options)
    teacher = _in_its_share(teacher or teacher_of(options.network))
    teachers = {
        output.with_name(f"{output.stem}.teacher-{number + 1}{output.suffix}"): replace(
            teacher, seed=teacher.seed + number
        )
        for number in range(TEACHERS)
    }
    pupil = replace(_in_its_share(options.network), teachers=tuple(map(str, teachers)))
    finished = _finished(data, teachers, output, pupil, options.least_count) if options.resume else set()
    for number, (path, network) in enumerate(teachers.items(), 1):
        if path not in finished:
            resume = options.resume and checkpoint_path(path).exists()
            alone = TrainOptions(
                parts=("network",),
                network=network,
                device=options.device,
                resume=resume,
                private=options.private,  # teacher and pupil must have the same pieces
                no_copying=True,  # nobody asks a teacher with a session
                hold_out=True,  # a teacher must not know the rows that its pupil is judged by
            )
            train(data, path, alone, named(f"teacher {number}", progress))
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
    check_model_output(output)
    import_engine()
    left = checkpoint_path(output)
    if left.exists() and not options.resume:
        raise ModelFileError(f"{left} is left from a training that was stopped; go on with --resume, or delete it")


def _finished(
    data: Dataset, teachers: Mapping[Path, NetworkTraining], output: Path, pupil: NetworkTraining, least: int
) -> set[Path]:
    """Return the teachers that need not be trained again; refuse what was made with other options or other data."""
    begun = [path for path in (*teachers, output) if checkpoint_path(path).exists()]
    finished = {path for path in teachers if path.exists() and path not in begun}
    if not begun and not finished:
        raise ModelFileError(f"{output} has no teacher yet, so there is nothing to resume; leave out --resume")
    train, valid = data.table(Split.TRAIN), data.table(Split.VALID)
    data_now, rows = fingerprint(train, valid), train.total
    for path in finished:
        made = read_header(path).card.parts.network or NetworkCard()
        check_same(path, made.options or {}, describe(teachers[path].fitted(rows), least), "options")
        check_same(path, made.data or {}, data_now, "data")
    for path in begun:
        state, _ = read_checkpoint(checkpoint_path(path))
        network = pupil if path == output else teachers[path]
        check_same(checkpoint_path(path), state.options, describe(network.fitted(rows), least), "options")
        check_same(checkpoint_path(path), state.data, data_now, "data")
    return finished


def _in_its_share(network: NetworkTraining) -> NetworkTraining:
    return replace(network, time_limit=network.time_limit / (TEACHERS + 1)) if network.time_limit else network
