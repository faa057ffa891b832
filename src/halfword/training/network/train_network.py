"""The training of a network: epochs, validation, checkpoints, resuming."""

import json
import math
import time
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from halfword.core.errors import OptionError
from halfword.core.files import whole_file
from halfword.core.progress import Event, Progress, Stopped
from halfword.training.network.batches import Chunk, Queries, epoch_rows, make_chunk
from halfword.training.network.checkpoint import State, cpu_copy, write_checkpoint
from halfword.training.network.options import NetworkTraining, checkpoint_path
from halfword.training.network.step import Stepper, seeded

_CHUNK = 64  # batches that are drawn and sorted together
_VALID_BATCH = {"cpu": 512, "cuda": 2048}


class TrainingStopped(Stopped):
    """A training ended early: it was asked to, or its loss is not a number any more."""


@dataclass(frozen=True, slots=True)
class Report:
    """The progress of a training."""

    loss: float  # nats per query, in the current epoch
    perplexity: float  # per character
    queries_per_second: float
    seconds_left: float

    def __str__(self) -> str:
        left = f"{int(self.seconds_left) // 60}:{int(self.seconds_left) % 60:02}"
        return (
            f"loss {self.loss:.3f}, perplexity {self.perplexity:.3f} per character, "
            f"{self.queries_per_second:,.0f} queries/s, {left} left"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """How a training runs; the result does not depend on these options."""

    device: str | None = None  # cpu or cuda; None: the best available
    resume: bool = False
    checkpoint_minutes: float = 5.0


class Training:
    """A training in progress; call `run` once."""

    def __init__(
        self,
        stepper: Stepper,
        train: Queries,
        valid: Queries,
        state: State,
        output: Path,
        segmenter: bytes,
        run: RunOptions,
    ) -> None:
        self.stepper, self.network, self.world = stepper, stepper.network, stepper.world
        self.options: NetworkTraining = stepper.options
        self.train, self.valid, self.state, self.output, self.run_options = train, valid, state, output, run
        self.best_weights: dict[str, Tensor] = cpu_copy(self.network.state_dict())
        self._segmenter = torch.frombuffer(bytearray(segmenter), dtype=torch.uint8)
        self._batch_of_all = self.options.batch * self.world.size
        self._steps_per_epoch = math.ceil(train.rows / self._batch_of_all)
        self._look_every = 1 if stepper.device.type == "cpu" else 32  # a check has to wait for the GPU
        self._started = time.monotonic() - state.seconds
        self._saved = time.monotonic()
        self._valid_seconds = self._speed = self._epoch_started = 0.0
        self._asked_to_stop = False

    def run(self, progress: Progress) -> None:
        """Train to the end; the best weights are then in `best_weights`.

        If `progress` raises `Stopped`, the training ends between two steps with a checkpoint.
        """
        if not self.state.history and not self.state.step and self._progress() >= 1:
            raise OptionError(
                f"the time limit of {self.options.time_limit} minutes was over before the first step; raise it"
            )
        self._tell(progress)
        # An epoch that was begun before a stop is validated, even if no step of it is left.
        while self.state.epoch < self.options.epochs and (self.state.step or self._progress() < 1):
            self._epoch(progress)
            self._end_epoch(progress)

    def _tell(self, progress: Progress, detail: str = "") -> None:
        """Report how far the training is; whether it should stop is found out later, by all processes together."""
        stage = f"epoch {self._epoch_number()}/{self.options.epochs}"
        total = self._steps_per_epoch * self.options.epochs
        try:
            progress(Event(stage, self.state.steps_in_all, total, detail, resumable=True))
        except Stopped:
            self._asked_to_stop = True

    def _stop_if_asked(self) -> None:
        """Stop with a checkpoint if any of the processes was asked to."""
        (asked,) = self.world.sum([float(self._asked_to_stop)], self.stepper.device)
        if asked:
            self._save()
            epoch = self._epoch_number()
            raise TrainingStopped(f"stopped in epoch {epoch}; go on with the same command and --resume")

    def _epoch_number(self) -> int:
        return min(self.state.epoch + 1, self.options.epochs)

    def _epoch(self, progress: Progress) -> None:
        state, self._epoch_started, before = self.state, time.monotonic(), self.state.queries
        self.network.train()
        rows = epoch_rows(self.train.counts, self._generator("order", state.epoch))
        while state.step < self._steps_per_epoch:
            number, first = divmod(state.step, _CHUNK)
            chunk = self._chunk(rows, number)
            self.stepper.load(chunk)
            for position in range(first, len(chunk)):
                self.stepper.step(position, state.steps_in_all, self.options.learning_rate_at(self._progress()))
                state.step += 1
                state.steps_in_all += 1
                state.queries = min(state.step * self._batch_of_all, self.train.rows)
                if state.step % self._look_every == 0 or state.step == self._steps_per_epoch:
                    self._speed = (state.queries - before) / (time.monotonic() - self._epoch_started)
                    if self._look(progress):
                        return

    def _chunk(self, rows: Tensor, number: int) -> Chunk:
        size = _CHUNK * self._batch_of_all
        part = rows[number * size : (number + 1) * size]
        targets = self.train.source.tokens(part, self._generator("sample", self.state.epoch, number))
        return make_chunk(targets, self._batch_of_all, self.world)

    def _look(self, progress: Progress) -> bool:
        """Sum the loss, report progress, save if it is time; return whether the time limit is over."""
        state = self.state
        first = self.world.rank == 0
        seconds = time.monotonic() - self._started
        save_now = time.monotonic() - self._saved > self.run_options.checkpoint_minutes * 60
        seen = [float(self.stepper.loss_sum), seconds * first, save_now * first]
        loss, state.seconds, save = self.world.sum(seen, self.stepper.device)
        self.stepper.loss_sum.zero_()
        state.loss_sum += loss
        self._check_finite(loss)
        if save:
            self._save()
        self._tell(progress, str(self._report()))
        self._stop_if_asked()
        return self.options.time_limit is not None and self._progress() >= 1

    def _check_finite(self, loss: float) -> None:
        if not math.isfinite(loss):
            rate = self.options.learning_rate_at(self._progress())
            raise TrainingStopped(
                f"the loss is not a number any more in epoch {self.state.epoch + 1} at a learning rate of {rate:.2g}; "
                f"train again with a lower --learning-rate"
            )

    def _end_epoch(self, progress: Progress) -> None:
        state, started = self.state, time.monotonic()
        self._tell(progress, "validating")
        # Without validation rows the training loss decides, which is lowest at the end.
        valid_loss = self.validate() if self.valid.rows else state.loss_sum / state.queries
        judged = self.valid if self.valid.rows else self.train
        self._valid_seconds = time.monotonic() - started
        entry = {
            "epoch": state.epoch + 1,
            "train_loss": state.loss_sum / state.queries,
            "valid_loss": valid_loss,
            "valid_perplexity": math.exp(valid_loss * judged.rows / judged.characters),
            "learning_rate": self.options.learning_rate_at(self._progress()),
            "queries_per_second": self._speed,
            "seconds": time.monotonic() - self._epoch_started,
        }
        state.history.append(entry)
        if state.best is entry:
            self.best_weights = cpu_copy(self.network.state_dict())
        state.epoch += 1
        state.step = state.queries = 0
        state.loss_sum = 0.0
        state.seconds = time.monotonic() - self._started
        self._save()
        self._write_log()
        self._stop_if_asked()

    @torch.no_grad()
    def validate(self) -> float:
        """Return the mean loss of the validation queries, in nats; each process reads its share."""
        self.network.eval()
        counts, device = self.valid.counts, self.stepper.device
        rows = torch.arange(self.world.rank, len(counts), self.world.size, device=device)
        targets = self.valid.source.tokens(rows, self._generator("valid"))
        by_length = (targets >= 0).sum(1).argsort(descending=True, stable=True)
        total = 0.0
        for part in torch.split(by_length, _VALID_BATCH[device.type]):
            total += self._weighted_loss(targets[part], counts[rows[part]])
        (total,) = self.world.sum([total], device)
        return total / self.valid.rows

    def _weighted_loss(self, targets: Tensor, counts: Tensor) -> float:
        (batch,) = make_chunk(targets, len(targets)).batches(self.valid.begin)
        weights = torch.cat([counts[:running] for running in batch.active])
        losses = self.network(batch, self._generator("valid"))
        return float((losses.double() * weights).sum())

    def _progress(self) -> float:
        """Return how much of the training is done, from 0 to 1: by steps or by time, whichever is further."""
        done = self.state.steps_in_all / (self._steps_per_epoch * self.options.epochs)
        if self.options.time_limit is None:
            return done
        left_for_training = max(self.options.time_limit * 60 - 1.5 * self._valid_seconds, 1e-9)
        return min(max(done, self.state.seconds / left_for_training), 1.0)

    def _report(self) -> Report:
        state = self.state
        loss = state.loss_sum / state.queries
        over = max(self._progress(), 1e-9)
        left = state.seconds * (1 - over) / over
        characters = self.train.characters / self.train.rows
        return Report(loss, math.exp(loss / characters), self._speed, left)

    def _generator(self, *key: int | str) -> torch.Generator:
        return seeded(self.stepper.device, self.options.seed, *key)

    def _save(self) -> None:
        if self.world.rank:
            return
        arrays = {f"now.{name}": array for name, array in self.network.state_dict().items()}
        arrays |= {f"best.{name}": array for name, array in self.best_weights.items()}
        arrays |= {**self.stepper.moments(), "segmenter": self._segmenter}
        write_checkpoint(checkpoint_path(self.output), self.state, arrays)
        self._saved = time.monotonic()

    def _write_log(self) -> None:
        if self.world.rank == 0:
            with whole_file(log_path(self.output)) as stream:
                stream.writelines(json.dumps(entry).encode() + b"\n" for entry in self.state.history)


def log_path(output: Path) -> Path:
    """Return the path of the log of a training: one JSON object per line, one line per epoch."""
    return output.with_name(f"{output.name}.log.jsonl")
