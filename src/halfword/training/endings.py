"""Endings that take turns in the words of a log, as in `referto` and `referti`: how its language inflects words."""

from collections import defaultdict
from collections.abc import Mapping

from halfword.core.text import common_beginning

_LONGEST = 3  # letters of an ending
_SHORTEST_STEM = 3  # letters before it
_OFTEN = 2  # times that a word must be typed to count, since a slip is seldom made twice
_FEWEST = 3  # words in which two endings must take turns,
_SHARE = 0.04  # and the share of the words with the rarer ending: `model` and `modem` are an accident


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
