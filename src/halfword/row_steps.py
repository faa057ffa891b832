"""The small steps of a batched search between its matrix products, in PyTorch; `fused_rows` has them for a GPU."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from halfword.network import FORGET_BIAS, NORM_EPSILON


@dataclass(frozen=True, slots=True)
class Norm:
    """What the layer norms of a layer's three gates are multiplied by, and what is added (3, hidden)."""

    scale: Tensor
    bias: Tensor


@dataclass(frozen=True, slots=True, kw_only=True)
class Grammar:
    """Which columns may follow."""

    end: int  # the column that ends a query
    spelled: int  # this many columns, the first, may be chosen
    words: tuple[int, int]  # from and to before which column a piece begins with a space: not after another space
    group: int  # columns whose best score is told


class RowSteps:
    """The steps in plain PyTorch."""

    def step_cells(
        self, gates: Tensor, table: Tensor | None, columns: Tensor, cells: Tensor, parents: Tensor, norm: Norm
    ) -> tuple[Tensor, Tensor]:
        """Return the cells and the hidden values of new rows.

        Each row has its `gates` (rows, 3 × hidden), to which the line `columns` of `table` is to be added if there is
        one; `parents` says which of `cells` it goes on from.
        """
        size = cells.shape[1]
        given = gates.float() if table is None else gates.float() + table[columns]
        normed = functional.layer_norm(given.view(-1, 3, size), (size,), eps=NORM_EPSILON)
        forget, output, candidate = torch.addcmul(norm.bias, normed, norm.scale).unbind(1)
        cell = torch.lerp(torch.tanh(candidate), cells[parents], torch.sigmoid(forget + FORGET_BIAS))
        return cell, (torch.sigmoid(output) * torch.tanh(cell)).to(gates.dtype)

    def score(self, scores: Tensor, bases: Tensor, after_space: Tensor, grammar: Grammar) -> tuple[Tensor, Tensor]:
        """Turn logits (rows, columns) into scores where they are: `bases` plus log-probabilities, -inf if not allowed.

        Return the scores of the rows that end here, -inf after a space, and the best of each group of columns.
        """
        scores += (bases - scores.logsumexp(1))[:, None]
        ends = scores[:, grammar.end].masked_fill(after_space, -math.inf)
        scores[:, grammar.spelled :] = -math.inf
        scores[:, slice(*grammar.words)].masked_fill_(after_space[:, None], -math.inf)
        return ends, scores.view(len(scores), -1, grammar.group).amax(2)

    def best_texts(self, scores: Tensor, hashes: Tensor, count: int) -> tuple[Tensor, Tensor]:
        """Return the best scores of each line and their hashes (lines, count), each hash once."""
        scores, order = scores.sort(1, descending=True)
        hashes, by_text = hashes.gather(1, order).sort(dim=1, stable=True)
        scores = scores.gather(1, by_text)  # of those with the same text the best comes first, and stays
        scores[:, 1:].masked_fill_(hashes[:, 1:] == hashes[:, :-1], -math.inf)
        best, order = scores.topk(count, 1)
        return best, hashes.gather(1, order)


def steps_on(device: torch.device) -> RowSteps:
    """Return the fastest steps there are for a device."""
    if device.type != "cuda":
        return RowSteps()
    from halfword.fused_rows import FusedSteps

    return FusedSteps()
