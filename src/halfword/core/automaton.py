"""One automaton for all rules of words: its work depends on the length of a text, hardly on the number of rules."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from halfword.core.rules import GAPS, ORDINARY, Phrase

Words = Sequence[str | None]  # None stands for a word that an exception covers; nothing matches it
Cost = tuple[int, int, int]
Members = dict[str, list[Phrase]]  # of a set: the first word of each, and what follows it
# The most frequent words of English. They only decide what is looked up first; no answer depends on them.
_FREQUENT = frozenset(
    """
    a about all an and any are as at be best by can do does for from get go going has have he her him his how i in is it
    like make me my need new no not of off on one or our out over people she should some that the their them they this
    time to up use want was way we what when where which who why will with without would you your
    """.split()  # noqa: SIM905
)
# A language model may stop before the end of a word ("how to commit suicid"). A last word of at least five letters is
# also read as a rule's last word that has one or two letters more.
_SHORTEST_STEM, _MOST_MISSING = 5, 2


class Node:
    """Where a rule stands after some of its words."""

    __slots__ = ("ends", "gaps", "longer", "others", "sets", "words")

    def __init__(self) -> None:
        self.ends = False  # whether a rule is complete here
        self.longer = False  # whether a rule goes on from here
        self.words: dict[str, Node] = {}
        self.sets: list[tuple[Members, Node]] = []
        self.others: list[tuple[Members, Node]] = []  # a word outside of the set leads to the node
        self.gaps: list[tuple[int, Node]] = []  # up to so many words may be passed over


class Automaton:
    """Finds phrases, written as in a rules file, among the words of a text.

    >>> automaton = Automaton([("make", "..", "@drug")], {"drug": {("meth",), ("crack", "cocaine")}})
    >>> list(automaton.spans("how to make pure crack cocaine at home".split()))
    [(2, 6)]
    """

    def __init__(self, phrases: Iterable[Phrase], sets: Mapping[str, set[Phrase]]) -> None:
        self._sets = sets
        self._members: dict[str, Members] = {}
        self._ordinary = frozenset(word for words in sets.get(ORDINARY, ()) for word in words)
        self._rarest: dict[str, tuple[Cost, frozenset[str]]] = {}
        self._steps: dict[tuple[int, str], Node] = {}  # what follows a node by an element of a rule
        root, self._phrases = Node(), list(phrases)
        for phrase in self._phrases:
            self._add(root, phrase)
        self._first = _by_first_word(root)

    @cached_property
    def triggers(self) -> frozenset[str]:
        """Words of which every text that holds a phrase has one."""
        return frozenset().union(*map(self.rarest, self._phrases))

    def spans(self, words: Words) -> Iterator[tuple[int, int]]:
        """Yield where phrases lie: the first word, and the one after the last."""
        return ((start, place) for start, node, place in self._walk(words) if node.ends)

    def finds(self, words: Words, shortest: int = 1) -> bool:
        """Tell whether a phrase of at least `shortest` words lies among the words."""
        return any(node.ends and place - start >= shortest for start, node, place in self._walk(words))

    @cached_property
    def unfinished(self) -> dict[str, list[str]]:
        """The last words of phrases by what is left of them when their last letters are missing."""
        found: dict[str, list[str]] = {}
        for element in {phrase[-1] for phrase in self._phrases if len(phrase) > 1}:
            for word in {words[-1] for words in self._alternatives(element)}:
                for length in range(max(_SHORTEST_STEM, len(word) - _MOST_MISSING), len(word)):
                    found.setdefault(word[:length], []).append(word)
        return found

    def may_go_on(self, words: Words) -> bool:
        """Tell whether more words behind these could make up a phrase that begins among them."""
        end = len(words)
        return any(place == end and node.longer for _, node, place in self._walk(words))

    def _walk(self, words: Words) -> Iterator[tuple[int, Node, int]]:
        """Yield every node that is reached: where its rule began, the node, and the place of the next word."""
        for start, word in enumerate(words):
            if word not in self._first:
                continue
            waiting: list[tuple[Node, int]] = []
            for rest, node in self._first[word]:
                if not rest:
                    waiting.append((node, start + 1))
                elif _stands(rest, words, start + 1):
                    waiting.append((node, start + 1 + len(rest)))
            while waiting:
                node, place = waiting.pop()
                yield start, node, place
                if node.longer:
                    _follow(node, words, place, waiting)

    def _add(self, node: Node, phrase: Phrase) -> None:
        for element in phrase:
            key = (id(node), element)
            if key not in self._steps:
                self._steps[key] = self._step(node, element)
            node = self._steps[key]
        node.ends = True

    def _step(self, node: Node, element: str) -> Node:
        """Return a new node that `element` leads to from `node`."""
        made, node.longer = Node(), True
        if element in GAPS:
            node.gaps.append((GAPS[element], made))
        elif element[1:] in self._sets and element[0] in "@~":
            edges = node.sets if element[0] == "@" else node.others
            edges.append((self._members_of(element[1:]), made))
        else:
            node.words[element] = made
        return made

    def _members_of(self, name: str) -> Members:
        if name not in self._members:
            members: Members = {}
            self._members[name] = members
            for words in self._sets[name]:
                members.setdefault(words[0], []).append(words[1:])
        return self._members[name]

    def rarest(self, phrase: Phrase) -> frozenset[str]:
        """Return words of which one is in every text that holds `phrase`: those of its rarest element."""
        named = [word for word in phrase if word not in GAPS and not (word[0] == "~" and word[1:] in self._sets)]
        return min([self._rarest_of(element) for element in named])[1]

    def _rarest_of(self, element: str) -> tuple[Cost, frozenset[str]]:
        """Return the rarest word of each alternative that an element allows, and what it costs to look for them."""
        if element not in self._rarest:
            words = frozenset(max(words, key=self._rarity) for words in self._alternatives(element))
            cost = (len(words & _FREQUENT), len(words & self._ordinary), len(words))
            self._rarest[element] = cost, words
        return self._rarest[element]

    def _alternatives(self, element: str) -> Iterable[Phrase]:
        return self._sets[element[1:]] if element[0] == "@" and element[1:] in self._sets else [(element,)]

    def _rarity(self, word: str) -> tuple[bool, bool, int]:
        return word not in _FREQUENT, word not in self._ordinary, len(word)


def _by_first_word(root: Node) -> dict[str | None, list[tuple[Phrase, Node]]]:
    """Return, for each word that a rule can begin with, the rest of the set's member that it begins, and the node."""
    first: dict[str | None, list[tuple[Phrase, Node]]] = {word: [((), node)] for word, node in root.words.items()}
    for members, node in root.sets:
        for word, rests in members.items():
            first.setdefault(word, []).extend([(rest, node) for rest in rests])
    return first


def _follow(node: Node, words: Words, place: int, waiting: list[tuple[Node, int]]) -> None:
    """Add to `waiting` what can be reached from `node` by the word at `place`."""
    if place < len(words) and (word := words[place]) is not None:
        if word in node.words:
            waiting.append((node.words[word], place + 1))
        for members, reached in node.sets:
            if word in members:
                for rest in members[word]:
                    if not rest or _stands(rest, words, place + 1):
                        waiting.append((reached, place + 1 + len(rest)))
        for members, reached in node.others:
            if len(word) > 1 and () not in members.get(word, ()):
                waiting.append((reached, place + 1))
    for width, reached in node.gaps:
        for skipped in range(min(width, len(words) - place) + 1):
            if None in words[place : place + skipped]:
                break
            waiting.append((reached, place + skipped))


def _stands(rest: Phrase, words: Words, place: int) -> bool:
    """Tell whether `rest` stands at `place`."""
    if place >= len(words) or words[place] != rest[0]:
        return False
    return len(rest) == 1 or tuple(words[place : place + len(rest)]) == rest
