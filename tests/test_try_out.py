"""`halfword try` through a pseudo-terminal, as a person uses it; `halfword doctor` besides."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from halfword.cli.findings import card_line, processor_line
from halfword.core.card import Card
from halfword.core.model_file import write_model
from halfword.search.model import load
from halfword.training.train import popular_arrays
from tests.conftest import COUNTS
from tests.terminal import Terminal

ESCAPE, CONTROL_C, CONTROL_D, EMPTY, TAB, DOWN, RIGHT = "\x1b", "\x03", "\x04", "\x15", "\t", "\x1b[B", "\x1b[C"


def write(path: Path, counts: dict[str, int]) -> Path:
    write_model(path, popular_arrays(counts), Card(profile="default"))
    return path


def offered(text: str) -> list[str]:
    """Return the completions of the first model on the screen."""
    rows = [line.strip(" ›") for line in text.splitlines()[3:-1]]
    return [row.partition("  ")[0] for row in rows if "  " in row]


def trying(*models: Path) -> Terminal:
    return Terminal(*(part for model in models for part in ("--model", str(model))))


def test_completions_change_at_every_key_and_tell_time_and_source(tmp_path: Path) -> None:
    with trying(write(tmp_path / "mine.halfword", COUNTS)) as terminal:
        assert offered(terminal.text)[0] == "new york times"
        terminal.type("we")
        text = terminal.wait_for(lambda text: offered(text) == ["weather", "web", "weather in new york"])
        assert re.search(r"^mine  \d+\.\d\d ms$", text.splitlines()[2].strip())
        assert text.count("popular") == 3
        terminal.type("b")
        terminal.wait_for(lambda text: "Search: web" in text and offered(text) == [])
        terminal.type(f"{EMPTY}new yo")
        terminal.wait_for(lambda text: offered(text) == ["new york times", "new york"])


def test_tab_accepts_what_the_arrows_chose(tmp_path: Path) -> None:
    with trying(write(tmp_path / "mine.halfword", {"alpha": 9, "alpine": 5, "alpine lakes": 1})) as terminal:
        terminal.type("al")
        terminal.wait_for(lambda text: "›alpha" in text)
        terminal.type(DOWN)
        terminal.wait_for(lambda text: "›alpine" in text)
        terminal.type(TAB)
        terminal.wait_for(lambda text: "Search: alpine" in text and offered(text) == ["alpine lakes"])
        terminal.type(RIGHT)
        terminal.wait_for(lambda text: "Search: alpine lakes" in text)


def test_two_models_stand_side_by_side(tmp_path: Path) -> None:
    first, second = (write(tmp_path / f"{name}.halfword", {name: 1}) for name in ("network", "nettle"))
    with trying(first, second) as terminal:
        terminal.type("net")
        terminal.wait_for(lambda text: bool(re.search("›network  popular +│ nettle  popular", text)))
        terminal.type(RIGHT)
        terminal.wait_for(lambda text: "›nettle" in text)
        terminal.type(TAB)
        terminal.wait_for(lambda text: "Search: nettle" in text)


@pytest.mark.parametrize(("options", "shown"), [([], ["popcorn"]), (["--unfiltered"], ["porn", "popcorn"])])
def test_blocked_words_are_shown_on_demand_only(options: list[str], shown: list[str], tmp_path: Path) -> None:
    model = write(tmp_path / "mine.halfword", {"porn": 9, "popcorn": 1})
    with Terminal("--model", str(model), *options) as terminal:
        terminal.type("po")
        terminal.wait_for(lambda text: "Search: po" in text and offered(text) == shown)


@pytest.mark.parametrize("key", [CONTROL_C, CONTROL_D, ESCAPE])
def test_every_way_out_leaves_the_terminal_as_it_was(key: str, tmp_path: Path) -> None:
    with trying(write(tmp_path / "mine.halfword", COUNTS)) as terminal:
        terminal.type("we")
        terminal.leave(key)


def test_the_default_model_is_tried_when_none_is_named() -> None:
    with Terminal() as terminal:
        terminal.type("new yo")
        terminal.wait_for(lambda text: "new york city" in offered(text))


def halfword(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "halfword", *arguments]
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)


def test_without_a_terminal_it_says_what_to_use() -> None:
    result = halfword("try")
    assert result.returncode == 2
    assert result.stderr == (
        "halfword: try needs a terminal; to complete lines of a file, use: halfword complete < prefixes.txt\n"
    )


def test_doctor_names_versions_kernels_extras_and_the_model() -> None:
    found = json.loads(halfword("doctor", "--json").stdout)
    for name in ("halfword", "Python", "processor", "engine", "[prepare]", "[train]", "[spark]", "default model"):
        assert found[name]["state"]
        assert found[name]["well"] or "install" in found[name]["remedy"]
    assert found["engine"]["well"]


def test_doctor_names_the_kernels_that_a_model_uses() -> None:
    model = load()
    assert f"uses the {model.kernels} kernels" in halfword("doctor").stdout


def test_a_processor_is_described_in_a_line(tmp_path: Path) -> None:
    path = tmp_path / "cpuinfo"
    path.write_text("model name\t: Fast One\nflags\t\t: fpu avx2 fma nx\n\nmodel name\t: Fast One\n")
    assert processor_line(path) == "Fast One, avx2 fma"
    assert processor_line(tmp_path / "none")


def test_a_card_is_described_in_a_line() -> None:
    assert card_line(Card.from_json({"parts": {"ngram": {}}, "note": "a long story"})) == "ngram"
