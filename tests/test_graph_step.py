"""The GPU's fused step does what the plain one does; asked only where there is a GPU."""

import pytest
import torch

from halfword.core.fields import changed
from halfword.training.network.batches import best_tokens, make_chunk
from halfword.training.network.distributed import World
from halfword.training.network.network import Network
from halfword.training.network.options import NetworkTraining
from halfword.training.network.step import Stepper, seeded
from halfword.training.network.teacher import Teacher, taught_losses
from halfword.training.segment import train_segmenter
from tests.training import COUNTS, SMALL

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")


def make_network(pieces: int, options: NetworkTraining, seed: int) -> Network:
    """Make a network whose gates are as far apart as trained ones; else the norms would raise what bf16 rounds off."""
    network = Network(pieces, options.network, seeded(torch.device("cpu"), seed)).to("cuda")
    with torch.no_grad():
        network.embedding.mul_(5)
    return network


@pytest.mark.parametrize(("layers", "summary"), [(1, 0), (2, 0), (2, 16)])
def test_loss_and_gradients_are_those_of_the_plain_step_in_double_precision(layers: int, summary: int) -> None:
    from halfword.training.network.graph_step import GraphStepper

    device = torch.device("cuda")
    sizes = {"layers": layers, "hidden_size": 40, "summary_size": summary}
    options = changed(SMALL, {"recurrent_dropout": 0.0, "batch": 16, **sizes})
    segmenter = train_segmenter(COUNTS, options.segment)
    chunk = make_chunk(best_tokens(list(COUNTS), segmenter, 40, device).table, options.batch)
    plain, fused = (make_network(segmenter.size, options, 1) for _ in "ab")
    (batch,) = chunk.batches(segmenter.begin)
    loss = Stepper(plain.double(), options, segmenter.begin, World()).network(batch, seeded(device, 1)).sum()
    (loss / options.batch).backward()
    stepper = GraphStepper(fused, options, segmenter.begin, World())
    stepper.load(chunk)
    assert float(stepper._gradients()) == pytest.approx(float(loss.detach()), rel=1e-3)
    for (name, one), other in zip(plain.named_parameters(), fused.parameters(), strict=True):
        assert one.grad is not None
        assert other.grad is not None
        assert float((one.grad - other.grad).norm() / one.grad.norm()) < 0.05, name


def test_a_taught_step_is_that_of_the_plain_one() -> None:
    from halfword.training.network.graph_step import GraphStepper

    device = torch.device("cuda")
    options = changed(SMALL, {"recurrent_dropout": 0.0, "batch": 16, "layers": 2, "hidden_size": 40})
    segmenter = train_segmenter(COUNTS, options.segment)
    chunk = make_chunk(best_tokens(list(COUNTS), segmenter, 40, device).table, options.batch)
    plain, fused, first, second = (make_network(segmenter.size, options, seed) for seed in (1, 1, 2, 3))
    teacher = Teacher((first.requires_grad_(False), second.requires_grad_(False)))
    (batch,) = chunk.batches(segmenter.begin)
    losses = taught_losses(plain.logits(batch, seeded(device, 1)), batch.targets, teacher.probabilities(batch), 0.7)
    torch.autograd.backward(losses.sum() / options.batch)
    stepper = GraphStepper(fused, options, segmenter.begin, World(), teacher)
    stepper.load(chunk)
    stepper._gradients()
    for (name, one), other in zip(plain.named_parameters(), fused.parameters(), strict=True):
        assert one.grad is not None
        assert other.grad is not None
        assert float((one.grad - other.grad).norm() / one.grad.norm()) < 0.05, name
