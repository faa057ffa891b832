"""The n-gram memory of a log of any size: counted by the engine, in bounded memory and on all cores.

The engine (`engine/training/`) does what grows with the log: it cuts queries into pieces, counts n-grams in sorted runs
that go to files when memory is full, and works out adjusted counts, losses and the arrays of the model file. What is
small is done here by the functions that `ngram` uses too. The arrays equal those of `learn_ngram` to the last bit.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfword.core.card import Card
from halfword.core.errors import DatasetError
from halfword.core.model_file import Array, read_header, write_model
from halfword.search.model import import_engine, open_model_file
from halfword.training.ending import ending_costs
from halfword.training.kneser_ney import Level, Numbers, Values, discounts_by_times, estimate_unigram, gains_of
from halfword.training.memory import (
    BYTES_PER_BACKOFF,
    backoff_codes,
    bytes_per_ngram,
    code_bits,
    entry_bytes,
    gain_codes,
    least_size,
    small_arrays,
)
from halfword.training.ngram import NgramOptions
from halfword.training.pieces import Pieces

Batch = tuple[Sequence[str], Sequence[int] | NDArray[Any]]  # queries, and how often each was typed
Counts = Mapping[str, int] | Iterable[Batch]

_COUNT_POWER = 0.75  # found on aol-1m's valid split (docs/research/blend.md)
_BATCH = 100_000  # queries that are handed to the engine at a time
_KEYS = 1 << 16  # of backoffs: their log-odds in thousandths, from −32,768 on


def batches_of(counts: Counts) -> Iterator[Batch]:
    """Yield the queries of a log in batches; a log may be given as such already."""
    if not isinstance(counts, Mapping):
        yield from counts
        return
    items = iter(counts.items())
    while some := list(islice(items, _BATCH)):
        yield [query for query, _ in some], [count for _, count in some]


def weights_of(counts: Sequence[int] | NDArray[Any]) -> NDArray[np.uint64]:
    """Return how much queries count in the memory that were typed so often.

    Popularity knows how often a query was typed; the memory does better if the most typed do not swamp it.
    """
    distinct, inverse = np.unique(np.asarray(counts, np.int64), return_inverse=True)
    weights = [max(1, round(count**_COUNT_POWER)) for count in distinct.tolist()]
    return np.array(weights, np.uint64)[inverse]


def learn_counted(
    counts: Counts, pieces: Mapping[str, Array], options: NgramOptions, folder: Path, memory: float
) -> dict[str, Array]:
    """Return the memory of a log as arrays for a model file, counted with about `memory` bytes.

    `pieces` are the arrays that queries are cut by. `folder` is for what is not kept in memory.
    """
    engine = import_engine()
    path = folder / "pieces.halfword"
    write_model(path, pieces, Card())
    segmenter = engine.Segmenter(open_model_file(path, read_header(path)))
    known = Pieces.of(pieces, segmenter.segment_batch)
    counter = counter_of(known.size, known.begin, known.end, options, folder, memory)
    empty = True
    for queries, typed in batches_of(counts):
        counter.add_texts(segmenter, queries, weights_of(typed))
        empty = empty and not queries
    if empty:
        raise DatasetError("there is no query to learn n-grams from")
    return counted_arrays(counter.finish(), known.begin, known.end, options)


def counter_of(
    vocabulary: int, begin: int, end: int, options: NgramOptions, folder: Path, memory: float, threads: int = 0
) -> Any:
    """Return what counts n-grams in the engine; without a number of threads, one per core."""
    counter: Any = import_engine().NgramCounter
    return counter(
        order=options.order,
        vocabulary=vocabulary,
        begin=begin,
        end=end,
        least_count=options.least_count,
        folder=str(folder),
        memory=int(memory),
        threads=threads,
    )


def counted_arrays(counted: Any, begin: int, end: int, options: NgramOptions) -> dict[str, Array]:
    """Return the memory of the n-grams that the engine has counted."""
    counted.adjust()
    discounts = [_discounts(counted, order) for order in range(1, counted.order + 1)]
    flat = np.concatenate(discounts)
    unigram = estimate_unigram(_unigram_counts(counted), discounts[0], begin)
    if options.megabytes is not None:
        size = len(unigram)
        room = options.megabytes * 1e6 - least_size(size, counted.order)
        counted.prune(flat, unigram, room, bytes_per_ngram(size), BYTES_PER_BACKOFF)
    elif options.least_count > 1:
        counted.keep_allowed()
    if options.megabytes is not None or options.least_count > 1:
        counted.adjust()
        unigram = estimate_unigram(_unigram_counts(counted), discounts[0], begin)
    first, second, count = counted.pairs()
    pairs = Level(second, first, second, count, first == begin)
    return _arrays(counted, begin, unigram, ending_costs(pairs, len(unigram), end), discounts)


def _arrays(counted: Any, begin: int, unigram: Values, ending: Values, discounts: list[Values]) -> dict[str, Array]:
    """Return the arrays, once it is known what is kept."""
    tables, codes = {}, []
    for order in range(2, counted.order + 1):
        counts, times = counted.times(order)
        if not len(counts):  # nothing so long is kept
            break
        of_counts, tables[f"ngram.{order}.gain"] = _gain_codes(counts, times, discounts[order - 1], len(unigram))
        codes.append((counts, of_counts))
    top = 1 + len(codes)
    masses = counted.backoffs(top, np.concatenate(discounts))
    used = np.flatnonzero(masses)
    of_used, backoffs = backoff_codes((used - _KEYS // 2) / 1000, masses[used])
    of_keys = np.zeros(_KEYS, np.uint8)
    of_keys[used] = of_used
    wide = entry_bytes(len(unigram)) > 2
    large = counted.arrays(code_bits(len(unigram)), wide, codes, of_keys)
    arrays = small_arrays(top, begin, unigram, ending, backoffs)
    return arrays | tables | {name: Array(dtype, data) for name, (dtype, data) in large.items()}


def _gain_codes(counts: Numbers, times: Numbers, discount: Values, vocabulary: int) -> tuple[NDArray[np.uint32], Array]:
    """Return the codes of the gains of some adjusted counts, and the array of the codes' values."""
    gains, inverse = np.unique(gains_of(counts.astype(float), discount), return_inverse=True)
    codes, table = gain_codes(gains, np.bincount(inverse, times).astype(np.int64), vocabulary)
    return codes[inverse].astype(np.uint32), table


def _discounts(counted: Any, order: int) -> Values:
    counts, times = counted.times(order)
    known = dict(zip(counts.tolist(), times.tolist(), strict=True))
    return discounts_by_times([float(known.get(number, 0)) for number in (1, 2, 3, 4)])


def _unigram_counts(counted: Any) -> Values:
    counts: Values = counted.unigram_counts().astype(np.float64)
    return counts
