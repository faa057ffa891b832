"""HTTP on the wire: uvicorn's protocol, with bounds on what a client may send and how slowly."""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from halfword.serve.http.reply import Reply, refuse
from halfword.serve.http.request import TRANSPORT

LARGEST_HEAD = 16_384  # bytes of request line and headers
SWEEP_SECONDS = 5.0  # a connection found without a whole request in two sweeps is closed

_REASONS = {400: b"Bad Request", 431: b"Request Header Fields Too Large"}


class BoundedProtocol(HttpToolsProtocol):
    """Refuses heads that are too large, and answers what is no HTTP in the same JSON as everything else."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._head_size = 0
        self._swept: object = self  # what the last sweep found going on; at first nothing it knows

    def on_message_begin(self) -> None:
        """Let the app see whether the client is still there."""
        super().on_message_begin()
        self.scope[TRANSPORT] = self.transport  # type: ignore[literal-required]

    def data_received(self, data: bytes) -> None:
        """Feed the parser, unless the head of a request has grown too large."""
        before = self.cycle
        super().data_received(data)
        if self.cycle is not before:
            self._head_size = 0
        elif before is None or before.response_complete:  # between two requests: this is (more of) a head
            self._head_size += len(data)
            if self._head_size > LARGEST_HEAD and not self.transport.is_closing():
                self._refuse("headers_too_large", f"address and headers may have {LARGEST_HEAD} bytes together")

    def send_400_response(self, msg: str) -> None:
        """Say in JSON that this is no HTTP."""
        self._refuse("bad_http", "this is no HTTP request that can be understood")

    def sweep(self) -> None:
        """Close a connection on which no request has become whole since the last sweep."""
        going_on = self.cycle
        idle = going_on is None or going_on.response_complete
        if idle and self.timeout_keep_alive_task is None and self._swept is going_on:
            self.transport.close()
        self._swept = going_on

    def _refuse(self, code: str, message: str) -> None:
        self.transport.write(_on_the_wire(refuse(code, message).reply()))
        self.transport.close()


async def sweep_forever(connections: set[Any]) -> None:
    """Close connections that dawdle, so that none is held for nothing."""
    while True:
        await asyncio.sleep(SWEEP_SECONDS)
        for connection in list(connections):
            connection.sweep()


def _on_the_wire(reply: Reply) -> bytes:
    head = [b"HTTP/1.1 %d %s" % (reply.status, _REASONS[reply.status])]
    head += [name + b": " + value for name, value in reply.headers]
    head += [b"content-length: %d" % len(reply.body), b"connection: close", b"", reply.body]
    return b"\r\n".join(head)
