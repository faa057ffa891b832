"""Known queries that hold the typed words in another order, in plain Python: what the engine must equal.

All typed words must be in the query, each in a place of its own, the last one by its beginning unless a space
follows it. Names in programs have words between underscores. The parts of a word that apostrophes or hyphens join are
words of a query, too: `oignon` finds `soupe à l'oignon`. Spellings that fold to the same key are one word. Of the
typed words that are whole, the one that the fewest queries hold is looked up. Of a word only its most typed queries are
listed; where some are left out, or no typed word is whole, those of the words are looked at too that are held by most
queries and begin with the last typed one.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping

from halfword.core.folding import SIGNS, fold
from halfword.core.policy import Policy
from halfword.core.text import width_of

_WORD = re.compile("[^ _]+")
_PART = re.compile(f"[^ _{''.join(map(re.escape, sorted(SIGNS)))}]+")


def words_with_ends(query: str) -> Iterator[tuple[str, int]]:
    """Yield the words of a query, each followed by its parts, and where each ends.

    >>> list(words_with_ends("l'oignon")), list(words_with_ends("read_csv"))
    ([("l'oignon", 8), ('l', 1), ('oignon', 8)], [('read', 4), ('csv', 8)])
    """
    for word in _WORD.finditer(query):
        yield word[0], word.end()
        parts = list(_PART.finditer(query, word.start(), word.end()))
        if parts and parts[0][0] != word[0]:
            yield from ((part[0], part.end()) for part in parts)


def keys_of(query: str) -> set[str]:
    """Return the different folded words of a query; none where there is only one, which has no order.

    >>> sorted(keys_of("new york new york")), sorted(keys_of("pot-au-feu de noël")), keys_of("weather"), keys_of("a -")
    (['new', 'york'], ['au', 'de', 'feu', 'noel', 'pot', 'potaufeu'], set(), set())
    """
    keys = [key for word, _ in words_with_ends(query) if (key := fold(word))]
    return set(keys) if len(keys) > 1 else set()


class PlainOrder:
    """The queries by their words."""

    def __init__(self, counts: Mapping[str, int], policy: Policy, *, fewest: int, most: int) -> None:
        self._counts, self._policy, self._most = counts, policy, most
        held = Counter(word for query in counts for word in keys_of(query))
        often: Counter[str] = Counter()
        for query in counts:
            often.update(dict.fromkeys(keys_of(query), counts[query]))
        self._held = {word: number for word, number in held.items() if often[word] >= fewest}

    def find(self, prefix: str, *, folds: bool = True, abbreviated: bool = False) -> dict[str, int]:
        """Return queries with all words of a prefix, and how many characters of each stand for them.

        If they are abbreviated, each stands for a word that begins so; then all before the last must not be too short.
        """
        *whole, begun = prefix.replace("_", " ").split(" ")
        ended = not begun and bool(whole)  # a space after the last word: it is whole, too
        if ended:
            *whole, begun = whole
        keys = [key for word in whole if (key := fold(word))]  # of a hyphen between spaces there is none
        if not fold(begun) or (whole and not keys):
            return {}
        longest = max([begun, *whole], key=lambda word: len(fold(word).encode()))
        if abbreviated:
            fewest = self._policy.abbreviated_fewest_typed
            if not whole or any(width_of(fold(word)) < fewest for word in whole):
                return {}
        elif any(key not in self._held for key in keys):
            return {}
        rarest = None if abbreviated else min(keys, key=lambda word: self._held[word], default=None)
        looked_at = self._listed(rarest) if rarest else []
        if rarest is None or len(looked_at) < self._held[rarest]:
            words = [word for word in self._held if word.startswith(fold(longest if abbreviated else begun))]
            words.sort(key=lambda word: (-self._held[word], word.encode()))
            for word in words[: int(self._policy.reordered_most_begun)]:
                looked_at += self._listed(word)
        looked_at = looked_at[: int(self._policy.reordered_most_checked)]
        typed = prefix[:-1] if ended else prefix
        others = [query for query in looked_at if not query.startswith(prefix) and query != typed]
        matched = {query: _matched(query, whole, begun, ended, folds, abbreviated) for query in others}
        found = sorted((query for query in matched if matched[query]), key=self._by_count)
        return {query: matched[query] for query in found[: int(self._policy.reordered_count)]}

    def holds(self, word: str) -> bool:
        """Tell whether queries of several words hold a word."""
        return fold(word) in self._held

    def _listed(self, word: str) -> list[str]:
        """Return the most typed queries that hold a word, in the order of the index."""
        holding = [query for query in self._counts if word in keys_of(query)]
        return sorted(sorted(holding, key=self._by_count)[: self._most], key=str.encode)

    def _by_count(self, query: str) -> tuple[int, bytes]:
        return -self._counts[query], query.encode()


def _matched(query: str, whole: list[str], begun: str, ended: bool, folds: bool, abbreviated: bool) -> int:
    """Return where the last typed word ends in a query; 0 if a word is missing."""
    spelled = fold if folds else str
    free, end = [(spelled(word), end) for word, end in words_with_ends(query)], 0
    for number, wanted in enumerate(map(spelled, [*whole, begun])):
        if not wanted:
            continue
        is_begun = (number == len(whole) and not ended) or (number < len(whole) and abbreviated)
        fits = [place for place in free if place[0] == wanted or (is_begun and place[0].startswith(wanted))]
        place = next(iter(fits), None)
        if place is None:
            return 0
        free.remove(place)
        end = max(end, place[1])
    return end
