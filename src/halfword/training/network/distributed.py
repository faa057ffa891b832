"""Several processes, started by `torchrun`, that train one network together."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, distributed, nn

from halfword.core.errors import OptionError


@dataclass(frozen=True, slots=True)
class World:
    """The number of processes that train together, and the rank of this one."""

    rank: int = 0
    size: int = 1

    def sum(self, values: list[float], device: torch.device) -> list[float]:
        """Return the sum of each value over all processes."""
        if self.size == 1:
            return values
        total = torch.tensor(values, dtype=torch.float64, device=device)
        distributed.all_reduce(total)
        return [float(value) for value in total.tolist()]

    def average_gradients(self, network: nn.Module) -> None:
        """Replace the gradients of every process by their mean; the network is small, so one message is enough."""
        if self.size == 1:
            return
        gradients = [parameter.grad for parameter in network.parameters() if parameter.grad is not None]
        flat = torch.cat([gradient.flatten() for gradient in gradients])
        distributed.all_reduce(flat)
        flat /= self.size
        for gradient, part in zip(
            gradients, torch.split(flat, [gradient.numel() for gradient in gradients]), strict=True
        ):
            gradient.copy_(part.view_as(gradient))

    def from_first(self, content: bytes, device: torch.device) -> bytes:
        """Return the bytes that the first process has."""
        if self.size == 1:
            return content
        length = torch.tensor([len(content)], device=device)
        distributed.broadcast(length, 0)
        message: Tensor = torch.zeros(int(length), dtype=torch.uint8, device=device)
        if self.rank == 0:
            message.copy_(torch.frombuffer(bytearray(content), dtype=torch.uint8))
        distributed.broadcast(message, 0)
        return bytes(message.cpu().numpy())


def choose_device(name: str | None) -> torch.device:
    """Return the device called `name`, or without a name the best that this process has."""
    has_cuda = torch.cuda.is_available()
    if name == "cuda" and not has_cuda:
        raise OptionError("no CUDA device is available; leave out --device or use --device cpu")
    if name not in (None, "cpu", "cuda"):
        raise OptionError(f"device must be cpu or cuda, got {name!r}")
    if name == "cpu" or not has_cuda:
        return torch.device("cpu")
    return torch.device("cuda", int(os.environ.get("LOCAL_RANK", 0)))


@contextmanager
def join_world(device: torch.device) -> Iterator[World]:
    """Join the other processes of a `torchrun`; without one, train alone."""
    if int(os.environ.get("WORLD_SIZE", 1)) == 1:
        yield World()
        return
    if device.type == "cuda":
        torch.cuda.set_device(device)
    distributed.init_process_group("nccl" if device.type == "cuda" else "gloo")
    try:
        yield World(distributed.get_rank(), distributed.get_world_size())
        distributed.barrier()  # if one process left while another still waits for it, that one would fail
    finally:
        distributed.destroy_process_group()
