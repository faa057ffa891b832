"""An automaton for rules of words: its work depends on the length of a text, hardly on the number of rules."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from halfword.core.rules import GAPS, Phrase
from halfword.core.word_sets import Members, WordSets

Words = Sequence[str | None]  # None stands for a word that an exception covers; nothing matches it
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

    >>> sets = WordSets({"drug": {("meth",), ("crack", "cocaine")}})
    >>> automaton = Automaton([(("make", "..", "@drug"), sets)])
    >>> list(automaton.spans("how to make pure crack cocaine at home".split()))
    [(2, 6)]
    """

    def __init__(self, phrases: Iterable[tuple[Phrase, WordSets]]) -> None:
        self._phrases = list(phrases)
        root, steps = Node(), dict[tuple[int, int, str], Node]()
        for phrase, sets in self._phrases:
            node = root
            for element in phrase:
                key = (id(node), id(sets), element)
                if key not in steps:
                    steps[key] = _step(node, element, sets)
                node = steps[key]
            node.ends = True
        self._first = _by_first_word(root)

    @cached_property
    def triggers(self) -> frozenset[str]:
        """Words of which every text that holds a phrase has one."""
        return frozenset().union(*(sets.rarest(phrase) for phrase, sets in self._phrases))

    @cached_property
    def unfinished(self) -> dict[str, list[str]]:
        """The last words of phrases by what is left of them when their last letters are missing."""
        found: dict[str, list[str]] = {}
        ends = {(phrase[-1], sets) for phrase, sets in self._phrases if len(phrase) > 1}
        for word in {words[-1] for element, sets in ends for words in sets.alternatives(element)}:
            for length in range(max(_SHORTEST_STEM, len(word) - _MOST_MISSING), len(word)):
                found.setdefault(word[:length], []).append(word)
        return found

    def spans(self, words: Words) -> Iterator[tuple[int, int]]:
        """Yield where phrases lie: the first word, and the one after the last."""
        return ((start, place) for start, node, place in self._walk(words) if node.ends)

    def finds(self, words: Words, shortest: int = 1) -> bool:
        """Tell whether a phrase of at least `shortest` words lies among the words."""
        return any(node.ends and place - start >= shortest for start, node, place in self._walk(words))

    def may_go_on(self, words: Words) -> bool:
        """Tell whether more words behind these could make up a phrase that begins among them."""
        end = len(words)
        return any(place == end and node.longer for _, node, place in self._walk(words))

    def _walk(self, words: Words) -> Iterator[tuple[int, Node, int]]:
        """Yield every node that is reached: where its rule began, the node, and the place of the next word."""
        for start, word in enumerate(words):
            if word not in self._first:
                continue
            waiting = [
                (node, start + 1 + len(rest))
                for rest, node in self._first[word]
                if not rest or _stands(rest, words, start + 1)
            ]
            while waiting:
                node, place = waiting.pop()
                yield start, node, place
                if node.longer:
                    _follow(node, words, place, waiting)


def _step(node: Node, element: str, sets: WordSets) -> Node:
    """Return a new node that `element` leads to from `node`."""
    made, node.longer = Node(), True
    if element in GAPS:
        node.gaps.append((GAPS[element], made))
    elif sets.is_set(element):
        node.sets.append((sets.members(element), made))
    elif sets.is_other(element):
        node.others.append((sets.members(element), made))
    else:
        node.words[element] = made
    return made


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
