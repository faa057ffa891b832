"""A network that was trained goes on over the rows that were held out, and can be resumed until it has."""

from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs the train extra")

import numpy as np

from halfword.core.fields import changed
from halfword.core.model_file import read_header
from halfword.core.progress import Event
from halfword.core.verify import read_arrays
from halfword.data.dataset import open_dataset
from halfword.data.query_table import QueryTable
from halfword.training.network.go_on import mixed
from halfword.training.network.options import checkpoint_path
from halfword.training.options import NO_BACKGROUND, TrainOptions
from halfword.training.train import train
from tests.training import SMALL, make_dataset

pytestmark = pytest.mark.usefixtures("one_thread")

OPTIONS = TrainOptions(parts=("network",), network=SMALL, device="cpu")
HELD_OUT = changed(OPTIONS, {"hold_out": True})


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = make_dataset(tmp_path / "data")
    (folder / "test.query.txt").write_text("zoo\nzoo times\nnew zoo\n" * 5)
    return folder


def arrays_of(path: Path) -> dict[str, bytes]:
    arrays = read_arrays(path, read_header(path))
    return {name: array.data for name, array in arrays.items() if name.startswith(("network.", "pieces."))}


def test_the_network_reads_the_newest_rows_after_its_training(tmp_path: Path, data: Path) -> None:
    paths = tmp_path / "all.halfword", tmp_path / "held-out.halfword"
    cards = [train(open_dataset(data), path, options) for path, options in zip(paths, (OPTIONS, HELD_OUT), strict=True)]
    assert [card.parts.network and card.parts.network.newest_rows for card in cards] == [19, None]
    whole, held_out = map(arrays_of, paths)
    assert whole["pieces.text"] == held_out["pieces.text"]
    name = "network.embedding"
    now, before = (np.frombuffer(each[name], "<f4") for each in (whole, held_out))
    assert 0 < np.abs(now - before).mean() < 0.1 * np.abs(before).mean()  # it goes on, it does not begin again


def test_a_training_that_is_stopped_among_the_newest_rows_is_resumed(tmp_path: Path, data: Path) -> None:
    def stop(event: Event) -> None:
        if event.stage == "reading the newest rows":
            raise KeyboardInterrupt

    path = tmp_path / "stopped.halfword"
    with pytest.raises(KeyboardInterrupt):
        train(open_dataset(data), path, OPTIONS, stop)
    assert checkpoint_path(path).exists()
    assert not path.exists()
    train(open_dataset(data), path, changed(OPTIONS, {"resume": True}))
    train(open_dataset(data), tmp_path / "whole.halfword", OPTIONS)
    assert arrays_of(path) == arrays_of(tmp_path / "whole.halfword")
    assert not checkpoint_path(path).exists()


def test_as_many_old_rows_as_new_ones_are_read_again() -> None:
    train = QueryTable.of({f"old {number}": 10 for number in range(1000)})
    counts = mixed(QueryTable.of({"new": 500, "old 1": 500}), train, seed=0)
    assert counts["new"] == 500
    assert counts["old 1"] >= 500
    assert 1900 < sum(counts.values()) < 2100
    new = QueryTable.of({"new": 9})
    assert mixed(new, QueryTable.of({"old": 3}), seed=0) == {"old": 3, "new": 9}
    assert list(mixed(new, train, seed=0).items()) == list(mixed(new, train, seed=0).items())


def test_a_network_without_validation_rows_keeps_its_last_epoch(tmp_path: Path, data: Path) -> None:
    for split in ("valid", "test"):
        (data / f"{split}.query.txt").unlink()
    card = train(open_dataset(data), tmp_path / "all.halfword", OPTIONS)
    assert card.parts.network is not None
    assert card.parts.network.best is not None
    assert card.parts.network.best["epoch"] == SMALL.epochs
    assert card.parts.network.newest_rows is None


def test_the_pieces_of_a_private_network_spell_no_rare_word(tmp_path: Path, data: Path) -> None:
    rows = (data / "train.query.txt").read_text()
    (data / "train.query.txt").write_text(rows + "zyxwvut\n" * 3)
    network = changed(SMALL, {"kind": "bpe", "size": 0})
    texts = {}
    for private in (False, True):
        path = tmp_path / f"{private}.halfword"
        given = {"network": network, "private": private, "hold_out": True}
        train(open_dataset(data), path, changed(OPTIONS, given))
        texts[private] = arrays_of(path)["pieces.text"].decode()
    assert "yx" in texts[False]
    assert "yx" not in texts[True]
    assert "york" in texts[True]


def test_a_network_in_a_whole_model_is_weighed_before_it_goes_on(tmp_path: Path, data: Path) -> None:
    paths = tmp_path / "all.halfword", tmp_path / "held-out.halfword"
    for path in paths:
        hold_out = path.stem == "held-out"
        options = {"parts": ("popular", "ngram", "network"), "background": NO_BACKGROUND, "hold_out": hold_out}
        train(open_dataset(data), path, changed(OPTIONS, options))
    whole, held_out = (read_arrays(path, read_header(path)) for path in paths)
    fitted = [name for name in held_out if name.startswith(("mixture.", "ranker."))]
    assert "mixture.bounds" in fitted
    assert "ranker.linear" in fitted
    assert all(whole[name] == held_out[name] for name in fitted)
    assert whole["network.embedding"] != held_out["network.embedding"]
