"""What lies at an output is never lost: only a model file is replaced by one, and a dataset by a dataset."""

import json
import os
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

import halfword
from halfword.core.card import Card
from halfword.core.errors import ModelFileError, OutputError
from halfword.core.model_file import is_model_file, read_header, write_model
from halfword.data.dataset import open_dataset
from halfword.training.options import TrainOptions
from halfword.training.train import train
from tests.conftest import COUNTS, MakeModel
from tests.toy import Toy, write_toy

LOG = "query,count\nnew york,3\n"


def make_log(path: Path) -> None:
    path.write_text(LOG)


def make_empty(path: Path) -> None:
    path.touch()


def make_foreign_safetensors(path: Path) -> None:
    header = json.dumps({"__metadata__": {"format": "pt"}}).encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header)


def make_folder(path: Path) -> None:
    path.mkdir()


def make_pipe(path: Path) -> None:
    os.mkfifo(path)


@pytest.mark.parametrize(
    ("make", "line"),
    [
        (make_log, "is there already and is not a model file; name a new file or move this one away"),
        (make_empty, "is there already and is not a model file"),
        (make_foreign_safetensors, "is there already and is not a model file"),
        (make_folder, "is a folder; name a file"),
        (make_pipe, "is a pipe; name a file"),
    ],
)
def test_training_refuses_to_overwrite(
    make: Callable[[Path], None], line: str, text_folder: Path, tmp_path: Path
) -> None:
    output = tmp_path / "shop.csv"
    make(output)
    before = output.read_bytes() if output.is_file() else b""
    for parts in (("popular",), ("network",)):
        with pytest.raises(OutputError, match=line):
            train(open_dataset(text_folder), output, TrainOptions(parts=parts))
    with pytest.raises(OutputError, match=line):
        write_model(output, {}, Card())
    assert not output.is_file() or output.read_bytes() == before


@pytest.mark.parametrize("device", ["/dev/null", "/dev/stdout"])
def test_a_device_is_refused(device: str, text_folder: Path) -> None:
    with pytest.raises(OutputError, match=r"is a (device|pipe|file)|not a model file"):
        train(open_dataset(text_folder), Path(device), TrainOptions(parts=("popular",)))


def test_a_model_of_whatever_version_is_replaced_even_if_it_is_damaged(
    make_model: MakeModel, text_folder: Path
) -> None:
    path = make_model(COUNTS)
    encoded = json.dumps({"__metadata__": {"halfword": "0"}}).encode()
    for content in (path.read_bytes(), path.read_bytes()[:-9], struct.pack("<Q", len(encoded)) + encoded):
        path.write_bytes(content)
        train(open_dataset(text_folder), path, TrainOptions(parts=("popular",)))
        assert read_header(path).holds("popular")


@pytest.mark.parametrize("content", [b"", b"\x02\0\0\0\0\0\0\0[]", b"\x05\0\0\0\0\0\0\0{", b"\xff" * 20])
def test_other_files_are_no_model_files(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(content)
    assert not is_model_file(tmp_path / "file")


@pytest.mark.parametrize("names", [["dataset.json"], ["dataset.json", "queries.parquet", "notes.txt"]])
def test_preparing_replaces_a_dataset_and_nothing_else(names: list[str], tmp_path: Path) -> None:
    pytest.importorskip("ibis")
    make_log(tmp_path / "log.csv")
    output = tmp_path / "data"
    for _ in range(2):
        halfword.prepare(tmp_path / "log.csv", output, valid_share=0.0, test_share=0.0)
    for child in output.iterdir():
        child.unlink()
    for name in names:
        (output / name).write_text("{}")
    with pytest.raises(OutputError, match="holds other files than a dataset; name a new folder or empty this one"):
        halfword.prepare(tmp_path / "log.csv", output)
    assert {child.name for child in output.iterdir()} == {*names}


def test_preparing_refuses_what_is_no_folder(tmp_path: Path) -> None:
    pytest.importorskip("ibis")
    make_log(tmp_path / "log.csv")
    make_pipe(tmp_path / "pipe")
    with pytest.raises(OutputError, match="is a pipe; name a folder"):
        halfword.prepare(tmp_path / "log.csv", tmp_path / "pipe")
    with pytest.raises(OutputError, match="is a file; name a folder"):
        halfword.prepare(tmp_path / "log.csv", tmp_path / "log.csv")
    assert (tmp_path / "log.csv").read_text() == LOG


def test_a_report_refuses_what_is_no_report(text_folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from halfword.evaluation.reproduce.options import ReproduceOptions
    from halfword.evaluation.reproduce.workflow import reproduce

    make_pipe(tmp_path / "pipe")
    for output, line in ((tmp_path / "pipe", "is a pipe; name a folder"), (text_folder, "holds other files than a")):
        with pytest.raises(OutputError, match=line):
            reproduce(open_dataset(text_folder), output, ReproduceOptions(rows=("mpc",), quick=True, device="cpu"))


def test_a_base_without_a_network_is_refused_if_a_network_was_asked_for(text_folder: Path, tmp_path: Path) -> None:
    base = write_toy(tmp_path / "base.halfword", Toy(parts=("popular", "ngram")))
    output = tmp_path / "my.halfword"
    with pytest.raises(ModelFileError, match=r"base\.halfword has no network to take over; leave network out"):
        train(open_dataset(text_folder), output, TrainOptions(base=base))
    assert not output.exists()
    card = train(open_dataset(text_folder), output, TrainOptions(base=base, parts=("popular", "ngram")))
    assert set(card.parts.to_json()) == {"pieces", "ngram", "popular"}


def test_a_truncated_record_of_a_report_counts_as_none(tmp_path: Path) -> None:
    numpy = pytest.importorskip("numpy")
    from halfword.evaluation.reproduce.records import read_arrays, write_arrays

    path = tmp_path / "row.npz"
    write_arrays(path, {"rank": numpy.arange(1000)}, {"walk": 3})
    whole = path.read_bytes()
    assert read_arrays(path)[1] == {"walk": 3}
    for length in (0, 3, 100, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:length])
        assert read_arrays(path) == ({}, {})
    middle = len(whole) // 2
    path.write_bytes(whole[:middle] + bytes(64) + whole[middle + 64 :])
    assert read_arrays(path) == ({}, {})
