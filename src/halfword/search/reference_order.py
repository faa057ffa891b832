"""Known queries that hold the typed words in another order, in plain Python: what the engine must equal.

All typed words must be in the query, each in a place of its own, the last one by its beginning unless a space
follows it; spellings that fold to the same key are one word. Of the typed words that are whole, the one that the
fewest queries hold is looked up. Of a word only its most typed queries are listed; where some are left out, or no typed
word is whole, those of the words are looked at too that are held by most queries and begin with the last typed one.
"""

from collections import Counter
from collections.abc import Mapping

from halfword.core.folding import fold
from halfword.core.policy import Policy


class PlainOrder:
    """The queries by their words."""

    def __init__(self, counts: Mapping[str, int], policy: Policy, *, fewest: int, most: int) -> None:
        self._counts, self._policy, self._most = counts, policy, most
        queries = [query for query in counts if " " in query]
        held = Counter(word for query in queries for word in _keys(query))
        often: Counter[str] = Counter()
        for query in queries:
            often.update(dict.fromkeys(_keys(query), counts[query]))
        self._held = {word: number for word, number in held.items() if often[word] >= fewest}

    def find(self, prefix: str, *, folds: bool = True) -> dict[str, int]:
        """Return queries with all words of a prefix, and how many characters of each stand for them."""
        *whole, begun = prefix.split(" ")
        ended = not begun and bool(whole)  # a space after the last word: it is whole, too
        if ended:
            *whole, begun = whole
        keys = [key for word in whole if (key := fold(word))]  # of a hyphen between spaces there is none
        if not fold(begun) or (whole and not keys) or any(key not in self._held for key in keys):
            return {}
        rarest = min(keys, key=lambda word: self._held[word], default=None)
        looked_at = self._listed(rarest) if rarest else []
        if rarest is None or len(looked_at) < self._held[rarest]:
            words = [word for word in self._held if word.startswith(fold(begun))]
            words.sort(key=lambda word: (-self._held[word], word.encode()))
            for word in words[: int(self._policy.reordered_most_begun)]:
                looked_at += self._listed(word)
        looked_at = looked_at[: int(self._policy.reordered_most_checked)]
        others = [query for query in looked_at if not query.startswith(prefix) and query != prefix.rstrip()]
        matched = {query: _matched(query, whole, begun, ended=ended, folds=folds) for query in others}
        found = sorted((query for query in matched if matched[query]), key=self._by_count)
        return {query: matched[query] for query in found[: int(self._policy.reordered_count)]}

    def _listed(self, word: str) -> list[str]:
        """Return the most typed queries that hold a word, in the order of the index."""
        holding = [query for query in self._counts if " " in query and word in _keys(query)]
        return sorted(sorted(holding, key=self._by_count)[: self._most], key=str.encode)

    def _by_count(self, query: str) -> tuple[int, bytes]:
        return -self._counts[query], query.encode()


def _keys(query: str) -> set[str]:
    return {key for word in query.split() if (key := fold(word))}


def _matched(query: str, whole: list[str], begun: str, *, ended: bool, folds: bool) -> int:
    """Return where the last typed word ends in a query; 0 if a word is missing."""
    spelled = fold if folds else str
    free, end, begin = list[tuple[str, int]](), 0, 0
    for word in query.split(" "):
        free.append((spelled(word), begin + len(word)))
        begin += len(word) + 1
    for number, wanted in enumerate(map(spelled, [*whole, begun])):
        if not wanted:
            continue
        last = number == len(whole) and not ended
        place = next((place for place in free if place[0] == wanted or (last and place[0].startswith(wanted))), None)
        if place is None:
            return 0
        free.remove(place)
        end = max(end, place[1])
    return end
