"""Other scripts are typed on Latin keys: kana on the way, and words on a keyboard that was not switched."""

from pathlib import Path

import pytest

from halfword import Dataset, Model, train
from halfword.training.latin_keys import in_romaji, on_latin_keys
from halfword.training.misspellings import Misspellings
from halfword.training.pinyin import learn_pinyin

pytestmark = pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")

RUSSIAN = {
    "пылесос": 90,
    "пылесос робот": 20,
    "ковёр": 30,
    "хлебница": 9,
    "samsung a54": 12,
    "gs battery": 4,
    "юбка": 5,
}
JAPANESE = {
    "キャベツ": 48,
    "きゃべつ": 3,
    "玉ねぎ スープ": 15,
    "たまご": 13,
    "卵焼き": 14,
    "ハンバーグ": 36,
    "卵 サンド": 7,
}


def learned(counts: dict[str, int], folder: Path) -> Model:
    data = Dataset.from_counts(counts, folder / "data")
    return train(data, folder / "m.halfword", parts=("popular", "ngram"), background="none")


@pytest.fixture(scope="module")
def russian(tmp_path_factory: pytest.TempPathFactory) -> Model:
    return learned(RUSSIAN, tmp_path_factory.mktemp("russian"))


@pytest.fixture(scope="module")
def japanese(tmp_path_factory: pytest.TempPathFactory) -> Model:
    return learned(JAPANESE, tmp_path_factory.mktemp("japanese"))


@pytest.mark.parametrize(
    ("typed", "first"),
    [
        ("gskt", "пылесос"),
        ("gsktcjc h", "пылесос робот"),
        ("rjd", "ковёр"),
        ("gs", "gs battery"),
        ("[kt", "хлебница"),
        ("ыфьы", "samsung a54"),
    ],
)
def test_the_wrong_keyboard_is_understood_where_nothing_goes_on(russian: Model, typed: str, first: str) -> None:
    assert russian.complete(typed).texts[0] == first


@pytest.mark.parametrize(
    ("typed", "first"),
    [
        ("たまg", "たまご"),
        ("きゃb", "キャベツ"),
        ("玉ねぎ すーp", "玉ねぎ スープ"),
        ("hanba-g", "ハンバーグ"),
        ("き", "キャベツ"),
    ],
)
def test_kana_are_found_while_they_are_composed(japanese: Model, typed: str, first: str) -> None:
    assert japanese.complete(typed).texts[0] == first


def test_in_scripts_without_spaces_a_small_site_invents_nothing(japanese: Model) -> None:
    prefixes = {query[:length] for query in JAPANESE for length in range(1, len(query) + 1)} | {"卵や", "ハンバ"}
    assert {text for prefix in prefixes for text in japanese.complete(prefix).texts} <= JAPANESE.keys()


def test_a_japanese_log_is_not_read_as_chinese(japanese: Model) -> None:
    assert japanese.complete("ji").texts == []
    assert "pinyin.letter" not in learn_pinyin(JAPANESE)


def test_a_log_in_latin_letters_has_no_such_keys() -> None:
    assert learn_pinyin({"new york": 3, "crème brûlée": 2}) == {}


@pytest.mark.parametrize(
    ("query", "typed"),
    [("привет", "ghbdtn"), ("ёлка", "tkrf"), ("שלום", "akuo"), ("سلام", "sghl"), ("γεια", "geia"), ("안녕", "dkssud")],
)
def test_keys_are_those_of_the_usual_keyboards(query: str, typed: str) -> None:
    keys = on_latin_keys(query)
    assert keys is not None
    assert "".join(keys) == typed


@pytest.mark.parametrize(
    ("query", "ways"),
    [
        ("きょうと", ["kyouto"]),
        ("しゃしん", ["syasin", "shashin"]),
        ("カップ", ["kappu"]),
        ("じゅうす", ["zyuusu", "juusu"]),
    ],
)
def test_kana_are_spelled_as_they_are_typed(query: str, ways: list[str]) -> None:
    assert ["".join(typed) for typed in in_romaji(query)] == ways


def test_what_was_typed_on_the_wrong_keyboard_or_not_composed_is_not_learned() -> None:
    misspellings = Misspellings(
        RUSSIAN | JAPANESE | {"卵 サンド": 7, "gsktcjc": 1, "たまg": 1, "卵サンド": 1, "ыфьыгтп ф54": 1}
    )
    found = [
        query for query in ("gsktcjc", "たまg", "卵サンド", "gs battery", "ыфьыгтп ф54") if misspellings.holds(query)
    ]
    assert found == ["gsktcjc", "たまg", "ыфьыгтп ф54"]
