"""A connection: what is read ahead of the answers, who is cut off, and HTTP's own rules."""

import asyncio
import gc
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from typing import Any

import pytest

from halfword.serve.http import connections as connections_module
from halfword.serve.http.connection import PATIENCE, Connection, Phase
from halfword.serve.http.connections import READ_SIZE, Connections
from halfword.serve.http.reply import Reply, RequestError, json_reply
from halfword.serve.http.request import LARGEST_HEAD, Request, RequestReader

GET = b"GET /complete?q=%d HTTP/1.1\r\nHost: a\r\n\r\n"
CHUNKED = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n"


class Transport(asyncio.Transport):
    """A client's end of a connection, which takes `room` bytes and no more until it reads."""

    def __init__(self, room: int = 1_000_000) -> None:
        self.written = bytearray()
        self.room = room
        self.reading = True
        self.open = True
        self.ended = False  # whether the server has said that nothing more comes
        self.aborted = False  # whether what is unsent was thrown away
        self.protocol: Connection

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        assert high == 0

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return ("10.0.0.1", 1)

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.written += data
        if self.get_write_buffer_size():
            self.protocol.pause_writing()

    def write_eof(self) -> None:
        self.ended = True

    def can_write_eof(self) -> bool:
        return True

    def get_write_buffer_size(self) -> int:
        return max(0, len(self.written) - self.room)

    def read(self) -> None:
        """Have the client read all that was sent."""
        self.room = len(self.written) + 1_000_000
        self.protocol.resume_writing()

    def pause_reading(self) -> None:
        assert self.reading
        self.reading = False

    def resume_reading(self) -> None:
        assert not self.reading
        self.reading = True

    def is_closing(self) -> bool:
        return not self.open

    def close(self) -> None:
        self.open = False

    def abort(self) -> None:
        self.open, self.aborted = False, True

    @property
    def statuses(self) -> list[int]:
        return [int(part[:3]) for part in bytes(self.written).split(b"HTTP/1.1 ")[1:]]


class App:
    """Answers with the target that was asked for, as soon as `answer` is set."""

    def __init__(self) -> None:
        self.asked: list[Request] = []
        self.answer = asyncio.Event()
        self.answer.set()
        self.size = 0

    async def __call__(self, request: Request) -> Reply:
        self.asked.append(request)
        await self.answer.wait()
        return json_reply([request.path, request.query_string.decode(), request.body.decode(), "x" * self.size])

    def refused(self, error: RequestError) -> Reply:
        return error.reply()


class Client:
    """One connection to an app, without a socket."""

    def __init__(self, connections: Connections, room: int = 1_000_000) -> None:
        self._all = connections
        self.connection = connections.new()
        self.transport = Transport(room)
        self.transport.protocol = self.connection
        self.connection.connection_made(self.transport)

    async def send(self, data: bytes) -> None:
        """Send as much at once as the server reads at once, and let it work."""
        for begin in range(0, len(data), READ_SIZE):
            part = data[begin : begin + READ_SIZE]
            self.connection.get_buffer(-1)[: len(part)] = part
            self.connection.buffer_updated(len(part))
            await settle()

    async def end(self) -> None:
        """Say that nothing more comes."""
        if not self.connection.eof_received():
            self.transport.close()
        await settle()


async def settle() -> None:
    """Let everything run that can."""
    for _ in range(10):
        await asyncio.sleep(0)


Scenario = Callable[[Connections, App], Awaitable[None]]


def play(scenario: Scenario, most: int = 100) -> None:
    """Run a scenario with an app that answers at once."""

    async def run() -> None:
        app = App()
        await scenario(Connections(app, most=most, largest_body=1000), app)

    asyncio.run(run())


def test_a_client_that_never_reads_is_soon_no_longer_read() -> None:
    async def scenario(connections: Connections, app: App) -> None:
        client = Client(connections, room=2000)
        sent = 0
        while client.transport.reading:
            await client.send((GET % 1) * 100)
            sent += 1
            assert sent < 5
        assert len(app.asked) < 20
        before = len(client.transport.written)
        assert before < 4000
        client.transport.read()
        await settle()
        assert len(client.transport.written) > before  # it goes on where it was
        assert not client.transport.reading

    play(scenario)


def test_while_a_request_is_answered_one_more_buffer_is_read() -> None:
    async def scenario(connections: Connections, app: App) -> None:
        app.answer.clear()
        client = Client(connections)
        await client.send(GET % 1)
        assert client.transport.reading  # so that a client that leaves is noticed
        await client.send(GET % 2 + GET % 3 + b"GET /compl")
        assert not client.transport.reading
        assert len(app.asked) == 1
        app.answer.set()
        await settle()
        assert [request.query_string for request in app.asked] == [b"q=1", b"q=2", b"q=3"]
        assert client.transport.reading
        await client.send(b"ete?q=4 HTTP/1.1\r\nHost: a\r\n\r\n")
        assert client.transport.statuses == [200] * 4

    play(scenario)


def test_ten_thousand_pipelined_requests_hold_only_their_bytes() -> None:
    async def scenario(connections: Connections, app: App) -> None:
        app.answer.clear()
        client = Client(connections)
        requests = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n" * 10_000
        for begin in range(0, len(requests), READ_SIZE):
            if not client.transport.reading:
                break
            await client.send(requests[begin : begin + READ_SIZE])
        assert begin <= 2 * READ_SIZE
        assert connections._total <= 2 * READ_SIZE
        assert len(app.asked) == 1

    play(scenario)


def test_nothing_is_read_ahead_of_a_client_that_reads_either() -> None:
    async def scenario(connections: Connections, app: App) -> None:
        client = Client(connections)
        reads = 0
        for _ in range(200):
            if client.transport.reading:
                part = ((GET % 1) * 500)[:READ_SIZE]
                client.connection.get_buffer(-1)[:] = part
                client.connection.buffer_updated(READ_SIZE)
                reads += 1
            await asyncio.sleep(0)  # as the event loop looks at the sockets at each of its turns
        assert len(app.asked) > 20
        assert reads <= 2

    play(scenario)


@pytest.mark.parametrize("filler", [b"X: %s\r\n" % (b"y" * 60_000), b"a:\r\n" * 15_000])
def test_a_head_over_16_kib_is_refused_also_when_it_comes_whole(filler: bytes) -> None:
    async def scenario(connections: Connections, app: App) -> None:
        client = Client(connections)
        await client.send(b"GET / HTTP/1.1\r\nHost: a\r\n" + filler + b"\r\n")
        assert client.transport.statuses == [431]
        assert client.transport.ended
        assert not app.asked
        assert connections._total == 0

    play(scenario)


def test_a_head_of_16_kib_is_allowed() -> None:
    async def scenario(connections: Connections, app: App) -> None:
        client = Client(connections)
        first, last = b"GET / HTTP/1.1\r\nHost: a\r\nX: ", b"\r\n\r\n"
        await client.send(first + b"y" * (LARGEST_HEAD - len(first) - len(last)) + last + GET % 1)
        assert client.transport.statuses == [200, 200]

    play(scenario)


@pytest.mark.parametrize(
    ("sent", "phase", "statuses"),
    [
        (b"", Phase.READING, []),
        (b"GET / HT", Phase.READING, []),
        (GET % 1, Phase.IDLE, [200]),
        (GET % 1 + b"GET / HT", Phase.READING, [200]),
        (b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n", Phase.READING, [408]),
        (b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nabc", Phase.READING, [408]),
    ],
)
def test_a_client_that_dawdles_is_cut_off(sent: bytes, phase: Phase, statuses: list[int]) -> None:
    async def scenario(connections: Connections, app: App) -> None:
        client = Client(connections)
        await client.send(sent)
        assert client.connection.phase is phase
        connections.sweep(connections.clock() + PATIENCE[phase] - 1)
        assert client.transport.open
        connections.sweep(connections.clock() + PATIENCE[phase] + 1)
        assert client.transport.statuses == statuses
        connections.sweep(connections.clock() + PATIENCE[phase] + 1 + PATIENCE[Phase.LEAVING])
        assert not client.transport.open

    play(scenario)


def test_a_byte_now_and_then_does_not_prolong_a_head() -> None:
    async def scenario(connections: Connections, app: App) -> None:
        client = Client(connections)
        began = client.connection.since
        for byte in b"GET / HTTP/1.1\r\nHost: a\r\n":
            await client.send(bytes([byte]))
        assert client.connection.since == began

    play(scenario)


def test_a_slow_reader_is_cut_off() -> None:
    async def scenario(connections: Connections, app: App) -> None:
        client = Client(connections, room=50)
        await client.send(GET % 1)
        assert client.connection.phase is Phase.SENDING
        connections.sweep(connections.clock() + PATIENCE[Phase.SENDING] + 1)
        assert not client.transport.open

    play(scenario)


def test_an_answer_that_takes_long_cuts_nobody_off() -> None:
    async def scenario(connections: Connections, app: App) -> None:
        app.answer.clear()
        client = Client(connections)
        await client.send(GET % 1)
        connections.sweep(connections.clock() + 1000)
        app.answer.set()
        await settle()
        assert client.transport.statuses == [200]

    play(scenario)


def test_above_the_most_connections_the_longest_silent_is_closed() -> None:
    async def scenario(connections: Connections, app: App) -> None:
        first, second = Client(connections), Client(connections)
        await first.send(GET % 1)
        third = Client(connections)
        assert [client.transport.open for client in (first, second, third)] == [True, False, True]

    play(scenario, most=2)


def test_a_connection_that_is_being_answered_is_not_closed_for_another() -> None:
    async def scenario(connections: Connections, app: App) -> None:
        app.answer.clear()
        busy = Client(connections)
        await busy.send(GET % 1)
        assert not Client(connections).transport.open
        assert busy.transport.open

    play(scenario, most=1)


@pytest.fixture
def little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections_module, "MOST_HELD", 10_000)


@pytest.mark.usefixtures("little_memory")
def test_the_memory_of_unfinished_requests_is_bounded_in_all() -> None:
    async def scenario(connections: Connections, app: App) -> None:
        clients = [Client(connections) for _ in range(5)]
        for client in clients:
            await client.send(b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"y" * 3000)
        assert [client.transport.open for client in clients] == [False, False, True, True, True]

    play(scenario)


@pytest.mark.usefixtures("little_memory")
def test_the_memory_of_unsent_replies_is_bounded_in_all() -> None:
    async def scenario(connections: Connections, app: App) -> None:
        app.size = 4000
        clients = [Client(connections, room=0) for _ in range(4)]
        for client in clients:
            await client.send(GET % 1)
        assert [client.transport.open for client in clients] == [False, False, True, True]

    play(scenario)


@pytest.mark.usefixtures("little_memory")
def test_whoever_holds_much_is_closed_before_whoever_has_held_little_for_longer() -> None:
    async def scenario(connections: Connections, app: App) -> None:
        now = 0.0
        connections.clock = lambda: now
        little, much = Client(connections), Client(connections)
        await little.send(b"GET / HTTP/1.1\r\n")
        now = 1.0
        await much.send(b"GET / HTTP/1.1\r\nX: " + b"y" * 6000)
        now = 2.0
        new = Client(connections)
        await new.send(b"GET / HTTP/1.1\r\nX: " + b"y" * 6000)
        assert [client.transport.open for client in (little, much, new)] == [True, False, True]

    play(scenario)


def test_when_the_server_stops_the_next_reply_says_so() -> None:
    async def scenario(connections: Connections, app: App) -> None:
        client = Client(connections)
        await client.send(GET % 1)
        connections.stopping = True
        assert client.transport.open
        await client.send(GET % 2)
        assert client.transport.written.count(b"connection: close\r\n") == 1
        assert client.transport.statuses == [200, 200]
        assert client.transport.ended

    play(scenario)


@pytest.mark.parametrize(
    ("request_", "stays"),
    [
        (b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", True),
        (b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", False),
        (b"GET / HTTP/1.0\r\n\r\n", False),
        (b"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", False),
        (b"GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n", False),
        (CHUNKED, True),
        (CHUNKED + GET % 1, False),  # the parser has read into the next request, which the client has to send again
        (CHUNKED + b"nonsense", False),
    ],
)
def test_a_connection_stays_open_when_http_says_so(request_: bytes, stays: bool) -> None:
    async def scenario(connections: Connections, app: App) -> None:
        client = Client(connections)
        await client.send(request_)
        assert client.transport.statuses == [200]
        assert client.transport.ended is not stays
        assert (b"connection: close" in client.transport.written) is not stays
        assert [request.body for request in app.asked] == [b"ab" if b"POST" in request_ else b""]

    play(scenario)


def test_a_body_may_come_in_pieces_and_the_next_request_with_it() -> None:
    async def scenario(connections: Connections, app: App) -> None:
        client = Client(connections)
        for part in (
            b"\r\n\r\nPOST /a HTTP/1.1\r\nHost: a\r\nContent-Le",
            b"ngth: 4\r\n\r",
            b"\nab",
            b"cdGET /b HTTP/1.1\r\nHost: a\r\n\r\n",
        ):
            await client.send(part)
        assert [(request.path, request.body) for request in app.asked] == [("/a", b"abcd"), ("/b", b"")]

    play(scenario)


def test_who_expects_to_be_told_to_go_on_is_told_once() -> None:
    async def scenario(connections: Connections, app: App) -> None:
        client = Client(connections)
        await client.send(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
        assert client.transport.written == b"HTTP/1.1 100 Continue\r\n\r\n"
        await client.send(b"a")
        await client.send(b"b")
        assert client.transport.statuses == [100, 200]
        large = Client(connections)
        await large.send(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2000\r\nExpect: 100-continue\r\n\r\n")
        assert large.transport.statuses == [413]

    play(scenario)


def test_after_a_refusal_what_still_comes_is_thrown_away() -> None:
    async def scenario(connections: Connections, app: App) -> None:
        client = Client(connections)
        await client.send(b"nonsense\r\n\r\n")
        assert (client.transport.statuses, client.transport.ended) == ([400], True)
        await client.send((GET % 1) * 10)
        assert client.transport.statuses == [400]
        await client.end()
        assert not client.transport.open

    play(scenario)


def test_after_the_last_reply_the_client_closes_first() -> None:
    # If the server did while the client still sends, the client's system would throw away the reply.
    async def scenario(connections: Connections, app: App) -> None:
        client = Client(connections)
        await client.send(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        await client.send((GET % 1) * 1000)
        assert client.transport.statuses == [200]
        assert (client.transport.ended, client.transport.open, client.transport.reading) == (True, True, True)
        await client.end()
        assert not client.transport.open

    play(scenario)


def test_who_sends_no_more_still_gets_what_was_asked() -> None:
    async def scenario(connections: Connections, app: App) -> None:
        client = Client(connections)
        requests = (GET % 1) * 3
        client.connection.get_buffer(-1)[: len(requests)] = requests
        client.connection.buffer_updated(len(requests))
        await client.end()
        await settle()
        assert client.transport.statuses == [200, 200, 200]
        assert not client.transport.open

    play(scenario)


@pytest.mark.parametrize(
    "sent",
    [
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nnonsense",
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc",
    ],
)
def test_who_sends_no_more_and_reads_nothing_is_told_nothing_more_and_cut_off(sent: bytes) -> None:
    async def scenario(connections: Connections, app: App) -> None:
        client = Client(connections, room=0)
        await client.send(sent)
        await client.end()
        told, late = len(client.transport.written), connections.clock() + PATIENCE[Phase.READING] + 1
        for second in range(3):
            connections.sweep(late + second)
        assert client.transport.aborted
        assert len(client.transport.written) == told

    play(scenario)


def test_headers_that_are_repeated_are_joined() -> None:
    reader = RequestReader(100)
    reader.feed(
        b"GET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 1.1.1.1\r\nAccept: x\r\nX-FORWARDED-FOR: 2.2.2.2\r\n\r\n"
    )
    request = reader.next()
    assert request is not None
    assert request.headers == {b"host": b"a", b"x-forwarded-for": b"1.1.1.1, 2.2.2.2"}


@pytest.mark.parametrize(
    ("head", "well"),
    [
        (b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", True),
        (b"GET / HTTP/1.0\r\n\r\n", True),
        (b"GET / HTTP/1.1\r\n\r\n", False),
        (b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", False),
    ],
)
def test_http_1_1_needs_one_host(head: bytes, well: bool) -> None:
    reader = RequestReader(100)
    reader.feed(head)
    with nullcontext() if well else pytest.raises(RequestError, match="needs a header Host"):
        assert reader.next() is not None


@pytest.mark.parametrize("raw", [b"no HTTP at all\r\n\r\n", b"GET /complete HTTP/1.0\r\n\r\n"])
def test_a_client_that_cut_the_connection_unnoticed_is_no_fault(raw: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    def cut(self: Transport) -> None:
        raise OSError(107, "Transport endpoint is not connected")

    monkeypatch.setattr(Transport, "write_eof", cut)

    async def scenario(connections: Connections, app: App) -> None:
        faults: list[dict[str, Any]] = []
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: faults.append(context))
        client = Client(connections)
        await client.send(raw)
        del client.connection._task
        gc.collect()
        assert client.transport.aborted
        assert faults == []

    play(scenario)
