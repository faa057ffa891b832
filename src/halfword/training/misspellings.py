"""Rare queries that are probably typing mistakes: a model that never reads them does not offer them."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

from halfword.core.files import whole_file
from halfword.core.folding import fold
from halfword.core.near_words import is_near
from halfword.core.text import common_beginning
from halfword.core.words import is_without_spaces
from halfword.data.dataset import Dataset, Split
from halfword.training.channel import neighbours
from halfword.training.endings import Endings
from halfword.training.latin_keys import on_latin_keys, usual_keyboard

_TIMES = 5  # the correct query must be this many times as frequent
_TIMES_IF_RARE = 2  # or only this many times, if the correct word is
_WORD_TIMES = 10  # times as frequent as the misspelled one
_SHORTEST_WORD = 4  # letters (one more if it is the only word); shorter words have too many neighbours
_SHORTEST_UNKNOWN = 3  # letters of a word that others hardly ever type, or one more if it is the only one,
_FAR_TIMES = 20  # or of any word, if the correct query is this many times as frequent;
_SHORTEST_MEANT = 2  # what is meant may have even fewer then, and so may a word that others hardly ever type
_LONG_WORD = 8  # letters; such a word is rarely one edit away from another, so the words alone decide
_INNER_WORD = 6  # letters; so is such a word in a query that is there with the other word, too, if that is
_INNER_TIMES = 3  # times as frequent
_ELSEWHERE = 2  # times that a right word is typed in other queries of the log; a slip is seldom made so often
_UNKNOWN_WORD = 5  # letters of such a word that others do not know, if the near one is known to all
_SHORTEST_ON_OTHER_KEYS = 5  # letters that are no word by accident if they are one on another keyboard
_SHORTEST_PART = 5  # letters of a word that others are made of
_RARE_WORD = 2  # times that a word may be typed here that nobody else types
_OTHERS = 5  # times that a word may be typed more often by others; `mortage` is 400 times rarer than `mortgage`
_STRANGE = 100  # times that others type what is meant for each time that they type a word: it is a slip there, too
_SHORTEST_JOINED = 3  # letters of each of two words between which a space is missing
_MOST_MISSING = 3  # letters that may be missing at the end of a query that was sent too early
_DOUBLED = re.compile(r"(.)\1")
_PARTS = re.compile(r"[^\W\d_]+|[\W\d_]+")  # words, and what is between them, as in read_csv

_HALF_COMPOSED = re.compile("^(.*[\u3040-\u30ff])[a-z]{1,2}$")


class Misspellings:
    """Recognises typing mistakes by comparison with much more frequent queries.

    A word is near another if their edit distance is 1 (one letter inserted, deleted or replaced, or two swapped), if
    another of its letters is doubled (`brocolli`), or if it is the beginning of the other and the last word of the
    query. `others` are people of other logs. A query is a misspelling if replacing one word by a near one gives a query
    that is

    - five times as frequent, or twice as frequent if the near word is ten times as frequent;
    - twenty times as frequent, for words of fewer than four letters, which have many neighbours;
    - only as frequent, if the near word is known to others, and the word hardly and was typed once or twice.

    No such query is needed if others do not type the word at all and the hand slips so (`londpn`), nor for a long word
    that is ten times rarer than a near one, unless only their endings differ, as in inflections.

    Right are singular and plural, and other endings that take turns in the words of the log (`referto` beside
    `referti`). Right is also a word that others type often enough beside the near one (a `skirt` is no `shirt`, however
    rare it is here), or that is typed in other queries of the log, too, and is not much rarer than the near one, unless
    others type it. But it is a slip if two letters are swapped in a query that is twenty times as frequent (`work form
    home`), or if the word is nowhere else in the log and the query is three times as frequent (`ultrasun after un`),
    or twenty times if a letter was replaced by one beside it (`renew library cars`). Right is also a word that ends as
    a word of the log does, and the near one does not (`gewerbeabmeldung` beside `abmeldung`). Accents and hyphens are
    no mistakes, and another first letter is none in a word that was typed more than twice.

    Other spaces are mistakes if the query with the usual ones is five times as frequent. If a word is known from
    nowhere else and the usual ones are (`jersey lon gsleeve`), it must be only as frequent, or three times if a space
    is missing. A word that was typed once and that others never type is one if it is typed as two words five times or
    more (`brakepads disc`).

    >>> counts = {"diabetes": 40, "diabets": 4, "diabet": 1, "diabetic": 1, "vitamin c": 90, "vitamin d": 1}
    >>> [query for query in counts if Misspellings(counts).holds(query)]
    ['diabets', 'diabet']
    """

    def __init__(self, counts: Mapping[str, int], others: Mapping[str, int] | None = None) -> None:
        self._counts = _folded(counts)
        self._others = _folded(others or {})
        self._words: Counter[str] = Counter()
        self._pairs: Counter[tuple[str, str]] = Counter()  # words side by side
        for query, count in self._counts.items():
            for word in set(_PARTS.findall(query)):
                self._words[word] += count
            for pair in set(pairwise(query.split())):
                self._pairs[pair] += count
        self._by_rest: dict[str, list[str]] = defaultdict(list)
        for word, count in self._words.items():
            often = count >= (_TIMES_IF_RARE if len(word) >= _LONG_WORD else _TIMES)
            far = count >= _FAR_TIMES and _is_judged(word, _SHORTEST_MEANT)
            if (often and _is_judged(word, _SHORTEST_WORD)) or far or self._is_known(word):
                for rest in _rests(word):
                    self._by_rest[rest].append(word)
        self._on_other_keys: dict[str, int] = {}  # what is typed if the keyboard was not switched
        self._keyboard = keyboard = usual_keyboard(self._counts)
        for query, count in self._counts.items():
            keys = on_latin_keys(query) or [keyboard.get(letter, letter) for letter in query]
            if (typed := "".join(keys)) != query:
                self._on_other_keys[typed] = count
        self._endings = Endings(self._words)
        self._meant: dict[str, list[str]] = {}
        self._by_letters: dict[str, str] = {}  # the most frequent query with these letters
        for query, count in self._counts.items():
            usual = self._by_letters.setdefault(query.replace(" ", ""), query)
            if count > self._counts[usual]:
                self._by_letters[query.replace(" ", "")] = query

    def holds(self, query: str) -> bool:
        """Tell whether `query` is probably a typing mistake."""
        folded, spaced = (" ".join(fold(query, hyphen).split()) for hyphen in ("", " "))
        if self._is_on_other_keys(query, self._counts.get(folded, 1)):
            return True
        if is_without_spaces(query):
            return self._is_half_composed(folded)
        if self._is_otherwise_spaced(folded, spaced) or any(map(self._is_joined, _PARTS.findall(spaced))):
            return True
        parts = _PARTS.findall(folded)
        return any(self._is_slip(parts, place) for place in range(len(parts)))

    def meant_by(self, word: str) -> list[str]:
        """Return the more frequent words that may be meant by a word, the most frequent first."""
        return sorted(self._near(fold(word)), key=lambda meant: (-self._words[meant], meant))

    def _is_slip(self, parts: list[str], place: int) -> bool:
        word, last, alone = parts[place], place == len(parts) - 1, len(parts) == 1
        if not _is_judged(word, _SHORTEST_MEANT + alone):
            return False
        typed = self._counts.get("".join(parts), 1)
        for meant in self._near(word):
            if not last and abs(len(meant) - len(word)) > 1:
                continue
            corrected = self._counts.get("".join([*parts[:place], meant, *parts[place + 1 :]]), 0)
            right = (
                self._is_of_others(word, meant)
                or self._ends_as_another(word, meant)
                or self._is_of_the_log(word, meant, typed)
            )
            if not (right and alone) and self._is_slip_into_a_word(word, meant, corrected / typed):
                return True
            if right:
                continue
            if corrected >= self._needed(word, meant, typed, alone) or self._is_long_slip(word, meant):
                return True
            if self._is_unknown_slip(word, meant):
                return True
        return False

    def _is_on_other_keys(self, query: str, typed: int) -> bool:
        """Tell whether a query is another one, or all words of it are, on a keyboard that was not switched.

        >>> slips = Misspellings({"умные часы": 5, "лампы": 3, "evyst xfcs": 1, "evyst kfvgs": 1})
        >>> slips.holds("evyst xfcs"), slips.holds("evyst kfvgs"), slips.holds("smart lamp")
        (True, True, False)
        """
        if self._on_other_keys.get(query, 0) >= typed * (1 if len(query) >= _SHORTEST_ON_OTHER_KEYS else _TIMES):
            return True
        translated = "".join(self._keyboard.get(letter, letter) for letter in query)
        pairs = zip(query.split(" "), translated.split(" "), strict=True) if query.isascii() else ()
        meant = [(word, fold(other)) for word, other in pairs if not other.isascii()]
        return any(len(word) >= _SHORTEST_ON_OTHER_KEYS for word, _ in meant) and all(
            self._words[other] >= _TIMES_IF_RARE and self._words[other] > self._words[word] for word, other in meant
        )

    def _is_half_composed(self, query: str) -> bool:
        """Tell whether a query ends with letters that were not yet a syllable, and far more go on from what is before.

        >>> Misspellings({"たまご": 5, "たまg": 1}).holds("たまg"), Misspellings({"ポケモンgo": 1}).holds("ポケモンgo")
        (True, False)
        """
        found = _HALF_COMPOSED.search(query)
        if not found:
            return False
        begun = sum(count for text, count in self._counts.items() if text.startswith(found[1]) and text != query)
        return begun >= _TIMES * self._counts.get(query, 1)

    def _is_otherwise_spaced(self, query: str, spaced: str) -> bool:
        """Tell whether a query that is typed hardly ever differs from a usual one in spaces, not in hyphens alone.

        `spaced` is the query with spaces for hyphens.
        """
        typed = self._counts.get(query, 1)
        usual = self._by_letters.get(query.replace(" ", ""), query)
        if typed > _RARE_WORD or usual in (query, spaced):
            return False
        words, usual_words = set(query.split()) - set(usual.split()), set(usual.split()) - set(query.split())
        is_usual = all(self._words[word] > self._counts[usual] or word in self._others for word in usual_words)
        if not is_usual or all(self._words[word] > typed or word in self._others for word in words):
            return self._counts[usual] >= _TIMES * typed
        return self._counts[usual] >= typed * (_INNER_TIMES if query.count(" ") < usual.count(" ") else 1)

    def _is_joined(self, word: str) -> bool:
        """Tell whether a word that was typed once, and others never type, is often typed as two words."""
        if self._words[word] > 1 or word in self._others or not word.isalpha():
            return False
        cuts = range(_SHORTEST_JOINED, len(word) - _SHORTEST_JOINED + 1)
        return any(self._pairs[word[:cut], word[cut:]] >= _TIMES for cut in cuts)

    def _needed(self, word: str, meant: str, typed: int, alone: bool) -> float:
        """Return how often the correct query must have been typed."""
        strange, shorter = self._is_strange(word, meant), min(len(word), len(meant))
        if len(word) < _SHORTEST_UNKNOWN + alone:
            return typed * _FAR_TIMES if strange else math.inf
        if self._words[word] <= _RARE_WORD and strange:
            return typed * (_TIMES_IF_RARE if word in self._others else 1)
        if self._is_inner_slip(word, meant, _INNER_WORD, _INNER_TIMES) and typed == 1:
            return typed
        times = 1 if self._words[word] <= _RARE_WORD else _INNER_TIMES  # `abmelden` is typed as often as `anmelden`
        if self._is_inner_slip(word, meant, _LONG_WORD, times) and (strange or word not in self._others):
            return typed + 1
        if shorter < _SHORTEST_WORD + alone:
            return typed * _FAR_TIMES
        return typed * (_TIMES_IF_RARE if self._words[meant] >= _WORD_TIMES * self._words[word] else _TIMES)

    def _is_strange(self, word: str, meant: str) -> bool:
        """Tell whether others type what may be meant, and the word hardly ever."""
        return _STRANGE * self._others.get(word, 0) < self._others.get(meant, 0)

    def _is_known(self, word: str) -> bool:
        """Tell whether others know a word that may be meant."""
        return word in self._others and _is_judged(word, _SHORTEST_UNKNOWN)

    def _is_of_others(self, word: str, meant: str) -> bool:
        """Tell whether other people type a word too, not only now and then instead of what may be meant."""
        typed = self._others.get(word, 0)
        return typed > _RARE_WORD and 0 < self._others.get(meant, 0) <= _OTHERS * typed

    def _is_of_the_log(self, word: str, meant: str, typed: int) -> bool:
        """Tell whether a word is typed here in other queries, too, and not much more seldom than a near one.

        It may be much rarer if other people type it (`yogurt` beside `yoghurt`).
        """
        if self._words[word] < typed + _ELSEWHERE or self._is_strange(word, meant):
            return False
        return _WORD_TIMES * self._words[word] > self._words[meant] or self._others.get(word, 0) > _RARE_WORD

    def _is_long_slip(self, word: str, meant: str) -> bool:
        return self._is_inner_slip(word, meant, _LONG_WORD, _WORD_TIMES)

    def _is_slip_into_a_word(self, word: str, meant: str, times: float) -> bool:
        """Tell whether even a right word is a slip, in a query that is so many times as frequent without it."""
        if times >= _FAR_TIMES and _is_swapped(word, meant):
            return True
        kept = len(word) != len(meant) or _is_swapped(word, meant)  # no letter was replaced
        enough = _INNER_TIMES if kept else _FAR_TIMES
        return times >= enough and self._words[word] <= 1 and _is_of_the_hand(word, meant)

    def _is_unknown_slip(self, word: str, meant: str) -> bool:
        """Tell whether a word that was typed once, and others never type, is near one that all type, or many here."""
        if self._words[word] > 1 or word in self._others or not _is_of_the_hand(word, meant):
            return False
        known = meant in self._others and self._is_inner_slip(word, meant, _UNKNOWN_WORD, _INNER_TIMES)
        return known or self._is_inner_slip(word, meant, _SHORTEST_WORD, _FAR_TIMES)

    def _ends_as_another(self, word: str, meant: str) -> bool:
        """Tell whether a word is made of another one of the log, and what may be meant is not: `gewerbeabmeldung`."""
        parts = [word[place:] for place in range(1, len(word) - _SHORTEST_PART + 1)]
        return any(self._words[part] >= _TIMES_IF_RARE and not meant.endswith(part) for part in parts)

    def _is_inner_slip(self, word: str, meant: str, letters: int, times: int) -> bool:
        """Tell whether words of so many letters differ in more than their ending, and one is so much rarer."""
        shorter = min(len(word), len(meant))
        begin = shorter - (len(word) == len(meant))  # the length of the part before an ending that may differ
        frequent = self._words[meant] >= times * self._words[word]
        near = is_near(word, meant) or _is_doubled_elsewhere(word, meant)
        return frequent and shorter >= letters and word[:begin] != meant[:begin] and near

    def _near(self, word: str) -> list[str]:
        """Return the words, as frequent or more, that the user may have meant by `word`."""
        if word not in self._meant:
            found = {meant for rest in (word, *_rests(word)) for meant in self._by_rest.get(rest, ())}
            self._meant[word] = [meant for meant in found if self._may_mean(word, meant)]
        return self._meant[word]

    def _may_mean(self, word: str, meant: str) -> bool:
        if _is_plural(word, meant) or self._endings.take_turns(word, meant):
            return False
        here = self._words[meant] - self._words[word]
        begins_so = word[:1] == meant[:1] or word == meant[1:] or _is_swapped(word, meant)
        if self._is_strange(word, meant):
            begins_so = begins_so or self._words[word] <= _RARE_WORD  # `eaudiobooks`, often, are no `audiobooks`
            return here >= 0 and word != meant and begins_so and _is_alike(word, meant)
        return here > 0 and begins_so and _is_alike(word, meant)


def _folded(counts: Mapping[str, int]) -> Counter[str]:
    folded: Counter[str] = Counter()
    for text, count in counts.items():
        folded[" ".join(fold(text).split())] += count
    return folded


@dataclass(frozen=True, slots=True)
class WithoutMisspellings(Dataset):
    """A dataset without misspellings; test rows that are asked, not learned, stay as they were typed."""

    data: Dataset
    others: Mapping[str, int] = field(default_factory=dict, repr=False)  # how often others type each word
    _found: list[Misspellings] = field(default_factory=list, init=False, repr=False)
    _found_in_all: list[Misspellings] = field(default_factory=list, init=False, repr=False)  # in all splits together

    _left_out: list[dict[str, int]] = field(default_factory=list, init=False, repr=False)

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

    def written_forms(self) -> Iterator[tuple[str, str]]:
        return self.data.written_forms()

    def rows(self, split: Split) -> Sequence[str]:
        rows = self.data.rows(split)
        return rows if split is Split.TEST else [row for row in rows if not self._misspellings().holds(row)]

    def sessions(self, split: Split) -> Sequence[list[str]]:
        sessions = self.data.sessions(split)
        if split is Split.TEST:
            return sessions
        return [[query for query in session if not self._misspellings().holds(query)] for session in sessions]

    def learnable(self, split: Split) -> dict[str, int]:
        misspellings = self._misspellings_in_all()
        return {query: count for query, count in self.data.learnable(split).items() if not misspellings.holds(query)}

    def about(self) -> dict[str, Any]:
        left_out = self.left_out()
        said = f"{len(left_out):,} left out, typed {sum(left_out.values()):,} times"
        return {**self.data.about(), **({"misspellings": said} if left_out else {})}

    def left_out(self) -> dict[str, int]:
        if not self._left_out:
            table, misspellings = self.data.all_table(), self._misspellings_in_all()
            self._left_out.append({query: count for query, count in table.items() if misspellings.holds(query)})
        return self._left_out[0]

    def _misspellings(self) -> Misspellings:
        if not self._found:
            self._found.append(Misspellings(self.data.table(Split.TRAIN), self.others))
        return self._found[0]

    def _misspellings_in_all(self) -> Misspellings:
        if not self._found_in_all:
            self._found_in_all.append(Misspellings(self.data.all_table(), self.others))
        return self._found_in_all[0]


def left_out_path(output: Path) -> Path:
    """Return where the queries are listed that the model file `output` did not learn."""
    return output.with_name(f"{output.name}.left-out.tsv")


def write_left_out(output: Path, left_out: Mapping[str, int]) -> None:
    """List the queries that a model did not learn, one `query<TAB>count` per line; no list if it learned all."""
    path = left_out_path(output)
    if not left_out:
        path.unlink(missing_ok=True)
        return
    with whole_file(path) as file:
        file.writelines(f"{query}\t{count}\n".encode() for query, count in left_out.items())


def _is_swapped(one: str, other: str) -> bool:
    """Tell whether two words differ in the order of two neighbouring letters."""
    return len(one) == len(other) and sorted(one) == sorted(other) and is_near(one, other)


def _is_of_the_hand(word: str, meant: str) -> bool:
    """Tell whether a near word is how the hand slips: a letter is missing, swapped, doubled or of a key beside it.

    >>> _is_of_the_hand("londpn", "london"), _is_of_the_hand("vacccine", "vaccine")
    (True, True)
    >>> _is_of_the_hand("commuter", "computer")
    False
    """
    place = common_beginning(word, meant)
    if len(word) > len(meant):
        return word[place] == word[place - 1]
    if len(word) < len(meant) or _is_swapped(word, meant):
        return True
    return word[place].isascii() and meant[place].isascii() and meant[place] in neighbours(word[place])


def _is_judged(word: str, shortest: int) -> bool:
    return len(word) >= shortest and word.isalpha()  # a different number is not a typing mistake


def _is_plural(one: str, other: str) -> bool:
    longer, shorter = sorted((one, other), key=len, reverse=True)
    return longer == shorter + "s" and not shorter.endswith("s")


def _is_alike(word: str, meant: str) -> bool:
    return is_near(word, meant) or _is_cut_off(word, meant) or _is_doubled_elsewhere(word, meant)


def _is_doubled_elsewhere(word: str, meant: str) -> bool:
    """Tell whether another letter of a word is doubled than is meant.

    >>> _is_doubled_elsewhere("brocolli", "broccoli"), _is_doubled_elsewhere("brocoli", "cauliflower")
    (True, False)
    """
    return word != meant and len(word) == len(meant) and _DOUBLED.sub(r"\1", word) == _DOUBLED.sub(r"\1", meant)


def _is_cut_off(word: str, meant: str) -> bool:
    return meant.startswith(word) and 0 < len(meant) - len(word) <= _MOST_MISSING


def _rests(word: str) -> Iterator[str]:
    """Yield shortened forms of a word; near words share one, or one word is a shortened form of the other."""
    yield word
    for place in range(len(word)):
        yield word[:place] + word[place + 1 :]
    for missing in range(2, _MOST_MISSING + 1):
        yield word[:-missing]
