"""One connection: a request is read, answered and sent before the next one is read."""

import asyncio
from enum import Enum, auto
from typing import TYPE_CHECKING

from halfword.serve.http.reply import CLIENT_GONE, Reply, RequestError, on_the_wire, refuse
from halfword.serve.http.request import Request, RequestReader

if TYPE_CHECKING:
    from halfword.serve.http.connections import Connections

_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


class Phase(Enum):
    """What a connection is busy with."""

    IDLE = auto()  # between two requests
    READING = auto()  # the client is sending a request, or has just connected
    ANSWERING = auto()
    SENDING = auto()  # the client has not yet taken the whole reply
    LEAVING = auto()  # the last reply is sent; what the client still sends is thrown away


# Seconds for which a client may keep a connection in a phase. IDLE is longer than nginx keeps a connection open, or
# nginx would now and then use one that is just being closed.
PATIENCE = {Phase.IDLE: 75.0, Phase.READING: 10.0, Phase.SENDING: 10.0, Phase.LEAVING: 2.0}


class Connection(asyncio.BufferedProtocol):
    """Talks to one client.

    While a request is being answered or its reply is being sent, at most one more buffer is read. So the memory of a
    connection is bounded, whatever the client sends and however little it reads.
    """

    def __init__(self, connections: "Connections") -> None:
        self._all = connections
        self._reader = RequestReader(connections.largest_body)
        self._transport: asyncio.Transport
        self._peer = ""
        self._is_paused = False  # whether reading is
        self._has_ended = False  # whether the client has sent all that it will send
        self._task: asyncio.Task[None] | None = None
        self._stays = True  # whether the connection stays open after the reply that is being sent
        self.phase = Phase.READING
        self.since = connections.clock()  # when the phase began

    # What the transport calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.set_write_buffer_limits(high=0)  # so that `pause_writing` tells whether anything is unsent
        peer = transport.get_extra_info("peername")
        self._peer = peer[0] if isinstance(peer, tuple) else ""
        self._all.add(self)

    def connection_lost(self, error: Exception | None) -> None:
        """Forget everything."""
        self._all.remove(self)
        self._has_ended = True
        self._reader.close()

    def get_buffer(self, sizehint: int) -> memoryview:
        """Return where to receive; all connections share one buffer, which is emptied at once."""
        return self._all.buffer

    def buffer_updated(self, size: int) -> None:
        """Take what was received."""
        if self.phase is Phase.LEAVING:
            return
        self._reader.feed(bytes(self._all.buffer[:size]))
        if self.is_busy:
            self._pause()
            self._count()
        else:
            self._read_on()

    def eof_received(self) -> bool:
        """Tell whether to keep the connection for replies that are still to be sent."""
        self._has_ended = True
        if self.phase is Phase.READING and self._reader.held:
            try:
                self._reader.check_rest()
            except RequestError as error:
                self._refuse(error)
        return self.is_busy or (self.phase is Phase.IDLE and self._reader.held > 0)

    def pause_writing(self) -> None:
        """Note that the client has not taken the whole reply."""
        if self.phase is Phase.ANSWERING:
            self._enter(Phase.SENDING)

    def resume_writing(self) -> None:
        """Go on once everything is sent."""
        if self.phase is Phase.SENDING:
            self._finish()

    # What `Connections` calls.

    @property
    def is_busy(self) -> bool:
        """Whether a request is being answered or its reply is being sent."""
        return self.phase is Phase.ANSWERING or self.phase is Phase.SENDING

    @property
    def is_empty(self) -> bool:
        """Whether nothing of a request is here."""
        return not self.is_busy and not self._reader.held and not self._reader.in_body

    def sweep(self, now: float) -> None:
        """End the connection if its client is too slow."""
        if now - self.since <= PATIENCE.get(self.phase, float("inf")):
            return
        if self.phase is Phase.READING and self._reader.in_body and not self._transport.is_closing():
            limit = PATIENCE[Phase.READING]
            self._refuse(refuse("too_slow", f"a request must arrive within {limit:.0f} seconds"))
        else:
            self.drop()

    def drop(self) -> None:
        """Close at once, whatever is unsent."""
        self._transport.abort()

    # Reading.

    def _read_on(self) -> None:
        """Read one request from what has been received, and have it answered."""
        if self.is_busy or self._transport.is_closing():
            return
        try:
            request = self._reader.next(self._peer, self._gone)
        except RequestError as error:
            self._refuse(error)
        else:
            if request is not None:
                self._answer(request)
            elif self._has_ended:
                self._transport.close()
            else:
                self._wait_for_more()

    def _wait_for_more(self) -> None:
        if self._reader.expects_continue:
            self._reader.expects_continue = False
            self._transport.write(_CONTINUE)
        if self.phase is Phase.IDLE and not self.is_empty:
            self._enter(Phase.READING)
        self._count()
        self._resume()

    def _pause(self) -> None:
        if not self._is_paused and not self._has_ended:
            self._is_paused = True
            self._transport.pause_reading()

    def _resume(self) -> None:
        if self._is_paused and not self._has_ended:
            self._is_paused = False
            self._transport.resume_reading()

    def _gone(self) -> bool:
        return self._has_ended or self._transport.is_closing()

    # Answering.

    def _answer(self, request: Request) -> None:
        self._enter(Phase.ANSWERING)
        self._task = self._all.loop.create_task(self._reply_to(request))

    async def _reply_to(self, request: Request) -> None:
        reply = await self._all.app(request)
        if reply.status == CLIENT_GONE:
            self._transport.close()
        elif not self._transport.is_closing():
            self._send(reply, stay=self._reader.keep_alive and not self._all.stopping, body=request.method != "HEAD")

    def _send(self, reply: Reply, *, stay: bool, body: bool) -> None:
        self._stays = stay
        self._transport.write(on_the_wire(reply, self._all.date, close=not stay, body=body))
        if self.phase is Phase.ANSWERING:  # `pause_writing` has not been called: everything is sent
            self._finish()

    def _finish(self) -> None:
        """Turn to the next request, which may already be here."""
        self._enter(Phase.IDLE)
        self._all.asked(self)
        if not self._stays:
            self._leave()
        elif self._reader.held:
            self._pause()  # or more would be read at each turn of the event loop than one request
            self._all.loop.call_soon(self._read_on)  # other connections come first
        elif self._has_ended:
            self._transport.close()
        else:
            self._resume()

    def _refuse(self, error: RequestError) -> None:
        """Say what is wrong, and leave."""
        self._transport.write(on_the_wire(self._all.app.refused(error), self._all.date, close=True))
        self._leave()

    def _leave(self) -> None:
        """Wait until the client closes the connection, and throw away what it still sends.

        If the server closed it first, whatever the client still sends would make its system forget the last reply.
        """
        self._reader.clear()
        if self._has_ended:
            self._transport.close()
            return
        try:
            if self._transport.can_write_eof():
                self._transport.write_eof()
        except OSError:  # the client has cut the connection, and the loop has not noticed yet
            self._transport.abort()
            return
        self._resume()
        self._enter(Phase.LEAVING)

    def _enter(self, phase: Phase) -> None:
        self.phase, self.since = phase, self._all.clock()
        self._count()

    def _count(self) -> None:
        """Tell how much memory this connection holds."""
        self._all.count(self, self._reader.held + self._transport.get_write_buffer_size())
