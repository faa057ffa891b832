"""Completions are shown with the capitals that most people give them; what is typed and blocked is lower case."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfword import Dataset, load, train
from halfword.core.card import Card
from halfword.core.filters import FilterOptions
from halfword.core.model_file import write_model
from halfword.data.options import PrepareOptions
from halfword.data.pipeline import prepare
from halfword.search.filtered import filtered
from halfword.search.model import Completion
from halfword.training.displays import learn_displays
from halfword.training.train import popular_arrays
from tests.serving import client_for

pytestmark = pytest.mark.engine

LOG = {
    "iPhone case": 6,
    "iphone case": 2,
    "IPHONE CASE": 1,
    "iPhone": 5,
    "red shoes": 4,
    "Red shoes": 3,
    "New  York": 2,
    "Öpnv": 2,
}


@pytest.fixture
def data(tmp_path: Path) -> Dataset:
    log = tmp_path / "log.txt"
    log.write_text("".join(f"{query}\n" * count for query, count in LOG.items()), encoding="utf-8")
    prepare([log], tmp_path / "data")
    return Dataset.open(tmp_path / "data")


def test_the_form_that_most_people_typed_is_kept(data: Dataset) -> None:
    assert data.displays() == {"iphone case": "iPhone case", "iphone": "iPhone", "new york": "New York", "öpnv": "Öpnv"}


def test_a_log_in_lower_case_has_none(tmp_path: Path) -> None:
    assert Dataset.from_counts({"red shoes": 9, "blue shoes": 9}).displays() == {}


def displays_of(log: Path, lines: str) -> dict[str, str]:
    log.write_text(lines, encoding="utf-8")
    prepare([log], log.parent / f"{log.stem}-data")
    return Dataset.open(log.parent / f"{log.stem}-data").displays()


def test_where_most_write_in_lower_case_capitals_need_more_than_one_or_two_people(tmp_path: Path) -> None:
    lower = "red shoes\n" * 60 + "hgv jobs\n" * 2
    few = "Hgv jobs\n" * 3 + "Blue shoes\n"
    many = "HGV driver\n" * 20 + "hgv driver\n" * 3
    brands = "Royal Canin\n" * 13 + "royal canin\n" * 4 + "KONG\n" * 6
    assert displays_of(tmp_path / "lower.txt", lower + few + many) == {"hgv driver": "HGV driver"}
    mostly = displays_of(tmp_path / "brands.txt", "red shoes\n" * 100 + brands)  # one row in six has capitals
    assert mostly == {"royal canin": "Royal Canin", "kong": "KONG"}
    assert displays_of(tmp_path / "few.txt", few) == {"hgv jobs": "Hgv jobs", "blue shoes": "Blue shoes"}


def test_of_two_forms_that_were_typed_as_often_the_one_that_shouts_less_is_shown(tmp_path: Path) -> None:
    assert displays_of(tmp_path / "log.txt", "OPENING HOURS\nOpening hours\n") == {"opening hours": "Opening hours"}


def test_what_was_scrubbed_comes_back_in_no_display(tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    log.write_text("Call Ann at Ann.Lee@Example.com\n" * 20 + "Call Ann\n" * 20)
    prepare([log], tmp_path / "data")
    assert "xample" not in json.dumps(Dataset.open(tmp_path / "data").displays())


def test_a_query_too_rare_to_be_kept_has_no_display(tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    log.write_text("Rare Thing\n" + "Often Typed\n" * 30)
    prepare([log], tmp_path / "data", PrepareOptions(min_count=2))
    displays = Dataset.open(tmp_path / "data").displays()
    model = train(Dataset.open(tmp_path / "data"), tmp_path / "m.halfword", parts=("popular",))
    assert [each.display for each in model.complete("")] == ["Often Typed"]
    assert displays["often typed"] == "Often Typed"


def test_completions_are_shown_so(data: Dataset, tmp_path: Path) -> None:
    model = train(data, tmp_path / "m.halfword", parts=("popular",))
    shown = {each.text: each.display for each in model.complete("")}
    assert shown == {
        "iphone case": "iPhone case",
        "iphone": "iPhone",
        "red shoes": "red shoes",
        "new york": "New York",
        "öpnv": "Öpnv",
    }
    assert model.complete("IPH").texts == ["iphone case", "iphone"]


def test_a_word_that_is_nearly_always_written_so_is_in_other_texts_too(tmp_path: Path) -> None:
    counts = {"iphone case": 9, "red iphone": 9, "apple": 5, "apple pie": 5}
    written = {"iphone case": "iPhone case", "red iphone": "red iPhone", "apple": "Apple"}
    arrays = learn_displays(counts, sorted(written.items()))
    assert "display.word.form" in arrays
    assert arrays["display.word.form"].data == b"iPhone"


@given(st.dictionaries(st.sampled_from(["a", "ab", "b é", "b", "é a", "c"]), st.integers(1, 9)), st.data())
def test_forms_are_found_in_whatever_order_queries_lie(counts: dict[str, int], draw: st.DataObject) -> None:
    written = draw.draw(st.dictionaries(st.sampled_from(["a", "a b", "ab", "b", "é a"]), st.just("")))
    written = {query: query.upper() for query in written}
    arrays = learn_displays(counts, sorted(written.items()))
    expected = "".join(form for query, form in sorted(written.items()) if query in counts)
    assert (bytes(arrays["display.query.form"].data).decode() if arrays else "") == expected


def test_a_form_of_another_length_or_of_another_text_is_left_out() -> None:
    assert learn_displays({"fish": 3}, {"fish": "ﬁsh"}.items()) == {}
    assert learn_displays({"izmir": 3}, {"izmir": "Ismir"}.items()) == {}


def test_a_capital_with_a_dot_is_shown() -> None:
    assert learn_displays({"izmir": 3}, {"izmir": "İzmir"}.items())["display.query.form"].data == "İzmir".encode()


def test_a_blocklist_sees_the_text(data: Dataset, tmp_path: Path) -> None:
    (tmp_path / "blocked.txt").write_text("iphone\n")
    model = train(data, tmp_path / "m.halfword", parts=("popular",))
    allowed = filtered(model, FilterOptions(blocklist=tmp_path / "blocked.txt"))
    assert "iPhone" not in [each.display for each in allowed.complete("")]


def test_the_server_answers_with_both(tmp_path: Path) -> None:
    path = tmp_path / "m.halfword"
    arrays = popular_arrays({"new york": 3}) | learn_displays({"new york": 3}, {"new york": "New York"}.items())
    write_model(path, arrays, Card(profile="default"))
    (row,) = client_for(path).ask("GET /complete?q=new+y").json["completions"]
    assert (row["text"], row["display"]) == ("new york", "New York")
    assert row["highlight"] == {"typed": "New Y", "added": "ork"}
    assert client_for(path).ask("GET /suggest?q=new+y").json == ["new y", ["New York"]]
    assert load(path).complete("n")[0].display == "New York"


def test_a_completion_is_shown_as_its_text_by_default() -> None:
    assert Completion("new york", -1.0, "model").display == "new york"
