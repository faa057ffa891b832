"""The cross-entropy of pieces on the GPU: loss and gradient in one pass over the logits."""

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

MOST_PIECES = 16384  # a row must fit into one block


@triton.jit
def _loss_kernel(
    logits, targets, taught, losses, share, trust, pieces: tl.constexpr, block: tl.constexpr, has_teacher: tl.constexpr
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
    right = tl.where(column == target, 1.0, 0.0)
    if has_teacher:
        right += trust * (tl.load(taught + row * pieces + column, mask=inside, other=0.0) - right)
    gradient = powers / total - right
    tl.store(at, tl.where(wanted, gradient * share, 0.0), mask=inside)


class FusedLoss(torch.autograd.Function):
    """`share` times the sum of the losses of all targets, without the negative ones.

    Its gradient overwrites the logits, which are not needed any more. So `backward` must be called on this loss itself.
    With a teacher, `trust` of each target is the probabilities of the teacher.
    """

    @staticmethod
    def forward(
        context: Any, logits: Tensor, targets: Tensor, share: float, taught: Tensor | None = None, trust: float = 0.0
    ) -> Tensor:
        """Return `share` times the sum; `taught` are the teacher's probabilities of each piece."""
        tokens, pieces = logits.shape
        losses = logits.new_empty(tokens)
        block = triton.next_power_of_2(pieces)
        _loss_kernel[(tokens,)](
            logits, targets, logits if taught is None else taught, losses, share, trust, pieces, block,
            taught is not None, num_warps=max(1, min(8, block // 256)),
        )  # fmt: skip
        context.save_for_backward(logits)
        return losses.sum() * share

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Tensor, None, None, None, None]:
        """Return the gradient that `forward` computed."""
        return context.saved_tensors[0], None, None, None, None
