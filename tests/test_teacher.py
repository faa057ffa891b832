"""A network that is taught learns what its teachers say, not only what came next."""

from pathlib import Path

import pytest
import torch

from halfword.core.errors import ModelFileError
from halfword.core.fields import changed
from halfword.data.dataset import open_dataset
from halfword.training.network.batches import best_tokens, make_chunk
from halfword.training.network.distributed import World
from halfword.training.network.network import IGNORED, Network
from halfword.training.network.options import NetworkTraining
from halfword.training.network.step import Stepper, seeded
from halfword.training.network.teacher import Teacher, mean_probabilities, read_teacher, taught_losses
from halfword.training.options import TrainOptions
from halfword.training.segment import train_segmenter
from halfword.training.train import train
from tests.training import COUNTS, SMALL, make_dataset

CPU = torch.device("cpu")
pytestmark = pytest.mark.usefixtures("one_thread")


def make_model(folder: Path, options: NetworkTraining = SMALL) -> Path:
    data = folder / "data"
    train(
        open_dataset(data if data.exists() else make_dataset(data)),
        folder / "teacher.halfword",
        TrainOptions(parts=("network",), network=options, device="cpu"),
    )
    return folder / "teacher.halfword"


def test_what_a_teacher_says_takes_its_share_of_the_target() -> None:
    logits = torch.tensor([[0.0, 1.0, 2.0], [3.0, 0.0, 0.0]])
    targets = torch.tensor([2, IGNORED])
    taught = torch.tensor([[0.2, 0.3, 0.5], [1.0, 0.0, 0.0]])
    target = 0.25 * torch.tensor([0.0, 0.0, 1.0]) + 0.75 * taught[0]
    expected = -(target * logits[0].log_softmax(0)).sum()
    assert taught_losses(logits, targets, taught, 0.75).tolist() == pytest.approx([float(expected), 0.0])


def test_several_teachers_say_their_mean() -> None:
    said = mean_probabilities([torch.tensor([[0.0, 0.0]]), torch.tensor([[0.0, 100.0]])])
    assert said.tolist() == [pytest.approx([0.25, 0.75])]


def test_a_network_that_is_only_taught_comes_to_say_what_its_teacher_says() -> None:
    options = changed(SMALL, {"recurrent_dropout": 0.0, "teacher_share": 1.0, "batch": 16, "learning_rate": 0.02})
    segmenter = train_segmenter(COUNTS, options.segment)
    chunk = make_chunk(best_tokens(list(COUNTS), segmenter, 40, CPU).table, options.batch)
    teacher, pupil = (Network(segmenter.size, options.network, seeded(CPU, seed)) for seed in (1, 2))
    stepper = Stepper(pupil, options, segmenter.begin, World(), Teacher((teacher.eval(),)))
    stepper.load(chunk)
    (batch,) = chunk.batches(segmenter.begin)

    def distance() -> float:
        said, wanted = (network.logits(batch, seeded(CPU, 0)).log_softmax(1) for network in (pupil, teacher))
        return float((wanted.exp() * (wanted - said)).sum(1).mean().detach())

    before = distance()
    for number in range(100):
        stepper.step(0, number, learning_rate=0.02)
    assert distance() < before / 10


def test_a_model_file_teaches_the_next(tmp_path: Path) -> None:
    teacher = make_model(tmp_path)
    options = changed(SMALL, {"teachers": (str(teacher),), "seed": 5})
    card = train(
        open_dataset(tmp_path / "data"),
        tmp_path / "pupil.halfword",
        TrainOptions(parts=("network",), network=options, device="cpu"),
    )
    assert card.to_json()["parts"]["network"]["options"]["teachers"] == [str(teacher)]


def test_a_teacher_reads_as_it_was_written(tmp_path: Path) -> None:
    path = make_model(tmp_path, changed(SMALL, {"summary_size": 5}))
    segmenter = train_segmenter(COUNTS, SMALL.segment)
    teacher = read_teacher([str(path)], segmenter, CPU)
    assert teacher is not None
    assert not any(parameter.requires_grad for parameter in teacher.networks[0].parameters())
    sizes = teacher.networks[0].options
    assert (sizes.hidden_size, sizes.summary_size) == (SMALL.network.hidden_size, 5)


def test_a_teacher_with_other_pieces_is_refused(tmp_path: Path) -> None:
    path = make_model(tmp_path, changed(SMALL, {"kind": "bpe", "size": 60}))
    segmenter = train_segmenter(COUNTS, SMALL.segment)
    with pytest.raises(ModelFileError, match="has other pieces"):
        read_teacher([str(path)], segmenter, CPU)
