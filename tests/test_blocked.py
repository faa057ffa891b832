"""What is blocked is not suggested, nor is anything personal; harmless words that hold a blocked word are."""

import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from string import ascii_lowercase
from typing import ClassVar

import pytest

from halfword import Answer, Completion, SearchOptions, load
from halfword.core.errors import OptionError
from halfword.core.filters import SHIPPED, Blocklist, read_blocklist
from halfword.core.options import DEFAULTS, UNFILTERED
from halfword.core.scrub import scrub
from halfword.search.filtered import Filtered, filtered
from tests.conftest import MakePopular

COMMON = """\
how to|what is|where can i|free|best|cheap|new|the|my|i want|girls|women|men|teen|pictures of
videos of|hot|big|black|white|asian|gay|lesbian|sex|sexy|nude|porn|adult|breast|anal|penis|vagina
phone number|call|email|contact|address|ssn|lookup|yahoo.com|www.|http|@|1|12|555|800 |1-800-|2007
room|diabetes|cancer|weather in|new york|lyrics|jokes about|stories"""
HARMLESS = """\
scunthorpe|essex county|sextant|cockpit|analysis|assessment|hancock|cumulus|magna cum laude|popcorn
titanic|breast cancer|anal fissure|sex education|sex offender registry|sexually transmitted diseases
erectile dysfunction|rape crisis center|dicks sporting goods|dick van dyke|moby dick|maine coon cats
ford escort|gay marriage|naked mole rat|same-sex marriage|snigger|sex offenders in texas|raccoon
dyker heights|spice girls|canal|shiitake mushrooms|boston cream pie|shitake mushrooms|sussex|middlesex|penistone
clitheroe|cockermouth|cockburn|peacock|cocktail|cocktails|therapist|physical therapist|analyst|grape|drapes|dickens
dickinson|cummings|documents|assassin|classic|bass fishing|titan|constitution|matsushita|arsenal|niger|nigeria
mongolia|mong kok|troon golf|chinook|japan|japanese|pakistan|homosexuality|homogeneous|fire retardant|bitcoin|shih tzu
hooker furniture|john lee hooker|nude mice|abo blood type|abo typing|fap gene|mg midget|wire strippers|garden hoes
gypsy moth|washington redskins|uncle toms cabin|fairy tales|lesbian rights|gay teen suicide|teen girls clothing
penis|vagina|masturbation|orgasm|pedophile|sexual abuse|rape|homo naledi|sex worker|opposite sex|butthole surfers"""
PREFIXES = [
    *map("".join, product(ascii_lowercase, repeat=2)),
    *(
        f"{word}{ending}"
        for line in COMMON.splitlines()
        for word in line.split("|")
        for ending in ("", " ", " a", " s")
    ),
]


@pytest.fixture(scope="module")
def shipped() -> Blocklist:
    return read_blocklist(SHIPPED)


@pytest.mark.parametrize(
    "text",
    """sex|free porn|freepornvideos.com|xxx-rated|nigger jokes|big tits|www.sex.com|dick pics|jizz|wiggers|lezzy
golliwogs|sand monkeys|curry munchers|jungle bunnies|fudge packers|trannies|libtards|spazzes|window lickers|camwhores
shitholes|bellends|faggotry|carpet munchers|chinky eyes|teen girls|hooker|nude""".replace("\n", "|").split("|"),
)
def test_what_is_blocked(text: str, shipped: Blocklist) -> None:
    assert shipped.blocks(text)


@pytest.mark.parametrize(
    "text",
    HARMLESS.replace("\n", "|").split("|"),
)
def test_what_is_not_blocked(text: str, shipped: Blocklist) -> None:
    assert not shipped.blocks(text)


def test_gaps_are_filled(make_popular: MakePopular) -> None:
    popular = make_popular({"sex": 9, "sexy": 8, "sextant": 3, "sex education": 2, "second": 1})
    assert not Blocklist(["belt", "!café belt"]).blocks("café belt")
    assert not Blocklist(["belt", "!café belt"]).blocks("a cafe belt")
    assert Blocklist(["belt", "!café belt"]).blocks("belt")
    blocklist = Blocklist(["sex", "sexy", "!sex education"])
    options = SearchOptions(count=2)
    asked = Filtered(popular, blocklist)
    assert [completion.text for completion in asked.complete("se", options)] == ["sextant", "sex education"]
    (batch,) = asked.complete_batch(["se"], options)
    assert batch == asked.complete("se", options)


def test_gaps_are_filled_as_long_as_the_model_has_more(make_popular: MakePopular) -> None:
    counts = {f"bad {number:03}": 1000 - number for number in range(500)}
    asked = Filtered(make_popular(counts | {"bag": 2, "ball": 1}), Blocklist(["bad"]))
    assert [completion.text for completion in asked.complete("ba", count=2)] == ["bag", "ball"]
    assert [completion.text for completion in asked.complete("ba", count=3)] == ["bag", "ball"]


def test_options_may_be_given_by_name(make_popular: MakePopular) -> None:
    asked = Filtered(make_popular({"apple": 9, "ape": 8, "apron": 3}), Blocklist(["ape"]))
    assert [completion.text for completion in asked.complete("ap", count=1)] == ["apple"]
    assert asked.complete_batch(["ap"], count=2) == [asked.complete("ap", SearchOptions(count=2))]
    with pytest.raises(OptionError, match="unknown option size"):
        asked.complete("ap", size=2)  # type: ignore[call-arg]


def test_filling_gaps_ends_with_the_deadline() -> None:
    class Slow:
        """A completer that knows any number of blocked completions and takes two milliseconds for each answer."""

        asked: ClassVar[list[int]] = []

        def complete(self, prefix: str, options: SearchOptions = DEFAULTS, *, context: Sequence[str] = ()) -> Answer:
            self.asked.append(options.count)
            time.sleep(0.002)
            return Answer(Completion(f"bad {number}", -1.0, "popular") for number in range(options.count))

        def complete_batch(
            self, prefixes: Sequence[str], options: SearchOptions = DEFAULTS, *, contexts: Sequence[Sequence[str]] = ()
        ) -> list[Answer]:
            raise NotImplementedError

    assert Filtered(Slow(), Blocklist(["bad"])).complete("b", count=1, deadline_ms=1.5) == []
    assert Slow.asked == [1]


def test_a_phrase_with_punctuation_is_found_as_it_is_written() -> None:
    blocklist = Blocklist(["c++"])
    assert blocklist.blocks("learn c++")
    assert not blocklist.blocks("vitamin c")


def test_a_remark_is_no_phrase(tmp_path: Path) -> None:
    path = tmp_path / "list.txt"
    path.write_text("# bad\n  Worse \n*worst*\n! not worse\n")
    blocklist = read_blocklist(path)
    assert [blocklist.blocks(text) for text in ("bad", "worse", "aworsta", "not worse")] == [False, True, True, False]


def test_ten_thousand_completions_of_the_default_model_hold_nothing_blocked_or_personal(shipped: Blocklist) -> None:
    completer = filtered(load())
    answers = completer.complete_batch(PREFIXES, replace(UNFILTERED, count=12))
    texts = [completion.text for answer in answers for completion in answer]
    assert len(texts) >= 10_000
    assert [text for text in texts if shipped.blocks(text)] == []
    assert [text for text in texts if scrub(text) != text] == []
