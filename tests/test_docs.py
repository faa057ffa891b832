"""The documents tell the truth: their examples run, their site builds without a warning, their pictures are drawn."""

import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from halfword.search.model import DEFAULT_MODEL

ROOT = Path(__file__).parent.parent
DOCUMENTS = sorted((ROOT / "docs").glob("*.md"))
FENCE = re.compile(r"^```(?P<language>sh|python)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)


def examples(document: Path, language: str) -> str:
    """Return the examples of one language, one after the other; ```bash and bare fences are not meant to run."""
    found = FENCE.finditer(document.read_text(encoding="utf-8"))
    return "\n".join(match["code"] for match in found if match["language"] == language)


def having(language: str) -> list[Path]:
    return [document for document in DOCUMENTS if examples(document, language)]


def name_of(document: Path) -> str:
    return document.name


@pytest.mark.parametrize("document", having("sh"), ids=name_of)
def test_shell_examples_run(document: Path, tmp_path: Path) -> None:
    pytest.importorskip("ibis")
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    command = ["bash", "-euo", "pipefail", "-x", "-c", examples(document, "sh")]
    result = subprocess.run(command, cwd=tmp_path, env=os.environ | {"PATH": path}, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert result.stdout


@pytest.mark.parametrize("document", having("python"), ids=name_of)
def test_python_examples_run(document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(examples(document, "python"), str(document), "exec"), {})


def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    pytest.importorskip("material")
    pytest.importorskip("mkdocstrings")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    result = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    page = (tmp_path / "site" / "api" / "index.html").read_text(encoding="utf-8")
    assert "Open a model file" in page  # the docstrings are there


def test_retrace_is_drawn_from_the_model_that_ships() -> None:
    pytest.importorskip("pyte")
    from docs.pictures import Pieces, retrace_picture

    drawn = retrace_picture(Pieces(DEFAULT_MODEL), "new yo")
    texts = [element.text for element in ElementTree.fromstring(drawn).iter("{http://www.w3.org/2000/svg}text")]
    assert {"0", "1", "3", "▁new", "▁y", "o", "▁yo…"} <= set(texts)
