"""Chinese typed in Latin letters: queries that are found by their pinyin."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfword import SearchOptions, load
from halfword.core.options import UNFILTERED, Typos
from halfword.core.policy import Policy
from halfword.core.words import is_han
from halfword.search.model import Model, engine_options
from halfword.search.reference_homophones import PlainHomophones
from halfword.search.reference_pinyin import PlainPinyin
from halfword.training.pinyin import learn_pinyin
from tests.plain import UNBOUNDED, plain_over_memory
from tests.toy import SHOWS_ALL, Toy, write_toy

POLICY = replace(UNBOUNDED, folded_most_queries=0.0)  # no search from a text without its apostrophes
pytestmark = pytest.mark.engine

QUERIES = {"手机": 30, "手机壳": 9, "iphone手机": 4, "首都": 5, "上海 天气": 7, "weather": 6}
SPELLED = {
    "手机": ["shou", "ji"],
    "手机壳": ["shou", "ji", "ke"],
    "iphone手机": [*"iphone", "shou", "ji"],
    "首都": ["shou", "du"],
    "上海 天气": ["shang", "hai", " ", "tian", "qi"],
}


def write(path: Path, counts: Mapping[str, int], spelled: Mapping[str, list[str]]) -> Path:
    toy = Toy(parts=("popular", "ngram"), counts=dict(counts), pinyin=spelled, policy=POLICY)
    return write_toy(path / "toy.halfword", toy)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Model:
    return load(write(tmp_path_factory.mktemp("pinyin"), QUERIES, SPELLED), cache=False)


@pytest.mark.parametrize(
    ("typed", "found", "matched"),
    [
        ("shouji", "手机", "手机"),
        ("shou ji", "手机", "手机"),
        ("shouj", "手机壳", "手机"),
        ("sj", "手机", "手机"),
        ("手ji", "手机", "手机"),
        ("手机k", "手机壳", "手机壳"),
        ("iphonesh", "iphone手机", "iphone手"),
        ("shanghaiti", "上海 天气", "上海 天"),
        ("xi'an", None, None),
        ("s", None, None),
        ("weath", None, None),
    ],
)
def test_a_query_is_found_by_its_pinyin(model: Model, typed: str, found: str | None, matched: str | None) -> None:
    chinese = {each.text: each for each in model.complete(typed, UNFILTERED) if each.text in SPELLED}
    if found is None:
        assert not chinese
    else:
        assert chinese[found].text[: chinese[found].matched] == matched


def test_folding_switches_it_off(model: Model) -> None:
    assert not set(model.complete("shouji", replace(UNFILTERED, fold=False)).texts) & SPELLED.keys()


def test_pronunciation_is_learned_with_the_words_around() -> None:
    pytest.importorskip("pypinyin")
    # What a key has in common with the one before it is left out.
    keys = learn_pinyin({"银行": 2, "行人": 1})["pinyin.text"].data
    assert b"inhang" in keys
    assert b"xingren" in keys
    assert not learn_pinyin({"weather": 2})


@settings(max_examples=100, deadline=None)
@given(
    counts=st.dictionaries(st.text("手机a ", min_size=1, max_size=4).map(str.strip).filter(bool), st.integers(1, 5)),
    typed=st.text("手shoujia' ", max_size=6).map(str.lstrip),
)
def test_the_engine_equals_the_plain_pipeline(
    tmp_path_factory: pytest.TempPathFactory, counts: dict[str, int], typed: str
) -> None:
    counts = {" ".join(query.split()): count for query, count in counts.items()} | {"机": 1}
    syllables = {"手": "shou", "机": "ji"}
    spelled = {query: [syllables.get(letter, letter) for letter in query] for query in counts if not query.isascii()}
    path = write(tmp_path_factory.mktemp("plain"), counts, spelled)
    pinyin = PlainPinyin(counts, spelled, POLICY)
    plain = replace(plain_over_memory(path, counts, POLICY), pinyin=pinyin)
    options = SearchOptions(min_probability=0.0, count=99, beam=30)
    found, expected = load(path, cache=False).complete(typed, options), plain.complete(typed, options)
    others = [each for each in expected if each.text in spelled and not each.text.startswith(typed)]
    scores = {each.text: each.score for each in found if each.text in spelled and not each.text.startswith(typed)}
    assert scores.keys() == {each.text for each in others}
    assert [scores[each.text] for each in others] == pytest.approx([each.score for each in others], abs=1e-3)


HOMOPHONES = {"手机": 30, "手机壳": 9, "首都机场": 5, "天气预报": 40, "天气": 9}
SOUNDS = {
    "shou": "手首",
    "ji": "机击鸡",
    "ke": "壳",
    "du": "都",
    "chang": "场",
    "tian": "天",
    "qi": "气汽",
    "yu": "预",
    "bao": "报",
}
SYLLABLES = {letter: syllable for syllable, letters in SOUNDS.items() for letter in letters}
CHINESE = st.text("手首机击壳a", min_size=1, max_size=4).filter(is_han)


def mistaken(path: Path, counts: Mapping[str, int], policy: Policy) -> Model:
    """A model whose characters all have one pronunciation, also those that no query has."""
    spelled = {query: [SYLLABLES.get(letter, letter) for letter in query] for query in counts}
    parts = ("popular", "ngram")
    toy = Toy(parts=parts, counts=dict(counts), policy=policy, mistakes=True, pinyin=spelled, heard=SYLLABLES)
    return load(write_toy(path / "toy.halfword", toy), cache=False)


def corrections(model: Model, typed: str) -> list[tuple[Any, ...]]:
    return list(model._engine.corrections(typed, engine_options(SearchOptions(typos=Typos.AUTO))))


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("手击", "手机"), ("天汽预报", "天气预报"), ("首击", "手机"), ("手鸡壳", "手机壳"), ("手场", None), ("手", None)],
)
def test_a_character_that_sounds_the_same_is_corrected(tmp_path: Path, typed: str, meant: str | None) -> None:
    found = corrections(mistaken(tmp_path, HOMOPHONES, SHOWS_ALL), typed)
    assert [each[0] for each in found[:1]] == [meant] * (meant is not None)


@settings(max_examples=40, deadline=None)
@given(
    counts=st.dictionaries(
        st.text("手首机击壳a", min_size=1, max_size=4).filter(is_han), st.integers(1, 9), min_size=1
    ),
    typed=st.text("手首机击壳a", max_size=4),
)
def test_the_engine_equals_the_plain_homophones(
    tmp_path_factory: pytest.TempPathFactory, counts: dict[str, int], typed: str
) -> None:
    policy = replace(SHOWS_ALL, corrected_most_queries=1e6)
    found = corrections(mistaken(tmp_path_factory.mktemp("homophones"), counts, policy), typed)
    spelled = {query: [SYLLABLES.get(letter, letter) for letter in query] for query in counts}
    expected = PlainHomophones(counts, spelled, policy, SYLLABLES).corrections(typed)
    assert [each[0] for each in found] == [each.text for each in expected]
    for one, other in zip(found, expected, strict=True):
        assert one[1:] == pytest.approx(other[1:], abs=1e-6)
