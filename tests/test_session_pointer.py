"""A pointer learns to copy from sessions that repeat themselves; the network stays as it is."""

import random
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

from halfword.core.model_file import Array, read_header
from halfword.core.progress import quiet
from halfword.core.verify import read_arrays
from halfword.data.dataset import Dataset, open_dataset
from halfword.search.model import import_engine, open_model_file
from halfword.training.network.pointer import draw_windows
from halfword.training.pieces import Pieces
from halfword.training.session_pointer import Judged, LearnedPointer, learn_session_pointer, weigh_against_memory
from tests.toy import Toy, write_toy

pytestmark = pytest.mark.engine


def repeating(chance: random.Random, rows: int) -> list[str]:
    """Return an ordered log in which every second query is one of the queries just before it."""
    log: list[str] = []
    while len(log) < rows:
        log.append("".join(chance.choice("abcd") for _ in range(5)))
        log.append(log[-1])
    return log


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    folder, chance = tmp_path_factory.mktemp("sessions"), random.Random(1)
    for split, rows in (("train", 600), ("valid", 100), ("test", 20)):
        (folder / f"{split}.query.txt").write_text("\n".join(repeating(chance, rows)) + "\n")
    return open_dataset(folder)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_toy(tmp_path_factory.mktemp("toy") / "toy.halfword", Toy(parts=("network", "ngram"), hidden=24))


def learn(path: Path, data: Dataset) -> LearnedPointer | None:
    header = read_header(path)
    arrays: dict[str, Array] = read_arrays(path, header)
    segmenter = import_engine().Segmenter(open_model_file(path, header))
    return learn_session_pointer(arrays, Pieces.of(arrays, segmenter.segment_batch), data, "cpu", quiet)


@pytest.fixture(scope="module")
def learned(path: Path, data: Dataset) -> LearnedPointer:
    pointer = learn(path, data)
    assert pointer is not None
    return pointer


def test_repeated_queries_become_likelier(learned: LearnedPointer) -> None:
    alone, together = learned.card.valid_alone, learned.card.valid_context
    assert alone is not None
    assert together is not None
    assert together < 0.9 * alone


def test_a_memory_that_is_given_weighs_finitely(path: Path, learned: LearnedPointer) -> None:
    assert isinstance(learned.judged, Judged)
    bias = np.frombuffer(weigh_against_memory(path, learned.judged)["pointer.by_class"].data, "<f4")
    assert len(bias) == 32
    assert np.isfinite(bias).all()
    assert bias.any()


def test_a_log_in_alphabetical_order_teaches_nothing(path: Path, tmp_path: Path) -> None:
    for split in ("train", "valid", "test"):
        (tmp_path / f"{split}.query.txt").write_text("\n".join(sorted(repeating(random.Random(2), 600))) + "\n")
    assert learn(path, open_dataset(tmp_path)) is None


def test_windows_judge_every_row_but_the_first_once() -> None:
    session = [str(number) for number in range(34)]
    judged = [query for window in draw_windows([session], 10**6, 0) for query in window.queries[window.unjudged :]]
    assert sorted(judged, key=int) == session[1:]
