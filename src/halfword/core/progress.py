"""How long work reports how far it is, and how its caller ends it early."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from halfword.core.errors import HalfwordError


@dataclass(frozen=True, slots=True)
class Event:
    """How far a piece of work is.

    >>> print(Event("reading", 50, 200))
    reading
    """

    stage: str  # what is being done
    done: int = 0
    total: int | None = None  # None: not known
    detail: str = ""  # more about it, for people
    resumable: bool = False  # `Stopped`, raised now, keeps what was done so far in a checkpoint

    def __str__(self) -> str:
        return f"{self.stage}, {self.detail}" if self.detail else self.stage


class Stopped(HalfwordError):
    """The work ended early because its progress function asked for it, by raising this."""


Progress = Callable[[Event], None]  # called often; may raise `Stopped`


def quiet(event: Event) -> None:
    """Report nothing."""


def named(name: str, progress: Progress) -> Progress:
    """Return a progress function that puts `name` before each stage."""
    return lambda event: progress(replace(event, stage=f"{name}: {event.stage}"))
