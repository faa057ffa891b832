"""How a network is trained: the options, the presets and the learning-rate schedule; needs no PyTorch."""

import math
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from pathlib import Path

from halfword.core.errors import OptionError
from halfword.core.fields import option
from halfword.training.segment import Kind, SegmentOptions


class Schedule(StrEnum):
    """The schedule of the learning rate."""

    CONSTANT = "constant"
    DECAY = "decay"  # rises linearly during the warm-up, then falls linearly to zero


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkOptions:
    """The sizes of a network, and its dropout during training."""

    hidden_size: int = option(600, "Width of a layer.", rare=True, preset=True)
    embedding_size: int = option(100, "Width of the embedding.", rare=True, preset=True)
    # The rank of the recurrence.
    summary_size: int = option(0, "Numbers passed to the next step; 0 for all.", rare=True, preset=True)
    layers: int = option(1, "Recurrent layers.", rare=True, preset=True)
    input_dropout: float = 0.0
    recurrent_dropout: float = 0.25  # of the candidate, drawn at every step
    hidden_dropout: float = 0.0  # between layers
    output_dropout: float = option(0.0, "Dropout of the top layer while learning.", rare=True, preset=True)

    def sizes(self) -> dict[str, int]:
        """Return the sizes alone; two networks whose sizes are equal can have each other's weights."""
        summary = self.summary_size if self.summary_size < self.hidden_size else 0
        sizes = {"embedding_size": self.embedding_size, "hidden_size": self.hidden_size, "layers": self.layers}
        return {**sizes, "summary_size": summary}

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if "dropout" in name and not 0 <= value < 1:
                raise OptionError(f"{name} must lie between 0 and 1, got {value}")
            least = 0 if name == "summary_size" else 1
            if "dropout" not in name and not least <= value <= 16384:
                raise OptionError(f"{name} must lie between {least} and 16384, got {value}")


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkTraining:
    """Everything that the trained network depends on, besides the data."""

    segment: SegmentOptions = field(default_factory=SegmentOptions)
    network: NetworkOptions = field(default_factory=NetworkOptions)
    alpha: float = 0.2  # of subword regularisation (unigram pieces); 0: always the best segmentation
    epochs: int = option(30, "How often the data is read, at most.", rare=True, preset=True)
    # 0: chosen by the size of the data
    batch: int = option(0, "Queries per step, in each process.", rare=True, preset=True)
    # 0: chosen by the batch
    learning_rate: float = option(0.0, "Of Adam, at its highest.", rare=True, preset=True)
    schedule: Schedule = option(Schedule.DECAY, "Of the learning rate: constant or decay.", rare=True, preset=True)
    warmup: float = 0.05  # share of the training over which the learning rate rises
    clip: float = 0.25  # the gradient norm is clipped at this value
    weight_decay: float = 0.0
    # The mean of their predictions is what is learned.
    teachers: tuple[str, ...] = option(
        (), "Model file of a larger network, to learn from.", "teacher", rare=True, preset=True
    )
    teacher_share: float = 0.7  # share of the target that is the teacher's prediction; the rest is the next piece
    most_tokens: int = 40  # longer queries are cut
    seed: int = option(0, "Draws other weights and another order.", rare=True, preset=True)
    time_limit: float | None = option(None, "Minutes for the network to learn in.")

    def __post_init__(self) -> None:
        _check("epochs", self.epochs, 1, 10_000)
        _check("batch", self.batch, 0, 1_000_000)
        _check("learning rate", self.learning_rate, 0, 1)
        _check("alpha", self.alpha, 0, 10)
        _check("warmup", self.warmup, 0, 0.9)
        _check("clip", self.clip, 1e-9, 1e9)
        _check("weight decay", self.weight_decay, 0, 1)
        _check("teacher share", self.teacher_share, 0, 1)
        _check("most tokens", self.most_tokens, 2, 1000)
        _check("time limit", self.time_limit or 1, 1e-9, 1e6)

    @property
    def samples(self) -> bool:
        """Whether a segmentation is drawn each time a query is read."""
        return self.segment.kind is Kind.UNIGRAM and self.alpha > 0

    def fitted(self, rows: int, processes: int = 1) -> "NetworkTraining":
        """Return these options with a batch for `rows` queries per epoch, and a learning rate for that batch.

        A small log needs many small steps; a large log can fill a GPU. The learning rate of Adam may grow with the
        square root of the batch.
        """
        batch = self.batch or min(max(2 ** ((rows // _STEPS_AN_EPOCH).bit_length() - 1), 64), _LARGEST_BATCH)
        rate = self.learning_rate or _HIGHEST_RATE * min(math.sqrt(batch * processes / _LARGEST_BATCH), 1.0)
        return replace(self, batch=batch, learning_rate=rate)

    def tuned(self, rows: int) -> "NetworkTraining":
        """Return these options for a network that starts from one that knows the language, and learns a log of `rows`.

        A small log is read a few times in small steps; more would make the network forget what it knows.
        """
        if rows >= _LARGE_LOG:
            return self
        epochs = min(max(_TUNING_QUERIES // max(rows, 1), _LEAST_TUNING), _MOST_TUNING)
        batch = self.batch or min(max(2 ** ((rows // _TUNING_STEPS).bit_length() - 1), 16), 128)
        rate = self.learning_rate or _TUNING_RATE * math.sqrt(batch / 64)
        return replace(self, epochs=min(self.epochs, epochs), batch=batch, learning_rate=rate)

    def learning_rate_at(self, progress: float) -> float:
        """Return the learning rate at `progress`, from 0 (beginning) to 1 (end of the training).

        >>> NetworkTraining(learning_rate=0.1, warmup=0.5).learning_rate_at(0.75)
        0.05
        """
        if self.schedule is Schedule.CONSTANT:
            return self.learning_rate
        rising = progress / self.warmup if self.warmup else 1.0
        return self.learning_rate * max(min(rising, (1 - progress) / (1 - self.warmup)), 0.0)


_STEPS_AN_EPOCH = 100  # at least, unless the batch would be smaller than 64
_LARGEST_BATCH = 4096
_HIGHEST_RATE = 2e-2  # at the largest batch
_LARGE_LOG = 100_000  # rows; a log of this size teaches a language by itself
_TUNING_QUERIES = 100_000  # that fine-tuning reads, all epochs together: some two minutes on two cores
_LEAST_TUNING, _MOST_TUNING = 3, 10  # epochs
_TUNING_STEPS = 50  # an epoch, at least
_TUNING_RATE = 1.5e-3  # at batches of 64


def _check(name: str, value: float, least: float, most: float) -> None:
    if not least <= value <= most:
        raise OptionError(f"{name} must lie between {least:g} and {most:g}, got {value}")


PRESETS = {
    "default": NetworkTraining(network=NetworkOptions(embedding_size=256, hidden_size=400)),
    "fast": NetworkTraining(network=NetworkOptions(embedding_size=128, hidden_size=300)),
    "teacher": NetworkTraining(  # too large to be asked at every keystroke
        network=NetworkOptions(embedding_size=300, hidden_size=1200, input_dropout=0.1, output_dropout=0.3), epochs=60
    ),
    "taught": NetworkTraining(  # the teachers' predictions already regularise, so there is less dropout
        network=NetworkOptions(embedding_size=1000, hidden_size=1200, summary_size=320, recurrent_dropout=0.1),
        epochs=60,
        teacher_share=0.9,
    ),
    "paper": NetworkTraining(
        segment=SegmentOptions(kind=Kind.BPE, size=256, coverage=0.9995),
        batch=1024,
        learning_rate=5e-3,
        schedule=Schedule.CONSTANT,
        warmup=0.0,
    ),
}


TEACHERS = 5  # with different initial weights; their mean is a better target than one of them


def checkpoint_path(output: Path) -> Path:
    """Return the path of the checkpoint of an unfinished training of the model file `output`."""
    return output.with_name(f"{output.name}.checkpoint")


def preset_named(name: str) -> NetworkTraining:
    """Return the preset called `name`."""
    if name not in PRESETS:
        raise OptionError(f"preset {name!r} is unknown; choose one of: {', '.join(PRESETS)}")
    return PRESETS[name]
