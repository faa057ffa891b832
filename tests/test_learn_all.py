"""A model learns every row of its log, unless rows are held out to measure it."""

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

import halfword
from halfword import load
from halfword.core.card import Card
from halfword.core.errors import DatasetError, ModelFileError
from halfword.core.model_file import read_header
from halfword.core.verify import read_arrays
from halfword.data.dataset import Dataset, Split, open_dataset
from halfword.training.options import NO_BACKGROUND, TrainOptions
from halfword.training.train import train

MEMORY = ("popular", "ngram")
OLD = ["xbox", "xbox controller", "playstation 5", "playstation 5 games", "nintendo switch", "switch games"]
NEW = ["playstation 6", "playstation 6 price"]
ALONE = TrainOptions(parts=MEMORY, background=NO_BACKGROUND)


def write(folder: Path, train: Sequence[str], valid: Sequence[str], test: Sequence[str]) -> Dataset:
    folder.mkdir()
    for split, rows in zip(Split, (train, valid, test), strict=True):
        (folder / f"{split}.query.txt").write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    return open_dataset(folder)


@pytest.fixture
def data(tmp_path: Path) -> Dataset:
    return write(tmp_path / "data", OLD * 8, [*OLD, *NEW], [*OLD, *NEW * 3])


def trained(data: Dataset, path: Path, options: TrainOptions = ALONE) -> tuple[Card, halfword.Model]:
    card = train(data, path, options)
    return card, load(path)


def test_what_is_typed_in_the_newest_rows_alone_is_suggested(tmp_path: Path, data: Dataset) -> None:
    card, model = trained(data, tmp_path / "all.halfword")
    assert model.complete("playstation 6").texts[0] == "playstation 6 price"
    assert "playstation 6" in model.complete("playst").texts
    assert card.learned is not None
    assert card.learned.hold_out is False
    assert card.learned.rows == {"train": 48, "valid": 8, "test": 12}
    assert card.parts.popular is not None
    assert card.parts.popular.rows == 68


def test_held_out_rows_are_not_learned(tmp_path: Path, data: Dataset) -> None:
    card, model = trained(data, tmp_path / "held-out.halfword", replace(ALONE, hold_out=True))
    assert not {"playstation 6", "playstation 6 price"} & set(model.complete("playst").texts)
    assert card.learned is not None
    assert card.learned.hold_out is True
    assert card.learned.rows == {"train": 48}


def test_weights_are_fitted_to_rows_that_the_parts_did_not_know_and_then_stay(tmp_path: Path, data: Dataset) -> None:
    paths = [tmp_path / "all.halfword", tmp_path / "held-out.halfword"]
    for path in paths:
        train(data, path, replace(ALONE, hold_out=path.stem == "held-out"))
    whole, held_out = (read_arrays(path, read_header(path)) for path in paths)
    rankers = [
        {name: array for name, array in each.items() if name.startswith("ranker.")} for each in (whole, held_out)
    ]
    assert rankers[0]
    assert rankers[0] == rankers[1]
    assert read_header(paths[0]).policy == read_header(paths[1]).policy
    assert whole["ngram.2.entry"] != held_out["ngram.2.entry"]


def test_the_weights_of_a_background_stay_when_all_rows_are_learned(tmp_path: Path, data: Dataset) -> None:
    cards = [train(data, tmp_path / "a.halfword", TrainOptions(parts=MEMORY, hold_out=held)) for held in (False, True)]
    whole, held_out = (card.parts.ngram.background_weights for card in cards if card.parts.ngram)
    assert whole == held_out
    assert whole is not None


def test_a_model_is_not_judged_by_rows_that_it_has_learned(tmp_path: Path, data: Dataset) -> None:
    _, model = trained(data, tmp_path / "all.halfword")
    moved = shutil.copytree(data.path, tmp_path / "moved")
    for folder in (data.path, moved):
        with pytest.raises(DatasetError, match=r"has learned the test rows .* halfword train --hold-out"):
            halfword.evaluate(model, folder)
    other = write(tmp_path / "other", OLD, OLD, [*OLD, "xbox series"])
    assert halfword.evaluate(model, other).rows["all"] == 7
    _, fair = trained(data, tmp_path / "held-out.halfword", replace(ALONE, hold_out=True))
    assert halfword.evaluate(fair, data).rows["all"] == 12


@pytest.mark.parametrize("parts", [("popular",), ("ngram",), MEMORY])
def test_every_part_learns_all_rows(tmp_path: Path, data: Dataset, parts: tuple[str, ...]) -> None:
    _, model = trained(data, tmp_path / "all.halfword", replace(ALONE, parts=parts))
    assert "playstation 6 price" in model.complete("playstation 6 p").texts


def test_a_character_of_the_newest_rows_alone_has_a_piece(tmp_path: Path) -> None:
    data = write(tmp_path / "data", ["abc", "abd"] * 9, ["abc"], ["zebra", "zebu"])
    _, model = trained(data, tmp_path / "all.halfword", replace(ALONE, parts=("ngram",)))
    assert "zebra" in model.complete("zeb").texts


def test_what_is_personal_in_the_test_rows_is_not_learned(tmp_path: Path) -> None:
    data = write(tmp_path / "data", OLD * 4, OLD, ["mail anna@example.com", "mail to home"])
    _, model = trained(data, tmp_path / "all.halfword", replace(ALONE, parts=("popular",)))
    assert sorted(model.complete("ma").texts) == ["mail", "mail to home"]


def test_a_private_model_keeps_nothing_rare_of_the_newest_rows(tmp_path: Path) -> None:
    data = write(tmp_path / "data", OLD * 8, OLD, [*OLD, "my secret wish", *["xbox series"] * 4])
    _, model = trained(data, tmp_path / "all.halfword", replace(ALONE, private=True))
    assert "my secret wish" not in model.complete("my s").texts
    assert "xbox series" in model.complete("xbox s").texts


def test_likely_misspellings_of_the_newest_rows_are_not_learned(tmp_path: Path) -> None:
    data = write(tmp_path / "data", ["diabetes"] * 40, ["diabetes"], ["diabets"])
    _, model = trained(data, tmp_path / "all.halfword", replace(ALONE, parts=("popular",), drop_misspellings=True))
    assert model.complete("diab").texts == ["diabetes"]


@pytest.mark.parametrize("parts", [("popular",), MEMORY])
def test_a_log_without_validation_and_test_rows_trains(tmp_path: Path, parts: tuple[str, ...]) -> None:
    (tmp_path / "train.query.txt").write_text("".join(f"{row}\n" for row in OLD))
    _, model = trained(open_dataset(tmp_path), tmp_path / "all.halfword", TrainOptions(parts=parts))
    assert "xbox controller" in model.complete("xbox c").texts


def test_a_catalogue_without_validation_and_test_rows_trains(tmp_path: Path) -> None:
    pytest.importorskip("ibis")
    (tmp_path / "names.txt").write_text("".join(f"{row}\n" for row in OLD))
    data = halfword.prepare(tmp_path / "names.txt", lists=("names.txt",))
    assert not data.counts(Split.VALID)
    model = halfword.train(data, tmp_path / "names.halfword", parts=("popular", "ngram"))
    assert "xbox controller" in model.complete("xbox c").texts


def test_what_few_people_typed_in_the_test_rows_is_not_learned(tmp_path: Path) -> None:
    pytest.importorskip("ibis")
    lines = [f"{query}\tuser{number}\t2024-01-{number + 1:02}" for query in OLD for number in range(28)]
    lines += [f"late hit\tuser{number}\t2024-03-01" for number in range(3)]
    lines += ["only mine\tuser1\t2024-03-01", "now known\tuser1\t2024-01-01", "now known\tuser2\t2024-03-01"]
    (tmp_path / "log.tsv").write_text("query\tuser\ttime\n" + "\n".join(lines) + "\n")
    data = halfword.prepare(tmp_path / "log.tsv", min_users=2)
    assert {"late hit", "only mine"} <= set(data.counts(Split.TEST))
    assert "now known" not in data.counts(Split.TRAIN)
    learned = data.all_counts()
    assert learned["late hit"] == 3
    assert learned["now known"] == 2
    assert "only mine" not in learned
    assert learned["xbox"] == 28


def test_a_base_that_has_learned_the_test_rows_is_refused_where_they_are_held_out(
    tmp_path: Path, data: Dataset
) -> None:
    base = tmp_path / "base.halfword"
    train(data, base, ALONE)
    again = replace(ALONE, base=base)
    with pytest.raises(ModelFileError, match=r"base.halfword has learned the valid rows; train it with --hold-out too"):
        train(data, tmp_path / "new.halfword", replace(again, hold_out=True))
    train(data, tmp_path / "new.halfword", again)
    train(data, base, replace(ALONE, hold_out=True))
    train(data, tmp_path / "new.halfword", replace(again, hold_out=True))
