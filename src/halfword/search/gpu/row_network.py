"""The network of `network.py` for search: many rows at once; a row is a sequence of pieces that was read."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from halfword.search.gpu.row_steps import RowSteps, steps_on
from halfword.search.gpu.rows import Norm

_ALIGNED = 8  # rows must be multiples of 16 bytes for the fast matrix products
_MOST_ROWS = 1 << 16  # whose logits are in memory at once if only their sums are needed
_UNREACHABLE = -1e30  # the logit of a padding column


@dataclass(frozen=True, slots=True)
class States:
    """The state of each row: per layer its cells and its hidden values (rows, hidden)."""

    cells: tuple[Tensor, ...]
    hidden: tuple[Tensor, ...]


@dataclass(frozen=True, slots=True)
class _Layer:
    recurrent: Tensor  # (hidden, 3 × hidden)
    input: Tensor  # layer 0: (columns, 3 × hidden), the gates of each piece; else (hidden, 3 × hidden)
    norm: Norm


class RowNetwork:
    """Predicts the next piece of each row. Gates are multiplied in `dtype`; cells, norms and logits are in fp32."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]], order: Tensor, width: int, dtype: torch.dtype) -> None:
        """Take the weights of a model file; its pieces become columns in `order`, padded to `width`."""
        device = order.device
        weights = _weights(arrays, device)
        embedding = weights["embedding"][order]
        missing = width - len(order)
        self.hidden_size = weights["projection"].shape[1]
        self.steps: RowSteps = steps_on(device)
        self._dtype = dtype
        self._layers = tuple(_layers(weights, embedding, dtype))
        wide = -len(weights["projection"]) % _ALIGNED
        self._projection = functional.pad(weights["projection"], (0, 0, 0, wide)).to(dtype)
        self._projection_bias = functional.pad(weights["projection_bias"], (0, wide)).to(dtype)
        self._output = functional.pad(embedding, (0, wide, 0, missing))
        self._output_bias = functional.pad(weights["output_bias"][order], (0, missing), value=_UNREACHABLE)

    @property
    def operations(self) -> int:
        """The number of multiplications and additions per row."""
        gates = sum(layer.recurrent.numel() for layer in self._layers)
        inputs = sum(layer.input.numel() for layer in self._layers[1:])
        return 2 * (gates + inputs + self._projection.numel() + self._output.numel())

    @property
    def bytes_per_row(self) -> int:
        """The largest memory that a row needs while it is read and scored."""
        states = 10 * self._layers[0].recurrent.numel() // self.hidden_size * self._projection.element_size()
        return 8 * len(self._output) + len(self._layers) * states

    def start(self) -> States:
        """Return one row that has read nothing."""
        cells = torch.zeros(1, self.hidden_size, device=self._output.device)
        layers = len(self._layers)
        return States((cells,) * layers, (cells.to(self._dtype),) * layers)

    def read(self, states: States, parents: Tensor, columns: Tensor) -> States:
        """Return new rows: each continues the row `parents` of `states` by reading one piece."""
        cells: list[Tensor] = []
        hidden: list[Tensor] = []
        for layer, cells_before, hidden_before in zip(self._layers, states.cells, states.hidden, strict=True):
            gates = hidden_before.index_select(0, parents) @ layer.recurrent
            table = None if hidden else layer.input
            if hidden:
                gates = torch.addmm(gates, hidden[-1], layer.input)
            cell, shown = self.steps.step_cells(gates, table, columns, cells_before, parents, layer.norm)
            cells.append(cell)
            hidden.append(shown)
        return States(tuple(cells), tuple(hidden))

    def logits(self, states: States) -> Tensor:
        """Return the logits of all columns (rows, width)."""
        return self._logits(self._projected(states))

    def follow(self, states: States, parents: Tensor, columns: Tensor) -> Tensor:
        """Return the log-probability of each of `columns` after the row `parents` of `states`."""
        projected = self._projected(states)
        normalisers = torch.cat([self._logits(part).logsumexp(1) for part in torch.split(projected, _MOST_ROWS)])
        logits = (projected[parents] * self._output[columns]).sum(1) + self._output_bias[columns]
        return logits - normalisers[parents]

    def _projected(self, states: States) -> Tensor:
        return functional.linear(states.hidden[-1], self._projection, self._projection_bias).float()

    def _logits(self, projected: Tensor) -> Tensor:
        return functional.linear(projected, self._output, self._output_bias)


def _weights(arrays: Mapping[str, NDArray[Any]], device: torch.device) -> dict[str, Tensor]:
    """Return the weights in fp32, converted from int8 if the file has no others."""
    own = {name.removeprefix("network."): array for name, array in arrays.items() if name.startswith("network.")}
    matrices = [name.removesuffix(".int8") for name in own if name.endswith(".int8")]
    whole = {name: own[f"{name}.int8"] * own[f"{name}.scale"][:, None] for name in matrices}
    whole |= {name: array for name, array in own.items() if not name.endswith((".int8", ".scale"))}
    return {name: torch.tensor(array, dtype=torch.float32, device=device) for name, array in whole.items()}


def _layers(weights: Mapping[str, Tensor], embedding: Tensor, dtype: torch.dtype) -> list[_Layer]:
    layers = []
    for number in range(sum(name.endswith(".norm_scale") for name in weights)):
        name = f"layer{number}"
        given, recurrence = weights[f"{name}.input"].T, weights[f"{name}.recurrent"]
        if f"{name}.summary" in weights:
            recurrence = recurrence @ weights[f"{name}.summary"]
        layers.append(
            _Layer(
                recurrent=recurrence.T.to(dtype),
                input=(given if number else embedding @ given).to(dtype),
                norm=Norm(weights[f"{name}.norm_scale"].view(3, -1), weights[f"{name}.norm_bias"].view(3, -1)),
            )
        )
    return layers
