"""Ctrl-C between two steps, never in the middle of one."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager


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
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
