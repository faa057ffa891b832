"""A training learns, keeps its best epoch, can be stopped at any point and goes on as if it had not been."""

import errno
import json
import math
import os
import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file

from halfword.core.card import NetworkCard, PiecesCard
from halfword.core.errors import HalfwordError, ModelFileError, OptionError, OutputError
from halfword.core.fields import changed
from halfword.core.progress import Event, Progress, Stopped, quiet
from halfword.data.dataset import open_dataset
from halfword.training.network.learn_network import LearnedNetwork, LearnOptions, learn_network
from halfword.training.network.options import NetworkTraining, Schedule
from halfword.training.network.train_network import RunOptions, Training, TrainingStopped
from tests.training import SMALL, make_dataset, run_python

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return make_dataset(tmp_path / "data")


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "test.halfword"


def learn(
    data: Path, output: Path, options: NetworkTraining = SMALL, least_count: int = 1, hold_out: bool = True, **run: Any
) -> LearnedNetwork:
    progress = run.pop("progress", quiet)
    what = LearnOptions(network=options, least_count=least_count, hold_out=hold_out)
    return learn_network(open_dataset(data), output, what, RunOptions(device="cpu", **run), progress)


def stop() -> None:
    raise Stopped


def stop_after(reports: int, action: Callable[[], None] = stop) -> Progress:
    left = [reports]

    def progress(event: Event) -> None:
        left[0] -= "queries/s" in event.detail
        if left[0] == 0:
            action()

    return progress


def network_of(learned: LearnedNetwork) -> NetworkCard:
    assert learned.parts.network is not None
    return learned.parts.network


def same_arrays(one: LearnedNetwork, other: LearnedNetwork) -> bool:
    return all(one.arrays[name].data == other.arrays[name].data for name in one.arrays)


def test_the_loss_falls_and_the_card_tells_it(data: Path, output: Path) -> None:
    learned = learn(data, output, replace(SMALL, epochs=12))
    log = [json.loads(line) for line in Path(f"{output}.log.jsonl").read_text().splitlines()]
    assert len(log) == 12
    assert log[-1]["train_loss"] < 0.6 * log[0]["train_loss"]
    best = min(log, key=lambda entry: entry["valid_loss"])
    assert network_of(learned).best == best
    assert best["valid_perplexity"] == pytest.approx(math.exp(best["valid_loss"] / (32 / 4)))
    assert Path(f"{output}.loss.svg").read_text().count("polyline") == 2


def test_the_weights_kept_are_those_of_the_best_epoch(
    data: Path, output: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[float] = []
    weights = []

    def validate(training: Training) -> float:
        seen.append([3.0, 1.0, 2.0][len(seen)])
        weights.append(training.network.weights()["embedding"].tobytes())
        return seen[-1]

    monkeypatch.setattr(Training, "validate", validate)
    learned = learn(data, output)
    assert learned.arrays["network.embedding"].data == weights[1]
    assert (network_of(learned).best or {})["epoch"] == 2


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_every_segmentation_trains(data: Path, output: Path, kind: str) -> None:
    learned = learn(data, output, changed(SMALL, {"kind": kind, "size": 26, "epochs": 1}))
    assert learned.parts.pieces == PiecesCard(segmentation=kind, size=26)


def test_a_seed_decides_everything(data: Path, tmp_path: Path) -> None:
    first, again = (learn(data, tmp_path / name) for name in ("a", "b"))
    other = learn(data, tmp_path / "c", replace(SMALL, seed=1))
    assert same_arrays(first, again)
    assert not same_arrays(first, other)


KILLED = """
import os, signal, sys
from pathlib import Path
from halfword.data.dataset import open_dataset
from halfword.training.network.learn_network import LearnOptions, learn_network
from halfword.training.network.train_network import RunOptions
from tests.test_train_network import SMALL, stop_after
stop = stop_after(int(sys.argv[3]), lambda: os.kill(os.getpid(), signal.SIGKILL))
run = RunOptions(device="cpu", checkpoint_minutes=0)
what = LearnOptions(network=SMALL, hold_out=True)
learn_network(open_dataset(Path(sys.argv[1])), Path(sys.argv[2]), what, run, stop)
"""


@pytest.mark.parametrize("reports", [5, 7, 10])  # 7 is the last step of the first epoch
def test_a_killed_training_resumes_to_the_same_bits(data: Path, tmp_path: Path, reports: int) -> None:
    never_stopped = learn(data, tmp_path / "whole")
    output = tmp_path / "killed"
    done = run_python("-c", KILLED, data, output, str(reports))
    assert done.returncode == -signal.SIGKILL, done.stderr
    resumed = learn(data, output, resume=True)
    assert same_arrays(resumed, never_stopped)
    losses = [
        [json.loads(line)["valid_loss"] for line in Path(f"{path}.log.jsonl").read_text().splitlines()]
        for path in (output, tmp_path / "whole")
    ]
    assert losses[0] == losses[1]


@pytest.mark.parametrize("reports", [1, 5, 7, 21])  # 7 is the last step of the first epoch, 21 the last of all
def test_a_stop_saves_and_says_how_to_go_on(data: Path, output: Path, tmp_path: Path, reports: int) -> None:
    with pytest.raises(TrainingStopped, match="--resume"):
        learn(data, output, progress=stop_after(reports))
    assert same_arrays(learn(data, output, resume=True), learn(data, tmp_path / "whole"))


def test_a_stop_during_the_last_validation_keeps_a_checkpoint(data: Path, output: Path, tmp_path: Path) -> None:
    def progress(event: Event) -> None:
        if str(event) == "epoch 3/3, validating":
            raise Stopped

    with pytest.raises(TrainingStopped, match="stopped in epoch 3"):
        learn(data, output, progress=progress)
    assert same_arrays(learn(data, output, resume=True), learn(data, tmp_path / "whole"))


def test_a_training_outside_the_main_thread_works_and_leaves_the_signals_alone(
    data: Path, output: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signal, "signal", lambda *handler: pytest.fail("a signal handler was set"))
    with ThreadPoolExecutor(1) as pool:
        learned = pool.submit(learn, data, output).result()
    assert network_of(learned).epochs == 3


def test_a_stopped_training_is_not_overwritten_by_a_slip(data: Path, output: Path) -> None:
    with pytest.raises(TrainingStopped):
        learn(data, output, progress=stop_after(5))
    with pytest.raises(ModelFileError, match="--resume"):
        learn(data, output)


def test_resuming_asks_for_the_same_options_and_data(data: Path, output: Path, tmp_path: Path) -> None:
    with pytest.raises(TrainingStopped):
        learn(data, output, progress=stop_after(5))
    with pytest.raises(ModelFileError, match="batch was 8, is 16"):
        learn(data, output, replace(SMALL, batch=16), resume=True)
    (data / "train.query.txt").write_text("something else\n" * 20)
    with pytest.raises(ModelFileError, match="other data"):
        learn(data, output, resume=True)


def test_nothing_to_resume_is_an_error(data: Path, output: Path) -> None:
    with pytest.raises(ModelFileError, match="nothing to resume"):
        learn(data, output, resume=True)


def test_a_damaged_checkpoint_is_refused(data: Path, output: Path) -> None:
    Path(f"{output}.checkpoint").write_bytes(b"not a checkpoint")
    with pytest.raises(ModelFileError, match="delete it and train again"):
        learn(data, output, resume=True)


def test_a_loss_that_is_no_number_ends_training_in_a_line(
    data: Path, output: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "halfword.training.network.step.Stepper.step", lambda stepper, *step: stepper.loss_sum.fill_(math.nan)
    )
    with pytest.raises(TrainingStopped, match="lower --learning-rate") as caught:
        learn(data, output)
    assert "\n" not in str(caught.value)


def test_a_full_disk_is_a_line_and_keeps_the_last_checkpoint(
    data: Path, output: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    fill = stop_after(14, lambda: monkeypatch.setattr("os.fsync", full))
    with pytest.raises(OutputError, match="No space left"):
        learn(data, output, progress=fill, checkpoint_minutes=0)
    monkeypatch.undo()
    assert network_of(learn(data, output, resume=True)).epochs == 3


def test_a_time_limit_ends_training_with_the_learning_rate_brought_down(data: Path, output: Path) -> None:
    learned = learn(data, output, replace(SMALL, epochs=10_000, time_limit=0.03))
    network = network_of(learned)
    assert (network.minutes or 0) < 0.1
    assert (network.epochs or 0) < 10_000
    log = [json.loads(line) for line in Path(f"{output}.log.jsonl").read_text().splitlines()]
    assert log[-1]["learning_rate"] < 0.1 * SMALL.learning_rate


def test_a_time_limit_too_short_for_a_single_step_is_an_error(data: Path, output: Path) -> None:
    with pytest.raises(OptionError, match="before the first step"):
        learn(data, output, replace(SMALL, time_limit=1e-9))


def test_the_learning_rate_rises_then_falls_to_zero() -> None:
    options = NetworkTraining(learning_rate=0.1, warmup=0.1)
    rates = [options.learning_rate_at(progress) for progress in (0.05, 0.1, 0.55, 1.0)]
    assert rates == pytest.approx([0.05, 0.1, 0.05, 0.0])
    assert replace(options, schedule=Schedule.CONSTANT).learning_rate_at(0.9) == 0.1


def test_batch_and_learning_rate_are_fitted_to_the_log_unless_given() -> None:
    small, large = NetworkTraining().fitted(20_000), NetworkTraining().fitted(10_000_000)
    assert small.batch < large.batch
    assert small.learning_rate < large.learning_rate
    given = NetworkTraining(batch=7, learning_rate=0.5).fitted(20_000)
    assert (given.batch, given.learning_rate) == (7, 0.5)


TWO = """
import json, sys
from pathlib import Path
from halfword.data.dataset import open_dataset
from halfword.core.fields import changed
from halfword.core.progress import Event, Progress, Stopped, quiet
from halfword.training.options import TrainOptions
from halfword.training.train import train
from tests.training import SMALL
options = changed(SMALL, {"recurrent_dropout": 0.0, "batch": int(sys.argv[3])})
options = TrainOptions(parts=("network",), network=options, device="cpu", hold_out=True)
train(open_dataset(Path(sys.argv[1])), Path(sys.argv[2]), options)
"""


def test_two_processes_have_the_loss_of_one_with_the_doubled_batch(data: Path, tmp_path: Path) -> None:
    script = tmp_path / "two.py"
    script.write_text(TWO)
    two, one = tmp_path / "two.halfword", tmp_path / "one.halfword"
    launcher = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2")
    done = run_python(str(script), data, two, "4", launcher=launcher)
    if "terminate called without an active exception" in done.stderr:  # PyTorch's own threads, now and then, at exit
        Path(f"{two}.checkpoint").unlink(missing_ok=True)
        done = run_python(str(script), data, two, "4", launcher=launcher)
    assert done.returncode == 0, done.stderr
    learned = learn(data, one, changed(SMALL, {"recurrent_dropout": 0.0, "batch": 8}))
    logs = [[json.loads(line) for line in Path(f"{path}.log.jsonl").read_text().splitlines()] for path in (two, one)]
    for name in ("train_loss", "valid_loss"):
        np.testing.assert_allclose([e[name] for e in logs[0]], [e[name] for e in logs[1]], rtol=1e-4)
    weights = np.frombuffer(learned.arrays["network.embedding"].data, "<f4").reshape(-1, 8)
    np.testing.assert_allclose(load_file(two)["network.embedding"], weights, atol=1e-3)


def test_every_foreseen_stop_is_a_halfword_error() -> None:
    assert issubclass(TrainingStopped, HalfwordError)
