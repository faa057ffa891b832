"""Which sources are asked, how hard the search works, and what is shown: numbers that every model file stores by name.

The defaults are the only home of these numbers. Those marked "measured" were chosen by quality and time on validation
rows (docs/research/blend.md); `halfword train` fits `length_penalty` and stores all of them in the model file.
`halfword info --all` prints them.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

from halfword.core.errors import ModelFileError

NEVER_BELIEVED = 1e9  # of `counts_believed`: the ranker alone decides


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """How a model that has popularity and a language model answers."""

    # The number of different queries that go on from the prefix decides how hard the search works (measured).
    many_queries: float = 10.0  # from here on there are many, and what the search misses hardly matters
    beam_factor_none: float = 2.5  # the beam is so many times wider where no query goes on from the prefix,
    beam_factor_few: float = 1.5  # where few do,
    beam_factor_many: float = 0.8  # and where many do
    widest_beam: float = 1000.0  # but no wider than this
    haste_none: float = 0.25  # SearchOptions.haste in the same three cases
    haste_few: float = 0.5
    haste_many: float = 1.5
    read_limit_base: float = 25.0  # a search with the network reads at most so many hypotheses,
    read_limit_per_beam: float = 4.0  # and so many more per hypothesis of the beam
    # The network is asked only where popularity does not know enough, and reads only likely hypotheses (measured).
    network_min_probability: float = 0.02  # share of the prefix's; the memory alone reads less likely ones; fitted
    enough_repeats: float = 1.5  # it knows enough where queries were typed more often than this on average
    # Unlikely texts are looked for only where no likely ones are found, as after `what is ` (measured).
    search_min_probability: float = 0.0005  # share of the prefix's that a text must have,
    search_least_found: float = 0.1  # unless those found are too few, and have less than this share together
    # The sources.
    longest_searched: float = 1024.0  # bytes; a longer prefix is no query, and is only looked up
    surplus_factor: float = 0.5  # proposals of the search beyond the answers asked for, as a multiple of these
    known_surplus_factor: float = 0.0  # the same of known queries
    companions_most_queries: float = 9.0  # co-occurring words are asked where at most so many queries go on (measured)
    companions_half_trust: float = 5.0  # co-occurrences at which a word's own distribution has half of the weight
    companions_most_words: float = 20.0  # words of the prefix that are looked at, the last ones
    companions_most_met: float = 1000.0  # a word that stood beside more of the words that may come is not asked: it
    # says little and takes long (measured)
    companions_end_hits: float = 0.3  # prior of how often a word ends a query: so many hits
    companions_end_trials: float = 1.0  # in so many trials
    spellings_most_queries: float = 10.0  # other spellings are asked where fewer queries than this go on (measured)
    spellings_most_alike: float = 50.0  # with more queries of the same letters the prefix says too little
    spellings_fewest_letters: float = 2.0  # bytes of letters that a prefix must have
    # What differs from the typed text in accents, apostrophes, hyphens or half a syllable (chosen, not measured: in a
    # log every prefix is spelled as its query is, so it cannot tell how often people leave an accent out).
    folded_most_queries: float = 10.0  # asked where fewer queries than this go on from the text as typed, or where what
    # is found is typed more than all of them
    folded_log_probability: float = -1.0  # log p(typed | a text with accents or signs that were left out)
    unfolded_log_probability: float = -4.0  # log p(typed | a text that lacks accents or signs that were typed)
    composing_log_probability: float = -0.7  # log p(typed | a text whose syllable is half typed): every second time
    folded_most_readings: float = 2.0  # texts besides the one as typed that a search sets out from
    # Typing mistakes: how much work is done to find corrections (chosen so that little is missed of what unlimited work
    # finds on validation rows, docs/research/typos.md). How far a correction is believed is fitted, not chosen.
    corrected_most_queries: float = 30.0  # looked for where fewer queries than this go on from the text as typed
    corrected_edit_cost: float = 3.0  # nats of the likeliest mistakes; others cost more (`training/channel.py`)
    corrected_fewest_letters: float = 2.0  # a shorter word is left as it is
    corrected_letters_for_two: float = 5.0  # two mistakes in one word are looked for from this length on,
    corrected_rare: float = 0.0  # and where the logarithm of how often the word was typed is at most this
    corrected_enough_score: float = 0.0  # and where no word with one mistake explains it so well: the logarithm of how
    # often that was typed, less the cost of the mistake
    corrected_word_band: float = 6.0  # nats by which a further near word may be less likely than the likeliest
    corrected_near_words: float = 10.0  # words that one typed word may stand for
    corrected_beam: float = 12.0  # readings of the first words that are followed
    corrected_most_readings: float = 16.0  # corrections that are glanced at
    corrected_band: float = 30.0  # nats by which a further correction may be less likely than the best one
    corrected_more_odds: float = 0.0  # nats added to the odds of every correction: more of them, or fewer
    corrected_least_odds: float = -4.5  # logarithm of the odds that a correction must have at a glance to be completed,
    corrected_most_completed: float = 4.0  # and the number of corrections that are
    corrected_count: float = 8.0  # completions of a correction that are looked for
    corrected_beam_factor: float = 0.1  # the beam of their search, as a multiple of SearchOptions.beam
    corrected_network: float = 0.0  # 1: the network is asked for them as for the text as typed; 0: the memory alone, if
    # there is one (measured)
    corrected_homophone_cost: float = 4.0  # nats of a Chinese character that was mistaken for one that sounds the same
    corrected_word_slack: float = 6.0  # nats by which a near word, less its mistakes, may be rarer than the typed one
    corrected_least_gain: float = -10.0  # nats by which a correction must be likelier than the text as typed
    corrected_unknown_count: float = 0.1  # how often a word was typed, so to say, that nobody typed
    corrected_new_words: float = -2.0  # nats for a word after which the beginning is one that nobody typed
    corrected_most_steps: float = 400.0  # in the tree of words, for one prefix
    # Known queries that hold the typed words in another order (docs/research/typos.md).
    reordered_most_queries: float = 1.0  # looked for where fewer queries than this go on from the text as typed
    reordered_log_probability: float = -4.0  # log p(one of them is meant | no known query goes on from the text)
    reordered_most_checked: float = 200.0  # queries that are looked at for one prefix
    reordered_most_begun: float = 8.0  # words that may be begun whose queries are looked at
    reordered_count: float = 3.0  # queries that are offered
    reordered_fewest_characters: float = 1.0  # that must be typed, unless no known query goes on from them
    reordered_inflected: float = 0.0  # 1: words before the last are looked for in the other number, too
    reordered_corrections: float = 0.0  # corrections whose words are looked for in another order, too
    inside_most_queries: float = 0.0  # that an index may have to look for the typed letters inside words (small sites)
    inside_fewest_typed: float = 5.0  # letters that must be typed for that (`core.text.width_of`),
    inside_fewest_ending: float = 4.0  # or so many, if they are its ending,
    inside_fewest_before: float = 3.0  # and bytes of the word before them, such as the Arabic article (by reading)
    inside_factor: float = 0.1  # how much one that has the typed letters inside a word counts beside one that has words
    # (by reading: `mission` is seldom meant for `permissions`)
    abbreviated_fewest_typed: float = 3.0  # letters of each word before the last that may stand for one that begins so
    # (small sites; by reading)
    cut_least_share: float = 0.5  # of the letters of a word that must stay where it is looked for without its end
    cut_alone_least_share: float = 0.6  # beside other words, or alone (small sites; by reading)
    other_known_factor: float = 0.05  # how much one that does not go on from the text counts beside one that does
    # Known queries in Chinese characters that are typed in Latin letters (chosen, not measured: a log holds what was
    # meant, not how it was typed).
    pinyin_most_queries: float = 10.0  # looked for where fewer queries than this go on from the text as typed
    pinyin_log_probability: float = -0.7  # log p(one of them is meant | none of what goes on from the text is)
    pinyin_fewest_characters: float = 2.0  # that must be typed, the last one a letter
    pinyin_count: float = 8.0  # keys that are looked at
    # What is shown.
    page: float = 10.0  # answers that are chosen together; whoever asks for fewer gets the first of the same
    length_penalty: float = 0.05  # nats per added character in the order of the answers: a short beginning helps more
    # people than one long query; fitted
    min_probability: float = 0.002  # a suggestion is shown if it is so likely; fitted
    common_probability: float = (
        1.0  # or if it is expected to be so large a share of all queries, however many others go
    )
    # on from the prefix: two queries of the log; fitted. 1: it makes no difference
    invented_min_probability: float = 0.05  # the same for one with a word that nobody typed; 1: none is shown; fitted
    odd_min_probability: float = 0.0  # the same for one that reads oddly, if it stands first: its words were never
    # typed together, or it stops after a word that joins others; times the root of its rank, if it stands lower; fitted
    odd_words_before: float = 1.0  # words before one that do not join others, beside each of which it was typed, or it
    # reads oddly
    odd_ending: float = 0.05  # a word joins others if it ends less than this share of the queries that hold it
    often_typed: float = 5.0  # what was typed so often is shown, even if it is nearly a duplicate of what is shown,
    often_typed_share: float = 0.2  # and was typed so often for each time that this was (by reading). The same
    # holds for near-duplicates of a known query that was typed whole.
    known_typed: float = 5.0  # what was typed so often and is no correction is shown, even if it is
    # unlikely; in a log of few queries once: whoever has few misses each of them
    new_after_whole: float = 1e9  # times that something new is expected to go on from a known query that was typed
    # whole, beside the times that nothing was: what nobody typed must be that much likelier to be shown; fitted
    shown_once: float = 0.0  # 1: what nobody typed is not shown if it is nearly what was typed, has the words of a
    # known query or begins one, or goes on from an unknown word where known queries are found. And what differs in
    # spaces or in the order of its words is shown once, as most people type it.
    counts_believed: float = NEVER_BELIEVED  # typed so often on average, known queries share what the ranker gives them
    # half by their counts; fitted rankers know better, but those of few queries do not

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
            if not number or not LIMITS[each.name][0] <= value <= LIMITS[each.name][1]:
                low, high = LIMITS[each.name]
                raise ModelFileError(f"the policy's {each.name} must lie between {low:g} and {high:g}, got {value!r}")

    def to_json(self) -> dict[str, float]:
        """Return all numbers by their names."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        """Return the policy with these numbers; those that a file of an earlier version lacks have their defaults."""
        wrong = sorted(set(values) - {each.name for each in fields(cls)})
        if wrong:
            raise ModelFileError(f"the policy's numbers do not fit this version ({', '.join(wrong)})")
        return cls(**values)


_COUNT, _FACTOR, _HASTE = (0.0, 1e6), (0.01, 100.0), (0.0, 100.0)
LIMITS: dict[str, tuple[float, float]] = {
    "many_queries": _COUNT,
    "beam_factor_none": _FACTOR,
    "beam_factor_few": _FACTOR,
    "beam_factor_many": _FACTOR,
    "widest_beam": (1.0, 1000.0),
    "haste_none": _HASTE,
    "haste_few": _HASTE,
    "haste_many": _HASTE,
    "read_limit_base": (1.0, 1e6),
    "read_limit_per_beam": (0.0, 1e4),
    "network_min_probability": (0.0, 1.0),
    "search_min_probability": (0.0, 1.0),
    "search_least_found": (0.0, 1.0),
    "enough_repeats": (0.0, 1e9),
    "longest_searched": (0.0, 1e5),
    "surplus_factor": (0.0, 10.0),
    "known_surplus_factor": (0.0, 10.0),
    "companions_most_queries": _COUNT,
    "companions_half_trust": (1e-3, 1e6),
    "companions_most_words": (1.0, 100.0),
    "companions_most_met": _COUNT,
    "companions_end_hits": (0.0, 100.0),
    "companions_end_trials": (1e-3, 100.0),
    "spellings_most_queries": (0.0, 1000.0),
    "spellings_most_alike": (1.0, 1000.0),
    "spellings_fewest_letters": (1.0, 100.0),
    "folded_most_queries": _COUNT,
    "folded_log_probability": (-30.0, 0.0),
    "unfolded_log_probability": (-30.0, 0.0),
    "composing_log_probability": (-30.0, 0.0),
    "folded_most_readings": (1.0, 100.0),
    "corrected_most_queries": _COUNT,
    "corrected_edit_cost": (0.0, 30.0),
    "corrected_fewest_letters": (1.0, 100.0),
    "corrected_letters_for_two": (1.0, 100.0),
    "corrected_rare": (-30.0, 30.0),
    "corrected_enough_score": (-30.0, 30.0),
    "corrected_word_band": (0.0, 30.0),
    "corrected_near_words": (1.0, 100.0),
    "corrected_beam": (1.0, 100.0),
    "corrected_most_readings": (0.0, 100.0),
    "corrected_band": (0.0, 30.0),
    "corrected_more_odds": (-100.0, 100.0),
    "corrected_least_odds": (-100.0, 100.0),
    "corrected_most_completed": (0.0, 100.0),
    "corrected_count": (1.0, 100.0),
    "corrected_beam_factor": _FACTOR,
    "corrected_network": (0.0, 1.0),
    "corrected_homophone_cost": (0.0, 30.0),
    "corrected_word_slack": (0.0, 30.0),
    "corrected_least_gain": (-30.0, 30.0),
    "corrected_unknown_count": (1e-6, 1.0),
    "corrected_new_words": (-30.0, 0.0),
    "corrected_most_steps": (0.0, 1e7),
    "reordered_most_queries": _COUNT,
    "reordered_log_probability": (-30.0, 0.0),
    "reordered_most_checked": (0.0, 1e6),
    "reordered_most_begun": (0.0, 1000.0),
    "reordered_count": (0.0, 100.0),
    "reordered_inflected": (0.0, 1.0),
    "reordered_fewest_characters": (1.0, 100.0),
    "reordered_corrections": (0.0, 100.0),
    "inside_most_queries": (0.0, 1e5),
    "inside_fewest_typed": (1.0, 1000.0),
    "inside_fewest_ending": (1.0, 1000.0),
    "inside_fewest_before": (1.0, 1000.0),
    "inside_factor": (1e-6, 1.0),
    "abbreviated_fewest_typed": (1.0, 1e6),
    "cut_least_share": (0.0, 1.0),
    "cut_alone_least_share": (0.0, 1.0),
    "other_known_factor": (1e-6, 1.0),
    "pinyin_most_queries": _COUNT,
    "pinyin_log_probability": (-30.0, 0.0),
    "pinyin_fewest_characters": (1.0, 100.0),
    "pinyin_count": (0.0, 100.0),
    "page": (1.0, 100.0),
    "length_penalty": (-1.0, 10.0),
    "min_probability": (0.0, 1.0),
    "common_probability": (0.0, 1.0),
    "invented_min_probability": (0.0, 1.0),
    "odd_min_probability": (0.0, 1.0),
    "odd_words_before": (0.0, 100.0),
    "odd_ending": (0.0, 1.0),
    "often_typed": (0.0, 1e9),
    "often_typed_share": (0.0, 1.0),
    "known_typed": (0.0, 1e9),
    "new_after_whole": (1e-9, 1e9),
    "shown_once": (0.0, 1.0),
    "counts_believed": (0.0, NEVER_BELIEVED),
}
DEFAULT_POLICY = Policy()
