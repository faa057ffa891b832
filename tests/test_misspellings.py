"""What looks like a slip of the keyboard is not learned; names, numbers and other words are."""

from pathlib import Path

import pytest

from halfword.data.dataset import Split, open_dataset
from halfword.training.misspellings import Misspellings, WithoutMisspellings

COUNTS = {
    "government grants": 6,
    "home depot": 40,
    "diabetes": 60,
    "asthma": 18,
    "asthma in children": 30,
    "vitamin c": 90,
    "world war 1": 50,
    "medicine": 40,
    "national parks": 80,
}


@pytest.mark.parametrize(
    "slip", ["diabets", "diabetse", "diabetess", "diabet", "home depo", "asthama", "free goverment land"]
)
def test_a_slip_is_told_by_what_was_typed_much_more_often(slip: str) -> None:
    counts = {**COUNTS, "government jobs": 9, slip: 1}
    assert Misspellings(counts).holds(slip)
    assert not any(Misspellings(counts).holds(query) for query in COUNTS)


@pytest.mark.parametrize("query", ["vitamin d", "world war 2", "medicines for cats", "dot", "diablo"])
def test_what_may_be_meant_is_kept(query: str) -> None:
    assert not Misspellings({**COUNTS, query: 1}).holds(query)


def test_two_spellings_that_are_both_common_are_kept() -> None:
    counts = {"theater": 40, "theatre": 20, "national parks": 80, "national park": 20}
    assert not any(Misspellings(counts).holds(query) for query in counts)


def test_train_and_valid_lose_slips_and_test_keeps_them(tmp_path: Path) -> None:
    (tmp_path / "train.query.txt").write_text("diabetes\n" * 20 + "diabets\n")
    for split in ("valid", "test"):
        (tmp_path / f"{split}.query.txt").write_text("diabets\nnews\n")
    data = WithoutMisspellings.of(open_dataset(tmp_path))
    assert data.counts(Split.TRAIN) == {"diabetes": 20}
    assert data.rows(Split.VALID) == ["news"]
    assert data.rows(Split.TEST) == ["diabets", "news"]
    assert data.about()["misspellings"] == "1 left out"
