"""All connections of a worker: bounded in number, in memory and in patience."""

import asyncio
from collections import OrderedDict
from dataclasses import dataclass
from email.utils import formatdate
from typing import Protocol

from halfword.serve.http.connection import Connection
from halfword.serve.http.reply import Reply, RequestError
from halfword.serve.http.request import Request

READ_SIZE = 16_384  # bytes received at once
MOST_HELD = 8 * 2**20  # bytes of unfinished requests and unsent replies, of all connections together
_SWEEP_SECONDS = 1.0
_STOP_SECONDS = 10.0  # for requests that were begun before the server was told to stop
_IDLE_STOP_SECONDS = 1.0  # in which a connection without a request may still send one
_LOOK_SECONDS = 0.02


class Answerer(Protocol):
    """What requests are answered by."""

    async def __call__(self, request: Request) -> Reply:
        """Answer a request."""
        ...

    def refused(self, error: RequestError) -> Reply:
        """Answer what is no request."""
        ...


@dataclass(slots=True)
class _Held:
    """The memory of a connection."""

    size: int  # bytes
    since: float  # when it began to hold some

    def cost(self, now: float) -> float:
        """Return what it has cost so far."""
        return self.size * (now - self.since)


class Connections:
    """Accepts, counts, and ends connections. Belongs to one event loop."""

    def __init__(self, app: Answerer, *, most: int, largest_body: int) -> None:
        self.app = app
        self.largest_body = largest_body
        self.loop = asyncio.get_running_loop()
        self.clock = self.loop.time
        self.buffer = memoryview(bytearray(READ_SIZE))
        self.date = _date()  # as replies state it
        self.stopping = False
        self._most = most
        self._open: OrderedDict[Connection, None] = OrderedDict()  # the one that was silent for longest comes first
        self._held: dict[Connection, _Held] = {}  # the one that has held some for longest comes first
        self._total = 0

    def __len__(self) -> int:
        return len(self._open)

    def new(self) -> Connection:
        """Return what talks to a client that is connecting."""
        return Connection(self)

    def add(self, connection: Connection) -> None:
        """Take a connection in; if there are too many, the one that was silent for longest is closed."""
        self._open[connection] = None
        if len(self._open) > self._most:
            silent = (each for each in self._open if not each.is_busy)
            next(silent, connection).drop()

    def asked(self, connection: Connection) -> None:
        """Note that a connection has just been used."""
        self._open.move_to_end(connection)

    def remove(self, connection: Connection) -> None:
        """Forget a connection that has ended."""
        self._open.pop(connection, None)
        self._release(connection)

    def count(self, connection: Connection, size: int) -> None:
        """Note how many bytes a connection holds; if all hold too many, the one that cost most so far is closed.

        What one costs is its bytes times the seconds for which it has held some. So those who hold much for long go
        first, not who has sent a small request a moment earlier.
        """
        if not size:
            self._release(connection)
            return
        held = self._held.setdefault(connection, _Held(0, self.clock()))
        self._total += size - held.size
        held.size = size
        while self._total > MOST_HELD:
            now = self.clock()
            dearest = max(self._held, key=lambda each: self._held[each].cost(now))
            self._release(dearest)
            dearest.drop()

    def _release(self, connection: Connection) -> None:
        held = self._held.pop(connection, None)
        self._total -= held.size if held else 0

    async def sweep_forever(self) -> None:
        """Close connections of clients that are too slow, and keep the date right."""
        while True:
            await asyncio.sleep(_SWEEP_SECONDS)
            self.date = _date()
            self.sweep(self.clock())

    def sweep(self, now: float) -> None:
        """Close connections of clients that are too slow."""
        for connection in list(self._open):
            connection.sweep(now)

    async def drain(self) -> None:
        """Answer what was begun, tell every client that asks that the connection ends, then close all.

        A client may have sent a request on an idle connection just before it learns that the server stops. So idle
        connections stay open for a moment, and replies say `Connection: close`.
        """
        self.stopping = True
        began = self.clock()
        while self._open and self.clock() < began + _STOP_SECONDS:
            await asyncio.sleep(_LOOK_SECONDS)
            if self.clock() > began + _IDLE_STOP_SECONDS:
                for connection in [each for each in self._open if each.is_empty]:
                    connection.drop()
        for connection in list(self._open):
            connection.drop()


def _date() -> bytes:
    return formatdate(usegmt=True).encode()
