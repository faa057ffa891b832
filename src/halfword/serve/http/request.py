"""A request as the ASGI server hands it over."""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from time import perf_counter
from typing import Any

from halfword.serve.http.reply import refuse

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

TRANSPORT = "halfword.transport"  # the key of a scope under which our HTTP protocol leaves its connection
_BODY_SECONDS = 10.0
_CLOSE = [(b"connection", b"close")]  # the rest of a body that was refused is not read


class ClientGone(Exception):
    """The client has closed the connection; there is nobody to answer."""


class Request:
    """The method, path and headers of a request, and its body once it is asked for."""

    __slots__ = ("_receive", "_scope", "began", "method", "path")

    def __init__(self, scope: Scope, receive: Receive) -> None:
        self.began = perf_counter()
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self._scope = scope
        self._receive = receive

    @property
    def query_string(self) -> bytes:
        """What follows the question mark."""
        found: bytes = self._scope["query_string"]
        return found

    @property
    def peer(self) -> str:
        """The address at the other end of the connection."""
        client = self._scope.get("client")
        return client[0] if client else ""

    def header(self, name: bytes) -> bytes | None:
        """Return the header `name`, written in lower case."""
        for key, value in self._scope["headers"]:
            if key == name:
                found: bytes = value
                return found
        return None

    async def body(self, largest: int) -> bytes:
        """Read the body: no more than `largest` bytes, no longer than ten seconds."""
        length = self.header(b"content-length")
        if length is not None and (not length.isdigit() or int(length[:19]) > largest):
            raise _too_large(largest)
        try:
            async with asyncio.timeout(_BODY_SECONDS):
                return await self._read(largest)
        except TimeoutError:
            raise refuse("too_slow", f"the body must arrive within {_BODY_SECONDS:.0f} seconds", _CLOSE) from None

    async def _read(self, largest: int) -> bytes:
        body = bytearray()
        while True:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                raise ClientGone
            body += message.get("body", b"")
            if len(body) > largest:
                raise _too_large(largest)
            if not message.get("more_body", False):
                return bytes(body)

    def gone(self) -> bool:
        """Tell whether the client has closed the connection. Only `halfword serve` knows; elsewhere it seems to stay.

        ASGI has a message for this, but waiting for it takes a task, which costs as much as half of the answer.
        """
        transport = self._scope.get(TRANSPORT)
        return transport is not None and transport.is_closing()


def _too_large(largest: int) -> Exception:
    return refuse("body_too_large", f"the body may have {largest} bytes at the most", _CLOSE)
