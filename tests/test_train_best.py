"""One command trains wide networks and the one that they teach."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

pytest.importorskip("torch")

from halfword.cli.main import app
from halfword.core.card import Card
from halfword.core.errors import ModelFileError, OptionError, OutputError
from halfword.core.fields import changed
from halfword.core.model_file import read_header
from halfword.core.progress import Event, Progress, Stopped, quiet
from halfword.data.dataset import Dataset, open_dataset
from halfword.training import train_best as best
from halfword.training.network.options import TEACHERS, NetworkTraining, checkpoint_path
from halfword.training.network.train_network import TrainingStopped
from halfword.training.options import TrainOptions
from tests.training import SMALL, make_dataset

pytestmark = pytest.mark.usefixtures("one_thread")

WIDE = changed(SMALL, {"hidden_size": 24})
PUPIL = TrainOptions(parts=("network",), network=SMALL, device="cpu")


@pytest.fixture
def data(tmp_path: Path) -> Dataset:
    return open_dataset(make_dataset(tmp_path / "data"))


def train(
    data: Dataset,
    output: Path,
    options: TrainOptions = PUPIL,
    teacher: NetworkTraining = WIDE,
    progress: Progress = quiet,
) -> Card:
    return best.train_best(data, output, options, progress, teacher)


def stop_in(stage: str, seen: list[str] | None = None) -> Progress:
    """Return a progress function that stops in the middle of a stage, and notes those that it has seen."""

    def progress(event: Event) -> None:
        if seen is not None:
            seen.append(event.stage)
        if event.stage == stage and "queries/s" in event.detail:
            raise Stopped

    return progress


def teachers_of(model: Path) -> list[Path]:
    return [model.with_name(f"{model.stem}.teacher-{number}.halfword") for number in range(1, TEACHERS + 1)]


def test_the_wide_networks_stay_beside_the_one_they_taught(data: Dataset, tmp_path: Path) -> None:
    card = train(data, tmp_path / "my.halfword")
    teachers = teachers_of(tmp_path / "my.halfword")
    cards = [read_header(teacher).card.to_json()["parts"]["network"] for teacher in teachers]
    assert {each["hidden_size"] for each in cards} == {24}
    assert [each["options"]["seed"] for each in cards] == list(range(TEACHERS))
    network = card.to_json()["parts"]["network"]
    assert network["hidden_size"] == SMALL.network.hidden_size
    assert network["options"]["teachers"] == [str(teacher) for teacher in teachers]
    assert not any(checkpoint_path(teacher).exists() for teacher in teachers)


def test_a_finished_teacher_is_not_trained_again(
    data: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = tmp_path / "my.halfword"
    teachers = teachers_of(model)
    third = teachers[2]
    train(data, model)
    trained: list[tuple[str, bool]] = []

    def note(data: Dataset, output: Path, options: TrainOptions, progress: object) -> Card:
        trained.append((output.name, options.resume))
        return Card()

    def trained_by(*arguments: Any) -> list[tuple[str, bool]]:
        trained.clear()
        train(data, model, *arguments)
        return list(trained)

    monkeypatch.setattr(best, "train", note)
    going_on = replace(PUPIL, resume=True)
    assert trained_by(going_on) == [(model.name, False)]
    again = [(path.name, False) for path in (*teachers, model)]
    assert trained_by() == again
    third.unlink()
    assert trained_by(going_on) == [(third.name, False), (model.name, False)]


def test_a_training_that_was_stopped_goes_on_where_it_was(data: Dataset, tmp_path: Path) -> None:
    model = tmp_path / "my.halfword"
    with pytest.raises(TrainingStopped, match="stopped in epoch 2"):
        train(data, model, progress=stop_in("teacher 2: epoch 2/3"))
    assert [path.exists() for path in teachers_of(model)] == [True, False, False, False, False]
    stages: list[str] = []
    with pytest.raises(TrainingStopped, match="stopped in epoch 3"):
        train(data, model, replace(PUPIL, resume=True), progress=stop_in("epoch 3/3", stages))
    assert not any(stage.startswith("teacher 1") for stage in stages)
    assert next(stage for stage in stages if "epoch" in stage) == "teacher 2: epoch 2/3"
    with pytest.raises(ModelFileError, match=r"my.halfword.checkpoint was made with other options \(seed was 0, is 7"):
        train(data, model, replace(PUPIL, resume=True, network=changed(SMALL, {"seed": 7})))
    resumed = train(data, model, replace(PUPIL, resume=True))
    whole = train(data, tmp_path / "whole.halfword")
    best, expected = (card.to_json()["parts"]["network"]["best"]["valid_loss"] for card in (resumed, whole))
    assert best == expected


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"seed": 7}, r"my.teacher-1.halfword was made with other options \(seed was 0, is 7\)"),
        ({"learning_rate": 0.01}, r"other options \(learning_rate was 0.02, is 0.01\)"),
        ({"batch": 4}, r"other options \(batch was 8, is 4\)"),
        ({"clip": 0.5}, r"other options \(clip was 0.25, is 0.5\)"),
    ],
)
def test_teachers_that_were_trained_with_other_options_are_refused(
    data: Dataset, tmp_path: Path, change: dict[str, Any], line: str
) -> None:
    model = tmp_path / "my.halfword"
    with pytest.raises(TrainingStopped):
        train(data, model, progress=stop_in("teacher 2: epoch 1/3"))
    with pytest.raises(ModelFileError, match=line):
        train(data, model, replace(PUPIL, resume=True), changed(WIDE, change))


@pytest.mark.parametrize("split", ["train", "valid"])
def test_teachers_that_learned_from_other_data_of_the_same_file_names_are_refused(
    data: Dataset, tmp_path: Path, split: str
) -> None:
    model = tmp_path / "my.halfword"
    with pytest.raises(TrainingStopped):
        train(data, model, progress=stop_in("teacher 2: epoch 1/3"))
    file = data.path / f"{split}.query.txt"
    rows = file.read_text().splitlines()
    file.write_text("\n".join([rows[-1], *rows[1:]]) + "\n")  # the same number of rows
    with pytest.raises(ModelFileError, match="was made with other data"):
        train(data, model, replace(PUPIL, resume=True))


def test_there_must_be_something_to_resume(data: Dataset, tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="nothing to resume; leave out --resume"):
        train(data, tmp_path / "my.halfword", replace(PUPIL, resume=True))


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

    def note(data: Dataset, output: Path, options: TrainOptions, progress: object) -> Card:
        asked.append((options, best.teacher_of(options.network)))
        return Card()

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

    def note(data: Dataset, output: Path, options: TrainOptions, progress: object) -> Card:
        limits.append(options.network.time_limit)
        return Card()

    monkeypatch.setattr(best, "train", note)
    limited = replace(SMALL, time_limit=30.0)
    train(data, tmp_path / "my.halfword", replace(PUPIL, network=limited), replace(WIDE, time_limit=30.0))
    assert limits == [30.0 / (TEACHERS + 1)] * (TEACHERS + 1)


def test_several_processes_are_refused(data: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(OptionError, match="--best is for one process"):
        train(data, tmp_path / "my.halfword")
