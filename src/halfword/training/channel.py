"""How people mistype: −log p(typed | meant) for every kind of mistake, learned from what they corrected themselves.

`mine` finds pairs in a log's sessions: a query and, right after it, a more frequent one that differs in one or two
letters. Each pair is aligned letter by letter (Damerau's edit distance), and the mistakes are counted by the letters
they befall, as Kernighan, Church and Gale (1990) did:

- another letter was typed than meant, by both letters;
- a letter was added or left out, by the letter and the one that was meant before it;
- two letters were swapped, by both letters;
- a space was left out, or added inside a word; and how much rarer a mistake is in the first letter of a word.

Rates of rare letters are drawn towards a prior: the rates that ship with the package (`models/channel.json`, made by
`benchmarks/channel_prior.py` from logs that may ship), so that a log without sessions has a channel too. Those in turn
were drawn towards the rate of the whole kind: the neighbour on the keyboard, one vowel for another, a doubled letter.

`channel.cost` in the model file has the costs in the order that `engine/readings/channel.h` explains, less that of the
likeliest mistakes: what these cost is a number of the policy.
"""

import json
import math
import random
import string
import struct
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, Self

from halfword.core.model_file import Array
from halfword.core.spelling import spelled, unspelled
from halfword.data.dataset import Dataset, Split
from halfword.search.model import import_engine

PRIOR = Path(__file__).parent.parent / "models" / "channel.json"
DIGITS, SIGNS, OTHER_LETTERS, BEGINNING, CLASSES = 26, 27, 28, 29, 30
_TABLES = ("substitute", "insert", "leave_out", "swap")
_NUMBERS = ("join", "split", "first_letter")
_SHORTEST = 5  # characters of a query that may be a mistake
_MOST_EDITS = 2
_MOST_PAIRS = 100_000  # that rates are learned from; each letter has seen enough of its mistakes by then
_TRUST = 4.0  # mistakes that the prior of a rate counts for
_LIKELIEST = 0.1  # the share of mistakes that cost nothing beyond the policy's number
_KEYBOARD = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_VOWELS = "aeiouy"


class Pair(NamedTuple):
    """A query as it was mistyped, and what was meant."""

    typed: str
    meant: str


class Edit(NamedTuple):
    """A mistake: its table, and its row and column there."""

    table: str
    row: int
    column: int
    first: bool = False  # in the first letter of a word


def mine(sessions: Iterable[Sequence[str]], counts: Mapping[str, int]) -> Iterator[Pair]:
    """Yield the queries that were corrected by the next one: more frequent, and hardly different.

    >>> list(mine([["britny spears", "britney spears", "madonna"]], {"britney spears": 9}))
    [Pair(typed='britny spears', meant='britney spears')]
    """
    for session in sessions:
        for typed, meant in pairwise(session):
            if is_correction(typed, meant, counts):
                yield Pair(typed, meant)


def learn_channel(data: Dataset) -> "Channel":
    """Return how the people of a log mistype, by what they corrected; the channel that ships where it cannot tell."""
    pairs = list(mine_log(data))
    if len(pairs) > _MOST_PAIRS:
        pairs = random.Random(5).sample(pairs, _MOST_PAIRS)
    return Channel.learn(pairs, Channel.read())


def mine_log(data: Dataset) -> Iterator[Pair]:
    """Yield what was corrected in the train split; the engine looks through sessions that are stored as numbers."""
    sessions = data.numbered_sessions(Split.TRAIN)
    if sessions is None:
        yield from mine(data.sessions(Split.TRAIN), data.counts(Split.TRAIN))
        return
    table, engine = data.table(Split.TRAIN), import_engine()
    for starts, numbers in sessions:
        for typed, meant in engine.mined_pairs(table.columns, starts, numbers, _SHORTEST, _MOST_EDITS):
            yield Pair(table.at(typed), table.at(meant))


def is_correction(typed: str, meant: str, counts: Mapping[str, int]) -> bool:
    """Tell whether the second of two queries is what was meant by the first."""
    return are_alike(typed, meant) and counts.get(meant, 0) > counts.get(typed, 0)


def are_alike(typed: str, meant: str) -> bool:
    """Tell whether two queries differ in one or two letters, and none is only the beginning of the other."""
    return (
        len(typed) >= _SHORTEST
        and typed != meant
        and abs(len(typed) - len(meant)) <= _MOST_EDITS
        and len(set(typed) ^ set(meant)) <= 2 * _MOST_EDITS
        and not typed.startswith(meant)
        and not meant.startswith(typed)
        and distance(typed, meant) <= _MOST_EDITS
    )


def distance(typed: str, meant: str) -> int:
    """Return how many letters were added, left out or replaced, or pairs of neighbours swapped.

    >>> distance("recieve", "receive"), distance("britny", "britney"), distance("tea", "ten")
    (1, 1, 1)
    """
    return _rows(typed, meant)[-1][-1]


def _rows(typed: str, meant: str) -> list[list[int]]:
    """Return the distance of every beginning of one text from every beginning of the other."""
    rows = [list(range(len(meant) + 1))]
    for i, letter in enumerate(typed, 1):
        row = [i]
        for j, wanted in enumerate(meant, 1):
            cost = min(rows[-1][j] + 1, row[-1] + 1, rows[-1][j - 1] + (letter != wanted))
            if i > 1 and j > 1 and letter == meant[j - 2] and typed[i - 2] == wanted:
                cost = min(cost, rows[i - 2][j - 2] + 1)
            row.append(cost)
        rows.append(row)
    return rows


def edits_of(pair: Pair) -> list[Edit]:
    """Return the mistakes of a pair, aligned with as few of them as possible.

    >>> [edit.table for edit in edits_of(Pair("brtiny", "britney"))]
    ['leave_out', 'swap']
    """
    typed, meant = spelled(pair.typed), spelled(pair.meant)
    rows = _rows(typed, meant)
    i, j, found = len(typed), len(meant), []
    while i or j:
        here = rows[i][j]
        if i and j and typed[i - 1] == meant[j - 1] and rows[i - 1][j - 1] == here:
            i, j = i - 1, j - 1
            continue
        swapped = i > 1 and j > 1 and typed[i - 1] == meant[j - 2] and typed[i - 2] == meant[j - 1]
        if swapped and rows[i - 2][j - 2] + 1 == here:
            i, j = i - 2, j - 2
            found.append(Edit("swap", class_of(meant[j]), class_of(meant[j + 1]), _begins(meant, j)))
        elif i and j and rows[i - 1][j - 1] + 1 == here:
            i, j = i - 1, j - 1
            found.append(Edit("substitute", class_of(meant[j]), class_of(typed[i]), _begins(meant, j)))
            if " " in (meant[j], typed[i]):
                found[-1] = Edit("join" if meant[j] == " " else "split", 0, 0)
        elif j and rows[i][j - 1] + 1 == here:
            j -= 1
            is_space = meant[j] == " "
            found.append(Edit("join", 0, 0) if is_space else Edit("leave_out", _before(meant, j), class_of(meant[j])))
        else:
            i -= 1
            is_space = typed[i] == " "
            found.append(Edit("split", 0, 0) if is_space else Edit("insert", _before(meant, j), class_of(typed[i])))
    return found


def class_of(letter: str) -> int:
    """Return the class of a letter, as the engine tells them apart.

    >>> class_of("b"), class_of("7"), class_of("-"), class_of("ü")
    (1, 26, 27, 28)
    """
    if "a" <= letter <= "z":
        return ord(letter) - ord("a")
    if "0" <= letter <= "9":
        return DIGITS
    return SIGNS if letter.isascii() else OTHER_LETTERS


def _begins(text: str, place: int) -> bool:
    return place == 0 or text[place - 1] == " "


def _before(text: str, place: int) -> int:
    return BEGINNING if _begins(text, place) else class_of(text[place - 1])


@dataclass(frozen=True, slots=True)
class Channel:
    """The rate of every mistake, per opportunity, in queries that hold one."""

    rates: Mapping[str, Mapping[tuple[int, int], float]]  # table → (row, column) → rate
    numbers: Mapping[str, float]  # rates of spaces; of first letters, as a multiple of the others'
    likeliest: float  # −log of the rate of the likeliest mistakes

    @classmethod
    def learn(cls, pairs: Sequence[Pair], prior: "Channel") -> Self:
        """Count the mistakes of pairs, and draw the rates of rare ones towards the prior."""
        edits = [edit for pair in pairs for edit in edits_of(pair)]
        made, chances = Counter((edit.table, edit.row, edit.column) for edit in edits), _chances(pairs)
        rates = {
            table: {
                cell: _drawn(made[table, *cell], chances[table, cell[0] if table != "swap" else cell], rate)
                for cell, rate in prior.rates[table].items()
            }
            for table in _TABLES
        }
        numbers = {
            "join": _drawn(made["join", 0, 0], chances["join", 0], prior.numbers["join"]),
            "split": _drawn(made["split", 0, 0], chances["split", 0], prior.numbers["split"]),
            "first_letter": _first_letters(edits, pairs, prior.numbers["first_letter"]),
        }
        costs = sorted(-math.log(rates[edit.table][edit.row, edit.column]) for edit in edits if edit.table in rates)
        likeliest = costs[int(_LIKELIEST * len(costs))] if len(costs) > 1 / _LIKELIEST else prior.likeliest
        return cls(rates, numbers, likeliest)

    @classmethod
    def read(cls, path: Path = PRIOR) -> Self:
        """Read a channel that was written as JSON, such as the one that ships."""
        values: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        size = range(CLASSES)
        rates = {
            table: {(row, column): math.exp(-values[table][row][column]) for row in size for column in size}
            for table in _TABLES
        }
        numbers = {name: math.exp(-values[name]) for name in _NUMBERS}
        return cls(rates, numbers, values["likeliest"])

    def to_json(self) -> dict[str, Any]:
        """Return all costs, −log of the rates, by the name of their table."""
        size = range(CLASSES)
        tables: dict[str, Any] = {
            table: [[round(-math.log(self.rates[table][row, column]), 2) for column in size] for row in size]
            for table in _TABLES
        }
        numbers = {name: round(-math.log(self.numbers[name]), 2) for name in _NUMBERS}
        return {**tables, **numbers, "likeliest": round(self.likeliest, 2)}

    def costs(self) -> list[float]:
        """Return the costs in the order of the model file, less that of the likeliest mistakes."""
        size = range(CLASSES)
        rates = [self.rates[table][row, column] for table in _TABLES for row in size for column in size]
        spaces = [self.numbers["join"], self.numbers["split"]]
        costs = [max(0.0, -math.log(rate) - self.likeliest) for rate in (*rates, *spaces)]
        return [*costs, max(0.0, -math.log(self.numbers["first_letter"]))]

    def arrays(self) -> dict[str, Array]:
        """Return the costs as an array of a model file."""
        costs = self.costs()
        return {"channel.cost": Array("F32", struct.pack(f"<{len(costs)}f", *costs))}


def _drawn(made: int, chances: int, prior: float) -> float:
    """Return a rate: mistakes per chance, drawn towards the prior."""
    return (made + _TRUST) / (chances + _TRUST / prior)


def _chances(pairs: Sequence[Pair]) -> Counter[tuple[str, Any]]:
    """Return how often each mistake could have been made in what was meant."""
    chances: Counter[tuple[str, Any]] = Counter()
    for _, meant in pairs:
        text = spelled(meant)
        for place, letter in enumerate(text):
            if letter == " ":
                chances["join", 0] += 1
                continue
            own, before = class_of(letter), _before(text, place)
            chances["substitute", own] += 1
            chances["insert", before] += 1
            chances["leave_out", before] += 1
            if not _begins(text, place):
                chances["split", 0] += 1
                chances["swap", (before, own)] += 1
    return chances


def _first_letters(edits: Sequence[Edit], pairs: Sequence[Pair], prior: float) -> float:
    """Return how often the first letter of a word is mistyped for each time another letter is."""
    first = sum(edit.first for edit in edits)
    others = sum(edit.table in ("substitute", "swap") for edit in edits) - first
    words = sum(len(meant.split()) for _, meant in pairs)
    letters = sum(len(meant.replace(" ", "")) for _, meant in pairs) - words
    if not others or not words:
        return prior
    return min(1.0, _drawn(first, round(words * others / max(letters, 1)), prior))


def plain_prior() -> Channel:
    """Return rates by the kind of a mistake alone, from which the ones that ship were learned."""
    size = range(CLASSES)
    rates = {
        "substitute": {(row, column): _substitution(row, column) for row in size for column in size},
        "insert": {(row, column): _addition(row, column) for row in size for column in size},
        "leave_out": {(row, column): _addition(row, column) for row in size for column in size},
        "swap": {(row, column): 0.004 if _are_letters(row, column) else 0.0005 for row in size for column in size},
    }
    return Channel(rates, {"join": 0.03, "split": 0.003, "first_letter": 0.3}, 6.0)


def _are_letters(*classes: int) -> bool:
    return all(each < DIGITS or each == OTHER_LETTERS for each in classes)


def _substitution(meant: int, typed: int) -> float:
    if not _are_letters(meant, typed):
        return 1e-4
    if OTHER_LETTERS in (meant, typed):
        return 1e-3
    one, other = chr(97 + meant), chr(97 + typed)
    return 3e-3 if one in _VOWELS and other in _VOWELS else 2e-3 if other in neighbours(one) else 3e-4


def _addition(before: int, letter: int) -> float:
    if not _are_letters(letter):
        return 3e-4
    doubled = before == letter and letter != OTHER_LETTERS
    return 8e-3 if doubled else 1e-3


def neighbours(letter: str) -> str:
    """Return the letters beside and below or above a letter on an English keyboard.

    >>> neighbours("g")
    'fhtyvb'
    """
    row = next(place for place, keys in enumerate(_KEYBOARD) if letter in keys)
    place = _KEYBOARD[row].index(letter)
    beside = _KEYBOARD[row][max(0, place - 1) : place] + _KEYBOARD[row][place + 1 : place + 2]
    above = _KEYBOARD[row - 1][place : place + 2] if row > 0 else ""
    below = _KEYBOARD[row + 1][max(0, place - 1) : place + 1] if row < 2 else ""
    return beside + above + below


def mistype(meant: str, channel: Channel, chance: random.Random) -> str:
    """Return a text with one mistake, drawn as the channel has it."""
    letters = spelled(meant)
    ways = list(_mistakes(letters, channel))
    (typed,) = chance.choices([way for way, _ in ways], [rate for _, rate in ways]) if ways else (letters,)
    return unspelled(typed)


def _mistakes(text: str, channel: Channel) -> Iterator[tuple[str, float]]:
    """Yield the texts that differ from one in one mistake, and the rate of each."""
    alphabet = "".join(sorted({*text, *string.ascii_lowercase} - {" "} if text.isascii() else {*text} - {" "}))
    rates, numbers = channel.rates, channel.numbers
    for place, letter in enumerate(text):
        head, tail, before = text[:place], text[place + 1 :], _before(text, place)
        own, first = class_of(letter), numbers["first_letter"] if _begins(text, place) else 1.0
        if letter == " ":
            yield head + tail, numbers["join"]
            continue
        yield head + tail, rates["leave_out"][before, own]
        for other in alphabet:
            kind = class_of(other)
            if other != letter:
                yield head + other + tail, rates["substitute"][own, kind] * first
            yield head + other + letter + tail, rates["insert"][before, kind]
        if tail[:1].strip() and tail[0] != letter:
            yield head + tail[0] + letter + tail[1:], rates["swap"][own, class_of(tail[0])] * first
        if not _begins(text, place):
            yield head + " " + letter + tail, numbers["split"]
