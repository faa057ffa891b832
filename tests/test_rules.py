"""Rules files: exact, word and substring rules, exceptions, sets of words, gaps and categories."""

from pathlib import Path

import pytest

from halfword.core.errors import OptionError
from halfword.core.filters import SHIPPED, Blocklist, read_blocklist
from halfword.core.rules import Category, Kind, parse_rules, read_rules

BELTS = ("belt", "belt buckle", "leather belt", "seatbelts")


@pytest.mark.parametrize(
    ("rule", "blocked"),
    [
        ("=belt", ["belt"]),
        ("belt", ["belt", "belt buckle", "leather belt"]),
        ("*belt*", ["belt", "belt buckle", "leather belt", "seatbelts"]),
    ],
)
def test_exact_word_and_substring_rules_have_their_own_signs(rule: str, blocked: list[str]) -> None:
    blocklist = Blocklist([rule])
    assert [text for text in BELTS if blocklist.blocks(text)] == blocked


def test_an_exact_rule_may_have_several_words_and_signs() -> None:
    blocklist = Blocklist(["=Black Belt"])
    assert [blocklist.blocks(text) for text in ("black belt", "black-belt", "black belts", "a black belt")] == [
        True,
        True,
        False,
        False,
    ]


def test_an_exception_covers_its_own_words_only() -> None:
    blocklist = Blocklist(["belt", "*worse*", "!belt buckle", "!worse for wear"])
    assert not blocklist.blocks("belt buckle")
    assert blocklist.blocks("belt buckle belt")
    assert not blocklist.blocks("worse for wear")
    assert blocklist.blocks("worsening")


def test_sets_and_gaps_stand_for_words() -> None:
    blocklist = Blocklist(["@make = make, cook up", "@soup = soup, fish stew", "how to @make .. @soup", "a ... z"])
    blocked = ["how to make soup", "how to cook up fish stew", "how to make hot soup", "a z", "a b c d z"]
    allowed = ["how to make very hot soup", "how to cook soup", "how to make stew", "a b c d e z"]
    assert [text for text in blocked + allowed if blocklist.blocks(text)] == blocked


def test_a_word_outside_of_a_set_is_any_other_word() -> None:
    blocklist = Blocklist(["@known = river, beach", "@first = john", "@first ~known ill"])
    assert [blocklist.blocks(f"john {word} ill") for word in ("smith", "river", "x")] == [True, False, False]


def test_a_set_may_hold_another_and_grow_line_by_line() -> None:
    sets = parse_rules(["@a = one", "@a = two words", "@b = @a, three"]).sets
    assert sets["b"] == {("one",), ("two", "words"), ("three",)}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("[nonsense]", "line 1: category 'nonsense' is unknown; choose among: sexual, slurs"),
        ("make @drug", "line 1: no set is called 'drug'; define it above"),
        ("... bomb", "must begin and end with a word or a set"),
    ],
)
def test_a_mistake_is_named_with_its_line(line: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text(line)
    with pytest.raises(OptionError, match=f"mine.txt, .*{reason}"):
        read_blocklist(tmp_path / "mine.txt")


def test_an_empty_file_blocks_nothing(tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("# nothing yet\n\n")
    assert not read_blocklist(tmp_path / "empty").blocks("belt")


def test_exceptions_of_one_category_do_not_excuse_from_another() -> None:
    lines = ["[sexual]", "sex", "!sex offender", "[people]", "smith ... offender"]
    assert not Blocklist(lines).blocks("sex offender registry")
    assert Blocklist(lines).blocks("smith sex offender")
    assert not Blocklist(lines, allow=["people"]).blocks("smith sex offender")


def test_an_exception_of_the_user_excuses_from_rules_that_ship_and_not_the_other_way_round(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("education\n!nude\n")
    mine = read_blocklist(SHIPPED, tmp_path / "mine")
    assert read_blocklist(SHIPPED).blocks("nude")
    assert not mine.blocks("nude")
    assert not read_blocklist(SHIPPED).blocks("sex education")
    assert mine.blocks("sex education")


@pytest.mark.parametrize("text", ["p0rn", "s e x", "s.e.x", "s-e-x videos", "pørn", "n4ked girls"])
def test_disguised_words_are_read(text: str) -> None:
    assert read_blocklist(SHIPPED).blocks(text)


@pytest.mark.parametrize("text", ["h1n1", "a b c song", "ps4", "u s a", "c4 corvette", "7 up", "e.t.", "josé"])
def test_digits_and_single_letters_are_no_disguise_by_themselves(text: str) -> None:
    assert not read_blocklist(SHIPPED).blocks(text)


def test_a_word_that_lacks_its_last_letters_is_still_found() -> None:
    blocklist = Blocklist(["commit suicide", "escorts"])
    assert blocklist.blocks("how to commit suicid")
    assert not blocklist.blocks("commit suit")
    assert not blocklist.blocks("ford escort")  # a rule of one word is found in full only


@pytest.mark.parametrize(
    ("prefix", "refused"),
    [
        ("sex", False),  # letters may follow: sextant
        ("sex ", False),  # education may follow
        ("sex e", False),
        ("sex videos", False),
        ("sex videos ", True),
        ("sex and ", True),
        ("sex education ", False),
        ("videos sex ", False),
    ],
)
def test_a_prefix_is_refused_once_no_exception_can_follow(prefix: str, refused: bool) -> None:
    assert Blocklist(["sex", "!sex education"]).refuses(prefix) is refused


def test_every_category_of_the_shipped_rules_has_rules_and_all_of_them_can_match() -> None:
    rules = read_rules(SHIPPED).rules
    assert {rule.category for rule in rules} == set(Category)
    plain = [rule for rule in rules if rule.kind is not Kind.EXCEPTION and not set("@~.") & set(rule.text)]
    shipped = read_blocklist(SHIPPED)
    excused = [rule.text for rule in plain if not shipped.blocks(rule.text)]
    assert excused == []
