"""Rare queries that are probably typing mistakes: a model that never reads them does not offer them."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from halfword.data.dataset import Dataset, Split

_TIMES = 5  # the correct query must be this many times as frequent
_TIMES_IF_RARE = 2  # or only this many times, if the correct word is
_WORD_TIMES = 10  # times as frequent as the misspelled one
_SHORTEST_WORD = 4  # letters (one more if it is the only word); shorter words have too many neighbours
_LONG_WORD = 8  # letters; such a word is rarely one edit away from another, so the words alone decide
_OTHERS = 5  # times that a word may be typed more often by others; `mortage` is 400 times rarer than `mortgage`
_MOST_MISSING = 3  # letters that may be missing at the end of a query that was sent too early


class Misspellings:
    """Recognises typing mistakes by comparison with much more frequent queries.

    A word is near another if their edit distance is 1 (one letter inserted, deleted or replaced, or two swapped), or
    if it is the beginning of the other and the last word of the query. A query is a misspelling if replacing one word
    by a near one gives a query that is five times as frequent, or twice as frequent if the near word is ten times as
    frequent, or the only one that `others` know, people of other logs. For a long word that is ten times rarer than a
    near one no such query is needed, unless only their endings differ, as in inflections. A word is right that others
    type often enough beside the near one: a `skirt` is no `shirt`, however rare it is here.

    >>> counts = {"diabetes": 40, "diabets": 4, "diabet": 1, "diabetic": 1, "vitamin c": 90, "vitamin d": 1}
    >>> [query for query in counts if Misspellings(counts).holds(query)]
    ['diabets', 'diabet']
    """

    def __init__(self, counts: Mapping[str, int], others: Mapping[str, int] | None = None) -> None:
        self._counts = counts
        self._others = others or {}
        self._words: Counter[str] = Counter()
        for query, count in counts.items():
            for word in set(query.split()):
                self._words[word] += count
        self._by_rest: dict[str, list[str]] = defaultdict(list)
        for word, count in self._words.items():
            if count >= _TIMES and _is_judged(word):
                for rest in _rests(word):
                    self._by_rest[rest].append(word)
        self._meant: dict[str, list[str]] = {}

    def holds(self, query: str) -> bool:
        """Tell whether `query` is probably a typing mistake."""
        words = query.split()
        if len(words) == 1 and len(query) <= _SHORTEST_WORD:
            return False
        return any(self._is_slip(words, place) for place, word in enumerate(words) if _is_judged(word))

    def meant_by(self, word: str) -> list[str]:
        """Return the more frequent words that may be meant by a word, the most frequent first."""
        return sorted(self._near(word), key=lambda meant: (-self._words[meant], meant))

    def _is_slip(self, words: list[str], place: int) -> bool:
        word, last = words[place], place == len(words) - 1
        typed = self._counts.get(" ".join(words), 1)
        for meant in self._near(word):
            if (not last and abs(len(meant) - len(word)) > 1) or self._is_of_others(word, meant):
                continue
            rare = self._words[meant] >= _WORD_TIMES * self._words[word]
            wrong = rare or (self._others.get(meant, 0) > 0 == self._others.get(word, 0))
            corrected = self._counts.get(" ".join([*words[:place], meant, *words[place + 1 :]]), 0)
            if corrected >= (_TIMES_IF_RARE if wrong else _TIMES) * typed or (rare and _is_long_slip(word, meant)):
                return True
        return False

    def _is_of_others(self, word: str, meant: str) -> bool:
        """Tell whether other people type a word too, not only now and then instead of what may be meant."""
        typed = self._others.get(word, 0)
        return 0 < self._others.get(meant, 0) <= _OTHERS * typed

    def _near(self, word: str) -> list[str]:
        """Return the more frequent words that the user may have meant by `word`."""
        if word not in self._meant:
            found = {meant for rest in (word, *_rests(word)) for meant in self._by_rest.get(rest, ())}
            found = {meant for meant in found if is_near(word, meant) or _is_cut_off(word, meant)}
            self._meant[word] = [meant for meant in found if self._words[meant] > self._words[word]]
        return self._meant[word]


@dataclass(frozen=True, slots=True)
class WithoutMisspellings(Dataset):
    """A dataset without misspellings; test rows that are asked, not learned, stay as they were typed."""

    data: Dataset
    others: Mapping[str, int] = field(default_factory=dict, repr=False)  # how often others type each word
    _found: list[Misspellings] = field(default_factory=list, init=False, repr=False)
    _found_in_all: list[Misspellings] = field(default_factory=list, init=False, repr=False)  # in all splits together

    @classmethod
    def of(cls, data: Dataset, others: Mapping[str, int] | None = None) -> Self:
        """Wrap `data`; `others` tells how often people of other logs type each word."""
        return cls(data.path, data.profile, data, others or {})

    def counts(self, split: Split) -> dict[str, int]:
        counts = self.data.counts(split)
        if split is Split.TEST:
            return counts
        misspellings = self._misspellings()
        return {query: count for query, count in counts.items() if not misspellings.holds(query)}

    def displays(self) -> dict[str, str]:
        return self.data.displays()

    def rows(self, split: Split) -> list[str]:
        rows = self.data.rows(split)
        return rows if split is Split.TEST else [row for row in rows if not self._misspellings().holds(row)]

    def sessions(self, split: Split) -> list[list[str]]:
        sessions = self.data.sessions(split)
        if split is Split.TEST:
            return sessions
        return [[query for query in session if not self._misspellings().holds(query)] for session in sessions]

    def learnable(self, split: Split) -> dict[str, int]:
        if len(self._found_in_all) == 0:
            self._found_in_all.append(Misspellings(self.data.all_counts(), self.others))
        (misspellings,) = self._found_in_all
        return {query: count for query, count in self.data.learnable(split).items() if not misspellings.holds(query)}

    def about(self) -> dict[str, Any]:
        left_out = len(self.data.counts(Split.TRAIN)) - len(self.counts(Split.TRAIN))
        return {**self.data.about(), **({"misspellings": f"{left_out} left out"} if left_out else {})}

    def _misspellings(self) -> Misspellings:
        if not self._found:
            self._found.append(Misspellings(self.data.counts(Split.TRAIN), self.others))
        return self._found[0]


def is_near(one: str, other: str) -> bool:
    """Tell whether two words differ by one inserted, deleted or replaced letter, or by two swapped neighbours.

    >>> is_near("recieve", "receive"), is_near("diabets", "diabetes"), is_near("asthma", "asthama"), is_near("a", "bc")
    (True, True, True, False)
    """
    same = next((place for place, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), None)
    if same is None:
        return abs(len(one) - len(other)) == 1
    left, right = one[same:], other[same:]
    swapped = left[:2] == right[1::-1] and left[2:] == right[2:]
    return left[1:] == right[1:] or left[1:] == right or left == right[1:] or swapped


def _is_judged(word: str) -> bool:
    return len(word) >= _SHORTEST_WORD and word.isalpha()  # a different number is not a typing mistake


def _is_cut_off(word: str, meant: str) -> bool:
    return meant.startswith(word) and 0 < len(meant) - len(word) <= _MOST_MISSING


def _is_long_slip(word: str, meant: str) -> bool:
    shorter = min(len(word), len(meant))
    begin = shorter - (len(word) == len(meant))  # the length of the part before an ending that may differ
    return shorter >= _LONG_WORD and word[:begin] != meant[:begin] and is_near(word, meant)


def _rests(word: str) -> Iterator[str]:
    """Yield shortened forms of a word; near words share one, or one word is a shortened form of the other."""
    yield word
    for place in range(1, len(word)):  # the first letter is rarely missing
        yield word[:place] + word[place + 1 :]
    for missing in range(2, _MOST_MISSING + 1):
        yield word[:-missing]
