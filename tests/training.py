"""What the tests of training share: a small dataset, options that train in a second, a run in its own process."""

import subprocess
import sys
from pathlib import Path
from typing import Any

from halfword.core.fields import changed
from halfword.training.network.options import NetworkTraining

COUNTS = {
    "new york": 9,
    "new york times": 12,
    "news": 8,
    "weather": 7,
    "web": 5,
    "weather in new york": 3,
    "western union": 4,
    "times square": 6,
    "yes": 2,
}
SMALL = changed(
    NetworkTraining(),
    {
        "kind": "char",
        "size": 40,
        "embedding_size": 8,
        "hidden_size": 16,
        "epochs": 3,
        "batch": 8,
        "learning_rate": 0.02,
    },
)


def make_dataset(folder: Path) -> Path:
    """Write plain query files."""
    folder.mkdir()
    rows = [query for query, count in COUNTS.items() for _ in range(count)]
    (folder / "train.query.txt").write_text("\n".join(rows) + "\n")
    (folder / "valid.query.txt").write_text("news\nweather\nweather\nnew jersey\n")
    return folder


def run_python(code: str, *arguments: str | Path, launcher: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    """Run a program that imports the tests' helpers."""
    root = Path(__file__).parent.parent
    command = [sys.executable, *launcher, code, *map(str, arguments)]
    environment: dict[str, Any] = {
        "OMP_NUM_THREADS": "1",
        "PATH": "/usr/bin:/bin",
        "PYTHONPATH": str(root),  # for the tests; halfword is the one that is installed
    }
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment, cwd=root)
