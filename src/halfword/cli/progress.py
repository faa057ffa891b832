"""What a terminal shows of long work, and a file of its lines."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import RenderableType
from rich.progress import BarColumn, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar
from rich.text import Text

from halfword.cli.output import SafeConsole
from halfword.cli.signals import handled_signals
from halfword.core.progress import Event, Progress

console = SafeConsole(stderr=True, highlight=False, soft_wrap=True, markup=False)

_LINE_EVERY = 10.0  # seconds, where no terminal shows it
_DRAW_EVERY = 0.1


@contextmanager
def progress(*, lines: bool = False) -> Iterator[Progress]:
    """Yield a progress function that shows events and heeds signals; with `lines` also where no terminal is."""
    with handled_signals() as signals, _shown(lines) as show:

        def tell(event: Event) -> None:
            show(event)
            signals.heed(event)

        yield tell


def is_helper() -> bool:
    """Tell whether this is one of the processes of a `torchrun` that leave the talking to the first."""
    return os.environ.get("RANK", "0") != "0"


@contextmanager
def _shown(lines: bool) -> Iterator[Progress]:
    if is_helper() or not (console.is_terminal or lines):
        yield lambda event: None
    elif console.is_terminal:
        with Bar(TextColumn("{task.description}"), *_COUNTED, console=console, transient=True) as bar:
            task = bar.add_task("starting", total=None)

            def draw(event: Event) -> None:
                total = None if event.detail else event.total  # a detailed event speaks for itself
                bar.update(task, description=str(event), completed=event.done, total=total)

            yield _now_and_then(_DRAW_EVERY, draw, every_stage=True)
    else:
        yield _now_and_then(_LINE_EVERY, lambda event: console.print(_line(event)))


def _line(event: Event) -> str:
    counted = event.total is not None and not event.detail
    return f"{event} {event.done:,}/{event.total:,}" if counted else str(event)


def _now_and_then(seconds: float, show: Callable[[Event], None], *, every_stage: bool = False) -> Progress:
    """Return `show`, called once in so many seconds: some work reports every query."""
    last, stage = -seconds, ""

    def tell(event: Event) -> None:
        nonlocal last, stage
        if time.monotonic() - last >= seconds or (every_stage and event.stage != stage):
            last, stage = time.monotonic(), event.stage
            show(event)

    return tell


class _IfCounted(ProgressColumn):
    """A column that is there only while it is known how much there is to do."""

    def __init__(self, column: ProgressColumn) -> None:
        super().__init__()
        self._column = column

    def render(self, task: Task) -> RenderableType:
        return Text("") if task.total is None else self._column.render(task)


_COUNTED = tuple(map(_IfCounted, (BarColumn(), TextColumn("{task.completed:,}"), TimeRemainingColumn())))
