"""One training step on a GPU, recorded once as a CUDA graph and then replayed without waiting for Python.

Batches of one size are similar: at each position nearly the same number of queries is still running. So one graph that
is wide enough for all batches of a chunk serves them all, and little arithmetic is spent on empty slots.
"""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from halfword.training.network.batches import Chunk
from halfword.training.network.distributed import World
from halfword.training.network.fused_layer import FusedLayer
from halfword.training.network.fused_loss import MOST_PIECES, FusedLoss
from halfword.training.network.network import Layer, Network
from halfword.training.network.options import NetworkTraining
from halfword.training.network.step import Stepper
from halfword.training.network.teacher import Teacher, mean_probabilities, taught_losses

_ROUND = 128  # the width of a step is rounded up to batch / _ROUND
_ALIGNED = 8  # bf16 rows must be multiples of 16 bytes for the fast matrix products
_MOST_PIECES_AT_ONCE = 4096  # up to this vocabulary the embedding's gradient is a matrix product


class GraphStepper(Stepper):
    """Trains on the GPU in bf16; weights, Adam's moments, cells, norms and the output layer stay in fp32."""

    def __init__(
        self, network: Network, options: NetworkTraining, begin: int, world: World, teacher: Teacher | None = None
    ) -> None:
        super().__init__(network, options, begin, world, teacher)
        self._rate = self.optimizer.param_groups[0]["lr"]
        self._position = torch.zeros((), dtype=torch.int64, device=self.device)
        self._number = torch.zeros((), dtype=torch.int64, device=self.device)
        self._targets = torch.empty(0)
        self._width: tuple[int, ...] = ()
        self._graph: torch.cuda.CUDAGraph | None = None
        self._slots = (self._position, self._position)
        torch.cuda.manual_seed(options.seed)
        zeros = {
            f"{kind}.{name}": torch.zeros_like(value)
            for name, value in network.named_parameters()
            for kind in ("mean", "square")
        }
        self.restore(zeros, 0)

    def _make_optimizer(self) -> torch.optim.Optimizer:
        rate = torch.tensor(self.options.learning_rate, device=self.device)
        decay = self.options.weight_decay
        return torch.optim.AdamW(self.network.parameters(), lr=rate, weight_decay=decay, fused=True, capturable=True)

    def load(self, chunk: Chunk) -> None:
        """Copy the chunk into the buffers of the graph; record a new graph if it does not fit into the old one."""
        if self._targets.shape[1:] != chunk.targets.shape[1:] or len(self._targets) < len(chunk):
            self._targets, self._graph = chunk.targets.clone(), None
        self._targets[: len(chunk)].copy_(chunk.targets)
        needed = tuple(int(running) for running in chunk.active.amax(0).tolist() if running)
        fits = len(needed) <= len(self._width) and all(a <= b for a, b in zip(needed, self._width, strict=False))
        if not fits:
            self._widen(needed)
        if self._graph is None and self.world.size == 1:
            self._record()

    def _widen(self, needed: tuple[int, ...]) -> None:
        unit = max(_ALIGNED, self.options.batch // _ROUND)
        padded = [*self._width, *[0] * (len(needed) - len(self._width))]
        rounded = [max(old, -(-new // unit) * unit) for old, new in zip(padded, needed, strict=False)]
        rounded += padded[len(needed) :]
        self._width = tuple(min(width, self.options.batch) for width in rounded)
        rows = [torch.arange(width, device=self.device) for width in self._width]
        steps = [torch.full((width,), step, device=self.device) for step, width in enumerate(self._width)]
        self._slots = (torch.cat(rows), torch.cat(steps))
        self._graph = None

    def step(self, position: int, number: int, learning_rate: float) -> None:
        """Train on the batch at `position` of the chunk, as step `number` of the whole training."""
        self._position.fill_(position)
        self._number.fill_(number * self.world.size + self.world.rank)
        self._rate.fill_(learning_rate)
        if self._graph is None:
            self._whole_step()
        else:
            self._graph.replay()

    def _whole_step(self) -> None:
        self.loss_sum += self._gradients()
        self.world.average_gradients(self.network)
        nn.utils.clip_grad_norm_(self.network.parameters(), self.options.clip, foreach=True)
        self.optimizer.step()

    def _record(self) -> None:
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Attempting to run cuBLAS")  # it creates its own context
            for _ in range(2):  # first use compiles and allocates, which must not be recorded
                self._gradients()
        torch.cuda.current_stream().wait_stream(side)
        self._graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self._graph):
            self._whole_step()

    def _gradients(self) -> Tensor:
        self.optimizer.zero_grad(set_to_none=True)
        with _tf32():
            loss = self._loss()  # per query, as if the batch were full
            loss.backward()
        return loss.detach().double() * self.options.batch

    def _loss(self) -> Tensor:
        rows, steps = self._slots
        targets = self._targets.index_select(0, self._position.view(1))[0]  # (batch, most tokens)
        wanted = targets[rows, steps].long()
        inputs = torch.where(steps == 0, self.begin, targets[rows, (steps - 1).clamp(min=0)].long().clamp(min=0))
        logits, share = self._logits(self.network, inputs, learns=True), 1 / self.options.batch
        taught, trust = self._taught(inputs), self.options.teacher_share
        if len(self.network.embedding) <= MOST_PIECES:
            fused: Tensor = FusedLoss.apply(logits, wanted, share, taught, trust)
            return fused
        return taught_losses(logits, wanted, taught, trust).sum() * share

    @torch.no_grad()
    def _taught(self, inputs: Tensor) -> Tensor | None:
        if self.teacher is None:
            return None
        return mean_probabilities(self._logits(network, inputs, learns=False) for network in self.teacher.networks)

    def _logits(self, network: Network, inputs: Tensor, learns: bool) -> Tensor:
        states = self._hidden(network, inputs, learns)
        projected = functional.linear(states, _half(_aligned(network.projection.T).T)).float()
        return functional.linear(projected + _with_one(network.projection_bias), _with_bias(network))

    def _hidden(self, network: Network, inputs: Tensor, learns: bool) -> Tensor:
        options = network.options
        states = functional.dropout(_embed(inputs, network.embedding), options.input_dropout, learns)
        for number, layer in enumerate(network.layers):
            assert isinstance(layer, Layer)
            weight = layer.input if number else _aligned(layer.input)  # padded like the embedded pieces
            if number:
                states = functional.dropout(states, options.hidden_dropout, learns)
            gates = functional.linear(states, _half(weight))
            norm = torch.cat([layer.norm_scale, layer.norm_bias])
            seed = self._number * len(network.layers) + number
            dropout = options.recurrent_dropout * learns
            states = FusedLayer.apply(gates, _half(layer.recurrence()), norm, self._width, dropout, seed * 0x9E3779B9)
        return functional.dropout(states, options.output_dropout, learns)


@contextmanager
def _tf32() -> Iterator[None]:
    """Use TF32 for the output layer, the only product left in fp32; validation stays exact."""
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = True
    try:
        yield
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before


def _half(weight: Tensor) -> Tensor:
    return weight.to(torch.bfloat16)


def _aligned(weight: Tensor) -> Tensor:
    """Pad rows with zeros to an aligned width, by at least one."""
    return _aligned_to(weight, weight.shape[1])


def _with_one(bias: Tensor) -> Tensor:
    """Pad a bias like rows, with a 1 in the first added position, where the output layer has its own bias."""
    return functional.pad(functional.pad(bias, (0, 1), value=1.0), (0, _ALIGNED - len(bias) % _ALIGNED - 1))


def _with_bias(network: Network) -> Tensor:
    """Return the output layer with its bias as one more input, so that its gradient needs no sum over all tokens."""
    return _aligned_to(torch.cat([network.embedding, network.output_bias[:, None]], 1), network.embedding.shape[1])


def _aligned_to(weight: Tensor, width: int) -> Tensor:
    return functional.pad(weight, (0, width + _ALIGNED - width % _ALIGNED - weight.shape[1]))


def _embed(inputs: Tensor, embedding: Tensor) -> Tensor:
    """Look up embeddings; the gradient is a product with one-hot rows, which is faster than a scatter."""
    table = _half(_aligned(embedding))
    if len(embedding) > _MOST_PIECES_AT_ONCE:
        return functional.embedding(inputs, table)
    looked_up: Tensor = _OneHot.apply(inputs, table)
    return looked_up


class _OneHot(torch.autograd.Function):
    @staticmethod
    def forward(context: Any, inputs: Tensor, table: Tensor) -> Tensor:
        context.save_for_backward(inputs)
        context.pieces = len(table)
        return table[inputs]

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[None, Tensor]:
        (inputs,) = context.saved_tensors
        places = torch.arange(context.pieces, device=inputs.device)
        one_hot = (places[:, None] == inputs).to(gradients[0].dtype)  # (pieces, tokens)
        return None, one_hot @ gradients[0]
