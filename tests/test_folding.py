"""What people do not tell apart is found in the spelling that most of them typed."""

import math
import subprocess
import sys
import unicodedata
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from halfword import SearchOptions
from halfword.core.folding import covered, fold, keys
from halfword.core.text import normalise_prefix, normalise_query
from halfword.search.model import Completion, import_engine
from halfword.search.reference import PlainPopular
from tests.conftest import MakePopular

pytestmark = pytest.mark.engine

ENGINE = Path(__file__).parent.parent / "engine" / "text"
# What every version of Unicode's tables has; later characters may differ between Python and the engine.
OLD_CHARACTERS = "".join(
    chr(code) for code in range(32, 0x2FA1E) if unicodedata.ucd_3_2_0.category(chr(code)) not in ("Cn", "Cs", "Co")
)
TEXTS = st.text(OLD_CHARACTERS, max_size=8) | st.text("aeéäöü -'ıßœがカ한하ㅎ삼서성й", max_size=8)
FRENCH = {
    "crème brûlée": 9,
    "crème brûlée recette": 4,
    "crème fraîche": 3,
    "cremerie": 2,
    "café de flore": 5,
    "cafe": 1,
}
TURKISH = {"istanbul otel": 5, "ısparta": 3, "kız kulesi": 2}
SHOP = {"men's shoes": 6, "t-shirt": 5, "t-shirt red": 2, "mental health": 1, "rock 'n' roll": 2, "tea": 9}
GERMAN = {"müllabfuhr": 6, "bürgerbüro öffnungszeiten": 5, "muller": 2, "neue wohnung": 3, "straße melden": 2}
KOREAN = {"삼성 노트북": 7, "삼성전자": 5, "삼계탕": 2, "사과": 4, "값싼 노트북": 3}


def texts(completions: Sequence[Completion]) -> list[str]:
    return [completion.text for completion in completions]


@settings(max_examples=500, deadline=None)
@given(text=TEXTS.map(normalise_prefix), key=TEXTS.map(normalise_prefix))
def test_the_engine_folds_as_the_definition_says(text: str, key: str) -> None:
    assert import_engine().fold_keys(text) == keys(text)
    for wanted in (key, *keys(text), *keys(text[:3])):
        expected = covered(text, wanted)
        found = import_engine().covered_by(text, wanted)
        assert found == (None if expected is None else len(text[:expected].encode()))


def test_every_character_is_folded_alike_in_both() -> None:
    for begin in range(0, len(OLD_CHARACTERS), 64):
        text = normalise_query("x".join(OLD_CHARACTERS[begin : begin + 64]))
        assert import_engine().fold_keys(text) == keys(text)


@pytest.mark.skipif(unicodedata.unidata_version != "14.0.0", reason="the table was made with Unicode 14")
def test_the_engines_table_is_the_one_that_its_script_makes() -> None:
    made = subprocess.run([sys.executable, ENGINE / "make_fold_table.py"], capture_output=True, text=True, check=True)
    assert made.stdout == (ENGINE / "fold_table.h").read_text()


@given(text=TEXTS.map(normalise_query))
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@pytest.mark.parametrize(
    ("counts", "typed", "first"),
    [
        (FRENCH, "creme br", "crème brûlée"),
        (FRENCH, "CREME BRULEE", "crème brûlée"),
        (FRENCH, "crème brulee r", "crème brûlée recette"),
        (FRENCH, "ｃｒｅｍｅ ｂ", "crème brûlée"),
        (FRENCH, "café", "café de flore"),
        (FRENCH, "crêmerie", "cremerie"),
        (TURKISH, "istan", "istanbul otel"),
        (TURKISH, "İSTAN", "istanbul otel"),
        (TURKISH, "ISPARTA", "ısparta"),
        (TURKISH, "kiz", "kız kulesi"),
        ({"straße": 2}, "strass", "straße"),
        ({"strasse": 2}, "STRAß", "strasse"),
        ({"ガンダム": 2}, "ｶﾞﾝ", "ガンダム"),
        ({"ガンダム": 2}, "がん", "ガンダム"),
        (SHOP, "mens", "men's shoes"),
        (SHOP, "men´s", "men's shoes"),
        (SHOP, "men’s sh", "men's shoes"),
        (SHOP, "tshirt", "t-shirt"),
        (SHOP, "t shirt", "t-shirt"),
        (SHOP, "t‑shirt r", "t-shirt red"),
        (SHOP, "rock n", "rock 'n' roll"),
        ({"t shirt": 2}, "t-sh", "t shirt"),
        ({"tshirt": 2}, "t-sh", "tshirt"),
        (KOREAN, "삼서", "삼성 노트북"),
        ({"x ray": 9, "x-ray": 2}, "xra", "x ray"),
        (GERMAN, "muell", "müllabfuhr"),
        (GERMAN, "mulla", "müllabfuhr"),
        (GERMAN, "buergerbuero oef", "bürgerbüro öffnungszeiten"),
        (GERMAN, "burgerburo", "bürgerbüro öffnungszeiten"),
        (GERMAN, "neue", "neue wohnung"),
        (KOREAN, "삼ㅅ", "삼성 노트북"),
        (KOREAN, "갑", "값싼 노트북"),
        (KOREAN, "ㅅㅏㅁㄱ", "삼계탕"),
    ],
)
def test_what_people_do_not_tell_apart_is_found(
    counts: dict[str, int], typed: str, first: str, make_popular: MakePopular
) -> None:
    popular = make_popular(counts)
    assert texts(popular.complete(typed))[0] == first
    assert popular.complete(typed)[0].score <= 0


def test_what_goes_on_from_the_text_as_typed_counts_more(make_popular: MakePopular) -> None:
    popular = make_popular({"cafe noir": 3, "café blanc": 3, "café de flore": 20})
    assert texts(popular.complete("cafe")) == ["café de flore", "cafe noir", "café blanc"]
    assert texts(popular.complete("café")) == ["café de flore", "café blanc", "cafe noir"]
    total = 3 + 23 * math.exp(-1)
    assert popular.complete("cafe")[1].score == pytest.approx(math.log(3 / total))


def test_what_is_typed_without_a_space_finds_it_where_some_write_a_hyphen(make_popular: MakePopular) -> None:
    assert texts(make_popular({"x ray": 9}).complete("xra")) == []
    (first, second) = make_popular({"x ray": 9, "x-ray": 2, "xylophone": 3}).complete("xr")
    assert (first.text, second.text) == ("x ray", "x-ray")


def test_where_many_queries_go_on_from_the_text_it_is_what_was_meant(make_popular: MakePopular) -> None:
    many = {f"resume {number}": 2 for number in range(10)}
    assert "résumé" not in texts(make_popular(many | {"résumé": 40}).complete("resume", count=20))
    assert texts(make_popular(many | {"résumé": 90}).complete("resume"))[0] == "résumé"


def test_folding_can_be_switched_off(make_popular: MakePopular) -> None:
    assert make_popular(FRENCH).complete("creme b", fold=False) == []


def test_a_trailing_space_ends_a_word_in_folded_texts_too(make_popular: MakePopular) -> None:
    popular = make_popular({"crème brûlée": 2, "crèmerie": 3})
    assert texts(popular.complete("creme ")) == ["crème brûlée"]
    assert texts(popular.complete("creme")) == ["crèmerie", "crème brûlée"]


@pytest.mark.parametrize("typed", ["-", "'", "- ", "--", "´"])
def test_signs_alone_find_nothing(typed: str, make_popular: MakePopular) -> None:
    assert texts(make_popular(SHOP).complete(typed)) == []


ALPHABET = "abeé -'ß한하ᄒ"
QUERIES = st.text(ALPHABET, min_size=1, max_size=6).map(normalise_query).filter(bool)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    counts=st.dictionaries(QUERIES, st.integers(1, 6), max_size=60),
    typed=st.text(ALPHABET, max_size=4),
    count=st.integers(1, 12),
    fold_too=st.booleans(),
)
def test_the_index_by_keys_equals_the_brute_force(
    counts: dict[str, int], typed: str, count: int, fold_too: bool, make_popular: MakePopular
) -> None:
    popular, plain = make_popular(counts), PlainPopular(counts)
    for prefix in (typed, *(fold(query)[:2] for query in counts)):
        options = SearchOptions(count=count, fold=fold_too)
        found, expected = popular.complete(prefix, options), plain.complete(prefix, options)
        assert [each.score for each in found] == pytest.approx([each.score for each in expected])
        assert texts(found) == texts(expected)
