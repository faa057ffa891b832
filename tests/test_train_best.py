"""One command trains a wide network and the one that it teaches."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from halfword import train_best as best
from halfword.dataset import Dataset, open_dataset
from halfword.errors import OptionError
from halfword.model_file import read_header
from halfword.network_training import NetworkTraining, changed, checkpoint_path
from halfword.train import TrainOptions
from tests.training import SMALL, make_dataset

WIDE = changed(SMALL, {"hidden_size": 24})
PUPIL = TrainOptions(parts=("network",), network=SMALL, device="cpu")


@pytest.fixture
def data(tmp_path: Path) -> Dataset:
    return open_dataset(make_dataset(tmp_path / "data"))


def train(
    data: Dataset, output: Path, options: TrainOptions = PUPIL, teacher: NetworkTraining = WIDE
) -> dict[str, Any]:
    return best.train_best(data, output, options, teacher, lambda stage: None)


def test_the_wide_network_stays_beside_the_one_it_taught(data: Dataset, tmp_path: Path) -> None:
    card = train(data, tmp_path / "my.halfword")
    teacher = tmp_path / "my.teacher.halfword"
    assert read_header(teacher).card["parts"]["network"]["hidden_size"] == 24
    assert card["parts"]["network"]["hidden_size"] == SMALL.network.hidden_size
    assert card["parts"]["network"]["options"]["teachers"] == [str(teacher)]
    assert not checkpoint_path(teacher).exists()


def test_a_finished_teacher_is_not_trained_again(
    data: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trained: list[tuple[str, bool]] = []

    def note(data: Dataset, output: Path, options: TrainOptions, progress: object) -> dict[str, Any]:
        trained.append((output.name, options.resume))
        return {}

    monkeypatch.setattr(best, "train", note)
    going_on = replace(PUPIL, resume=True)
    train(data, tmp_path / "my.halfword", going_on)
    (tmp_path / "my.teacher.halfword").touch()
    train(data, tmp_path / "my.halfword", going_on)
    checkpoint_path(tmp_path / "my.halfword").touch()
    train(data, tmp_path / "my.halfword", going_on)
    train(data, tmp_path / "my.halfword")
    first, second = "my.teacher.halfword", "my.halfword"
    assert trained == [(first, True), (second, False), (second, False), (second, True), (first, False), (second, False)]


def test_the_time_limit_is_shared(data: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limits = []

    def note(data: Dataset, output: Path, options: TrainOptions, progress: object) -> dict[str, Any]:
        assert options.network is not None
        limits.append(options.network.time_limit)
        return {}

    monkeypatch.setattr(best, "train", note)
    limited = replace(SMALL, time_limit=20.0)
    train(data, tmp_path / "my.halfword", replace(PUPIL, network=limited), replace(WIDE, time_limit=20.0))
    assert limits == [10.0, 10.0]


def test_several_processes_are_refused(data: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(OptionError, match="--best is for one process"):
        train(data, tmp_path / "my.halfword")
