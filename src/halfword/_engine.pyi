"""The part of Halfword that runs at every keystroke."""

from collections.abc import Sequence

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

class SearchOptions:
    """How wide, how far back and how long to search."""

    count: int
    surplus: int
    beam: int
    retrace: int
    segmentations: int
    max_pieces: int
    merge: bool
    prune: bool
    conditional: bool
    haste: float
    most_read: int
    adapt: bool
    min_probability: float
    deadline_ms: float
    echo: bool

    def __init__(self) -> None: ...

class Popular:
    """The popularity index of a model file."""

    def __init__(self, file: ModelFile) -> None: ...
    def complete(self, prefix: str, options: SearchOptions, type: type[Completion]) -> list[Completion]: ...
    def complete_batch(
        self, prefixes: Sequence[str], options: SearchOptions, threads: int, type: type[Completion]
    ) -> list[list[Completion]]: ...
    def __len__(self) -> int: ...

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

class Neural:
    """The neural part of a model file."""

    def __init__(
        self, file: ModelFile, int8: bool | None, kernels: str, cached_states: int, cached_answers: int
    ) -> None: ...
    def complete(self, prefix: str, options: SearchOptions, type: type[Completion]) -> list[Completion]: ...
    def complete_batch(
        self, prefixes: Sequence[str], options: SearchOptions, threads: int, type: type[Completion]
    ) -> list[list[Completion]]: ...
    def search_cost(self, prefix: str, options: SearchOptions) -> tuple[int, int, int, bool, int]: ...
    def segment(self, query: str) -> list[int]: ...
    def view(self, query: str) -> tuple[list[int], list[float], list[float]]: ...
    def segment_best(self, escaped: str, count: int) -> list[list[int]]: ...
    @property
    def kernels(self) -> str: ...
    @property
    def multiplications(self) -> int: ...

class Ngram:
    """The n-gram memory of a model file."""

    def __init__(self, file: ModelFile) -> None: ...
    def predict(self, pieces: Sequence[int]) -> list[float]:
        """Return the probability of each piece of the vocabulary after `pieces`."""

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
    def complete(self, prefix: str, count: int) -> list[tuple[str, float]]: ...

class Spellings:
    """The same query in another spelling."""

    def __init__(self, file: ModelFile, popular: Popular) -> None: ...
    def complete(self, prefix: str, count: int) -> list[tuple[str, float]]: ...

class Blend:
    """Popularity and the language model together."""

    def __init__(self, file: ModelFile, popular: Popular, neural: Neural, memory: Neural | None) -> None: ...
    def complete(self, prefix: str, options: SearchOptions, type: type[Completion]) -> list[Completion]: ...
    def complete_batch(
        self, prefixes: Sequence[str], options: SearchOptions, threads: int, type: type[Completion]
    ) -> list[list[Completion]]: ...
    def search_cost(self, prefix: str, options: SearchOptions) -> tuple[int, int, int, bool, int]: ...
    def candidates(
        self, prefix: str, options: SearchOptions
    ) -> tuple[list[tuple[str, float, float]], float, float]: ...

def available_kernels() -> list[str]:
    """Return the instruction sets this machine can run, the fastest first."""

def multiply_rate(kernels: str, rows: int) -> tuple[float, float]:
    """Return how many thousand million multiply-adds a second this core does in int8 and in fp32."""

def int8_peak(kernels: str) -> float:
    """Return the same for int8 numbers held in registers, the machine's limit; 0 where it is not known."""

def multiply_int8(kernels: str, weights: bytes, outputs: int, inputs: bytes, rows: int) -> bytes:
    """Return the product of row-major matrices, the inputs raised by 128, in 32-bit integers."""

def popular_arrays(queries: Sequence[tuple[str, int]]) -> dict[str, tuple[str, bytes]]:
    """Return the arrays of an index over (query, count) pairs, each with its element type."""
