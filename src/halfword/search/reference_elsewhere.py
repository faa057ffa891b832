"""Known queries that do not go on from a text, but may be meant by it, in plain Python: what the engine must equal.

They have its words in another order or in another form (`reference_order.py`), or have it inside a word
(`reference_inside.py`), or, in small sites, are written with one space less. If there are none, the last space may have
been typed too early, or, in small sites, a word may have another ending. `counts` has the live changes.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from halfword.core.folding import fold
from halfword.core.policy import Policy
from halfword.core.text import width_of
from halfword.search.reference_folding import lacks_marks
from halfword.search.reference_inflections import (
    changed_plural,
    in_other_number,
    other_forms,
    singular_before,
    singular_forms,
    without_endings,
)
from halfword.search.reference_inside import find_inside
from halfword.search.reference_order import PlainOrder

_MOST_WORDS = 16  # of a longer text no other way to write it is looked for
_SHORT_ENDINGS = 2  # letters of an ending without which a word is looked for everywhere
_LONGEST_CUT = 12  # letters without which it is looked for as a whole word
Found = dict[str, int]  # queries, and how many characters of each stand for what was typed


class Way(NamedTuple):
    """Queries that were found in one way, and how much each time counts that one of them was typed."""

    found: Found
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class PlainElsewhere:
    """The known queries of this moment, and those of the log by their words."""

    counts: Mapping[str, int]
    policy: Policy
    other_order: PlainOrder | None
    folds: bool
    endings: Sequence[tuple[str, str]] = ()  # that take turns in the words of the log

    def find(self, text: str) -> tuple[Found, dict[str, float]]:
        """Return the queries that may be meant by a text and are worth most, and how much each time counts there."""
        if text.count(" ") >= _MOST_WORDS:
            return {}, {}
        ways = [*self._by_words(text), *self._joined(text)]
        if not any(way.found for way in ways):
            ways = self._written_otherwise(text)
        known = {query: max(way.found.get(query, 0) for way in ways) for way in ways for query in way.found}
        weight = {query: max(self._weight(way, query, text) for way in ways if query in way.found) for query in known}
        best = sorted(known, key=lambda query: (-self.counts[query] * weight[query], query.encode()))
        return {query: known[query] for query in best[: int(self.policy.reordered_count)]}, weight

    def _weight(self, way: Way, query: str, text: str) -> float:
        """Return how much each time counts that a query was typed which was found in some way."""
        unmarked = lacks_marks(query[: way.found[query]], text)
        return way.weight * (math.exp(self.policy.unfolded_log_probability) if unmarked else 1.0)

    @property
    def _inflects(self) -> bool:
        return self.policy.reordered_inflected > 0

    def _by_words(self, text: str) -> list[Way]:
        """Return queries with the words of a text, its last word in the singular, or any of them in another form."""
        inside = self._inside(text)
        compounds = {query: inside[query] for query in self._inside(text, ending=True) if query in inside}
        ways = [Way(inside, self.policy.inside_factor), Way(compounds)]
        if self.other_order is not None:
            ways.append(Way(self.other_order.find(text, folds=self.folds)))
            for singular in singular_forms(text):
                ways += self._with_whole_words(singular, self.other_order)
            for other in self._in_other_number(text):
                ways += self._as_written(other)
            if self._inflects and (singular := singular_before(text)) != text:
                ways += self._as_written(singular)
                ways += [
                    way for each in singular_forms(singular) for way in self._with_whole_words(each, self.other_order)
                ]
        return ways

    def _inflected(self, text: str, other_order: PlainOrder) -> list[Way]:
        """Return queries that have the words of a text with one of them, or all, in another form."""
        begun, whole = other_forms(text, self.endings, other_order.holds)
        ways = [way for other in begun for way in self._as_written(other)]
        return ways + [way for other in whole for way in self._with_whole_words(other, other_order)]

    def _inside(self, text: str, *, ending: bool = False) -> Found:
        return find_inside(self.counts, text, self.policy, folds=self.folds, ending=ending)

    def _in_other_number(self, text: str) -> list[str]:
        plural = changed_plural(text)
        return [*in_other_number(text), *([plural] if plural else [])] if self._inflects else []

    def _with_whole_words(self, text: str, other_order: PlainOrder) -> list[Way]:
        """Return queries that have the words of another text as they are or at the end of a word, or are made of it."""
        inside = Way(self._inside(text, ending=True), self.policy.inside_factor)
        return [*self._with_words(text, other_order), inside]

    def _with_words(self, text: str, other_order: PlainOrder) -> list[Way]:
        """Return queries that have the words of another text as they are, or are made of it."""
        texts = {text, fold(text)} if self.folds else {text}
        begun = {query: len(each) for query in self.counts for each in texts if f"{query} ".startswith(f"{each} ")}
        ordered = other_order.find(f"{text} ", folds=self.folds)
        return [Way(ordered), Way(begun)]

    def _joined(self, text: str) -> list[Way]:
        """Return what is found by a text without a space inside it, or without all of them."""
        inner = [place for place in range(len(text) - 1) if text[place] == " "] if self._inflects else []
        joined = [text[:place] + text[place + 1 :] for place in inner]
        if len(inner) > 1:
            joined.append(text[:-1].replace(" ", "") + text[-1])
        return [way for each in joined for way in self._as_written(each)]

    def _as_written(self, text: str) -> list[Way]:
        """Return queries that go on from another text than the typed one, or have it in another order."""
        ways = [Way({query: len(text) for query in self.counts if query.startswith(text)})]
        if self.other_order is not None:
            ways.append(Way(self.other_order.find(text, folds=self.folds)))
        return ways

    def _written_otherwise(self, text: str) -> list[Way]:
        """Return queries without a space that was typed too early.

        In small sites, if no query goes on from what was typed, also those with other forms of its words, else those
        without the ending of a word, else those with a word that the last one begins with, else those whose words begin
        as all of its words do.
        """
        ways = [Way(self._going_on(text[:-1]))] if text.endswith(" ") else []
        if self.other_order is None or not self._inflects or self._going_on(text):
            return ways

        def is_found() -> bool:
            return any(way.found for way in ways)

        if not is_found() and text not in self.counts:  # a whole query may be all that is meant
            ways += self._inflected(text, self.other_order)
        for stem in without_endings(text, self.policy.inside_fewest_ending, _SHORT_ENDINGS):
            ways += [] if is_found() else self._with_whole_words(stem, self.other_order)
        share = self.policy.cut_least_share if " " in text else self.policy.cut_alone_least_share
        least = max(self.policy.inside_fewest_ending, share * width_of(text.split(" ")[-1]))
        for stem in without_endings(text, least, _LONGEST_CUT) if text not in self.counts else ():
            cut = self._as_written(stem) if " " in stem else self._with_words(stem, self.other_order)
            ways += [] if is_found() else cut
        if not is_found():
            ways.append(Way(self.other_order.find(text, folds=self.folds, abbreviated=True)))
        return ways

    def _going_on(self, begun: str) -> Found:
        """Return queries that go on from another text than the typed one, and how much of each that is."""
        return {query: len(begun) for query in self.counts if query.startswith(begun) and query != begun}
