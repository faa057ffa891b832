"""One training step: read a batch, compute the gradient, update the weights."""

import hashlib

import torch
from torch import Tensor, nn

from halfword.training.network.batches import Chunk
from halfword.training.network.distributed import World
from halfword.training.network.network import Batch, Network, token_losses
from halfword.training.network.options import NetworkTraining
from halfword.training.network.teacher import Teacher, taught_losses


class Stepper:
    """Trains on the batches of a chunk in plain PyTorch; `loss_sum` is the sum of the losses of all queries read."""

    def __init__(
        self, network: Network, options: NetworkTraining, begin: int, world: World, teacher: Teacher | None = None
    ) -> None:
        self.network = network
        self.teacher = teacher
        self.options = options
        self.world = world
        self.begin = begin
        self.device = network.embedding.device
        self.optimizer = self._make_optimizer()
        self.loss_sum = torch.zeros((), dtype=torch.float64, device=self.device)
        self._batches: list[Batch] = []

    def _make_optimizer(self) -> torch.optim.Optimizer:
        rate, decay = self.options.learning_rate, self.options.weight_decay
        return torch.optim.AdamW(self.network.parameters(), lr=rate, weight_decay=decay, fused=True)

    def load(self, chunk: Chunk) -> None:
        """Set the chunk whose batches `step` refers to by their position."""
        self._batches = list(chunk.batches(self.begin))

    def step(self, position: int, number: int, learning_rate: float) -> None:
        """Train on the batch at `position` of the chunk, as step `number` of the whole training."""
        generator = seeded(self.device, self.options.seed, "dropout", number, self.world.rank)
        for group in self.optimizer.param_groups:
            group["lr"] = learning_rate
        self.optimizer.zero_grad()
        batch = self._batches[position]
        logits = self.network.logits(batch, generator)
        taught = self.teacher.probabilities(batch) if self.teacher else None
        objective = taught_losses(logits, batch.targets, taught, self.options.teacher_share).sum()
        torch.autograd.backward(objective / self.options.batch)
        self.world.average_gradients(self.network)
        nn.utils.clip_grad_norm_(self.network.parameters(), self.options.clip)
        self.optimizer.step()
        self.loss_sum += objective.detach() if taught is None else token_losses(logits.detach(), batch.targets).sum()

    def moments(self) -> dict[str, Tensor]:
        """Return the moments of Adam, by their names in a checkpoint."""
        moments = {}
        for name, parameter in self.network.named_parameters():
            state = self.optimizer.state[parameter]
            moments[f"mean.{name}"] = state["exp_avg"]
            moments[f"square.{name}"] = state["exp_avg_sq"]
        return moments

    def restore(self, arrays: dict[str, Tensor], steps: int) -> None:
        """Restore the moments of Adam after `steps` steps."""
        for name, parameter in self.network.named_parameters():
            self.optimizer.state[parameter] = {
                "step": torch.tensor(float(steps), device=self.device),
                "exp_avg": arrays[f"mean.{name}"].to(self.device, copy=True),
                "exp_avg_sq": arrays[f"square.{name}"].to(self.device, copy=True),
            }


def seeded(device: torch.device, *key: int | str) -> torch.Generator:
    """Return a generator that depends only on `key`, so that a checkpoint need not store random states."""
    digest = hashlib.blake2b(repr(key).encode(), digest_size=7).digest()
    return torch.Generator(device).manual_seed(int.from_bytes(digest))
