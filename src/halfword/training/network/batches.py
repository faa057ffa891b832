"""Queries as rows of tokens, shuffled in every epoch and packed into batches.

Each query is stored once, with its count. An epoch is a shuffled list of row numbers in which each row occurs as often
as its query was typed.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from halfword.training.network.distributed import World
from halfword.training.network.network import IGNORED, Batch
from halfword.training.segment import Segmenter

_ENCODED_AT_ONCE = 100_000


class TokenSource(Protocol):
    """Gives the pieces of queries: always the same, or a segmentation that is drawn each time."""

    def tokens(self, rows: Tensor, generator: torch.Generator) -> Tensor:
        """Return the targets of each row (rows, most tokens): its pieces, the end piece, then IGNORED."""


@dataclass(frozen=True, slots=True)
class BestTokens:
    """The best segmentation of every query."""

    table: Tensor  # (queries, most tokens)

    def tokens(self, rows: Tensor, generator: torch.Generator) -> Tensor:
        return self.table[rows]


@dataclass(frozen=True, slots=True)
class Queries:
    """The queries of a split, ready to be read."""

    source: TokenSource
    counts: Tensor  # (queries)
    characters: int  # in all rows; an end counts as one
    begin: int  # the piece that every query begins with

    @property
    def rows(self) -> int:
        """The number of queries that an epoch reads."""
        return int(self.counts.sum())


def best_tokens(queries: Sequence[str], segmenter: Segmenter, most_tokens: int, device: torch.device) -> BestTokens:
    """Segment every query once, some at a time."""
    dtype = np.int16 if segmenter.size <= np.iinfo(np.int16).max else np.int32
    table = np.full((len(queries), most_tokens), IGNORED, dtype=dtype)
    left = iter(queries)
    for start in range(0, len(queries), _ENCODED_AT_ONCE):
        _fill(table[start:], segmenter, list(islice(left, _ENCODED_AT_ONCE)))
    return BestTokens(torch.from_numpy(table).to(device))


def _fill(table: NDArray[np.integer], segmenter: Segmenter, queries: list[str]) -> None:
    """Write the targets of `queries` into the first rows of `table`, all at once, because a loop would be slow."""
    targets = [[*pieces, segmenter.end] for pieces in segmenter.encode(queries)]
    lengths = np.fromiter(map(len, targets), np.int64, len(targets))
    flat = np.fromiter(chain.from_iterable(targets), np.int64, lengths.sum())
    rows = np.repeat(np.arange(len(targets)), lengths)
    columns = np.arange(len(flat)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    kept = columns < table.shape[1]
    table[rows[kept], columns[kept]] = flat[kept]


def read_queries(counts: Mapping[str, int], source: TokenSource, begin: int, device: torch.device) -> Queries:
    """Combine the counts of a split with the tokens of its queries."""
    numbers = torch.from_numpy(np.fromiter(counts.values(), np.int64, len(counts))).to(device)
    characters = sum((len(query) + 1) * count for query, count in counts.items())
    return Queries(source, numbers, characters, begin)


def epoch_rows(counts: Tensor, generator: torch.Generator) -> Tensor:
    """Return the rows that an epoch reads, in random order; a row occurs as often as its query was typed."""
    rows = torch.repeat_interleave(torch.arange(len(counts), device=counts.device, dtype=torch.int32), counts)
    return rows[torch.randperm(len(rows), generator=generator, device=counts.device)]


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some batches of an epoch as rows of targets; each batch is sorted by length, the longest query first."""

    targets: Tensor  # (batches, queries, most tokens)
    active: Tensor  # (batches, most tokens): how many queries have a token at each step

    def __len__(self) -> int:
        return len(self.targets)

    def batches(self, begin: int) -> Iterator[Batch]:
        """Yield the batches, packed without empty slots."""
        for targets, active in zip(self.targets, self.active.tolist(), strict=True):
            yield pack(targets, tuple(running for running in active if running) or (1,), begin)


def make_chunk(targets: Tensor, batch: int, world: World = World()) -> Chunk:  # noqa: B008
    """Divide rows of targets into batches; the last one is padded with empty rows.

    With several processes each takes its share of every batch, with the same mix of long and short queries.
    """
    missing = -len(targets) % batch
    filled = torch.nn.functional.pad(targets, (0, 0, 0, missing), value=IGNORED).view(-1, batch, targets.shape[1])
    lengths = (filled != IGNORED).sum(2)
    order = lengths.argsort(dim=1, descending=True, stable=True)[:, world.rank :: world.size]
    steps = torch.arange(targets.shape[1], device=targets.device)
    active = (lengths.gather(1, order)[:, :, None] > steps).sum(1)
    return Chunk(filled.gather(1, order[:, :, None].expand(-1, -1, targets.shape[1])), active)


def pack(targets: Tensor, active: tuple[int, ...], begin: int) -> Batch:
    """Concatenate the tokens of all steps; the input of a step is the target of the step before it."""
    inputs = torch.nn.functional.pad(targets[:, :-1], (1, 0), value=begin)
    steps = range(len(active))
    return Batch(
        torch.cat([inputs[: active[step], step] for step in steps]).long().clamp_(min=0),
        torch.cat([targets[: active[step], step] for step in steps]).long(),
        active,
    )
