"""Words in another order: known queries that hold what was typed, but do not go on from it."""

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfword import SearchOptions, load
from halfword.core.errors import OptionError
from halfword.core.filters import Blocklist
from halfword.core.options import UNFILTERED, Order
from halfword.core.policy import Policy
from halfword.search.filtered import Filtered
from halfword.search.model import Model
from halfword.search.reference_order import PlainOrder
from halfword.training.endings import learn_endings
from halfword.training.other_order import FEWEST, learn_order
from tests.plain import UNBOUNDED, plain_over_memory
from tests.toy import SHOWS_ALL, Toy, write_toy

pytestmark = pytest.mark.engine

ANY = replace(UNFILTERED, order=Order.ANY)
QUERIES = {
    "iphone case": 30,
    "iphone case red": 4,
    "red iphone": 8,
    "dresden university of technology": 5,
    "university of york": 40,
    "university of kent": 30,
    "university of bath": 20,
    "hotels dresden": 9,
    "case study": 6,
    "weather": 50,
}


def model_of(folder: Path, counts: Mapping[str, int], most: int = 64) -> Model:
    toy = Toy(parts=("popular", "ngram"), counts=dict(counts), order=most)
    return load(write_toy(folder / "toy.halfword", toy), cache=False)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Model:
    return model_of(tmp_path_factory.mktemp("order"), QUERIES)


@pytest.mark.parametrize(
    ("typed", "found"),
    {
        "case iph": "iphone case",
        "case iphone": "iphone case",
        "red case iph": "iphone case red",
        "university dre": "dresden university of technology",
    }.items(),
)
def test_a_query_is_found_by_its_words_in_any_order(model: Model, typed: str, found: str) -> None:
    completions = {each.text: each for each in model.complete(typed, ANY)}
    assert found in completions
    assert completions[found].source == "popular"
    assert not completions[found].corrected
    assert found not in model.complete(typed, replace(ANY, order=Order.AS_TYPED)).texts


def test_a_rare_word_finds_what_is_not_listed_of_a_frequent_one(tmp_path: Path) -> None:
    model = model_of(tmp_path, QUERIES, most=2)
    assert "dresden university of technology" in model.complete("university dre", ANY).texts


def test_a_query_is_found_by_a_word_that_begins_none(model: Model) -> None:
    assert {"university of york", "university of kent"} <= set(model.complete("of", ANY).texts)
    assert model.complete("of", replace(ANY, order=Order.AS_TYPED)).texts.count("university of york") == 0


@pytest.mark.parametrize("typed", ["iphone", "iphone ", "case case", "case moon", "weather", ""])
def test_all_words_must_be_there_each_in_its_own_place(model: Model, typed: str) -> None:
    assert all(text.startswith(typed) for text in model.complete(typed, ANY).texts)


def test_the_last_typed_word_ends_what_is_matched(model: Model) -> None:
    (case,) = (each for each in model.complete("case iph", ANY) if each.text == "iphone case red")
    assert case.text[: case.matched] == "iphone case"


def test_what_goes_on_from_the_text_keeps_its_probability(model: Model) -> None:
    as_typed = {each.text: each.score for each in model.complete("case iph", UNFILTERED)}
    found = {each.text: each.score for each in model.complete("case iph", ANY)}
    assert {text: found[text] for text in found if text in as_typed} == pytest.approx(
        {text: as_typed[text] for text in found if text in as_typed}
    )
    assert sum(map(math.exp, found.values())) < 1


def test_a_blocklist_sees_them_and_an_unknown_order_is_refused(model: Model) -> None:
    found = Filtered(model, Blocklist(["iphone case"])).complete("case iph", ANY)
    assert not any("iphone case" in each.text for each in found)
    with pytest.raises(OptionError, match="order must be one of any, as typed, got 'none'"):
        model.complete("case iph", order="none")


def test_only_words_that_were_typed_several_times_are_kept() -> None:
    assert not learn_order({"weather": 5, "iphone case": 1, "red shoes": 1})
    assert len(learn_order({"iphone case": 1, "red case": 1})["order.begin"].data) == 2 * 4  # case alone
    assert len(learn_order({"iphone case": 2, "red shoes": 1})["order.begin"].data) == 3 * 4  # iphone, case


def test_a_word_that_has_ended_is_found_elsewhere_too_but_not_the_typed_text_itself(tmp_path: Path) -> None:
    toy = Toy(parts=("popular", "ngram"), counts={"b a": 9, "a": 5, "b ab": 4, "c": 2}, order=4)
    found = load(write_toy(tmp_path / "toy.halfword", toy)).complete("a ", UNFILTERED, count=50).texts
    assert "b a" in found
    assert "b ab" not in found
    assert "a" not in found


@pytest.mark.parametrize("typed", ["noel", "noël", "gateau choc", "noir gâteau", "tshirt vert"])
def test_other_spellings_of_a_word_find_it_too_unless_they_are_told_apart(tmp_path: Path, typed: str) -> None:
    counts = {"bûche de noël": 3, "gâteau au chocolat noir": 5, "t-shirt en vert": 2}
    model = model_of(tmp_path, counts)
    (found,) = (each for each in model.complete(typed, ANY) if each.text in counts)
    assert len(found.text[: found.matched].split()) == (4 if "noir" in typed else 3)
    exact = model.complete(typed, replace(ANY, fold=False)).texts
    assert (found.text in exact) == (typed in ("noël", "noir gâteau"))


@pytest.mark.parametrize(
    "typed", ["oignon", "loignon", "soupe oig", "l'oignon", "pot au", "feu", "potaufeu", "e books"]
)
def test_parts_of_a_word_that_signs_join_find_it_too(tmp_path: Path, typed: str) -> None:
    counts = {"soupe à l'oignon": 3, "pot-au-feu": 4, "library e-books": 2}
    found = [each for each in model_of(tmp_path, counts).complete(typed, ANY) if each.text in counts]
    assert len(found) == 1
    assert found[0].matched == (found[0].text.index("-feu") if typed == "pot au" else len(found[0].text))


def test_a_query_that_was_typed_far_more_often_may_stand_above_what_goes_on(tmp_path: Path) -> None:
    policy = replace(SHOWS_ALL, reordered_most_queries=10.0, reordered_log_probability=math.log(0.6))
    order = []
    for often in (1, 2000):
        counts = {"hose connector": 2, "garden hose": often}
        toy = Toy(parts=("popular", "ngram"), counts=counts, order=4, policy=policy)
        found = load(write_toy(tmp_path / f"{often}.halfword", toy), cache=False).complete("hose", ANY)
        order.append([each.text for each in found if each.text in counts])
        assert sum(math.exp(each.score) for each in found) < 1
    assert order == [["hose connector", "garden hose"], ["garden hose", "hose connector"]]


FOUND_INSIDE = {"ausweis": "personalausweis", "zeiten": "öffnungszeiten", "pass": "reisepass beantragen"}


def test_letters_inside_a_word_find_it_in_a_small_site(tmp_path: Path) -> None:
    counts = {"personalausweis": 4, "reisepass beantragen": 2, "orange": 9, "öffnungszeiten": 3}
    for most, found in ((100.0, FOUND_INSIDE), (3.0, {})):
        policy = replace(SHOWS_ALL, inside_most_queries=most)
        toy = Toy(parts=("popular", "ngram"), counts=counts, order=4, policy=policy)
        model = load(write_toy(tmp_path / "toy.halfword", toy), cache=False)
        for typed in (*FOUND_INSIDE, "range", "isep"):
            texts = [each.text for each in model.complete(typed, ANY) if each.text in counts]
            assert texts == [text for key, text in found.items() if key == typed], typed


INFLECTING = replace(SHOWS_ALL, reordered_inflected=1.0, inside_most_queries=100.0)


def found_by(folder: Path, counts: Mapping[str, int], typed: str, policy: Policy) -> list[str]:
    toy = Toy(parts=("popular", "ngram"), counts=dict(counts), order=4, policy=policy)
    model = load(write_toy(folder / "toy.halfword", toy), cache=False)
    return [each.text for each in model.complete(typed, ANY) if each.text in counts]


@pytest.mark.parametrize("typed", ["log in", "log i", "lo gin"])
def test_a_small_site_finds_a_query_that_was_typed_with_a_space_too_much(tmp_path: Path, typed: str) -> None:
    counts = {"login": 20, "login loop": 2, "logo": 1}
    assert found_by(tmp_path, counts, typed, INFLECTING) == ["login", "login loop"]
    assert found_by(tmp_path, counts, typed, SHOWS_ALL) == []


@pytest.mark.parametrize(
    ("typed", "found"),
    {
        "schulen": ["volkshochschule"],
        "bibliotheken": ["bibliothek", "stadtbibliothek"],
        "backups": ["backup", "database backup"],  # by the rules of English
        "kurse": ["kurs für anfänger"],
        "schwimmbäder": ["schwimmbad"],
        "bade": [],  # too little of it is left
        "schwimmbadkarten": ["schwimmbad"],  # a whole word is left, and most of the letters
        "schwimmbadeintrittskarten": [],
    }.items(),
)
def test_a_small_site_finds_words_without_their_ending(tmp_path: Path, typed: str, found: list[str]) -> None:
    counts = {"volkshochschule": 8, "stadtbibliothek": 14, "bibliothek": 4, "kurs für anfänger": 2, "schwimmbad": 5}
    assert found_by(tmp_path, counts | {"backup": 9, "database backup": 3}, typed, INFLECTING) == found


@pytest.mark.parametrize(
    ("typed", "counts", "found"),
    [
        ("persi", {"persil powder": 6, "peppers": 33, "super persons": 9}, ["persil powder"]),  # something goes on
        ("inc-44", {"inc-4412": 1, "inc-4398": 4, "inc-4501": 2}, ["inc-4412"]),
        ("plat-12", {"plat-907": 2, "plat-1182": 3}, []),  # digits are no ending
        ("zelte", {"zelte": 2, "zelt 3 personen": 10, "zelt": 9}, ["zelt", "zelt 3 personen"]),  # the whole query
    ],
)
def test_endings_are_left_out_only_where_nothing_goes_on_and_never_digits(
    tmp_path: Path, typed: str, counts: dict[str, int], found: list[str]
) -> None:
    policy = replace(INFLECTING, reordered_most_queries=10.0)
    assert found_by(tmp_path, counts, typed, policy) == found


@pytest.mark.parametrize(
    ("typed", "counts", "found"),
    [
        ("oven s", {"ovenschaal": 51, "oven schaal": 4}, ["ovenschaal", "oven schaal"]),
        ("smv 4", {"bosch smv4hvx": 11}, ["bosch smv4hvx"]),
        ("2 x 4", {"2x4": 116, "2x4 lumber": 27, "treated 2x4": 3}, ["2x4", "2x4 lumber", "treated 2x4"]),
        (
            "nappy",
            {"nappies": 25, "pampers nappies": 14, "nappy bags": 1},
            ["nappies", "pampers nappies", "nappy bags"],
        ),
    ],
)
def test_a_small_site_finds_what_is_written_as_one_word_and_other_plurals(
    tmp_path: Path, typed: str, counts: dict[str, int], found: list[str]
) -> None:
    policy = replace(INFLECTING, reordered_most_queries=10.0, other_known_factor=1.0)
    assert found_by(tmp_path, counts, typed, policy) == found


def test_a_very_long_text_is_looked_for_as_it_is_only(tmp_path: Path) -> None:
    words = " ".join(f"b{number}" for number in range(20)).split(" ")
    for many, found in ((16, True), (17, False)):
        query = " ".join(words[:many])
        typed = " ".join([*words[1:many], words[0]])
        assert (found_by(tmp_path, {query: 9}, typed, INFLECTING) == [query]) is found


def test_letters_in_the_middle_of_a_word_count_less_than_those_at_its_end(tmp_path: Path) -> None:
    policy = replace(INFLECTING, reordered_most_queries=10.0, other_known_factor=1.0, inside_factor=0.05)
    counts = {"jira permissions": 13, "mission statement": 2}
    assert found_by(tmp_path, counts, "missio", policy) == ["mission statement", "jira permissions"]
    assert found_by(tmp_path, counts, "missio", replace(policy, inside_factor=1.0))[0] == "jira permissions"
    compounds = {"personalausweis": 13, "personalausweise": 12, "ausweise": 2}
    assert found_by(tmp_path, compounds, "ausweis", policy) == ["personalausweis", "ausweise", "personalausweise"]


def test_a_plural_finds_the_singular(model: Model) -> None:
    assert "iphone case" in model.complete("cases", ANY).texts
    assert "hotels dresden" in model.complete("dresdens", ANY).texts
    assert "hotels dresden" not in model.complete("dresdes", ANY).texts  # the singular is whole


def test_a_plural_finds_a_query_that_is_the_singular(tmp_path: Path) -> None:
    found = model_of(tmp_path, {"nurse": 9, "dental nurse": 5, "nursery": 3}).complete("nurses", ANY).texts
    assert found.index("nurse") < found.index("dental nurse")


def test_a_plural_finds_queries_that_begin_with_the_singular(tmp_path: Path) -> None:
    counts = {"dog food": 9, "dry dog food": 5, "dogma": 4, "bus timetable": 3, "doge": 1}
    model = model_of(tmp_path, counts)
    found = [(each.text, each.matched) for each in model.complete("dogs", ANY) if each.text in counts]
    assert found == [("dog food", len("dog")), ("dry dog food", len("dry dog"))]
    assert "bus timetable" in model.complete("buses", ANY).texts


@pytest.mark.parametrize("typed", ["dogs", "cats f", "cats ", "buses", "cat foods", "trees cat", "3", "b"])
def test_the_engine_finds_the_other_number_as_the_plain_pipeline_does(tmp_path: Path, typed: str) -> None:
    counts = {"dog food": 9, "dry dog food": 5, "cat food": 6, "cat tree": 4, "cats trees": 2, "bus 3": 3, "a buse": 1}
    policy = replace(UNBOUNDED, reordered_inflected=1.0, reordered_most_queries=3.0, reordered_fewest_characters=3.0)
    endings = (("", "ma"), ("ood", "ry"), ("ee", "ry"))
    toy = Toy(parts=("popular", "ngram"), counts=counts, order=5, policy=policy, endings=endings)
    path = write_toy(tmp_path / "toy.halfword", toy)
    order = PlainOrder(counts, policy, fewest=FEWEST, most=5)
    plain = replace(plain_over_memory(path, counts, policy), other_order=order, endings=endings)
    options = SearchOptions(order=Order.ANY, min_probability=0.0, count=30, beam=30)
    found, expected = load(path, cache=False).complete(typed, options), plain.complete(typed, options)
    reordered = {each.text: each.score for each in expected if each.text in counts}
    assert {each.text: each.score for each in found if each.text in counts} == pytest.approx(reordered, abs=1e-3)
    assert reordered or typed == "b"


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("bando conc", ["bandi di concorso"]),
        ("multa pag", ["pagamento multe"]),
        ("agriturismi", ["agriturismo con piscina"]),
        ("pagamenti", ["pagamento multe"]),
        ("scarpe nere", ["scarpa nera donna"]),  # all words in the same form
        ("multe", ["pagamento multe"]),  # not `multa vigili`: a word that is found as it is has no other form
        ("bandu conc", []),
        ("borse rosso", []),  # a whole query may be all that is meant
    ],
)
def test_words_are_found_in_the_forms_that_endings_of_the_log_tell(
    tmp_path: Path, typed: str, found: list[str]
) -> None:
    counts = {"bandi di concorso": 22, "pagamento multe": 7, "agriturismo con piscina": 2, "scarpa nera donna": 3}
    counts |= {"multa vigili": 2, "tari": 4, "borse rosso": 1, "borse rossi": 2}
    endings = (("o", "i"), ("i", "o"), ("a", "e"), ("e", "a"))
    policy = replace(INFLECTING, inside_fewest_ending=99.0)
    toy = Toy(parts=("popular", "ngram"), counts=counts, order=4, policy=policy, endings=endings)
    texts = load(write_toy(tmp_path / "toy.halfword", toy), cache=False).complete(typed, ANY).texts
    assert [text for text in texts if text in counts] == found


def test_a_plural_of_all_words_finds_the_singular_of_all(tmp_path: Path) -> None:
    counts = {"vestido negro": 174, "vestidos negros ante": 1, "camisa blanca hombre": 9}
    policy = replace(INFLECTING, reordered_most_queries=10.0)
    assert found_by(tmp_path, counts, "vestidos negros", policy)[0] == "vestido negro"
    assert found_by(tmp_path, counts, "camisas blancas hom", policy) == ["camisa blanca hombre"]


def test_words_may_be_abbreviated_where_nothing_else_is_found(tmp_path: Path) -> None:
    counts = {"computer science": 9, "psychology msc": 7, "msc law": 3}
    for typed, found in {
        "comp sci": "computer science",
        "msc psych": "psychology msc",
        "psy msc": "psychology msc",
    }.items():
        assert found_by(tmp_path, counts, typed, INFLECTING) == [found]
    assert found_by(tmp_path, counts, "co sci", INFLECTING) == []  # too short to tell


@pytest.mark.parametrize(
    ("typed", "counts", "found"),
    [
        ("emekliler", {"emekli maaşı": 27, "emek": 30}, ["emekli maaşı"]),
        ("benzin fiyatları", {"benzin fiyatı": 17, "fiyat": 40}, ["benzin fiyatı"]),
        ("emekli maaşları", {"emekli maaşları": 2, "emekli maaşı": 27}, []),  # all that is meant, perhaps
        ("cardigan", {"gift card": 9}, []),  # too little is left
        ("тачк", {"плита": 9, "тачпад": 2}, []),  # two letters are not enough in any script
        ("тайм", {"плита": 9, "почта": 4}, []),
        ("夜間窓口", {"窓口": 4, "夜間": 2}, []),
        ("مياه", {"فاتورة المياه": 47}, ["فاتورة المياه"]),  # an article is enough before them
        ("ひき肉", {"鶏ひき肉": 6}, ["鶏ひき肉"]),
    ],
)
def test_words_are_cut_to_what_is_known_where_nothing_else_is_found(
    tmp_path: Path, typed: str, counts: dict[str, int], found: list[str]
) -> None:
    assert found_by(tmp_path, counts, typed, INFLECTING) == found


@pytest.mark.parametrize(("more", "found"), [(12, ["donaudampfschifffahrt"]), (13, [])])
def test_no_more_than_twelve_letters_are_cut(tmp_path: Path, more: int, found: list[str]) -> None:
    typed = "donaudampfschifffahrt" + "x" * more
    counts = {"donaudampfschifffahrt": 3, "kurs für anfänger": 2}
    assert found_by(tmp_path, counts, typed, INFLECTING) == found


def test_beginnings_count_beside_as_many_endings_as_are_learned(tmp_path: Path) -> None:
    endings = tuple((f"z{number}", "y") for number in range(64))
    toy = Toy(
        parts=("popular", "ngram"),
        counts={"فاتورة المياه": 47},
        order=4,
        policy=replace(INFLECTING, inside_fewest_ending=99.0),
        endings=(*endings, ("-", "ال-")),
    )
    model = load(write_toy(tmp_path / "toy.halfword", toy), cache=False)
    assert "فاتورة المياه" in model.complete("فاتورة ميا", ANY).texts


def test_beginnings_that_the_log_has_and_has_not_are_learned_and_left_out(tmp_path: Path) -> None:
    words = "مياه كهرباء صحة تعليم جواز"
    counts = {f"ال{word}": 3 for word in words.split()} | dict.fromkeys(words.split(), 3)
    (learned,) = (array.data.decode() for array in learn_endings(counts).values())
    assert "- ال-\nال- -\n" in learned
    known = {"فاتورة المياه": 47, "دفع المخالفات المرورية": 62}
    toy = Toy(parts=("popular", "ngram"), counts=known, order=4, policy=INFLECTING, endings=(("-", "ال-"),))
    model = load(write_toy(tmp_path / "toy.halfword", toy), cache=False)
    for typed, found in {"فاتورة مياه": "فاتورة المياه", "مخالفات مرور": "دفع المخالفات المرورية"}.items():
        assert [text for text in model.complete(typed, ANY).texts if text in known] == [found]


def test_who_types_an_accent_seldom_means_a_word_without_it(tmp_path: Path) -> None:
    policy = replace(INFLECTING, reordered_most_queries=10.0, other_known_factor=1.0)
    counts = {"bolso bandolera": 19, "bañador": 4, "traje bañador": 2}
    assert found_by(tmp_path, counts, "bañ", policy)[-1] == "bolso bandolera"
    assert found_by(tmp_path, counts, "ban", policy)[0] == "bolso bandolera"


def test_a_small_site_learns_how_its_words_are_inflected() -> None:
    words = ["corso", "referto", "medico", "banco", "tetto", "orario"]
    counts = {f"{word} {word[:-1]}i": 2 for word in words} | {"modem model": 2}
    assert learn_endings(counts)["words.endings"].data == b"i o\no i\n"
    assert learn_endings({"weather": 9}) == {}


def test_few_letters_are_looked_for_elsewhere_only_where_no_query_begins_with_them(tmp_path: Path) -> None:
    policy = replace(SHOWS_ALL, reordered_fewest_characters=3.0, reordered_most_queries=10.0)
    counts = {"line 42 timetable": 9, "line 7 stops": 5, "stops": 3}
    toy = Toy(parts=("popular", "ngram"), counts=counts, order=4, policy=policy)
    model = load(write_toy(tmp_path / "toy.halfword", toy), cache=False)
    assert "line 42 timetable" in model.complete("42", ANY).texts
    assert "line 7 stops" in model.complete("7", ANY).texts
    assert "line 7 stops" not in model.complete("st", ANY).texts


def test_words_before_the_last_are_found_in_the_other_number(tmp_path: Path) -> None:
    counts = {"psychology courses": 9, "graduation gown hire": 5, "nurse jobs": 4, "course fees": 3, "gowns": 2}
    policy = replace(SHOWS_ALL, reordered_inflected=1.0)
    toy = Toy(parts=("popular", "ngram"), counts=counts, order=4, policy=policy)
    model = load(write_toy(tmp_path / "toy.halfword", toy), cache=False)
    for typed, first in {"course psychology": "psychology courses", "gowns gradu": "graduation gown hire"}.items():
        assert next(each.text for each in model.complete(typed, ANY) if each.text in counts) == first
    (jobs,) = (each for each in model.complete("nurses jo", ANY) if each.text in counts)
    assert (jobs.text, jobs.matched) == ("nurse jobs", len("nurse jo"))
    assert "psychology courses" not in model.complete("fees psychology", ANY).texts


def test_a_space_that_was_typed_too_early_is_left_out_where_nothing_else_is_found(tmp_path: Path) -> None:
    model = model_of(tmp_path, {"tickets": 9, "tickets online": 5, "ticket": 2, "museum shop": 3, "shopping": 4})
    (tickets, online) = (each for each in model.complete("ticket ", ANY) if each.source == "popular")
    assert (tickets.text, tickets.matched, online.text) == ("tickets", len("ticket"), "tickets online")
    assert "shopping" not in model.complete("shop ", ANY).texts


def test_letters_inside_words_and_words_elsewhere_are_found_together(tmp_path: Path) -> None:
    policy = replace(SHOWS_ALL, inside_most_queries=100.0)
    counts = {"wochenmarkt": 5, "café am markt": 2}
    toy = Toy(parts=("popular", "ngram"), counts=counts, order=4, policy=policy)
    model = load(write_toy(tmp_path / "toy.halfword", toy), cache=False)
    assert [each.text for each in model.complete("markt", ANY) if each.text in counts] == list(counts)


@pytest.mark.parametrize("known", [True, False])
def test_no_word_is_repeated_where_known_queries_have_the_typed_words(tmp_path: Path, known: bool) -> None:
    counts = {"b a" if known else "c a": 9, "b b": 2}
    policy = replace(SHOWS_ALL, min_probability=1e-9)
    toy = Toy(parts=("popular", "ngram"), counts=counts, order=4, words=True, policy=policy)
    model = load(write_toy(tmp_path / "toy.halfword", toy), cache=False)
    new = [each.text for each in model.complete("a b", invent="freely", count=100) if each.text not in counts]
    assert new
    assert any("b" in text.split()[2:] for text in new) is not known


def test_underscores_part_words(tmp_path: Path) -> None:
    model = model_of(tmp_path, {"pandas.read_csv file": 3, "read me": 2})
    assert "pandas.read_csv file" in model.complete("csv", ANY).texts
    assert "pandas.read_csv file" in model.complete("file_csv", ANY).texts


def test_a_mistyped_word_is_found_elsewhere_too(tmp_path: Path) -> None:
    counts = {"bin collection": 20, "bin collection day": 9, "council tax": 5}
    policy = replace(SHOWS_ALL, reordered_log_probability=-0.5)
    for corrections, found in ((4.0, ["bin collection", "bin collection day"]), (0.0, [])):
        some = replace(policy, reordered_corrections=corrections)
        toy = Toy(parts=("popular", "ngram"), counts=counts, order=4, mistakes=True, policy=some)
        answer = load(write_toy(tmp_path / "toy.halfword", toy), cache=False).complete("colection", ANY, count=30)
        assert [each.text for each in answer if each.corrected] == found, corrections


WORDS = st.lists(
    st.sampled_from(
        ["a", "ab", "b", "ba", "c", "cab", "á", "a-b", "-", "한", "b_a", "_", "c’b", "a'", "cabs", "abas", "cabba"],
    ),
    min_size=1,
    max_size=4,
).map(" ".join)


@settings(max_examples=100, deadline=None)
@given(
    counts=st.dictionaries(WORDS, st.integers(1, 5), min_size=1, max_size=14),
    typed=st.one_of(WORDS, WORDS.map(lambda text: text + " ")),
    most=st.integers(1, 4),
    checked=st.sampled_from([1.0, 3.0, 200.0]),
    fewest=st.sampled_from([1.0, 3.0]),
    goes_on=st.sampled_from([1.0, 10.0]),
    inside=st.sampled_from([0.0, 100.0]),
    folds=st.booleans(),
    least=st.sampled_from([0.0, 1e-12]),  # with the second, spellings that differ in accents are one
    inflected=st.sampled_from([0.0, 1.0]),
)
def test_the_engine_equals_the_plain_pipeline(
    tmp_path_factory: pytest.TempPathFactory,
    counts: dict[str, int],
    typed: str,
    most: int,
    checked: float,
    fewest: float,
    goes_on: float,
    inside: float,
    folds: bool,
    least: float,
    inflected: float,
) -> None:
    policy = replace(UNBOUNDED, reordered_most_checked=checked, reordered_most_begun=2.0, reordered_count=4.0)
    policy = replace(policy, reordered_fewest_characters=fewest, reordered_most_queries=goes_on)
    policy = replace(policy, inside_most_queries=inside, inside_fewest_typed=1.0, inside_fewest_before=1.0)
    policy = replace(policy, folded_most_queries=0.0)  # so that other spellings are found by this alone
    policy = replace(policy, reordered_inflected=inflected, inside_fewest_ending=2.0, abbreviated_fewest_typed=2.0)
    endings = (("", "a"), ("s", ""), ("b", "ba"))
    toy = Toy(parts=("popular", "ngram"), counts=counts, order=most, policy=policy, endings=endings)
    path = write_toy(tmp_path_factory.mktemp("plain") / "toy.halfword", toy)
    order = PlainOrder(counts, policy, fewest=FEWEST, most=most)
    plain = replace(plain_over_memory(path, counts, policy), other_order=order, endings=endings)
    options = SearchOptions(order=Order.ANY, min_probability=least, count=30, beam=30, fold=folds)
    found, expected = load(path, cache=False).complete(typed, options), plain.complete(typed, options)
    reordered = [each for each in expected if not each.text.startswith(typed)]
    assert {each.text for each in found if not each.text.startswith(typed)} == {each.text for each in reordered}
    scores = {each.text: each.score for each in found}
    assert [scores[each.text] for each in reordered] == pytest.approx([each.score for each in reordered], abs=1e-3)


def test_an_answer_that_is_kept_is_kept_for_its_order(tmp_path: Path) -> None:
    toy = Toy(parts=("popular", "ngram"), counts={"b a": 9, "b c": 2, "a d": 1}, order=4)
    kept = load(write_toy(tmp_path / "toy.halfword", toy))
    as_typed = replace(UNFILTERED, count=50)
    for order in (Order.ANY, Order.AS_TYPED, Order.ANY):
        found = kept.complete("a b", replace(as_typed, order=order)).texts
        assert ("b a" in found) == (order is Order.ANY)
