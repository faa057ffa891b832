"""Words of rules are found with a typing mistake in them; words that are right are left alone."""

import csv
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfword.core.filters import SHIPPED, Blocklist, read_blocklist
from halfword.core.near_words import NearWords, is_near
from halfword.core.rules import parse_rules
from halfword.core.text import normalise_query
from halfword.search.filtered import Filtered
from tests.conftest import MakeModel, MakePopular
from tests.serving import client_for

LIST = Path(__file__).parent.parent / "benchmarks" / "harm"
LETTERS = "abc"
WORDS = st.lists(st.text(LETTERS, max_size=7), max_size=30)


@pytest.fixture(scope="module")
def shipped() -> Blocklist:
    return read_blocklist(SHIPPED)


def edits(word: str) -> set[str]:
    """Return every word that one mistake makes of a word."""
    cuts = [(word[:place], word[place:]) for place in range(len(word) + 1)]
    missing = {left + right[1:] for left, right in cuts if right}
    wrong = {left + letter + right[1:] for left, right in cuts if right for letter in LETTERS}
    added = {left + letter + right for left, right in cuts for letter in LETTERS}
    swapped = {left + right[1] + right[0] + right[2:] for left, right in cuts if len(right) > 1}
    return (missing | wrong | added | swapped) - {word}


@given(st.text(LETTERS, max_size=7), st.text(LETTERS, max_size=7))
def test_two_words_are_near_if_one_mistake_makes_one_of_the_other(typed: str, meant: str) -> None:
    assert is_near(typed, meant) == (typed in edits(meant))


@given(WORDS, WORDS, WORDS)
def test_the_index_finds_what_comparing_all_words_finds(words: list[str], right: list[str], typed: list[str]) -> None:
    near = NearWords(words, right)
    for word in typed * 2:  # the second time it is remembered
        found = (
            []
            if word in {*words, *right}
            else sorted({each for each in words if len(each) >= 4 and is_near(word, each)})
        )
        assert list(near.meant(word)) == found
        assert near.are_far([word]) == (not found)


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("halfword.core.near_words._MOST_REMEMBERED", 10)
    near = NearWords(["suicide"])
    for number in range(1000):
        near.meant(f"w{number}")
        near.meant("suicde")
        assert len(near._far) + len(near._meant) <= 12
    assert near.meant("suicde") == ["suicide"]


@pytest.mark.parametrize(
    "text",
    [
        "suicde method",
        "suicde",
        "how to comit suicid",
        "how to kil myself",
        "how to mak meth",
        "buy cocane online",
        "hire a hitmn",
        "how to m4ke metth",
        "john smith herpis",
        "jonh smith herpes",
        "pornogrpahy",
    ],
)
def test_a_typing_mistake_does_not_hide_harm(text: str, shipped: Blocklist) -> None:
    assert shipped.blocks(text)


@pytest.mark.parametrize(
    "text",
    [
        "suicde prevention hotline",
        "suicde preventoin hotline",
        "bigger",
        "math books",
        "stressed",
        "stripped",
        "footjoy shoes",
        "pork",
        "sec",
        "mudslides in hawaii",
        "steak knives",
        "how to make a cake",
        "spring striper fishing",
        "niger",
        "prostate exam",
    ],
)
def test_help_and_words_of_their_own_are_left_alone(text: str, shipped: Blocklist) -> None:
    assert not shipped.blocks(text)


def test_a_short_mistyped_word_is_not_enough_alone(shipped: Blocklist) -> None:
    assert shipped.blocks("how to cook meht")
    assert not shipped.blocks("meht")
    assert not shipped.blocks("nudw")


@pytest.mark.parametrize(("half", "least"), [("tune", 0.9), ("held-out", 0.9)])
def test_most_of_the_list_is_found_with_two_letters_swapped(half: str, least: float, shipped: Blocklist) -> None:
    with (LIST / f"{half}.tsv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))
    texts = {True: list[str](), False: list[str]()}
    for row in rows:
        words = f"{row['prefix']}{row['continuation']}".split()
        longest = max(range(len(words)), key=lambda place: len(words[place]))
        word, half_way = words[longest], len(words[longest]) // 2
        words[longest] = word[: half_way - 1] + word[half_way - 1 : half_way + 1][::-1] + word[half_way + 1 :]
        texts[row["label"] == "fine"].append(" ".join(words))
    assert sum(map(shipped.blocks, texts[False])) >= least * len(texts[False])
    assert sum(map(shipped.blocks, texts[True])) <= 0.05 * len(texts[True])


def test_a_harmful_prefix_with_a_mistake_is_answered_with_help_or_with_nothing(make_popular: MakePopular) -> None:
    queries = {"suicde methods": 9, "suicde prevention hotline": 1, "how to poisen someone slowly": 2}
    completer = Filtered(make_popular(queries), read_blocklist(SHIPPED))
    assert completer.complete("suicde met").texts == []
    assert completer.complete("suicde ").texts == ["suicde prevention hotline"]
    assert completer.complete("how to poisen someone ").texts == []
    assert completer.complete_batch(["how to poisen someone ", "suicde met"]) == [[], []]


def test_the_server_does_not_go_on_with_mistyped_harm(make_model: MakeModel) -> None:
    model = make_model({"suicde methods": 9, "suicde prevention": 2})
    assert client_for(model).ask("GET /complete?q=sui").texts == ["suicde prevention"]
    assert client_for(model, allow=("self-harm",)).ask("GET /complete?q=sui").texts[0] == "suicde methods"


def test_rules_without_right_words_mean_what_they_say() -> None:
    blocklist = Blocklist(["leather belts", "suitcase"])
    assert [blocklist.blocks(text) for text in ("leather belts", "leathr belts", "suitcse")] == [True, False, False]


def test_rules_with_right_words_are_found_mistyped() -> None:
    blocklist = Blocklist(["@right = suitcases", "leather belts", "suitcase"])
    texts = ("leathr belts", "suitcse", "suitcases", "leathr")
    assert [blocklist.blocks(text) for text in texts] == [True, True, False, False]


def test_a_word_of_the_users_own_rules_is_right() -> None:
    shipped = parse_rules(["@right = suitcases", "[violence]", "suitcase"])
    mine = parse_rules(["!suitcaze"])
    assert Blocklist([], shipped).blocks("suitcaze")
    assert not Blocklist([], shipped, mine).blocks("suitcaze")


def test_a_text_that_is_blocked_for_a_mistake_holds_a_suspected_word(shipped: Blocklist) -> None:
    texts = [
        "suicde",
        "how to comit suicid",
        "how to mak meth",
        "how to m4ke metth",
        "hire a hitmn",
        "buy cocane online",
    ]
    assert all(any(shipped.suspects(word)[0] for word in text.split()) for text in texts)


@given(
    st.text(max_size=40),
    st.lists(st.sampled_from(["how", "to", "kil", "kill", "my", "mysef", "myself", "suicde", "s.e.x", "é", "p0rn"])),
)
def test_reading_mistakes_only_adds_to_what_is_blocked(text: str, words: list[str]) -> None:
    rules = ["how to kill @own", "suicide", "sex", "porn"]
    strict, lenient = (Blocklist(["@own = myself, my", *right, *rules]) for right in ([], ["@right = skill"]))
    for each in (normalise_query(text), " ".join(words)):
        assert lenient.blocks(each) or not strict.blocks(each)
        assert lenient.refuses(f"{each} ") or not strict.refuses(f"{each} ")


def test_a_text_has_few_readings_however_many_words_it_has() -> None:
    near = NearWords(["aaaa", "bbbb", "aaab"])
    assert len(near.meant("aaa")) == 2
    assert sum(1 for _ in near.phrases(["aaa"] * 60)) == 16
