"""`halfword train` and `halfword import-subword-qac`, as a person types them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from halfword.core.model_file import read_header
from tests.training import make_dataset


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return make_dataset(tmp_path / "data")


def halfword(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "halfword", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def test_train_writes_a_model_a_log_and_a_plot(data: Path, tmp_path: Path) -> None:
    model = tmp_path / "my.halfword"
    sizes = ("--hidden-size", "16", "--embedding-size", "8", "--epochs", "2", "--segmentation", "char")
    done = halfword("train", data, "--parts", "network", "-o", model, *sizes, "--device", "cpu", "--json")
    assert done.returncode == 0, done.stderr
    card = json.loads(done.stdout)
    assert read_header(model).card.to_json() == card
    assert read_header(model).holds("network")
    assert card["parts"]["network"]["epochs"] == 2
    assert {path.name for path in tmp_path.iterdir()} == {
        "data",
        "my.halfword",
        "my.halfword.log.jsonl",
        "my.halfword.loss.svg",
    }


@pytest.mark.parametrize(
    ("arguments", "status", "reason"),
    [
        (("--segmentation", "word"), 2, "--segmentation must be one of char, bpe, unigram, got 'word'"),
        (("--preset", "huge"), 2, "choose one of: default, fast, teacher, taught, paper"),
        (("--epochs", "0"), 2, "epochs must lie between"),
        (("--vocabulary", "5000"), 2, "larger than the data allows"),
        (("--resume",), 1, "nothing to resume"),
        (("--fast", "--best"), 2, "choose one of --fast, --best and --preset"),
        (("--best", "--teacher", "wide.halfword"), 2, "leave out --teacher and --base"),
    ],
)
def test_a_mistake_is_one_line(
    data: Path, tmp_path: Path, arguments: tuple[str, ...], status: int, reason: str
) -> None:
    done = halfword("train", data, "--parts", "network", "-o", tmp_path / "my.halfword", *arguments)
    assert done.returncode == status
    assert reason in done.stderr
    assert done.stderr.strip().splitlines()[-1].startswith("halfword: ")
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "my.halfword").exists()


def test_importing_from_an_empty_folder_names_what_is_missing(tmp_path: Path) -> None:
    done = halfword("import-subword-qac", tmp_path, "-o", tmp_path / "my.halfword")
    assert done.returncode == 1
    assert "holds no model.pt" in done.stderr
