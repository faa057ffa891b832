"""What was typed in another spelling helps a query that nobody typed in this one."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from halfword.complete import import_engine, load, open_model_file
from halfword.dataset import open_dataset
from halfword.model_file import Array, read_header, write_model
from halfword.reference import PlainSpellings
from halfword.spellings import learn_spellings, letters
from halfword.train import TrainOptions, popular_arrays, train
from tests.toy import Toy, write_toy

pytestmark = pytest.mark.engine
SYLLABLES = [
    "http://",
    "https:",
    "www.",
    "WWW ",
    "www",
    "h",
    "ho",
    "oo",
    "me",
    "E",
    " ",
    ".",
    "-",
    ".com",
    ".uk",
    "éé",
    "한국",
    "7",
]
TEXTS = st.lists(st.sampled_from(SYLLABLES), min_size=1, max_size=6).map("".join)


def write_queries(path: Path, counts: dict[str, int]) -> Path:
    arrays = popular_arrays(counts) | learn_spellings(list(counts))
    write_model(path, arrays, {"profile": "default", "parts": {"popular": {}}})
    return path


def open_spellings(path: Path):  # type: ignore[no-untyped-def]
    engine, file = import_engine(), open_model_file(path, read_header(path))
    return engine.Spellings(file, engine.Popular(file))


def spelled(counts: dict[str, int], prefix: str, tmp_path: Path) -> dict[str, float]:
    return dict(open_spellings(write_queries(tmp_path / "queries.halfword", counts)).complete(prefix, 10))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=300)
@given(counts=st.dictionaries(TEXTS, st.integers(1, 5), min_size=1, max_size=20), prefix=TEXTS, count=st.integers(0, 9))
@example(counts={"home.com": 1, "ho me": 2}, prefix="www.ho", count=9)
def test_it_equals_the_plain_version(counts: dict[str, int], prefix: str, count: int, tmp_path: Path) -> None:
    path = write_queries(tmp_path / "queries.halfword", counts)
    domain = learn_spellings(list(counts))["popular.domain"].data.decode()
    found, expected = (
        open_spellings(path).complete(prefix, count),
        PlainSpellings(counts, domain).complete(prefix, count),
    )
    assert [chance for _, chance in found] == pytest.approx([chance for _, chance in expected])
    assert dict(found) == pytest.approx(dict(expected)) or len({round(chance, 9) for _, chance in found}) < len(found)


@pytest.mark.parametrize(
    ("typed", "prefix", "found"),
    [
        ("home depot", "homed", "homedepot"),
        ("home depot", "www.homed", "www.homedepot.com"),
        ("www.homedepot.com", "home d", "home depot"),
        ("http://www.home-depot.com", "homed", "homedepot.com"),
        ("homedepot", "home ", "home depot"),
        ("mississippi", "www.misis", "www.misissippi"),
        ("misisipi", "missi", "missisipi"),
        ("bookshop", "bookk", "bookkshop"),
        ("rome", "rome", "rome.com"),
        ("ROME hotels", "rome h", "rome hotels"),
    ],
)
def test_another_spelling_is_gone_on_with(typed: str, prefix: str, found: str, tmp_path: Path) -> None:
    assert found in spelled({typed: 1, "another.com": 1}, prefix, tmp_path)


def test_what_was_typed_so_is_not_offered_again(tmp_path: Path) -> None:
    assert spelled({"rome hotels": 1}, "rome", tmp_path) == pytest.approx({"romehotels": 0.5})


def test_where_no_query_is_an_address_none_is_made_up(tmp_path: Path) -> None:
    assert spelled({"home depot": 1}, "homed", tmp_path) == pytest.approx({"homedepot": 1.0})


def test_a_rare_domain_is_not_the_commonest() -> None:
    queries = [f"{number} hotels" for number in range(101)]
    assert learn_spellings([*queries, "rome.com"])["popular.domain"].data == b""
    assert learn_spellings([*queries, "rome.de", "bari.de", "rome.com"])["popular.domain"].data == b".de"


@pytest.mark.parametrize(("alike", "offered"), [(50, True), (51, False)])
def test_a_prefix_that_says_too_little_is_not_answered(alike: int, offered: bool, tmp_path: Path) -> None:
    counts = {f"ro me{number}": 1 for number in range(alike)}
    assert bool(spelled(counts, "rome", tmp_path)) == offered


@pytest.mark.parametrize("prefix", ["", "r", "rr", "www.", "http://www.r", "  ", "...", "zz", "romex"])
def test_where_there_is_nothing_to_go_by_there_is_nothing_to_offer(prefix: str, tmp_path: Path) -> None:
    assert spelled({"rome": 1, "bari": 1}, prefix, tmp_path) == {}


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("by_letters", np.array([0, 2], "<u4").tobytes()),
        ("by_letters", np.array([0], "<u4").tobytes()),
        ("domain", b"com"),
        ("domain", b".c\xff"),
        ("domain", b"a.com"),
    ],
)
def test_an_order_that_makes_no_sense_is_refused(name: str, data: bytes, tmp_path: Path) -> None:
    arrays = popular_arrays({"a": 1, "b": 1}) | learn_spellings(["a", "b"])
    arrays[f"popular.{name}"] = Array(arrays[f"popular.{name}"].dtype, data)
    write_model(tmp_path / "bad.halfword", arrays, {"profile": "default", "parts": {"popular": {}}})
    with pytest.raises(import_engine().EngineFileError, match="the queries by their letters make no sense"):
        open_spellings(tmp_path / "bad.halfword")


def test_a_blend_offers_another_spelling_where_few_queries_go_on(tmp_path: Path) -> None:
    many = {f"ab{first}{last}": 1 for first in "abcd" for last in "abcd"}
    toy = Toy(parts=("popular", "ngram"), counts={"c abdd": 3, **many})
    without = load(write_toy(tmp_path / "without.halfword", toy))
    blend = load(write_toy(tmp_path / "with.halfword", replace(toy, spellings=True)))
    before, after = ({each.text: each.score for each in model.complete("cab")} for model in (without, blend))
    assert after["cabdd"] > before.get("cabdd", -99.0)
    assert blend.complete("ab") == without.complete("ab")  # many queries go on from that
    assert [each.source for each in blend.complete("c a") if each.text == "c abdd"] == ["both"]
    assert len({each.text for each in blend.complete("c a")}) == len(blend.complete("c a"))


def test_training_learns_them_for_a_blend_only(text_folder: Path, tmp_path: Path) -> None:
    data, path = open_dataset(text_folder), tmp_path / "my.halfword"
    train(data, path, TrainOptions(parts=("popular", "ngram")))
    assert "popular.by_letters" in read_header(path).places
    train(data, path, TrainOptions(parts=("popular",)))
    assert "popular.by_letters" not in read_header(path).places  # nobody would ask them


def test_letters_are_the_same_however_a_query_is_spelled() -> None:
    spellings = ["mississippi.com", "www.Mississippi.com", "http://misisipi com", "HTTPS://WWW.miss issippi-com"]
    assert {letters(each) for each in spellings} == {b"misisipicom"}
