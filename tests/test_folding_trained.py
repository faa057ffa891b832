"""Logs with accents and in Korean, trained as a user trains them: what is half typed or typed plainly is found."""

from pathlib import Path

import pytest

import halfword
from halfword import Model, load
from halfword.core.model_file import read_header
from halfword.data.dataset import open_dataset
from halfword.training.folding import LARGEST_COUNT, learn_forms
from halfword.training.options import NO_BACKGROUND, TrainOptions
from halfword.training.train import train

pytestmark = pytest.mark.engine

FRENCH = [
    *["crème brûlée"] * 6,
    *["crème brûlée facile"] * 3,
    *["crème fraîche"] * 3,
    *["gâteau au chocolat"] * 5,
    *["gâteau à la crème"] * 2,
    *["recette gâteau basque"] * 3,
    *["café"] * 4,
    *["café de flore"] * 3,
    *["aujourd'hui"] * 3,
    *["t-shirt homme"] * 3,
    *["chocolat noir"] * 3,
    *["recette de pain"] * 4,
]
KOREAN = [
    *["삼성 노트북"] * 6,
    *["삼성전자 주가"] * 4,
    *["삼계탕 만드는 법"] * 3,
    *["노트북 추천"] * 4,
    *["서울 날씨"] * 5,
    *["부산 날씨"] * 3,
    *["제주 맛집"] * 3,
    *["서울 맛집 추천"] * 3,
]
PLAIN = ["new york", "new york times", "weather today", "news", "cafe near me", "resume template"] * 3


@pytest.fixture(scope="module", params=[("popular", "ngram"), ("popular",)], ids=["with a memory", "popularity alone"])
def parts(request: pytest.FixtureRequest) -> tuple[str, ...]:
    return tuple(request.param)


def model_of(rows: list[str], folder: Path, parts: tuple[str, ...]) -> Model:
    folder.mkdir(exist_ok=True)
    for split in ("train", "valid", "test"):
        (folder / f"{split}.query.txt").write_text("\n".join(rows if split == "train" else rows[::7]) + "\n")
    path = folder / "small.halfword"
    train(open_dataset(folder), path, TrainOptions(parts=parts, background=NO_BACKGROUND))
    return load(path)


@pytest.fixture(scope="module")
def french(tmp_path_factory: pytest.TempPathFactory, parts: tuple[str, ...]) -> Model:
    return model_of(FRENCH, tmp_path_factory.mktemp("french"), parts)


@pytest.fixture(scope="module")
def korean(tmp_path_factory: pytest.TempPathFactory, parts: tuple[str, ...]) -> Model:
    return model_of(KOREAN, tmp_path_factory.mktemp("korean"), parts)


@pytest.mark.parametrize(
    ("typed", "first"),
    [
        ("creme b", "crème brûlée"),
        ("creme brulee f", "crème brûlée facile"),
        ("CRÈME BRU", "crème brûlée"),
        ("gateau", "gâteau au chocolat"),
        ("cafe d", "café de flore"),
        ("aujourdh", "aujourd'hui"),
        ("tshirt", "t-shirt homme"),
        ("t shi", "t-shirt homme"),
    ],
)
def test_plain_letters_find_accents(typed: str, first: str, french: Model) -> None:
    assert french.complete(typed).texts[0] == first


def test_what_differs_in_accents_alone_is_shown_once_as_most_people_write_it(tmp_path: Path) -> None:
    rows = FRENCH + ["creme brulee"] * 5 + ["pate"] * 9 + ["pâte"] * 3
    model = model_of(rows, tmp_path, ("popular", "ngram"))
    assert model.complete("cre").texts.count("crème brûlée") == 1
    assert "creme brulee" not in model.complete("creme br").texts
    assert [text for text in model.complete("p").texts if text.startswith(("pat", "pât"))] == ["pate"]
    assert [text for text in model.complete("pâ").texts if text.startswith(("pat", "pât"))] == ["pâte"]  # as typed
    assert "creme brulee" in model.complete("creme br", fold=False).texts
    assert {"creme brulee", "crème brûlée"} <= set(model.complete("cre", min_probability=0.0).texts)


def test_who_types_an_accent_seldom_means_a_text_without_one(tmp_path: Path) -> None:
    log = tmp_path / "titles.tsv"
    log.write_text("le petit prince\t40\nle père goriot\t9\nroman\t90\n")
    model = halfword.train(halfword.prepare(log), tmp_path / "titles.halfword", parts=("popular", "ngram"))
    assert model.complete("le pè").texts[0] == "le père goriot"


def test_an_accent_further_on_is_not_the_one_that_was_typed(tmp_path: Path) -> None:
    log = tmp_path / "pharmacy.tsv"
    log.write_text("colágeno\t40\ncólica\t9\nroman\t90\n")
    model = halfword.train(halfword.prepare(log), tmp_path / "pharmacy.halfword", parts=("popular", "ngram"))
    assert model.complete("có").texts[0] == "cólica"
    assert model.complete("co").texts[0] == "colágeno"


def test_who_types_no_accent_may_mean_any(tmp_path: Path) -> None:
    log = tmp_path / "titles.tsv"
    log.write_text("le petit prince\t40\nle père goriot\t9\nroman\t90\n")
    model = halfword.train(halfword.prepare(log), tmp_path / "titles.halfword", parts=("popular", "ngram"))
    assert model.complete("le p").texts[0] == "le petit prince"


def test_a_rarer_spelling_of_what_was_typed_is_no_suggestion(french: Model) -> None:
    assert "creme brulee" not in french.complete("crème brûlée").texts
    assert "crème brûlée" in french.complete("creme brulee").texts


def test_the_other_spelling_itself_is_offered(french: Model) -> None:
    assert {"café", "café de flore"} <= set(french.complete("cafe").texts)


@pytest.mark.parametrize(
    ("typed", "first"),
    [
        ("삼ㅅ", "삼성 노트북"),
        ("삼서", "삼성 노트북"),
        ("삼ㄱ", "삼계탕 만드는 법"),
        ("서우", "서울 날씨"),
        ("노ㅌ", "노트북 추천"),
    ],
)
def test_half_a_syllable_finds_the_whole_one(typed: str, first: str, korean: Model) -> None:
    assert korean.complete(typed).texts[0] == first


def test_what_nobody_typed_is_written_as_people_write_it(tmp_path: Path) -> None:
    french = model_of(FRENCH, tmp_path / "french", ("popular", "ngram"))
    found = french.complete("recette creme br", min_probability=0.0, invent="freely").texts
    assert "recette crème brûlée" in found
    korean = model_of(KOREAN, tmp_path / "korean", ("popular", "ngram"))
    assert "부산 맛집" in korean.complete("부산 마", min_probability=0.0, invent="freely").texts


def test_a_log_that_folding_does_not_change_stores_nothing(tmp_path: Path) -> None:
    model = model_of(PLAIN, tmp_path / "plain", ("popular", "ngram"))
    assert not [name for name in read_header(model.path).places if "folded" in name]
    assert model.complete("café").texts[0] == "cafe near me"
    assert model.complete("résu").texts[0] == "resume template"
    for typed in ("n", "new y", "weather", "cafe", "xyz"):
        assert model.complete(typed) == model.complete(typed, fold=False)


def test_a_word_may_occur_more_often_than_an_index_can_say() -> None:
    counts = dict.fromkeys(("café", "café paris"), LARGEST_COUNT)
    assert learn_forms(counts).keys() == learn_forms(dict.fromkeys(counts, 1000)).keys() != set()
