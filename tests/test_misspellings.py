"""What looks like a slip of the keyboard is not learned; names, numbers and other words are."""

from pathlib import Path

import pytest

from halfword.cli.output import print_learned
from halfword.core.card import Card
from halfword.core.model_file import read_header
from halfword.data.dataset import Split, open_dataset
from halfword.training.misspellings import Misspellings, WithoutMisspellings, left_out_path
from halfword.training.options import TrainOptions
from halfword.training.train import train

COUNTS = {
    "government grants": 6,
    "home depot": 40,
    "diabetes": 60,
    "asthma": 18,
    "asthma in children": 30,
    "vitamin c": 90,
    "world war 1": 50,
    "medicine": 40,
    "national parks": 80,
}


@pytest.mark.parametrize(
    "slip", ["diabets", "diabetse", "diabetess", "diabet", "home depo", "asthama", "free goverment land"]
)
def test_a_slip_is_told_by_what_was_typed_much_more_often(slip: str) -> None:
    counts = {**COUNTS, "government jobs": 9, slip: 1}
    assert Misspellings(counts).holds(slip)
    assert not any(Misspellings(counts).holds(query) for query in COUNTS)


@pytest.mark.parametrize("query", ["vitamin d", "world war 2", "medicines for cats", "dot", "diablo"])
def test_what_may_be_meant_is_kept(query: str) -> None:
    assert not Misspellings({**COUNTS, query: 1}).holds(query)


def test_two_spellings_that_are_both_common_are_kept() -> None:
    counts = {"theater": 40, "theatre": 20, "national parks": 80, "national park": 20}
    assert not any(Misspellings(counts).holds(query) for query in counts)


def test_other_spaces_than_in_a_frequent_query_are_slips_and_accents_are_not() -> None:
    counts = {"home depot": 40, "homedepot": 2, "ho me depot": 1, "crème": 30, "creme": 1, "crems": 1}
    assert [query for query in counts if Misspellings(counts).holds(query)] == ["homedepot", "ho me depot", "crems"]


def test_a_word_of_three_letters_is_a_slip_if_nobody_else_types_it() -> None:
    counts = {"vpn access": 15, "vnp access": 1, "web access": 9}
    assert not Misspellings(counts).holds("vnp access")
    assert Misspellings(counts, {"vpn": 9, "access": 9, "web": 9}).holds("vnp access")


def test_short_words_are_slips_only_beside_a_far_more_frequent_query() -> None:
    counts = {"wood screws": 46, "woo screws": 1, "soupe de riz": 60, "soupe dde riz": 2, "red hat": 9, "red bat": 1}
    assert [query for query in counts if Misspellings(counts).holds(query)] == ["woo screws", "soupe dde riz"]
    others = {"wood": 9, "woo": 4, "screws": 5}  # where other people type it, too, it is a word,
    assert Misspellings(counts, others).holds("woo screws")  # but nowhere else here,
    assert not Misspellings(counts | {"pitching woo": 1}, others).holds("woo screws")
    assert not Misspellings({"wood": 90, "woo": 1}, others).holds("woo")  # and not alone


def test_slips_in_names_of_programs_are_told_by_their_parts() -> None:
    counts = {
        "read_csv": 47,
        "resd_csv": 2,
        "dataframe.merge": 29,
        "datafraame.merge": 1,
        "--verbose": 30,
        "--verbos": 1,
    }
    assert [query for query in counts if Misspellings(counts).holds(query)] == [
        "resd_csv",
        "datafraame.merge",
        "--verbos",
    ]


def test_what_others_type_hardly_ever_is_a_slip_there_too() -> None:
    counts = {"wool socks": 11, "wool aocks": 1, "how to get here": 44, "how ti get here": 1}
    others = {"wool": 90, "socks": 471, "aocks": 1, "to": 17_621, "ti": 30, "how": 14_024}
    assert [query for query in counts if Misspellings(counts, others).holds(query)] == ["wool aocks", "how ti get here"]


def slips(counts: dict[str, int], others: dict[str, int] | None = None) -> list[str]:
    return [query for query in counts if Misspellings(counts, others).holds(query)]


def test_a_slip_of_the_hand_in_a_word_that_others_never_type_needs_no_query_without_it() -> None:
    counts = {"jobs in london": 30, "gardener londpn": 1, "computer jobs": 9, "commuter parking": 1, "health": 9}
    others = {"london": 333, "computer": 624, "health": 2_281}
    assert slips(counts, others) == ["gardener londpn"]  # m and p are no neighbours
    assert slips(counts, others | {"londpn": 40}) == []


def test_two_swapped_letters_that_make_another_word_are_a_slip_beside_a_far_more_frequent_query() -> None:
    counts, others = {"work from home": 40, "work form home": 1, "application form": 9}, {"from": 5_443, "form": 1_681}
    assert slips(counts, others) == ["work form home"]
    assert slips(counts | {"work from home": 19}, others) == []
    assert slips({"stand anmelden": 13, "stand namelden": 1}) == ["stand namelden"]


def test_a_word_that_ends_as_another_one_of_the_log_is_right() -> None:
    counts = {"gewerbeanmeldung": 8, "gewerbeabmeldung": 1, "gewerbeanmelduhg": 1}
    assert slips(counts) == ["gewerbeabmeldung", "gewerbeanmelduhg"]
    assert slips(counts | {"abmeldung": 4}) == ["gewerbeanmelduhg"]


def test_a_long_word_that_is_typed_about_as_often_as_a_near_one_is_right() -> None:
    counts = {"hund anmelden": 31, "hund abmelden": 26, "kfz abmelden": 90, "kfz anmelden": 95, "derailleur": 3}
    misspellings = Misspellings(counts | {"deraileur": 1})
    assert [query for query in counts | {"deraileur": 1} if misspellings.holds(query)] == ["deraileur"]


def test_a_space_in_another_place_is_a_slip_if_it_makes_words_that_are_nowhere_else() -> None:
    counts = {"jersey long sleeve": 1, "jersey lon gsleeve": 1, "long boots": 4, "sleeve": 3, "brake pads": 3}
    assert slips(counts) == ["jersey lon gsleeve"]
    assert slips(counts | {"lon": 2, "gsleeve": 2}) == []
    assert slips({"health": 9, "gift shop": 2, "gift card": 5, "shop": 9, "giftshop": 1}) == []  # a compound is no slip
    assert slips({"health": 9, "gift shop": 3, "gift card": 5, "shop": 9, "giftshop": 1}) == ["giftshop"]
    assert slips({"gift shop": 3, "giftshop": 1}) == []
    assert slips({"gift shop": 3, "giftshop": 1}, {"gift": 5, "shop": 9}) == ["giftshop"]


def test_a_word_that_is_often_typed_as_two_is_a_slip_unless_others_type_it() -> None:
    counts = {"brake pads": 5, "brakepads disc": 1}
    assert slips(counts) == ["brakepads disc"]
    assert slips(counts | {"brakepads shimano": 1}) == []
    assert slips(counts, {"brakepads": 1}) == []
    assert slips({"brake pads": 4, "brakepads disc": 1}) == []


def test_hyphens_are_no_slips() -> None:
    assert slips({"air fryer": 90, "air-fryer": 1, "air-fryer basket": 1}) == []


def test_endings_that_take_turns_in_other_words_are_no_slips() -> None:
    counts = {"ritiro referto": 30, "ritiro referti": 2, "ritiro referyo": 1}
    assert slips(counts) == ["ritiro referti", "ritiro referyo"]
    inflected = {f"{stem}{ending}": 3 for stem in ("cors", "medic", "pagament") for ending in "oi"}
    assert slips(counts | inflected) == ["ritiro referyo"]


def test_a_word_without_an_ending_may_be_cut_short_where_others_have_one() -> None:
    endings = {f"{stem}{e}": 3 for stem in ("plan", "car", "cub") for e in ("e", "")}
    assert slips({"vaccine": 30, "vaccin": 1} | endings) == ["vaccin"]
    assert slips({"vaccin": 30, "vaccine": 1} | endings) == []
    assert slips({"vaccin": 30, "vaccine": 1}) == ["vaccine"]


def test_a_word_that_is_typed_in_other_queries_too_is_no_slip_of_one_that_is_hardly_more_frequent() -> None:
    counts = {"bike rack": 10, "bike rock": 1, "car rack": 2}
    assert slips(counts) == ["bike rock"]
    assert slips(counts | {"rock garden": 2}) == []
    assert slips(counts | {"rock garden": 2, "roof rack": 40}) == ["bike rock"]
    assert slips(counts | {"rock garden": 2, "roof rack": 40}, {"rock": 3}) == []


def test_a_right_word_that_is_nowhere_else_is_a_slip_of_a_key_beside_a_far_more_frequent_query() -> None:
    counts = {"renew library card": 38, "renew library cars": 1, "renew library cart": 1}
    others = {"cars": 90, "card": 95, "cart": 90}
    assert slips(counts, others) == ["renew library cars"]  # t is no key beside d
    assert slips(counts | {"renew library card": 19}, others) == []
    assert slips(counts | {"model cars": 1}, others) == []


def test_another_first_letter_is_no_slip_where_it_was_typed_often() -> None:
    counts, others = {"audiobooks": 90, "eaudiobooks": 7}, {"audiobooks": 60}
    assert slips(counts, others) == []
    assert slips(counts | {"eaudiobooks": 2}, others) == ["eaudiobooks"]


def test_another_doubled_letter_is_a_slip() -> None:
    assert slips({"broccoli": 39, "brocolli": 2, "tinned brocolli": 1}) == ["brocolli", "tinned brocolli"]


def said_while_training(folder: Path, rows: str) -> list[str]:
    """Return what a training of these rows tells of its progress."""
    (folder / "train.query.txt").write_text(rows)
    said: list[str] = []
    options = TrainOptions(parts=("popular",), background="none")
    train(open_dataset(folder), folder / "m.halfword", options, lambda event: said.append(str(event)))
    return said


@pytest.mark.engine
def test_train_says_which_slips_it_leaves_out(tmp_path: Path) -> None:
    said = said_while_training(tmp_path, "diabetes\n" * 20 + "diabets\nnews\n" * 3)
    assert "leaving out likely typing mistakes, such as diabets" in said
    assert left_out_path(tmp_path / "m.halfword").read_text() == "diabets\t3\n"
    said_while_training(tmp_path, "diabetes\n" * 20)
    assert not left_out_path(tmp_path / "m.halfword").exists()


@pytest.mark.engine
def test_train_says_which_queries_are_never_suggested(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said_while_training(tmp_path, "sexe\n" * 3 + "le petit prince\n" * 9)
    assert (read_header(tmp_path / "m.halfword").card.data or {})["never_suggested"] == "1, such as sexe"
    card = Card(data={"never_suggested": "1, such as sexe"})
    print_learned(Path("m.halfword"), card)
    assert "never suggested: 1, such as sexe; docs/guide/not-suggested.md" in capsys.readouterr().out


def test_train_and_valid_lose_slips_and_test_keeps_them(tmp_path: Path) -> None:
    (tmp_path / "train.query.txt").write_text("diabetes\n" * 20 + "diabets\n")
    for split in ("valid", "test"):
        (tmp_path / f"{split}.query.txt").write_text("diabets\nnews\n")
    data = WithoutMisspellings.of(open_dataset(tmp_path))
    assert data.counts(Split.TRAIN) == {"diabetes": 20}
    assert data.rows(Split.VALID) == ["news"]
    assert data.rows(Split.TEST) == ["diabets", "news"]
    assert data.about()["misspellings"] == "1 left out, typed 3 times"


def test_a_word_that_others_type_too_is_no_slip() -> None:
    counts = {"blue shirt": 20, "blue skirt": 1, "blue shirtt": 1}
    others = {"shirt": 300, "skirt": 90}
    assert [query for query in counts if Misspellings(counts).holds(query)] == ["blue skirt", "blue shirtt"]
    assert [query for query in counts if Misspellings(counts, others).holds(query)] == ["blue shirtt"]


def test_a_small_site_does_not_learn_its_slips_unless_asked_to() -> None:
    assert TrainOptions().drops_misspellings(small_site=True)
    assert not TrainOptions().drops_misspellings(small_site=False)
    assert not TrainOptions(keep_misspellings=True).drops_misspellings(small_site=True)
    assert not TrainOptions(parts=("network",)).drops_misspellings(small_site=True)  # it offers nothing by itself
    assert TrainOptions(drop_misspellings=True).drops_misspellings(small_site=False)
