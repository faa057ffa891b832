"""What the tests share: models and datasets small enough to check by hand."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from halfword import Model, load
from halfword.core.card import Card, PartsCard, PopularCard
from halfword.core.model_file import read_header, write_model
from halfword.core.text import DEFAULT, Profile
from halfword.evaluation.reproduce import machine
from halfword.training.train import popular_arrays
from tests.browsing import CHROMIUM

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

# The same examples at every run, so that a change is judged by what it changes; `pytest --hypothesis-profile=default`
# draws others.
# A busy machine is slow, which is no fault.
settings.register_profile("repeatable", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("repeatable")

COUNTS = {"new york": 5, "new york times": 7, "new": 1, "news": 5, "weather": 3, "web": 3, "weather in new york": 1}
OLD = Path(__file__).parent / "data" / "format-3.halfword"  # written without checksums

MakeModel = Callable[..., Path]
MakePopular = Callable[..., Model]


def damage(path: Path, part: str) -> None:
    """Change one bit of an array of a model file."""
    place = next(place for name, place in read_header(path).places.items() if name.startswith(f"{part}."))
    content = bytearray(path.read_bytes())
    content[place.begin] ^= 1
    path.write_bytes(content)


@pytest.fixture
def one_thread() -> Iterator[None]:
    """Let PyTorch compute on one core: toy networks gain nothing from more, and wait long for them when it is busy."""
    with machine.one_thread():
        yield


@pytest.fixture
def make_model(tmp_path: Path) -> MakeModel:
    """Write a model file of the popularity part alone."""

    def make(counts: Mapping[str, int], profile: Profile = DEFAULT) -> Path:
        path = tmp_path / "test.halfword"
        card = Card(
            profile=profile.name, parts=PartsCard(popular=PopularCard(queries=len(counts), rows=sum(counts.values())))
        )
        write_model(path, popular_arrays(dict(counts)), card)
        return path

    return make


@pytest.fixture
def make_popular(make_model: MakeModel) -> MakePopular:
    """Load a popularity completer of the counts given."""

    def make(counts: Mapping[str, int], profile: Profile = DEFAULT) -> Model:
        return load(make_model(counts, profile))

    return make


@pytest.fixture
def text_folder(tmp_path: Path) -> Path:
    """A dataset of plain query files."""
    folder = tmp_path / "queries"
    folder.mkdir()
    rows = [query for query, count in COUNTS.items() for _ in range(count)]
    (folder / "train.query.txt").write_text("\n".join(rows) + "\n")
    (folder / "valid.query.txt").write_text("news\nweather\n")
    (folder / "test.query.txt").write_text("new york times\nweather\nweather\nnew jersey\n")
    return folder


@pytest.fixture(scope="module")
def browser() -> Iterator["Browser"]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture
def page(browser: "Browser") -> Iterator["Page"]:
    context = browser.new_context(viewport={"width": 900, "height": 800})
    opened = context.new_page()
    opened.set_default_timeout(5000)
    problems: list[str] = []
    opened.on("pageerror", lambda error: problems.append(str(error)))
    opened.on("console", lambda line: problems.append(line.text) if "Content Security Policy" in line.text else None)
    yield opened
    context.close()
    assert problems == []
