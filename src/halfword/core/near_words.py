"""Mistyped words of rules: `suicde` is read as `suicide` too, unless it is a word of its own.

A word that no one knows may be a word of the rules with one mistake: a letter too many, a missing or wrong one, or two
letters swapped. Words that are right although they are near (`steak`, `steal`) must be known, or harmless texts would
be blocked.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, product

from halfword.core.text import common_beginning

# Short words have many neighbours. So they are only read as part of a phrase, whose other words must fit too; only long
# words that begin as typed are enough alone.
_SHORTEST, _SHORTEST_ALONE = 4, 7  # letters of the word that is meant; what was typed may have one less
_MOST_READINGS = 16  # of one text; each word of it may stand for several
_MOST_REMEMBERED = 1 << 14  # words; they take 4 MB at the most


def is_near(typed: str, meant: str) -> bool:
    """Tell whether one mistake makes one word of the other.

    >>> [is_near(typed, "method") for typed in ("metod", "mehtod", "methods", "mathod", "method", "metdo")]
    [True, True, True, True, False, False]
    """
    place = common_beginning(typed, meant)
    if place == min(len(typed), len(meant)):
        return abs(len(typed) - len(meant)) == 1
    if len(typed) != len(meant):
        longer, shorter = (typed, meant) if len(typed) > len(meant) else (meant, typed)
        return longer[place + 1 :] == shorter[place:]
    swapped = typed[place : place + 2] == meant[place : place + 2][::-1]
    return typed[place + 1 :] == meant[place + 1 :] or (swapped and typed[place + 2 :] == meant[place + 2 :])


class NearWords:
    """Finds the words of rules that a word may be meant for.

    >>> near = NearWords(["suicide", "method"], right=["methods"])
    >>> [near.meant(word) for word in ("suicde", "methods", "mehtod", "weather")]
    [['suicide'], (), ['method'], []]
    """

    def __init__(self, words: Iterable[str], right: Iterable[str] = ()) -> None:
        words = {word for word in words if _is_plain(word)}
        targets = {word for word in words if len(word) >= _SHORTEST}
        # Two words that are near are equal once one letter at most is taken out of each.
        self._shortened: dict[str, str] = {}
        for word in targets:
            for short in _shortened(word):
                self._shortened[short] = f"{known} {word}" if (known := self._shortened.get(short)) else word
        self._right = frozenset(words.union(right))
        self._longest = max(map(len, targets), default=0) + 1
        self._far = set(self._right)  # words that are meant for no other
        self._meant: dict[str, list[str]] = {}  # what other words may be meant for

    def are_far(self, words: Sequence[str]) -> bool:
        """Tell whether no word is near to one of the rules; fast, as most words have been seen before."""
        return self._far.issuperset(words) or not any(map(self.meant, words))

    def meant(self, word: str) -> Sequence[str]:
        """Return the words that a word may be meant for; none if it is right."""
        if word in self._far or len(word) > self._longest:
            return ()
        found = self._meant.get(word)
        if found is None:
            found = sorted(self._candidates(word)) if len(word) >= _SHORTEST - 1 and _is_plain(word) else []
            self._remember(word, found)
        return found

    def phrases(self, words: Sequence[str]) -> Iterator[list[str]]:
        """Yield what the words of a text may be meant for, to be looked for in phrases."""
        return _readings([self.meant(word) or [word] for word in words])

    def long_words(self, words: Sequence[str]) -> Iterator[list[str]]:
        """Yield what a text may be meant for where only long words are mistyped, not in their first letter."""
        return _readings([[each for each in self.meant(word) if _alone(word, each)] or [word] for word in words])

    def _remember(self, word: str, found: list[str]) -> None:
        """Keep what was found; once that is too much, all is forgotten. Other threads may do the same meanwhile."""
        if len(self._far) + len(self._meant) >= _MOST_REMEMBERED + len(self._right):
            self._far, self._meant = set(self._right), {}
        if found:
            self._meant[word] = found
        else:
            self._far.add(word)

    def _candidates(self, word: str) -> set[str]:
        found = [self._shortened[short] for short in _shortened(word) if short in self._shortened]
        return {each for each in " ".join(found).split() if is_near(word, each)} if found else set()


def _shortened(word: str) -> set[str]:
    """Return a word, and all that are left of it without one letter."""
    return {word, *(word[:place] + word[place + 1 :] for place in range(len(word)))}


def _readings(choices: Sequence[Sequence[str]]) -> Iterator[list[str]]:
    return map(list, islice(product(*choices), _MOST_READINGS))


def _alone(typed: str, meant: str) -> bool:
    return len(meant) >= _SHORTEST_ALONE and (typed[0] == meant[0] or typed[:2] == meant[1::-1])


def _is_plain(word: str) -> bool:
    return word.isascii() and word.isalpha()
