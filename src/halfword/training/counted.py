"""The n-gram memory of a log of any size: counted by the engine, in bounded memory and on all cores.

The engine (`engine/training/`) does what grows with the log: it cuts queries into pieces, counts n-grams in sorted runs
that go to files when memory is full, and works out adjusted counts, losses and the arrays of the model file. What is
small is done here by the functions that `ngram` uses too. The arrays equal those of `learn_ngram` to the last bit.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from halfword.core.card import Card
from halfword.core.errors import DatasetError
from halfword.core.model_file import Array, read_header, write_model
from halfword.core.scratch import room_checked, scratch_folder
from halfword.search.model import import_engine, open_model_file
from halfword.training.ending import ending_costs
from halfword.training.kneser_ney import Level, Numbers, Values, discounts_by_times, estimate_unigram, gains_of
from halfword.training.memory import (
    BYTES_PER_BACKOFF,
    alone_codes,
    backoff_codes,
    bytes_per_ngram,
    code_bits,
    codes_only_children,
    entry_bytes,
    gain_codes,
    small_arrays,
)
from halfword.training.ngram import NgramOptions, room_for_ngrams
from halfword.training.pieces import Pieces

if TYPE_CHECKING:
    from halfword._engine import CountedNgrams, NgramCounter, Segmenter


@runtime_checkable
class Table(Protocol):
    """Queries in columns, each an object with a buffer; so none of them becomes a Python object."""

    @property
    def text(self) -> Any:
        """All queries in UTF-8, one after the other."""

    @property
    def begin(self) -> Any:
        """U64: where each query begins, and where the last one ends."""

    @property
    def count(self) -> Any:
        """U64: how often each was typed."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """What counting may take."""

    output: Path  # what does not fit into memory lies beside this file meanwhile
    memory: float  # bytes


Numbers64 = NDArray[np.uint64]
Batch = tuple[Sequence[str], Sequence[int] | NDArray[Any]]  # queries, and how often each was typed
Counts = Mapping[str, int] | Iterable[Batch] | Table

COUNT_POWER = 0.75  # found on aol-1m's valid split (docs/research/blend.md)
_BATCH = 100_000  # queries that are handed to the engine at a time
_KEYS = 1 << 16  # of backoffs: their log-odds in thousandths, from −32,768 on


def batches_of(counts: Mapping[str, int] | Iterable[Batch]) -> Iterator[Batch]:
    """Yield the queries of a log in batches; a log may be given as such already."""
    if not isinstance(counts, Mapping):
        yield from counts
        return
    items = iter(counts.items())
    while some := list(islice(items, _BATCH)):
        yield [query for query, _ in some], [count for _, count in some]


def weights_of(counts: Sequence[int] | NDArray[Any]) -> Numbers64:
    """Return how much queries count in the memory that were typed so often.

    Popularity knows how often a query was typed; the memory does better if the most typed do not swamp it.
    """
    distinct, inverse = np.unique(np.asarray(counts, np.int64), return_inverse=True)
    weights = [max(1, round(count**COUNT_POWER)) for count in distinct.tolist()]
    return np.array(weights, np.uint64)[inverse]


def learn_counted(
    counts: Counts, pieces: Mapping[str, Array], options: NgramOptions, bounds: Bounds
) -> dict[str, Array]:
    """Return the memory of a log as arrays for a model file; `pieces` are the arrays that queries are cut by."""
    engine = import_engine()
    with scratch_folder(bounds.output) as folder, room_checked(bounds.output):
        path = folder / "pieces.halfword"
        write_model(path, pieces, Card())
        segmenter = engine.Segmenter(open_model_file(path, read_header(path)))
        known = Pieces.of(pieces, segmenter.segment_batch)
        counter = counter_of(known.size, known.begin, known.end, options, folder, bounds.memory)
        if not _add(counter, segmenter, counts):
            raise DatasetError("there is no query to learn n-grams from")
        return counted_arrays(counter.finish(), known.begin, known.end, options)


def _add(counter: "NgramCounter", segmenter: "Segmenter", counts: Counts) -> int:
    """Count all queries of a log; returns how many there are."""
    if isinstance(counts, Table):
        typed = np.frombuffer(counts.count, np.uint64)
        text, begins = np.frombuffer(counts.text, np.uint8), np.frombuffer(counts.begin, np.uint64)
        counter.add_columns(segmenter, text, begins, weights_of(typed))
        return len(typed)
    number = 0
    for queries, each in batches_of(counts):
        counter.add_texts(segmenter, queries, weights_of(each))
        number += len(queries)
    return number


def counter_of(
    vocabulary: int, begin: int, end: int, options: NgramOptions, folder: Path, memory: float, threads: int = 0
) -> "NgramCounter":
    """Return what counts n-grams in the engine; without a number of threads, one per core."""
    counter: NgramCounter = import_engine().NgramCounter(
        order=options.order,
        vocabulary=vocabulary,
        begin=begin,
        end=end,
        least_count=options.least_count,
        folder=str(folder),
        memory=int(memory),
        threads=threads,
    )
    return counter


def counted_arrays(
    counted: "CountedNgrams", begin: int, end: int, options: NgramOptions, times: Sequence[Sequence[int]] | None = None
) -> dict[str, Array]:
    """Return the memory of the n-grams that the engine has counted.

    `times` says how many n-grams of each order have the adjusted counts 1, 2, 3 and 4, where some were cut before.
    """
    counted.adjust()
    known = times or [_times(counted, order) for order in range(1, counted.order + 1)]
    discounts = [discounts_by_times(list(map(float, each))) for each in known[: counted.order]]
    flat = np.concatenate(discounts)
    unigram = estimate_unigram(_unigram_counts(counted), discounts[0], begin)
    room = room_for_ngrams(options, [counted.size(order) for order in range(1, counted.order + 1)])
    if room is not None:
        alone = codes_only_children(len(unigram))
        counted.prune(flat, unigram, room, bytes_per_ngram(len(unigram)), BYTES_PER_BACKOFF, alone)
    elif options.least_count > 1:
        counted.keep_allowed()
    if room is not None or options.least_count > 1:
        counted.adjust()
        unigram = estimate_unigram(_unigram_counts(counted), discounts[0], begin)
    first, second, count = counted.pairs()
    pairs = Level(second, first, second, count, first == begin)
    return _arrays(counted, begin, unigram, ending_costs(pairs, len(unigram), end), discounts)


def _arrays(
    counted: "CountedNgrams", begin: int, unigram: Values, ending: Values, discounts: list[Values]
) -> dict[str, Array]:
    """Return the arrays, once it is known what is kept."""
    tables, codes = {}, []
    for order in range(2, counted.order + 1):
        counts, times = counted.times(order)
        if not len(counts):  # nothing so long is kept
            break
        of_counts, tables[f"ngram.{order}.gain"] = _gain_codes(counts, times, discounts[order - 1], len(unigram))
        codes.append((counts, of_counts))
    top = 1 + len(codes)
    masses, only = counted.backoffs(top, np.concatenate(discounts), codes_only_children(len(unigram)))
    used = np.flatnonzero(masses)
    of_used, backoffs = backoff_codes(_log_odds(used), masses[used])
    alone = []
    for length, (mass, number) in enumerate(only, 1):
        known = np.flatnonzero(number)
        each, tables[f"ngram.{length}.alone"] = alone_codes(_log_odds(known), mass[known], number[known])
        alone.append(_by_key(known, each))
    wide = entry_bytes(len(unigram)) > 2
    large = counted.arrays(code_bits(len(unigram)), wide, codes, _by_key(used, of_used), alone)
    arrays = small_arrays(top, begin, unigram, ending, backoffs)
    return arrays | tables | {name: Array(dtype, data) for name, (dtype, data) in large.items()}


def _log_odds(keys: Numbers) -> Values:
    """Return the log-odds that some keys of backoffs stand for."""
    odds: Values = (keys - _KEYS // 2) / 1000
    return odds


def _by_key(used: Numbers, codes: Numbers) -> NDArray[np.uint8]:
    """Return the codes of some keys among those of all."""
    of_keys = np.zeros(_KEYS, np.uint8)
    of_keys[used] = codes
    return of_keys


def _gain_codes(
    counts: Numbers64, times: Numbers64, discount: Values, vocabulary: int
) -> tuple[NDArray[np.uint32], Array]:
    """Return the codes of the gains of some adjusted counts, and the array of the codes' values."""
    gains, inverse = np.unique(gains_of(counts.astype(float), discount), return_inverse=True)
    codes, table = gain_codes(gains, np.bincount(inverse, times).astype(np.int64), vocabulary)
    return codes[inverse].astype(np.uint32), table


def _times(counted: "CountedNgrams", order: int) -> list[int]:
    counts, times = counted.times(order)
    known = dict(zip(counts.tolist(), times.tolist(), strict=True))
    return [known.get(number, 0) for number in (1, 2, 3, 4)]


def _unigram_counts(counted: "CountedNgrams") -> Values:
    counts: Values = counted.unigram_counts().astype(np.float64)
    return counts
