"""The n-gram memory: a Kneser-Ney model, pruned to a size, as arrays for a model file.

With V pieces, K the order of the memory, and all n-grams of a level (an order) sorted by (parent, piece):

- `ngram.shape` U32 (4): K, V, the begin piece, and B, the number of low bits of an entry that hold a code;
- `ngram.unigram` F32 (V): the probabilities of order 1;
- for each order L from 2 to K, `ngram.L.entry` U16 (U32 if V > 4096): per n-gram its last piece × 2^B + a code, and
  `ngram.L.gain` F32 (2^B): the gain that each code stands for;
- for each length L from 1 to K − 1, the n-grams as contexts: `ngram.L.children` U64: a bit array that has, per n-gram,
  one zero for each of its children in level L + 1, then a one (low bits first, padded with ones);
  `ngram.L.sample` U32: for every 64th n-gram, where its zeros begin and how many n-grams before it have children;
  `ngram.L.backoff` U8: one code per n-gram that has children;
- `ngram.backoff` F32 (256): the backoff that each code stands for;
- `ending.cost` F32 (V): the estimated cost of ending a query after each piece, in nats (see `ending`).

After context h, p(w | h) = backoff(h) · p(w | h without its first piece) + (1 − backoff(h)) · gain(hw) / (sum of the
gains of all n-grams kept after h). So every distribution sums to one, however coarse the codes are.
"""

from dataclasses import dataclass

import numpy as np

from halfword.core.errors import OptionError
from halfword.core.model_file import Array
from halfword.training.ending import ending_costs
from halfword.training.kneser_ney import Corpus, Estimate, Level, Mask, Numbers, Values, count_ngrams, estimate

MOST_ORDER = 8  # the highest order that the engine reads
_BACKOFF_CODES = 256
_SAMPLED = 64  # one sample per so many n-grams
_WIDEST_NARROW = 4096  # with so many pieces, 4 of 16 bits are left for a code


@dataclass(frozen=True, slots=True, kw_only=True)
class NgramOptions:
    """The order of the memory, and its size."""

    order: int = 8
    megabytes: float | None = None  # in the model file; None keeps every n-gram

    def __post_init__(self) -> None:
        if not 2 <= self.order <= MOST_ORDER:
            raise OptionError(f"the order of the memory must lie between 2 and {MOST_ORDER}, got {self.order}")
        if self.megabytes is not None and not self.megabytes > 0:
            raise OptionError(f"the size of the memory must be more than 0 megabytes, got {self.megabytes}")


def learn_ngram(corpus: Corpus, options: NgramOptions) -> dict[str, Array]:
    """Return the memory of `corpus`, as arrays for a model file."""
    levels = [level for level in count_ngrams(corpus, options.order) if len(level)]
    found = estimate(levels)
    keep = [np.ones(len(level), bool) for level in levels]
    if options.megabytes is not None:
        keep = prune(levels, found, options.megabytes * 1e6)
        found = estimate(levels, keep, found.discounts)
    costs = ending_costs(levels[1], corpus.vocabulary, corpus.end)
    while not keep[-1].any():
        keep.pop()
    return _layout(levels[: len(keep)], keep, found) | {"ending.cost": _array("F32", costs)}


def prune(levels: list[Level], found: Estimate, size: float) -> list[Mask]:
    """Choose the n-grams whose removal would cost the most likelihood, and their prefixes, up to `size` bytes."""
    losses = _losses(levels, found)
    best_child = [np.full(len(level), -np.inf) for level in levels]
    for order in range(len(levels) - 1, 1, -1):  # a kept n-gram keeps its prefixes
        np.maximum.at(best_child[order - 1], levels[order].parent, losses[order])
        np.maximum(losses[order - 1], best_child[order - 1], out=losses[order - 1])
    vocabulary = len(levels[0])
    number = sum(map(len, levels[1:]))
    loss = np.concatenate([*best_child[1:], *losses[1:]])
    cost = np.repeat([1.0, _cost(vocabulary)], number)  # bytes: of its backoff, if it has a child; of the n-gram itself
    ranked = np.argsort(-loss, kind="stable")  # of equal ones the lower order first, so that prefixes are kept
    within = np.cumsum(cost[ranked]) <= size - _least_size(vocabulary, len(levels))
    keep = np.zeros(2 * number, bool)
    keep[ranked[within]] = True
    ends = np.cumsum([number, *map(len, levels[1:-1])])
    return [np.ones(vocabulary, bool), *np.split(keep, ends)[1:]]


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
        losses.append(total * (probability * np.log(probability / without) - share * (1 - lower)))
    return losses


def _cost(vocabulary: int) -> float:
    """Return the bytes per n-gram: its entry, a zero for its parent, a one, and its share of a sample."""
    return _entry_bytes(vocabulary) + 2 / 8 + 8 / _SAMPLED


def _least_size(vocabulary: int, order: int) -> float:
    """Return the bytes of a memory that has only unigrams and codebooks."""
    codebooks = 4 * _BACKOFF_CODES + 4 * order * (1 << _code_bits(vocabulary))
    return vocabulary * (4 + 1 + 1 / 8 + 8 / _SAMPLED) + codebooks + 16 + 24 * order


def _entry_bytes(vocabulary: int) -> int:
    return 2 if vocabulary <= _WIDEST_NARROW else 4


def _code_bits(vocabulary: int) -> int:
    return min(8 * _entry_bytes(vocabulary) - (vocabulary - 1).bit_length(), 8)


def _layout(levels: list[Level], keep: list[Mask], found: Estimate) -> dict[str, Array]:
    vocabulary = len(levels[0])
    bits = _code_bits(vocabulary)
    begin = int(np.flatnonzero(levels[0].begins)[0])
    backoff, backoff_codes = _backoffs(levels, keep, found)
    arrays = {
        "ngram.shape": _array("U32", [len(levels), vocabulary, begin, bits]),
        "ngram.unigram": _array("F32", found.probability[0]),
        "ngram.backoff": _array("F32", backoff),
    }
    for order in range(2, len(levels) + 1):
        level, kept = levels[order - 1], keep[order - 1]
        gain = found.gain[order - 1][kept]
        codes, values = _quantise(np.log(gain), gain, 2**bits)
        entry = f"U{8 * _entry_bytes(vocabulary)}"
        arrays[f"ngram.{order}.entry"] = _array(entry, level.piece[kept] << bits | codes)
        arrays[f"ngram.{order}.gain"] = _array("F32", _filled(np.exp(values), 2**bits))
        children = np.bincount(level.parent[kept], minlength=len(levels[order - 2]))[keep[order - 2]]
        arrays |= _context_arrays(f"ngram.{order - 1}", children)
        arrays[f"ngram.{order - 1}.backoff"] = _array("U8", backoff_codes[order - 2])
    return arrays


def _backoffs(levels: list[Level], keep: list[Mask], found: Estimate) -> tuple[Values, list[Numbers]]:
    """Return the backoff of each code, and per length the codes of the contexts that have children."""
    parents = [np.unique(level.parent[kept]) for level, kept in zip(levels[1:], keep[1:], strict=True)]
    if not parents:
        return np.zeros(_BACKOFF_CODES), []
    backoff = np.concatenate([each[chosen] for each, chosen in zip(found.backoff[1:], parents, strict=False)])
    total = np.concatenate([each[chosen] for each, chosen in zip(found.total[1:], parents, strict=False)])
    backoff = np.clip(backoff, 1e-9, 1 - 1e-9)
    codes, values = _quantise(np.log(backoff / (1 - backoff)), total, _BACKOFF_CODES)
    parts = np.split(codes, np.cumsum([len(chosen) for chosen in parents])[:-1])
    return _filled(1 / (1 + np.exp(-values)), _BACKOFF_CODES), parts


def _context_arrays(name: str, children: Numbers) -> dict[str, Array]:
    """Return the bit array of the numbers of children, and the samples that speed up look-ups in it."""
    ends = np.cumsum(children + 1)
    bits = np.ones(-(-int(ends[-1]) // 64) * 64, np.uint8)
    bits[: ends[-1]] = 0
    bits[ends - 1] = 1
    begins = ends - children - 1
    parents_before: Numbers = np.cumsum(children > 0) - (children > 0)
    sample = np.stack([begins[::_SAMPLED], parents_before[::_SAMPLED]], axis=1)
    return {
        f"{name}.children": Array("U64", np.packbits(bits, bitorder="little").tobytes()),
        f"{name}.sample": _array("U32", sample.ravel()),
    }


def _quantise(values: Values, weights: Values, size: int) -> tuple[Numbers, Values]:
    """Return the codes of `values` and the value of each code: at most `size` means, by Lloyd's algorithm."""
    distinct, inverse = np.unique(np.round(values, 3), return_inverse=True)
    if len(distinct) <= size:
        return inverse, distinct
    mass = np.bincount(inverse, weights)
    means = np.linspace(distinct[0], distinct[-1], size)
    for _ in range(_ROUNDS):
        nearest = np.searchsorted((means[1:] + means[:-1]) / 2, distinct)
        masses = np.bincount(nearest, mass, len(means))
        used = masses > 0
        means = np.bincount(nearest, mass * distinct, len(means))[used] / masses[used]
    return np.searchsorted((means[1:] + means[:-1]) / 2, distinct)[inverse], means


_ROUNDS = 30  # of Lloyd's algorithm; it hardly changes after ten
_DTYPES = {"F32": "<f4", "U32": "<u4", "U16": "<u2", "U8": "u1"}


def _filled(table: Values, size: int) -> Values:
    return np.concatenate([table, np.zeros(size - len(table))])


def _array(dtype: str, values: object) -> Array:
    return Array(dtype, np.asarray(values).astype(_DTYPES[dtype]).tobytes())
