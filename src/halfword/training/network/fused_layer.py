"""A recurrent layer for the GPU: bf16 matrix products, and everything between two of them in one Triton kernel.

It computes the same as `network.Layer`, forward and backward. The cell and the layer norms stay in fp32. Dropout is
drawn by hashing (seed, position), so that the backward pass can draw it again instead of reading it from memory.
"""

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor
from triton.language.extra import libdevice

from halfword.core.model_file import FORGET_BIAS, NORM_EPSILON

_WARPS = 8
_SUM_ROWS, _SUM_COLUMNS, _SUM_PARTS = 32, 128, 96  # size of a tile; programs that share the rows of a column
_FORGET_BIAS = tl.constexpr(FORGET_BIAS)
_EPSILON = tl.constexpr(NORM_EPSILON)


@triton.jit
def _add(a0, a1, a2, a3, a4, a5, b0, b1, b2, b3, b4, b5):
    """Add six values at once: one reduction over the threads instead of six."""
    return a0 + b0, a1 + b1, a2 + b2, a3 + b3, a4 + b4, a5 + b5


@triton.jit
def _keep(seed, place, share):
    """Return the dropout factor: 0 for `share` of the positions, else 1 / (1 - share); MurmurHash3's final mix."""
    bits = place.to(tl.uint32) * 0x9E3779B1 ^ seed.to(tl.uint32)
    bits = (bits ^ (bits >> 16)) * 0x85EBCA6B
    bits = (bits ^ (bits >> 13)) * 0xC2B2AE35
    bits = bits ^ (bits >> 16)
    return tl.where((bits >> 8).to(tl.float32) * (1.0 / 16777216.0) >= share, 1.0 / (1.0 - share), 0.0)


@triton.jit
def _inverse(total, squares, size: tl.constexpr):
    mean = total / size
    return mean, tl.rsqrt(tl.maximum(squares / size - mean * mean, 0.0) + _EPSILON)


@triton.jit
def _forward_kernel(
    gates, norm, cell_before, cell, hidden, hidden_next, statistics, seed_at, place, running_next, share,
    first: tl.constexpr, size: tl.constexpr, block: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, block)
    inside = column < size
    at = row * size + column
    gate = gates + row * 3 * size + column
    forget = tl.load(gate, mask=inside, other=0.0).to(tl.float32)
    output = tl.load(gate + size, mask=inside, other=0.0).to(tl.float32)
    candidate = tl.load(gate + 2 * size, mask=inside, other=0.0).to(tl.float32)
    before = tl.zeros((block,), tl.float32)
    if not first:
        before = tl.load(cell_before + at, mask=inside, other=0.0)
    t0, q0, t1, q1, t2, q2 = tl.reduce(
        (forget, forget * forget, output, output * output, candidate, candidate * candidate), 0, _add
    )
    m0, i0 = _inverse(t0, q0, size)
    m1, i1 = _inverse(t1, q1, size)
    m2, i2 = _inverse(t2, q2, size)
    weight = norm + column
    forget = (forget - m0) * i0 * tl.load(weight, mask=inside) + tl.load(weight + 3 * size, mask=inside)
    output = (output - m1) * i1 * tl.load(weight + size, mask=inside) + tl.load(weight + 4 * size, mask=inside)
    candidate = (candidate - m2) * i2 * tl.load(weight + 2 * size, mask=inside) + tl.load(
        weight + 5 * size, mask=inside
    )
    forget = tl.sigmoid(forget + _FORGET_BIAS)
    candidate = libdevice.tanh(candidate)
    if share > 0:
        candidate *= _keep(tl.load(seed_at), (place + row) * size + column, share)
    value = forget * before + (1 - forget) * candidate
    state = (tl.sigmoid(output) * libdevice.tanh(value)).to(tl.bfloat16)
    tl.store(cell + at, value, mask=inside)
    tl.store(hidden + at, state, mask=inside)
    tl.store(hidden_next + at, state, mask=inside & (row < running_next))
    kept = statistics + row * 6
    tl.store(kept, m0)
    tl.store(kept + 1, m1)
    tl.store(kept + 2, m2)
    tl.store(kept + 3, i0)
    tl.store(kept + 4, i1)
    tl.store(kept + 5, i2)


@triton.jit
def _backward_kernel(
    gates, norm, cell_before, statistics, to_hidden, to_cell, to_gates, to_normed, seed_at, place, share,
    first: tl.constexpr, size: tl.constexpr, block: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, block)
    inside = column < size
    at = row * size + column
    gate = gates + row * 3 * size + column
    weight = norm + column
    kept = statistics + row * 6
    i0 = tl.load(kept + 3)
    i1 = tl.load(kept + 4)
    i2 = tl.load(kept + 5)
    x0 = (tl.load(gate, mask=inside, other=0.0).to(tl.float32) - tl.load(kept)) * i0
    x1 = (tl.load(gate + size, mask=inside, other=0.0).to(tl.float32) - tl.load(kept + 1)) * i1
    x2 = (tl.load(gate + 2 * size, mask=inside, other=0.0).to(tl.float32) - tl.load(kept + 2)) * i2
    before = tl.zeros((block,), tl.float32)
    if not first:
        before = tl.load(cell_before + at, mask=inside, other=0.0)
    to_state = tl.load(to_hidden + at, mask=inside, other=0.0).to(tl.float32)
    to_value = tl.load(to_cell + at, mask=inside, other=0.0)
    w0 = tl.load(weight, mask=inside, other=0.0)
    w1 = tl.load(weight + size, mask=inside, other=0.0)
    w2 = tl.load(weight + 2 * size, mask=inside, other=0.0)
    forget = tl.sigmoid(x0 * w0 + tl.load(weight + 3 * size, mask=inside, other=0.0) + _FORGET_BIAS)
    output = tl.sigmoid(x1 * w1 + tl.load(weight + 4 * size, mask=inside, other=0.0))
    candidate = libdevice.tanh(x2 * w2 + tl.load(weight + 5 * size, mask=inside, other=0.0))
    keep = tl.full((block,), 1.0, tl.float32)
    if share > 0:
        keep = _keep(tl.load(seed_at), (place + row) * size + column, share)
    bent = libdevice.tanh(forget * before + (1 - forget) * candidate * keep)
    to_value += to_state * output * (1 - bent * bent)
    tl.store(to_cell + at, to_value * forget, mask=inside)
    y0 = to_value * (before - candidate * keep) * forget * (1 - forget)
    y1 = to_state * bent * output * (1 - output)
    y2 = to_value * (1 - forget) * keep * (1 - candidate * candidate)
    into = to_normed + row * 3 * size + column
    tl.store(into, y0.to(tl.bfloat16), mask=inside)
    tl.store(into + size, y1.to(tl.bfloat16), mask=inside)
    tl.store(into + 2 * size, y2.to(tl.bfloat16), mask=inside)
    y0 *= w0  # w is 0 outside the row, so the sums are over the row only
    y1 *= w1
    y2 *= w2
    t0, a0, t1, a1, t2, a2 = tl.reduce((y0, y0 * x0, y1, y1 * x1, y2, y2 * x2), 0, _add)
    into = to_gates + row * 3 * size + column
    tl.store(into, (i0 * (y0 - t0 / size - x0 * (a0 / size))).to(tl.bfloat16), mask=inside)
    tl.store(into + size, (i1 * (y1 - t1 / size - x1 * (a1 / size))).to(tl.bfloat16), mask=inside)
    tl.store(into + 2 * size, (i2 * (y2 - t2 / size - x2 * (a2 / size))).to(tl.bfloat16), mask=inside)


@triton.jit
def _norm_kernel(
    gates, statistics, to_normed, sums, tokens,
    size: tl.constexpr, block_rows: tl.constexpr, block_columns: tl.constexpr,
):  # fmt: skip
    """Sum the gradients of scale and bias over the tokens; each program has its own sums, so no atomics are needed."""
    per_gate = (size + block_columns - 1) // block_columns
    gate = tl.program_id(0) // per_gate
    in_gate = tl.program_id(0) % per_gate * block_columns + tl.arange(0, block_columns)
    inside = in_gate < size
    column = gate * size + in_gate
    scale = tl.zeros((block_columns,), tl.float32)
    bias = tl.zeros((block_columns,), tl.float32)
    for start in range(tl.program_id(1) * block_rows, tokens, tl.num_programs(1) * block_rows):
        row = (start + tl.arange(0, block_rows)).to(tl.int64)[:, None]
        mask = (row < tokens) & inside[None, :]
        at = row * 3 * size + column[None, :]
        through = tl.load(to_normed + at, mask=mask, other=0.0).to(tl.float32)
        value = tl.load(gates + at, mask=mask, other=0.0).to(tl.float32)
        mean = tl.load(statistics + row * 6 + gate, mask=row < tokens, other=0.0)
        inverse = tl.load(statistics + row * 6 + 3 + gate, mask=row < tokens, other=0.0)
        scale += tl.sum(through * (value - mean) * inverse, 0)
        bias += tl.sum(through, 0)
    into = sums + tl.program_id(1) * 6 * size + column
    tl.store(into, scale, mask=inside)
    tl.store(into + 3 * size, bias, mask=inside)


class FusedLayer(torch.autograd.Function):
    """The hidden states of packed inputs, as `network.Layer` computes them."""

    @staticmethod
    def forward(
        context: Any,
        gates: Tensor,
        recurrent: Tensor,
        norm: Tensor,
        active: tuple[int, ...],
        share: float,
        seed: Tensor,
    ) -> Tensor:
        """Return the hidden states; `gates` (tokens, 3 × hidden) are bf16, `norm` holds all scales, then all biases."""
        tokens, size = len(gates), recurrent.shape[1]
        gates = gates.contiguous()
        hidden, before = gates.new_empty(tokens, size), gates.new_empty(tokens, size)
        before[: active[0]] = 0
        cell, statistics = norm.new_empty(tokens, size), norm.new_empty(tokens, 6)
        block, starts = triton.next_power_of_2(size), _starts(active)
        for step, running in enumerate(active):
            start, end = starts[step], starts[step] + running
            if step:
                gates[start:end].addmm_(before[start:end], recurrent.T)
            following = active[step + 1] if step + 1 < len(active) else 0
            _forward_kernel[(running,)](
                gates[start:], norm, cell[starts[max(step - 1, 0)] :], cell[start:], hidden[start:], before[end:],
                statistics[start:], seed, start, following, share, step == 0, size, block, num_warps=_WARPS,
            )  # fmt: skip
        context.save_for_backward(gates, recurrent, norm, cell, before, statistics, seed)
        context.active, context.share = active, share
        return hidden

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients of gates, recurrent and norm."""
        gates, recurrent, norm, cell, before, statistics, seed = context.saved_tensors
        active, size = context.active, recurrent.shape[1]
        to_hidden = gradients[0].contiguous()  # nothing else reads it, so it is changed in place
        to_gates, to_normed = torch.empty_like(gates), torch.empty_like(gates)
        to_cell = norm.new_zeros(active[0], size)
        block, starts = triton.next_power_of_2(size), _starts(active)
        for step in reversed(range(len(active))):
            start, running = starts[step], active[step]
            _backward_kernel[(running,)](
                gates[start:], norm, cell[starts[max(step - 1, 0)] :], statistics[start:], to_hidden[start:], to_cell,
                to_gates[start:], to_normed[start:], seed, start, context.share, step == 0, size, block,
                num_warps=_WARPS,
            )  # fmt: skip
            if step:
                previous = to_hidden[starts[step - 1] : starts[step - 1] + running]
                previous.addmm_(to_gates[start : start + running], recurrent)
        to_norm = _norm_gradient(gates, statistics, to_normed, size)
        return to_gates, to_gates.T @ before, to_norm, None, None, None


def _norm_gradient(gates: Tensor, statistics: Tensor, to_normed: Tensor, size: int) -> Tensor:
    sums = statistics.new_empty(_SUM_PARTS, 6 * size)
    grid = (3 * triton.cdiv(size, _SUM_COLUMNS), _SUM_PARTS)
    _norm_kernel[grid](gates, statistics, to_normed, sums, len(gates), size, _SUM_ROWS, _SUM_COLUMNS)
    return sums.sum(0)


def _starts(active: tuple[int, ...]) -> list[int]:
    starts = [0]
    for running in active:
        starts.append(starts[-1] + running)
    return starts
