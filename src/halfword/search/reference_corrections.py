"""What a mistyped text may stand for, in plain Python: slow, readable, and what the engine must equal.

Each typed word may stand for a near word of the log: the same but for one mistake, or two in a longer word that is rare
and that one mistake does not explain. It may also be two words whose space was left out or became a sign, and two typed
words may be one. What is being typed, the last word, stands for the beginning of words. A mistake costs what the
channel says of its letters (`training/channel.py`), and a number of the policy.

A reading is scored by log p(reading) − cost. p is the share of queries that begin so; if there is none, that of the
words before, times a penalty, times the share of the word among all words. Readings that score too far below the text
as typed are left out.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from halfword.core.policy import Policy
from halfword.core.spelling import spelled, unspelled

_SIGNS, _BEGINNING, _CLASSES = 27, 29, 30
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
    total: float = 0.0
    seen: bool = True
    as_typed: bool = True

    @property
    def score(self) -> float:
        return self.log_prior - self.cost


def _class_of(letter: str) -> int:
    if "a" <= letter <= "z":
        return ord(letter) - ord("a")
    return 26 if "0" <= letter <= "9" else _SIGNS if letter.isascii() else 28


def _weight(count: int) -> float:
    """Return the logarithm of a count as it is stored: in tenths."""
    return min(254.0, math.floor(10 * math.log(count) + 0.5)) / 10


@dataclass(frozen=True, slots=True)
class PlainCorrections:
    """Corrections by looking at every word of a log."""

    counts: Mapping[str, int]  # queries
    costs: Sequence[float]  # the channel's, as they are stored
    policy: Policy
    words: dict[str, int] = field(init=False)  # letter by letter

    def __post_init__(self) -> None:
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
        total = sum(count for word, count in self.words.items() if word == letters or _goes_on(word, letters, whole))
        return _weight(total) if total else None

    def _log_all(self) -> float:
        return _weight(sum(self.words.values()))

    def _ways_at(self, texts: Sequence[str], place: int) -> list[_Way]:
        word, whole = spelled(texts[place]), place + 1 < len(texts)
        found = self._log_count(word, whole)
        log_typed = self._log_unknown() if found is None else found
        as_typed = _Way(texts[place], 0.0, 0.0, log_typed)
        if not self.policy.corrected_fewest_letters <= len(word) <= _LONGEST_WORD:
            return [as_typed]
        others = [*self._near(word, whole, log_typed), *self._split(word, whole)]
        return [as_typed, *_compared(others, log_typed, found is not None)]

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
                ways.append((other, _Way(unspelled(other), cost, edits, log_count, after=after)))
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
        if typed and meant and typed[0] != meant[0]:
            steps.append((self._cost(0, _class_of(meant[0]), _class_of(typed[0])) + first, 1, 1))
        if meant and (typed or whole):
            steps.append((self._cost(2, before, _class_of(meant[0])), 0, 1))
        if typed:
            steps.append((self._cost(1, before, _class_of(typed[0])), 1, 0))
        if len(typed) > 1 and typed[0] != typed[1] and meant[:2] == typed[1::-1]:
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
            if left is None or right is None:
                continue
            log_count = left + right - self._log_all()
            if not best or log_count > best[0].log_count:
                cost = self.costs[-3] + self.policy.corrected_edit_cost
                text = f"{unspelled(word[:cut])} {unspelled(rest)}"
                best = [_Way(text, cost, 1.0, log_count, 1.0, after=len(rest))]
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
                ways.append(_Way(text, cost, 1.0, log_count, 1.0, after=len(second)))
        counts = self._log_count(first, whole=True), self._log_count(second, whole)
        log_typed = sum(self._log_unknown() if count is None else count for count in counts) - self._log_all()
        return _compared(ways, log_typed, None not in counts)

    def _extended(self, paths: Sequence[_Path], way: _Way, typed: str, is_last: bool) -> Iterator[_Path]:
        for path in paths:
            text = path.text + way.text + ("" if is_last else " ")
            total = sum(count for query, count in self.counts.items() if query.startswith(text)) if path.seen else 0
            unseen = path.log_prior + self.policy.corrected_new_words + way.log_count - self._log_all()
            yield replace(
                path,
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
            )
            for path in near[: int(self.policy.corrected_most_readings)]
        ]


def _compared(ways: Sequence[_Way], log_typed: float, known: bool) -> list[_Way]:
    """Note how much more often the words of each way are typed than those it is for."""
    return [way._replace(word_gain=way.log_count - log_typed, known=known) for way in ways]


def _goes_on(word: str, letters: str, whole: bool) -> bool:
    return not whole and word.startswith(letters)
