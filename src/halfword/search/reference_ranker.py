"""The pipeline in plain Python: sources, features, ranker and policy, which the engine must equal.

The features that the ranker looks at, those of the prefix first:

- `log_distinct`, `log_total`: log(1 + n) of how many different queries begin with the prefix, and how often they were
  typed; `after_space`: whether the prefix ends with a space; `typed_words`: its spaces, ten at most;
  `typed_characters`: log(1 + its length);
- `estimate`: the logarithm of a first estimate in which counts are evidence and models the prior,

        (max(C(q) − δ, 0) + w · prior(q)) / (C(p) − δ N(p) + w)      with   w = κ + φ N(p)^γ

  where C(q) is how often q was typed, C(p) how often all queries that begin with the prefix were, N(p) how many
  different ones there are, and prior(q) the mean of what language model, co-occurring words and other spellings say,
  each with its share, if it proposed anything at all: interpolated absolute discounting, over whole queries;
- `model_score`: log p(q | p) by the language model, or of its least likely proposal where the search did not find q;
  `searched`: whether it did, or q has been typed since the training. Live changes, which it has not learned, are added
  to what it says as if it were a log of its own, of the size that it learned:

        p'(q | p) = ((B + κ) · p(q | p) + L(q)) / (B + κ + L(p))      with   B = C(p) − L(p)

  where L is how much of a count was added after the training. The prior takes p' too;
- `log_count`: log(1 + C(q)); `log_share`: log((C(q) + ½) / (C(p) + 1)); `typed`, `typed_once`: whether C(q) is above
  0, and 1;
- `added_characters`, `added_words`: what q has beyond the prefix; `breadth_of_added`: `log_distinct` times the former;
- `unseen_words`: words of q, those that the prefix has whole left out, that occur in no training query, three at most;
- `log_companions`, `log_spellings`: the logarithms of what co-occurring words and other spellings say;
- `invented_words`: those of the unseen words that the background does not know either, three at most;
- `session_…`: what the session's earlier queries say; `reference_session.py` explains them;
- `folded`: log p(typed | the reading that q was found by), 0 if q begins with the text as typed;
- `least_typed`: of those words that `unseen_words` looks at, how often the one was typed that was typed least;
  `last_ended`: how many queries end with the last one; both as 1 + the logarithm, 0 for never, and 0 if q was typed.
  They tell what the log itself knows from what only its background does.

A correction of the typed text (`reference_corrections.py`) is completed as if it had been typed; `reference_belief.py`
tells how far it is believed.

A query that was found by another reading counts only as much as that reading is likely, in C(q), C(p) and N(p); what
it has beyond the prefix is what it has beyond that reading.
"""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfword.core.context import normalise_context
from halfword.core.folding import covered, keys
from halfword.core.options import DEFAULTS, Invent, Order, SearchOptions, Typos
from halfword.core.policy import NEVER_BELIEVED, Policy
from halfword.core.text import normalise_prefix
from halfword.core.words import is_without_spaces, words_in
from halfword.search.model import Answer, Completion
from halfword.search.reference_belief import PlainBelief
from halfword.search.reference_corrections import PlainCorrections
from halfword.search.reference_elsewhere import PlainElsewhere
from halfword.search.reference_folding import Readings, folded_queries
from halfword.search.reference_order import PlainOrder
from halfword.search.reference_pinyin import PlainPinyin
from halfword.search.reference_selection import merge_spellings, select
from halfword.search.reference_session import PlainSession

LEAST_SCORE, LEAST_PROBABILITY, LEAST_ESTIMATE = -30.0, 1e-6, 1e-13  # where logarithms are cut off
MOST_TAKEN = 1 - 1e-6  # by known queries that do not go on from the typed text
_MOST_WORDS, _MOST_UNSEEN = 10, 3
_ESTIMATE = 5  # its place among the features

# prefix, options, surplus, other readings, the earlier queries (the oldest first) → what the search finds
Search = Callable[[str, SearchOptions, int, Readings, Sequence[str]], Sequence[Completion]]
Opinion = Callable[[str], Sequence[tuple[str, float]]]  # prefix → texts and their probabilities


@dataclass(slots=True)
class Proposal:
    """A proposed completion and what speaks for it."""

    count: float = 0
    since: float = 0.0  # how much of the count was added after the training
    model_score: float | None = None
    companions: float = 0.0
    spellings: float = 0.0
    copied: bool = False  # from the session
    log_reading: float = 0.0  # log p(typed | the reading it was found by)
    matched: int = 0  # its characters that stand for the typed text


@dataclass(frozen=True, slots=True)
class KnownWords:
    """The words that occur in training queries, and those of the background.

    `counts` tells how often words were typed, and how many queries end with them; others were typed once.
    """

    typed: Collection[str]
    background: Collection[str] = ()
    counts: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    def unseen(self, text: str) -> int:
        """Return how many words of a text nobody typed."""
        return sum(word not in self.typed for word in words_in(text))

    def invented(self, text: str) -> int:
        """Return how many of them the background does not know either."""
        return sum(word not in self.typed and word not in self.background for word in words_in(text))

    def knows_unspaced(self, text: str) -> bool:
        """Tell whether what stands between spaces is known as a whole where a script is written without them."""
        return all(word in self.typed or word in self.background for word in text.split(" ") if is_without_spaces(word))

    def least_typed(self, text: str) -> float:
        """Return how often the word of a text was typed that was typed least."""
        return min((_in_tenths(self._counts(word)[0]) for word in words_in(text)), default=0.0)

    def last_ended(self, text: str) -> float:
        """Return how many queries end with the last word of a text."""
        return next((_in_tenths(self._counts(word)[1]) for word in words_in(text)[-1:]), 0.0)

    def _counts(self, word: str) -> tuple[int, int]:
        return self.counts.get(word, (1, 0)) if word in self.typed else (0, 0)


def _in_tenths(count: int) -> float:
    """Return 1 + the logarithm of a count as it is stored; 0 for 0."""
    return 1 + min(math.floor(10 * math.log(count) + 0.5), 254) / 10 if count else 0.0


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a prefix: how often queries that begin so were typed, and how many there are."""

    total: float
    distinct: float
    longer_total: float  # the prefix itself left out
    longer_distinct: float
    since: float = 0.0  # how much of the total was added after the training


def features_of(
    prefix: str,
    proposals: Mapping[str, Proposal],
    facts: Facts,
    mixture: Sequence[float],
    words: KnownWords,
    session: PlainSession,
) -> dict[str, list[float]]:
    """Return the features of every proposal, in the order in which the engine has them."""
    found = [each.model_score for each in proposals.values() if each.model_score is not None]
    lowest = max(min(found, default=LEAST_SCORE), LEAST_SCORE)
    shared = [
        math.log1p(facts.distinct),
        math.log1p(facts.total),
        float(prefix.endswith(" ")),
        min(prefix.count(" "), _MOST_WORDS),
        math.log1p(len(prefix)),
    ]
    shares = _shares(proposals, mixture)
    said = {text: _opinion(each, facts, lowest, mixture[3]) for text, each in proposals.items()}
    return {
        text: [
            *shared,
            _estimate(each, said[text], facts, mixture, shares),
            *_own(text, each, said[text], facts, words),
            *session.features(prefix, text),
            each.log_reading,
            words.least_typed(_added(text, each)),
            words.last_ended(_added(text, each)),
        ]
        for text, each in proposals.items()
    }


def _is_elsewhere(text: str, proposal: Proposal, prefix: str, corrected: Collection[str]) -> bool:
    """Tell whether a known query does not go on from the typed text, but has its words or corrects them."""
    goes_on = text.startswith(prefix) or (text not in corrected and proposal.log_reading < 0)
    return proposal.count > 0 and not goes_on


def _holds(proposal: Proposal) -> bool:
    """Tell whether the language model knows a proposal, or would had it learned the live changes."""
    return proposal.model_score is not None or proposal.since > 0


def _opinion(proposal: Proposal, facts: Facts, lowest: float, least: float) -> float:
    """Return what the language model would say had it learned the live changes."""
    found = lowest if proposal.model_score is None else max(proposal.model_score, LEAST_SCORE)
    if not facts.since and not proposal.since:
        return found
    learned = max(facts.total - facts.since, 0.0) + least
    times = learned * math.exp(found) + proposal.since
    return LEAST_SCORE if times <= 0 else max(math.log(times / max(learned + facts.since, least)), LEAST_SCORE)


def _own(text: str, proposal: Proposal, said: float, facts: Facts, words: KnownWords) -> list[float]:
    added = len(text) - proposal.matched
    counted = proposal.count * math.exp(proposal.log_reading)
    added_text = _added(text, proposal)
    return [
        said,
        float(_holds(proposal)),
        math.log1p(proposal.count),
        math.log((counted + 0.5) / (facts.total + 1)),
        float(proposal.count > 0),
        float(proposal.count == 1),
        added,
        min(text[proposal.matched :].count(" "), _MOST_WORDS),
        math.log1p(facts.distinct) * added,
        min(words.unseen(added_text), _MOST_UNSEEN),
        math.log(max(proposal.companions, LEAST_PROBABILITY)),
        math.log(max(proposal.spellings, LEAST_PROBABILITY)),
        min(words.invented(added_text), _MOST_UNSEEN),
    ]


def _added(text: str, proposal: Proposal) -> str:
    """Return the words of a text that nobody typed, those that the prefix has whole left out; nothing if it was."""
    return "" if proposal.count else text[_begun(text, proposal) :]


def _begun(text: str, proposal: Proposal) -> int:
    """Return where the word begins that is being typed."""
    return text[: proposal.matched].rfind(" ") + 1


def _shares(proposals: Mapping[str, Proposal], mixture: Sequence[float]) -> tuple[float, float, float]:
    """Return the shares of language model, co-occurring words and other spellings in the prior."""
    of_spellings = mixture[5] if any(each.spellings for each in proposals.values()) else 0.0
    of_companions = mixture[4] * (1 - of_spellings) if any(each.companions for each in proposals.values()) else 0.0
    return 1 - of_companions - of_spellings, of_companions, of_spellings


def _estimate(
    proposal: Proposal, said: float, facts: Facts, mixture: Sequence[float], shares: tuple[float, float, float]
) -> float:
    discount, breadth, growth, least = mixture[:4]
    weight = least + breadth * facts.distinct**growth
    by_model = math.exp(said) if _holds(proposal) else 0.0
    opinions = (by_model, proposal.companions, proposal.spellings)
    prior = sum(share * opinion for share, opinion in zip(shares, opinions, strict=True))
    whole = max(proposal.count - discount, 0.0) * math.exp(proposal.log_reading) + weight * prior
    return math.log(max(whole / (facts.total - discount * facts.distinct + weight), LEAST_ESTIMATE))


class PlainWeights:
    """Features → log-probabilities, straight from the formula in `engine/rank/ranker.h`."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self._arrays = {name: array.astype(float) for name, array in arrays.items()}

    def log_probabilities(self, features: Mapping[str, Sequence[float]]) -> tuple[dict[str, float], float]:
        """Return the log-probability of each text, and of none of them."""
        if not features:
            return {}, 0.0
        weights = self._arrays
        scaled = {text: (np.array(row) - weights["mean"]) / weights["scale"] for text, row in features.items()}
        worths = {text: self._worth(row) for text, row in scaled.items()}
        prefix = next(iter(scaled.values()))[: len(weights["none"]) - 1]
        none = float(weights["none"] @ np.append(prefix, 1.0))
        normaliser = float(np.logaddexp.reduce([none, *worths.values()]))
        return {text: worth - normaliser for text, worth in worths.items()}, none - normaliser

    def _worth(self, row: NDArray[np.float64]) -> float:
        weights = self._arrays
        sums = weights["hidden"].reshape(-1, len(row)) @ row + weights["hidden_bias"]
        return float(weights["linear"] @ row + weights["output"] @ (sums / (1 + abs(sums))))


class PlainRanker:
    """The arrays `ranker.*` of a model file: weights for requests without a context, and with one."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        named = {name.removeprefix("ranker."): array for name, array in arrays.items()}
        of_session = {name.removeprefix("session."): array for name, array in named.items() if "session." in name}
        self.mixture: list[float] = named["mixture"].astype(float).tolist()
        self._alone = PlainWeights({name: array for name, array in named.items() if "session." not in name})
        self._in_session = PlainWeights(of_session) if of_session else self._alone

    def log_probabilities(
        self, features: Mapping[str, Sequence[float]], *, context: bool
    ) -> tuple[dict[str, float], float]:
        """Return the log-probability of each text, and of none of them."""
        weights = self._in_session if context else self._alone
        return weights.log_probabilities(features)


def _shared_by_counts(
    prefix: str,
    chances: dict[str, float],
    proposals: Mapping[str, Proposal],
    features: Mapping[str, Sequence[float]],
    facts: Facts,
    policy: Policy,
) -> dict[str, float]:
    """Divide what the ranker gives to known queries among them, the more by counts, the more often each was typed.

    Who has typed nothing asks for the most popular ones: counts decide alone.
    """
    known, needed = [text for text in chances if proposals[text].count > 0], policy.counts_believed if prefix else 0.0
    if not known or facts.total <= 0 or needed >= NEVER_BELIEVED:
        return chances
    estimated = {text: math.exp(features[text][_ESTIMATE]) for text in known}
    ranked, counted = sum(math.exp(chances[text]) for text in known), sum(estimated.values())
    by_counts = facts.total / (facts.total + facts.distinct * needed)
    shared = {
        text: math.log((1 - by_counts) * math.exp(chances[text]) + by_counts * ranked * estimated[text] / counted)
        for text in known
    }
    return {**chances, **shared}


def _matched(text: str, typed: str) -> int:
    """Return how many characters of a text stand for a typed one that has the same key so far."""
    return next(length for key in keys(typed) if (length := covered(text, key)) is not None)


def _found_by(text: str, typed: str, others: Readings) -> Proposal:
    """Return a proposal that remembers the likeliest reading it goes on from."""
    if text.startswith(typed):
        return Proposal()
    found = [(log_reading, other) for other, log_reading in others if text.startswith(other)]
    log_reading, other = max(found, key=lambda each: each[0], default=(0.0, ""))
    return Proposal(log_reading=log_reading, matched=len(other))


@dataclass(frozen=True, slots=True)
class PlainMistakes:
    """What is needed to correct typing mistakes."""

    corrections: PlainCorrections
    belief: PlainBelief
    search: Search  # completes corrections: the language model, or its memory alone (Policy.corrected_network)
    log_corrected: Callable[[str], float]  # of a correction, by the same


@dataclass(frozen=True, slots=True)
class PlainPipeline:
    """Sources, ranker and policy over a popularity index and a language model."""

    counts: Mapping[str, int]  # with live changes
    search: Search
    ranker: PlainRanker
    policy: Policy
    words: "KnownWords"
    companions: Opinion = lambda prefix: ()
    spellings: Opinion = lambda prefix: ()
    apart: Callable[[str, int], bool] = lambda text, matched: False  # whether words do not go together beyond what was
    # typed,
    repeats: Callable[[str, int], bool] = lambda text, matched: False  # whether a word is there twice, and
    unfinished: Callable[[str], bool] = lambda text: False  # whether a text stops after a word that joins others
    readings: Callable[[str], Readings] = lambda prefix: ()
    log_probability: Callable[[str], float] = lambda prefix: 0.0  # of a prefix, by the language model; 0: not known
    mistakes: "PlainMistakes | None" = None
    other_order: "PlainOrder | None" = None
    endings: Sequence[tuple[str, str]] = ()  # that take turns in words, where queries are found by other forms of them
    pinyin: "PlainPinyin | None" = None
    since: Mapping[str, float] = field(default_factory=dict)  # what live changes have added to the counts

    def complete(self, prefix: str, options: SearchOptions = DEFAULTS, *, context: Sequence[str] = ()) -> Answer:
        """Return the likeliest completions, best first."""
        prefix, session = normalise_prefix(prefix), PlainSession(normalise_context(context))
        page = replace(options, count=max(options.count, int(self.policy.page)))
        proposals, scores, corrected = self._joined(prefix, session, page)
        least = self.policy.min_probability if options.min_probability is None else options.min_probability
        if options.fold and least > 0:
            typed_count = self.counts.get(prefix, 0)
            scores = merge_spellings(prefix, typed_count, scores, lambda text: proposals[text].count)
        facts, new = self._known(prefix, page)[0], self.policy.new_after_whole
        shown = select(
            {text: len(text) - each.matched for text, each in proposals.items()},
            scores,
            lambda text: proposals[text].count,
            lambda text, whole: self.words.invented(text[0 if whole else _begun(text, proposals[text]) :]) > 0,
            lambda text: self.words.knows_unspaced(text[_begun(text, proposals[text]) :]),
            lambda text: self.apart(text, proposals[text].matched),
            self.unfinished,
            lambda text: self.repeats(text, proposals[text].matched),
            lambda text: session.holds_words(text[_begun(text, proposals[text]) :]),
            options,
            self.policy,
            empty=not prefix,
            corrected=corrected,
            elsewhere={text for text, each in proposals.items() if _is_elsewhere(text, each, prefix, corrected)},
            log_prefix=self.log_probability(prefix),
            typed=prefix,
            typed_count=facts.total - facts.longer_total,
            log_goes_on=math.log((facts.longer_total + new) / (facts.total + new)),
        )
        return Answer(
            Completion(text, scores[text], self._origin(text, proposals[text], session), corrected=text in corrected)
            for text in shown
        )

    def _joined(
        self, prefix: str, session: PlainSession, options: SearchOptions
    ) -> tuple[dict[str, Proposal], dict[str, float], set[str]]:
        """Return the proposals of all readings, their scores, and those that go on from a correction."""
        found, chances, none = self._ranked(prefix, session, options)
        none = self._add_reordered(prefix, options, found, chances, none)
        none = self._add_pinyin(prefix, options, found, chances, none)
        mistakes = self.mistakes
        known = self._begun(prefix)
        if mistakes is None or options.typos is Typos.OFF or known >= self.policy.corrected_most_queries:
            return found, chances, set()
        corrections = mistakes.belief.worth_completing(prefix, mistakes.corrections.corrections(prefix))
        beam = math.ceil(min(options.beam * self.policy.corrected_beam_factor, self.policy.widest_beam))
        fewer = replace(options, count=min(options.count, int(self.policy.corrected_count)), beam=beam)
        branches = [self._ranked(each.text, session, fewer, corrected=True) for each in corrections]
        nones = [none, *(branch[2] for branch in branches)]
        for place, each in enumerate(corrections[: int(self.policy.reordered_corrections)]):
            nones[1 + place] = self._add_reordered(each.text, options, *branches[place])
        gains = [mistakes.log_corrected(each.text) - self.log_probability(prefix) for each in corrections]
        beliefs = mistakes.belief.log_probabilities(prefix, corrections, gains, nones)
        scores = {text: chance + beliefs[0] for text, chance in chances.items()}
        likeliest = dict(scores)  # by one reading
        corrected: set[str] = set()
        for (proposals, others, _), belief in zip(branches, beliefs[1:], strict=True):
            for text, chance in others.items():
                if text.startswith(prefix):
                    continue
                if chance + belief > likeliest.get(text, -math.inf):
                    found[text], likeliest[text] = proposals[text], chance + belief
                    corrected.add(text)
                scores[text] = float(np.logaddexp(scores.get(text, -math.inf), chance + belief))
        return found, scores, corrected

    def _add_reordered(
        self, prefix: str, options: SearchOptions, found: dict[str, Proposal], chances: dict[str, float], none: float
    ) -> float:
        """Add known queries with the typed words in another order or inside a word; return what is left to none."""
        policy = self.policy
        enough = len(prefix) >= policy.reordered_fewest_characters
        if options.order is not Order.ANY or self._begun(prefix) >= (policy.reordered_most_queries if enough else 1):
            return none
        elsewhere = PlainElsewhere(self.counts, policy, self.other_order, options.fold, self.endings)
        known, weight = elsewhere.find(prefix)
        return self._add_known(known, policy.reordered_log_probability, found, chances, none, weight)

    def _add_pinyin(
        self, prefix: str, options: SearchOptions, found: dict[str, Proposal], chances: dict[str, float], none: float
    ) -> float:
        """Add known queries that are typed in Latin letters so; return what is left to none."""
        if self.pinyin is None or not options.fold or self._begun(prefix) >= self.policy.pinyin_most_queries:
            return none
        return self._add_known(self.pinyin.find(prefix), self.policy.pinyin_log_probability, found, chances, none)

    def _begun(self, prefix: str) -> int:
        return sum(query.startswith(prefix) for query in self.counts)

    def _add_known(
        self,
        known: Mapping[str, int],
        log_probability: float,
        found: dict[str, Proposal],
        chances: dict[str, float],
        none: float,
        weight: Mapping[str, float] = MappingProxyType({}),
    ) -> float:
        """Add known queries, which take from known ones that go on, by their counts, and from the rest, none included.

        Return what is left to none.
        """
        counts = {text: self.counts.get(text, 0) * weight.get(text, 1.0) for text in known}
        total, before = sum(counts.values()), list(chances)
        if not total:
            return none
        going_on = [text for text in before if found[text].count > 0]
        mass = sum(math.exp(chances[text]) for text in going_on)
        rest = math.exp(none) + sum(math.exp(chances[text]) for text in before) - mass
        counted = self.policy.other_known_factor * total
        of_known = counted / (counted + sum(found[text].count for text in going_on))
        of_rest = of_known * math.exp(log_probability)
        added = 0.0
        for text, matched in known.items():
            if counts[text] > 0 and text not in found:
                found[text] = Proposal(count=self.counts.get(text, 0), matched=matched)
                chances[text] = math.log((mass * of_known + rest * of_rest) * counts[text] / total)
                added += counts[text] / total
        for text in before:
            taken = added * (of_known if text in going_on else of_rest)
            chances[text] += math.log1p(-min(taken, MOST_TAKEN))
        return none + math.log1p(-min(added * of_rest, MOST_TAKEN))

    def _ranked(
        self, prefix: str, session: PlainSession, options: SearchOptions, *, corrected: bool = False
    ) -> tuple[dict[str, Proposal], dict[str, float], float]:
        """Return the proposals for one reading, their log-probabilities, and that of none of them."""
        facts, proposals = self.propose(prefix, session, options, corrected=corrected)
        features = features_of(prefix, proposals, facts, self.ranker.mixture, self.words, session)
        chances, none = self.ranker.log_probabilities(features, context=bool(session.queries))
        if not session.queries:
            chances = _shared_by_counts(prefix, chances, proposals, features, facts, self.policy)
        return proposals, chances, none

    def propose(
        self, prefix: str, session: PlainSession, options: SearchOptions, *, corrected: bool = False
    ) -> tuple[Facts, dict[str, Proposal]]:
        """Return what is known of a prefix, and what all sources propose; a corrected one may be the whole query."""
        facts, longer, folded = self._known(prefix, options)
        proposals: dict[str, Proposal] = {}
        listed = options.count + int(self.policy.known_surplus_factor * options.count)
        most_typed = sorted(longer, key=lambda query: (-longer[query], query.encode()))[:listed]
        for query in most_typed:
            proposals[query] = Proposal()
        for query, log_reading in folded.items():
            proposals[query] = Proposal(log_reading=log_reading, matched=_matched(query, prefix))
        folds = options.fold and not corrected and self._begun(prefix) < self.policy.folded_most_queries
        others = self.readings(prefix) if folds else ()
        surplus = int(self.policy.surplus_factor * options.count)
        earlier = session.queries[::-1]
        search = self.mistakes.search if corrected and self.mistakes is not None else self.search
        for completion in search(prefix, self._effort(options, facts), surplus, others, earlier):
            found = _found_by(completion.text, prefix, others)
            known = proposals.setdefault(completion.text, found)
            if known.matched and found.log_reading > known.log_reading:
                known.log_reading, known.matched = found.log_reading, found.matched
            known.model_score = completion.score
        if facts.longer_distinct <= self.policy.companions_most_queries:
            for text, probability in self.companions(prefix):
                proposals.setdefault(text, Proposal()).companions = probability
        if facts.longer_distinct < self.policy.spellings_most_queries:
            for text, probability in self.spellings(prefix):
                proposals.setdefault(text, Proposal()).spellings = probability
        for text in session.copies(prefix):
            proposals.setdefault(text, Proposal()).copied = True
        for text in session.extensions(prefix, self.counts):
            proposals.setdefault(text, Proposal())
        if corrected and prefix in self.counts:
            proposals.setdefault(prefix, Proposal())
        for text, proposal in proposals.items():
            proposal.count = self.counts.get(text, 0)
            proposal.since = self.since.get(text, 0.0)
            proposal.matched = proposal.matched or len(prefix)
        return facts, proposals

    def _known(self, prefix: str, options: SearchOptions) -> tuple[Facts, Mapping[str, float], Mapping[str, float]]:
        """Return how often queries that begin so were typed, those that go on, and those of other spellings."""
        typed = {query: count for query, count in self.counts.items() if query.startswith(prefix)}
        longer = {query: count for query, count in typed.items() if query != prefix}
        since = sum(self.since.get(query, 0.0) for query in typed)
        facts = Facts(sum(typed.values()), len(typed), sum(longer.values()), len(longer), since)
        folded = folded_queries(self.counts, prefix, options, self.policy, list(longer.values()))
        return self._with_folded(facts, folded), longer, folded

    def _with_folded(self, facts: Facts, folded: Mapping[str, float]) -> Facts:
        """Return the facts with queries found by folding, each as much as its reading is likely."""
        total = sum(self.counts[query] * math.exp(log_reading) for query, log_reading in folded.items())
        distinct = sum(map(math.exp, folded.values()))
        longer = facts.longer_total + total, facts.longer_distinct + distinct
        return Facts(facts.total + total, facts.distinct + distinct, *longer, facts.since)

    def _effort(self, options: SearchOptions, facts: Facts) -> SearchOptions:
        """Return how hard to search: the harder the fewer queries go on from the prefix."""
        options = replace(options, min_probability=0.0, invent=Invent.FREELY, conditional=True)
        if options.haste is not None:
            return options
        policy, distinct = self.policy, facts.longer_distinct
        case = "many" if distinct >= policy.many_queries else "few" if distinct else "none"
        factor = getattr(policy, f"beam_factor_{case}")
        wider = max(options.beam, int(min(options.beam * factor, policy.widest_beam)))
        beam = math.ceil(options.beam * factor) if factor <= 1 else wider
        return replace(options, beam=beam, haste=getattr(policy, f"haste_{case}"))

    @staticmethod
    def _origin(text: str, proposal: Proposal, session: PlainSession) -> Any:
        if text in session.queries:
            return "session"
        modelled = proposal.model_score is not None or proposal.companions or proposal.spellings
        if proposal.copied and not proposal.count and not modelled:
            return "session"
        return "model" if not proposal.count else "both" if modelled else "popular"
