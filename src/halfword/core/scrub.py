r"""Personal things that a pattern can find, taken out of queries.

Time is proportional to the length of the text. A pattern starts only where a run of characters starts (a lookbehind),
and then either keeps all it has read (`\d++`, a possessive quantifier) or reads a bounded number of characters.
A plain `\d+` would try a row of 40,000 digits again from each of its digits.
"""

import re
from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address

from halfword.core.text import DEFAULT, Profile, normalise_query

Match = re.Match[str]
Rule = tuple[str, Callable[[Match], bool]]  # a pattern, and whether a match of it is personal

_PHONE_DIGITS = 9  # from here on, groups of digits are a phone, card or insurance number; a date has 8
_IBAN_DIGITS = 12
_IP_DIGITS = 7  # an IPv4 address with fewer looks like a version number, an IPv6 address like a name in C++
_KEY_CHANGES = 4  # changes between letter and digit within one word; words and model numbers have fewer
# What is taken out may bring the two halves of something else together, so scrubbing is repeated until nothing changes.
# A query that takes more passes than this was made to defeat it, and nothing of it is kept.
_MOST_PASSES = 8


def query_of(text: str, profile: Profile = DEFAULT, longest: int | None = None) -> str:
    """Return the query that a line of a log becomes: normalised and, if the profile says so, scrubbed.

    If normalising makes a text longer than `longest`, only one character more than that comes back, unscrubbed: it is
    left out anyway, and U+FDFA becomes 18 characters. One that was longer before is scrubbed: little may be left of it.

    >>> query_of("Mail JOE@example.com")
    'mail'
    """
    query = normalise_query(text, profile)
    if longest is not None and len(query) > max(longest, len(text)):
        return query[: longest + 1]
    return scrub(query) if profile.scrub else query


def scrub(query: str) -> str:
    """Take out of a normalised query what points to one person: addresses, long numbers, keys and session ids.

    >>> scrub("mail joe@example.com or call 555-123-4567 about room 101")
    'mail or call about room 101'
    """
    if query.replace(" ", "").isalpha() and " dot " not in query:
        return query  # most queries are words and nothing else, and mere words match no rule but the one with `dot`
    for _ in range(_MOST_PASSES):
        shorter = _scrub_once(query)
        if shorter == query:
            return query
        query = shorter
    return ""


def _scrub_once(query: str) -> str:
    for pattern, is_personal in _COMPILED:
        query = pattern.sub(lambda match, judge=is_personal: " " if judge(match) else match[0], query)  # type: ignore[misc]
    return " ".join(query.split())


def _always(match: Match) -> bool:
    return True


def _has_digit(match: Match) -> bool:
    return _count_digits(match[0]) > 0


def _count_digits(text: str) -> int:
    return sum(character.isdigit() for character in text)


def _is_phone(match: Match) -> bool:
    if _LOCAL_PHONE.fullmatch(match[0]):
        return True
    dates = all(map(_DATE.fullmatch, match[0].split()))
    return _count_digits(match[0]) >= _PHONE_DIGITS and not dates


def _is_public_ipv4(match: Match) -> bool:
    try:
        return IPv4Address(match[0]).is_global and _count_digits(match[0]) >= _IP_DIGITS
    except ValueError:
        return False


def _is_ipv6(match: Match) -> bool:
    try:
        IPv6Address(match[1])
    except ValueError:
        return False
    return len(match[1].replace(":", "")) >= _IP_DIGITS and _has_digit(match)


def _is_iban(match: Match) -> bool:
    return _count_digits(match[0]) >= _IBAN_DIGITS


def _is_key(match: Match) -> bool:
    return len(_LETTER_BESIDE_DIGIT.findall(match[0])) >= _KEY_CHANGES


def _is_base64(match: Match) -> bool:
    return _LETTER_BESIDE_DIGIT.search(match[0]) is not None


def _is_street(match: Match) -> bool:
    return not (_NO_STREET_NAME.search(match[0]) or _FAMOUS_STREET.match(match[0]))


_DASH = r"\-\u2010-\u2015\u2212"
_BETWEEN_DIGITS = rf"[ ().{_DASH}/_\u00b7\u2022]{{1,3}}"
_START, _END = r"(?<![^\W_])", r"(?![^\W_])"  # no letter or digit before, none after
_HEX = "[0-9a-f]"
_YEAR = r"(?:19|20)\d\d"
_DATE = re.compile(rf"{_YEAR}(?:[-/]{_YEAR})?|{_YEAR}([-/.])\d\d?\1\d\d?|\d\d?([-/.])\d\d?\2{_YEAR}")
_LOCAL_PHONE = re.compile(rf"\d{{3}} ?[.{_DASH}] ?\d{{4}}")
_LETTER_BESIDE_DIGIT = re.compile(r"(?<=\d)(?=[a-z])|(?<=[a-z])(?=\d)")

_AT = r"(?:@|%40|&#64;)"
_SAID_AT = r"[(\[]at[)\]]"
_SAID_DOT = r"(?:dot|[(\[]dot[)\]])"
_SECRET_NAME = r"(?:sess|token|auth(?!or)|api_?key|secret|passw|pwd|user|login|mail|(?<![a-z])[su]id)"
_KEY_NAME = r"(?:gh[pousr]_|github_pat_|glpat-|npm_|hf_|xox[abeoprs]-|[prs]k_(?:live|test)_|sk-|shpat_|ya29\.)"

_NAME = r"[^\W\d_]{1,20}\.?"  # one word of a street's name
_NAMES = rf"{_NAME}(?: {_NAME}){{0,2}}?"
_STREET = r"(?:street|avenue|ave|road|rd|boulevard|blvd|lane|ln|terrace|parkway|pkwy)"
_MAYBE_STREET = r"(?:st|dr|drive|ct|place|way|circle)"  # needs a house number of two digits, or 4 wheel drive is one
_AFTER_STREET = (
    r"(?! (?:conditions?|names?|signs?|trips?|maps?|bikes?|master|louis|paul|pete(?:rsburg)?|augustine|luci[ae]))"
)
_ROOM = rf"(?: (?:apt|apartment|suite|ste|unit)\.? ?#?(?:\d{{1,5}}[a-z]?|[a-z]){_END})?"
_RUE = r"(?:rue|chemin|allée|avenue d[eu]s?|boulevard d[eu]s?)"
_CALLE = r"(?:calle|rua|viale|piazza)"
_NO_STREET_NAME = re.compile(
    " (?:a|and|are|at|bath|bedroom|best|but|by|cd|century|disc|disk|door|dvd|external|feet|fire|flash|floppy|for|from"
    "|ft|gb|hard|hour|hours|in|inch|is|mb|mile|miles|of|on|one|only|or|pack|person|piece|plus|route|rt|says|slice|snomed"
    "|take|takes|taking|took|tb|the|to|toll|two|usb|week|weeks|wheel|with|within) "
    "|^[0-9]+ lane "  # a road of two lanes
)
_FAMOUS_STREET = re.compile("2[12] jump |10 downing |1600 pennsylvania |221b baker |84 charing |10 cloverfield ")

RULES: list[Rule] = [
    # joe@example.com, joe%40example.com
    (rf"(?<!\S)@*+(?:(?!{_AT})\S)++{_AT}++[^\s@]\S*+", _always),
    # joe @ example.com, joe (at) example.com, joe at example dot com
    (rf"(?<!\S)\S{{1,64}}+ ?(?:{_AT}|{_SAID_AT}) ?[a-z0-9\-]{{1,63}}+(?:\.[a-z0-9\-]{{1,63}}+)++", _always),
    (rf"(?<!\S)\S{{1,64}}+ (?:at|{_SAID_AT}) \S{{1,63}}+ {_SAID_DOT} [a-z]{{2,4}}(?!\S)", _always),
    # ?phpsessid=…, token=…, user=…
    (rf"(?<![\w.\-])[\w.\-]{{0,40}}?{_SECRET_NAME}[\w.\-]{{0,40}}+(?:=|%3d)[^\s&;#?]++", _always),
    # keys with a known beginning: GitHub, GitLab, Slack, Stripe, AWS, Google and others; JSON web tokens; bearer tokens
    (rf"{_START}{_KEY_NAME}[\w\-]{{10,}}+", _always),
    (rf"{_START}(?:a[ks]ia[a-z0-9]{{16}}|aiza[\w\-]{{35}}){_END}", _has_digit),
    (r"(?<![\w\-])eyj[\w\-]{8,}+(?:\.[\w\-]*+)++", _always),
    (rf"{_START}bearer [\w\-.=+/]{{16,}}+", _has_digit),
    # keys without one: UUIDs, product keys, long words that go back and forth between letters and digits, AWS secrets
    (rf"{_START}{_HEX}{{8}}-(?:{_HEX}{{4}}-){{3}}{_HEX}{{12}}{_END}", _has_digit),
    (rf"{_START}[a-z0-9]{{5}}(?:-[a-z0-9]{{5}}){{4}}{_END}", _is_key),
    (rf"{_START}[a-z0-9]{{16,}}+{_END}", _is_key),
    (r"(?<![\w/+=.])(?=[a-z0-9]{0,39}[/+])[a-z0-9/+]{40}(?![\w/+=.])", _is_base64),
    # gb29 nwbk 6016 1331 9268 19; the British insurance number qq 12 34 56 c
    (rf"{_START}[a-z]{{2}}\d{{2}}(?: ?[a-z0-9]{{4}}){{2,7}}(?: ?[a-z0-9]{{1,3}})?{_END}", _is_iban),
    (rf"{_START}[a-z]{{2}} ?\d\d ?\d\d ?\d\d ?[a-d]{_END}", _always),
    # IPv6, MAC (aa:bb:cc:dd:ee:f0, aabb.ccdd.eef0) and IPv4 addresses
    (r"(?<![\w:])((?=[0-9a-f]{0,4}:)[0-9a-f:]{2,39}+)(?![\w:])(?:%\w++)?", _is_ipv6),
    (rf"{_START}{_HEX}{{2}}(?:[:{_DASH}]{_HEX}{{2}}){{5}}{_END}", _has_digit),
    (rf"{_START}{_HEX}{{4}}(?:\.{_HEX}{{4}}){{2}}{_END}", _has_digit),
    (r"(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.])", _is_public_ipv4),
    # 12 n. main street, 120 main st apt 4, po box 12, hauptstraße 12, 12 rue de la paix, calle mayor 12
    (rf"(?<![\w.])\d{{1,5}}[a-h]?,? {_NAMES} {_STREET}{_END}{_AFTER_STREET}\.?{_ROOM}", _is_street),
    (rf"(?<![\w.])\d{{2,5}}[a-h]?,? {_NAMES} {_MAYBE_STREET}{_END}{_AFTER_STREET}\.?{_ROOM}", _is_street),
    (rf"{_START}p\.? ?o\.? box \d{{1,5}}", _always),
    (rf"{_START}[^\W\d_]{{3,30}}(?:straße|strasse|str\.) \d{{1,4}}[a-z]?{_END}", _always),
    (rf"{_START}\d{{1,4}}(?: (?:bis|ter))?,? {_RUE} {_NAME}(?: {_NAME}){{0,2}}{_END}", _always),
    (rf"{_START}{_CALLE} {_NAMES},? \d{{1,4}}{_END}", _always),
    # 40.7128, -74.0060
    (r"(?<![\d.])[+\-]?\d{1,3}\.\d{4,15}+°?[ns]?(?:, ?| )[+\-]?\d{1,3}\.\d{4,15}+", _always),
    # phone, card and insurance numbers; any long number
    (rf"\+?\(?(?<!\d)\d++(?:{_BETWEEN_DIGITS}+\d++)++", _is_phone),
    (r"\d{6,}+", _always),
]
_COMPILED = [(re.compile(pattern), is_personal) for pattern, is_personal in RULES]

# For whole columns of ASCII queries, in the syntax of RE2, which Arrow applies: `scrub` changes no query that either of
# these does not match. The first is fast, the second is strict; as one pattern they would be slower than one by one.
PERHAPS_PERSONAL = (
    rf"[\d@=]|{_SAID_AT}| {_SAID_DOT} |eyj|{_KEY_NAME}",
    "|".join(
        [
            rf"@|%40|&#64;|{_SAID_AT}| {_SAID_DOT} |=|%3d|{_KEY_NAME}|a[ks]ia|aiza|eyj|bearer ",
            r"\d{6}|\d[ ().\-/_]{1,3}\d|\d[a-z]+\d|[a-z]{2}\d{2} ?[a-z0-9]{4}|[a-z0-9/+]{40}",
            rf"{_HEX}{{8}}-{_HEX}{{4}}-|[a-z0-9]{{5}}-[a-z0-9]{{5}}-[a-z0-9]{{5}}-",
            rf":{_HEX}{{0,4}}:|{_HEX}{{2}}[:\-]{_HEX}{{2}}[:\-]{_HEX}{{2}}[:\-]|{_HEX}{{4}}\.{_HEX}{{4}}\.",
            rf"\d[a-h]?,? .*(?:{_STREET}|{_MAYBE_STREET})|box \d|str(?:asse|\.) \d|\d.* {_RUE} |{_CALLE} .*\d",
        ]
    ),
)
