"""The log: a JSON object a line. Queries are in it only when that was asked for."""

import logging
import os
import sys
import traceback
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import orjson

_ATOMIC = 4096  # bytes that a pipe takes whole, so that the lines of two workers never mix


class Log:
    """Writes events at once and requests in bunches."""

    def __init__(self, descriptor: int | None = None) -> None:
        self._descriptor = sys.stderr.fileno() if descriptor is None else descriptor
        self._lines: list[bytes] = []
        self._size = 0

    def event(self, event: str, **fields: Any) -> None:
        """Write what happened to the server."""
        self._add({"event": event, **fields})
        self.flush()

    def fault(self, error: BaseException) -> None:
        """Write where an unforeseen error arose. Its text is left out: a query may stand in it."""
        frames = [f"{frame.filename}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)[-4:]]
        self.event("fault", error=type(error).__name__, at=frames)

    def request(self, method: str, route: str, status: int, seconds: float, size: int, query: str | None) -> None:
        """Note a request; `flush` writes it."""
        fields = {"event": "request", "method": method, "route": route, "status": status}
        fields |= {"ms": round(seconds * 1000, 3), "bytes": size}
        self._add(fields if query is None else fields | {"query": query})

    def flush(self) -> None:
        """Write what has gathered."""
        lines, self._lines, self._size = self._lines, [], 0
        if lines:
            with suppress(OSError):  # that nobody reads the log is no reason to stop answering
                os.write(self._descriptor, b"".join(lines))

    def _add(self, fields: dict[str, Any]) -> None:
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        line = orjson.dumps({"time": now, "worker": os.getpid(), **fields}) + b"\n"
        if self._size + len(line) > _ATOMIC:
            self.flush()
        self._lines.append(line)
        self._size += len(line)


class LibraryLog(logging.Handler):
    """Brings what libraries report (asyncio, of descriptors that ran out) into the same log."""

    def __init__(self, log: Log) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """Write one report, without the error's text and place: a query may stand in them."""
        self._log.event("report", logger=record.name, message=str(record.msg))
