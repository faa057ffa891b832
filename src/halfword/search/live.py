"""Live changes of a model: learn, boost, pin and remove queries while it completes."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from halfword.core.errors import LiveError
from halfword.core.journal import About, Reader, Writer
from halfword.core.live import KINDS, Change, Kind, change
from halfword.core.live_state import growth
from halfword.search.model import Model

_AT_ONCE = 20_000  # changes given to the engine; meanwhile other threads wait for Python's lock
_PAGE = 1000
_KNOWN_TO_ENGINE = {kind.value: place for kind, place in KINDS.items() if place <= KINDS[Kind.UNPIN]}


@dataclass(frozen=True, slots=True)
class LiveQuery:
    """A changed query."""

    text: str
    typed: float  # times since the model was trained
    weight: float | None  # stands for its count in the log
    boost: float
    logged: int  # its count in the log
    count: float  # what all of this adds up to


class Live:
    """Changes of what a model suggests; they count for the next completion.

    With a `path` they are kept in a journal, which is made if there is none. A change is on disk when the call returns,
    and every other `Live` of the same journal sees it at its next `refresh`.

    >>> from halfword import load
    >>> live = Live(load())
    >>> live.add("new yorkshire pudding", 1_000_000)
    >>> live.model.complete("new yorks", count=1).texts
    ['new yorkshire pudding']
    >>> live.remove("new yorkshire pudding")
    >>> "new yorkshire pudding" in live.model.complete("new yorks").texts
    False
    """

    def __init__(
        self,
        model: Model,
        path: str | Path | None = None,
        *,
        half_life_days: float | None = None,
        writes: bool = True,
        clock: Callable[[], float] = time.time,
        warn: Callable[[str], None] = lambda text: None,
    ) -> None:
        if "popular" not in model.parts:
            raise LiveError("live changes need a model with popularity; train one with popular in --parts")
        if path is None and half_life_days is not None:
            raise LiveError("a half-life needs a journal, which remembers when queries were typed; name a file")
        self.model = model
        self.path = None if path is None else Path(path)
        self._writer = None
        self._reader = None
        self._time = 0.0  # of the last change
        self._folded = 0  # the number of the last change that the model has learned
        self._warn = warn
        self._lock = Lock()
        self.version = 0  # rises with every change that is applied
        if self.path is not None:
            if writes:
                self._writer = Writer(self.path, half_life_days=half_life_days, clock=clock, warn=warn)
            self._reader = Reader(self.path)
            self.refresh()

    def add(self, text: str, count: float = 1) -> None:
        """Count a query as typed so many times more; a new one is known from now on."""
        self.change(Kind.TYPED, text, count)

    def weigh(self, text: str, weight: float | None) -> None:
        """Let a number stand for a query's count in the log; None: its own count again."""
        self.change(Kind.WEIGHT, text, -1.0 if weight is None else weight)

    def boost(self, text: str, factor: float) -> None:
        """Multiply what a query counts; 1 undoes it."""
        self.change(Kind.BOOST, text, factor)

    def pin(self, text: str, prefix: str, position: int = 1) -> None:
        """Show a query at a position when exactly `prefix` was typed."""
        self.change(Kind.PIN, text, position, prefix)

    def unpin(self, text: str, prefix: str) -> None:
        """Undo a pin."""
        self.change(Kind.UNPIN, text, prefix=prefix)

    def remove(self, text: str, *, beginning: bool = False) -> None:
        """Never suggest a query again, however it is written; with `beginning`, nor anything that begins so."""
        self.change(Kind.REMOVED_BEGINNING if beginning else Kind.REMOVED, text)

    def allow(self, text: str) -> None:
        """Undo the removal of a query, or of a beginning."""
        self.change(Kind.ALLOWED, text)
        if self.removes(text):
            raise LiveError(f"{text!r} is still removed, with everything that begins like it; allow that beginning")

    def change(self, kind: Kind, text: str, number: float = 0.0, prefix: str = "") -> None:
        """Apply one change."""
        self.apply([change(kind, text, number, prefix, self.model.profile)])

    def apply(self, changes: Sequence[Change]) -> None:
        """Apply changes made by `core.live.change`; when it returns they are on disk, if there is a journal."""
        if self.path is None:
            self._give(_fields([each.to_json() for each in changes], 1.0), 1.0)
            return
        if self._writer is None:
            raise LiveError(f"{self.path} was opened for reading only")
        self._writer.append(changes)
        self.refresh()

    def refresh(self) -> bool:
        """Apply what others have written to the journal; tell whether there was anything."""
        if self._reader is None:
            return False
        with self._lock:
            return self._read(self._reader)

    def _read(self, reader: Reader) -> bool:
        changed, about = False, reader.about
        while True:
            restarted, frames = reader.poll()
            if restarted:  # what was removed stays so until all is read again
                self.model._engine.clear_changes(False)
            if reader.about is not None and reader.about is not about:
                about = reader.about
                self._folded = self._learned_of(about)
            changed |= restarted or bool(frames)
            if about is None or not frames:
                break
            waiting: list[tuple[int, str, float, str]] = []
            for frame in frames:
                self._time = max(self._time, frame.time)
                waiting += _fields(frame.changes, growth(about, frame.time), counts=frame.number > self._folded)
                if len(waiting) >= _AT_ONCE:
                    self._give(waiting, 1.0 / growth(about, self._time), publish=False)
                    waiting = []
            self._give(waiting, 1.0 / growth(about, self._time), publish=False)
        if changed and about is not None:
            self._give([], 1.0 / growth(about, self._time))
        return changed

    def _learned_of(self, about: About) -> int:
        """Return the number up to which the model has learned the journal."""
        learned = self.model.card.live
        number = learned.number or 0 if learned is not None and learned.journal == about.journal else 0
        if not about.tells_apart(number):
            self._warn(f"{self.path}: what the model has learned of it is not told apart any more, and counts twice")
        return number

    def _give(self, fields: list[tuple[int, str, float, str]], scale: float, *, publish: bool = True) -> None:
        self.model._engine.apply_changes(fields, scale, publish)
        self.version += 1

    def removes(self, text: str) -> bool:
        """Tell whether a text is removed, in whatever way it is written."""
        return self.model._engine.removes(change(Kind.REMOVED, text, profile=self.model.profile).text)

    def count(self, text: str) -> float:
        """Return what a query counts."""
        return self.model._engine.count_of(change(Kind.REMOVED, text, profile=self.model.profile).text)

    def queries(self, after: str = "") -> Iterator[LiveQuery]:
        """Yield the changed queries in the order of their texts."""
        while page := self.model._engine.changed_queries(after, _PAGE):
            for text, typed, weight, boost, logged, count in page:
                yield LiveQuery(text, typed, None if weight < 0 else weight, boost, logged, count)
            after = page[-1][0]

    def __len__(self) -> int:
        """How many queries were changed."""
        return self.model._engine.live_size()[0]

    @property
    def journal(self) -> str | None:
        """The name of the journal."""
        return None if self._reader is None or self._reader.about is None else self._reader.about.journal

    @property
    def number(self) -> int:
        """The number of the last change of the journal that was applied."""
        return 0 if self._reader is None else self._reader.number


def _fields(changes: Sequence[object], factor: float, *, counts: bool = True) -> list[tuple[int, str, float, str]]:
    """Return changes as the engine takes them, with counts times `factor`, or without."""
    fields = []
    for content in changes:
        match content:
            case ["typed", str(text), int() | float() as number]:
                if counts:
                    fields.append((0, text, number * factor, ""))
            case [str(kind), str(text), *rest] if kind in _KNOWN_TO_ENGINE:
                number = rest[0] if rest and isinstance(rest[0], int | float) else 0.0
                prefix = rest[-1] if rest and isinstance(rest[-1], str) else ""
                fields.append((_KNOWN_TO_ENGINE[kind], text, float(number), prefix))
    return fields
