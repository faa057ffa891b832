"""The part of Halfword that runs at every keystroke."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfword.search.model import Completion

class EngineFileError(Exception): ...

class ArrayPlace:
    """Where an array lies in a model file."""

    def __init__(self, dtype: str, begin: int, end: int) -> None: ...

class ModelFile:
    """A model file mapped into memory."""

    def __init__(self, path: str, places: dict[str, ArrayPlace]) -> None: ...

class TextFinder:
    """Finds texts in a column of them."""

    def __init__(self, text: object, begin: object, order: object) -> None: ...
    def find(self, text: str) -> int: ...

class SearchOptions:
    """How wide, how far back and how long to search."""

    count: int
    beam: int
    retrace: int
    segmentations: int
    max_pieces: int
    merge: bool
    prune: bool
    conditional: bool
    haste: float
    adapt: bool
    min_probability: float
    deadline_ms: float
    echo: bool
    fold: bool
    typos: bool
    any_order: bool

    def __init__(self) -> None: ...

class Policy:
    """Which sources are asked, how hard, and what is shown."""

    many_queries: float
    beam_factor_none: float
    beam_factor_few: float
    beam_factor_many: float
    widest_beam: float
    haste_none: float
    haste_few: float
    haste_many: float
    read_limit_base: float
    read_limit_per_beam: float
    enough_repeats: float
    longest_searched: float
    surplus_factor: float
    companions_most_queries: float
    companions_half_trust: float
    companions_most_words: float
    companions_most_met: float
    companions_end_hits: float
    companions_end_trials: float
    spellings_most_queries: float
    spellings_most_alike: float
    spellings_fewest_letters: float
    page: float
    length_penalty: float

    def __init__(self) -> None: ...

class Popular:
    """The popularity index of a model file."""

    def __init__(self, file: ModelFile) -> None: ...

class Segmenter:
    """Cuts queries into the pieces of a model file."""

    def __init__(self, file: ModelFile) -> None: ...
    def segment_batch(self, queries: Sequence[str]) -> list[list[int]]: ...
    def start_tree(
        self, prefixes: Sequence[str], options: SearchOptions, threads: int
    ) -> tuple[NDArray[np.int32], ...]:
        """Return the fields of `halfword.search.gpu.starts.StartTree`, in its order."""

    def spell_batch(
        self,
        prefixes: Sequence[str],
        scores: NDArray[np.float32],
        tails: NDArray[np.int32],
        reversed: NDArray[np.int32],
        type: type[Completion],
    ) -> list[list[Completion]]:
        """Return the completions (prefix, place) with finite scores; their pieces are given last first."""

class Completer:
    """A model file that completes."""

    def __init__(
        self,
        file: ModelFile,
        policy: Policy,
        popular: bool,
        memory: bool,
        network: bool,
        int8: bool,
        kernels: str,
        cached_states: int,
        cached_answers: int,
    ) -> None: ...
    def complete(
        self, prefix: str, options: SearchOptions, type: type[Completion], context: Sequence[str] = ()
    ) -> tuple[list[Completion], bool]:
        """Return the completions, and whether the deadline cut the search short."""

    def complete_batch(
        self,
        prefixes: Sequence[str],
        options: SearchOptions,
        threads: int,
        type: type[Completion],
        contexts: Sequence[Sequence[str]] = (),
    ) -> list[tuple[list[Completion], bool]]: ...
    def corrections(self, prefix: str, options: SearchOptions) -> list[tuple[Any, ...]]:
        """Return the fields of corrections, in the order of `Correction`."""

    def read_batch(
        self, prefixes: Sequence[str], options: SearchOptions, threads: int
    ) -> list[list[tuple[str, list[float], list[str], list[float]]]]:
        """Return the readings of each prefix: text, features, completions and their log-probabilities."""

    def search_cost(self, prefix: str, options: SearchOptions) -> tuple[int, int, int, bool, int]:
        """Return pieces read, pieces of the longest hypothesis, rows, whether time ran out, multiplications."""

    def propose_batch(
        self,
        prefixes: Sequence[str],
        options: SearchOptions,
        threads: int,
        contexts: Sequence[Sequence[str]] = (),
    ) -> list[
        tuple[list[str], bytes, list[tuple[float, float | None, float, float, bool]], tuple[float, float, float, float]]
    ]:
        """Return what the sources propose for each prefix.

        The texts; their features as 32-bit floats; the evidence for each (count, model score, companions, spellings,
        whether it reads oddly); and of the prefix the total and distinct counts, with itself and without.
        """

    def apply_changes(self, changes: Sequence[tuple[int, str, float, str]], scale: float, publish: bool = True) -> None:
        """Apply live changes (kind, text, number, prefix); every count is multiplied by `scale` where it is read.

        What is not published yet is seen with the next changes that are.
        """

    def clear_changes(self, publish: bool = True) -> None: ...
    def changed_queries(self, after: str, most: int) -> list[tuple[str, float, float, float, int, float]]:
        """Return changed queries after a text: text, typed, weight, boost, count in the log, count."""

    def live_size(self) -> tuple[int, int, int]:
        """Return the number of changed queries, of removals, and their bytes of memory."""

    def removes(self, text: str) -> bool: ...
    def count_of(self, query: str) -> float: ...
    def segment(self, query: str) -> list[int]: ...
    def view(self, query: str) -> tuple[list[int], list[float], list[float]]: ...
    def segment_best(self, escaped: str, count: int) -> list[list[int]]: ...
    @property
    def kernels(self) -> str: ...
    @property
    def multiplications(self) -> int: ...
    def __len__(self) -> int: ...

class Ngram:
    """The n-gram memory of a model file."""

    def __init__(self, file: ModelFile) -> None: ...
    def predict(self, pieces: Sequence[int]) -> list[float]:
        """Return the probability of each piece of the vocabulary after `pieces`."""

    def list_likely(self) -> None:
        """List the likeliest pieces after each piece, which makes `likely` faster."""

    def likely(self, pieces: Sequence[int], allowed: Sequence[int], least: float, most: int) -> list[tuple[int, float]]:
        """Return the likeliest of the allowed pieces after `pieces`, in any order: `most` of them at most.

        None has a probability below `least`. This is what a search of the memory looks at.
        """

    def probabilities(self, pieces: Sequence[int]) -> list[float]:
        """Return the probability of each of `pieces` after those before it."""

    def contexts(self, pieces: Sequence[int]) -> list[tuple[int, float]]:
        """Return what is known before each of `pieces`: the matched order, and what it leaves to shorter contexts."""

    def sums(self, pieces: Sequence[int], repeats: int = 1) -> list[float]:
        """Return the sum of the distribution before each of `pieces`, predicted `repeats` times to be timed."""

    @property
    def order(self) -> int: ...
    def __len__(self) -> int: ...

class Companions:
    """Which words were typed together."""

    def __init__(self, file: ModelFile) -> None: ...
    def complete(self, prefix: str, policy: Policy) -> list[tuple[str, float]]: ...
    def is_apart(self, text: str, matched: int, policy: Policy) -> bool:
        """Tell whether words of a text do not go together; its first bytes, so many, were typed."""

    def is_unfinished(self, text: str, policy: Policy) -> bool:
        """Tell whether a text stops after a word that joins others."""

class Spellings:
    """The same query in another spelling."""

    def __init__(self, file: ModelFile, popular: Popular) -> None: ...
    def complete(self, prefix: str, policy: Policy) -> list[tuple[str, float]]: ...

PREFIX_FEATURES: int
KNOWN_WHEN_COMPLETED: tuple[int, int]

def parallel_for(size: int, threads: int, work: Callable[[int], None]) -> None:
    """Call `work` as a batch calls the search."""

class CountedNgrams:
    """All n-grams of a corpus; `halfword.training.counted` tells what for."""

    order: int
    in_files: bool
    def size(self, order: int) -> int: ...
    def adjust(self) -> None: ...
    def times(self, order: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        """Return the adjusted counts of the n-grams kept, and how many have each."""

    def unigram_counts(self) -> NDArray[np.uint64]: ...
    def pairs(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """Return all pairs of pieces: the first piece, the second piece and the count of each."""

    def keep_allowed(self) -> None: ...
    def prune(
        self,
        discounts: NDArray[np.float64],
        unigram: NDArray[np.float64],
        room: float,
        bytes_per_ngram: float,
        bytes_per_backoff: float,
        alone: bool,
    ) -> None: ...
    def backoffs(
        self, top: int, discounts: NDArray[np.float64], alone: bool
    ) -> tuple[NDArray[np.float64], list[tuple[NDArray[np.float64], NDArray[np.int64]]]]:
        """Return the totals of the contexts below the order `top`, by log-odds in thousandths from −32,768 on.

        With `alone` contexts with one child come apart, by their length: their totals, and how many there are.
        """

    def arrays(
        self,
        bits: int,
        wide: bool,
        gains: Sequence[tuple[NDArray[np.uint64], NDArray[np.uint32]]],
        backoffs: NDArray[np.uint8],
        alone: Sequence[NDArray[np.uint8]],
    ) -> dict[str, tuple[str, bytes]]: ...

class NgramCounter:
    """Counts n-grams of queries that come in batches."""

    def __init__(
        self,
        order: int,
        vocabulary: int,
        begin: int,
        end: int,
        least_count: int,
        folder: str,
        memory: int,
        threads: int = 0,
    ) -> None: ...
    def add_texts(self, segmenter: Segmenter, texts: Sequence[str], counts: NDArray[np.uint64]) -> None: ...
    def add_columns(
        self, segmenter: Segmenter, text: NDArray[np.uint8], begins: NDArray[np.uint64], counts: NDArray[np.uint64]
    ) -> None: ...
    def add_pieces(
        self, pieces: NDArray[np.uint32], lengths: NDArray[np.uint32], counts: NDArray[np.uint64]
    ) -> None: ...
    def add_windows(
        self, pieces: NDArray[np.uint32], lengths: NDArray[np.uint32], counts: NDArray[np.uint64]
    ) -> None: ...
    def finish(self) -> CountedNgrams: ...

def belief_names() -> list[str]:
    """Return the names of the features of corrections."""

def feature_names() -> list[str]:
    """Return the names of the ranker's features, those of the prefix first."""

def fold_keys(text: str) -> list[str]:
    """Return the keys of a normalised text."""

def covered_by(text: str, key: str) -> int | None:
    """Return how many bytes of a text stand for a key; None if it does not begin so."""

def word_filter(words: Sequence[str]) -> bytes:
    """Return the array of a filter that knows these words."""

def available_kernels() -> list[str]:
    """Return the instruction sets this machine can run, the fastest first."""

def multiply_rate(kernels: str, rows: int) -> tuple[float, float]:
    """Return how many thousand million multiply-adds a second this core does in int8 and in fp32."""

def int8_peak(kernels: str) -> float:
    """Return the same for int8 numbers held in registers, the machine's limit; 0 where it is not known."""

def multiply_int8(kernels: str, weights: bytes, outputs: int, inputs: bytes, rows: int) -> bytes:
    """Return the product of row-major matrices, the inputs raised by 128, in 32-bit integers."""

def network_state(file: ModelFile, pieces: Sequence[int], kernels: str) -> bytes:
    """Return the state of the network in 8 bits after these pieces: cells, scales and hidden values, as floats."""

def popular_arrays(queries: Sequence[tuple[str, int]]) -> dict[str, tuple[str, bytes]]:
    """Return the arrays of an index over (query, count) pairs, each with its element type."""

_Table = tuple[object, object, object]
_Arrays = dict[str, tuple[str, bytes]]

def byte_order(text: object, begin: object) -> bytes: ...
def sorted_text_arrays(text: object, begin: object) -> dict[str, tuple[str, bytes]]: ...
def sum_tables(tables: list[_Table]) -> tuple[bytes, bytes, bytes]: ...
def index_arrays(table: _Table, order: object) -> _Arrays: ...
def letter_arrays(table: _Table, order: object, left_out: object, share: float) -> tuple[bytes, bytes]: ...
def word_columns(table: _Table) -> tuple[bytes, bytes, bytes, bytes, bytes, bytes]: ...
def character_counts(table: _Table) -> list[tuple[str, int]]: ...
def word_list_arrays(
    text: object, begin: object, marked: object, also: list[str], background: list[str]
) -> _Arrays: ...
def word_counts(text: object, begin: object, typed: object, ended: object) -> bytes: ...
def tree_arrays(text: object, begin: object, count: object, more: list[str]) -> _Arrays: ...
def marked_queries(
    table: _Table, text: object, begin: object, marked: object, singles: object, most_single: int
) -> bytes: ...
def pair_columns(table: _Table, words: list[str], most: int, least: int) -> tuple[bytes, bytes, bytes, bytes]: ...
def mined_pairs(
    table: _Table, starts: object, numbers: object, shortest: int, most_edits: int
) -> list[tuple[int, int]]: ...
def are_alike(typed: str, meant: str, shortest: int, most_edits: int) -> bool: ...
