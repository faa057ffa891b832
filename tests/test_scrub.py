"""What a pattern can recognise as personal is taken out of queries; ordinary queries stay as they are."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfword.core.scrub import query_of, scrub
from halfword.core.text import DEFAULT, normalise_query
from halfword.data.log_columns import queries_of

ORDINARY = """\
zip 90210|boeing 747-400|2006-03-01|windows 3.1|24/7|2006 2007 2008 quarters|1999-2000 2001-2002|firefox 1.5.0.12
192.168.1.1 login|127.0.0.1|0.0.0.0|10.0.0.1|std::vector|abc::def|12:30:45|10:30|mod_rewrite|@nasa|at&t|3 @ 5
author=smith|page=2|a=b|polka dot dress|connect the dot|2 pac|4 wheel drive|500 gb hard drive|24 hour fitness st louis
22 jump street|10 downing street|1600 pennsylvania avenue|221b baker street|42nd street|wall street|i 95 road conditions
50 cent candy shop|100 best road trips|7 way plug|64 slice ct scan|section 8|route 66 road trip|5 rue|sesame street
joe at work|straße|calle 13|strasse 12th|rtx 3080 ti 12gb|hp cb435a toner|f150 2004 4x4|iso 9001|c4h10o2
covid-19|mp3 player|www.mapquest.com|aabb.ccdd|e-mail|24 karat|eyjafjallajokull|bearer of bad news|sk-ii essence
barcelona|asia|xbox 360 drive|a4 paper|post office box|서울 날씨|naïve café|hello-kitty-and-friends|9 weeks but dr says
10k gold circle pendant|8.5 x 11|1.2.3|2.0.0.4|200 e-mail|4 8 15 16|7-11|9/11|411|911|1-800-flowers|20,000 leagues
where did the 2006 world cup take place|standard 2 lane road|1993 buick road master|days 2014-01-06 2014-01-10
from 1/31/2001 2/28/2002|where is the 2018 cup taking place"""
# Keys are put together here, so that no scanner takes them for real ones.
PERSONAL = [
    # e-mail addresses
    *["joe@example.com", "joe.b+x@mail.example.co.uk", "Joe＠Example.com", "joe%40example.com", "joe&#64;example.com"],
    *[
        "joe @ example.com",
        "joe (at) example.com",
        "joe [at] example.com",
        "joe at example dot com",
        "@joe@example.com",
    ],
    *["joe (at) example (dot) com", "joe@@example.com", "joe@b@c", "https://joe:pass@example.com/x", "joe@例え.jp"],
    # phone numbers
    *[
        "555-123-4567",
        "(555) 123-4567",
        "+49 30 1234567",
        "123-4567",
        "555.123.4567",
        "555 123 4567",
        "+1 (555) 123-4567",
    ],
    *["555–123–4567", "555 - 123 - 4567", "555 – 123 – 4567", "555—123—4567", "555‑123‑4567", "555−123−4567"],
    *[
        "555_123_4567",
        "555•123•4567",
        "123–4567",
        "123 - 4567",
        "+44 (0) 20 7946 0958",
        "0171/1234567",
        "５５５-１２３-４５６７",
    ],
    *["555 a@b.c 123 4567", "55512 joe@b.c 34567", "5\u200b55-123-4567", "٠١٢٣٤٥٦٧٨٩"],
    # numbers of insurances, cards, accounts
    *["078-05-1120", "078‑05‑1120", "078–05–1120", "078 05 1120", "4111 1111 1111 1111", "4111-1111-1111-1111"],
    *["gb29 nwbk 6016 1331 9268 19", "GB29NWBK60161331926819", "de89 3704 0044 0532 0130 00", "nl91 abna 0417 1643 00"],
    *["fr14 2004 1010 0505 0001 3m02 606", "qq 12 34 56 c", "qq123456c", "1234567", "110101199003071234"],
    # addresses of machines
    *["2001:0db8:85a3:0000:0000:8a2e:0370:7334", "2001:db8::8a2e:370:7334", "fe80::1ff:fe23:4567:890a%eth0"],
    *["00:1a:2b:3c:4d:5e", "00-1A-2B-3C-4D-5E", "00–1a–2b–3c–4d–5e", "001a.2b3c.4d5e", "8.8.200.14", "203.0.114.7"],
    # keys, tokens, session ids
    *[
        "AKIAIOSFODNN7EXAMPLE",
        "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        f"ghp_{'a1B2' * 9}",
        f"github_pat_{'a1B2' * 9}",
    ],
    *[f"glpat-{'a1B2' * 5}", f"xoxb-{'12345678' * 2}-abc", f"sk_live_{'a1B2' * 6}", f"sk-{'a1B2' * 8}"],
    *[f"AIza{'a1B2c' * 7}", f"hf_{'abCdE' * 6}", f"npm_{'a1B2' * 9}", f"Bearer {'a1B2' * 6}"],
    *["eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N", "1HGCM82633A004352"],
    *["550e8400-e29b-41d4-a716-446655440000", "d41d8cd98f00b204e9800998ecf8427e", "ab1c2-de3f4-gh5i6-jk7l8-mn9o0"],
    *["PHPSESSID=abcdef", "jsessionid=1a2b3c", "session_id=xyz", "access_token=abc", "api_key=abc", "password=hunter"],
    *["sid%3Dabcdef", "user=joe", "email=joe"],
    # places where people live
    *["123 main st", "1200 n. elm street", "12 oak lane apt 4b", "45b high road", "9708 parkfield dr.", "po box 12"],
    *[
        "p.o. box 1234",
        "17, west end avenue suite 250",
        "hauptstraße 12",
        "Hauptstr. 12a",
        "lindenstrasse 5",
        "12 rue de la paix",
    ],
    *["12 bis rue du maréchal foch", "calle mayor 12", "40.7128, -74.0060", "40.7128,-74.0060", "52.5200 13.4050"],
]


@pytest.mark.parametrize("text", PERSONAL)
def test_nothing_stays_of_what_is_personal(text: str) -> None:
    assert scrub(normalise_query(text)) == ""
    assert scrub(normalise_query(f"call {text} now")) == "call now"


@pytest.mark.parametrize(
    ("query", "scrubbed"),
    [
        ("mail joe.b@example.com now", "mail now"),
        ("(555) 123-4567 pizza", "pizza"),
        ("order 1234567", "order"),
        ("http://example.com/a;jsessionid=1a2b3c?page=2", "http://example.com/a; ?page=2"),
        ("http://example.com/?token=a1b2&page=2", "http://example.com/? &page=2"),
        ("123 main st springfield il 62701", "springfield il 62701"),
        ("is 203.0.114.7 down", "is down"),
    ],
)
def test_the_rest_of_the_query_stays(query: str, scrubbed: str) -> None:
    assert scrub(query) == scrubbed


@pytest.mark.parametrize("query", ORDINARY.replace("\n", "|").split("|"))
def test_ordinary_queries_stay(query: str) -> None:
    assert scrub(normalise_query(query)) == normalise_query(query)


SHAPES = ["7", "a", "a@", "@", "@a", "7 ", "7-", "(", "+(", "7a", "7.", ".7 ", "a.", "a ", "a-7 ", "=", ":", "a:", "7:"]
SHAPES += [
    "%40",
    "&#64;",
    "token",
    "sid=",
    "a.b-",
    "eyj",
    "eyja.",
    "12 main ",
    "7 a. ",
    "ab12 cd34 ",
    "1.1.1.1.",
    "str. ",
]
SHAPES += ["rue ", "a1/", "sk-", "ghp_", "a at b dot ", "7 a b c ", "aa:", "aaaa.", "calle a 1 "]


@contextmanager
def processor_time(seconds: float) -> Iterator[None]:
    """Fail if a block takes more processor time than this, however busy the machine is."""

    def fail(number: int, frame: Any) -> None:
        raise AssertionError(f"took more than {seconds} seconds")

    before = signal.signal(signal.SIGVTALRM, fail)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_time_to_scrub_grows_with_the_length_and_not_with_its_square(shape: str) -> None:
    text = shape * (100_000 // len(shape))  # this takes a fraction of a second; squared, it would take minutes
    with processor_time(10):
        for query in (text, f"@{text}", f"x{text}@b!"):
            assert len(scrub(query)) <= len(query)


# Pieces of personal things, in any order.
PIECES = st.sampled_from([piece for text in PERSONAL for piece in (*text.split(), text)] + list(" @.:-=/7a&"))
MIXED = st.lists(PIECES | st.text("0123456789-.() /+@ab:=", max_size=9), max_size=8).map("".join)
SPACED = st.lists(PIECES, max_size=8).map(" ".join)


@given(MIXED | SPACED)
def test_scrubbing_twice_changes_nothing_and_leaves_a_query(text: str) -> None:
    once = scrub(normalise_query(text))
    assert scrub(once) == once
    assert normalise_query(once) == once


def test_what_normalising_makes_too_long_is_cut_and_not_scrubbed() -> None:
    wide = "joe@example.com \ufdfa"
    assert query_of(wide, DEFAULT, longest=30) == normalise_query(wide)[:31]
    assert query_of(wide, DEFAULT, longest=40) == normalise_query("\ufdfa")
    assert query_of("mail joe@example.com", DEFAULT, longest=5) == "mail"


@given(st.text("0123456789-.() /+@ab", max_size=60))
def test_no_long_number_survives(text: str) -> None:
    once = scrub(normalise_query(text))
    assert not any(len(run) >= 6 for run in "".join(c if c.isdigit() else " " for c in once).split())


@pytest.mark.parametrize("text", PERSONAL)
def test_a_column_is_scrubbed_as_its_texts_are(text: str) -> None:
    texts = [text, f"call {text} now", "new york"]
    assert queries_of(pa.array(texts), DEFAULT).to_pylist() == ["", "call now", "new york"]


@given(st.lists(MIXED | SPACED))
def test_a_column_of_pieces_is_scrubbed_as_its_texts_are(texts: list[str]) -> None:
    assert queries_of(pa.array(texts, pa.string()), DEFAULT).to_pylist() == [query_of(text, DEFAULT) for text in texts]
