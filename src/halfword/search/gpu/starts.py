"""The engine's part in a batched search: where searches start, and how completions are spelled."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from halfword.core.model_file import read_header
from halfword.core.options import SearchOptions
from halfword.search.model import Completion, engine_options, import_engine, open_model_file

FOLLOWS_SPACE = 1
TAIL_IS_SPACE = 2
NO_PIECE = -1
Integers = NDArray[np.int32]


class StartTree(NamedTuple):
    """The starts of many prefixes and the tree of their pieces; `engine/search/starts.h` explains it."""

    level_ends: Integers
    parents: Integers  # per node
    pieces: Integers
    prefixes: Integers  # per start
    nodes: Integers
    tails: Integers
    firsts: Integers
    lasts: Integers
    kinds: Integers


class Starts:
    """Cuts prefixes into pieces and spells completions, on all cores."""

    def __init__(self, path: Path) -> None:
        self._segmenter = import_engine().Segmenter(open_model_file(path, read_header(path)))

    def tree(self, prefixes: Sequence[str], options: SearchOptions) -> StartTree:
        """Return the starts of normalised `prefixes`."""
        return StartTree(*self._segmenter.start_tree(prefixes, engine_options(options), 0))

    def segment(self, queries: Sequence[str]) -> list[list[int]]:
        """Return the pieces of normalised queries."""
        segmented: list[list[int]] = self._segmenter.segment_batch(queries)
        return segmented

    def spell(
        self, prefixes: Sequence[str], scores: NDArray[np.float32], tails: Integers, reversed_pieces: Integers
    ) -> list[list[Completion]]:
        """Return the completions of each prefix.

        `scores` (prefix, place) is finite where there is a completion. `tails` is the number of bytes at the end of the
        prefix that it replaces. `reversed_pieces` (prefix, place, piece) are its pieces in reverse order; `NO_PIECE`:
        none.
        """
        spelled: list[list[Completion]] = self._segmenter.spell_batch(
            prefixes, scores, tails, reversed_pieces, Completion
        )
        return spelled
