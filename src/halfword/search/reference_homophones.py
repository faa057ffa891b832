"""Chinese characters that were chosen wrongly among those that sound the same, in plain Python.

A typed text may stand for the beginning of a known query that has as many characters, each of which is typed the same:
`手击` for `手机`, both of which are `shou ji`. A character is typed as it is most often in the queries. Each character
that differs costs the same, and what was typed more often is likelier.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from halfword.core.policy import Policy
from halfword.core.words import is_han
from halfword.search.reference_corrections import Correction
from halfword.search.reference_pinyin import _key, _ways


class PlainHomophones:
    """Queries, and what is typed for every character of each."""

    def __init__(
        self,
        counts: Mapping[str, int],
        spelled: Mapping[str, Sequence[str]],
        policy: Policy,
        others: Mapping[str, str],  # what is typed for characters that no query has
    ) -> None:
        self._counts, self._policy = counts, policy
        self._ways = [(query, way) for query, each in spelled.items() for way in _ways(query, list(each))]
        heard: Counter[tuple[str, str]] = Counter()
        for query, each in spelled.items():
            for letter, syllable in zip(query, each, strict=True):
                if is_han(letter):
                    heard[letter, syllable] += counts[query]
        self._syllables = dict(others) | {
            letter: syllable for (letter, syllable), _ in sorted(heard.items(), key=lambda each: (each[1], each[0]))
        }

    def corrections(self, typed: str) -> list[Correction]:
        """Return the likeliest corrections of a text, the best first."""
        way = ["" if letter == " " else self._syllables.get(letter, letter) for letter in typed]
        if len(typed) < self._policy.pinyin_fewest_characters or not self._syllables.keys() & set(typed):
            return []
        fitting = [(query, each) for query, each in self._ways if "".join(each).startswith("".join(way))]
        fitting.sort(key=lambda each: (-self._counts[each[0]], _key(each[1]), each[0]))
        texts = {
            query[: len(typed)]
            for query, each in fitting[: int(self._policy.pinyin_count)]
            if [len(one.encode()) for one in each][: len(way)] == [len(one.encode()) for one in way]
        }
        found = [self._correction(typed, text) for text in texts - {typed}]
        return sorted(found, key=lambda each: (-each.gain - each.log_probability, each.text.encode()))

    def _correction(self, typed: str, text: str) -> Correction:
        differ = [one != other for one, other in zip(typed, text, strict=True)]
        edits, after = sum(differ), differ[::-1].index(True)
        total, typed_total = self._total(text), self._total(typed)
        gain = math.log(total) - math.log(typed_total or self._policy.corrected_unknown_count)
        known = float(typed_total > 0)
        cost = edits * self._policy.corrected_homophone_cost
        return Correction(text, -cost, edits, 0.0, gain, gain, known, known * gain, edits, after, total, typed_total)

    def _total(self, beginning: str) -> int:
        return sum(count for query, count in self._counts.items() if query.startswith(beginning))
