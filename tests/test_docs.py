"""The documents tell the truth: their examples run, their site builds without a warning, their pictures are drawn."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from xml.etree import ElementTree

import pytest

import halfword
from halfword.search.model import DEFAULT_MODEL

ROOT = Path(__file__).parent.parent
DOCUMENTS = sorted((ROOT / "docs").rglob("*.md"))
README = ROOT / "README.md"
FENCE = re.compile(r"^```(?P<language>sh|python)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?P<target>[^)#:]+)(?:#[^)]*)?\)")  # one that stays within the repository
RIDDLES = ("are not to be had", "hangs on", "time a key", "a query a line", "a line each", "there besides")


def examples(document: Path, language: str) -> str:
    """Return the examples of one language, one after the other; ```bash and bare fences are not meant to run."""
    found = FENCE.finditer(document.read_text(encoding="utf-8"))
    return "\n".join(match["code"] for match in found if match["language"] == language)


def having(language: str, documents: list[Path]) -> list[Path]:
    return [document for document in documents if examples(document, language)]


def name_of(document: Path) -> str:
    return str(document.relative_to(ROOT))


@pytest.mark.parametrize("document", having("sh", DOCUMENTS), ids=name_of)
def test_shell_examples_run(document: Path, tmp_path: Path) -> None:
    pytest.importorskip("ibis")
    pytest.importorskip("sentencepiece")
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    command = ["bash", "-euo", "pipefail", "-x", "-c", examples(document, "sh")]
    result = subprocess.run(command, cwd=tmp_path, env=os.environ | {"PATH": path}, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert result.stdout


@pytest.mark.parametrize("document", having("python", [README, *DOCUMENTS]), ids=name_of)
def test_python_examples_run(document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
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


def test_the_readme_fits_two_screens() -> None:
    lines = README.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 90
    assert max(len(line) for line in lines) <= 120


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_links_to_files_lead_somewhere(name: str) -> None:
    targets = [match["target"] for match in LINK.finditer((ROOT / name).read_text(encoding="utf-8"))]
    assert [target for target in targets if not (ROOT / target).exists()] == []


def test_every_dependency_is_explained() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    wanted = {requirement for group in [project["dependencies"], *extras] for requirement in group}
    names = {re.split(r"[^\w-]", requirement)[0].removesuffix("-framework") for requirement in wanted} - {"halfword"}
    told = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8").lower()
    assert [name for name in sorted(names) if name.lower() not in told] == []


def test_every_package_has_its_diagram() -> None:
    sources = ROOT / "src" / "halfword"
    packages = {str(path.parent.relative_to(sources)) for path in sources.glob("*/**/__init__.py")}
    folders = {str(path.parent.relative_to(ROOT / "engine")) for path in (ROOT / "engine").glob("*/**/*.cc")}
    sections = re.split(r"^##+ ", (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    drawn = {section.partition("\n")[0] for section in sections if "```" in section}
    inside = {"serve/http", "serve/live", "serve/process"}  # one diagram shows them together
    assert (packages | folders) - inside - drawn == set()


@pytest.mark.parametrize("document", [README, ROOT / "CONTRIBUTING.md", *DOCUMENTS], ids=name_of)
def test_documents_install_from_the_folder_of_the_project(document: Path) -> None:
    """Until it is published, `pip install halfword` fails, or installs what somebody else put there."""
    assert re.findall(r"pip install [^\n`&]*halfword", document.read_text(encoding="utf-8")) == []


def test_the_table_of_completions_is_what_the_shipped_model_says() -> None:
    text = (ROOT / "docs" / "guide" / "completing.md").read_text(encoding="utf-8")
    table = dict(re.findall(r"^\| `([a-z ]+)` \| (.* · .*) \|$", text, re.MULTILINE))
    model = halfword.load()
    assert len(table) == 6
    assert table == {prefix: " · ".join(found.text for found in model.complete(prefix)[:5]) for prefix in table}


@pytest.mark.parametrize("document", [README, ROOT / "CONTRIBUTING.md", *DOCUMENTS], ids=name_of)
def test_documents_are_written_in_plain_english(document: Path) -> None:
    text = " ".join(document.read_text(encoding="utf-8").split())
    assert [riddle for riddle in RIDDLES if riddle in text] == []


def test_retrace_is_drawn_from_the_model_that_ships() -> None:
    pytest.importorskip("pyte")
    from docs.pictures import Pieces, retrace_picture

    drawn = retrace_picture(Pieces(DEFAULT_MODEL), "new yo")
    texts = [element.text for element in ElementTree.fromstring(drawn).iter("{http://www.w3.org/2000/svg}text")]
    assert {"0", "1", "3", "▁new", "▁y", "▁yo", "▁yo…"} <= set(texts)
