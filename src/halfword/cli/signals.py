"""Ctrl-C and polite kills: the only place that handles signals."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from halfword.core.errors import HalfwordError
from halfword.core.interrupts import raise_or_wait
from halfword.core.progress import Event, Stopped

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupted(HalfwordError):
    """A command ended early, in order, because a signal asked for it."""

    def __init__(self, message: str, number: int) -> None:
        super().__init__(message)
        self.status = 128 + number  # as shells have it


class Signals:
    """Remembers a signal while work runs that can be resumed; otherwise, or at the second signal, ends it at once."""

    def __init__(self) -> None:
        self.caught = 0  # the signal that asked the work to stop
        self.last = 0
        self._resumable = False

    def heed(self, event: Event) -> None:
        """Stop the work, as its progress function may, if a signal was caught."""
        self._resumable = event.resumable
        if self.caught:
            raise Stopped("stopped") if event.resumable else KeyboardInterrupt

    def handle(self, number: int, frame: FrameType | None) -> None:
        """Handle a signal."""
        self.last = number
        if self._resumable and not self.caught:
            self.caught = number
        else:
            raise_or_wait(KeyboardInterrupt())


@contextmanager
def handled_signals() -> Iterator[Signals]:
    """Handle signals while a command works."""
    signals = Signals()
    before = {number: signal.signal(number, signals.handle) for number in _SIGNALS}
    try:
        yield signals
    except Stopped as error:
        if signals.caught:
            raise Interrupted(str(error), signals.caught) from error
        raise
    except KeyboardInterrupt:
        if signals.last == signal.SIGTERM:
            raise SystemExit(128 + signal.SIGTERM) from None
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
