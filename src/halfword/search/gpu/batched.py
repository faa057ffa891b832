"""Completion of thousands of prefixes at once with PyTorch, usually on a GPU; for evaluation, not for serving.

The answers are those of the engine for the network alone. All open hypotheses of all prefixes are the rows of one
array, so that one step of all searches is a few large matrix products (see `search`).
"""

import gc
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from halfword.core.context import check_contexts, normalise_context
from halfword.core.errors import ModelFileError, OptionError
from halfword.core.model_file import read_header
from halfword.core.options import DEFAULTS, SearchOptions
from halfword.core.text import normalise_prefix, profile_named
from halfword.search.gpu.columns import make_columns
from halfword.search.gpu.copying import Copying, CutContexts, PointerWeights
from halfword.search.gpu.row_network import RowNetwork
from halfword.search.gpu.rows import Grammar
from halfword.search.gpu.search import BatchedSearch, SearchTables, Work
from halfword.search.gpu.starts import Starts, StartTree
from halfword.search.model import Completion
from halfword.search.reference import read_arrays

MOST_ROWS = 1 << 19  # hypotheses searched at once; more would not be faster


class Asked(NamedTuple):
    """A normalised prefix, and the earlier queries that count for it."""

    prefix: str
    context: tuple[str, ...] = ()


class BatchedNeural:
    """The network's completions of many prefixes at once.

    On a GPU the gates are multiplied in fp16, so scores differ from the engine's in the third digit.
    """

    def __init__(self, path: str | Path, device: str | torch.device | None = None, rows: int | None = None) -> None:
        """Load the network of a model file onto `device`; the default is a GPU if there is one.

        `rows` is the number of hypotheses searched at once; the default is what fits into a quarter of the memory.
        """
        path = Path(path)
        header = read_header(path)
        if not header.holds("network"):
            raise ModelFileError(f"{path} has no network; train one with: halfword train data/ -o {path}")
        self._profile = profile_named(str(header.card.profile))
        self._device = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
        self._starts = Starts(path)
        self._tables = _tables(path, self._device)
        self._rows = rows or _rows_that_fit(self._tables.network, self._device)
        self.work = Work()  # of all searches so far

    @property
    def operations(self) -> int:
        """The number of multiplications and additions in one step of one hypothesis."""
        return self._tables.network.operations

    def complete(
        self, prefix: str, options: SearchOptions = DEFAULTS, *, context: Sequence[str] = ()
    ) -> list[Completion]:
        """Return the likeliest completions of `prefix`, best first; `context` is as for `Model.complete`."""
        return self.complete_batch([prefix], options, contexts=[context])[0]

    def complete_batch(
        self, prefixes: Sequence[str], options: SearchOptions = DEFAULTS, *, contexts: Sequence[Sequence[str]] = ()
    ) -> list[list[Completion]]:
        """Complete many prefixes, with one context for each if given; larger batches are faster per prefix."""
        if options.deadline_ms is not None:
            raise OptionError("a batched search has no deadline: leave deadline_ms out")
        if options.haste:
            raise OptionError(f"a batched search is exact: leave haste out, got {options.haste}")
        asked = self._asked(prefixes, contexts)
        # Prefixes of similar length have similar work and are searched together. Duplicates are searched once.
        distinct = sorted(dict.fromkeys(asked), key=lambda each: len(each.prefix))
        size = self._batch_size(options, any(each.context for each in distinct))
        batches = [distinct[begin : begin + size] for begin in range(0, len(distinct), size)]
        with ThreadPoolExecutor(1) as cutter, ThreadPoolExecutor(1) as speller, _tf32(self._device), _uncollected():
            cut = cutter.map(lambda batch: self._cut(batch, options), batches)
            spelled = [
                speller.submit(self._starts.spell, [each.prefix for each in batch], *self._search(*starts, options))
                for batch, starts in zip(batches, cut, strict=True)
            ]
            found = (answer for each in spelled for answer in each.result())
            answers = dict(zip(distinct, found, strict=True))
        return [answers[each] for each in asked]

    def _asked(self, prefixes: Sequence[str], contexts: Sequence[Sequence[str]]) -> list[Asked]:
        """Return what is asked; contexts count only if the network can copy."""
        check_contexts(prefixes, contexts)
        normalised = [normalise_prefix(prefix, self._profile) for prefix in prefixes]
        earlier = [tuple(normalise_context(context, self._profile)) for context in contexts]
        if not earlier or self._tables.pointer is None:
            return [Asked(prefix) for prefix in normalised]
        return [Asked(prefix, context) for prefix, context in zip(normalised, earlier, strict=True)]

    def _batch_size(self, options: SearchOptions, with_contexts: bool) -> int:
        """Return how many prefixes are searched at once."""
        per_row = self._tables.network.bytes_per_row
        per_prefix = max(options.beam, 8 * options.segmentations) * per_row
        if with_contexts and self._tables.pointer is not None:
            per_prefix += self._tables.pointer.bytes_per_context
        return max(1, self._rows * per_row // per_prefix)

    def _cut(self, batch: Sequence[Asked], options: SearchOptions) -> tuple[int, StartTree, CutContexts | None]:
        """Cut prefixes and contexts into pieces; return the first arguments of `_search`."""
        tree = self._starts.tree([each.prefix for each in batch], options)
        return len(batch), tree, CutContexts.of([each.context for each in batch], self._starts)

    def _search(
        self, prefixes: int, tree: StartTree, contexts: CutContexts | None, options: SearchOptions
    ) -> tuple[NDArray[np.float32], NDArray[np.int32], NDArray[np.int32]]:
        """Return the arguments of `Starts.spell`."""
        search = BatchedSearch(self._tables, tree, prefixes, options, self._copying(contexts))
        answers = search.run()
        self.work = Work(self.work.rows + search.work.rows, self.work.steps + search.work.steps)
        tails, pieces = answers.tails.to(torch.int32), answers.pieces.to(torch.int32)
        return answers.scores.cpu().numpy(), tails.cpu().numpy(), pieces.cpu().numpy()

    def _copying(self, contexts: CutContexts | None) -> Copying | None:
        tables = self._tables
        if contexts is None or tables.pointer is None:
            return None
        return Copying(contexts, tables.pointer, tables.network, tables.columns, self._rows)


def _tables(path: Path, device: torch.device) -> SearchTables:
    arrays = read_arrays(path)
    columns = make_columns(arrays, device)
    size = len(columns.pieces)
    group = 1 << round(np.log2(size) / 2)  # about as many groups as columns per group
    dtype = torch.float16 if device.type == "cuda" else torch.float32
    network = RowNetwork(arrays, columns.pieces, -(-size // group) * group, dtype)
    grammar = Grammar(end=columns.end, spelled=columns.spelled, words=columns.words, group=group)
    return SearchTables(columns, network, grammar, PointerWeights.of(arrays, device))


def _rows_that_fit(network: RowNetwork, device: torch.device) -> int:
    memory = torch.cuda.get_device_properties(device).total_memory if device.type == "cuda" else 1 << 30
    return max(1, min(MOST_ROWS, memory // 4 // network.bytes_per_row))


@contextmanager
def _tf32(device: torch.device) -> Iterator[None]:
    """Use TF32 for the output layer, the only product left in fp32 on a GPU."""
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = before or device.type == "cuda"  # on some CPUs it would also cost precision
    try:
        yield
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before


@contextmanager
def _uncollected() -> Iterator[None]:
    """Switch the garbage collector off: it would scan millions of new completions again and again in vain."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()
