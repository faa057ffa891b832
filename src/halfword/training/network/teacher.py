"""Distillation: a network learns from the predictions of larger networks, not only from the next piece."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional

from halfword.core.errors import ModelFileError
from halfword.core.model_file import read_header
from halfword.search.reference import read_arrays
from halfword.training.network.network import IGNORED, Batch, Network, token_losses
from halfword.training.network.options import NetworkOptions
from halfword.training.network.weights import Weights, network_sizes
from halfword.training.segment import Segmenter, piece_arrays


@dataclass(frozen=True, slots=True)
class Teacher:
    """One network, or several whose predictions are averaged."""

    networks: tuple[Network, ...]

    @torch.no_grad()
    def probabilities(self, batch: Batch) -> Tensor:
        """Return the probabilities of the next piece (tokens, pieces)."""
        generator = torch.Generator(batch.inputs.device)  # not used: a teacher has no dropout
        return mean_probabilities(network.logits(batch, generator) for network in self.networks)


def mean_probabilities(logits: Iterable[Tensor]) -> Tensor:
    """Return the mean of the probabilities of several networks."""
    probabilities = [each.softmax(1) for each in logits]
    return sum(probabilities[1:], start=probabilities[0]) / len(probabilities)


def taught_losses(logits: Tensor, targets: Tensor, taught: Tensor | None, trust: float) -> Tensor:
    """Return the loss of each token (tokens); `trust` of its target is the teacher's prediction."""
    losses = token_losses(logits, targets)
    if taught is None:
        return losses
    soft = torch.where(targets == IGNORED, 0.0, -(taught * functional.log_softmax(logits, 1)).sum(1))
    return losses + trust * (soft - losses)


def read_teacher(paths: Sequence[str], segmenter: Segmenter, device: torch.device) -> Teacher | None:
    """Read the networks of model files; they must have the same pieces as the network that learns from them."""
    networks = tuple(_network(Path(path), segmenter).to(device).eval().requires_grad_(False) for path in paths)
    return Teacher(networks) if networks else None


def _network(path: Path, segmenter: Segmenter) -> Network:
    header = read_header(path)
    if not header.holds("network"):
        raise ModelFileError(f"{path} has no network, so it cannot be a teacher; name a model file with a network")
    arrays = read_arrays(path)
    ours = piece_arrays(segmenter)["pieces.text"].data
    if arrays["pieces.text"].tobytes() != ours:
        raise ModelFileError(
            f"{path} has other pieces than the network to be trained; train both from the same data with the same "
            f"segmentation and vocabulary"
        )
    weights: Weights = {
        name.removeprefix("network."): array
        for name, array in arrays.items()
        if name.startswith("network.") and not name.endswith((".int8", ".scale"))
    }
    if "embedding" not in weights:
        raise ModelFileError(f"{path} stores its network in 8 bits only, which is too coarse for a teacher")
    network = Network(segmenter.size, NetworkOptions(**network_sizes(weights)), torch.Generator())
    network.load_weights(weights)
    return network
