"""Logs and lists of different shapes become one dataset, each row counting what its file is worth."""

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ibis", reason="needs the prepare extra")

import halfword
from halfword.core.errors import LogError, OptionError
from halfword.data.dataset import Dataset, Split
from halfword.data.options import weights_of

SHOP = "search_term,visitor,at\n" + "".join(
    f'"{query}",{user}-{day},2024-01-{day:02} 10:00\n'
    for day in range(1, 21)
    for user, query in enumerate(["red shoes", "blue shoes", "red hat"], 1)
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "shop.csv").write_text(SHOP)
    (tmp_path / "products.tsv").write_text("name\tprice\nGreen Shoes\t5\nRed Hat\t7\nYellow Scarf\t9\n")
    (tmp_path / "volumes.tsv").write_text("red shoes\t100\ngrey coat\t7\nblack coat\t1\n")
    return tmp_path


def prepared(folder: Path, *names: str, **options: Any) -> Dataset:
    return halfword.prepare([folder / name for name in names], time="at", user="visitor", **options)


def test_a_list_without_times_is_learned_whole_and_the_log_is_split_by_time(folder: Path) -> None:
    data = prepared(folder, "shop.csv", "products.tsv")
    assert data.counts(Split.TRAIN) == {
        "red hat": 19,
        "blue shoes": 18,
        "red shoes": 18,
        "green shoes": 1,
        "yellow scarf": 1,
    }
    assert sum(data.counts(Split.VALID).values()) == sum(data.counts(Split.TEST).values()) == 3
    assert data.about()["options"]["split"] == "time"
    assert data.about()["source"] == ["shop.csv", "products.tsv"]


def test_weights_multiply_counts_and_nothing_counts_less_than_once(folder: Path) -> None:
    weights = {"volumes.tsv": 0.2, "products.tsv": 3}
    counts = prepared(folder, "shop.csv", "products.tsv", "volumes.tsv", weights=weights).counts(Split.TRAIN)
    assert counts["red shoes"] == 18 + 20
    assert counts["grey coat"] == 1  # 1.4
    assert counts["black coat"] == 1  # 0.2
    assert counts["green shoes"] == 3
    assert counts["red hat"] == 18 + 3
    halves = prepared(folder, "shop.csv", weights={"shop.csv": 0.25})
    assert halves.counts(Split.TRAIN)["red hat"] == 5  # 4.5
    assert halves.counts(Split.TEST) == {"blue shoes": 1, "red hat": 1, "red shoes": 1}


def test_weights_do_not_decide_what_is_rare(folder: Path) -> None:
    data = prepared(folder, "shop.csv", "volumes.tsv", weights={"volumes.tsv": 100}, min_count=2)
    assert data.counts(Split.TRAIN)["grey coat"] == 700
    assert "black coat" not in data.all_counts()


def test_a_list_needs_no_users(folder: Path) -> None:
    with pytest.raises(OptionError, match=r"--min-users needs users and products.tsv has none; .* --list products.tsv"):
        prepared(folder, "shop.csv", "products.tsv", min_users=2)
    data = prepared(folder, "shop.csv", "products.tsv", min_users=30, lists=("products.tsv",))
    assert data.counts(Split.TRAIN) == {"red hat": 19, "green shoes": 1, "yellow scarf": 1}
    assert data.all_counts()["yellow scarf"] == 1


def test_repeats_of_a_user_are_told_only_where_there_are_users(folder: Path) -> None:
    (folder / "more.csv").write_text("query,user\nred tie,9\nred tie,9\nblue tie,9\n")
    (folder / "plain.txt").write_text("red tie\nred tie\n")
    data = halfword.prepare([folder / "more.csv", folder / "plain.txt"], valid_share=0, test_share=0)
    assert data.counts(Split.TRAIN) == {"red tie": 3, "blue tie": 1}


def test_all_lists_are_train(folder: Path) -> None:
    data = halfword.prepare([folder / "products.tsv", folder / "volumes.tsv"], lists=("products.tsv", "volumes.tsv"))
    assert sum(data.counts(Split.TRAIN).values()) == 111
    assert data.counts(Split.VALID) == {}


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({"other.tsv": 2.0}, r"--weight other.tsv: no log is called so; the logs are: .*shop.csv"),
        ({"shop.csv": 0}, "a number from 0.001 to 1000"),
        ({"shop.csv": "much"}, "a number from 0.001 to 1000"),
    ],
)
def test_a_weight_that_means_nothing_is_refused(folder: Path, weights: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        prepared(folder, "shop.csv", weights=weights)


def test_weights_are_read_from_the_command_line() -> None:
    assert weights_of(["a=b.tsv=0.2", "logs/=3"]) == {"a=b.tsv": 0.2, "logs/": 3.0}
    with pytest.raises(OptionError, match="a number from"):
        weights_of(["products.tsv"])


def test_a_folder_has_one_weight_for_all_its_files(folder: Path) -> None:
    logs = folder / "logs"
    logs.mkdir()
    for name in ("a.txt", "b.txt"):
        (logs / name).write_text("red tie\n")
    data = halfword.prepare([folder / "volumes.tsv", logs], weights={str(logs): 2.0}, valid_share=0, test_share=0)
    assert data.counts(Split.TRAIN)["red tie"] == 4


def test_a_named_column_is_that_of_the_files_that_have_it(folder: Path) -> None:
    data = halfword.prepare([folder / "shop.csv", folder / "products.tsv"], query="search_term", by="rows")
    assert {"red shoes", "green shoes"} <= set(data.all_counts())
    with pytest.raises(LogError, match="none of the 2 files has a column 'other'"):
        halfword.prepare([folder / "shop.csv", folder / "products.tsv"], query="other")


@pytest.mark.parametrize("rows", [1, 5, 10, 20, 57, 500])
@pytest.mark.parametrize("shape", ["plain", "counts", "one day", "three days"])
def test_small_logs_have_rows_in_every_split(tmp_path: Path, rows: int, shape: str) -> None:
    lines = {
        "plain": "query {0}\n",
        "counts": "query {0}\t1\n",
        "one day": "query {0}\t2024-01-01\n",
        "three days": "query {0}\t2024-01-0{1}\n",
    }[shape]
    log = tmp_path / "log.tsv"
    log.write_text("".join(lines.format(f"number x{number}", number % 3 + 1) for number in range(rows)))
    data = halfword.prepare(log)
    sizes = [sum(data.learnable(split).values()) for split in Split]
    share = max(round(rows * 0.05), 1) if rows >= 10 else 0
    assert sizes == [rows - 2 * share, share, share]
    assert data.about()["options"]["split"] == ("time" if "day" in shape and rows < 10 else "rows")
