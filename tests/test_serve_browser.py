"""The page and the widget in a real browser: keys, mouse, touch, input methods, failures, and axe-core."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from halfword.core.card import Card
from halfword.core.model_file import write_model
from halfword.search.model import DEFAULT_MODEL
from halfword.training.train import popular_arrays
from tests.browsing import Box, needs_chromium, page_elsewhere
from tests.conftest import COUNTS
from tests.serving import Server, serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Route

playwright_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: no browser tests")
pytestmark = [needs_chromium, pytest.mark.xdist_group("browser")]


ROOT = Path(__file__).parent.parent
UNHANDLED_ESCAPE = "box => box.dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape', cancelable: true}))"
STALE = {"text": "stale", "score": -1, "source": "model", "highlight": {"typed": "", "added": "stale"}}


def write_counts(path: Path) -> Path:
    write_model(path, popular_arrays(COUNTS), Card(profile="default"))
    return path


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(write_counts(tmp_path_factory.mktemp("model") / "m.halfword")) as running:
        yield running


@pytest.fixture
def box(page: "Page", server: Server) -> Box:
    page.goto(server.address)
    return Box(page)


def test_typing_shows_completions_with_the_added_part_marked(box: Box) -> None:
    box.type("new yo")
    box.wait_for("new york times", "new york")
    assert box.page.get_by_role("option").locator("b").all_inner_texts() == ["rk times", "rk"]
    assert box.input.get_attribute("aria-expanded") == "true"
    playwright_api.expect(box.page.locator("#latency")).to_contain_text("median")
    assert box.page.locator("#chart rect").count() >= 1


def test_an_empty_box_shows_the_most_popular(box: Box) -> None:
    playwright_api.expect(box.page.get_by_role("option").first).to_have_text("new york times")


def test_arrows_walk_through_the_rows_and_back_to_what_was_typed(box: Box) -> None:
    box.type("we")
    box.wait_for("weather", "web", "weather in new york")
    walked = []
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "ArrowDown", "ArrowUp"):
        box.press(key)
        walked.append((box.text, box.chosen()))
    rows = ["weather", "web", "weather in new york"]
    assert walked == [(row, row) for row in rows] + [("we", None), (rows[-1], rows[-1])]


def test_enter_submits_what_is_chosen(box: Box) -> None:
    box.type("we")
    box.wait_for("weather", "web", "weather in new york")
    box.press("ArrowDown")
    box.press("Enter")
    box.wait_until_closed()
    assert box.text == "weather"
    playwright_api.expect(box.page.locator("#chosen")).to_have_text("You asked for “weather”, completed by popular.")


def test_a_late_answer_does_not_take_the_chosen_row_away(box: Box) -> None:
    held: list[Route] = []
    box.page.route("**/complete?q=we&*", lambda route: held.append(route))
    box.type("w")
    box.wait_for("weather", "web", "weather in new york")
    box.type("e")
    box.press("ArrowDown")
    for route in held:
        route.fulfill(body=json.dumps({"prefix": "we", "completions": [STALE]}))
    box.page.wait_for_timeout(100)
    assert box.rows() == ["weather", "web", "weather in new york"]
    assert box.chosen() == "weather"
    box.press("Enter")
    playwright_api.expect(box.page.locator("#chosen")).to_have_text("You asked for “weather”, completed by popular.")


def test_escape_first_closes_then_empties(box: Box) -> None:
    box.type("we")
    box.wait_for("weather", "web", "weather in new york")
    box.press("ArrowDown")
    box.press("Escape")
    box.wait_until_closed()
    assert box.text == "we"
    box.press("Escape")
    assert box.text == ""
    box.press("Escape")
    assert box.input.evaluate(UNHANDLED_ESCAPE)  # nothing is left to do: it may close a dialog around the box


def test_tab_moves_on_and_changes_nothing(box: Box) -> None:
    box.type("new yo")
    box.wait_for("new york times", "new york")
    box.press("Tab")
    assert box.page.evaluate("document.activeElement.id") == "details"
    box.wait_until_closed()
    assert box.text == "new yo"
    box.page.keyboard.press("Shift+Tab")
    assert box.page.evaluate("document.activeElement.localName") == "halfword-search"


def test_a_row_that_was_chosen_stays_in_the_box_after_tab(box: Box) -> None:
    box.type("we")
    box.wait_for("weather", "web", "weather in new york")
    box.press("ArrowDown")
    box.press("Tab")
    box.page.keyboard.press("Shift+Tab")
    box.wait_for("weather in new york")  # it completes what stands in the box, not what was typed before
    assert box.text == "weather"


@pytest.mark.parametrize("key", ["ArrowRight", "End"])
def test_a_key_at_the_end_of_the_text_accepts_and_goes_on_typing(box: Box, key: str) -> None:
    box.type("wea")
    box.wait_for("weather", "weather in new york")
    box.press(key)
    box.wait_for("weather in new york")
    assert box.text == "weather"
    box.press("ArrowDown")
    box.press(key)
    box.wait_until_closed()  # nothing is left to complete
    assert box.text == "weather in new york"
    box.press("Enter")
    assert box.page.locator("#chosen").inner_text() == "You asked for “weather in new york”, completed by popular."
    box.type("!")
    assert box.text == "weather in new york!"


@pytest.mark.parametrize(("back", "key"), [("ArrowLeft", "ArrowRight"), ("Home", "End"), ("End", "Shift+ArrowRight")])
def test_inside_the_text_a_key_only_moves_the_caret(box: Box, back: str, key: str) -> None:
    box.type("wea")
    box.wait_for("weather", "weather in new york")
    if back != "End":
        box.press(back)
    box.press(key)
    assert box.text == "wea"
    assert box.input.evaluate("box => box.selectionEnd") == 3


def test_latin_goes_from_left_to_right_on_any_page(box: Box) -> None:
    set_attribute(box.page, "dir", "rtl")
    box.type("wea")
    box.wait_for("weather", "weather in new york")
    box.press("ArrowLeft")
    assert box.text == "wea"
    box.press("ArrowRight")
    box.press("ArrowRight")
    playwright_api.expect(box.input).to_have_value("weather")


def test_arabic_goes_from_right_to_left_on_any_page(page: "Page", tmp_path: Path) -> None:
    path = tmp_path / "arabic.halfword"
    write_model(path, popular_arrays({"مدارس": 3}), Card(profile="default"))
    with serving(path) as running:
        page.goto(running.address)
        box = Box(page)
        box.type("مد")
        box.wait_for("مدارس")
        assert box.input.evaluate("box => getComputedStyle(box).unicodeBidi") == "plaintext"
        row = box.page.locator("[role=option]").first
        assert row.evaluate("row => getComputedStyle(row).direction") == "rtl"
        box.press("ArrowLeft")
        playwright_api.expect(box.input).to_have_value("مدارس")


def test_alt_arrows_open_and_close(box: Box) -> None:
    box.type("we")
    box.wait_for("weather", "web", "weather in new york")
    box.press("Alt+ArrowUp")
    box.wait_until_closed()
    box.press("Alt+ArrowDown")
    box.wait_for("weather", "web", "weather in new york")


def test_the_mouse_chooses(box: Box) -> None:
    box.type("we")
    box.wait_for("weather", "web", "weather in new york")
    box.page.get_by_role("option").nth(1).hover()
    assert box.chosen() == "web"
    assert box.text == "we"
    box.page.get_by_role("option").nth(1).click()
    assert box.text == "web"
    box.wait_until_closed()


def test_enter_does_not_claim_the_row_under_the_mouse(box: Box) -> None:
    box.type("we")
    box.wait_for("weather", "web", "weather in new york")
    box.page.get_by_role("option").nth(1).hover()
    box.press("Enter")
    assert box.page.locator("#chosen").inner_text() == "You asked for “we”."


def test_leaving_the_box_closes_the_list(box: Box) -> None:
    box.type("we")
    box.wait_for("weather", "web", "weather in new york")
    box.page.mouse.click(5, 5)
    box.wait_until_closed()


def test_details_tell_probability_and_source(box: Box) -> None:
    box.page.get_by_label("Show probability and source").check()
    box.input.focus()
    box.type("web")
    box.wait_until_closed()  # the prefix itself is no completion
    box.press("Backspace")
    playwright_api.expect(box.page.get_by_role("option").locator("small").first).to_have_text("43 % · popular")


def test_an_answer_that_comes_late_is_dropped(box: Box) -> None:
    held: list[Route] = []
    box.page.route("**/complete?q=w&*", lambda route: held.append(route))
    box.type("w")
    box.type("eb")
    box.wait_until_closed()
    box.press("Backspace")
    box.wait_for("weather", "web", "weather in new york")
    for route in held:  # answered long after it was superseded, and aborted by the page by then
        route.fulfill(body=json.dumps({"prefix": "w", "completions": [STALE]}))
    box.page.wait_for_timeout(100)
    assert box.rows() == ["weather", "web", "weather in new york"]


def test_superseded_requests_are_aborted(box: Box) -> None:
    failed: list[str] = []
    box.page.on("requestfailed", lambda request: failed.append(f"{request.url} {request.failure}"))
    box.page.route("**/complete?q=w&*", lambda route: None)
    box.type("we")
    box.wait_for("weather", "web", "weather in new york")
    assert sum("q=w&" in each for each in failed) == 1
    assert all("ERR_ABORTED" in each for each in failed)  # on a busy machine that of the empty box too


def test_an_echo_of_another_prefix_is_not_shown(box: Box) -> None:
    box.wait_for("new york times", "new york", "news", "weather", "web", "new", "weather in new york")
    stale = json.dumps({"prefix": "y", "completions": [STALE]})
    box.page.route("**/complete?q=x&*", lambda route: route.fulfill(body=stale))
    box.type("x")
    box.page.wait_for_timeout(200)
    assert "stale" not in box.rows()


def test_composition_asks_at_every_key_and_keeps_its_keys(box: Box, page: "Page") -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "/complete" in request.url else None)
    box.input.focus()
    session = page.context.new_cdp_session(page)
    for text in ("w", "we", "wea"):
        session.send("Input.imeSetComposition", {"text": text, "selectionStart": len(text), "selectionEnd": len(text)})
    box.wait_for("weather", "weather in new york")
    assert [url.partition("q=")[2].partition("&")[0] for url in asked if "q=w" in url] == ["w", "we", "wea"]
    submitted = page.evaluate_handle("[]")
    page.evaluate("found => addEventListener('halfword-submit', event => found.push(event.detail.query))", submitted)
    box.input.evaluate("box => box.dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter', isComposing: true}))")
    assert submitted.json_value() == []
    assert box.rows() == ["weather", "weather in new york"]
    session.send("Input.insertText", {"text": "wea"})
    box.press("Enter")
    assert submitted.json_value() == ["wea"]
    assert len([url for url in asked if "q=wea&" in url]) == 1


def test_a_click_ends_a_composition(box: Box, page: "Page") -> None:
    box.input.focus()
    session = page.context.new_cdp_session(page)
    session.send("Input.imeSetComposition", {"text": "we", "selectionStart": 2, "selectionEnd": 2})
    box.wait_for("weather", "web", "weather in new york")
    page.get_by_role("option").nth(1).click()
    page.wait_for_timeout(100)
    box.wait_until_closed()
    assert box.text == "web"


def test_a_server_that_goes_and_comes_back(browser: "Browser", tmp_path: Path) -> None:
    model = write_counts(tmp_path / "m.halfword")
    page = browser.new_page()
    with serving(model) as first:
        page.goto(first.address)
        box = Box(page)
        box.type("we")
        box.wait_for("weather", "web", "weather in new york")
    box.type("a")
    problem = page.locator("halfword-search p")
    playwright_api.expect(problem).to_have_text("No completions: the server cannot be reached.")
    box.wait_until_closed()
    with serving(model, port=first.port):
        box.wait_for("weather", "weather in new york")
        playwright_api.expect(problem).to_have_text("")
        page.close()


def test_a_refusal_is_told_and_asked_again(box: Box) -> None:
    refusal = json.dumps({"error": {"code": "overloaded", "message": "too many requests are waiting"}})
    box.page.route("**/complete?q=we&*", lambda route: route.fulfill(status=503, body=refusal), times=1)
    box.type("we")
    problem = box.page.locator("halfword-search p")
    playwright_api.expect(problem).to_have_text("too many requests are waiting")
    box.wait_for("weather", "web", "weather in new york")
    playwright_api.expect(problem).to_have_text("")


def test_padding_hides_the_length_of_the_question_too(box: Box) -> None:
    lengths = set()
    box.page.on("request", lambda request: lengths.add(len(request.url)) if "pad=" in request.url else None)
    set_attribute(box.page, "pad", "")
    box.type("new é")
    box.page.wait_for_timeout(100)
    assert len(lengths) == 1


def set_attribute(page: "Page", name: str, value: str) -> None:
    page.evaluate(
        "([name, value]) => document.querySelector('halfword-search').setAttribute(name, value)", [name, value]
    )


def test_the_first_keys_can_be_left_out(box: Box) -> None:
    set_attribute(box.page, "min", "3")
    box.type("we")
    box.wait_until_closed()
    box.type("a")
    box.wait_for("weather", "weather in new york")


def test_a_delay_asks_once_for_keys_in_quick_succession(box: Box) -> None:
    asked: list[str] = []
    box.page.on("request", lambda request: asked.append(request.url) if "/complete?q=w" in request.url else None)
    set_attribute(box.page, "delay", "300")
    box.type("wea")
    box.wait_for("weather", "weather in new york")
    assert len(asked) == 1


def test_a_key_is_sent_once_the_box_has_one(page: "Page", tmp_path: Path) -> None:
    (tmp_path / "keys").write_text("secret\n")
    with serving(write_counts(tmp_path / "m.halfword"), "--api-key-file", str(tmp_path / "keys")) as running:
        page.goto(running.address)
        box = Box(page)
        playwright_api.expect(page.locator("halfword-search p")).to_contain_text("an API key is needed")
        set_attribute(page, "api-key", "secret")
        box.type("wea")
        box.wait_for("weather", "weather in new york")


def test_the_example_is_two_lines_and_works(page: "Page", server: Server) -> None:
    page.goto(f"{server.address}/example")
    box = Box(page)
    box.input.focus()
    box.type("wea")
    box.wait_for("weather", "weather in new york")
    box.press("ArrowDown")
    box.press("Enter")
    page.wait_for_url("**/?q=weather")


def test_two_lines_put_the_box_on_a_page_of_another_origin(page: "Page", tmp_path: Path) -> None:
    with (
        page_elsewhere(tmp_path) as origin,
        serving(write_counts(tmp_path / "m.halfword"), "--allow-origin", origin) as running,
    ):
        lines = (
            f'<script type="module" src="{running.address}/halfword.js"></script>',
            '<form action="/find"><halfword-search label="Find" name="what"></halfword-search></form>',
        )
        html = f"<!doctype html><html lang=en><title>Shop</title>{''.join(lines)}"
        (tmp_path / "index.html").write_text(html)
        page.goto(origin)
        box = Box(page)
        box.input.focus()
        box.type("wea")
        box.wait_for("weather", "weather in new york")
        box.press("End")
        playwright_api.expect(box.input).to_have_value("weather")
        box.press("Enter")
        page.wait_for_url(f"{origin}/find?what=weather")  # the box takes part in the form around it


SHOP = """<!doctype html><html lang=en><title>Shop</title><script type="module" src="{server}/halfword.js"></script>
<form action="/find"><halfword-search label="Find" name="what">{inside}</halfword-search></form>"""
PLAIN_INPUT = '<input name="what" role="combobox" aria-label="Find" aria-expanded="false" value="web">'


@pytest.mark.parametrize("allowed", [(), ("--allow-origin", "https://shop.example")])
def test_a_page_that_is_not_allowed_has_a_plain_box(page: "Page", tmp_path: Path, allowed: tuple[str, ...]) -> None:
    asked: list[str] = []
    said: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "/complete" in request.url else None)
    page.on("console", lambda line: said.append(line.text) if line.type == "warning" else None)
    with page_elsewhere(tmp_path) as origin, serving(write_counts(tmp_path / "m.halfword"), *allowed) as running:
        (tmp_path / "index.html").write_text(SHOP.format(server=running.address, inside=""))
        page.goto(origin)
        box = Box(page)
        with page.expect_console_message(lambda line: line.type == "warning"):
            box.type("wea")
        box.type("ther")
        playwright_api.expect(page.locator("halfword-search p")).to_have_text("")
        box.press("Enter")
        page.wait_for_url(f"{origin}/find?what=weather")
    reason = f"{running.address} gives no completions to {origin}; start it with --allow-origin {origin}"
    assert said == [f"halfword-search: {reason}"]
    assert not [url for url in asked if "q=weat" in url]  # it would be refused again


def test_a_plain_input_is_the_box_until_the_file_is_loaded(page: "Page", server: Server, tmp_path: Path) -> None:
    with page_elsewhere(tmp_path) as origin:
        (tmp_path / "before.html").write_text(SHOP.format(server="http://127.0.0.1:1", inside=PLAIN_INPUT))
        page.goto(f"{origin}/before.html")
        Box(page).press("Enter")
        page.wait_for_url(f"{origin}/find?what=web")
        (tmp_path / "after.html").write_text(SHOP.format(server=server.address, inside=PLAIN_INPUT))
        page.goto(f"{origin}/after.html")
        page.wait_for_function("() => customElements.get('halfword-search') !== undefined")
        assert Box(page).text == "web"
        Box(page).press("Enter")
        page.wait_for_url(f"{origin}/find?what=web")  # once, not twice


def test_touch_and_320_pixels(browser: "Browser", server: Server) -> None:
    context = browser.new_context(viewport={"width": 320, "height": 568}, has_touch=True, is_mobile=True)
    page = context.new_page()
    page.goto(server.address)
    box = Box(page)
    box.type("we")
    box.wait_for("weather", "web", "weather in new york")
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    page.get_by_role("option").nth(1).tap()
    assert box.text == "web"
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", ["/", "/docs", "/example"])
def test_axe_finds_nothing(browser: "Browser", server: Server, path: str, scheme: Any) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    context = browser.new_context(color_scheme=scheme, bypass_csp=True)  # axe itself is a script from elsewhere
    page = context.new_page()
    page.goto(server.address + path)
    if path == "/docs":
        page.wait_for_selector("body[data-ready]")
    else:
        box = Box(page)
        box.input.focus()
        box.type("new")
        box.wait_for("new york times", "new york", "news")
        box.press("ArrowDown")
    results = axe.Axe().run(page)
    assert results.response["violations"] == [], results.generate_report()
    context.close()


def test_the_documents_are_shown_without_help_from_elsewhere(page: "Page", server: Server) -> None:
    page.goto(f"{server.address}/docs")
    playwright_api.expect(page.get_by_role("heading", name="GET /complete")).to_be_visible()
    assert page.get_by_role("heading", level=2).count() >= 9


def sent_contexts(page: "Page") -> list[list[str]]:
    """Return a list that grows by the context of each question."""
    contexts: list[list[str]] = []

    def note(request: Any) -> None:
        if request.url.partition("?")[0].endswith("/complete"):
            contexts.append(json.loads(request.post_data)["context"] if request.method == "POST" else [])

    page.on("request", note)
    return contexts


def search_for(box: Box, *queries: str) -> None:
    for query in queries:
        box.input.fill(query)
        box.press("Enter")
    box.input.fill("")


def test_what_was_searched_in_the_tab_is_sent_and_offered(box: Box) -> None:
    search_for(box, "Paris", "rome", "Paris")
    rows = box.page.get_by_role("option")
    playwright_api.expect(rows.first).to_have_text("Paris")
    playwright_api.expect(rows.nth(1)).to_have_text("rome")
    playwright_api.expect(rows.nth(2)).to_have_text("new york times")
    contexts = sent_contexts(box.page)
    box.type("we")
    box.wait_for("weather", "web", "weather in new york")
    assert contexts[-1] == ["Paris", "rome", "Paris"]
    assert "Paris" not in box.page.url


@pytest.fixture(scope="module")
def default_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(Path(shutil.copy(DEFAULT_MODEL, tmp_path_factory.mktemp("default")))) as running:
        yield running


def test_a_query_is_completed_from_the_one_before(page: "Page", default_server: Server) -> None:
    page.goto(default_server.address)
    box, rows = Box(page), page.get_by_role("option")
    box.type("cheap fli")
    playwright_api.expect(rows.first).to_have_text("cheap flights")
    assert "cheap flights to paris" not in box.rows()
    search_for(box, "flights to paris")
    box.type("cheap fli")
    playwright_api.expect(rows.first).to_have_text("cheap flights to paris")
    box.press("ArrowDown")
    assert box.text == "cheap flights to paris"


def test_a_page_with_a_box_of_its_own_sends_a_context(page: "Page", default_server: Server) -> None:
    """As the guide shows it."""
    guide = (ROOT / "docs" / "guide" / "context.md").read_text(encoding="utf-8")
    (script,) = re.findall(r'<script type="module">.*?</script>', guide, re.DOTALL)
    own, address = script.replace("https://your.server", default_server.address), f"{default_server.address}/own"
    page.route(address, lambda route: route.fulfill(content_type="text/html", body=f"<!doctype html>{own}"))
    with page.expect_console_message(lambda message: message.type == "log") as said:
        page.goto(address)
    assert said.value.text.startswith("[cheap flights to paris")


def test_only_the_last_ten_queries_are_kept(box: Box) -> None:
    search_for(box, *(f"query {number}" for number in range(12)))
    kept = box.page.evaluate("JSON.parse(sessionStorage.getItem('halfword-session'))")
    assert kept == [f"query {number}" for number in range(2, 12)]


def test_a_box_without_context_remembers_nothing(box: Box) -> None:
    box.page.locator("halfword-search").evaluate("box => (box.dataset.context = 'off')")
    contexts = sent_contexts(box.page)
    search_for(box, "paris")
    playwright_api.expect(box.page.get_by_role("option").first).to_have_text("new york times")
    assert box.page.evaluate("sessionStorage.length") == 0
    assert not any(contexts)


def test_what_another_script_left_in_the_storage_does_no_harm(box: Box) -> None:
    box.page.evaluate("sessionStorage.setItem('halfword-session', '{broken')")
    box.type("we")
    box.wait_for("weather", "web", "weather in new york")


@pytest.mark.parametrize("switched_on", [False, True])
def test_a_chosen_suggestion_is_told_if_that_is_switched_on(switched_on: bool, page: "Page", server: Server) -> None:
    told: list[Any] = []

    def take(route: "Route") -> None:
        told.append(json.loads(route.request.post_data or ""))
        route.fulfill(status=200, body="{}")

    page.route("**/accepted", take)
    page.goto(server.address)
    if switched_on:
        page.locator("halfword-search").evaluate("box => box.dataset.accepted = 'on'")
    box = Box(page)
    box.type("wea")
    box.wait_for("weather", "weather in new york")
    box.press("Enter")  # what was typed is no suggestion
    box.type("t")
    box.wait_for("weather", "weather in new york")
    box.press("ArrowDown")
    box.press("Enter")
    playwright_api.expect(page.locator("#chosen")).to_contain_text("weather")
    page.evaluate("() => fetch('healthz')")
    assert told == ([{"text": "weather"}] if switched_on else [])
