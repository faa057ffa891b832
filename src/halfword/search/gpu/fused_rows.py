"""The small steps of a batched search on a GPU, each in one Triton kernel; `row_steps` explains them.

Each program of a kernel has one row or one prefix, which it keeps in registers.
"""

import math

import torch
import triton
import triton.language as tl
from torch import Tensor

from halfword.core.model_file import FORGET_BIAS, NORM_EPSILON
from halfword.search.gpu.columns import Columns
from halfword.search.gpu.row_steps import RowSteps
from halfword.search.gpu.rows import Best, Children, Grammar, Norm, Rows, Scored

MOST_COLUMNS = 16384  # a row must fit into one block
MOST_TEXTS = 128  # all compared with each other
MOST_PEAKS = 4096  # sorted together
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
def _ends_kernel(
    best_scores, best_hashes, begins, ends, hashes, new_scores, new_hashes, count: tl.constexpr, block: tl.constexpr
):  # fmt: skip
    prefix = tl.program_id(0).to(tl.int64)
    first = tl.load(begins + prefix)
    fresh = tl.load(begins + prefix + 1) - first
    place = tl.arange(0, block)
    old = place < count
    new = (place >= count) & (place < count + fresh)
    score = tl.load(best_scores + prefix * count + place, mask=old, other=_LOWEST)
    text = tl.load(best_hashes + prefix * count + place, mask=old, other=0)
    score = tl.where(new, tl.load(ends + first + place - count, mask=new, other=_LOWEST), score)
    text = tl.where(new, tl.load(hashes + first + place - count, mask=new, other=0), text)
    beats = (score[None, :] > score[:, None]) | ((score[None, :] == score[:, None]) & (place[None, :] < place[:, None]))
    repeated = tl.max((beats & (text[None, :] == text[:, None])).to(tl.int32), 1) > 0
    score = tl.where(repeated, _LOWEST, score)
    beats = (score[None, :] > score[:, None]) | ((score[None, :] == score[:, None]) & (place[None, :] < place[:, None]))
    rank = tl.sum(beats.to(tl.int32), 1)
    tl.store(new_scores + prefix * count + rank, score, mask=rank < count)
    tl.store(new_hashes + prefix * count + rank, text, mask=rank < count)


@triton.jit
def _key(score, name):
    """Return integers that sort like the scores; of equal scores the lower name comes first."""
    bits = score.to(tl.int32, bitcast=True)
    rising = bits ^ ((bits >> 31) & 0x7FFFFFFF)
    return (rising.to(tl.int64) << 32) | (0x7FFFFFFF - name).to(tl.int64)


@triton.jit
def _name(key):
    return 0x7FFFFFFF - (key & 0x7FFFFFFF)


@triton.jit
def _score(key):
    rising = (key >> 32).to(tl.int32)
    bits = rising ^ ((rising >> 31) & 0x7FFFFFFF)
    return bits.to(tl.float32, bitcast=True)


@triton.jit
def _choose_kernel(
    scores, peaks, begins, bounds, child_scores, child_parents, child_columns, counts,
    width: tl.constexpr, group: tl.constexpr, beam: tl.constexpr, most: tl.constexpr, block: tl.constexpr,
):  # fmt: skip
    prefix = tl.program_id(0).to(tl.int64)
    first = tl.load(begins + prefix)
    rows = tl.load(begins + prefix + 1) - first
    if rows == 0:
        tl.store(counts + prefix, 0)
        return
    groups: tl.constexpr = width // group
    place = tl.arange(0, block)
    peak = tl.load(peaks + first * groups + place, mask=place < rows * groups, other=_LOWEST)
    best = tl.topk(_key(peak, place), most)
    open = _score(best) > _LOWEST
    place = _name(best)
    name = (place // groups * width + place % groups * group)[:, None] + tl.arange(0, group)[None, :]
    member = tl.load(scores + first * width + name, mask=open[:, None], other=_LOWEST)
    best = tl.topk(tl.reshape(_key(member, name), (most * group,)), most)
    score = _score(best)
    name = _name(best)
    rank = tl.arange(0, most)
    kept = rank < beam
    into = prefix * beam + rank
    tl.store(child_scores + into, score, mask=kept)
    tl.store(child_parents + into, first + name // width, mask=kept)
    tl.store(child_columns + into, (name % width).to(tl.int64), mask=kept)
    alive = kept & (score >= tl.load(bounds + prefix)) & (score > _LOWEST)
    tl.store(counts + prefix, tl.sum(alive.to(tl.int64), 0))


@triton.jit
def _adopt_kernel(
    begins, child_scores, child_parents, child_columns, parent_hashes, parent_links, powers, values, ends_space,
    prefixes, scores, parents, columns, hashes, links, after_space, beam: tl.constexpr, block: tl.constexpr,
):  # fmt: skip
    prefix = tl.program_id(0).to(tl.int64)
    first = tl.load(begins + prefix)
    rows = tl.load(begins + prefix + 1) - first
    rank = tl.arange(0, block)
    kept = rank < rows
    child = prefix * beam + rank
    into = first + rank
    parent = tl.load(child_parents + child, mask=kept, other=0)
    column = tl.load(child_columns + child, mask=kept, other=0)
    text = tl.load(parent_hashes + parent, mask=kept, other=0)
    text = text * tl.load(powers + column, mask=kept, other=0) + tl.load(values + column, mask=kept, other=0)
    tl.store(prefixes + into, prefix + tl.zeros((block,), tl.int64), mask=kept)
    tl.store(scores + into, tl.load(child_scores + child, mask=kept, other=0.0), mask=kept)
    tl.store(parents + into, parent, mask=kept)
    tl.store(columns + into, column, mask=kept)
    tl.store(hashes + into, text, mask=kept)
    tl.store(links + into, tl.load(parent_links + parent, mask=kept, other=0), mask=kept)
    tl.store(after_space + into, tl.load(ends_space + column, mask=kept, other=0), mask=kept)


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

    def score(self, logits: Tensor, bases: Tensor, after_space: Tensor, grammar: Grammar) -> Scored:
        """Turn logits into scores, in place."""
        rows, width = logits.shape
        if width > MOST_COLUMNS:
            return super().score(logits, bases, after_space, grammar)
        ends, peaks = logits.new_empty(rows), logits.new_empty(rows, width // grammar.group)
        block = triton.next_power_of_2(width)
        _score_kernel[(rows,)](
            logits, bases, after_space.view(torch.uint8), ends, peaks, grammar.end, grammar.spelled, *grammar.words,
            width, grammar.group, block, num_warps=_warps(block),
        )  # fmt: skip
        return Scored(logits, peaks, ends)

    def note_ends(self, best: Best, rows: Rows, ends: Tensor) -> Best:
        """Return the best texts, those of `rows` included."""
        lines, count = best.scores.shape
        if count + rows.width > MOST_TEXTS:
            return super().note_ends(best, rows, ends)
        new = Best(torch.empty_like(best.scores), torch.empty_like(best.hashes))
        block = triton.next_power_of_2(count + rows.width)
        _ends_kernel[(lines,)](
            best.scores, best.hashes, rows.begins, ends, rows.hashes, new.scores, new.hashes, count, block,
            num_warps=4 if block > 32 else 1,
        )  # fmt: skip
        return new

    def choose(self, rows: Rows, scored: Scored, bounds: Tensor, beam: int) -> Children:
        """Choose the best next pieces of each prefix."""
        lines, width, groups = len(bounds), scored.scores.shape[1], scored.peaks.shape[1]
        most = max(2, triton.next_power_of_2(beam))
        block = triton.next_power_of_2(max(rows.width, beam) * groups)
        if block > MOST_PEAKS or most * width // groups > MOST_PEAKS:
            return super().choose(rows, scored, bounds, beam)
        scores = bounds.new_empty(lines, beam)
        parents, columns = (rows.links.new_empty(lines, beam) for _ in range(2))
        counts = rows.links.new_empty(lines)
        _choose_kernel[(lines,)](
            scored.scores, scored.peaks, rows.begins, bounds, scores, parents, columns, counts,
            width, width // groups, beam, most, max(block, most), num_warps=4,
        )  # fmt: skip
        return Children(scores, parents, columns, counts)

    def adopt(self, rows: Rows, children: Children, columns: Columns) -> tuple[Rows, Tensor, Tensor]:
        """Return the useful children as rows, their parents, and their columns."""
        lines, width = children.scores.shape
        begins = children.counts.new_zeros(lines + 1)
        torch.cumsum(children.counts, 0, out=begins[1:])
        size = int(begins[-1])
        prefixes, parents, pieces, hashes, links = children.counts.new_empty(5, size).unbind()
        scores = children.scores.new_empty(size)
        after_space = columns.ends_space.new_empty(size)
        _adopt_kernel[(lines,)](
            begins, children.scores, children.parents, children.columns, rows.hashes, rows.links,
            columns.powers, columns.values, columns.ends_space.view(torch.uint8),
            prefixes, scores, parents, pieces, hashes, links, after_space.view(torch.uint8),
            width, triton.next_power_of_2(width), num_warps=1,
        )  # fmt: skip
        adopted = Rows(
            width=width, begins=begins, prefixes=prefixes, scores=scores, hashes=hashes, links=links,
            after_space=after_space, wholeness=None,
        )  # fmt: skip
        return adopted, parents, pieces


def _warps(block: int) -> int:
    return max(1, min(8, block // 256))
