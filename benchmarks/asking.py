"""An HTTP client for load tests: closed loop (asks again when answered) or open loop (asks at a fixed rate)."""

import asyncio
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Any
from urllib.parse import urlsplit

PATIENCE = 10.0  # seconds; a longer wait counts as a time-out
ANSWERED, REFUSED = "200", "503"
Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@dataclass(frozen=True, slots=True)
class Reply:
    """The outcome of a request."""

    kind: str  # the status, "timed out" or "broken"
    seconds: float  # since it should have been sent
    retry_after: bool = False
    empty: bool = False  # no completions: all were blocked, or the deadline passed before the first


class Client:
    """Sends requests over kept connections; opens a new one if all are busy, or for every request if `fresh`."""

    def __init__(self, address: str, *, fresh: bool = False) -> None:
        parts = urlsplit(address)
        self._host, self._port = parts.hostname, parts.port
        self._fresh = fresh
        self._idle: list[Connection] = []
        self.opened = 0

    async def ask(self, path: str, due: float) -> Reply:
        """Send a request and return the reply; `due` is when it should have been sent, by the clock of the loop."""
        clock = asyncio.get_running_loop().time
        try:
            async with asyncio.timeout_at(due + PATIENCE):
                head, body = await self._exchange(path)
        except TimeoutError:
            return Reply("timed out", clock() - due)
        except (OSError, EOFError):
            return Reply("broken", clock() - due)
        return Reply(head[9:12].decode(), clock() - due, b"\r\nretry-after: " in head, b'"completions":[]' in body)

    async def _exchange(self, path: str) -> tuple[bytes, bytes]:
        reader, writer = self._idle.pop() if self._idle else await self._open()
        try:
            writer.write(b"GET %b HTTP/1.1\r\nhost: localhost\r\n\r\n" % path.encode())
            head = await reader.readuntil(b"\r\n\r\n")
            length = re.search(rb"content-length: (\d+)", head)
            body = await reader.readexactly(int(length[1])) if length else b""
        except BaseException:
            writer.close()
            raise
        if self._fresh:
            writer.close()
        else:
            self._idle.append((reader, writer))
        return head, body

    async def _open(self) -> Connection:
        self.opened += 1
        return await asyncio.open_connection(self._host, self._port)

    def close(self) -> None:
        """Close all connections; no request may be in progress."""
        for _, writer in self._idle:
            writer.close()


async def ask(address: str, paths: Iterable[str], connections: int, seconds: float | None = None) -> dict[str, Any]:
    """Closed loop: each connection sends the next of `paths` when it is answered, until paths or seconds run out."""
    client, clock = Client(address), asyncio.get_running_loop().time
    begin, left, replies = clock(), iter(paths), list[Reply]()

    async def keep_asking() -> None:
        for path in left:
            replies.append(await client.ask(path, clock()))
            if seconds is not None and clock() - begin > seconds:
                break

    await asyncio.gather(*(keep_asking() for _ in range(connections)))
    taken = clock() - begin
    client.close()
    return {"asked_per_second": round(len(replies) / taken, 1), **_summary(replies, taken)}


async def offer(
    address: str, paths: Sequence[str], rate: float, seconds: float, *, fresh: bool = False
) -> dict[str, Any]:
    """Open loop: send `rate` requests per second for `paths`, over and over, whatever the replies are."""
    client, clock = Client(address, fresh=fresh), asyncio.get_running_loop().time
    begin, asked = clock(), list[asyncio.Task[Reply]]()
    for number, path in zip(range(round(rate * seconds)), cycle(paths), strict=False):
        due = begin + number / rate
        await asyncio.sleep(max(0.0, due - clock()))
        asked.append(asyncio.create_task(client.ask(path, due)))
    sending = clock() - begin
    replies = await asyncio.gather(*asked)
    taken = clock() - begin
    client.close()
    rates = {"asked_per_second": round(len(replies) / sending, 1), "connections": client.opened}
    return rates | _summary(replies, taken)


def _summary(replies: Sequence[Reply], taken: float) -> dict[str, Any]:
    answered = [reply for reply in replies if reply.kind == ANSWERED]
    refused = [reply for reply in replies if reply.kind == REFUSED]
    others = Counter(reply.kind for reply in replies if reply.kind not in (ANSWERED, REFUSED))
    return {
        "requests": len(replies),
        "seconds": round(taken, 2),
        "answered_per_second": round(len(answered) / taken, 1),
        "answered": _latencies(answered) | {"empty": sum(reply.empty for reply in answered)},
        "refused": _latencies(refused) | {"without_retry_after": sum(not reply.retry_after for reply in refused)},
        "others": dict(others),
    }


def _latencies(replies: Sequence[Reply]) -> dict[str, float]:
    ordered = sorted(reply.seconds for reply in replies)
    if not ordered:
        return {"count": 0}
    shares = {"p50_ms": 0.5, "p99_ms": 0.99, "max_ms": 1.0}
    places = {name: min(int(len(ordered) * share), len(ordered) - 1) for name, share in shares.items()}
    return {"count": len(ordered)} | {name: round(ordered[place] * 1000, 1) for name, place in places.items()}
