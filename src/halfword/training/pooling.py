"""Two n-gram memories over the same pieces become one: what a log taught, on top of what a larger log taught.

The memory of the larger log is the *background*. Its gains and totals count like those of the log itself, times a
weight for each order:

    p(w | h) = (gain(hw) + weight · background gain(hw)) / T(h) + backoff(h) · p(w | h without its first piece)
    T(h) = total(h) + weight · background total(h)

So a context that the log has often seen is the log's own matter, one that it has never seen is the background's, and
in between both count by how much they have seen. What a large log has seen a thousand times is not a thousand times
as sure in another log: each of its contexts *fades*, its gains and its total divided by total^fading. The result is a
memory like any other: it takes no more time. Weights and fading are those under which validation queries are the
likeliest.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from halfword.training.kneser_ney import Corpus, Numbers, Values, tokens_of
from halfword.training.memory import Memory, Order

GRID = (30.0, 10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001)  # weights that are tried
FADINGS = (0.0, 0.2, 0.4, 0.6)  # that are tried
USUAL = 0.1  # the weight where there are no validation queries
_ROUNDS = 2  # over all orders
_LEAST = 1e-12  # of a probability, before its logarithm is taken


@dataclass(frozen=True, slots=True)
class Share:
    """How much a background counts: its weight by order (single pieces first), and how far its contexts fade."""

    weights: list[float]
    fading: float = 0.0

    def with_orders(self, orders: int) -> "Share":
        """Return the same for at least so many orders; higher ones count as much as the highest."""
        return replace(self, weights=[*self.weights, *[self.weights[-1]] * (orders - len(self.weights))])


def orders_of(own: Memory, background: Memory) -> int:
    """Return how many weights a share needs: one for single pieces, and one for each order that either memory has."""
    return 1 + max(len(own.orders), len(background.orders))


def pool(own: Memory, background: Memory, share: Share) -> Memory:
    """Return the memory of both."""
    size, weights = own.vocabulary, share.weights
    mine, theirs = own.unigram_total, weights[0] * background.unigram_total
    unigram = (mine * own.unigram + theirs * background.unigram) / (mine + theirs)
    numbers: tuple[Numbers, Numbers] = np.arange(size), np.arange(size)  # of each one's n-grams among the pooled ones
    contexts, orders = size, []
    for place in range(max(len(own.orders), len(background.orders))):
        mine_here, theirs_here = _side(own, place, numbers[0]), _side(background, place, numbers[1])
        sides = [mine_here, (_faded(theirs_here[0], share.fading), theirs_here[1])]
        order, numbers = _pooled(sides, size, contexts, weights[place + 1])
        contexts = len(order)
        orders.append(order)
    return Memory(own.begin, unigram, orders, np.minimum(own.ending, background.ending))


def _side(memory: Memory, place: int, numbers: Numbers) -> tuple[Order, Numbers]:
    """Return an order of one memory (which may have none so high) and the numbers of its contexts."""
    if place < len(memory.orders):
        return memory.orders[place], numbers
    none, empty = np.empty(0, np.int64), np.empty(0)
    return Order(none, none, empty, empty, empty), none


def _faded(order: Order, fading: float) -> Order:
    """Return an order whose contexts count less, the more they have seen; what follows them is as likely as before."""
    factor = _fading(order.total, fading)
    return replace(order, gain=order.gain * factor[order.parent], total=order.total * factor)


def _fading(total: Values, fading: float) -> Values:
    """Return what contexts with these totals are multiplied by."""
    return np.where(total > 0, np.where(total > 0, total, 1.0) ** -fading, 1.0)


def _pooled(
    sides: list[tuple[Order, Numbers]], size: int, contexts: int, weight: float
) -> tuple[Order, tuple[Numbers, Numbers]]:
    keys = [numbers[order.parent] * size + order.piece for order, numbers in sides]
    union, inverse = np.unique(np.concatenate(keys), return_inverse=True)
    number = inverse[: len(keys[0])], inverse[len(keys[0]) :]
    gain, total, left = np.zeros(len(union)), np.zeros(contexts), np.zeros(contexts)
    for (order, numbers), places, factor in zip(sides, number, (1.0, weight), strict=True):
        gain[places] += factor * order.gain
        total[numbers[: len(order.total)]] += factor * order.total
        left[numbers[: len(order.total)]] += factor * order.total * order.backoff
    backoff = np.where(total > 0, left / np.where(total > 0, total, 1), 1.0)
    return Order(union % size, union // size, gain, total, backoff), number


@dataclass(frozen=True, slots=True)
class Reading:
    """What a memory knows at each token of some queries: the chance of the piece alone, then order by order."""

    unigram: Values
    unigram_total: float
    steps: list[tuple[Values, Values, Values]]  # gain, total and total · backoff
    predicted: Numbers  # the tokens that are not the begin of a query

    def step(self, place: int) -> tuple[Values, Values, Values]:
        """Return gain, total and total · backoff of an order; all 0 if the memory has none so high."""
        if place < len(self.steps):
            return self.steps[place]
        nothing = np.zeros(len(self.unigram))
        return nothing, nothing, nothing

    def faded(self, fading: float) -> "Reading":
        """Return what the memory knows where its contexts have faded."""
        factors = [_fading(total, fading) for _, total, _ in self.steps]
        return replace(
            self,
            steps=[(f * gain, f * total, f * rest) for f, (gain, total, rest) in zip(factors, self.steps, strict=True)],
        )


def read_queries(memory: Memory, corpus: Corpus) -> Reading:
    """Look up every token of `corpus` in every order of a memory."""
    tokens, left, _ = tokens_of(corpus)
    steps = []
    starts, node = np.arange(len(tokens)), tokens
    for length, order in enumerate(memory.orders, 2):
        inside = left[starts] >= length
        starts, node = starts[inside], node[inside]
        places = starts + length - 1
        key = node * memory.vocabulary + tokens[places]
        known = order.parent * memory.vocabulary + order.piece
        found = np.minimum(np.searchsorted(known, key), len(known) - 1)
        hit = known[found] == key
        gain, total, rest = np.zeros(len(tokens)), np.zeros(len(tokens)), np.zeros(len(tokens))
        gain[places[hit]] = order.gain[found[hit]]
        total[places] = order.total[node]
        rest[places] = order.total[node] * order.backoff[node]
        steps.append((gain, total, rest))
        starts, node = starts[hit], found[hit]
    predicted = np.flatnonzero(tokens != corpus.begin)
    return Reading(memory.unigram[tokens], memory.unigram_total, steps, predicted)


def log_likelihood(own: Reading, background: Reading | None = None, weights: Sequence[float] = ()) -> float:
    """Return the log-probability of the queries by one memory, or by two that are pooled."""
    probability = own.unigram
    if background is not None:
        mine, theirs = own.unigram_total, weights[0] * background.unigram_total
        probability = (mine * own.unigram + theirs * background.unigram) / (mine + theirs)
    highest = max(len(own.steps), len(background.steps) if background is not None else 0)
    for place in range(highest):
        gain, total, rest = own.step(place)
        if background is not None:
            more = background.step(place)
            weight = weights[place + 1]
            gain, total, rest = gain + weight * more[0], total + weight * more[1], rest + weight * more[2]
        divisor = np.where(total > 0, total, 1.0)
        probability = np.where(total > 0, (gain + rest * probability) / divisor, probability)
    return float(np.log(np.maximum(probability[own.predicted], _LEAST)).sum())


def fit_share(own: Memory, background: Memory, corpus: Corpus | None) -> Share:
    """Return how much the background must count for the queries of `corpus` to be the likeliest."""
    orders = orders_of(own, background)
    if corpus is None:
        return Share([USUAL] * orders)
    mine, theirs = read_queries(own, corpus), read_queries(background, corpus)
    fitted = []
    for fading in FADINGS:
        faded = theirs.faded(fading)
        weights = _fit_weights(mine, faded, orders)
        fitted.append((log_likelihood(mine, faded, weights), Share(weights, fading)))
    return max(fitted, key=lambda each: each[0])[1]


def _fit_weights(mine: Reading, theirs: Reading, orders: int) -> list[float]:
    """Return the weights, by order, under which what was read is the likeliest."""

    def likelihood(weights: list[float]) -> float:
        return log_likelihood(mine, theirs, weights)

    weights = max(([weight] * orders for weight in GRID), key=likelihood)
    for _ in range(_ROUNDS):
        for place in range(orders):
            tried = ([*weights[:place], weight, *weights[place + 1 :]] for weight in GRID)
            weights = max(tried, key=likelihood)
    return weights
