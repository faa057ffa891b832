"""What was typed in another spelling helps a query that nobody typed in this one."""

from dataclasses import replace
from itertools import accumulate, pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from halfword.core.card import Card
from halfword.core.filters import SHIPPED
from halfword.core.letters import letters, without_lead
from halfword.core.model_file import Array, read_header, write_model
from halfword.core.options import SearchOptions
from halfword.core.rules import Kind, read_rules
from halfword.data.dataset import open_dataset
from halfword.search.model import Model, engine_options, import_engine, load, open_model_file
from halfword.search.reference import PlainSpellings
from halfword.training.coded_numbers import read_numbers
from halfword.training.options import TrainOptions
from halfword.training.spellings import learn_spellings, letter_arrays
from halfword.training.train import popular_arrays, train
from tests.toy import Toy, policy_for, write_toy

pytestmark = pytest.mark.engine
SYLLABLES = [
    "http://",
    "https:",
    "www.",
    "www ",
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
    ".co.uk",
    "éé",
    "7",
]
TEXTS = st.lists(st.sampled_from(SYLLABLES), min_size=1, max_size=6).map("".join)
LEADS = st.sampled_from(["", "", "www.", "http://", "h"])
ALL = 10**6


def arrays_of(counts: dict[str, int]) -> dict[str, Array]:
    return popular_arrays(counts) | learn_spellings(list(counts), lambda query: False)


def write_queries(path: Path, arrays: dict[str, Array]) -> Path:
    write_model(path, arrays, Card(profile="default"))
    return path


def open_spellings(path: Path):  # type: ignore[no-untyped-def]
    engine, file = import_engine(), open_model_file(path, read_header(path))
    return engine.Spellings(file, engine.Popular(file))


def spelled(counts: dict[str, int], prefix: str, tmp_path: Path, count: int = ALL) -> list[tuple[str, float]]:
    found: list[tuple[str, float]] = open_spellings(write_queries(tmp_path / "q.halfword", arrays_of(counts))).complete(
        prefix, policy_for(count)
    )
    return found


@st.composite
def cases(draw: st.DrawFn) -> tuple[dict[str, int], str]:
    """Draw queries, and the beginning of one of them in another spelling."""
    counts = draw(st.dictionaries(TEXTS, st.integers(1, 5), min_size=1, max_size=20))
    query = without_lead(draw(st.sampled_from(sorted(counts))))
    letter = draw(st.sampled_from("ohe"))
    changes = [(" ", ""), ("o", "o "), (letter, letter * 2), (letter * 2, letter), ("m", "-m"), ("", "")]
    query = draw(LEADS) + query.replace(*draw(st.sampled_from(changes)))
    return counts, query[: draw(st.integers(0, len(query)))]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=500)
@given(case=cases())
def test_it_equals_the_plain_version(case: tuple[dict[str, int], str], tmp_path: Path) -> None:
    counts, prefix = case
    plain = PlainSpellings(counts, arrays_of(counts)["popular.domain"].data.decode())
    assert dict(spelled(counts, prefix, tmp_path)) == pytest.approx(dict(plain.complete(prefix, ALL)))


def test_the_likeliest_come_first_and_fewer_are_the_first_of_more(tmp_path: Path) -> None:
    counts = {"ro me": 3, "ro mania": 2, "ro ma": 1}
    found = spelled(counts, "rom", tmp_path)
    assert found == [("rome", 0.5), ("romania", pytest.approx(1 / 3)), ("roma", pytest.approx(1 / 6))]
    assert spelled(counts, "rom", tmp_path, count=2) == found[:2]


@pytest.mark.parametrize(
    ("typed", "prefix", "found"),
    [
        ("home depot", "homed", ["homedepot", "homedepot.com"]),
        ("home depot", "www.homed", ["www.homedepot", "www.homedepot.com"]),
        ("www.homedepot.com", "home d", ["home depot", "home depot.com"]),
        ("http://www.home-depot.com", "homed", ["homedepot", "homedepot.com"]),
        ("homedepot", "home ", ["home depot"]),
        ("mississippi", "www.misis", ["www.misissippi", "www.misissippi.com"]),
        ("misisipi", "missi", ["missisipi", "missisipi.com"]),
        ("bookshop", "bookk", ["bookkshop", "bookkshop.com"]),
        ("rome", "rome", ["rome.com"]),
        ("rome", "rome.", ["rome.com"]),
        ("rome", "rome-", []),
        ("rome", "rome.com", []),
        ("www.rome.com", "rome.c", ["rome.com"]),
        ("www.rome.com", "rome.", ["rome.com"]),
        ("www.rome.com", "rome com", []),
        ("rome .com", "ro-m", ["ro-me", "ro-me .com", "ro-me.com"]),
        ("www.rome.co.uk", "rom", ["rome", "rome.co.uk"]),
        ("müller", "müll", ["müller.com"]),
        ("手机游戏", "手机", []),
    ],
)
def test_another_spelling_is_gone_on_with(typed: str, prefix: str, found: list[str], tmp_path: Path) -> None:
    assert sorted(text for text, _ in spelled({typed: 1, "another.com": 1}, prefix, tmp_path)) == found


def test_what_was_typed_so_is_not_offered_again(tmp_path: Path) -> None:
    assert spelled({"rome hotels": 1}, "rome", tmp_path) == [("romehotels", 0.5)]


def test_where_no_query_is_an_address_none_is_made_up(tmp_path: Path) -> None:
    assert spelled({"home depot": 1}, "homed", tmp_path) == [("homedepot", 1.0)]


def test_a_rare_domain_is_not_the_commonest() -> None:
    queries = dict.fromkeys((f"{number} hotels" for number in range(101)), 1)
    assert arrays_of({**queries, "rome.com": 9})["popular.domain"].data == b""
    assert arrays_of({**queries, "rome.de": 1, "bari.de": 1, "rome.com": 9})["popular.domain"].data == b".de"


@pytest.mark.parametrize(("alike", "offered"), [(50, True), (51, False)])
def test_a_prefix_that_says_too_little_is_not_answered(alike: int, offered: bool, tmp_path: Path) -> None:
    counts = {f"ro me{number}": 1 for number in range(alike)}
    assert bool(spelled(counts, "rome", tmp_path)) == offered


@pytest.mark.parametrize("prefix", ["", "r", "rr", "www.", "http://www.r", "  ", "...", "zz", "romex"])
def test_where_there_is_nothing_to_go_by_there_is_nothing_to_offer(prefix: str, tmp_path: Path) -> None:
    assert spelled({"rome": 1, "bari": 1}, prefix, tmp_path) == []


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("by_letters_begin", b""),
        ("domain", b"com"),
        ("domain", b".c\xff"),
        ("domain", b"a.com"),
    ],
)
def test_an_order_that_makes_no_sense_is_refused(name: str, data: bytes, tmp_path: Path) -> None:
    arrays = arrays_of({"a": 1, "b": 1})
    arrays[f"popular.{name}"] = Array(arrays[f"popular.{name}"].dtype, data)
    with pytest.raises(import_engine().EngineFileError, match="the queries by their letters make no sense"):
        open_spellings(write_queries(tmp_path / "bad.halfword", arrays))


def test_an_order_that_leads_out_of_the_index_gives_no_read_outside_of_it(tmp_path: Path) -> None:
    arrays = arrays_of({"a-b": 1, "b-c": 1})
    for order, begin in [([7, 2**32 - 1], [0, 99]), ([1, 0], [2**32 - 1, 1]), ([0, 1], [1, 0, 1])]:
        arrays |= letter_arrays(np.array(order), b"")
        arrays["popular.by_letters_begin"] = Array("U32", np.array(begin, "<u4").tobytes())
        spellings = open_spellings(write_queries(tmp_path / "bad.halfword", arrays))
        assert {text for text, _ in spellings.complete("bc", policy_for(ALL))} <= {"bc"}


@given(order=st.permutations(range(100)), size=st.integers(0, 100))
def test_the_order_can_be_read_back(order: list[int], size: int) -> None:
    arrays = letter_arrays(np.array(order[:size], np.int64), b"")
    begins = np.frombuffer(arrays["popular.by_letters_begin"].data, "<u4")
    coded = np.frombuffer(arrays["popular.by_letters"].data, np.uint8)
    found: list[int] = []
    for begin, end in pairwise(begins):
        first, *steps = read_numbers(coded[begin:end]).tolist()
        found += accumulate(((-(step + 1) if step % 2 else step) // 2 for step in steps), initial=first)
    assert found == order[:size]


def blends(counts: dict[str, int], tmp_path: Path) -> tuple[Model, Model]:
    toy = Toy(parts=("popular", "ngram"), counts=counts)
    without = load(write_toy(tmp_path / "without.halfword", toy))
    blend = load(write_toy(tmp_path / "with.halfword", replace(toy, spellings=True)))
    return without, blend


def test_another_spelling_is_evidence_for_the_ranker(tmp_path: Path) -> None:
    without, with_spellings = blends({"c abdd": 3, "ab": 1}, tmp_path)
    texts, _, evidence, _ = with_spellings._engine.propose_batch(["cab"], engine_options(SearchOptions()), 1)[0]
    assert dict(zip(texts, evidence, strict=True))["cabdd"][3] == 1.0
    assert with_spellings.complete("cab") != without.complete("cab")
    assert with_spellings.complete("cab", count=3) == with_spellings.complete("cab")[:3]


@pytest.mark.parametrize(("number", "same"), [(9, False), (10, True)])
def test_where_ten_queries_go_on_no_other_spelling_is_looked_for(number: int, same: bool, tmp_path: Path) -> None:
    typed = [*(f"ab{first}{last}" for first in "abcd" for last in "cd"), "ab a", "ab b"]
    without, blend = blends({"a bdadad": 50, **dict.fromkeys(typed[:number], 1)}, tmp_path)
    assert (blend.complete("ab") == without.complete("ab")) == same


def test_a_typed_query_that_another_spelling_proposes_is_offered_once(tmp_path: Path) -> None:
    without, blend = blends({"cabdda": 1, "caba": 90, "c abdda": 5}, tmp_path)
    hasty = SearchOptions(haste=50.0, beam=1)
    assert [each.source for each in without.complete("cab", hasty) if each.text == "cabdda"] == ["popular"]
    assert [each.source for each in blend.complete("cab", hasty) if each.text == "cabdda"] == ["both"]


def test_training_learns_them_for_a_blend_only(text_folder: Path, tmp_path: Path) -> None:
    data, path = open_dataset(text_folder), tmp_path / "my.halfword"
    train(data, path, TrainOptions(parts=("popular", "ngram")))
    assert "popular.by_letters" in read_header(path).places
    train(data, path, TrainOptions(parts=("popular",)))
    assert "popular.by_letters" not in read_header(path).places  # nobody would ask them


def test_letters_are_the_same_however_a_query_is_spelled() -> None:
    spellings = ["mississippi.com", "www.misisippi.com", "http://misisipi com", "https://www.miss issippi-com"]
    assert {letters(each) for each in spellings} == {b"misisipicom"}


def test_what_is_never_suggested_is_not_respelled_either(tmp_path: Path) -> None:
    phrase = next(rule.text for rule in read_rules(SHIPPED).rules if rule.kind is Kind.WORDS and rule.text.isalpha())
    for split in ("train", "valid", "test"):
        (tmp_path / f"{split}.query.txt").write_text(f"rome hotels\nbari {phrase}\nbari beach\n" * 3)
    train(open_dataset(tmp_path), tmp_path / "my.halfword", TrainOptions(parts=("popular", "ngram")))
    words = open_spellings(tmp_path / "my.halfword")
    assert [text for text, _ in words.complete("www.bari", policy_for(ALL))] == ["www.bari beach", "www.baribeach"]
