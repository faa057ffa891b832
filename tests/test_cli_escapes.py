"""What a model, a log or a file's name holds may be made to steer a terminal: no command prints it unescaped."""

import json
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from halfword.cli.main import main
from halfword.core.card import BackgroundCard, Card
from halfword.core.model_file import Array, read_header, write_model
from halfword.core.printable import printable, printable_json
from halfword.serve.log import Log
from halfword.training.train import popular_arrays

HOSTILE = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202e\x7f\r\x08[red]"
Run = Callable[..., str]
QUERY = f"new york {HOSTILE} times"


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Run a command, and return all that it prints."""

    def run_here(*arguments: str | Path) -> str:
        monkeypatch.setattr(sys, "argv", ["halfword", *map(str, arguments)])
        with suppress(SystemExit):
            main()
        return "".join(capfd.readouterr())

    return run_here


def is_safe(printed: str) -> bool:
    return all(character.isprintable() or character in "\n\t" for character in printed)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model whose queries, card and array names are hostile."""
    path = tmp_path_factory.mktemp("hostile") / f"{HOSTILE}.halfword"
    card = Card.from_json({"profile": "default", "parts": {"popular": {"queries": 2, "rows": 12}}})
    card = replace(card, note=HOSTILE, licence=HOSTILE, background=BackgroundCard(name=HOSTILE, licence=HOSTILE))
    arrays = popular_arrays({QUERY: 9, "new york": 3}) | {f"odd.{HOSTILE}": Array("U8", bytes(8))}
    write_model(path, arrays, card)
    assert read_header(path).card.note == HOSTILE
    return path


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log whose name, columns and queries are hostile."""
    path = tmp_path_factory.mktemp("logs") / f"{HOSTILE}.tsv"
    path.write_text(f"query\t{HOSTILE}\n" + f"{QUERY}\t7\n" * 60, encoding="utf-8", newline="")
    return path


@pytest.mark.parametrize(
    "arguments",
    [
        ["complete", "new yo", "-m"],
        ["complete", "new yo", f"new {HOSTILE}", "--scores", "-m"],
        ["complete", "new yo", "--json", "-m"],
        ["info"],
        ["info", "--json"],
        ["info", "--verify"],
    ],
    ids=" ".join,
)
def test_what_a_model_holds_is_escaped(run: Run, model: Path, arguments: list[str]) -> None:
    printed = run(*arguments, model)
    assert is_safe(printed), repr(printed)
    assert "owned" in printed
    if "--json" in arguments:
        assert HOSTILE in str(json.loads(printed).values()).encode().decode("unicode_escape")


def test_what_a_log_holds_is_escaped(run: Run, model: Path, log: Path, tmp_path: Path) -> None:
    data, learned = tmp_path / "data", tmp_path / f"learned{HOSTILE}.halfword"
    printed = [
        run("prepare", log, "-o", data),
        run("prepare", log, "-o", data, "--json"),
        run("prepare", log, "-o", data, "--user-column", HOSTILE),
        run("train", data, "-o", learned, "--parts", "popular", "--background", "none"),
        run("train", data, "-o", learned, "--parts", "popular", "--background", model),
        run("evaluate", "--model", model, "--data", data),
        run("evaluate", "--model", model, "--data", data, "--json"),
        run("bench", "--model", model, "--data", data, "--sample", "5"),
        run("prepare", log, "-o", tmp_path / HOSTILE),
        run("info", learned),
        run("info", tmp_path / HOSTILE),
        run("serve", "-m", tmp_path / HOSTILE),
        run("import-subword-qac", tmp_path / HOSTILE, "-o", learned),
        run("reproduce", tmp_path / HOSTILE, "-o", tmp_path / "report"),
    ]
    assert [text for text in printed if not is_safe(text)] == []
    assert all(printed)


def test_escaped_json_means_the_same() -> None:
    content = {"a": HOSTILE, "b": "café 😀 \U000e0001 \ud800"}
    text = printable_json(json.dumps(content, ensure_ascii=False, indent=2))
    assert is_safe(text)
    assert json.loads(text) == content
    assert "café 😀" in text
    assert is_safe(printable(HOSTILE))


def test_a_log_line_of_the_server_is_escaped(tmp_path: Path) -> None:
    with (tmp_path / "log").open("wb") as file:
        log = Log(file.fileno())
        log.request("GET", "complete", 200, 0.0, 0, HOSTILE)
        assert log.flush()
    line = (tmp_path / "log").read_text(encoding="utf-8")
    assert is_safe(line)
    assert json.loads(line)["query"] == HOSTILE
