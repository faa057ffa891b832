"""What is shown of ranked proposals, in plain Python: `engine/rank/selection.h` must equal it."""

import math
import re
from collections.abc import Callable, Collection, Mapping, Set

import numpy as np

from halfword.core.folding import fold
from halfword.core.options import Invent, SearchOptions
from halfword.core.policy import Policy
from halfword.search.reference_inflections import make_singular

_PUNCTUATION = re.compile(r"[\x00-\"$-*,-/:-@\[-`{-\x7f]")  # `c++` and `c#` are not the same


def plain_form(text: str) -> str:
    """Return a text without accents, spaces, ASCII punctuation and the plural of words, as near-duplicates share it.

    >>> plain_form("dvd-player") == plain_form("dvd players")
    True
    >>> plain_form("watch battery") == plain_form("watches batteries")
    True
    >>> plain_form("crème brûlée") == plain_form("creme brulee")
    True
    >>> plain_form("c++") == plain_form("c#")
    False
    """
    key = fold(text, " ")
    return "".join(map(_plain_word, key.split(" "))) or key


def unordered_form(text: str) -> str:
    """Return the plain form of a text, whatever the order of its words.

    >>> unordered_form("bread gluten-free") == unordered_form("gluten-free breads")
    True
    """
    return " ".join(sorted(map(_plain_word, fold(text, " ").split(" "))))


def _unspaced(text: str) -> str:
    return fold(text, " ").replace(" ", "")


def _plain_word(word: str) -> str:
    return make_singular(_PUNCTUATION.sub("", word))


def merge_spellings(
    typed: str, typed_count: float, scores: Mapping[str, float], count_of: Callable[[str], float | None]
) -> dict[str, float]:
    """Return the scores with one text of those that differ in accents or other letters that people do not tell apart.

    It is the one that most people typed. Who types accents means them: then a known query that goes on from what was
    typed comes first. What differs so from the typed text itself, and was typed less often, is no suggestion. Signs of
    ASCII alone make no difference that is looked at here.

    >>> scores = {"noel": -1.0, "noël": -1.0, "t-shirt": -2.0, "tshirt": -3.0}
    >>> merge_spellings("no", 0, scores, {"noel": 1, "noël": 2}.get)
    {'noël': -0.3068528194400547, 't-shirt': -2.0, 'tshirt': -3.0}
    >>> list(merge_spellings("noë", 0, scores, {"noel": 2, "noël": 1}.get))
    ['noël', 't-shirt', 'tshirt']
    >>> list(merge_spellings("noël", 2, {"noel": -1.0, "noël tree": -1.0}, {"noel": 1}.get))
    ['noël tree']
    """

    def rank(text: str) -> tuple[bool, float, float]:
        count = count_of(text) or 0
        has_accents = not typed.isascii() and fold(typed) != typed
        return has_accents and count > 0 and text.startswith(typed), count, scores[text]

    merged = dict(scores)
    for text in scores:
        same = [other for other in scores if fold(other) == fold(text)]
        best = max(same, key=rank)
        if text != best and not (text.isascii() and best.isascii()):
            merged[best] = float(np.logaddexp(merged[best], merged.pop(text)))
    for text in scores:
        is_rarer = fold(text) == fold(typed) and (count_of(text) or 0) < typed_count
        if is_rarer and text != typed and not (text.isascii() and typed.isascii()):
            merged.pop(text, None)
    return merged


def select(
    added: Mapping[str, int],
    scores: Mapping[str, float],
    count_of: Callable[[str], float],
    invented: Callable[[str, bool], bool],
    knows_unspaced: Callable[[str], bool],
    apart: Callable[[str], bool],
    unfinished: Callable[[str], bool],
    repeats: Callable[[str], bool],
    own: Callable[[str], bool],
    options: SearchOptions,
    policy: Policy,
    *,
    empty: bool,
    corrected: Collection[str] = (),
    elsewhere: Set[str] = frozenset(),
    log_prefix: float = 0.0,
    typed: str = "",
    typed_count: float = 0.0,
    log_goes_on: float = 0.0,
) -> list[str]:
    """Return the texts that are shown, best first; `added` tells how many characters each has beyond what was typed.

    Who has typed nothing (`empty`) asks for what is popular, however small its share is. Known queries that were typed
    often enough are shown as well, however unlikely, but not the `corrected` ones. A text that is common among all
    queries is shown too: after a common beginning, of log-probability `log_prefix`, each way on is unlikely. It may
    stop after any word, but its words must go together. What reads oddly must be the likelier, the lower it would
    stand, because it is worth less there. Below a known query that was found `elsewhere`, not by going on from the
    typed text, everything new reads oddly; where there is one, a new text that `repeats` a word is not shown. Whoever
    has typed a whole known query (`typed_count` people did) goes on from it with log-probability `log_goes_on`: what is
    new must be that much likelier, and is not shown if it is nearly what was `typed`, nor is a known query that is, if
    it is far rarer. A text whose words are the person's `own`, from earlier queries, is not new.

    Where the policy shows a query once, what is new is never nearly what was typed, nor has it the words of a known
    query or begins one, and where known queries are found its words are known, those that were typed whole too. In
    scripts without spaces what stands between spaces must be known as a whole. Of known queries with the same words
    in another order, or the same letters with other spaces, the most frequent is shown, and what goes on from the
    typed text if it is not far rarer.
    """
    least = policy.min_probability if options.min_probability is None else options.min_probability
    everything, least = least == 0, 0.0 if empty and options.min_probability is None else least
    least_odd, common = policy.odd_min_probability if options.min_probability is None else 0.0, math.inf
    if options.min_probability is None and log_prefix < 0:
        common = policy.common_probability / math.exp(log_prefix)
        least = min(least, common)
    least_invented = {Invent.NEVER: math.inf, Invent.CAREFUL: policy.invented_min_probability, Invent.FREELY: 0.0}
    by_policy = options.min_probability is None
    whole, shows_once = typed_count > 0, by_policy and policy.shown_once > 0
    typed_form = plain_form(typed) if by_policy and not everything and (whole or shows_once) else None
    known_counts = {
        text: count_of(text)
        for text in scores
        if count_of(text) > 0
        and (math.exp(scores[text]) >= least or (count_of(text) >= policy.known_typed and text not in corrected))
    }

    def most(form: Callable[[str], str], text: str) -> float:
        """Return how often the most frequent known query was typed that has a form of a text."""
        return max((count for known, count in known_counts.items() if form(known) == form(text)), default=0)

    def is_rare_form(text: str) -> bool:
        count, most_often = count_of(text), most(unordered_form, text)
        often = 0.0 if text.startswith(typed) else policy.often_typed
        rare = count < max(often, policy.often_typed_share * most_often)
        return (rare and count < most_often) or count < most(_unspaced, text)

    words_are_known = options.min_probability is None and bool(elsewhere)
    shown: dict[str, float] = {}  # how often the most frequent of near-duplicates was typed
    chosen: list[str] = []
    unspaced: set[str] = set()  # what was considered
    for text in sorted(scores, key=lambda text: (-scores[text], text.encode())):
        if len(chosen) == max(options.count, int(policy.page)):
            break
        known = count_of(text) > 0 and count_of(text) >= policy.known_typed and text not in corrected
        new = not count_of(text) and not own(text)
        likely = math.exp(scores[text] + (log_goes_on if new and whole and by_policy and not everything else 0.0))
        if likely < least and not (known and options.min_probability is None):
            continue
        if new and plain_form(text) == typed_form:
            continue
        if (
            new
            and shows_once
            and (most(unordered_form, text) or any(each.startswith(f"{text} ") for each in known_counts))
        ):
            continue
        rare = 0 < count_of(text) < policy.often_typed_share * typed_count
        if (rare and plain_form(text) == typed_form) or (count_of(text) > 0 and shows_once and is_rare_form(text)):
            continue
        if new and shows_once and not knows_unspaced(text):
            continue
        strict = shows_once and bool(known_counts) and least_invented[options.invent] >= 1
        if new and invented(text, strict) and likely < least_invented[options.invent]:
            continue
        unlikely = likely < least_odd * math.sqrt(len(chosen) + 1)
        odd = not elsewhere.isdisjoint(chosen) or apart(text) or (likely < common and unfinished(text))
        if new and unlikely and odd:
            continue
        if new and words_are_known and repeats(text):
            continue
        forms = [plain_form(text), *([f"{unordered_form(text)} "] if shows_once else [])]
        before = max((shown[form] for form in forms if form in shown), default=None)
        often = max(policy.often_typed, policy.often_typed_share * (before or 0.0))
        respaced = policy.shown_once > 0 and _unspaced(text) in unspaced
        if before is None or everything or (count_of(text) >= often and not respaced):
            chosen.append(text)
        unspaced.add(_unspaced(text))
        shown.update({form: max(count_of(text), shown.get(form, 0.0)) for form in forms})
    penalty = 0.0 if empty else policy.length_penalty
    chosen.sort(key=lambda text: (penalty * added[text] - scores[text], text.encode()))
    return chosen[: options.count]
