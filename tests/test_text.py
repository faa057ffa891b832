"""Queries and prefixes are normalised alike everywhere."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfword import load
from halfword.core.errors import OptionError, TextError
from halfword.core.text import (
    DEFAULT,
    PAPER,
    PROFILES,
    Profile,
    normalise_prefix,
    normalise_query,
    profile_named,
)

# Letters, marks, joiners, controls and blanks whose order decides what becomes of them.
TRICKY = (
    "aİé\u0301 \t\x1b\x7f\x85\x9b\xad\u034f\u061c\u064a\u0915\u094d\u1160\u1820\u180b\u200b\u200c\u200d\u200e\u202e"
)
TRICKY += "\u2028\u2060\u2581\u2764\u3164\ufe0f\ufeff\ufff9\U0001f525\U0001f469\U000e0041▁7@"
PROFILE = st.sampled_from(sorted(PROFILES)).map(PROFILES.__getitem__)
TEXT = st.text(st.characters(codec="utf-8")) | st.text(TRICKY)


@pytest.mark.parametrize(
    ("text", "default", "paper"),
    [
        ("  New\tYORK  ", "new york", "new york"),
        ("Ｎew Ｙork", "new york", "new york"),
        ("CAFÉ", "café", "caf"),
        ("서울 날씨", "서울 날씨", ""),
        ("ﬁsh", "fish", "fish"),
        ("a\u00a0b\u3000c", "a b c", "a b c"),
        ("İstanbul", "istanbul", "stanbul"),
        ("i\u0307stanbul", "istanbul", "istanbul"),
        ("مرحبا 😀", "مرحبا 😀", ""),
        ("a\x1cb", "a b", "a b"),
        ("", "", ""),
        ("\x1b[31mred\x07 \x9b0mhat\x7f", "[31mred 0mhat", "[31mred 0mhat"),
        ("po\u200brn so\xadft \ufeffbom\u2060", "porn soft bom", "porn soft bom"),
        ("\u202egnp.exe\u202c \u2066x\u2069\u200e", "gnp.exe x", "gnp.exe x"),
        ("sl\u200cu\u200dr\u034f", "slur", "slur"),
        ("new\u2581\u2581york\u2581", "new york", "new york"),
        ("می\u200cخواهم", "می\u200cخواهم", ""),
        ("می\u200c\u200c\u200bخواهم\u200c", "می\u200cخواهم", ""),
        ("ශ්\u200dරී ক্\u200cষ", "ශ්\u200dරී ক্\u200cষ", ""),
        ("👩🏽\u200d🔬 ❤\ufe0f\u200d🔥", "👩🏽\u200d🔬 ❤\u200d🔥", ""),
        ("❤\ufe0f", "❤", ""),
        ("ᠨ\u180b x\u180b", "ᠨ\u180b x", "x"),
        ("e\u200b\u0301", "é", "e"),
    ],
)
def test_a_query_is_normalised_by_its_profile(text: str, default: str, paper: str) -> None:
    assert normalise_query(text, DEFAULT) == default
    assert normalise_query(text, PAPER) == paper


@given(TEXT, PROFILE)
def test_normalising_twice_changes_nothing(text: str, profile: Profile) -> None:
    once = normalise_query(text, profile)
    assert normalise_query(once, profile) == once


@given(TEXT, PROFILE)
def test_a_prefix_is_the_query_and_perhaps_one_space(text: str, profile: Profile) -> None:
    query = normalise_query(text, profile)
    assert normalise_prefix(text, profile) in (query, f"{query} ")


@pytest.mark.parametrize(
    ("text", "prefix"), [("new ", "new "), ("new \t ", "new "), (" ", ""), ("", ""), (" new", "new")]
)
def test_a_space_at_the_end_of_a_prefix_stays(text: str, prefix: str) -> None:
    assert normalise_prefix(text) == prefix


def test_a_prefix_that_ends_in_a_joiner_still_begins_the_query() -> None:
    query = normalise_query("می\u200cخواهم")
    assert all(query.startswith(normalise_prefix(query[:end])) for end in range(len(query)))


@pytest.mark.parametrize("typed", ["new\u2581yo", "ne\u200bw yo", "new\x1b yo", "new y\xado"])
def test_answers_begin_with_the_normalised_prefix(typed: str) -> None:
    answers = load().complete(typed)
    assert answers == load().complete("new yo") != []
    assert all(answer.text.startswith("new yo") for answer in answers)


def test_half_a_surrogate_pair_is_not_text() -> None:
    with pytest.raises(TextError, match="character 4 is half of a surrogate pair"):
        normalise_query("new\ud800")


def test_an_unknown_profile_is_named_with_the_known_ones() -> None:
    assert profile_named("paper") is PAPER
    with pytest.raises(OptionError, match="profile 'other' is unknown; choose one of: default, paper"):
        profile_named("other")
