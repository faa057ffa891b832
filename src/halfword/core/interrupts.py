"""Blocks that must not be cut in two; the library handles no signals, but says here when one has to wait."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

_blocks = 0  # that the main thread, which alone runs signal handlers, is inside
_waiting: list[BaseException] = []


@contextmanager
def undisturbed() -> Iterator[None]:
    """Mark a block, such as a clean-up, that has to be finished once it is begun."""
    global _blocks
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    _blocks += 1
    waiting: list[BaseException] = []
    try:
        yield
    finally:  # an error that leaves the block ends the work too, so nothing has to wait any longer
        _blocks -= 1
        if not _blocks:
            waiting, _waiting[:] = _waiting[:], []
    if waiting:
        raise waiting[0]


def raise_or_wait(interrupt: BaseException) -> None:
    """Raise `interrupt` from a signal handler now, or at the end of the block that must not be cut in two."""
    if not _blocks:
        raise interrupt
    if not _waiting:
        _waiting.append(interrupt)
