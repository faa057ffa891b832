"""`halfword prepare` as it is typed: what it prints, where, and what it leaves behind."""

import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from halfword.core.scratch import scratch_folder

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


KILLED = """
import os, signal, sys
from pathlib import Path
from halfword.data.pipeline import PrepareOptions, prepare

def progress(event):
    if event.stage == sys.argv[3]:
        os.kill(os.getpid(), signal.SIGKILL)

prepare([sys.argv[1]], Path(sys.argv[2]), PrepareOptions(), progress)
"""


@pytest.mark.parametrize("stage", ["counting", "writing"])
def test_what_a_killed_run_leaves_is_removed_by_the_next(log: Path, tmp_path: Path, stage: str) -> None:
    log.write_text("".join(f"query {number}\n" for number in range(100)))
    variables = {**os.environ, "PYTHONPATH": str(SOURCE)}
    killed = subprocess.run([sys.executable, "-c", KILLED, log, tmp_path / "data", stage], env=variables, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert list(tmp_path.glob(".data.scratch-*/log.duckdb")) != []
    assert run(log, "-o", tmp_path / "data")[0] == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "log.txt"]


def test_what_another_run_still_uses_is_not_removed(tmp_path: Path) -> None:
    with scratch_folder(tmp_path / "data") as mine, scratch_folder(tmp_path / "data") as other:
        (mine / "file").touch()
        assert mine != other
        with scratch_folder(tmp_path / "other"):
            assert (mine / "file").exists()
    (tmp_path / ".data.scratch-of-somebody").mkdir()
    with scratch_folder(tmp_path / "data"):
        assert not mine.exists()
    assert [path.name for path in tmp_path.iterdir()] == [".data.scratch-of-somebody"]


def test_a_full_disk_is_one_line(log: Path, tmp_path: Path) -> None:
    log.write_text("".join(f"query {number * 7919 % 100_003}\n" for number in range(50_000)))
    command = [sys.executable, "-m", "halfword", "prepare", str(log), "-o", str(tmp_path / "data")]
    done = subprocess.run(
        command,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000)),
    )
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert done.stderr.startswith(f"halfword: {tmp_path / 'data'}: no room left to write (File too large); free some")
    assert [path.name for path in tmp_path.iterdir()] == ["log.txt"]


@pytest.mark.parametrize("module", ["pyarrow", "ibis"])
def test_a_missing_extra_is_named(log: Path, tmp_path: Path, module: str) -> None:
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / f"{module}.py").write_text(f"raise ModuleNotFoundError('no', name={module!r})")
    status, _, stderr = run(log, "-o", tmp_path / "data", paths=str(hidden))
    assert status == 1
    assert stderr == (
        f"halfword: this needs the package {module}, which is not installed; "
        "in the folder of the project, type: pip install -c constraints.txt '.[prepare]'\n"
    )
