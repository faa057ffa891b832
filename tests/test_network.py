"""The network gives every query the loss it would have alone, and its weights survive the model file."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from halfword.core.errors import OptionError
from halfword.training.network.batches import make_chunk
from halfword.training.network.network import Batch, Network, drop
from halfword.training.network.options import NetworkOptions
from halfword.training.network.weights import network_arrays, quantise

OPTIONS = NetworkOptions(embedding_size=6, hidden_size=10, layers=2, recurrent_dropout=0.5)
BEGIN = 1


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.fixture
def network() -> Network:
    return Network(12, OPTIONS, generator()).eval()


def packed(rows: list[list[int]]) -> Batch:
    widest = max(map(len, rows))
    targets = torch.tensor([row + [-1] * (widest - len(row)) for row in rows])
    return next(make_chunk(targets, len(rows)).batches(BEGIN))


def test_a_query_has_the_same_loss_in_a_batch_and_alone(network: Network) -> None:
    rows = [[5, 6, 2], [7, 2], [3, 4, 5, 6, 7, 2], [2]]
    alone = sum(network(packed([row]), generator()).sum() for row in rows)
    together = network(packed(rows), generator())
    assert len(together) == sum(map(len, rows))
    torch.testing.assert_close(together.sum(), alone)


def test_an_empty_row_adds_no_loss(network: Network) -> None:
    torch.testing.assert_close(
        network(packed([[5, 6, 2], [-1, -1, -1]]), generator()).sum(), network(packed([[5, 6, 2]]), generator()).sum()
    )


def test_the_loss_is_the_formula_of_the_paper() -> None:
    network = Network(12, NetworkOptions(embedding_size=6, hidden_size=10), generator()).eval()
    weights = network.weights()
    hidden, cell, expected = np.zeros(10), np.zeros(10), []
    for read, wanted in [(BEGIN, 5), (5, 6), (6, 2)]:
        gates = weights["layer0.input"] @ weights["embedding"][read] + weights["layer0.recurrent"] @ hidden
        forget, output, candidate = (
            (gate - gate.mean()) / np.sqrt(gate.var() + 1e-5) * scale + bias
            for gate, scale, bias in zip(
                gates.reshape(3, 10),
                weights["layer0.norm_scale"].reshape(3, 10),
                weights["layer0.norm_bias"].reshape(3, 10),
                strict=True,
            )
        )
        forget = 1 / (1 + np.exp(-forget - 1))
        cell = forget * cell + (1 - forget) * np.tanh(candidate)
        hidden = np.tanh(cell) / (1 + np.exp(-output))
        logits = weights["embedding"] @ (weights["projection"] @ hidden + weights["projection_bias"])
        logits = logits + weights["output_bias"]
        expected.append(np.log(np.exp(logits).sum()) - logits[wanted])
    found = network(packed([[5, 6, 2]]), generator()).detach().numpy()
    np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize("summary", [0, 2])
def test_the_gradients_are_those_of_finite_differences(summary: int) -> None:
    options = NetworkOptions(embedding_size=3, hidden_size=4, layers=2, summary_size=summary)
    network = Network(12, options, generator()).double().eval()
    batch = packed([[5, 6, 2], [7, 2]])
    network(batch, generator()).sum().backward()
    for name, parameter in network.named_parameters():
        assert parameter.grad is not None
        slope = parameter.grad.flatten()[0].item()
        with torch.no_grad():
            parameter.view(-1)[0] += 1e-6
            above = network(batch, generator()).sum().item()
            parameter.view(-1)[0] -= 2e-6
            below = network(batch, generator()).sum().item()
            parameter.view(-1)[0] += 1e-6
        assert (above - below) / 2e-6 == pytest.approx(slope, rel=1e-4, abs=1e-7), name


def test_a_layer_that_sums_its_hidden_values_up_is_one_with_the_product_of_both_matrices() -> None:
    options = NetworkOptions(embedding_size=6, hidden_size=10, summary_size=3)
    network = Network(12, options, generator()).eval()
    weights = network.weights()
    assert weights["layer0.summary"].shape == (3, 10)
    weights["layer0.recurrent"] = weights["layer0.recurrent"] @ weights.pop("layer0.summary")
    whole = Network(12, replace(options, summary_size=0), generator(5)).eval()
    whole.load_weights(weights)
    batch = packed([[5, 6, 2], [7, 2]])
    torch.testing.assert_close(whole(batch, generator()), network(batch, generator()))


def test_dropout_falls_only_while_training(network: Network) -> None:
    batch = packed([[5, 6, 2]])
    assert torch.equal(network(batch, generator(1)), network(batch, generator(2)))
    network.train()
    assert not torch.equal(network(batch, generator(1)), network(batch, generator(2)))
    assert torch.equal(network(batch, generator(1)), network(batch, generator(1)))


def test_what_is_left_after_dropout_keeps_the_mean() -> None:
    dropped = drop(torch.ones(100_000), 0.25, generator())
    assert (dropped == 0).float().mean() == pytest.approx(0.25, abs=0.01)
    assert dropped.mean() == pytest.approx(1, abs=0.01)


def test_weights_come_back_from_their_names_in_the_file(network: Network) -> None:
    other = Network(12, OPTIONS, generator(9)).eval()
    other.load_weights(network.weights())
    batch = packed([[5, 6, 2], [7, 2]])
    assert torch.equal(other(batch, generator()), network(batch, generator()))


def test_the_file_has_each_matrix_in_fp32_and_int8(network: Network) -> None:
    arrays = network_arrays(network.weights())
    assert arrays["network.layer1.input"].shape == (30, 10)
    rounded = np.frombuffer(arrays["network.layer1.input.int8"].data, np.int8).reshape(30, 10)
    scale = np.frombuffer(arrays["network.layer1.input.scale"].data, "<f4")
    weight = np.frombuffer(arrays["network.layer1.input"].data, "<f4").reshape(30, 10)
    assert np.abs(rounded * scale[:, None] - weight).max() <= scale.max() * 0.501
    assert "network.layer1.norm_scale.int8" not in arrays


def test_a_row_of_zeros_is_quantised_without_dividing_by_zero() -> None:
    rounded, scale = quantise(np.array([[0.0, 0.0], [1.0, -2.0]], dtype=np.float32))
    assert rounded.tolist() == [[0, 0], [64, -127]]
    assert (scale > 0).all()


@pytest.mark.parametrize("wrong", [{"hidden_size": 0}, {"layers": 0}, {"summary_size": -1}, {"recurrent_dropout": 1.0}])
def test_a_size_or_dropout_out_of_range_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(OptionError, match=next(iter(wrong))):
        NetworkOptions(**wrong)  # type: ignore[arg-type]
