"""The n-gram memory as numbers, and how it lies in a model file.

With V pieces, K the order of the memory, and all n-grams of a level (an order) sorted by (parent, piece):

- `ngram.shape` U32 (4): K, V, the begin piece, and B, the number of low bits of an entry that hold a code;
- `ngram.unigram` F32 (V): the probabilities of order 1;
- for each order L from 2 to K, `ngram.L.entry` U16 (U32 if V > 4096): per n-gram its last piece × 2^B + a code, and
  `ngram.L.gain` F32 (2^B): the gain that each code stands for;
- for each length L from 1 to K − 1, the n-grams as contexts: `ngram.L.children` U64: a bit array that has, per n-gram,
  one zero for each of its children in level L + 1, then a one (low bits first, padded with ones);
  `ngram.L.sample` U32: for every 64th n-gram, where its zeros begin and how many n-grams before it have several
  children; `ngram.L.backoff` U8: one code per n-gram that has several children;
- `ngram.backoff` F32 (256): the backoff that each code stands for;
- `ngram.L.alone` F32 (2, C), for n-grams of length L that have one child: the backoff that each of the C codes of such
  children stands for (at most 64), and the mean total of these contexts. An only child needs no gain, for it takes all
  that is not left to shorter contexts. With few bits for a code (B < 6) these arrays are missing: then each n-gram that
  has a child has a backoff of its own, and is counted by the samples;
- `ending.cost` F32 (V): the estimated cost of ending a query after each piece, in nats (see `ending`).

After context h, p(w | h) = backoff(h) · p(w | h without its first piece) + (1 − backoff(h)) · gain(hw) / (sum of the
gains of all n-grams kept after h). So every distribution sums to one, however coarse the codes are.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from halfword.core.model_file import Array
from halfword.training.kneser_ney import Mask, Numbers, Values, logarithms

BYTES_PER_BACKOFF = 1.0
_BACKOFF_CODES = 256
_SAMPLED = 64  # one sample per so many n-grams
_WIDEST_NARROW = 4096  # with so many pieces, 4 of 16 bits are left for a code
_FEWEST_BITS = 6  # of a code that tells backoffs apart as well as one of their own: 64 of them in each order
_ROUNDS = 30  # of Lloyd's algorithm; it hardly changes after ten
_DTYPES = {"F32": "<f4", "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "u1"}


@dataclass(frozen=True, slots=True)
class Order:
    """The n-grams of one order, sorted by (parent, piece), and the contexts before their last pieces."""

    piece: Numbers
    parent: Numbers  # the context: its number in the order below
    gain: Values
    total: Values  # per context: what its gains and its backoff are shares of; 0 where nothing follows it
    backoff: Values  # per context; 1 where nothing follows it

    def __len__(self) -> int:
        return len(self.piece)


@dataclass(frozen=True, slots=True)
class Memory:
    """An n-gram memory: the probabilities of single pieces, and what each context of one piece or more adds."""

    begin: int
    unigram: Values
    orders: list[Order]  # 2 and more
    ending: Values  # see `ending`

    @property
    def vocabulary(self) -> int:
        """Return the number of pieces."""
        return len(self.unigram)

    @property
    def unigram_total(self) -> float:
        """Return what the probabilities of single pieces are shares of: after how many pieces they were seen."""
        return float(len(self.orders[0])) if self.orders else 1.0


def memory_arrays(memory: Memory) -> dict[str, Array]:
    """Return a memory as arrays for a model file."""
    bits, alone = code_bits(memory.vocabulary), codes_only_children(memory.vocabulary)
    numbers = [np.bincount(order.parent, minlength=len(order.total)) for order in memory.orders]
    listed = [each > (1 if alone else 0) for each in numbers]  # contexts that have a backoff of their own
    codes, values = _backoffs(memory, listed)
    arrays = small_arrays(len(memory.orders) + 1, memory.begin, memory.unigram, memory.ending, values)
    for length, (order, number) in enumerate(zip(memory.orders, numbers, strict=True), 1):
        gains, inverse, times = np.unique(order.gain, return_inverse=True, return_counts=True)
        of_gains, arrays[f"ngram.{length + 1}.gain"] = gain_codes(gains, times, memory.vocabulary)
        of_entries = of_gains[inverse]
        if alone:
            only = number[order.parent] == 1
            of_entries[only], arrays[f"ngram.{length}.alone"] = _alone(order, order.parent[only])
        entry = f"U{8 * entry_bytes(memory.vocabulary)}"
        arrays[f"ngram.{length + 1}.entry"] = _array(entry, order.piece << bits | of_entries)
        arrays |= _context_arrays(f"ngram.{length}", number, listed[length - 1])
        arrays[f"ngram.{length}.backoff"] = _array("U8", codes[length - 1] if len(codes[length - 1]) else [0])
    return arrays


def small_arrays(order: int, begin: int, unigram: Values, ending: Values, backoffs: Values) -> dict[str, Array]:
    """Return the arrays that have one value per piece or per code; `backoffs` are the values of the codes."""
    shape = [order, len(unigram), begin, code_bits(len(unigram))]
    return {
        "ngram.shape": _array("U32", shape),
        "ngram.unigram": _array("F32", unigram),
        "ngram.backoff": _array("F32", _filled(backoffs, _BACKOFF_CODES)),
        "ending.cost": _array("F32", ending),
    }


def gain_codes(gains: Values, times: Numbers, vocabulary: int) -> tuple[Numbers, Array]:
    """Return the codes of some gains, of which each occurs so many times, and the array of the codes' values."""
    size = 2 ** code_bits(vocabulary)
    distinct, inverse = np.unique(np.round(logarithms(gains), 3), return_inverse=True)
    codes, means = codebook(distinct, np.bincount(inverse, times * gains).astype(np.float64), size)
    values = np.fromiter(map(math.exp, means.tolist()), np.float64, len(means))
    # Codes that no gain has may be those of only children, whose gains must not be 0.
    return codes[inverse], _array("F32", np.concatenate([values, np.full(size - len(values), values[-1])]))


def backoff_codes(log_odds: Values, masses: Values, size: int = _BACKOFF_CODES) -> tuple[Numbers, Values]:
    """Return the codes of some backoffs, given as ascending log-odds with their masses, and the codes' backoffs."""
    codes, means = codebook(log_odds, masses, size)
    return codes, np.fromiter((1 / (1 + math.exp(-mean)) for mean in means.tolist()), np.float64, len(means))


def alone_codes(log_odds: Values, masses: Values, times: Numbers) -> tuple[Numbers, Array]:
    """Return the codes of the only children of some contexts, and the array of the codes' backoffs and totals.

    The contexts are given as ascending log-odds of their backoffs, with the sum of their totals and their number.
    """
    codes, backoffs = backoff_codes(log_odds, masses, 2**_FEWEST_BITS)
    if not len(codes):
        return codes, _array("F32", [1.0, 0.0])  # none, but there must be one to be read
    totals = np.bincount(codes, masses) / np.bincount(codes, times)
    return codes, _array("F32", np.concatenate([backoffs, totals]))


def codes_only_children(vocabulary: int) -> bool:
    """Tell whether the code of an only child stands for the backoff of its context."""
    return code_bits(vocabulary) >= _FEWEST_BITS


def read_memory(arrays: Mapping[str, Array]) -> Memory:
    """Return the memory that lies in the arrays of a model file; only the codes have made it coarser."""
    top, vocabulary, begin, bits = (int(number) for number in _numbers(arrays["ngram.shape"]))
    backoffs = _numbers(arrays["ngram.backoff"]).astype(float)
    orders: list[Order] = []
    contexts = vocabulary
    for length in range(1, top):
        entries = _numbers(arrays[f"ngram.{length + 1}.entry"]).astype(np.int64)
        codes = entries & ((1 << bits) - 1)
        gain = _numbers(arrays[f"ngram.{length + 1}.gain"]).astype(float)[codes]
        parent = _parents(arrays[f"ngram.{length}.children"], contexts)
        number, alone = np.bincount(parent, minlength=contexts), arrays.get(f"ngram.{length}.alone")
        listed = number > (0 if alone is None else 1)
        backoff = np.ones(contexts)
        backoff[listed] = backoffs[_numbers(arrays[f"ngram.{length}.backoff"])[: listed.sum()]]
        if alone is not None:
            only = number[parent] == 1
            own, totals = _numbers(alone).astype(float).reshape(2, -1)[:, codes[only]]
            backoff[parent[only]], gain[only] = own, totals * (1 - own)
        total = np.where(number > 0, np.bincount(parent, gain, contexts) / np.maximum(1 - backoff, 1e-9), 0.0)
        orders.append(Order(entries >> bits, parent, gain, total, backoff))
        contexts = len(entries)
    unigram, ending = _numbers(arrays["ngram.unigram"]), _numbers(arrays["ending.cost"])
    return Memory(begin, unigram.astype(float), orders, ending.astype(float))


def bytes_per_ngram(vocabulary: int) -> float:
    """Return the size of an n-gram: its entry, a zero for its parent, a one, and its share of a sample."""
    return entry_bytes(vocabulary) + 2 / 8 + 8 / _SAMPLED


def least_size(vocabulary: int, order: int) -> float:
    """Return the bytes of a memory that has only unigrams and codebooks."""
    of_order = (1 << code_bits(vocabulary)) + (2 << _FEWEST_BITS if codes_only_children(vocabulary) else 0)
    codebooks = 4 * _BACKOFF_CODES + 4 * order * of_order
    return vocabulary * (4 + 1 + 1 / 8 + 8 / _SAMPLED) + codebooks + 16 + 24 * order


def entry_bytes(vocabulary: int) -> int:
    """Return the size of an entry: a piece and a code."""
    return 2 if vocabulary <= _WIDEST_NARROW else 4


def code_bits(vocabulary: int) -> int:
    """Return how many bits of an entry hold a code."""
    return min(8 * entry_bytes(vocabulary) - (vocabulary - 1).bit_length(), 8)


def _backoffs(memory: Memory, listed: list[Mask]) -> tuple[list[Numbers], Values]:
    """Return per length the codes of the contexts that are listed, and the backoff of each code."""
    if not memory.orders:
        return [], np.empty(0)
    log_odds = np.concatenate(
        [_log_odds(order.backoff[some]) for order, some in zip(memory.orders, listed, strict=True)]
    )
    total = np.concatenate([order.total[some] for order, some in zip(memory.orders, listed, strict=True)])
    distinct, inverse = np.unique(log_odds, return_inverse=True)
    codes, values = backoff_codes(distinct, np.bincount(inverse, total).astype(np.float64))
    return np.split(codes[inverse], np.cumsum([some.sum() for some in listed])[:-1]), values


def _alone(order: Order, contexts: Numbers) -> tuple[Numbers, Array]:
    """Return the codes of the only children of some contexts, and the array of what they stand for."""
    distinct, inverse, times = np.unique(_log_odds(order.backoff[contexts]), return_inverse=True, return_counts=True)
    masses = np.bincount(inverse, order.total[contexts]).astype(np.float64)
    codes, table = alone_codes(distinct, masses, times)
    return codes[inverse], table


def _log_odds(backoff: Values) -> Values:
    """Return the log-odds of some backoffs, in thousandths."""
    backoff = np.clip(backoff, 1e-9, 1 - 1e-9)
    rounded: Values = np.round(logarithms(backoff / (1 - backoff)), 3)
    return rounded


def _context_arrays(name: str, children: Numbers, listed: Mask) -> dict[str, Array]:
    """Return the bit array of the numbers of children, and the samples that speed up look-ups in it."""
    ends = np.cumsum(children + 1)
    bits = np.ones(-(-int(ends[-1]) // 64) * 64, np.uint8)
    bits[: ends[-1]] = 0
    bits[ends - 1] = 1
    begins = ends - children - 1
    listed_before: Numbers = np.cumsum(listed) - listed
    sample = np.stack([begins[::_SAMPLED], listed_before[::_SAMPLED]], axis=1)
    return {
        f"{name}.children": Array("U64", np.packbits(bits, bitorder="little").tobytes()),
        f"{name}.sample": _array("U32", sample.ravel()),
    }


def _parents(children: Array, contexts: int) -> Numbers:
    """Return the parent of each n-gram, from the bit array that `_context_arrays` makes."""
    bits = np.unpackbits(np.frombuffer(children.data, np.uint8), bitorder="little")
    ones = np.flatnonzero(bits)[:contexts]
    numbers = np.diff(ones, prepend=-1) - 1
    return np.repeat(np.arange(contexts), numbers)


def codebook(distinct: Values, mass: Values, size: int) -> tuple[Numbers, Values]:
    """Return the code of each of the ascending values and the value of each code: at most `size`, by Lloyd's method."""
    if len(distinct) <= size:
        return np.arange(len(distinct)), distinct
    means = np.linspace(distinct[0], distinct[-1], size)
    for _ in range(_ROUNDS):
        nearest = np.searchsorted((means[1:] + means[:-1]) / 2, distinct)
        masses = np.bincount(nearest, mass, len(means))
        used = masses > 0
        means = np.bincount(nearest, mass * distinct, len(means))[used] / masses[used]
    return np.searchsorted((means[1:] + means[:-1]) / 2, distinct), means


def _filled(table: Values, size: int) -> Values:
    return np.concatenate([table, np.zeros(size - len(table))])


def _array(dtype: str, values: object) -> Array:
    return Array(dtype, np.asarray(values).astype(_DTYPES[dtype]).tobytes())


def _numbers(array: Array) -> np.ndarray:
    return np.frombuffer(array.data, _DTYPES[array.dtype])
