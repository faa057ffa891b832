"""Honest requests of every kind for fuzz_http.py, with the answers that a server gives when nobody attacks it."""

import asyncio
import json
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote_plus

WORDS = (
    "new",
    "york",
    "weather",
    "pizza",
    "how to",
    "cheap flights from",
    "東京",
    "naïve",
    "ไทย",
    "привет",
    "12",
    '&%+"',
)
QUESTIONS = 300


class Line:
    """One connection of an honest client."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self.is_last = False  # whether the server has said that no more replies follow

    @classmethod
    async def open(cls, port: int) -> "Line":
        """Connect."""
        return cls(*await asyncio.open_connection("127.0.0.1", port))

    async def send(self, data: bytes, cuts: Sequence[int] = ()) -> None:
        """Send bytes, in pieces that end at `cuts`."""
        for begin, end in zip([0, *cuts], [*cuts, len(data)], strict=True):
            self._writer.write(data[begin:end])
            await self._writer.drain()
            await asyncio.sleep(0)

    async def reply(self) -> tuple[int, bytes]:
        """Return status and body of the next reply."""
        if self.is_last:
            raise ConnectionError("the server said that it closes the connection")
        head = await self._reader.readuntil(b"\r\n\r\n")
        self.is_last = b"connection: close" in head.lower()
        length = re.search(rb"\r\ncontent-length: (\d+)", head, re.IGNORECASE)
        return int(head[9:12]), await self._reader.readexactly(int(length[1]) if length else 0)

    def end(self) -> None:
        """Hang up."""
        self._writer.close()


@dataclass(frozen=True, slots=True)
class Question:
    """A request, and what the server answered when nobody attacked it."""

    request: bytes
    answer: Any

    def is_answered_by(self, body: bytes) -> bool:
        """Tell whether the server still says the same."""
        return bool(_timeless(json.loads(body)) == self.answer)


def random_request(chance: random.Random) -> bytes:
    """Return an honest request of any kind."""
    words = " ".join(chance.choices(WORDS, k=3))
    prefix, count = words[: chance.randint(1, len(words))], chance.randint(1, 10)
    path = chance.choice(["/complete", "/suggest", "/_search", "batch", "chunked"])
    if path in ("/complete", "/suggest"):
        return b"GET %s?q=%s&n=%d HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" % (
            path.encode(),
            quote_plus(prefix).encode(),
            count,
        )
    if path == "/_search":
        content: Any = {"suggest": {"a": {"prefix": prefix, "completion": {"field": "q", "size": count}}}}
    else:
        path, content = ("/complete" if path == "batch" else path), {"prefixes": [prefix, words[:2]], "n": count}
    body = json.dumps(content, ensure_ascii=chance.random() < 0.5).encode()
    if path != "chunked":
        return b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s" % (path.encode(), len(body), body)
    head = b"POST /complete HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    half = len(body) // 2
    return head + b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (body[:half], body[half:], b""))


async def learn(port: int, chance: random.Random) -> list[Question]:
    """Ask everything once while nobody attacks."""
    line, questions = await Line.open(port), []
    for request in (random_request(chance) for _ in range(QUESTIONS)):
        await line.send(request)
        status, body = await line.reply()
        assert status == 200, (request, status, body)
        questions.append(Question(request, _timeless(json.loads(body))))
    line.end()
    return questions


def _timeless(answer: Any) -> Any:
    """Return an answer without what it says about time."""
    return {name: value for name, value in answer.items() if "took" not in name} if isinstance(answer, dict) else answer
