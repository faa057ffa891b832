"""One command trains wide networks and the one that they teach."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

pytest.importorskip("torch")

from halfword.cli.commands import app
from halfword.core.errors import ModelFileError, OptionError, OutputError
from halfword.core.fields import changed
from halfword.core.model_file import read_header
from halfword.data.dataset import Dataset, open_dataset
from halfword.training import train_best as best
from halfword.training.network.options import TEACHERS, NetworkTraining, checkpoint_path
from halfword.training.options import TrainOptions
from tests.training import SMALL, make_dataset

WIDE = changed(SMALL, {"hidden_size": 24})
PUPIL = TrainOptions(parts=("network",), network=SMALL, device="cpu")


@pytest.fixture
def data(tmp_path: Path) -> Dataset:
    return open_dataset(make_dataset(tmp_path / "data"))


def train(
    data: Dataset, output: Path, options: TrainOptions = PUPIL, teacher: NetworkTraining = WIDE
) -> dict[str, Any]:
    return best.train_best(data, output, options, teacher=teacher)


def teachers_of(model: Path) -> list[Path]:
    return [model.with_name(f"{model.stem}.teacher-{number}.halfword") for number in range(1, TEACHERS + 1)]


def test_the_wide_networks_stay_beside_the_one_they_taught(data: Dataset, tmp_path: Path) -> None:
    card = train(data, tmp_path / "my.halfword")
    teachers = teachers_of(tmp_path / "my.halfword")
    cards = [read_header(teacher).card["parts"]["network"] for teacher in teachers]
    assert {each["hidden_size"] for each in cards} == {24}
    assert [each["options"]["seed"] for each in cards] == list(range(TEACHERS))
    assert card["parts"]["network"]["hidden_size"] == SMALL.network.hidden_size
    assert card["parts"]["network"]["options"]["teachers"] == [str(teacher) for teacher in teachers]
    assert not any(checkpoint_path(teacher).exists() for teacher in teachers)


def test_a_finished_teacher_is_not_trained_again(
    data: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = tmp_path / "my.halfword"
    teachers = teachers_of(model)
    first, second, third = teachers[:3]
    train(data, model)
    trained: list[tuple[str, bool]] = []

    def note(data: Dataset, output: Path, options: TrainOptions, progress: object) -> dict[str, Any]:
        trained.append((output.name, options.resume))
        return {}

    def trained_by(*arguments: Any) -> list[tuple[str, bool]]:
        trained.clear()
        train(data, model, *arguments)
        return list(trained)

    monkeypatch.setattr(best, "train", note)
    going_on = replace(PUPIL, resume=True)
    assert trained_by(going_on) == [(model.name, False)]
    again = [(path.name, False) for path in (*teachers, model)]
    assert trained_by() == again
    changed_mind = [(path.name, True) for path in teachers]
    assert trained_by(going_on, changed(WIDE, {"seed": 7})) == [*changed_mind, (model.name, False)]
    checkpoint_path(model).touch()
    assert trained_by(going_on) == [(model.name, True)]
    checkpoint_path(second).touch()
    assert trained_by(going_on) == [(second.name, True), (model.name, True)]
    third.unlink()
    assert trained_by(going_on) == [(second.name, True), (third.name, False), (model.name, True)]
    first.unlink()
    assert trained_by(going_on)[0] == (first.name, True)  # which says that there is nothing to go on with


def test_what_would_stop_the_last_training_is_found_before_the_first(data: Dataset, tmp_path: Path) -> None:
    checkpoint_path(tmp_path / "my.halfword").touch()
    with pytest.raises(ModelFileError, match="left from a training that was stopped; go on with --resume"):
        train(data, tmp_path / "my.halfword")
    with pytest.raises(OutputError):
        train(data, tmp_path)
    assert not any(path.exists() for path in teachers_of(tmp_path / "my.halfword"))


def test_the_command_passes_on_what_both_must_share(
    data: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[TrainOptions, NetworkTraining]] = []

    def note(data: Dataset, output: Path, options: TrainOptions, progress: object) -> dict[str, Any]:
        asked.append((options, best.teacher_of(options.network)))
        return {"parts": {}}

    monkeypatch.setattr(best, "train_best", note)
    arguments = ["train", str(data.path), "-o", str(tmp_path / "my.halfword"), "--best", "--seed", "3"]
    done = CliRunner().invoke(app, [*arguments, "--hidden-size", "99", "--learning-rate", "0.01"])
    assert done.exit_code == 0, done.output
    ((options, teacher),) = asked
    assert (options.network.network.hidden_size, teacher.network.hidden_size) == (99, 1200)
    assert options.network.seed == teacher.seed == 3
    assert options.network.learning_rate == teacher.learning_rate == 0.01


def test_the_time_limit_is_shared(data: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limits = []

    def note(data: Dataset, output: Path, options: TrainOptions, progress: object) -> dict[str, Any]:
        limits.append(options.network.time_limit)
        return {}

    monkeypatch.setattr(best, "train", note)
    limited = replace(SMALL, time_limit=30.0)
    train(data, tmp_path / "my.halfword", replace(PUPIL, network=limited), replace(WIDE, time_limit=30.0))
    assert limits == [30.0 / (TEACHERS + 1)] * (TEACHERS + 1)


def test_several_processes_are_refused(data: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(OptionError, match="--best is for one process"):
        train(data, tmp_path / "my.halfword")
