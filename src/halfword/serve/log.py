"""The log: a JSON object per line. Queries are in it only when that was asked for."""

import logging
import os
import sys
import threading
import traceback
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from time import sleep
from typing import Any

import orjson

from halfword.core.printable import printable_json

MOST_WAITING = 2**20  # bytes of lines that wait to be written; further lines are dropped
_ATOMIC = 4096  # bytes that a pipe takes whole, so that the lines of two workers never mix
_MOST_PUT_BY = 1000  # lines
_GATHER_SECONDS = 0.05  # for which lines are gathered before they are written together


class Log:
    """Takes lines and has a thread write them.

    Whoever reads the log may stop reading, and then a write never returns. So only the thread writes, nothing waits for
    it, and what it cannot write in time is dropped and counted.

    While Python collects garbage, objects that are thrown away may log something too (asyncio's do), in the middle of
    anything, also of this class. The thread that is interrupted may hold a lock. So lines of a thread that is inside
    already are put by, and added with the next line.
    """

    def __init__(self, descriptor: int | None = None, on_drop: Callable[[], None] = lambda: None) -> None:
        self._descriptor = sys.stderr.fileno() if descriptor is None else descriptor
        self._on_drop = on_drop
        self._begin()

    def _begin(self) -> None:
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._filled = threading.Event()
        self._written = threading.Event()
        self._written.set()
        self._inside: set[int] = set()  # threads that may hold a lock
        self._put_by: deque[dict[str, Any]] = deque(maxlen=_MOST_PUT_BY)
        self._lines: deque[bytes] = deque()
        self._size = 0
        self._dropped = 0  # lines since the last one that was taken
        self._thread: threading.Thread | None = None

    def event(self, event: str, **fields: Any) -> None:
        """Write what happened to the server."""
        self._add({"event": event, **fields})

    def fault(self, error: BaseException) -> None:
        """Write where an unforeseen error arose. Its text is left out: a query may stand in it."""
        frames = [f"{frame.filename}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)[-4:]]
        self.event("fault", error=type(error).__name__, at=frames)

    def request(self, method: str, route: str, status: int, seconds: float, size: int, query: str | None) -> None:
        """Write that a request was answered."""
        fields = {"event": "request", "method": method, "route": route, "status": status}
        fields |= {"ms": round(seconds * 1000, 3), "bytes": size}
        self._add(fields if query is None else fields | {"query": query})

    def flush(self, seconds: float = 1.0) -> bool:
        """Wait until everything is written, but not for long; tell whether it is."""
        if self._process != os.getpid():
            return True
        with self._alone():
            return self._written.wait(seconds)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Be inside, where no line of this thread is added."""
        me = threading.get_ident()
        self._inside.add(me)
        try:
            yield
        finally:
            self._inside.discard(me)

    def _add(self, fields: dict[str, Any]) -> None:
        if self._process != os.getpid():
            self._begin()  # in a forked process there is no thread, and the lines that wait are the parent's
        if threading.get_ident() in self._inside:
            self._put_by.append(fields)
            return
        with self._alone(), self._lock:
            self._add_alone(fields)
            while self._put_by:
                self._add_alone(self._put_by.popleft())
            if self._thread is None:
                self._thread = threading.Thread(target=self._write_forever, name="log", daemon=True)
                self._thread.start()

    def _add_alone(self, fields: dict[str, Any]) -> None:
        if self._size > MOST_WAITING:
            self._dropped += 1
            self._on_drop()
            return
        if self._dropped:
            self._append({"event": "lines dropped", "count": self._dropped})
            self._dropped = 0
        self._append(fields)

    def _append(self, fields: dict[str, Any]) -> None:
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        content = orjson.dumps({"time": now, "worker": self._process, **fields}).decode()
        line = printable_json(content).encode() + b"\n"  # people read logs in terminals, and queries may be in it
        self._lines.append(line)
        self._size += len(line)
        self._written.clear()
        self._filled.set()

    def _write_forever(self) -> None:
        self._inside.add(threading.get_ident())  # for ever: it has nothing of its own to say
        while True:
            self._filled.wait()
            sleep(_GATHER_SECONDS)
            while bunch := self._bunch():
                with suppress(OSError):  # that nobody can read the log is no reason to stop
                    os.write(self._descriptor, bunch)

    def _bunch(self) -> bytes:
        """Take as many lines as a pipe takes whole, and at least one; nothing when all are written."""
        bunch = b""
        with self._lock:
            while self._lines and (not bunch or len(bunch) + len(self._lines[0]) <= _ATOMIC):
                bunch += self._lines.popleft()
            self._size -= len(bunch)
            if not bunch:
                self._filled.clear()
                self._written.set()
        return bunch


class LibraryLog(logging.Handler):
    """Brings what libraries report (asyncio, of descriptors that ran out) into the same log."""

    def __init__(self, log: Log) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """Write one report, without the error's text and place: a query may stand in them."""
        self._log.event("report", logger=record.name, message=str(record.msg))
