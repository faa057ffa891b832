"""`halfword prepare` as it is typed: what it prints, where, and what it leaves behind."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src"


def start(*arguments: str | Path, **environment: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "halfword", "prepare", *map(str, arguments)]
    paths = os.pathsep.join([*environment.pop("paths", "").split(), str(SOURCE)])
    variables = {**os.environ, "PYTHONPATH": paths, **environment}
    return subprocess.Popen(command, text=True, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def run(*arguments: str | Path, **environment: str) -> tuple[int, str, str]:
    process = start(*arguments, **environment)
    stdout, stderr = process.communicate(timeout=60)
    return process.returncode, stdout, stderr


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.txt"
    path.write_text("new york\nweather\nnew york\n")
    return path


def test_the_funnel_is_a_table_on_stdout_and_stderr_stays_empty(log: Path, tmp_path: Path) -> None:
    status, stdout, stderr = run(log, "-o", tmp_path / "data", "--valid-share", "0", "--test-share", "0")
    assert (status, stderr) == (0, "")
    assert [line.split("│")[1:3] for line in stdout.splitlines() if "train" in line] == [[" train       ", "    3 "]]


def test_the_funnel_is_json_for_machines(log: Path, tmp_path: Path) -> None:
    status, stdout, stderr = run(log, "-o", tmp_path / "data", "--json", "--test-share", "0", "--valid-share", "0")
    assert (status, stderr) == (0, "")
    assert json.loads(stdout)["splits"]["train"] == {"rows": 3, "distinct": 2}


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["--profile", "nobody"], 2, "halfword: profile 'nobody' is unknown; choose one of: default, paper\n"),
        (["--engine", "steam"], 2, "halfword: --engine must be one of duckdb, spark, got 'steam'\n"),
        (["--split", "luck"], 2, "halfword: --split must be one of dates, time, rows, got 'luck'\n"),
        (
            ["--min-users", "2"],
            2,
            "halfword: --min-users needs users and log.txt has none; ",
        ),
        (["--min-count", "9"], 1, "halfword: nothing is left for train of 3 rows (3 rare); "),
    ],
)
def test_a_mistake_is_one_line_and_a_status(
    log: Path, tmp_path: Path, arguments: list[str], status: int, message: str
) -> None:
    found, stdout, stderr = run(log, "-o", tmp_path / "data", *arguments)
    assert (found, stdout, stderr.count("\n")) == (status, "", 1)
    assert stderr.startswith(message)
    assert [path.name for path in tmp_path.iterdir()] == ["log.txt"]


@pytest.mark.parametrize("module", ["pyarrow", "ibis"])
def test_a_missing_extra_is_named(log: Path, tmp_path: Path, module: str) -> None:
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / f"{module}.py").write_text(f"raise ModuleNotFoundError('no', name={module!r})")
    status, _, stderr = run(log, "-o", tmp_path / "data", paths=str(hidden))
    assert (status, stderr) == (
        1, f"halfword: this needs the package {module}, which is not installed; type: pip install 'halfword[prepare]'\n"
    )  # fmt: skip
