"""What was removed is neither prepared nor learned, and a journal is folded into the next model."""

from pathlib import Path

import pytest

from halfword import Live, load
from halfword.core.journal import Writer
from halfword.core.live import Change, Kind
from halfword.core.live_state import compact
from halfword.data.dataset import Split, open_dataset
from halfword.data.options import PrepareOptions
from halfword.training.options import TrainOptions
from halfword.training.train import train

pytestmark = pytest.mark.engine


def options(**given: object) -> TrainOptions:
    return TrainOptions(parts=("popular",), background="none", **given)  # type: ignore[arg-type]


def test_a_journal_is_learned_once(text_folder: Path, tmp_path: Path) -> None:
    journal, model = tmp_path / "m.live", tmp_path / "m.halfword"
    Writer(journal).append([Change(Kind.TYPED, "zebra", 5), Change(Kind.REMOVED, "news"), Change(Kind.TYPED, "web", 1)])
    card = train(open_dataset(text_folder), model, options(live=journal))
    assert card.live is not None
    assert card.live.number == 4  # with the note that it was learned
    learned = load(model)
    assert learned.complete("z").texts == ["zebra"]
    assert "news" not in learned.complete("new").texts
    live = Live(load(model), journal)
    assert (live.count("zebra"), live.count("web")) == (5, 4)
    live.add("zebra")
    assert live.count("zebra") == 6


def test_what_was_learned_is_not_counted_twice_after_a_compaction(text_folder: Path, tmp_path: Path) -> None:
    journal, model = tmp_path / "m.live", tmp_path / "m.halfword"
    writer = Writer(journal)
    writer.append([Change(Kind.TYPED, "zebra", 5)])
    train(open_dataset(text_folder), model, options(live=journal))
    writer.append([Change(Kind.TYPED, "zebra", 2), Change(Kind.TYPED, "zoo", 1)])
    compact(journal)
    live = Live(load(model), journal)
    assert (live.count("zebra"), live.count("zoo")) == (7, 1)
    train(open_dataset(text_folder), model, options(live=journal))
    live = Live(load(model), journal)
    assert (live.count("zebra"), live.count("zoo")) == (7, 1)


def test_a_model_that_is_measured_learns_no_journal(text_folder: Path, tmp_path: Path) -> None:
    journal, model = tmp_path / "m.live", tmp_path / "m.halfword"
    Writer(journal).append([Change(Kind.TYPED, "zebra", 5), Change(Kind.REMOVED_BEGINNING, "new y")])
    card = train(open_dataset(text_folder), model, options(live=journal, hold_out=True))
    assert card.live is None
    assert load(model).complete("z") == []
    assert load(model).complete("new").texts == ["news"]


def test_what_is_removed_is_neither_prepared_nor_learned(text_folder: Path, tmp_path: Path) -> None:
    prepare = pytest.importorskip("halfword.data.pipeline").prepare
    removed, log = tmp_path / "removed.txt", tmp_path / "log.txt"
    removed.write_text("News\nnew y*\n")
    train(open_dataset(text_folder), tmp_path / "m.halfword", options(removed=removed))
    assert load(tmp_path / "m.halfword").complete("new").texts == ["new jersey"]
    log.write_text("query\n" + "news\nnew york\nweather\nwebcam\n" * 30)
    prepare([log], tmp_path / "data", PrepareOptions(removed=removed))
    assert set(open_dataset(tmp_path / "data").counts(Split.TRAIN)) == {"weather", "webcam"}
