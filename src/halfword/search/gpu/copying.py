"""What a batched search copies from the earlier queries of a session; `training/network/pointer.py` has the formula.

Every distinct earlier query of a batch is read once. Rows ask for the keys of the context that belongs to their prefix.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from halfword.core.context import MOST_QUERIES
from halfword.search.gpu.columns import Columns
from halfword.search.gpu.row_network import RowNetwork
from halfword.search.gpu.starts import Starts
from halfword.search.reference import MOST_COPIED

_HELD = 1 << 25  # numbers in memory at once while rows ask


@dataclass(frozen=True, slots=True)
class PointerWeights:
    """The pointer of a model file."""

    query: Tensor  # (size, hidden), scaled so that products with keys are scores
    key: Tensor  # (size, hidden)
    nothing: Tensor  # (hidden)
    nothing_bias: Tensor  # (1)
    ages: Tensor  # of queries; an older one counts as the last of them

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray[Any]], device: torch.device) -> "PointerWeights | None":
        """Take the weights of a model file; None if it has no pointer."""
        if "pointer.key" not in arrays:
            return None
        names = ("query", "key", "nothing", "nothing_bias", "age")
        own = [torch.tensor(arrays[f"pointer.{name}"], dtype=torch.float32, device=device) for name in names]
        return cls(own[0] / math.sqrt(len(own[0])), *own[1:])

    @property
    def bytes_per_context(self) -> int:
        """The largest memory that the context of a prefix needs."""
        numbers = len(self.key) + 5  # the key; and of 8 bytes each its place and column, of 4 its bias
        return 4 * numbers * MOST_QUERIES * MOST_COPIED


@dataclass(frozen=True, slots=True)
class CutContexts:
    """The contexts of some prefixes, cut into pieces."""

    queries: list[list[int]]  # the pieces of each distinct query, without its end
    contexts: list[list[int]]  # the queries of each distinct context, the last one first
    of_prefixes: list[int]  # the context of each prefix

    @classmethod
    def of(cls, contexts: Sequence[tuple[str, ...]], starts: Starts) -> "CutContexts | None":
        """Cut one context per prefix; None if all are empty."""
        distinct = {context: number for number, context in enumerate(dict.fromkeys(contexts))}
        texts = dict.fromkeys(query for context in distinct for query in context)
        if not texts:
            return None
        numbers = {query: number for number, query in enumerate(texts)}
        return cls(
            starts.segment(list(texts)),
            [[numbers[query] for query in reversed(context)] for context in distinct],
            [distinct[context] for context in contexts],
        )


class Copying:
    """What the rows of a search can copy."""

    def __init__(
        self, cut: CutContexts, weights: PointerWeights, network: RowNetwork, columns: Columns, at_once: int
    ) -> None:
        """Read all queries, at most `at_once` side by side."""
        self._weights = weights
        device = weights.key.device
        edges = np.cumsum([0, *(min(len(query) + 1, MOST_COPIED) for query in cut.queries)])
        places, ages = (torch.from_numpy(array).to(device) for array in _laid_out(cut.contexts, edges))
        pieces, self._keys = _read(cut.queries, edges, weights, network, columns, at_once)
        self._places = places  # (contexts, pieces): among the keys
        self._columns = pieces[places]
        biases = weights.ages[ages.clamp(0, len(weights.ages) - 1)]
        self._biases = biases.masked_fill(ages < 0, -math.inf)
        self._of_prefixes = torch.tensor(cut.of_prefixes, device=device)

    def mix(self, logits: Tensor, hidden: Tensor, prefixes: Tensor) -> None:
        """Turn the logits of rows (rows, columns) into log-probabilities with what they copy, in place."""
        contexts = self._of_prefixes[prefixes]
        for part in self._parts(len(logits), logits.shape[1]):
            nothing, shares = self._shares(hidden[part], contexts[part])
            alone = logits[part] + (nothing - logits[part].logsumexp(1))[:, None]
            copied = torch.zeros_like(alone).scatter_add_(1, self._columns[contexts[part]], shares.exp())
            torch.logaddexp(alone, copied.log(), out=logits[part])

    def follow(self, alone: Tensor, hidden: Tensor, prefixes: Tensor, columns: Tensor) -> Tensor:
        """Return the log-probability of one column per row; `alone` is what the network gives it."""
        contexts = self._of_prefixes[prefixes]
        found = torch.empty_like(alone)
        for part in self._parts(len(alone), 1):
            nothing, shares = self._shares(hidden[part], contexts[part])
            others = self._columns[contexts[part]] != columns[part, None]
            found[part] = torch.logaddexp(alone[part] + nothing, shares.masked_fill(others, -math.inf).logsumexp(1))
        return found

    def _parts(self, rows: int, width: int) -> Iterator[slice]:
        """Yield slices of rows that fit into memory."""
        at_once = max(1, _HELD // (self._places.shape[1] * len(self._weights.key) + 3 * width))
        for begin in range(0, rows, at_once):
            yield slice(begin, begin + at_once)

    def _shares(self, hidden: Tensor, contexts: Tensor) -> tuple[Tensor, Tensor]:
        """Return the logarithms of what "nothing" gets (rows), and of what each earlier piece gets (rows, pieces)."""
        weights, states = self._weights, hidden.float()
        asked = states @ weights.query.T
        scores = (self._keys[self._places[contexts]] @ asked[:, :, None])[:, :, 0] + self._biases[contexts]
        nothing = states @ weights.nothing + weights.nothing_bias
        total = torch.logaddexp(scores.logsumexp(1), nothing)
        return nothing - total, scores - total[:, None]


def _laid_out(
    contexts: Sequence[Sequence[int]], edges: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the places of the pieces of each context (contexts, pieces), and the ages of their queries; -1: none."""
    lengths = np.diff(edges)
    width = max(sum(int(lengths[query]) for query in context) for context in contexts)
    places, ages = np.zeros((len(contexts), width), np.int64), np.full((len(contexts), width), -1)
    for row, context in enumerate(contexts):
        begin = 0
        for age, query in enumerate(context):
            end = begin + int(lengths[query])
            places[row, begin:end] = np.arange(edges[query], edges[query + 1])
            ages[row, begin:end] = age
            begin = end
    return places, ages


@torch.inference_mode()
def _read(
    queries: Sequence[Sequence[int]],
    edges: NDArray[np.int64],
    weights: PointerWeights,
    network: RowNetwork,
    columns: Columns,
    at_once: int,
) -> tuple[Tensor, Tensor]:
    """Return the columns of all pieces, each query with its end, and the keys of the states before them."""
    device = weights.key.device
    lengths = np.diff(edges)
    joined = np.concatenate([[*query, -1][:MOST_COPIED] for query in queries])
    pieces = torch.from_numpy(joined).to(device)
    pieces = torch.where(pieces < 0, columns.end, columns.places[pieces])
    keys = torch.empty(len(joined), len(weights.key), device=device)
    order = np.argsort(-lengths, kind="stable")
    for first in range(0, len(order), at_once):
        part = order[first : first + at_once]
        places = torch.from_numpy(edges[part]).to(device)
        states = network.start()
        for step in range(int(lengths[part[0]])):
            reading = int((lengths[part] > step).sum())
            at = places[:reading] + step
            parents = torch.arange(reading, device=device) if step else torch.zeros_like(at)
            read = pieces[at - 1] if step else torch.full_like(at, columns.begin)
            states = network.read(states, parents, read)
            keys[at] = states.hidden[-1].float() @ weights.key.T
    return pieces, keys
