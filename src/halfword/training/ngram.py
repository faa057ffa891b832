"""Learning the n-gram memory: a Kneser-Ney model, pruned to a size. `memory` tells how it is stored."""

from dataclasses import dataclass

import numpy as np

from halfword.core.errors import OptionError
from halfword.core.model_file import Array
from halfword.training.ending import ending_costs
from halfword.training.kneser_ney import (
    Corpus,
    Estimate,
    Level,
    Mask,
    Numbers,
    Values,
    count_ngrams,
    estimate,
    logarithms,
)
from halfword.training.memory import (
    BYTES_PER_BACKOFF,
    Memory,
    Order,
    bytes_per_ngram,
    codes_only_children,
    least_size,
    memory_arrays,
)

MOST_ORDER = 8  # the highest order that the engine reads


@dataclass(frozen=True, slots=True, kw_only=True)
class NgramOptions:
    """The order of the memory, and its size."""

    order: int = 8
    megabytes: float | None = None  # in the model file; None keeps every n-gram
    least_count: int = 1  # n-grams that occur less often are left out, so that no single query can be recited

    def __post_init__(self) -> None:
        if not 2 <= self.order <= MOST_ORDER:
            raise OptionError(f"the order of the memory must lie between 2 and {MOST_ORDER}, got {self.order}")
        if self.megabytes is not None and not self.megabytes > 0:
            raise OptionError(f"the size of the memory must be more than 0 megabytes, got {self.megabytes}")


def learn_ngram(corpus: Corpus, options: NgramOptions) -> dict[str, Array]:
    """Return the memory of `corpus`, as arrays for a model file."""
    return memory_arrays(learn_memory(corpus, options))


def learn_memory(corpus: Corpus, options: NgramOptions) -> Memory:
    """Return the memory of `corpus`."""
    levels = [level for level in count_ngrams(corpus, options.order) if len(level)]
    found = estimate(levels)
    single, *longer = levels
    keep = [np.ones(len(single), bool), *(level.count >= options.least_count for level in longer)]
    if options.megabytes is not None and room_for_ngrams(options, list(map(len, levels))) is not None:
        keep = prune(levels, found, options.megabytes * 1e6, keep)
    if not all(kept.all() for kept in keep):
        found = estimate(levels, keep, found.discounts)
    costs = ending_costs(levels[1], corpus.vocabulary, corpus.end)
    while not keep[-1].any():
        keep.pop()
    orders = [_order(levels, keep, found, place) for place in range(1, len(keep))]
    return Memory(corpus.begin, found.probability[0], orders, costs)


def room_for_ngrams(options: NgramOptions, sizes: list[int]) -> float | None:
    """Return the bytes that all n-grams of more than one piece may take; None if there are enough.

    `sizes` says how many n-grams of each order there are, single pieces first.
    """
    if options.megabytes is None:
        return None
    vocabulary, *longer = sizes
    room = options.megabytes * 1e6 - least_size(vocabulary, len(sizes))
    return room if sum(longer) * (bytes_per_ngram(vocabulary) + BYTES_PER_BACKOFF) > room else None


def _order(levels: list[Level], keep: list[Mask], found: Estimate, place: int) -> Order:
    """Return the n-grams kept of one order, and what belongs to their contexts."""
    level, kept, below = levels[place], keep[place], keep[place - 1]
    number = np.cumsum(below) - 1  # of each context among those kept
    has_children = np.bincount(level.parent[kept], minlength=len(below)) > 0
    total = np.where(has_children, found.total[place], 0.0)[below]
    backoff = np.where(has_children, found.backoff[place], 1.0)[below]
    return Order(level.piece[kept], number[level.parent[kept]], found.gain[place][kept], total, backoff)


def prune(levels: list[Level], found: Estimate, size: float, allowed: list[Mask] | None = None) -> list[Mask]:
    """Choose the n-grams whose removal would cost the most likelihood, and their prefixes, up to `size` bytes.

    Of `allowed` n-grams the prefixes must be allowed too.
    """
    losses = _losses(levels, found)
    if allowed is not None:
        losses = [np.where(some, loss, -np.inf) for some, loss in zip(allowed, losses, strict=True)]
    return keep_most(losses, [level.parent for level in levels], size)


def keep_most(losses: list[Values], parents: list[Numbers], size: float) -> list[Mask]:
    """Choose the n-grams with the greatest losses, and their prefixes, up to `size` bytes; all single pieces stay.

    `losses` and `parents` have one entry for each order, single pieces first. A loss of −∞ is never chosen.
    """
    losses = list(losses)
    vocabulary = len(losses[0])
    paid = 1 if codes_only_children(vocabulary) else 0  # the child with which a backoff takes room
    of_backoff = [np.full(len(loss), -np.inf) for loss in losses]
    for order in range(len(losses) - 1, 1, -1):  # a kept n-gram keeps its prefixes
        first, *_ = best = _best_children(losses[order], parents[order], len(losses[order - 1]))
        losses[order - 1] = np.maximum(losses[order - 1], first)
        of_backoff[order - 1] = best[paid]
    number = sum(map(len, losses[1:]))
    loss = np.concatenate([*of_backoff[1:], *losses[1:]])
    cost = np.repeat([BYTES_PER_BACKOFF, bytes_per_ngram(vocabulary)], number)
    ranked = np.argsort(-loss, kind="stable")  # of equal ones the lower order first, so that prefixes are kept
    within = np.cumsum(cost[ranked]) <= size - least_size(vocabulary, len(losses))
    keep = np.zeros(2 * number, bool)
    keep[ranked[within]] = True
    keep &= loss > -np.inf
    ends = np.cumsum([number, *map(len, losses[1:-1])])
    return [np.ones(vocabulary, bool), *np.split(keep, ends)[1:]]


def _best_children(loss: Values, parent: Numbers, contexts: int) -> tuple[Values, Values]:
    """Return per context the greatest loss of a child, and that of the second; −∞ where there is none."""
    first, second = np.full(contexts, -np.inf), np.full(contexts, -np.inf)
    ranked = np.lexsort((-loss, parent))
    owner = parent[ranked]
    begins = np.flatnonzero(np.diff(owner, prepend=-1))
    first[owner[begins]] = loss[ranked[begins]]
    several = begins[np.diff(begins, append=len(owner)) > 1]
    second[owner[several]] = loss[ranked[several + 1]]
    return first, second


def _losses(levels: list[Level], found: Estimate) -> list[Values]:
    """Return the likelihood that pruning each n-gram alone would cost, in nats over the tokens that reach its context.

    Without hw its gain goes to the lower orders: w becomes less likely, and everything else slightly more likely.
    """
    losses = [np.zeros(len(levels[0]))]
    for order in range(1, len(levels)):
        level, probability = levels[order], found.probability[order]
        total = found.total[order][level.parent]
        share = found.gain[order] / total
        lower = found.probability[order - 1][level.suffix]
        without = (found.backoff[order][level.parent] + share) * lower
        losses.append(total * (probability * logarithms(probability / without) - share * (1 - lower)))
    return losses
