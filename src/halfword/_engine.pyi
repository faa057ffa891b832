"""The part of Halfword that runs at every keystroke."""

from collections.abc import Sequence

from halfword.complete import Completion

class EngineFileError(Exception): ...

class ArrayPlace:
    """Where an array lies in a model file."""

    def __init__(self, dtype: str, begin: int, end: int) -> None: ...

class ModelFile:
    """A model file mapped into memory."""

    def __init__(self, path: str, places: dict[str, ArrayPlace]) -> None: ...

class Popular:
    """The popularity index of a model file."""

    def __init__(self, file: ModelFile) -> None: ...
    def complete(self, prefix: str, count: int, echo: bool, type: type[Completion]) -> list[Completion]: ...
    def complete_batch(
        self, prefixes: Sequence[str], count: int, echo: bool, threads: int, type: type[Completion]
    ) -> list[list[Completion]]: ...
    def __len__(self) -> int: ...

def popular_arrays(queries: Sequence[tuple[str, int]]) -> dict[str, tuple[str, bytes]]:
    """Return the arrays of an index over (query, count) pairs, each with its element type."""
