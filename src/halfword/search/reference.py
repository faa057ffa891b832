"""The searches in plain Python and NumPy: slow, readable, and the specification that the engine must equal.

Words used here and in the engine: the *escaped* text of a query has the mark `▁` before it and in place of each space;
a *piece* is a string of the vocabulary; a *hypothesis* is a sequence of pieces, and its score is the natural logarithm
of its probability.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import heapify, heappop, heappush
from itertools import count, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfword.core.letters import cut_domain, letters, only_letters, without_lead
from halfword.core.model_file import read_header
from halfword.core.options import DEFAULTS, SearchOptions
from halfword.core.policy import DEFAULT_POLICY, Policy
from halfword.core.text import DEFAULT, Profile, normalise_prefix
from halfword.core.words import is_without_spaces
from halfword.search.model import Completion
from halfword.search.reference_folding import Readings, folded_queries

MARK = "▁"
MOST_COPIED = 40  # pieces of an earlier query, its first ones
_LEAST = 1e-30  # of a probability, before its logarithm is taken
_MOST_WORDS = 12  # of a query whose words count as typed together
Vector = NDArray[np.float64]
Segment = Callable[[str, int], list[list[int]]]  # escaped text, how many → its best segmentations
# the pieces read so far → the probability of each next one by the memory, and the class of their context
Memory = Callable[[Sequence[int]], tuple[Vector, int]]


class PlainPopular:
    """Most popular completion by looking at every query."""

    def __init__(self, counts: Mapping[str, int], profile: Profile = DEFAULT, policy: Policy = DEFAULT_POLICY) -> None:
        self._counts = counts
        self._profile = profile
        self._policy = policy

    def complete(self, prefix: str, options: SearchOptions = DEFAULTS) -> list[Completion]:
        """Return the queries that begin with `prefix` and are longer: higher counts first, ties by text.

        Those that begin with it once both are folded have smaller counts.
        """
        prefix = normalise_prefix(prefix, self._profile)
        matching: dict[str, float] = {query: n for query, n in self._counts.items() if query.startswith(prefix)}
        if options.echo and prefix.endswith(" ") and prefix[:-1] in self._counts:
            matching[prefix[:-1]] = self._counts[prefix[:-1]]
        itself = {prefix, prefix[:-1]} if options.echo and prefix.endswith(" ") else {prefix}
        longer = [count for query, count in matching.items() if query not in itself]
        for query, log_reading in folded_queries(self._counts, prefix, options, self._policy, longer).items():
            matching[query] = self._counts[query] * math.exp(log_reading)
        total = sum(matching.values())
        ranked = sorted(matching.items(), key=lambda item: (-item[1], item[0]))
        offered = [(query, count) for query, count in ranked if query != prefix]
        return [Completion(query, math.log(count / total), "popular") for query, count in offered[: options.count]]


def read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """Read all arrays of a model file."""
    kinds = {"F32": "<f4", "U8": "<u1", "U16": "<u2", "I8": "<i1", "U32": "<u4", "U64": "<u8"}
    content = path.read_bytes()
    return {
        name: np.frombuffer(content[place.begin : place.end], kinds[place.dtype]).reshape(place.shape)
        for name, place in read_header(path).places.items()
    }


@dataclass(frozen=True, slots=True)
class State:
    """What the network remembers: for every layer its cell and its hidden values."""

    cells: tuple[Vector, ...]
    hidden: tuple[Vector, ...]


class PlainNetwork:
    """The LSTM language model, straight from its formulas."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self._weights = {name: np.asarray(array, np.float64) for name, array in arrays.items() if "network" in name}
        for name in [name.removesuffix(".int8") for name in self._weights if name.endswith(".int8")]:
            if name not in self._weights:  # a compact file has the 8-bit form only
                self._weights[name] = self._weights[f"{name}.int8"] * self._weights[f"{name}.scale"][:, None]
        self._layers = sum(name.endswith(".norm_scale") for name in self._weights)

    def start(self) -> State:
        """Return the state before anything was read."""
        zeros = np.zeros(self._weights["network.projection"].shape[1])
        return State((zeros,) * self._layers, (zeros,) * self._layers)

    def read(self, state: State, piece: int) -> State:
        """Return the state after one more piece."""
        values = self._weights["network.embedding"][piece]
        cells, hidden = [], []
        for layer in range(self._layers):
            cell, values = self._cell(layer, values, state.cells[layer], state.hidden[layer])
            cells.append(cell)
            hidden.append(values)
        return State(tuple(cells), tuple(hidden))

    def _cell(self, layer: int, values: Vector, cell: Vector, hidden: Vector) -> tuple[Vector, Vector]:
        weights = {name: self._weights[f"network.layer{layer}.{name}"] for name in ("input", "recurrent")}
        if f"network.layer{layer}.summary" in self._weights:
            hidden = self._weights[f"network.layer{layer}.summary"] @ hidden
        scale = self._weights[f"network.layer{layer}.norm_scale"].reshape(3, -1)
        bias = self._weights[f"network.layer{layer}.norm_bias"].reshape(3, -1)
        gates = (weights["input"] @ values + weights["recurrent"] @ hidden).reshape(3, -1)
        deviation = np.sqrt(gates.var(axis=1, keepdims=True) + 1e-5)
        forget, output, candidate = (gates - gates.mean(axis=1, keepdims=True)) / deviation * scale + bias
        keep = _sigmoid(forget + 1)
        new_cell = keep * cell + (1 - keep) * np.tanh(candidate)
        return new_cell, _sigmoid(output) * np.tanh(new_cell)

    def predict(self, state: State) -> Vector:
        """Return the log-probability of every piece as the next one."""
        weights = self._weights
        projected = weights["network.projection"] @ state.hidden[-1] + weights["network.projection_bias"]
        logits = weights["network.embedding"] @ projected + weights["network.output_bias"]
        peak = logits.max()
        log_probabilities: Vector = logits - peak - np.log(np.exp(logits - peak).sum())
        return log_probabilities


def _sigmoid(x: Vector) -> Vector:
    return 1 / (1 + np.exp(-x))


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A sequence of pieces that begins like the prefix."""

    score: float
    text: str  # escaped
    state: State
    pieces: tuple[int, ...]  # all that were read
    tail: str = ""  # characters of the prefix that the next piece must begin with
    length: int = 0  # pieces added to the prefix
    by_memory: bool = False  # whether the memory alone tells what follows


@dataclass(frozen=True, slots=True)
class Child:
    """A hypothesis and the piece it may go on with."""

    score: float
    parent: Hypothesis
    piece: int


@dataclass(slots=True)
class Found:
    """The completed texts, each with the scores of its piece sequences."""

    count: int
    scores: dict[str, list[float]] = field(default_factory=dict)

    def add(self, escaped: str, score: float) -> None:
        """Note that a piece sequence spells a whole query."""
        self.scores.setdefault(escaped.removeprefix(MARK).replace(MARK, " "), []).append(score)

    def bound(self) -> float:
        """Return what a further text must score to be among the answers."""
        best = sorted((max(scores) for scores in self.scores.values()), reverse=True)
        return best[self.count - 1] if len(best) >= self.count else -math.inf


@dataclass(frozen=True, slots=True)
class EarlierPiece:
    """A piece of an earlier query of the session."""

    piece: int
    state: State  # before it
    age: int  # of its query; 0 for the last one


class PlainPointer:
    """What is copied from earlier queries, straight from the formula in `training/network/pointer.py`."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self._weights = {name: np.asarray(array, np.float64) for name, array in arrays.items() if "pointer." in name}

    def mix(self, predicted: Vector, state: State, earlier: Sequence[EarlierPiece]) -> Vector:
        """Return the log-probabilities of the next piece when it may be copied."""
        weights = self._weights
        query = weights["pointer.query"] @ state.hidden[-1] / math.sqrt(len(weights["pointer.query"]))
        ages = weights["pointer.age"]
        scores = [
            float(query @ (weights["pointer.key"] @ each.state.hidden[-1])) + float(ages[min(each.age, len(ages) - 1)])
            for each in earlier
        ]
        nothing = float(weights["pointer.nothing"] @ state.hidden[-1]) + float(weights["pointer.nothing_bias"][0])
        total = _log_sum([nothing, *scores])
        mixed: Vector = predicted + (nothing - total)
        for each, score in zip(earlier, scores, strict=True):
            mixed[each.piece] = np.logaddexp(mixed[each.piece], score - total)
        return mixed


class PlainNeural:
    """Retrace, beam search and marginalisation as in the paper, but one search for all starts, the best first.

    With a memory both are mixed. Of hypotheses that have less than the share `network_least` of the prefix's
    probability, the memory alone tells what follows, unless there is a session. Hypotheses that have less than the
    share `least` are followed only if the texts found without them are too few, and have less than the share
    `least_found` together.
    """

    def __init__(
        self,
        path: Path,
        segment: Segment,
        profile: Profile = DEFAULT,
        memory: Memory | None = None,
        network_least: float = 0.0,
        least: float = 0.0,
        least_found: float = 0.0,
    ) -> None:
        arrays = read_arrays(path)
        self._memory = memory
        self._network_weight = arrays.get("mixture.network_weight")
        self._network_least = network_least
        self._least, self._least_found = least, least_found
        self._least_read = -math.inf  # score of what the network reads, in this search
        self._network = PlainNetwork(arrays)
        self._pointer = PlainPointer(arrays) if "pointer.key" in arrays else None
        self._earlier: list[EarlierPiece] = []
        self._segment = segment
        self.closest_call = math.inf  # of the last search
        self._ending = arrays.get("ending.cost", np.zeros(len(arrays["pieces.kind"])))
        self._profile = profile
        _, self._unknown, self._begin, self._end = (int(special) for special in arrays["pieces.special"])
        text = arrays["pieces.text"].tobytes()
        edges = arrays["pieces.begin"]
        spelled = [text[begin:end].decode() for begin, end in pairwise(edges)]
        normal = arrays["pieces.kind"] == 1
        self._pieces = {piece: spelled[piece] for piece in range(len(spelled)) if normal[piece]}

    def complete(
        self,
        prefix: str,
        options: SearchOptions = DEFAULTS,
        surplus: int = 0,
        others: Readings = (),
        context: Sequence[str] = (),
    ) -> list[Completion]:
        """Return the likeliest texts that extend `prefix` or one of its other readings, best first.

        Of the texts found on the way, `surplus` more are returned. `context` has the earlier queries as they are
        stored, the oldest first.
        """
        self._earlier = self._read_earlier(context) if self._pointer else []
        starts = []
        for text, log_reading in [(normalise_prefix(prefix, self._profile), 0.0), *others]:
            escaped = MARK + text.replace(" ", MARK)
            for back in range(len(escaped) + 1):
                found_here = self._starts(escaped, back, options)
                starts += [replace(start, score=start.score + log_reading) for start in found_here]
        mass = _log_sum([self._mass(start) for start in starts])
        floor = mass + math.log(options.min_probability) if options.min_probability else -math.inf
        self.closest_call = math.inf
        limited = self._memory is not None and self._network_least > 0 and not self._earlier
        self._least_read = mass + math.log(self._network_least) if limited else -math.inf
        found = self._look(starts, max(floor, mass + math.log(self._least)) if self._least else floor, options)
        if self._least and options.prune and self._finds_little(found, mass):
            found = self._look(starts, floor, options)
        return _ranked(found, mass, floor, options, options.count + surplus)

    def _read_earlier(self, context: Sequence[str]) -> list["EarlierPiece"]:
        """Return every piece of the earlier queries, with the state before it and the age of its query."""
        earlier = []
        for age, query in enumerate(reversed(context)):
            (pieces,) = self._segment(MARK + query.replace(" ", MARK), 1)
            state = self._network.read(self._network.start(), self._begin)
            for piece in [*pieces, self._end][:MOST_COPIED]:
                earlier.append(EarlierPiece(piece, state, age))
                state = self._network.read(state, piece)
        return earlier

    def _predict(self, hypothesis: Hypothesis) -> Vector:
        """Return the log-probability of every piece as the next one, with what can be copied from the session."""
        if hypothesis.by_memory:
            return self._mixed(hypothesis, 0.0)
        predicted = self._mixed(hypothesis) if self._memory else self._network.predict(hypothesis.state)
        if self._pointer is None or not self._earlier:
            return predicted
        return self._pointer.mix(predicted, hypothesis.state, self._earlier)

    def _mixed(self, hypothesis: Hypothesis, weight: float | None = None) -> Vector:
        """Return what network and memory say; the network weighs as much as is fitted to contexts of this class."""
        assert self._memory is not None
        by_memory, kind = self._memory(hypothesis.pieces)
        if weight is None:
            weight = 0.5 if self._network_weight is None else float(self._network_weight[kind])
        by_network = np.exp(self._network.predict(hypothesis.state)) if weight else np.zeros_like(by_memory)
        mixed: Vector = np.log(np.maximum(weight * by_network + (1 - weight) * by_memory, _LEAST))
        return mixed

    def _finds_little(self, found: Found, mass: float) -> bool:
        """Tell whether so little is likely that what is unlikely may be wanted."""
        together = _log_sum([score for scores in found.scores.values() for score in scores])
        little = self._is_less(together, mass + math.log(self._least_found)) if self._least_found else False
        return len(found.scores) < found.count and little

    def _look(self, starts: list[Hypothesis], least: float, options: SearchOptions) -> Found:
        """Return what is found by hypotheses that score at least so much."""
        found = Found(options.count)
        for start in starts:
            if options.echo and start.tail in (MARK, "\0"):
                self._end_here(start, found)
        self._search(starts, found, least, options)
        return found

    def _search(self, starts: list[Hypothesis], found: Found, floor: float, options: SearchOptions) -> None:
        """Take the best of all hypotheses, of whatever length, until none can be an answer any more."""
        order = count()  # among equals the first comes first
        waiting = [(-child.score, next(order), child) for start in starts for child in self._children(start)]
        heapify(waiting)
        taken: dict[int, list[float]] = {}  # the scores of each length, of which the beam holds so many
        while waiting:
            best = heappop(waiting)[-1]
            if options.prune and self._is_less(best.score, max(found.bound(), floor)):
                return
            scores = taken.setdefault(best.parent.length + 1, [])
            if len(scores) == options.beam:
                self._is_less(best.score, scores[-1])
                continue
            scores.append(best.score)
            cost = (options.haste or 0.0) * float(self._ending[best.piece])
            if options.prune and self._is_less(best.score - cost, found.bound()):
                continue
            hypothesis = self._go_on(best)
            self._end_here(hypothesis, found)
            if hypothesis.length < options.max_pieces:
                for child in self._children(hypothesis):
                    heappush(waiting, (-child.score, next(order), child))

    def _is_less(self, score: float, other: float) -> bool:
        """Compare, and remember how close it was: where it is very close, another arithmetic may decide otherwise."""
        self.closest_call = min(self.closest_call, abs(score - other))
        return score < other

    def _starts(self, escaped: str, back: int, options: SearchOptions) -> list[Hypothesis]:
        """Return where a search may set out whose next piece covers the last `back` characters and goes on."""
        limit = len(escaped) if options.retrace is None else options.retrace
        tail = escaped[len(escaped) - back :]
        echoes = options.echo and tail == MARK
        if not (echoes or (back <= limit and any(self._extends(text, tail) for text in self._pieces.values()))):
            return []
        tail = tail if back <= limit else "\0"  # which no piece begins with: it may only end here
        head = escaped[: len(escaped) - back]
        return [self._read(head, pieces, tail) for pieces in self._segment(head, options.segmentations)]

    def _extends(self, text: str, tail: str) -> bool:
        return text.startswith(tail) and len(text) > len(tail)

    def _read(self, head: str, pieces: Sequence[int], tail: str) -> Hypothesis:
        state = self._network.read(self._network.start(), self._begin)
        start = Hypothesis(0.0, head, state, (), tail)
        for piece in pieces:
            score = start.score + float(self._predict(start)[piece])
            state = self._network.read(start.state, piece)
            start = replace(start, score=score, state=state, pieces=(*start.pieces, piece))
        return start

    def _mass(self, start: Hypothesis) -> float:
        """Return the log-probability of all texts that go through a start."""
        if not start.tail:
            return start.score
        log_probabilities = self._predict(start)
        allowed = [piece for piece, text in self._pieces.items() if self._extends(text, start.tail)]
        return _log_sum([start.score + float(log_probabilities[piece]) for piece in allowed])

    def _end_here(self, hypothesis: Hypothesis, found: Found) -> None:
        """Let a hypothesis end, if what it spells is a query."""
        if not hypothesis.text.endswith(MARK):
            found.add(hypothesis.text, hypothesis.score + float(self._predict(hypothesis)[self._end]))

    def _children(self, parent: Hypothesis) -> list[Child]:
        log_probabilities = self._predict(parent)
        return [
            Child(parent.score + float(log_probabilities[piece]), parent, piece)
            for piece, text in self._pieces.items()
            if self._extends(text, parent.tail) and not (parent.text.endswith(MARK) and text.startswith(MARK))
        ]

    def _go_on(self, child: Child) -> Hypothesis:
        parent = child.parent
        return Hypothesis(
            child.score,
            parent.text + self._pieces[child.piece],
            self._network.read(parent.state, child.piece),
            (*parent.pieces, child.piece),
            length=parent.length + 1,
            by_memory=self._is_less(child.score, self._least_read),
        )


def _ranked(found: Found, mass: float, floor: float, options: SearchOptions, count: int) -> list[Completion]:
    combine = _log_sum if options.merge else max
    scored = [(text, combine(scores)) for text, scores in found.scores.items()]
    kept = sorted((item for item in scored if item[1] >= floor), key=lambda item: (-item[1], item[0]))
    shift = mass if options.conditional else 0.0
    return [Completion(text, score - shift, "model") for text, score in kept[:count]]


def _log_sum(scores: Sequence[float]) -> float:
    peak = max(scores, default=-math.inf)
    return peak + math.log(sum(math.exp(score - peak) for score in scores)) if peak > -math.inf else peak


class PlainCompanions:
    """Words that were typed together, straight from the formula in `companions`."""

    def __init__(self, queries: Sequence[str]) -> None:
        self._queries = [set(query.split()) for query in queries if query.split()]
        self._in_order = [query.split() for query in queries if query.split()]
        self._ended = [words[-1] for words in self._in_order]
        self._words = sorted(set().union(*self._queries))

    def complete(self, prefix: str, count: int, most_met: float = math.inf) -> list[tuple[str, float]]:
        """Return how a query that has come to `prefix` may end with this word or the next; best first.

        A word of the prefix that stood beside more than `most_met` of the words that may come says nothing.
        """
        *before, part = prefix.split(" ")
        likely = [word for word in self._words if word.startswith(part)]
        met = {word for word in before if any(self._together(word, other) for other in self._words)}
        met -= {word for word in met if sum(self._together(word, other) > 0 for other in likely) > most_met}
        context = [word for word in dict.fromkeys(reversed(before)) if word in met][:20]
        if not context or not likely:
            return []
        weights = {word: sum(self._weight(one, word) for one in context) for word in likely}
        found = [
            (
                prefix + word[len(part) :],
                weights[word] / sum(weights.values()) * (self._ended.count(word) + 0.3) / (self._typed(word) + 1),
            )
            for word in likely
            if word != part and any(self._together(one, word) for one in context)
        ]
        return sorted(found, key=lambda each: (-each[1], each[0].encode()))[:count]

    def is_apart(self, text: str, matched: int, policy: Policy = DEFAULT_POLICY) -> bool:
        """Tell whether words of a text do not go together, from the first one on that is not typed whole.

        Two neighbours were never typed side by side in this order, or a word that does not join others never together
        with one of the last such words before; or it is there twice.
        """
        if self.repeats_word(text, matched, policy):
            return True
        words, begun = text.split(" "), text[: matched + 1].count(" ")
        joining = [self._joins(word, policy) for word in words]
        for place in range(max(begun, 1), len(words)):
            others = [word for word, joins in zip(words[:place], joining[:place], strict=True) if not joins]
            last = max(len(others) - int(policy.odd_words_before), 0)
            joined = others[last:] if not joining[place] else []
            if not self._side_by_side(words[place - 1], words[place]):
                return True
            if not all(self._together(word, words[place]) for word in joined):
                return True
        return False

    def repeats_word(self, text: str, matched: int, policy: Policy = DEFAULT_POLICY) -> bool:
        """Tell whether a word of a text that is not typed whole, and does not join others, is there twice."""
        words, begun = text.split(" "), text[: matched + 1].count(" ")
        again = [word for place, word in enumerate(words) if place >= begun and word in words[:place]]
        return any(not self._joins(word, policy) for word in again)

    def is_unfinished(self, text: str, policy: Policy = DEFAULT_POLICY) -> bool:
        """Tell whether a text of several words stops after one that joins others."""
        *before, last = text.split(" ")
        return bool(before) and self._joins(last, policy)

    def _joins(self, word: str, policy: Policy) -> bool:
        """Tell whether a word joins others: it seldom ends a query."""
        hits, trials = policy.companions_end_hits, policy.companions_end_trials
        typed = self._typed(word)
        return typed > 0 and (self._ended.count(word) + hits) / (typed + trials) < policy.odd_ending

    def _weight(self, one: str, word: str) -> float:
        met = sum(self._together(one, other) for other in self._words)
        share = self._typed(word) / sum(map(self._typed, self._words))
        return (self._together(one, word) + 5 * share) / (met + 5)

    def _typed(self, word: str) -> int:
        return sum(word in words for words in self._queries)

    def _side_by_side(self, one: str, other: str) -> bool:
        short = [words for words in self._in_order if len(set(words)) <= _MOST_WORDS]
        return one != other and any((one, other) in pairwise(words) for words in short)

    def _together(self, one: str, other: str) -> int:
        if one == other:
            return 0
        return min(255, sum({one, other} <= words and len(words) <= _MOST_WORDS for words in self._queries))


class PlainSpellings:
    """Queries in another spelling, straight from what `spellings` says of them."""

    def __init__(self, counts: Mapping[str, int], domain: str) -> None:
        self._counts, self._domain = counts, domain

    def complete(self, prefix: str, count: int) -> list[tuple[str, float]]:
        """Return how a query that has come to `prefix` may end by what was typed in another spelling; best first."""
        alike = [query for query in self._counts if letters(query).startswith(letters(prefix))]
        if len(letters(prefix)) < 2 or len(alike) > 50:
            return []
        total = sum(self._counts[query] for query in alike)
        found: dict[str, float] = {}
        for query in alike:
            ways = self._ways_on(prefix, query)
            for way in ways:
                if way and prefix + way != query:
                    share = self._counts[query] / total / len(ways)
                    found[prefix + way] = found.get(prefix + way, 0.0) + share
        return sorted(found.items(), key=lambda each: (-each[1], each[0].encode()))[:count]

    def _ways_on(self, prefix: str, query: str) -> set[str]:
        rest, domain = _beyond(query, prefix), cut_domain(query)[1]
        if len(rest) < len(domain):
            return {rest}
        plain = rest.removesuffix(domain).rstrip(" ")
        joined = plain.replace(" ", "")
        if " " in without_lead(prefix):
            return {rest, plain}
        return {rest, plain, joined, joined + (domain or self._domain_after(prefix + joined))}

    def _domain_after(self, text: str) -> str:
        if cut_domain(text)[1] or is_without_spaces(text) or not (only_letters(text[-1]) or text[-1] == "."):
            return ""
        return self._domain.removeprefix("." if text[-1] == "." else "")


def _beyond(query: str, prefix: str) -> str:
    """Return what a query has beyond the letters of a prefix, of which the last may be repeated in both."""
    rest, further = (_after_letters(text, letters(prefix)) for text in (query, prefix))
    for letter in further:
        if only_letters(letter) and only_letters(letter) == only_letters(rest[:1]):
            rest = rest[1:]
    while rest and not only_letters(prefix[-1]) and not only_letters(rest[0]):
        rest = rest[1:]
    return rest


def _after_letters(text: str, wanted: bytes) -> str:
    """Return what comes after the shortest beginning of a text, its lead left away, that has these letters."""
    body = without_lead(text)
    return next(body[end:] for end in range(len(body) + 1) if only_letters(body[:end]) == wanted)
