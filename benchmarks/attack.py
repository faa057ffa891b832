"""Attacks on `halfword serve` that need no key and little traffic; prints JSON, and fails if the server gave way.

python benchmarks/attack.py --model MODEL [--seconds 10] [--connections 100] [--attack pipelining]

For each attack: the memory of all processes before, its peak, and the health checks that a well-behaved client made
meanwhile. The server gave way if a health check failed, a worker died, or memory grew by half.
"""

import argparse
import asyncio
import json
import socket
import sys
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from serving import family, memory_kib, running

WARM_UP = 6000  # distinct prefixes, more than the cache of answers holds
MOST_GROWTH = 1.5
PATIENCE = 5.0  # seconds for a health check

REQUEST = b"GET /complete?q=new+yo&n=100 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
LARGE = json.dumps({"prefixes": [f"{chr(97 + i % 26)}{chr(97 + i // 26)}" for i in range(100)], "n": 100}).encode()
LARGE_REQUEST = b"POST /complete HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: %d\r\n\r\n%s" % (len(LARGE), LARGE)
MANY_HEADERS = b"".join(b"%x:\r\n" % number for number in range(10_000))


@dataclass(slots=True)
class Crowd:
    """Clients that attack one server; what happened to them is counted."""

    port: int
    seen: Counter[str] = field(default_factory=Counter)

    async def connect(self, *, receive_buffer: int | None = None) -> socket.socket:
        """Return a new connection."""
        connection = socket.socket()
        if receive_buffer is not None:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        connection.setblocking(False)
        await asyncio.get_running_loop().sock_connect(connection, ("127.0.0.1", self.port))
        return connection

    async def send(self, connection: socket.socket, data: bytes) -> None:
        """Send bytes and count them."""
        await asyncio.get_running_loop().sock_sendall(connection, data)
        self.seen["bytes sent"] += len(data)

    async def receive(self, connection: socket.socket, most: int) -> bytes:
        """Receive bytes; counts how the server answers and that it hangs up."""
        data = await asyncio.get_running_loop().sock_recv(connection, most)
        if data.startswith(b"HTTP/1.1 "):
            self.seen[f"status {data[9:12].decode('latin-1')}"] += 1
        if not data:
            self.seen["closed by the server"] += 1
            raise ConnectionError
        return data


async def pipeline(crowd: Crowd) -> None:
    """Send requests without pause and read nothing."""
    with await crowd.connect() as connection:
        while True:
            await crowd.send(connection, REQUEST * 100)


async def pipeline_and_read(crowd: Crowd) -> None:
    """Send requests without pause and read the answers."""
    with await crowd.connect() as connection:
        async with _sending(crowd, connection, REQUEST * 100):
            while await crowd.receive(connection, 2**20):
                pass


@asynccontextmanager
async def _sending(crowd: Crowd, connection: socket.socket, data: bytes) -> AsyncIterator[None]:
    """Send the same bytes without pause while the block runs."""

    async def send_forever() -> None:
        with suppress(OSError):
            while True:
                await crowd.send(connection, data)

    task = asyncio.create_task(send_forever())
    try:
        yield
    finally:
        task.cancel()
        # The loop must forget the socket before it is closed: the next one may get the same number.
        await asyncio.wait([task])


async def read_slowly(crowd: Crowd) -> None:
    """Ask for large answers and read a byte a second."""
    with await crowd.connect(receive_buffer=2048) as connection:
        async with _sending(crowd, connection, LARGE_REQUEST):
            while await crowd.receive(connection, 1):
                await asyncio.sleep(1)


async def send_head_slowly(crowd: Crowd) -> None:
    """Send a head without end, some bytes a second."""
    await _dribble(crowd, b"GET /complete?q=a HTTP/1.1\r\n", b"X-Filler: y\r\n")


async def send_body_slowly(crowd: Crowd) -> None:
    """Send the body of a request, a kilobyte a second."""
    await _dribble(crowd, b"POST /complete HTTP/1.1\r\nHost: localhost\r\nContent-Length: 65536\r\n\r\n", b" " * 1024)


async def _dribble(crowd: Crowd, first: bytes, more: bytes) -> None:
    with await crowd.connect() as connection:
        await crowd.send(connection, first)
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(crowd.receive(connection, 4096), 1)
            await crowd.send(connection, more)


async def send_large_heads(crowd: Crowd) -> None:
    """Send heads of 70 kB with thousands of headers."""
    with await crowd.connect() as connection:
        await crowd.send(connection, b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n" + MANY_HEADERS)
        while await crowd.receive(connection, 4096):
            pass


async def send_large_bodies(crowd: Crowd) -> None:
    """Send chunked bodies without end."""
    with await crowd.connect() as connection:
        await crowd.send(
            connection, b"POST /complete HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        async with _sending(crowd, connection, b"1000\r\n" + b" " * 4096 + b"\r\n"):
            while await crowd.receive(connection, 4096):
                pass


async def ask_for_many(crowd: Crowd) -> None:
    """Ask for many completions of many short prefixes, which caches would like to keep."""
    await _ask_forever(crowd, lambda number: b"%c%c&n=%d" % (97 + number % 26, 97 + number // 26 % 26, number % 97 + 4))


async def ask_for_wide_characters(crowd: Crowd) -> None:
    """Ask for prefixes that grow eighteenfold when they are normalised."""
    await _ask_forever(crowd, lambda number: b"%EF%B7%BA" * 195 + b"%05d" % (number % 100_000))


async def _ask_forever(crowd: Crowd, prefix: Callable[[int], bytes]) -> None:
    with await crowd.connect() as connection:
        while True:
            crowd.seen["asked"] += 1
            await crowd.send(
                connection, b"GET /complete?q=%b HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" % prefix(crowd.seen["asked"])
            )
            await crowd.receive(connection, 2**20)


async def only_connect(crowd: Crowd) -> None:
    """Open connections, ten times as many as in the other attacks, and send nothing."""
    connections = [await crowd.connect() for _ in range(10)]
    try:
        while True:
            await crowd.receive(connections[0], 1)
    finally:
        for connection in connections:
            connection.close()


Attack = Callable[[Crowd], Coroutine[Any, Any, None]]
ATTACKS: dict[str, Attack] = {
    "pipelining": pipeline,
    "pipelining and reading": pipeline_and_read,
    "slow readers": read_slowly,
    "slow heads": send_head_slowly,
    "slow bodies": send_body_slowly,
    "large heads": send_large_heads,
    "large bodies": send_large_bodies,
    "many completions": ask_for_many,
    "wide characters": ask_for_wide_characters,
    "idle connections": only_connect,
}


async def attack(crowd: Crowd, kind: Attack, connections: int, seconds: float) -> None:
    """Attack over so many connections; one that is closed is opened anew."""

    async def keep_attacking() -> None:
        while True:
            with suppress(OSError):
                await kind(crowd)
            crowd.seen["connections lost"] += 1
            await asyncio.sleep(0.01)

    tasks = [asyncio.create_task(keep_attacking()) for _ in range(connections)]
    await asyncio.sleep(seconds)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


class Watch:
    """Asks for the health of a server, and looks at its memory, until told to stop."""

    def __init__(self, process: int, address: str) -> None:
        self._process, self._address = process, address
        self._end = threading.Event()
        self._seconds: list[float] = []
        self._failed = 0
        self._begin = self._peak = memory_kib(process)
        self._threads = [threading.Thread(target=self._ask), threading.Thread(target=self._look)]
        for thread in self._threads:
            thread.start()

    def _ask(self) -> None:
        while not self._end.wait(0.2):
            begin = time.monotonic()
            try:
                with urllib.request.urlopen(f"{self._address}/healthz", timeout=PATIENCE):
                    self._seconds.append(time.monotonic() - begin)
            except OSError:
                self._failed += 1

    def _look(self) -> None:
        while not self._end.wait(0.1):
            self._peak = max(self._peak, memory_kib(self._process))

    def stop(self) -> dict[str, Any]:
        """Return what was seen."""
        self._end.set()
        for thread in self._threads:
            thread.join()
        return {
            "memory_mib": {"start": round(self._begin / 1024, 1), "peak": round(self._peak / 1024, 1)},
            "growth": round(self._peak / self._begin, 2),
            "health": {
                "answered": len(self._seconds),
                "failed": self._failed,
                "slowest_ms": round(max(self._seconds, default=0) * 1000, 1),
            },
        }


def warm_up(address: str) -> None:
    """Fill the caches, so that what grows afterwards is the attack's."""
    for begin in range(0, WARM_UP, 100):
        prefixes = [f"{chr(97 + number % 26)}{number:x}" for number in range(begin, begin + 100)]
        body = json.dumps({"prefixes": prefixes}).encode()
        with urllib.request.urlopen(f"{address}/complete", data=body, timeout=30) as reply:
            reply.read()


def measure(command: list[str], kind: Attack, connections: int, seconds: float) -> dict[str, Any]:
    """Start a server and attack it."""
    with running(command) as (process, address):
        warm_up(address)
        workers, watch = family(process), Watch(process, address)
        crowd = Crowd(urlsplit(address).port or 0)
        asyncio.run(attack(crowd, kind, connections, seconds))
        result = watch.stop() | {"seen": dict(crowd.seen), "worker_deaths": len(set(workers) - set(family(process)))}
    return result | {
        "held": result["growth"] < MOST_GROWTH and not result["health"]["failed"] and not result["worker_deaths"]
    }


def main() -> None:
    """Run the attacks and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--connections", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--attack", choices=ATTACKS, action="append", help="all, unless named")
    arguments = parser.parse_args()
    command = [sys.executable, "-m", "halfword", "serve", "-m", str(arguments.model), "-p", "0"]
    command += ["-w", str(arguments.workers)]
    results = {
        name: measure(command, ATTACKS[name], arguments.connections, arguments.seconds)
        for name in arguments.attack or ATTACKS
    }
    print(json.dumps(results, indent=2))
    sys.exit(not all(result["held"] for result in results.values()))


if __name__ == "__main__":
    main()
