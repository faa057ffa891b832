"""Ctrl-C between two steps, never in the middle of one, and never in the middle of cleaning up."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from halfword.core.errors import HalfwordError


@contextmanager
def interrupts() -> Iterator[list[int]]:
    """Collect Ctrl-C and polite kills in a list, because a step must not be cut in two; a second one ends at once."""
    caught: list[int] = []

    def note(number: int, frame: object) -> None:
        if caught:
            raise KeyboardInterrupt
        caught.append(number)

    signals = (signal.SIGINT, signal.SIGTERM)
    previous = {number: signal.signal(number, note) for number in signals}
    try:
        yield caught
    except HalfwordError as error:
        error.signal = caught[0] if caught else 0
        raise
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Let Ctrl-C wait until the block is over: people press it twice, and what is being removed must be gone."""
    if threading.current_thread() is not threading.main_thread():  # only the main thread hears of signals
        yield
        return
    waiting: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: waiting.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if waiting and callable(before):
        before(waiting[0], None)
