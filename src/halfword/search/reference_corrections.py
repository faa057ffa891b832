"""What a mistyped text may stand for, in plain Python: slow, readable, and what the engine must equal.

Each typed word may stand for a near word of the log: the same but for one mistake, or two in a longer word that is rare
and that one mistake does not explain. It may also be two words whose space was left out or became a sign, and two typed
words may be one. What is being typed, the last word, stands for the beginning of words. A mistake costs what the
channel says of its letters (`training/channel.py`), and a number of the policy.

A reading is scored by log p(reading) − cost. p is the share of queries that begin so; if there is none, that of the
words before, times a penalty, times the share of the word among all words. Readings that score too far below the text
as typed are left out.

What the belief in a correction is told of the mistyped words (`reference_belief.py`): how many letters they have, how
many of these follow the first mistake, how rare they are in the log, and how often others typed them and the words in
their place. The others are the people of the background, if there is one; what they never type is seldom a word.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from halfword.core.policy import Policy
from halfword.core.spelling import spelled, unspelled
from halfword.core.text import common_beginning

_DIGITS, _SIGNS, _BEGINNING, _CLASSES = 26, 27, 29, 30
_LONGEST_WORD, _MOST_WORDS = 64, 16


class Correction(NamedTuple):
    """A reading of a mistyped text."""

    text: str
    log_probability: float  # log p(typed | text)
    edits: float
    spaces: float  # mistakes in its spaces
    gain: float  # how much likelier it is than the text as typed
    word_gain: float  # how much more often its other words are typed than the mistyped ones, as logarithms
    known: float  # mistyped words that are words of the log too
    known_gain: float  # the gain of words for these alone
    begun: float  # mistakes in the word that is being typed
    after: float  # characters typed after the last mistake
    total: float  # how often queries were typed that begin so
    typed_total: float  # or with the text as typed
    letters: float = 0.0  # letters of the mistyped words
    typed_count: float = 0.0  # logarithm of how often the rarest of them was typed
    changed: float = 0.0  # letters of the last of them from its first mistake on
    endings: float = 0.0  # whole words of which no more than the last letter differs
    others: float = 0.0  # logarithm of how often others type the rarest of the words in their place,
    typed_others: float = 0.0  # and the rarest mistyped one; 0 where others are not known


class _Way(NamedTuple):
    """A way to read one or two typed words."""

    text: str
    cost: float
    edits: float
    log_count: float
    spaces: float = 0.0
    word_gain: float = 0.0
    known: bool = False
    after: int = 0  # letters typed after the last mistake
    letters: int = 0  # typed in all,
    changed: int = 0  # and from the first mistake on
    ending: bool = False  # whether a whole word differs in no more than its last letter
    log_typed: float = 0.0  # logarithm of how often the rarest of the typed words was typed
    others: float = 0.0  # how often others type the rarest of its words,
    typed_others: float = 0.0  # and of the typed ones; as logarithms


@dataclass(frozen=True, slots=True)
class _Path:
    """The beginning of a reading."""

    text: str
    cost: float
    edits: float
    spaces: float
    log_prior: float
    word_gain: float = 0.0
    known: float = 0.0
    known_gain: float = 0.0
    begun: float = 0.0
    after: float = 0.0
    letters: float = 0.0
    changed: float = 0.0
    endings: float = 0.0
    log_typed: float = 0.0
    others: float = 0.0
    typed_others: float = 0.0
    total: float = 0.0
    seen: bool = True
    as_typed: bool = True

    @property
    def score(self) -> float:
        return self.log_prior - self.cost


def _class_of(letter: str) -> int:
    if "a" <= letter <= "z":
        return ord(letter) - ord("a")
    return _DIGITS if "0" <= letter <= "9" else _SIGNS if letter.isascii() else 28


def _weight(count: int) -> float:
    """Return the logarithm of a count as it is stored: in tenths."""
    return min(254.0, math.floor(10 * math.log(count) + 0.5)) / 10


@dataclass(frozen=True, slots=True)
class PlainCorrections:
    """Corrections by looking at every word of a log."""

    counts: Mapping[str, int]  # queries
    costs: Sequence[float]  # the channel's, as they are stored
    policy: Policy
    others: Mapping[str, int] | None = None  # words of other people, and how often they typed them
    words: dict[str, int] = field(init=False)  # letter by letter

    def __post_init__(self) -> None:
        if self.others is not None:
            object.__setattr__(self, "others", {spelled(word): count for word, count in self.others.items()})
        words: dict[str, int] = {}
        for query, count in self.counts.items():
            for word in query.split():
                words[spelled(word)] = words.get(spelled(word), 0) + count
        object.__setattr__(self, "words", words)

    def corrections(self, typed: str) -> list[Correction]:
        """Return the likeliest corrections of a text, the best first."""
        texts = typed.split(" ")
        if len(texts) > _MOST_WORDS:
            return []
        beams: list[list[_Path]] = [[] for _ in range(len(texts) + 1)]
        beams[0] = [_Path("", 0.0, 0.0, 0.0, math.log(sum(self.counts.values())))]
        for place in range(len(texts)):
            beams[place] = self._cut(beams[place])
            for way in self._ways_at(texts, place):
                beams[place + 1] += self._extended(beams[place], way, texts[place], place + 1 == len(texts))
            for way in self._joined_at(texts, place):
                beams[place + 2] += self._extended(beams[place], way, texts[place + 1], place + 2 == len(texts))
        return self._chosen(beams[-1])

    def _log_count(self, letters: str, whole: bool) -> float | None:
        return _log_count_in(self.words, letters, whole)

    def _others(self, *words: tuple[str, bool]) -> float:
        """Return how often others type the rarest of some words, each whole or only begun."""
        if self.others is None:
            return 0.0
        found = [_log_count_in(self.others, letters, whole) for letters, whole in words]
        return min(self._log_unknown() if each is None else each for each in found)

    def _log_all(self) -> float:
        return _weight(sum(self.words.values()))

    def _ways_at(self, texts: Sequence[str], place: int) -> list[_Way]:
        word, whole = spelled(texts[place]), place + 1 < len(texts)
        found = self._log_count(word, whole)
        log_typed = self._log_unknown() if found is None else found
        as_typed = _Way(texts[place], 0.0, 0.0, log_typed)
        if not self.policy.corrected_fewest_letters <= len(word) <= _LONGEST_WORD:
            return [as_typed]
        ways = [*self._near(word, whole, log_typed), *self._split(word, whole)]
        typed = _Mistyped(log_typed, len(word), found is not None, self._others((word, whole)))
        return [as_typed, *_compared(ways, log_typed, typed)]

    def _log_unknown(self) -> float:
        return math.log(self.policy.corrected_unknown_count)

    def _near(self, word: str, whole: bool, log_typed: float) -> list[_Way]:
        found = self._nearest(word, whole, log_typed, 1)
        explained = any(way.log_count - way.cost >= self.policy.corrected_enough_score for way in found)
        long = len(word) >= self.policy.corrected_letters_for_two
        if long and log_typed <= self.policy.corrected_rare and not explained:
            return self._nearest(word, whole, log_typed, 2)
        return found

    def _nearest(self, word: str, whole: bool, log_typed: float, most: int) -> list[_Way]:
        """Return the best near words with at most so many mistakes."""
        meant = set(self.words) if whole else {other[:end] for other in self.words for end in range(1, len(other) + 1)}
        ways = []
        for other in meant - {word}:
            cost, edits, after = min(self._alignments(word, other, most, whole), default=(math.inf, 0, 0))
            log_count = self._log_count(other, whole)
            assert log_count is not None
            if log_count - cost >= log_typed - self.policy.corrected_word_slack:
                changed = len(word) - common_beginning(word, other)
                way = _Way(unspelled(other), cost, edits, log_count, after=after, changed=changed)
                way = way._replace(ending=whole and changed <= 1, others=self._others((other, whole)))
                ways.append((other, way))
        ways.sort(key=lambda each: (each[1].cost - each[1].log_count, each[0]))
        best = max((way.log_count - way.cost for _, way in ways), default=0.0)
        near = [way for _, way in ways if way.log_count - way.cost >= best - self.policy.corrected_word_band]
        return near[: int(self.policy.corrected_near_words)]

    def _alignments(
        self, typed: str, meant: str, left: int, whole: bool, before: int = _BEGINNING
    ) -> Iterator[tuple[float, int, int]]:
        """Yield every way in which one may have become the other: cost, mistakes, letters typed after the last one."""
        if not typed and not meant:
            yield 0.0, 0, 0
        if typed and meant and typed[0] == meant[0]:
            yield from self._alignments(typed[1:], meant[1:], left, whole, _class_of(meant[0]))
        if left == 0:
            return
        first = self.costs[-1] if before == _BEGINNING else 0.0
        steps = []
        if typed and meant and typed[0] != meant[0] and not _hold_digit(typed[0] + meant[0]):
            steps.append((self._cost(0, _class_of(meant[0]), _class_of(typed[0])) + first, 1, 1))
        if meant and (typed or whole) and not _hold_digit(meant[0]):
            steps.append((self._cost(2, before, _class_of(meant[0])), 0, 1))
        if typed and not _hold_digit(typed[0]):
            steps.append((self._cost(1, before, _class_of(typed[0])), 1, 0))
        is_swapped = len(typed) > 1 and typed[0] != typed[1] and meant[:2] == typed[1::-1]
        if is_swapped and not _hold_digit(typed[:2]):
            steps.append((self._cost(3, _class_of(meant[0]), _class_of(typed[0])) + first, 2, 2))
        for cost, read, wanted in steps:
            last = _class_of(meant[wanted - 1]) if wanted else before
            for rest, edits, after in self._alignments(typed[read:], meant[wanted:], left - 1, whole, last):
                after = after if edits else len(typed) - read
                yield cost + self.policy.corrected_edit_cost + rest, 1 + edits, after

    def _cost(self, table: int, row: int, column: int) -> float:
        return self.costs[(table * _CLASSES + row) * _CLASSES + column]

    def _split(self, word: str, whole: bool) -> list[_Way]:
        best: list[_Way] = []
        for cut in range(1, len(word)):
            left = self._log_count(word[:cut], whole=True)
            is_sign = _class_of(word[cut]) == _SIGNS and cut + 1 < len(word)
            rest = word[cut + 1 :] if is_sign else word[cut:]
            right = self._log_count(rest, whole)
            plural = not whole and rest == "s"
            if left is None or right is None or plural:
                continue
            log_count = left + right - self._log_all()
            if not best or log_count > best[0].log_count:
                cost = self.costs[-3] + self.policy.corrected_edit_cost
                text = f"{unspelled(word[:cut])} {unspelled(rest)}"
                others = self._others((word[:cut], True), (rest, whole))
                best = [_Way(text, cost, 1.0, log_count, 1.0, after=len(rest), changed=len(rest), others=others)]
        return best

    def _joined_at(self, texts: Sequence[str], place: int) -> list[_Way]:
        if place + 1 == len(texts) or not texts[place] or not texts[place + 1]:
            return []
        ways, whole = [], place + 2 < len(texts)
        first, second = spelled(texts[place]), spelled(texts[place + 1])
        for sign in ("", ".", "-"):
            log_count = self._log_count(first + sign + second, whole)
            if log_count is not None:
                cost = self.costs[-2] + self.policy.corrected_edit_cost
                text = f"{texts[place]}{sign}{texts[place + 1]}"
                others, rest = self._others((first + sign + second, whole)), len(second)
                ways.append(_Way(text, cost, 1.0, log_count, 1.0, after=rest, changed=rest, others=others))
        counts = self._log_count(first, whole=True), self._log_count(second, whole)
        logs = [self._log_unknown() if count is None else count for count in counts]
        others = self._others((first, True), (second, whole))
        typed = _Mistyped(min(logs), len(first) + len(second), None not in counts, others)
        return _compared(ways, sum(logs) - self._log_all(), typed)

    def _extended(self, paths: Sequence[_Path], way: _Way, typed: str, is_last: bool) -> Iterator[_Path]:
        for path in paths:
            text = path.text + way.text + ("" if is_last else " ")
            total = sum(count for query, count in self.counts.items() if query.startswith(text)) if path.seen else 0
            unseen = path.log_prior + self.policy.corrected_new_words + way.log_count - self._log_all()
            yield replace(
                _with_mistyped(path, way) if way.edits else path,
                text=text,
                cost=path.cost + way.cost,
                edits=path.edits + way.edits,
                spaces=path.spaces + way.spaces,
                word_gain=path.word_gain + way.word_gain,
                known=path.known + way.known,
                known_gain=path.known_gain + (way.word_gain if way.known else 0.0),
                begun=path.begun + (way.edits if is_last else 0.0),
                after=way.after if way.edits else path.after + len(spelled(typed)) + 1,
                total=total,
                log_prior=math.log(total) if total else unseen,
                seen=total > 0,
                as_typed=path.as_typed and not way.edits,
            )

    def _cut(self, paths: list[_Path]) -> list[_Path]:
        """Return the best paths, and the one as typed."""
        ranked = sorted(paths, key=lambda path: (-path.score, path.text.encode()))
        most = int(self.policy.corrected_beam)
        typed = [path for path in ranked[most:] if path.as_typed]
        return ranked[: most - len(typed)] + typed if typed else ranked[:most]

    def _chosen(self, paths: list[_Path]) -> list[Correction]:
        ranked = sorted(paths, key=lambda path: (-path.score, path.text.encode()))
        typed = next((path for path in ranked if path.as_typed), None)
        if typed is None:
            return []
        found: dict[str, _Path] = {}
        for path in ranked:
            if path.text != typed.text and path.score - typed.score >= self.policy.corrected_least_gain:
                found.setdefault(path.text, path)
        best = max((path.score for path in found.values()), default=0.0)
        near = [path for path in found.values() if path.score >= best - self.policy.corrected_band]
        return [
            Correction(
                path.text,
                -path.cost,
                path.edits,
                path.spaces,
                path.log_prior - typed.log_prior,
                path.word_gain,
                path.known,
                path.known_gain,
                path.begun,
                path.after,
                path.total,
                typed.total,
                path.letters,
                path.log_typed,
                path.changed,
                path.endings,
                path.others,
                path.typed_others,
            )
            for path in near[: int(self.policy.corrected_most_readings)]
        ]


class _Mistyped(NamedTuple):
    """The typed words that ways are for."""

    log_rarest: float  # logarithm of how often the rarest was typed
    letters: int
    known: bool  # whether all are words
    others: float


def _compared(ways: Sequence[_Way], log_typed: float, typed: _Mistyped) -> list[_Way]:
    """Note how much more often the words of each way are typed than those it is for, and what is known of these."""
    return [
        way._replace(
            word_gain=way.log_count - log_typed,
            known=typed.known,
            log_typed=typed.log_rarest,
            letters=typed.letters,
            typed_others=typed.others,
        )
        for way in ways
    ]


def _with_mistyped(path: _Path, way: _Way) -> _Path:
    """Add what is known of the mistyped words of a way; of several, the rarest tells most."""
    others, typed_others, log_typed = way.others, way.typed_others, way.log_typed
    if path.edits:
        others, typed_others = min(others, path.others), min(typed_others, path.typed_others)
        log_typed = min(log_typed, path.log_typed)
    return replace(
        path,
        letters=path.letters + way.letters,
        changed=way.changed,
        endings=path.endings + way.ending,
        log_typed=log_typed,
        others=others,
        typed_others=typed_others,
    )


def _hold_digit(letters: str) -> bool:
    """Tell whether there is a digit: these are taken as they are typed, for another number is another thing."""
    return any(_class_of(letter) == _DIGITS for letter in letters)


def _log_count_in(words: Mapping[str, int], letters: str, whole: bool) -> float | None:
    """Return the logarithm of how often a word was typed, or words that begin so; None for never."""
    total = sum(count for word, count in words.items() if word == letters or _goes_on(word, letters, whole))
    return _weight(total) if total else None


def _goes_on(word: str, letters: str, whole: bool) -> bool:
    return not whole and word.startswith(letters)
