"""The language model of the paper: an LSTM with coupled gates, one layer norm per gate, and tied embeddings.

A wide layer may have a low-rank recurrence: its hidden values are reduced to fewer numbers (the summary) for its own
next step, which makes that step cheaper. The output layer still sees all of them.

A batch is packed: its queries are sorted by length, the longest first, and step t has tokens only of the queries that
are still running. So no arithmetic is spent on padding. The tokens of all steps are one after the other in one array;
`active[t]` is the number of tokens of step t.
"""

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from halfword.core.model_file import FORGET_BIAS, NORM_EPSILON
from halfword.training.network.options import NetworkOptions
from halfword.training.network.weights import Weights

IGNORED = -1  # the target of a slot that holds no token


@dataclass(frozen=True, slots=True)
class Batch:
    """Packed queries: the tokens to read, the tokens to predict, and how many queries are running at each step."""

    inputs: Tensor  # (tokens)
    targets: Tensor  # (tokens)
    active: tuple[int, ...]


class Layer(nn.Module):
    """One recurrent layer; the thirds of every array belong to the forget gate, the output gate and the candidate."""

    def __init__(self, input_size: int, hidden_size: int, summary_size: int, generator: torch.Generator) -> None:
        super().__init__()
        bound = 1 / math.sqrt(hidden_size)
        self.hidden_size = hidden_size
        self.input = _uniform((3 * hidden_size, input_size), bound, generator)
        if summary_size:  # so that their product has the variance that a full matrix would have
            self.recurrent = _uniform((3 * hidden_size, summary_size), math.sqrt(3 / summary_size), generator)
            self.summary: nn.Parameter | None = _uniform((summary_size, hidden_size), bound, generator)
        else:
            self.recurrent = _uniform((3 * hidden_size, hidden_size), bound, generator)
            self.summary = None
        self.norm_scale = nn.Parameter(torch.ones(3 * hidden_size))
        self.norm_bias = nn.Parameter(torch.zeros(3 * hidden_size))

    def recurrence(self) -> Tensor:
        """Return the recurrent matrix (3 × hidden, hidden)."""
        return self.recurrent if self.summary is None else self.recurrent @ self.summary

    def forward(self, inputs: Tensor, active: tuple[int, ...], dropout: float, generator: torch.Generator) -> Tensor:
        """Return the hidden states (tokens, hidden) of the packed inputs (tokens, input)."""
        states_read: list[Tensor] = []
        recurrence = self.recurrence()
        collect: Tensor = _Collect.apply(inputs @ self.input.T, recurrence, states_read)  # type: ignore[no-untyped-call]
        gates_by_step = torch.split(collect, list(active))
        weight = recurrence.detach().T
        hidden = cell = inputs.new_zeros(active[0], self.hidden_size)
        outputs = []
        for gates, running in zip(gates_by_step, active, strict=True):
            states_read.append(hidden[:running].detach())
            gates = torch.addmm(gates, hidden[:running], weight)  # (running, 3 × hidden)
            hidden, cell = self._step(gates, cell[:running], dropout, generator)
            outputs.append(hidden)
        return torch.cat(outputs)

    def _step(self, gates: Tensor, cell: Tensor, dropout: float, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        size = self.hidden_size
        normed = functional.layer_norm(gates.view(-1, 3, size), (size,), eps=NORM_EPSILON)
        normed = normed * self.norm_scale.view(3, size) + self.norm_bias.view(3, size)
        forget, output, candidate = normed.unbind(1)
        forget = torch.sigmoid(forget + FORGET_BIAS)
        candidate = drop(torch.tanh(candidate), dropout, generator)
        cell = torch.lerp(candidate, cell, forget)  # coupled gates: input gate = 1 − forget gate
        return torch.sigmoid(output) * torch.tanh(cell), cell


class _Collect(torch.autograd.Function):
    """Returns the gates unchanged; the backward pass computes the gradient of the recurrent weights in one product.

    PyTorch alone would add a matrix as large as the weights at every step.
    """

    @staticmethod
    def forward(context: Any, gates: Tensor, recurrent: Tensor, states_read: list[Tensor]) -> Tensor:
        context.states_read = states_read
        return gates.view_as(gates)

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None]:
        return gradients[0], gradients[0].T @ torch.cat(context.states_read), None


class Network(nn.Module):
    """Predicts the next piece of each query of a batch."""

    def __init__(self, pieces: int, options: NetworkOptions, generator: torch.Generator) -> None:
        super().__init__()
        self.options = options
        width, hidden = options.embedding_size, options.hidden_size
        self.embedding = _uniform((pieces, width), 0.1, generator)
        self.output_bias = nn.Parameter(torch.zeros(pieces))
        self.projection = _uniform((width, hidden), 1 / math.sqrt(hidden), generator)
        self.projection_bias = _uniform((width,), 1 / math.sqrt(hidden), generator)
        sizes = [width] + [hidden] * options.layers
        summary = options.summary_size if options.summary_size < hidden else 0  # a larger summary would save nothing
        self.layers = nn.ModuleList(Layer(size, hidden, summary, generator) for size in sizes[:-1])

    def forward(self, batch: Batch, generator: torch.Generator) -> Tensor:
        """Return the loss of each token in nats (tokens); 0 for empty slots."""
        return token_losses(self.logits(batch, generator), batch.targets)

    def logits(self, batch: Batch, generator: torch.Generator) -> Tensor:
        """Return the logits of the next piece (tokens, pieces)."""
        return self.output(self.states(batch, generator))

    def states(self, batch: Batch, generator: torch.Generator) -> Tensor:
        """Return the hidden states from which the next piece is predicted (tokens, hidden)."""
        options, training = self.options, self.training
        states = functional.embedding(batch.inputs, self.embedding)
        states = drop(states, options.input_dropout * training, generator)
        for number, layer in enumerate(self.layers):
            if number:
                states = drop(states, options.hidden_dropout * training, generator)
            states = layer(states, batch.active, options.recurrent_dropout * training, generator)
        return drop(states, options.output_dropout * training, generator)

    def output(self, states: Tensor) -> Tensor:
        """Return the logits of the next piece (tokens, pieces) after each hidden state."""
        projected = functional.linear(states, self.projection, self.projection_bias)
        return functional.linear(projected, self.embedding, self.output_bias)

    def weights(self) -> Weights:
        """Return the weights by their names in a model file."""
        return {_file_name(name): value.detach().float().cpu().numpy() for name, value in self.state_dict().items()}

    def load_weights(self, weights: Weights) -> None:
        """Copy the weights of a model file into the network."""
        names = {_file_name(name): name for name in self.state_dict()}
        self.load_state_dict({names[name]: torch.tensor(weight) for name, weight in weights.items()})


def token_losses(logits: Tensor, targets: Tensor) -> Tensor:
    """Return the loss of each token in nats (tokens); 0 for empty slots."""
    return functional.cross_entropy(logits, targets, ignore_index=IGNORED, reduction="none")


def drop(values: Tensor, share: float, generator: torch.Generator) -> Tensor:
    """Dropout: set a share of the values to zero and scale the others, so that the expected sum is unchanged."""
    if not share:
        return values
    return values * torch.empty_like(values).bernoulli_(1 - share, generator=generator).div_(1 - share)


def _uniform(shape: tuple[int, ...], bound: float, generator: torch.Generator) -> nn.Parameter:
    return nn.Parameter(torch.empty(shape).uniform_(-bound, bound, generator=generator))


def _file_name(name: str) -> str:
    return name.replace("layers.", "layer")
