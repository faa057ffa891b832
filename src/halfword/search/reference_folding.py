"""Readings by folding (`core/folding.py`) in plain Python, which the engine must equal."""

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence

from halfword.core.folding import covered, fold, keys, matched
from halfword.core.options import SearchOptions
from halfword.core.policy import Policy

Readings = Sequence[tuple[str, float]]  # texts, each with log p(typed | text)
_FORMS_PER_BEGINNING = 4
_SIGNS = "'-`"


def folded_queries(
    counts: Mapping[str, int], prefix: str, options: SearchOptions, policy: Policy, longer: Sequence[float]
) -> dict[str, float]:
    """Return the queries that begin with `prefix` only once both are folded, each with log p(typed | the query).

    Beside a query with hyphens the same one with spaces is found, too: `xray` finds `x-ray`, and so `x ray`.

    `longer` has the counts of those that begin with it as typed. If they are many, and typed as often as all that is
    found, nothing is.
    """
    entries = [(-counts[query], own, query) for query in (counts if options.fold else ()) for own in keys(query)]
    found: set[str] = set()
    for key in keys(prefix):
        alike = sorted(entry for entry in entries if entry[1].startswith(key))
        folded = [query for _, own, query in alike if own != query]
        plain = [query for _, own, query in alike if own == query and key != prefix]
        found.update(folded[: options.count], plain[: options.count])
    found |= {spaced for query in found if (spaced := query.replace("-", " ")) in counts}
    begun = {query: query[: matched(query, prefix)] for query in found if not query.startswith(prefix)}
    readings = {query: log_folded(beginning, prefix, policy) for query, beginning in begun.items()}
    weights = {query: counts[query] * math.exp(log_reading) for query, log_reading in readings.items()}
    best = sorted(weights, key=lambda query: (-weights[query], query))[: options.count]
    if len(longer) >= policy.folded_most_queries and sum(weights[query] for query in best) <= sum(longer):
        return {}
    return {query: readings[query] for query in best}


def log_folded(text: str, typed: str, policy: Policy) -> float:
    """Return log p(typed | a query that begins with this text) of two texts with the same key."""
    if is_hangul(typed[-1]) and text.startswith(typed[:-1]):
        return policy.composing_log_probability
    return policy.unfolded_log_probability if lacks_marks(text, typed) else policy.folded_log_probability


def lacks_marks(text: str, typed: str) -> bool:
    """Tell whether a text lacks accents, or signs such as apostrophes, that were typed.

    >>> lacks_marks("ete", "été"), lacks_marks("ètè", "été"), lacks_marks("ısı", "iş"), lacks_marks("الا", "الإ")
    (True, False, True, True)
    """
    return bool(_marks(typed) - _marks(text))


def _marks(text: str) -> Counter[str]:
    """Return the signs of a text, and its letters with accents, each as it is without."""
    plain = {character: "" if character in _SIGNS else fold(character) for character in text}
    return Counter(plain[character] for character in text if plain[character] != character)


def lacks_signs(form: str, typed: str) -> bool:
    """Tell whether a form lacks apostrophes or hyphens of what was typed; who typed them meant them.

    >>> lacks_signs("chefs", "chef's"), lacks_signs("men's", "mens")
    (True, False)
    """
    return sum(map(form.count, _SIGNS)) < sum(map(typed.count, _SIGNS))


class PlainForms:
    """How words are written most, straight from what `training/folding.py` says of them."""

    def __init__(self, counts: Mapping[str, int], policy: Policy) -> None:
        typed: Counter[str] = Counter()
        for query, count in counts.items():
            typed.update(dict.fromkeys(query.split(), count))
        forms: dict[str, list[str]] = defaultdict(list)
        for word in sorted(typed, key=lambda word: (-typed[word], word)):
            forms[fold(word)].append(word)
        self._forms = {
            key: (words[0], typed[words[0]])
            for key, words in forms.items()
            if key and any(word != key for word in words)
            if typed[words[0]] >= max(2, *(5 * typed[word] for word in words[1:]), 0)
        }
        self._words: Collection[str] = typed.keys()
        self._policy = policy

    def readings(self, typed: str) -> Readings:
        """Return the typed text with its words as they are written most, the last one by its beginning."""
        *whole, part = typed.split(" ")
        head = "".join(f"{self._written(word)} " for word in whole)
        texts = [head + beginning for beginning in self._beginnings(part)]
        return [(text, log_folded(text, typed, self._policy)) for text in texts if text != typed]

    def _written(self, word: str) -> str:
        key = fold(word)
        if key in self._forms and not lacks_signs(self._forms[key][0], word):
            return self._forms[key][0]
        return key if not word.isascii() and word not in self._words and key in self._words else word

    def _beginnings(self, part: str) -> list[str]:
        key, most = fold(part), int(self._policy.folded_most_readings)
        likely = sorted((-count, own, form) for own, (form, count) in self._forms.items() if own.startswith(key))
        likely = likely[: _FORMS_PER_BEGINNING * most] if key else []
        beginnings = (form[: covered(form, key)] for _, _, form in likely)
        found = list(dict.fromkeys(each for each in beginnings if not lacks_signs(each, part)))[:most]
        other = part if part.isascii() or is_hangul(part[-1]) else key
        return [beginning for beginning in found if beginning != part] or [other]


def is_hangul(character: str) -> bool:
    """Tell whether a character is a syllable or a letter of Hangul."""
    return 0x1100 <= ord(character) <= 0x11FF or 0xAC00 <= ord(character) <= 0xD7A3
