"""The background: a model of many queries that a small log stands on.

A log in one of its languages takes over its pieces, adds its memory to its own (`pooling`), and fine-tunes its network.
How much it counts is fitted on the validation rows; where they are likelier without it, it is left out.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import numpy as np

from halfword.core.errors import ModelFileError
from halfword.core.model_file import Array, Header, read_header
from halfword.core.verify import read_arrays
from halfword.data.sessions import drawn
from halfword.search.model import DEFAULT_MODEL, import_engine, open_model_file
from halfword.training.companions import read_companions
from halfword.training.counted import Bounds, learn_counted, weights_of
from halfword.training.kneser_ney import Corpus
from halfword.training.lexicon import TEXT, words_of
from halfword.training.memory import Memory, bytes_per_ngram, least_size, read_memory
from halfword.training.ngram import NgramOptions, learn_memory
from halfword.training.options import SHIPPED
from halfword.training.pieces import Pieces
from halfword.training.pooling import Share, fit_share, log_likelihood, orders_of, pool, read_queries
from halfword.training.pruning import read_counts
from halfword.training.segment import SegmentOptions, piece_arrays, train_segmenter
from halfword.training.sorted_texts import read_texts
from halfword.training.stored_segmenter import StoredSegmenter

_PLAIN_BYTES = 2600  # per distinct query, that the plain version takes to count it
_POOLED_BYTES = 150  # per n-gram, that pooling takes
_QUERIES = 3000  # validation queries that decide
_FEWEST_NEW = 30  # validation rows; of fewer the likelihood says too little
_MOST_SPELLED = 0.3  # share of pieces; more in a language that the background does not know
_COST_OF_UNKNOWN = 20.0  # nats: a query with a character that has no piece cannot be completed


@dataclass(frozen=True, slots=True)
class Background:
    """A model file that others stand on."""

    path: Path
    header: Header
    arrays: dict[str, Array]
    pieces: Pieces

    @classmethod
    def open(cls, name: str) -> Self:
        """Read the model file called `name`, or the one that ships."""
        path = DEFAULT_MODEL if name == SHIPPED else Path(name)
        header = read_header(path)
        if not header.holds("pieces") or not header.holds("ngram"):
            raise ModelFileError(f"{path} has no memory to stand on; name a model file with one, or: --background none")
        arrays = read_arrays(path, header)
        segment = import_engine().Segmenter(open_model_file(path, header)).segment_batch
        return cls(path, header, arrays, Pieces.of(arrays, segment))

    def part(self, name: str) -> dict[str, Array]:
        """Return the arrays of one part."""
        return {each: array for each, array in self.arrays.items() if each.partition(".")[0] == name}

    def has_pieces_of(self, arrays: Mapping[str, Array]) -> bool:
        """Tell whether other arrays hold the same pieces."""
        return all(arrays.get(name) == array for name, array in self.part("pieces").items())

    def knows(self, rows: Sequence[str]) -> bool:
        """Tell whether most of some rows is made of its pieces, not spelled in bytes or unknown."""
        corpus = valid_corpus(rows, self.pieces)
        if corpus is None:
            return True
        kinds = np.frombuffer(self.arrays["pieces.kind"].data, np.uint8)
        return bool((kinds[corpus.pieces] != TEXT).mean() <= _MOST_SPELLED)

    def memory(self) -> Memory:
        """Return its n-gram memory."""
        return read_memory(self.arrays)

    def segmenter(self) -> StoredSegmenter:
        """Return what cuts queries into its pieces."""
        return StoredSegmenter(self.arrays, self.pieces.segment)

    def words(self) -> set[str]:
        """Return the words that it knows: those of its list, or what its memory has read if it has no list."""
        if "lexicon.size" not in self.arrays:
            return words_of(self.memory(), self.arrays, self.pieces.end)
        (size,) = np.frombuffer(self.arrays["lexicon.size"].data, "<u4").tolist()
        return set(read_texts(self.arrays["lexicon.text"].data, size))

    def queries(self) -> list[str]:
        """Return the queries that it lists, if it has any."""
        return list(read_counts(self.arrays)) if "popular.text" in self.arrays else []

    def word_counts(self) -> Counter[str]:
        """Return the words that it knows, and in about how many queries each occurs."""
        return Counter(self.words()) + read_companions(self.arrays).typed


def train_corpus(counts: Mapping[str, int], pieces: Pieces) -> Corpus:
    """Cut the train split into pieces."""
    return pieces.corpus(list(counts), weights_of(list(counts.values())).tolist())


def valid_corpus(rows: Sequence[str], pieces: Pieces) -> Corpus | None:
    """Cut some validation rows into pieces; None if there are none."""
    some = [rows[place] for place in drawn(rows, _QUERIES, seed=1)]
    return pieces.corpus(some, (1 for _ in some)) if some else None


@dataclass(frozen=True, slots=True)
class Standing:
    """A log on its background: the memory of both, and how much the background counts in it."""

    background: Background
    memory: Memory
    share: Share


def new_rows(rows: Sequence[str], counts: Mapping[str, int]) -> list[str]:
    """Return the validation rows that nobody typed before; none if they are too few to decide anything.

    What was typed before is popularity's business. A memory is there for the others, and judged by them.
    """
    new = [row for row in rows if row not in counts]
    return new if len(new) >= _FEWEST_NEW else []


def own_memory(
    counts: Mapping[str, int], pieces: Pieces, arrays: Mapping[str, Array], options: NgramOptions, bounds: Bounds
) -> Memory:
    """Return what a log teaches. Of a log too large for plain numbers, the engine counts as much as can be pooled."""
    if len(counts) * _PLAIN_BYTES <= bounds.memory:
        return learn_memory(train_corpus(counts, pieces), options)
    most = bounds.memory / _POOLED_BYTES * bytes_per_ngram(pieces.size) + least_size(pieces.size, options.order)
    room = most / 1e6 if options.megabytes is None else min(most / 1e6, options.megabytes)
    return read_memory(learn_counted(counts, arrays, replace(options, megabytes=room), bounds))


def stand_on(
    background: Background, counts: Mapping[str, int], rows: Sequence[str], options: NgramOptions, bounds: Bounds
) -> Standing:
    """Add what a log teaches to what its background knows."""
    own = own_memory(counts, background.pieces, background.part("pieces"), options, bounds)
    theirs = background.memory()
    share = fit_share(own, theirs, valid_corpus(new_rows(rows, counts), background.pieces))
    return Standing(background, pool(own, theirs, share), share)


def stand_again(standing: Standing, counts: Mapping[str, int], options: NgramOptions, bounds: Bounds) -> Standing:
    """Return a log on its background with other counts, and with the share that was fitted before."""
    known = standing.background
    own = own_memory(counts, known.pieces, known.part("pieces"), options, bounds)
    theirs = known.memory()
    share = standing.share.with_orders(orders_of(own, theirs))  # more rows may give a higher order
    return Standing(known, pool(own, theirs, share), share)


def choose(
    background: Background,
    counts: Mapping[str, int],
    rows: Sequence[str],
    options: NgramOptions,
    segment: SegmentOptions,
    bounds: Bounds,
) -> Standing | None:
    """Return the log on its background; None if it is in another language, or likelier by itself."""
    if not background.knows(rows):
        return None
    standing = stand_on(background, counts, rows, options, bounds)
    segmenter = train_segmenter(counts, segment)
    arrays = piece_arrays(segmenter)
    alone = Pieces.of(arrays, segmenter.encode)
    memory = own_memory(counts, alone, arrays, options, bounds)
    new = new_rows(rows, counts)
    with_it = _log_probability(standing.memory, background.pieces, new)
    return standing if with_it >= _log_probability(memory, alone, new) else None


def _log_probability(memory: Memory, pieces: Pieces, rows: Sequence[str]) -> float:
    """Return how likely some validation rows are by a memory."""
    corpus = valid_corpus(rows, pieces)
    if corpus is None:
        return 0.0
    unknown = int((corpus.pieces == pieces.unknown).sum())
    return log_likelihood(read_queries(memory, corpus)) - _COST_OF_UNKNOWN * unknown
