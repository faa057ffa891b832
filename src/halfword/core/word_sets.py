"""The sets of words that a rules file defines, and which word of a rule is the rarest."""

from collections.abc import Iterable, Mapping

from halfword.core.rules import GAPS, ORDINARY, Phrase

Members = dict[str, list[Phrase]]  # of a set: the first word of each, and what follows it
_Cost = tuple[int, int, int]
# The most frequent words of English. They only decide what is looked up first; no answer depends on them.
_FREQUENT = frozenset(
    """
    a about all an and any are as at be best by can do does for from get go going has have he her him his how i in is it
    like make me my need new no not of off on one or our out over people she should some that the their them they this
    time to up use want was way we what when where which who why will with without would you your
    """.split()  # noqa: SIM905
)


class WordSets:
    """What the elements of rules stand for: `@name` for a member of a set, `~name` for a word outside of it."""

    def __init__(self, sets: Mapping[str, set[Phrase]]) -> None:
        self._sets = sets
        self._ordinary = frozenset(word for words in sets.get(ORDINARY, ()) for word in words)
        self._members: dict[str, Members] = {}
        self._rarest: dict[str, tuple[_Cost, frozenset[str]]] = {}

    def is_set(self, element: str) -> bool:
        """Tell whether an element stands for the members of a set."""
        return element[0] == "@" and element[1:] in self._sets

    def is_other(self, element: str) -> bool:
        """Tell whether an element stands for a word outside of a set."""
        return element[0] == "~" and element[1:] in self._sets

    def members(self, element: str) -> Members:
        """Return the members of the set that an element names."""
        name = element[1:]
        if name not in self._members:
            members: Members = {}
            for words in self._sets[name]:
                members.setdefault(words[0], []).append(words[1:])
            self._members[name] = members
        return self._members[name]

    def alternatives(self, element: str) -> Iterable[Phrase]:
        """Return the phrases that an element stands for."""
        return self._sets[element[1:]] if self.is_set(element) else [(element,)]

    def rarest(self, phrase: Phrase) -> frozenset[str]:
        """Return words of which one is in every text that holds `phrase`: those of its rarest element."""
        named = [element for element in phrase if element not in GAPS and not self.is_other(element)]
        return min([self._rarest_of(element) for element in named])[1]

    def _rarest_of(self, element: str) -> tuple[_Cost, frozenset[str]]:
        """Return the rarest word of each alternative of an element, and what it costs to look for them."""
        if element not in self._rarest:
            words = frozenset(max(words, key=self._rarity) for words in self.alternatives(element))
            cost = (len(words & _FREQUENT), len(words & self._ordinary), len(words))
            self._rarest[element] = cost, words
        return self._rarest[element]

    def _rarity(self, word: str) -> tuple[bool, bool, int]:
        return word not in _FREQUENT, word not in self._ordinary, len(word)
