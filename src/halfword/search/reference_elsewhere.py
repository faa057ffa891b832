"""Known queries that do not go on from a text, but may be meant by it, in plain Python: what the engine must equal.

They have its words in another order or in the other number (`reference_order.py`), or have it inside a word
(`reference_inside.py`). If there are none, they are written with one space less or, in small sites, with another
ending. `counts` has the live changes.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from halfword.core.policy import Policy
from halfword.search.reference_inflections import in_other_number, singular_forms, without_endings
from halfword.search.reference_inside import find_inside
from halfword.search.reference_order import PlainOrder

Found = dict[str, int]  # queries, and how many characters of each stand for what was typed


@dataclass(frozen=True, slots=True)
class PlainElsewhere:
    """The known queries of this moment, and those of the log by their words."""

    counts: Mapping[str, int]
    policy: Policy
    other_order: PlainOrder | None
    folds: bool

    def find(self, text: str) -> Found:
        """Return the most typed queries that may be meant by a text."""
        ways = self._by_words(text)
        if not any(ways):
            ways = self._written_otherwise(text)
        known = {query: max(way.get(query, 0) for way in ways) for way in ways for query in way}
        most_typed = sorted(known, key=lambda query: (-self.counts[query], query.encode()))
        return {query: known[query] for query in most_typed[: int(self.policy.reordered_count)]}

    @property
    def _inflects(self) -> bool:
        return self.policy.reordered_inflected > 0

    def _by_words(self, text: str) -> list[Found]:
        """Return queries with the words of a text, its last word in the singular, others in the other number."""
        ways = [find_inside(self.counts, text, self.policy, folds=self.folds)]
        if self.other_order is not None:
            ways.append(self.other_order.find(text, folds=self.folds))
            for singular in singular_forms(text):
                ways += self._with_whole_words(singular, self.other_order)
            for other in in_other_number(text) if self._inflects else ():
                ways += [self.other_order.find(other, folds=self.folds), self._going_on(other)]
        return ways

    def _with_whole_words(self, text: str, other_order: PlainOrder) -> list[Found]:
        """Return queries that have the words of a text as they are, or are made of it."""
        begun = {query: len(text) for query in self.counts if f"{query} ".startswith(f"{text} ")}
        inside = find_inside(self.counts, text, self.policy, folds=self.folds, ending=True)
        return [other_order.find(f"{text} ", folds=self.folds), begun, inside]

    def _written_otherwise(self, text: str) -> list[Found]:
        """Return queries without one of the typed spaces, or, in small sites, without the ending of a word."""
        ways = [self._going_on(text[:-1])] if text.endswith(" ") else []  # it was typed too early
        for place in range(len(text) - 1) if self._inflects else ():
            if text[place] == " ":
                joined = text[:place] + text[place + 1 :]
                ways.append({query: len(joined) for query in self.counts if query.startswith(joined)})
        if self.other_order is not None and self._inflects:
            for stem in without_endings(text, self.policy.inside_fewest_ending):
                ways += [] if any(ways) else self._with_whole_words(stem, self.other_order)
        return ways

    def _going_on(self, begun: str) -> Found:
        """Return queries that go on from another text than the typed one, and how much of each that is."""
        return {query: len(begun) for query in self.counts if query.startswith(begun) and query != begun}
