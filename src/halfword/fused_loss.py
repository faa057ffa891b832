"""The cross-entropy of pieces on the GPU: loss and gradient in one reading of the logits."""

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

MOST_PIECES = 16384  # a row must fit into one block


@triton.jit
def _loss_kernel(
    logits, targets, losses, share, pieces: tl.constexpr, block: tl.constexpr
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, block)
    inside = column < pieces
    target = tl.load(targets + row)
    at = logits + row * pieces + column
    values = tl.load(at, mask=inside, other=-float("inf"))
    most = tl.max(values, 0)
    powers = tl.exp(values - most)
    total = tl.sum(powers, 0)
    chosen = tl.sum(tl.where(column == target, values, 0.0), 0)
    wanted = target >= 0
    tl.store(losses + row, tl.where(wanted, tl.log(total) + most - chosen, 0.0))
    gradient = powers / total - tl.where(column == target, 1.0, 0.0)
    tl.store(at, tl.where(wanted, gradient * share, 0.0), mask=inside)


class FusedLoss(torch.autograd.Function):
    """A share of the sum of the losses of all targets but the negative ones.

    Its gradient is written over the logits, which nobody needs any more, so this must be what `backward` is called on.
    """

    @staticmethod
    def forward(context: Any, logits: Tensor, targets: Tensor, share: float) -> Tensor:
        """Return `share` of the sum."""
        tokens, pieces = logits.shape
        losses = logits.new_empty(tokens)
        block = triton.next_power_of_2(pieces)
        _loss_kernel[(tokens,)](logits, targets, losses, share, pieces, block, num_warps=max(1, min(8, block // 256)))
        context.save_for_backward(logits)
        return losses.sum() * share

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        """Return the gradient that was found on the way."""
        return context.saved_tensors[0], None, None
