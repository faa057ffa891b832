"""Converts a checkpoint of the paper's own code into a model file."""

import pickle
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from halfword.core.card import Card, NetworkCard, PartsCard, PiecesCard
from halfword.core.errors import ModelFileError, require
from halfword.core.model_file import check_model_output, write_model
from halfword.core.text import PAPER
from halfword.core.version import __version__
from halfword.training.network.weights import Weights, network_arrays
from halfword.training.segment import Segmenter, piece_arrays

FILES = ("model.pt", "spm.model")


def import_subword_qac(folder: Path, output: Path) -> Card:
    """Read `model.pt` and `spm.model` in `folder`, write the model file `output` and return its card."""
    check_model_output(output)
    for name in FILES:
        if not (folder / name).is_file():
            raise ModelFileError(f"{folder} holds no {name}; name a folder that the paper's code wrote")
    segmenter = Segmenter((folder / "spm.model").read_bytes())
    weights = convert(_read_state(folder / "model.pt"), segmenter.size, folder / "model.pt")
    card = _card(weights, segmenter, folder.name)
    write_model(output, {**piece_arrays(segmenter), **network_arrays(weights)}, card)
    return card


def convert(state: Mapping[str, NDArray[np.float32]], pieces: int, path: Path) -> Weights:
    """Rename the arrays of the paper's code; its (inputs, outputs) matrices become (outputs, inputs)."""
    try:
        embedding, projection = state["encoder.weight"], state["projection.weight"]
        weights = {
            "embedding": embedding,
            "output_bias": state["decoder.bias"],
            "projection": projection,
            "projection_bias": state["projection.bias"],
        }
        layers = sum(
            name.startswith("lstm.cells.") and name.endswith(".weight") and name.count(".") == 3 for name in state
        )
        for layer in range(layers):
            weights |= _layer(state, layer, hidden_size=projection.shape[1])
    except KeyError as error:
        raise ModelFileError(f"{path} lacks {error}; it is not a checkpoint of the paper's code") from None
    if len(embedding) != pieces or not layers:
        raise ModelFileError(f"{path} knows {len(embedding)} pieces in {layers} layers, spm.model has {pieces} pieces")
    return weights


def _layer(state: Mapping[str, NDArray[np.float32]], layer: int, hidden_size: int) -> Weights:
    cell = f"lstm.cells.{layer}"
    joined = state[f"{cell}.weight"]  # (input + hidden, 3 × hidden)
    inputs = len(joined) - hidden_size
    norms = [f"{cell}.layernorm.{gate}" for gate in range(3)]  # forget, output, candidate
    return {
        f"layer{layer}.input": joined[:inputs].T,
        f"layer{layer}.recurrent": joined[inputs:].T,
        f"layer{layer}.norm_scale": np.concatenate([state[f"{norm}.weight"] for norm in norms]),
        f"layer{layer}.norm_bias": np.concatenate([state[f"{norm}.bias"] for norm in norms]),
    }


def _read_state(path: Path) -> dict[str, NDArray[np.float32]]:
    torch = require("torch", "train")
    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
        return {name: tensor.float().numpy() for name, tensor in state.items()}
    except (OSError, RuntimeError, EOFError, AttributeError, pickle.UnpicklingError) as error:
        reason = str(error).partition("\n")[0]
        raise ModelFileError(f"{path} cannot be read ({reason}); it is not a checkpoint of the paper's code") from error


def _card(weights: Weights, segmenter: Segmenter, source: str) -> Card:
    embedding_size, hidden_size = weights["projection"].shape
    layers = sum(name.endswith(".recurrent") for name in weights)
    return Card(
        halfword=__version__,
        date=datetime.now(UTC).date().isoformat(),
        profile=PAPER.name,
        parts=PartsCard(
            pieces=PiecesCard(segmentation=str(segmenter.kind), size=segmenter.size),
            network=NetworkCard(embedding_size=embedding_size, hidden_size=hidden_size, layers=layers),
        ),
        source=f"a checkpoint of the paper's code ({source})",
    )
