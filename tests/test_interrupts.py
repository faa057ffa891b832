"""Ctrl-C at a known moment: status 130, one line, and nothing half-written."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from halfword.cli.signals import Interrupted, handled_signals
from halfword.core.interrupts import undisturbed
from halfword.core.progress import Event, Stopped
from halfword.search.model import DEFAULT_MODEL
from tests.conftest import COUNTS, MakeModel

STOPPED = (130, -signal.SIGINT)  # Python ends itself by the signal if it came amid an import; shells say 130


def start(*arguments: str | Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "halfword", *map(str, arguments)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    pipe = subprocess.PIPE
    return subprocess.Popen(command, text=True, stdin=pipe, stdout=pipe, stderr=pipe, env=environment)


def interrupt(process: subprocess.Popen[str], when: Callable[[], object], times: int = 1) -> list[str]:
    """Press Ctrl-C as soon as `when` holds; return the last line of stderr and what was written before it."""
    deadline = time.monotonic() + 120
    while not when():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.002)
    for _ in range(times):
        process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=120)
    assert process.returncode in STOPPED, stderr
    assert "Traceback" not in stderr
    assert "leaked" not in stderr
    return stderr.splitlines()


@pytest.fixture(autouse=True)
def heeded() -> Iterator[None]:
    """Let the commands heed Ctrl-C, also where the tests themselves run in the background, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.txt"
    path.write_text("".join(f"query number {number} of 서울\n" for number in range(1_000_000)))
    return path


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    rows = [f"{word} {number}" for number in range(400) for word in COUNTS]
    for split in ("train", "valid", "test"):
        (folder / f"{split}.query.txt").write_text("\n".join(rows) + "\n")
    return folder


def test_a_polite_kill_of_prepare_leaves_nothing(log: Path, tmp_path: Path) -> None:
    process = start("prepare", log, "-o", tmp_path / "data")
    while not list(tmp_path.glob(".data.*/log.duckdb")):
        assert process.poll() is None, process.communicate()
        time.sleep(0.002)
    process.terminate()
    assert process.communicate(timeout=120) == ("", "")
    assert process.returncode == 128 + signal.SIGTERM
    assert names(tmp_path) == ["log.txt"]


@pytest.mark.parametrize("times", [1, 2])
def test_prepare_leaves_the_old_dataset_and_nothing_else(log: Path, tmp_path: Path, times: int) -> None:
    output = tmp_path / "data"
    output.mkdir()
    (output / "dataset.json").write_text('{"format": 1}')
    process = start("prepare", log, "-o", output)
    lines = interrupt(process, lambda: list(tmp_path.glob(".data.*/log.duckdb")), times)
    assert lines == ["halfword: interrupted"]
    assert names(tmp_path) == ["data", "log.txt"]
    assert names(output) == ["dataset.json"]


@pytest.mark.skipif(not shutil.which("java"), reason="Spark needs Java")
def test_prepare_on_spark_leaves_nothing_when_java_is_only_starting(log: Path, tmp_path: Path) -> None:
    pytest.importorskip("pyspark")
    process = start("prepare", log, "-o", tmp_path / "data", "--engine", "spark")
    lines = interrupt(process, lambda: list(tmp_path.glob(".data.*/spark.log")))
    assert lines[-1] == "halfword: interrupted"
    assert names(tmp_path) == ["log.txt"]


def test_training_a_network_keeps_a_checkpoint_to_go_on_from(data: Path, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    output = tmp_path / "models" / "my.halfword"
    output.parent.mkdir()
    sizes = ("--hidden-size", "16", "--embedding-size", "8", "--segmentation", "char", "--epochs", "1000")
    process = start("train", data, "--parts", "network", "-o", output, *sizes, "--device", "cpu")
    lines = interrupt(process, (output.parent / "my.halfword.log.jsonl").exists)
    assert lines[-1].startswith("halfword: stopped in epoch ")
    assert lines[-1].endswith("--resume")
    assert names(output.parent) == ["my.halfword.checkpoint", "my.halfword.log.jsonl"]


def test_weighing_the_parts_leaves_nothing(data: Path, tmp_path: Path) -> None:
    pytest.importorskip("sentencepiece")
    output = tmp_path / "models" / "my.halfword"
    output.parent.mkdir()
    process = start("train", data, "--parts", "popular,ngram", "--vocabulary", "40", "-o", output)
    lines = interrupt(process, lambda: list(output.parent.glob(".my.halfword.*/*.halfword")))
    assert lines[-1] == "halfword: interrupted"
    assert names(output.parent) == []


def test_complete_ends_in_the_middle_of_stdin(make_model: MakeModel) -> None:
    process = start("complete", "-n", "1", "-m", make_model(COUNTS))
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("we\n")
    process.stdin.flush()
    assert process.stdout.readline() == "we\tweather\n"
    assert interrupt(process, lambda: True) == ["halfword: interrupted"]


@pytest.mark.parametrize("command", [("evaluate",), ("bench", "--sample", "2000")], ids=" ".join)
def test_measuring_ends_quietly(command: tuple[str, ...], data: Path) -> None:
    process = start(*command, "-d", data)
    maps = Path(f"/proc/{process.pid}/maps")
    assert interrupt(process, lambda: DEFAULT_MODEL.name in maps.read_text()) == ["halfword: interrupted"]


def test_ctrl_c_waits_while_something_is_cleaned_up() -> None:
    done = []
    with pytest.raises(KeyboardInterrupt), handled_signals():  # noqa: PT012
        with undisturbed():
            with undisturbed():
                signal.raise_signal(signal.SIGINT)
                signal.raise_signal(signal.SIGINT)
            done.append("cleaned up")
        done.append("never")
    assert done == ["cleaned up"]


STEP = Event("epoch 1/3", resumable=True)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_work_that_can_be_resumed_is_asked_to_stop(number: signal.Signals) -> None:
    with pytest.raises(Interrupted, match="stopped") as caught, handled_signals() as signals:  # noqa: PT012
        signals.heed(STEP)
        signal.raise_signal(number)  # in the middle of a step
        signals.heed(STEP)
    assert caught.value.status == 128 + number


def test_a_second_ctrl_c_ends_at_once() -> None:
    with pytest.raises(KeyboardInterrupt), handled_signals() as signals:  # noqa: PT012
        signals.heed(STEP)
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)


def test_a_signal_at_the_end_of_a_training_is_not_lost() -> None:
    with pytest.raises(KeyboardInterrupt), handled_signals() as signals:  # noqa: PT012
        signals.heed(STEP)
        signal.raise_signal(signal.SIGINT)
        signals.heed(Event("learning the n-gram memory"))


def test_a_polite_kill_cleans_up() -> None:
    with pytest.raises(SystemExit) as caught, handled_signals():
        signal.raise_signal(signal.SIGTERM)
    assert caught.value.code == 128 + signal.SIGTERM


def test_a_stop_without_a_signal_stays_what_it_is_and_the_handlers_are_put_back() -> None:
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(Stopped, match="enough") as caught, handled_signals():
        raise Stopped("enough")
    assert not isinstance(caught.value, Interrupted)
    assert signal.getsignal(signal.SIGINT) is before
