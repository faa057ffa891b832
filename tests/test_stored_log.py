"""A log of any size is learned from columns: no step asks for all of its queries as Python objects."""

import random
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs the train extra")

from halfword.core.model_file import read_header
from halfword.core.verify import read_arrays
from halfword.data.dataset import PreparedFolder, Split, open_dataset
from halfword.data.options import PrepareOptions, SplitBy, SplitOptions
from halfword.data.pipeline import prepare
from halfword.data.sessions import with_context
from halfword.training.network.pointer import draw_windows
from halfword.training.options import NO_BACKGROUND, TrainOptions
from halfword.training.train import train
from tests.test_prepare import write_aol
from tests.training import SMALL

pytestmark = [
    pytest.mark.usefixtures("one_thread"),
    pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning"),
]

WORDS = ["red", "blue", "shoes", "shoe", "hat", "News", "weather", "Paris", "Rome", "flights"]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> PreparedFolder:
    """Return a log with sessions of one to thirty rows."""
    folder, chance = tmp_path_factory.mktemp("log"), random.Random(1)
    rows, minute = [], 0
    for user in range(120):
        for _ in range(chance.choice([1, 2, 5, 30])):
            minute += 1
            query = " ".join(chance.sample(WORDS, chance.randint(1, 3)))
            rows.append((user, query, f"2006-03-{1 + minute // 1440:02} {minute // 60 % 24:02}:{minute % 60:02}:00"))
    log = write_aol(folder / "log.txt", rows)
    prepare([log], folder / "data", PrepareOptions(split=SplitOptions(by=SplitBy.ROWS)))
    opened = open_dataset(folder / "data")
    assert isinstance(opened, PreparedFolder)
    return opened


@pytest.mark.parametrize("hold_out", [True, False])
def test_a_training_asks_for_no_dictionary_of_all_queries(
    data: PreparedFolder, hold_out: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = TrainOptions(
        network=SMALL, background=NO_BACKGROUND, hold_out=hold_out, device="cpu", keep_misspellings=True
    )
    train(data, tmp_path / "freely.halfword", options)

    def refuse(*_: object) -> None:
        raise AssertionError("all queries were wanted as Python objects")

    for name in ("counts", "learnable", "all_counts", "displays", "_read"):
        monkeypatch.setattr(PreparedFolder, name, refuse)
    train(data, tmp_path / "model.halfword", options)
    made, freely = (
        {name: array.data for name, array in read_arrays(path, read_header(path)).items()}
        for path in (tmp_path / "model.halfword", tmp_path / "freely.halfword")
    )
    assert made == freely
    assert {"popular", "ngram", "network", "pointer", "display"} <= {name.partition(".")[0] for name in made}


def test_stored_sessions_are_the_sessions_of_the_log(data: PreparedFolder) -> None:
    stored = data.sessions(Split.TRAIN)
    listed = list(map(list, stored))
    assert stored == listed
    assert max(map(len, listed)) > 10
    assert data.typed_rows(Split.TRAIN, 3) == list(with_context(listed, 3))
    assert data.rows(Split.TRAIN) == [query for query, count in data.counts(Split.TRAIN).items() for _ in range(count)]


@pytest.mark.parametrize("rows", [1, 50, 10**6])
def test_windows_of_stored_sessions_are_those_of_lists(data: PreparedFolder, rows: int) -> None:
    stored = data.sessions(Split.TRAIN)
    windows = draw_windows(stored, rows, seed=3)
    assert windows == draw_windows(list(stored), rows, seed=3)
    assert sum(len(window.queries) for window in windows) >= min(rows, 50)
