"""Endings that take turns in the words of a log, as in `referto` and `referti`: how its language inflects words.

They tell slips from other forms of a word, and a small site finds its queries by other forms of their words:
`words.endings` of a model file is text, a line for each way to inflect: an ending, a space, and the one in its place.
Beginnings that words have or have not, as the Arabic article, are learned in the same way, with a hyphen after them.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import combinations

from halfword.core.folding import fold
from halfword.core.model_file import Array
from halfword.core.text import common_beginning

_LONGEST = 3  # letters of an ending
_SHORTEST_STEM = 3  # letters before it
_OFTEN = 2  # times that a word must be typed to count, since a slip is seldom made twice
_FEWEST = 3  # words in which two endings must take turns,
_SHARE = 0.04  # and the share of the words with the rarer ending: `model` and `modem` are an accident
_LONGEST_FOUND = 2  # letters of an ending in whose place queries are looked for with another,
_FEWEST_FOUND = 4  # words in which these two must take turns,
_SHARE_FOUND = (
    0.08  # and the share: `a` and `e` have 13 % in an Italian town's log, `heat` and `heater` 7 % in a shop's
)
_MOST_FOUND = 32  # such pairs
_ENGLISH = {"", "s"}  # which every model knows (`engine/text/inflections.h`)


class Endings:
    """Tells other forms of a word from slips, in whatever language the log is.

    A form without an ending is that of others, not of the word in question: such a word is more often cut short than
    inflected (`vaccin` beside `vaccine`, but `fahrradtaschen` beside `fahrradtasche`).

    >>> words = ("corso", "corsi", "referto", "referti", "medico", "medici", "orario")
    >>> endings = Endings(dict.fromkeys(words, 2))
    >>> endings.take_turns("ritiro", "ritiri"), endings.take_turns("orarip", "orario"), endings.take_turns("tac", "cup")
    (True, False, False)
    """

    def __init__(self, words: Mapping[str, int]) -> None:
        self._stems: dict[str, set[str]] = defaultdict(set)  # by their endings
        for word, count in words.items():
            if count >= _OFTEN and word.isalpha():
                self._stems[""].add(word)
                for length in range(1, min(_LONGEST, len(word) - _SHORTEST_STEM) + 1):
                    self._stems[word[-length:]].add(word[:-length])
        self._take_turns: dict[tuple[str, str], bool] = {}

    def take_turns(self, word: str, other: str) -> bool:
        """Tell whether a word differs from another in its ending alone, and these take turns in other words, too."""
        stem = common_beginning(word, other)
        endings = word[stem:], other[stem:]
        if stem < _SHORTEST_STEM or not endings[0] or max(map(len, endings)) > _LONGEST:
            return False
        if endings not in self._take_turns:
            rarer, commoner = sorted((self._stems.get(ending, set()) for ending in endings), key=len)
            self._take_turns[endings] = len(rarer & commoner) >= max(_FEWEST, _SHARE * len(rarer))
        return self._take_turns[endings]

    def pairs(self) -> Iterator[tuple[str, str]]:
        """Yield the endings that take turns in so many words that one form may be looked for by the other.

        >>> words = "corso corsi referto referti medico medici banco banchi tetto tetti".split()
        >>> list(Endings(dict.fromkeys(words, 2)).pairs())
        [('i', 'o'), ('o', 'i')]
        """
        short = sorted(ending for ending in self._stems if len(ending) <= _LONGEST_FOUND)
        often = [ending for ending in short if len(self._stems[ending]) >= _FEWEST_FOUND]
        found = []
        for one, other in combinations(often, 2):
            fewer, more = sorted((self._stems[one], self._stems[other]), key=len)
            both = len(fewer & more)
            if (
                one[:1] != other[:1]
                and {one, other} != _ENGLISH
                and both >= max(_FEWEST_FOUND, _SHARE_FOUND * len(fewer))
            ):
                found.append((both, one, other))
        for _, one, other in sorted(found, key=lambda pair: -pair[0])[:_MOST_FOUND]:
            yield one, other
            yield other, one


def learn_endings(counts: Mapping[str, int]) -> dict[str, Array]:
    """Return how the words of a log are inflected, as an array of a model file; none if nothing is known."""
    often: dict[str, int] = defaultdict(int)
    for query, count in counts.items():
        for word in set(fold(query, " ").split()):
            often[word] += count
    lines = "".join(f"{ending} {other}\n" for ending, other in Endings(often).pairs())
    reversed_words = {word[::-1]: count for word, count in often.items()}
    for one, other in Endings(reversed_words).pairs():
        if not (one and other):
            lines += f"{one[::-1]}- {other[::-1]}-\n"
    return {"words.endings": Array("U8", lines.encode())} if lines else {}
