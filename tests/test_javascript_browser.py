"""The JavaScript package in a real browser: a model in the page, and completions for an input that is there already."""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from halfword import load
from tests.browsing import Box, expect, needs_chromium, page_elsewhere
from tests.conftest import COUNTS, damage
from tests.questions import TOYS
from tests.test_javascript import PACKAGE, needs_package
from tests.toy import write_toy

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytest.importorskip("playwright.sync_api", reason="playwright is not installed: no browser tests")
pytestmark = [needs_chromium, needs_package, pytest.mark.xdist_group("browser")]

INPUT = """<!doctype html><html lang="en" dir="{direction}"><title>Shop</title>
<meta name="color-scheme" content="light dark"><main><h1>Shop</h1>
<form action="/found"><label for="search">Find</label> <input id="search" name="q"> <button>Go</button></form></main>
<script type="module">
  import {{ attach, load }} from "./dist/index.js";
  const model = await load("popular.halfword");
  window.box = attach(document.querySelector("#search"), {{ source: model, {options} }});
</script>"""
ELEMENT = """<!doctype html><html lang="en"><title>Shop</title><script type="module" src="dist/halfword.js"></script>
<form action="/found"><halfword-search label="Find" name="what" model="popular.halfword"></halfword-search></form>"""
LOADED = """async ([path, options]) => {
  const { load } = await import("./dist/index.js");
  window.progress = [];
  window.model = await load(path, { ...options, onProgress: (each) => window.progress.push(each) });
  return window.model.about;
}"""
ASKED = "async ([prefix, asked]) => (await window.model.complete(prefix, asked)).map(({ text }) => text)"
KEPT = "async () => (await (await caches.open('halfword-models')).keys()).map(({ url }) => url)"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder with the package, models and an empty page."""
    shutil.copytree(PACKAGE / "dist", tmp_path / "dist")
    for name in ("popular", "all"):
        write_toy(tmp_path / f"{name}.halfword", TOYS[name])
    (tmp_path / "index.html").write_text("<!doctype html><title>Nothing</title>")
    return tmp_path


@pytest.fixture
def origin(site: Path) -> Iterator[str]:
    with page_elsewhere(site) as address:
        yield address


def write_page(site: Path, options: str = "", direction: str = "ltr") -> None:
    (site / "index.html").write_text(INPUT.format(options=options, direction=direction))


@pytest.mark.parametrize("worker", [True, False])
def test_a_model_in_the_page_answers_as_in_python(page: "Page", site: Path, origin: str, worker: bool) -> None:
    page.goto(origin)
    about = page.evaluate(LOADED, ["all.halfword", {"worker": worker}])
    assert about["parts"] == ["popular", "ngram", "network"]
    assert about["kernels"] == "simd128"
    assert len(page.workers) == int(worker)
    model = load(site / "all.halfword")
    for prefix in ("ab", "Ab  C", "bcd a"):
        assert page.evaluate(ASKED, [prefix, {"context": ["cab d"]}]) == model.complete(prefix, context=["cab d"]).texts
    assert page.evaluate("() => window.model.memory()") < 20e6


def test_the_download_tells_how_far_it_is(page: "Page", site: Path, origin: str) -> None:
    page.goto(origin)
    page.evaluate(LOADED, ["all.halfword", {}])
    size = (site / "all.halfword").stat().st_size
    assert page.evaluate("window.progress.at(-1)") == {"loaded": size, "total": size}


def test_a_model_that_was_loaded_once_needs_no_network(page: "Page", site: Path, origin: str) -> None:
    page.goto(origin)
    page.evaluate(LOADED, ["popular.halfword", {}])
    page.wait_for_function(f"async () => (await ({KEPT})()).length === 1")
    (site / "popular.halfword").unlink()
    page.evaluate(LOADED, ["popular.halfword", {}])
    assert page.evaluate(ASKED, ["new yo", {}]) == ["new york times", "new york"]


def test_a_model_that_has_changed_is_there_at_the_visit_after_the_next(page: "Page", site: Path, origin: str) -> None:
    os.utime(site / "popular.halfword", (1e9, 1e9))  # so old that the browser takes its own copy for fresh
    page.goto(origin)
    page.evaluate(LOADED, ["popular.halfword", {}])
    page.wait_for_function(f"async () => (await ({KEPT})()).length === 1")
    (site / "popular.halfword").write_bytes((site / "all.halfword").read_bytes())
    os.utime(site / "popular.halfword", (2e9, 2e9))
    assert page.evaluate(LOADED, ["popular.halfword", {}])["parts"] == ["popular"]
    page.wait_for_function(f"async () => (await ({KEPT})()).length === 0")
    assert page.evaluate(LOADED, ["popular.halfword", {}])["parts"] == ["popular", "ngram", "network"]


def failure_of(page: "Page", path: str, options: dict[str, Any]) -> str:
    told: str = page.evaluate(
        f"async (given) => {{ try {{ await ({LOADED})(given) }} catch (e) {{ return e.message }} }}", [path, options]
    )
    return told


def test_a_damaged_model_is_refused_and_not_kept(page: "Page", site: Path, origin: str) -> None:
    damage(site / "all.halfword", "ngram")
    page.goto(origin)
    told = failure_of(page, "all.halfword", {})
    assert told.startswith("the model is damaged: the array ngram.")
    assert told.endswith("does not match its checksum; copy or train it again")
    assert page.evaluate(KEPT) == []
    content = bytearray((site / "popular.halfword").read_bytes())
    content[content.index(b"default")] ^= 1
    (site / "popular.halfword").write_bytes(content)
    assert failure_of(page, "popular.halfword", {}) == (
        "the model is damaged: its header does not match its digest; copy or train it again"
    )


def test_a_kept_copy_that_is_damaged_is_replaced(page: "Page", site: Path, origin: str) -> None:
    page.goto(origin)
    page.evaluate("async () => (await caches.open('halfword-models')).put('/popular.halfword', new Response('broken'))")
    page.evaluate(LOADED, ["popular.halfword", {}])
    assert page.evaluate(ASKED, ["new yo", {}]) == ["new york times", "new york"]


def test_what_is_no_model_is_told_in_one_line(page: "Page", origin: str) -> None:
    page.goto(origin)
    assert failure_of(page, "index.html", {}).startswith("this is not a model file: it does not begin like one")
    assert failure_of(page, "missing.halfword", {}).endswith("/missing.halfword: the server answered 404")


def test_a_question_that_is_aborted_before_its_turn_is_never_asked(page: "Page", origin: str) -> None:
    page.goto(origin)
    page.evaluate(LOADED, ["popular.halfword", {}])
    aborted = """async () => {
      const stop = new AbortController();
      const asked = [window.model.complete("n"), window.model.complete("we", { signal: stop.signal })];
      stop.abort();
      return (await Promise.allSettled(asked)).map(({ status, reason }) => reason?.name ?? status);
    }"""
    assert page.evaluate(aborted) == ["fulfilled", "AbortError"]


@pytest.fixture
def box(page: "Page", site: Path, origin: str) -> Box:
    write_page(site)
    page.goto(origin)
    page.wait_for_function("() => window.box")
    return Box(page)


def test_an_input_of_the_page_gets_completions(box: Box) -> None:
    box.type("new yo")
    box.wait_for("new york times", "new york")
    assert box.page.get_by_role("option").locator("b").all_inner_texts() == ["rk times", "rk"]
    assert box.page.get_by_role("listbox").get_attribute("aria-label") == "Find: completions"
    place, list_place = box.input.bounding_box(), box.page.get_by_role("listbox").bounding_box()
    assert list_place is not None
    assert list_place["x"] == pytest.approx(place["x"], abs=1)
    assert list_place["width"] == pytest.approx(place["width"], abs=1)
    assert 0 <= list_place["y"] - place["y"] - place["height"] < 10


def test_keys_choose_and_the_form_is_sent(box: Box) -> None:
    box.type("we")
    box.wait_for("weather", "web", "weather in new york")
    box.press("ArrowDown")
    box.press("ArrowDown")
    assert (box.text, box.chosen()) == ("web", "web")
    box.press("Enter")
    box.page.wait_for_url("**/found?q=web")


def test_tab_moves_on_and_escape_closes(box: Box) -> None:
    box.type("we")
    box.wait_for("weather", "web", "weather in new york")
    box.press("Tab")
    assert box.page.evaluate("document.activeElement.localName") == "button"
    box.wait_until_closed()
    box.input.focus()
    box.wait_for("weather", "web", "weather in new york")
    box.press("Escape")
    box.wait_until_closed()
    assert box.text == "we"


def test_a_framework_that_holds_the_value_is_told_of_every_change(box: Box) -> None:
    told = box.page.evaluate_handle("[]")
    box.input.evaluate("(box, told) => box.addEventListener('input', () => told.push(box.value))", told)
    box.type("we")
    box.wait_for("weather", "web", "weather in new york")
    box.press("ArrowDown")
    box.press("ArrowUp")
    box.press("End")
    assert told.json_value() == ["w", "we", "weather", "we", "weather"]


def test_a_composition_is_completed_and_keeps_its_keys(box: Box) -> None:
    box.input.focus()
    session = box.page.context.new_cdp_session(box.page)
    session.send("Input.imeSetComposition", {"text": "wea", "selectionStart": 3, "selectionEnd": 3})
    box.wait_for("weather", "weather in new york")
    box.input.evaluate("box => box.dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter', isComposing: true}))")
    assert "found" not in box.page.url
    assert box.rows() == ["weather", "weather in new york"]


def test_right_to_left_text_is_accepted_with_the_left_arrow(page: "Page", site: Path, origin: str) -> None:
    write_page(site, direction="rtl")
    page.goto(origin)
    box = Box(page)
    box.type("wea")
    box.wait_for("weather", "weather in new york")
    box.press("ArrowLeft")
    box.wait_for("weather in new york")
    assert box.text == "weather"


def test_a_finger_chooses(browser: "Browser", site: Path, origin: str) -> None:
    write_page(site)
    context = browser.new_context(viewport={"width": 320, "height": 568}, has_touch=True, is_mobile=True)
    page = context.new_page()
    page.goto(origin)
    box = Box(page)
    box.type("we")
    box.wait_for("weather", "web", "weather in new york")
    page.get_by_role("option").nth(1).tap()
    page.wait_for_url("**/found?q=web")
    context.close()


def test_recent_searches_stay_on_the_device_and_are_marked(page: "Page", site: Path, origin: str) -> None:
    write_page(site, options='remember: "device"')
    page.goto(origin)
    box = Box(page)
    box.type("Rome")
    box.press("Enter")
    page.wait_for_url("**/found?q=Rome")
    again = page.context.new_page()  # another tab
    again.goto(origin)
    Box(again).input.focus()
    first = again.get_by_role("option").first
    expect(first).to_have_text("Rome")
    assert first.get_attribute("data-source") == "session"
    expect(first).to_have_accessible_name("from your searches: Rome")


def test_corrected_suggestions_are_marked(page: "Page", site: Path, origin: str) -> None:
    write_page(site)
    page.goto(origin)
    page.wait_for_function("() => window.box")
    corrected = json.dumps([{"text": "weather", "display": "Weather", "matched": 4, "corrected": True}])
    page.evaluate(f"() => (window.box.options.source = {{ complete: async () => {corrected} }})")
    box = Box(page)
    box.type("waet")
    box.wait_for("Weathercorrected")
    assert page.get_by_role("option").locator("b").all_inner_texts() == ["her"]


def test_a_source_that_fails_leaves_a_box_and_tells_the_author(page: "Page", site: Path, origin: str) -> None:
    write_page(site)
    page.goto(origin)
    page.wait_for_function("() => window.box")
    page.evaluate("() => (window.box.options.source = { complete: async () => { throw new Error('no model') } })")
    box = Box(page)
    with page.expect_console_message(lambda line: line.text == "halfword-search: no model"):
        box.type("we")
    box.wait_until_closed()
    box.press("Enter")
    page.wait_for_url("**/found?q=we")


def test_an_input_that_is_detached_is_as_it_was(box: Box) -> None:
    box.page.evaluate("() => window.box.detach()")
    field = box.page.locator("#search")
    field.press_sequentially("we")
    assert field.get_attribute("role") is None
    assert box.page.locator(".halfword-list").count() == 0


def test_the_element_completes_with_a_model_and_without_a_server(page: "Page", site: Path, origin: str) -> None:
    (site / "index.html").write_text(ELEMENT)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(origin)
    box = Box(page)
    box.type("new yo")
    box.wait_for("new york times", "new york")
    box.press("End")
    box.press("Enter")
    page.wait_for_url("**/found?what=new+york+times")
    assert not [url for url in asked if "complete" in url]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_at_an_input_of_the_page(browser: "Browser", site: Path, origin: str, scheme: Any) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    write_page(site)
    context = browser.new_context(color_scheme=scheme)
    page = context.new_page()
    page.goto(origin)
    box = Box(page)
    box.type("we")
    box.wait_for("weather", "web", "weather in new york")
    box.press("ArrowDown")
    results = axe.Axe().run(page)
    assert results.response["violations"] == [], results.generate_report()
    context.close()


def test_the_toy_has_the_queries_that_these_tests_name() -> None:
    assert {"new york times", "weather", "web"} <= COUNTS.keys()


def test_the_live_box_of_the_documents_works_on_a_static_host(page: "Page", tmp_path: Path) -> None:
    from docs import live_box

    box_html = live_box.on_page_markdown(f"# Halfword\n{live_box.MARK}")
    live_box.on_post_build({"site_dir": str(tmp_path)})
    (tmp_path / "index.html").write_text(f"<!doctype html><html lang=en><title>Halfword</title>{box_html}")
    with page_elsewhere(tmp_path) as address:
        page.goto(address)
        box = Box(page)
        box.type("new yo")
        expect(page.get_by_role("option").first).to_contain_text("new york")
