"""Pruning what a model file holds already: n-grams, companions and queries, those first that are worth least.

An n-gram is worth the likelihood that would be lost without it, as `ngram.prune` has it when a memory is learned. Here
the counts are gone, but gains, totals and backoffs are stored; they tell the same, up to the rounding of their codes.
"""

from collections.abc import Mapping

import numpy as np

from halfword.core.model_file import Array
from halfword.training.kneser_ney import Mask, Numbers, Values
from halfword.training.memory import Memory, Order
from halfword.training.ngram import keep_most
from halfword.training.sorted_texts import read_texts

_LEAST = 1e-30  # of a probability, before its logarithm is taken


def prune_memory(memory: Memory, losses: list[Values], size: float) -> Memory:
    """Return a memory of at most about `size` bytes; what n-grams lose goes to the lower orders."""
    losses = [np.zeros(memory.vocabulary), *losses]
    parents = [np.empty(0, np.int64), *(order.parent for order in memory.orders)]
    keep = keep_most(losses, parents, size)
    while len(keep) > 1 and not keep[-1].any():
        keep.pop()
    orders = [
        _pruned(order, keep[place], keep[place + 1]) for place, order in enumerate(memory.orders[: len(keep) - 1])
    ]
    return Memory(memory.begin, memory.unigram, orders, memory.ending)


def _pruned(order: Order, contexts: Mask, kept: Mask) -> Order:
    """Return the n-grams kept of one order; `contexts` says which n-grams of the order below are kept."""
    number: Numbers = np.cumsum(contexts) - 1
    gain, parent = order.gain[kept], order.parent[kept]
    left = np.bincount(parent, gain, len(contexts))
    has_children = np.bincount(parent, minlength=len(contexts)) > 0
    share = left / np.where(has_children, order.total, 1.0)
    backoff = np.where(has_children, 1 - share, 1.0)[contexts]
    total = np.where(has_children, order.total, 0.0)[contexts]
    return Order(order.piece[kept], number[parent], gain, total, backoff)


def losses_of(memory: Memory) -> list[Values]:
    """Return per order the likelihood that pruning each n-gram alone would cost, in nats."""
    losses = []
    sequences: Numbers = np.arange(memory.vocabulary)[:, None]  # (n-grams of the order below, pieces)
    for order in memory.orders:
        sequences = np.concatenate([sequences[order.parent], order.piece[:, None]], axis=1)
        lower = np.maximum(probabilities(memory, sequences[:, 1:]), _LEAST)
        total, backoff = order.total[order.parent], order.backoff[order.parent]
        share = order.gain / total
        probability = share + backoff * lower
        without = (backoff + share) * lower
        losses.append(total * (probability * np.log(probability / without) - share * (1 - lower)))
    return losses


def probabilities(memory: Memory, sequences: Numbers) -> Values:
    """Return the probability of the last piece of each sequence (one per row) after the pieces before it."""
    length = sequences.shape[1]
    found = memory.unigram[sequences[:, -1]]
    for context in range(1, length):  # pieces before the last one that are looked at
        order = memory.orders[context - 1]
        node = find_context(memory, sequences[:, length - 1 - context : -1])
        known = node >= 0
        total = np.where(known, order.total[node], 0.0)
        child = _children(order, node, sequences[:, -1], memory.vocabulary)
        gain = np.where(child >= 0, order.gain[child], 0.0)
        found = np.where(total > 0, gain / np.where(total > 0, total, 1.0) + order.backoff[node] * found, found)
    return found


def find_context(memory: Memory, sequences: Numbers) -> Numbers:
    """Return the number of each sequence among the n-grams of its order; −1 if it is not one of them."""
    node = sequences[:, 0]
    for place in range(1, sequences.shape[1]):
        node = _children(memory.orders[place - 1], node, sequences[:, place], memory.vocabulary)
    return node


def _children(order: Order, node: Numbers, piece: Numbers, vocabulary: int) -> Numbers:
    keys = order.parent * vocabulary + order.piece  # ascending
    wanted = np.where(node >= 0, node * vocabulary + piece, -1)
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[place] == wanted, place, -1)


def read_counts(arrays: Mapping[str, Array]) -> dict[str, int]:
    """Return how often each query of a popularity index was typed."""
    counts = logged_counts(arrays).tolist()
    return dict(zip(read_texts(arrays["popular.text"].data, len(counts)), counts, strict=True))


def logged_counts(arrays: Mapping[str, Array]) -> Numbers:
    """Return the counts of a popularity index; those that do not fit a byte lie apart (`engine/store/popular.h`)."""
    counts = np.frombuffer(arrays["popular.count"].data, "u1").astype(np.int64)
    large, own = (np.frombuffer(arrays[f"popular.{name}"].data, "<u4") for name in ("large", "large_count"))
    counts[large] = own
    return counts


def most_typed(counts: Mapping[str, int], size: float) -> dict[str, int]:
    """Return the most typed queries whose texts and counts have at most `size` bytes, before they are front-coded."""
    ranked = sorted(counts, key=lambda query: (-counts[query], query))
    sizes = np.cumsum([len(query.encode()) + 8 for query in ranked])
    return {query: counts[query] for query in ranked[: int(np.searchsorted(sizes, size, "right"))]}
