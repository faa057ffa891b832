"""A checkpoint of the paper's code, tiny and random, says the same after it was imported."""

from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file

from halfword.core.card import NetworkCard, PiecesCard
from halfword.core.errors import ModelFileError
from halfword.core.model_file import read_header
from halfword.training.import_subword_qac import import_subword_qac
from halfword.training.segment import Kind, SegmentOptions, train_segmenter

COUNTS = {"new york": 5, "new york times": 7, "news": 5, "weather": 3, "web": 3, "weather in new york": 1}
EMBEDDING, HIDDEN = 6, 10


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    folder = tmp_path / "checkpoint"
    folder.mkdir()
    segmenter = train_segmenter(COUNTS, SegmentOptions(kind=Kind.BPE, size=30))
    (folder / "spm.model").write_bytes(segmenter.model)
    generator = torch.Generator().manual_seed(0)

    def random(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=generator)

    state = {
        "encoder.weight": random(30, EMBEDDING),
        "decoder.bias": random(30),
        "projection.weight": random(EMBEDDING, HIDDEN),
        "projection.bias": random(EMBEDDING),
        "lstm.cells.0.weight": random(EMBEDDING + HIDDEN, 3 * HIDDEN),
    }
    for gate in range(3):
        state[f"lstm.cells.0.layernorm.{gate}.weight"] = random(HIDDEN)
        state[f"lstm.cells.0.layernorm.{gate}.bias"] = random(HIDDEN)
    state["decoder.weight"] = state["encoder.weight"]
    torch.save(state, folder / "model.pt")
    return folder


def paper_logits(state: dict[str, torch.Tensor], pieces: list[int]) -> torch.Tensor:
    """The network in the words of the paper's code."""
    hidden, cell = torch.zeros(HIDDEN), torch.zeros(HIDDEN)
    logits = []
    for piece in pieces:
        gates = torch.cat([state["encoder.weight"][piece], hidden]) @ state["lstm.cells.0.weight"]
        forget, output, candidate = (
            torch.nn.functional.layer_norm(
                part,
                [HIDDEN],
                state[f"lstm.cells.0.layernorm.{gate}.weight"],
                state[f"lstm.cells.0.layernorm.{gate}.bias"],
            )
            for gate, part in enumerate(torch.split(gates, HIDDEN))
        )
        forget = torch.sigmoid(forget + 1)
        cell = forget * cell + (1 - forget) * torch.tanh(candidate)
        hidden = torch.sigmoid(output) * torch.tanh(cell)
        projected = state["projection.weight"] @ hidden + state["projection.bias"]
        logits.append(state["decoder.weight"] @ projected + state["decoder.bias"])
    return torch.stack(logits)


def imported_logits(path: Path, pieces: list[int]) -> np.ndarray:
    """The formula in NumPy, over the arrays of the model file."""
    weights = {name.removeprefix("network."): array for name, array in load_file(path).items()}
    hidden, cell = np.zeros(HIDDEN), np.zeros(HIDDEN)
    logits = []
    for piece in pieces:
        gates = weights["layer0.input"] @ weights["embedding"][piece] + weights["layer0.recurrent"] @ hidden
        by_gate = gates.reshape(3, HIDDEN)
        centred = by_gate - by_gate.mean(axis=1, keepdims=True)
        normed = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-5)
        forget, output, candidate = normed * weights["layer0.norm_scale"].reshape(3, HIDDEN) + weights[
            "layer0.norm_bias"
        ].reshape(3, HIDDEN)
        forget = 1 / (1 + np.exp(-forget - 1))
        cell = forget * cell + (1 - forget) * np.tanh(candidate)
        hidden = np.tanh(cell) / (1 + np.exp(-output))
        projected = weights["projection"] @ hidden + weights["projection_bias"]
        logits.append(weights["embedding"] @ projected + weights["output_bias"])
    return np.array(logits)


def test_an_imported_model_has_the_logits_of_the_papers_code(checkpoint: Path, tmp_path: Path) -> None:
    output = tmp_path / "imported.halfword"
    import_subword_qac(checkpoint, output)
    state = torch.load(checkpoint / "model.pt", weights_only=True)
    pieces = [1, 5, 9, 29, 5, 3]
    np.testing.assert_allclose(imported_logits(output, pieces), paper_logits(state, pieces).numpy(), atol=1e-5)


def test_the_card_names_the_profile_the_pieces_and_the_sizes(checkpoint: Path, tmp_path: Path) -> None:
    output = tmp_path / "imported.halfword"
    card = import_subword_qac(checkpoint, output)
    assert read_header(output).card == card
    assert card.profile == "paper"
    assert card.parts.pieces == PiecesCard(segmentation="bpe", size=30)
    assert card.parts.network == NetworkCard(embedding_size=EMBEDDING, hidden_size=HIDDEN, layers=1)


@pytest.mark.parametrize("name", ["model.pt", "spm.model"])
def test_a_missing_file_is_named(checkpoint: Path, tmp_path: Path, name: str) -> None:
    (checkpoint / name).unlink()
    with pytest.raises(ModelFileError, match=name):
        import_subword_qac(checkpoint, tmp_path / "imported.halfword")


@pytest.mark.parametrize("name", ["model.pt", "spm.model"])
def test_a_damaged_file_is_refused_in_one_line(checkpoint: Path, tmp_path: Path, name: str) -> None:
    (checkpoint / name).write_bytes(b"\xff\xff nonsense")
    with pytest.raises(ModelFileError) as caught:
        import_subword_qac(checkpoint, tmp_path / "imported.halfword")
    assert "\n" not in str(caught.value)


def test_a_checkpoint_of_something_else_is_refused(checkpoint: Path, tmp_path: Path) -> None:
    torch.save({"encoder.weight": torch.zeros(3, 3)}, checkpoint / "model.pt")
    with pytest.raises(ModelFileError, match="not a checkpoint of the paper's code"):
        import_subword_qac(checkpoint, tmp_path / "imported.halfword")


def test_a_vocabulary_of_another_size_is_refused(checkpoint: Path, tmp_path: Path) -> None:
    state = torch.load(checkpoint / "model.pt", weights_only=True)
    torch.save(state | {"encoder.weight": torch.zeros(7, EMBEDDING)}, checkpoint / "model.pt")
    with pytest.raises(ModelFileError, match="7 pieces"):
        import_subword_qac(checkpoint, tmp_path / "imported.halfword")
