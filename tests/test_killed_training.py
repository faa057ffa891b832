"""A training that is killed leaves no half-written file, and its next run removes what it left behind."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from halfword.core.model_file import read_header
from halfword.core.verify import damaged_arrays
from halfword.data.dataset import Dataset, open_dataset
from halfword.training.options import TrainOptions
from halfword.training.train import train

OPTIONS = TrainOptions(parts=("popular", "ngram"), background="none")
KILLED = """
import importlib, os, signal, sys
from pathlib import Path
from halfword.data.dataset import open_dataset
from halfword.training.options import TrainOptions
from halfword.training.train import train

def die(*arguments, **named):
    os.kill(os.getpid(), signal.SIGKILL)

module, name = sys.argv[3].split(":")
setattr(importlib.import_module(module), name, die)
options = TrainOptions(parts=("popular", "ngram"), background="none")
train(open_dataset(sys.argv[1]), Path(sys.argv[2]), options)
"""
MOMENTS = [
    "halfword.training.counted:counted_arrays",  # n-grams are counted, and lie on disk
    "halfword.training.ranker:fit_ranker",  # a model without its weights lies on disk
    "halfword.training.train:_put_in_place",  # all is written, and lies aside
]


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_killed_training_leaves_nothing_that_the_next_one_does_not_remove(moment: str, tmp_path: Path) -> None:
    data, output = tmp_path / "data", tmp_path / "models" / "m.halfword"
    output.parent.mkdir()
    Dataset.from_counts({f"song number {number}": 20 for number in range(30)}, data)
    command = [sys.executable, "-c", KILLED, str(data), str(output), moment]
    killed = subprocess.run(command, capture_output=True, check=False)
    assert killed.returncode == -signal.SIGKILL, killed.stderr.decode()
    assert not output.exists()
    train(open_dataset(data), output, OPTIONS)
    assert [path.name for path in output.parent.iterdir()] == [output.name]
    assert damaged_arrays(output, read_header(output).places) == []
