"""The small steps of a batched search on a GPU, each in one Triton kernel; `row_steps` tells what they are.

A program of a kernel has one row, or one prefix, which it holds in registers.
"""

import math

import torch
import triton
import triton.language as tl
from torch import Tensor

from halfword.network import FORGET_BIAS, NORM_EPSILON
from halfword.row_steps import Grammar, Norm, RowSteps

MOST_COLUMNS = 16384  # a row must fit into one block
MOST_TEXTS = 128  # compared with each other
_FORGET_BIAS = tl.constexpr(FORGET_BIAS)
_EPSILON = tl.constexpr(NORM_EPSILON)
_LOWEST = tl.constexpr(-math.inf)


@triton.jit
def _tanh(values):
    return 2 * tl.sigmoid(2 * values) - 1


@triton.jit
def _normed(values, inside, scale, bias, column, size: tl.constexpr):
    mean = tl.sum(values, 0) / size
    apart = tl.where(inside, values - mean, 0.0)
    inverse = tl.rsqrt(tl.sum(apart * apart, 0) / size + _EPSILON)
    return apart * inverse * tl.load(scale + column, mask=inside, other=0.0) + tl.load(
        bias + column, mask=inside, other=0.0
    )


@triton.jit
def _cell_kernel(
    gates, table, columns, cells, parents, scale, bias, cell, hidden,
    has_table: tl.constexpr, size: tl.constexpr, block: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, block)
    inside = column < size
    gate = gates + row * 3 * size + column
    forget = tl.load(gate, mask=inside, other=0.0).to(tl.float32)
    output = tl.load(gate + size, mask=inside, other=0.0).to(tl.float32)
    candidate = tl.load(gate + 2 * size, mask=inside, other=0.0).to(tl.float32)
    if has_table:
        given = table + tl.load(columns + row) * 3 * size + column
        forget += tl.load(given, mask=inside, other=0.0).to(tl.float32)
        output += tl.load(given + size, mask=inside, other=0.0).to(tl.float32)
        candidate += tl.load(given + 2 * size, mask=inside, other=0.0).to(tl.float32)
    before = tl.load(cells + tl.load(parents + row) * size + column, mask=inside, other=0.0)
    keep = tl.sigmoid(_normed(forget, inside, scale, bias, column, size) + _FORGET_BIAS)
    shown = tl.sigmoid(_normed(output, inside, scale + size, bias + size, column, size))
    new = _tanh(_normed(candidate, inside, scale + 2 * size, bias + 2 * size, column, size))
    value = keep * before + (1 - keep) * new
    tl.store(cell + row * size + column, value, mask=inside)
    state = shown * _tanh(value)
    tl.store(hidden + row * size + column, state.to(hidden.dtype.element_ty), mask=inside)


@triton.jit
def _score_kernel(
    scores, bases, after_space, ends, peaks, end, spelled, words_first, words_last,
    width: tl.constexpr, group: tl.constexpr, block: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, block)
    inside = column < width
    values = tl.load(scores + row * width + column, mask=inside, other=_LOWEST)
    most = tl.max(values, 0)
    normaliser = most + tl.log(tl.sum(tl.exp(values - most), 0))
    values += tl.load(bases + row) - normaliser
    after = tl.load(after_space + row) != 0
    ending = tl.max(tl.where(column == end, values, _LOWEST), 0)
    tl.store(ends + row, tl.where(after, _LOWEST, ending))
    closed = (column >= spelled) | (after & (column >= words_first) & (column < words_last))
    values = tl.where(closed, _LOWEST, values)
    tl.store(scores + row * width + column, values, mask=inside)
    groups: tl.constexpr = block // group
    place = tl.arange(0, groups)
    best = tl.max(tl.reshape(values, (groups, group)), 1)
    tl.store(peaks + row * (width // group) + place, best, mask=place < width // group)


@triton.jit
def _best_kernel(
    scores, hashes, best_scores, best_hashes, width, count: tl.constexpr, block: tl.constexpr
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    place = tl.arange(0, block)
    inside = place < width
    score = tl.load(scores + row * width + place, mask=inside, other=_LOWEST)
    text = tl.load(hashes + row * width + place, mask=inside, other=0)
    beats = (score[None, :] > score[:, None]) | ((score[None, :] == score[:, None]) & (place[None, :] < place[:, None]))
    repeated = tl.max((beats & (text[None, :] == text[:, None])).to(tl.int32), 1) > 0
    score = tl.where(repeated, _LOWEST, score)
    beats = (score[None, :] > score[:, None]) | ((score[None, :] == score[:, None]) & (place[None, :] < place[:, None]))
    rank = tl.sum(beats.to(tl.int32), 1)
    chosen = rank < count
    tl.store(best_scores + row * count + rank, score, mask=chosen)
    tl.store(best_hashes + row * count + rank, text, mask=chosen)


class FusedSteps(RowSteps):
    """The steps in Triton."""

    def step_cells(
        self, gates: Tensor, table: Tensor | None, columns: Tensor, cells: Tensor, parents: Tensor, norm: Norm
    ) -> tuple[Tensor, Tensor]:
        """Return the cells and the hidden values of new rows."""
        rows, size = len(gates), cells.shape[1]
        cell, hidden = cells.new_empty(rows, size), gates.new_empty(rows, size)
        block = triton.next_power_of_2(size)
        _cell_kernel[(rows,)](
            gates, gates if table is None else table, columns, cells, parents, norm.scale, norm.bias, cell, hidden,
            table is not None, size, block, num_warps=_warps(block),
        )  # fmt: skip
        return cell, hidden

    def score(self, scores: Tensor, bases: Tensor, after_space: Tensor, grammar: Grammar) -> tuple[Tensor, Tensor]:
        """Turn logits into scores; return those of the rows that end here, and the best of each group of columns."""
        rows, width = scores.shape
        if width > MOST_COLUMNS:
            return super().score(scores, bases, after_space, grammar)
        ends, peaks = scores.new_empty(rows), scores.new_empty(rows, width // grammar.group)
        block = triton.next_power_of_2(width)
        _score_kernel[(rows,)](
            scores, bases, after_space.view(torch.uint8), ends, peaks, grammar.end, grammar.spelled, *grammar.words,
            width, grammar.group, block, num_warps=_warps(block),
        )  # fmt: skip
        return ends, peaks

    def best_texts(self, scores: Tensor, hashes: Tensor, count: int) -> tuple[Tensor, Tensor]:
        """Return the best scores of each line and their hashes, each hash once."""
        lines, width = scores.shape
        if width > MOST_TEXTS:
            return super().best_texts(scores, hashes, count)
        best, texts = scores.new_empty(lines, count), hashes.new_empty(lines, count)
        block = triton.next_power_of_2(width)
        _best_kernel[(lines,)](scores, hashes, best, texts, width, count, block, num_warps=4 if block > 32 else 1)
        return best, texts


def _warps(block: int) -> int:
    return max(1, min(8, block // 256))
