"""Dataset folders are written whole, read back, and refused with a reason."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from halfword.core.errors import DatasetError, OutputError
from halfword.core.text import DEFAULT, PAPER
from halfword.data.dataset import Split, open_dataset
from halfword.data.write_dataset import write_dataset

ABOUT = {"profile": "paper", "source": ["log.txt"]}


def batch(split: str, **counts: int) -> pa.RecordBatch:
    columns: dict[str, Any] = {"split": [split] * len(counts), "query": list(counts), "count": list(counts.values())}
    return pa.RecordBatch.from_pydict(columns)


def write(path: Path) -> Path:
    write_dataset(path, [batch("train", news=3, web=1), batch("test", news=2)], ABOUT)
    return path


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    dataset = open_dataset(write(tmp_path / "deep" / "data"))
    assert dataset.profile is PAPER
    assert dataset.counts(Split.TRAIN) == {"news": 3, "web": 1}
    assert dataset.rows(Split.TRAIN) == ["news", "news", "news", "web"]
    assert dataset.about() == {"format": 1, **ABOUT}


def test_a_dataset_replaces_an_older_one_and_leaves_nothing_aside(tmp_path: Path) -> None:
    write(tmp_path / "data")
    write_dataset(tmp_path / "data", [batch("train", weather=1)], ABOUT)
    assert open_dataset(tmp_path / "data").counts(Split.TRAIN) == {"weather": 1}
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def test_a_failure_while_writing_keeps_the_older_one(tmp_path: Path) -> None:
    def broken() -> Iterator[pa.RecordBatch]:
        yield batch("train", weather=1)
        raise RuntimeError

    write(tmp_path / "data")
    with pytest.raises(RuntimeError):
        write_dataset(tmp_path / "data", broken(), ABOUT)
    assert open_dataset(tmp_path / "data").counts(Split.TEST) == {"news": 2}
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def test_a_file_or_a_folder_of_other_things_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(OutputError, match="holds other files than a dataset"):
        write(tmp_path)
    with pytest.raises(OutputError, match="is a file; name a folder"):
        write(tmp_path / "notes.txt")


def test_a_folder_of_plain_files_is_read_and_normalised(tmp_path: Path) -> None:
    (tmp_path / "train.query.txt").write_text("New  York\nnew york\n\nweather\n")
    (tmp_path / "test.query.txt.gz").write_bytes(gzip.compress("서울\n".encode()))
    dataset = open_dataset(tmp_path)
    assert dataset.profile is DEFAULT
    assert dataset.counts(Split.TRAIN) == {"new york": 2, "weather": 1}
    assert dataset.rows(Split.TEST) == ["서울"]
    assert dataset.about() == {"source": ["train.query.txt", "test.query.txt.gz"]}
    assert dataset.rows(Split.VALID) == []  # weights can be chosen without
    assert dataset.all_counts() == {"new york": 2, "weather": 1, "서울": 1}


def test_what_is_learned_from_plain_files_is_scrubbed_as_a_log_is(tmp_path: Path) -> None:
    for split in Split:
        (tmp_path / f"{split}.query.txt").write_text("mail joe@example.com\njoe@example.com\ncall 555-123-4567\n")
    for split in (Split.TRAIN, Split.VALID):
        assert open_dataset(tmp_path).counts(split) == {"mail": 1, "call": 1}
    assert len(open_dataset(tmp_path).rows(Split.TEST)) == 3  # as they were typed, to be asked
    assert open_dataset(tmp_path).learnable(Split.TEST) == {"mail": 1, "call": 1}
    assert open_dataset(tmp_path).all_counts() == {"call": 3, "mail": 3}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"new york\ncaf\xe9\n", "line 2: not UTF-8"),
        (b"\n\n", "holds no query"),
    ],
)
def test_a_plain_file_that_cannot_be_read_is_named(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "train.query.txt").write_bytes(content)
    with pytest.raises(DatasetError, match=message):
        open_dataset(tmp_path).counts(Split.TRAIN)


def test_a_damaged_gzip_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "train.query.txt.gz").write_bytes(gzip.compress(b"new york\n" * 100)[:-12])
    with pytest.raises(DatasetError, match=r"train.query.txt.gz cannot be read"):
        open_dataset(tmp_path).counts(Split.TRAIN)


def test_a_path_that_is_no_dataset_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="does not exist; make it with: halfword prepare LOG -o"):
        open_dataset(tmp_path / "nothing")
    with pytest.raises(DatasetError, match=r"holds neither dataset\.json nor"):
        open_dataset(tmp_path)
    (tmp_path / "log.txt").write_text("new york")
    with pytest.raises(DatasetError, match="is a file, a dataset is a folder"):
        open_dataset(tmp_path / "log.txt")


@pytest.mark.parametrize(
    ("about", "message"),
    [
        ("{", "cannot be read"),
        ("[]", "is not a description of a dataset"),
        (json.dumps({"format": 99, "profile": "paper"}), "format 99, this build reads 1"),
        (json.dumps({"format": 1, "profile": "other"}), "unknown profile 'other'"),
    ],
)
def test_a_foreign_description_is_refused(tmp_path: Path, about: str, message: str) -> None:
    (tmp_path / "dataset.json").write_text(about)
    with pytest.raises(DatasetError, match=message):
        open_dataset(tmp_path)


def test_missing_splits_and_damaged_tables_are_named(tmp_path: Path) -> None:
    dataset = open_dataset(write(tmp_path / "data"))
    assert dataset.counts(Split.VALID) == {}  # weights can be chosen without
    write_dataset(tmp_path / "small", [batch("train", news=3)], ABOUT)
    with pytest.raises(DatasetError, match="holds no test queries; prepare a larger log or change its splits"):
        open_dataset(tmp_path / "small").counts(Split.TEST)
    (tmp_path / "data" / "queries.parquet").write_bytes(b"PAR1 nonsense")
    with pytest.raises(DatasetError, match=r"queries.parquet cannot be read"):
        dataset.counts(Split.TRAIN)
