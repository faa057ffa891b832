"""Ways to ask the server in tests: the app in this process, or `halfword serve` in its own."""

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from halfword.search.model import Completer
from halfword.serve.http.app import App
from halfword.serve.http.metrics import Metrics
from halfword.serve.http.request import TRANSPORT, Message
from halfword.serve.log import Log
from halfword.serve.models import Models
from halfword.serve.options import ServeOptions


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def code(self) -> str:
        code: str = self.json["error"]["code"]
        return code

    @property
    def texts(self) -> list[str]:
        return [completion["text"] for completion in self.json["completions"]]


@dataclass(frozen=True, slots=True)
class Connection:
    """As much of a connection as the app looks at."""

    leaves: asyncio.Event | None

    def is_closing(self) -> bool:
        return self.leaves is not None and self.leaves.is_set()


@dataclass(slots=True)
class Client:
    """Asks an app as an ASGI server would, without a socket."""

    app: App
    models: Models
    log: Path | None = None
    sent: list[Message] = field(default_factory=list)

    def ask(self, line: str, *, body: bytes = b"", headers: Mapping[str, str] = {}) -> Answer:
        """Ask like `GET /complete?q=new`."""
        return asyncio.run(self.asked(line, body=body, headers=headers))

    async def asked(
        self,
        line: str,
        *,
        body: bytes = b"",
        headers: Mapping[str, str] = {},
        peer: str = "10.0.0.1",
        leaves: asyncio.Event | None = None,
    ) -> Answer:
        """The same among others; the client is gone once `leaves` is set."""
        method, _, target = line.partition(" ")
        path, _, query = target.partition("?")
        messages: Iterator[Message] = iter([{"type": "http.request", "body": body, "more_body": False}])
        sent: list[Message] = []

        async def receive() -> Message:
            return next(messages, {"type": "http.disconnect"})

        async def send(message: Message) -> None:
            sent.append(message)

        encoded = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
        scope = {"type": "http", "method": method, "path": path, "query_string": query.encode()}
        connection = {TRANSPORT: Connection(leaves)}
        await self.app({**scope, **connection, "headers": encoded, "client": (peer, 1)}, receive, send)
        start, finish = sent
        decoded = {name.decode(): value.decode() for name, value in start["headers"]}
        return Answer(start["status"], decoded, finish["body"])


def client_for(model: Path, completer: Completer | None = None, log: Path | None = None, **options: Any) -> Client:
    """Return a client of an app that serves `model`, or `completer` in its stead."""
    chosen = ServeOptions(model=model, **options)
    models = Models(model, chosen.blocklists, chosen.cache)
    if completer is not None:
        models.current = replace(models.current, completer=completer)
    descriptor = os.open(log or os.devnull, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    return Client(App(chosen, models, Metrics(), Log(descriptor)), models, log)


@dataclass(frozen=True, slots=True)
class Server:
    """A running `halfword serve`."""

    process: subprocess.Popen[str]
    address: str
    log: Path

    @property
    def port(self) -> int:
        return int(self.address.rpartition(":")[2])

    def get(self, path: str, headers: Mapping[str, str] = {}) -> Answer:
        return self.open(urllib.request.Request(self.address + path, headers=dict(headers)))

    def post(self, path: str, content: Any) -> Answer:
        return self.open(urllib.request.Request(self.address + path, data=json.dumps(content).encode()))

    def open(self, request: urllib.request.Request) -> Answer:
        try:
            with urllib.request.urlopen(request, timeout=10) as reply:
                return Answer(reply.status, dict(reply.headers), reply.read())
        except urllib.error.HTTPError as error:
            with error:
                return Answer(error.code, dict(error.headers), error.read())

    def exchange(self, raw: bytes, *, timeout: float = 5.0) -> bytes:
        """Send bytes, close this side, and return all that comes back."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=timeout) as connection:
            try:
                connection.sendall(raw)
                connection.shutdown(socket.SHUT_WR)
                return b"".join(iter(lambda: connection.recv(65_536), b""))
            except (ConnectionError, TimeoutError):
                return b""

    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log.read_text().splitlines() if line.startswith("{")]

    def wait_for_event(self, event: str, count: int = 1, seconds: float = 10.0) -> list[dict[str, Any]]:
        """Return the log's lines of this event as soon as there are `count`."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = [line for line in self.events() if line["event"] == event]
            if len(found) >= count:
                return found
            time.sleep(0.02)
        raise AssertionError(f"{event!r} did not happen {count} times in {seconds} s: {self.events()}")

    def workers(self) -> list[int]:
        """Return the process numbers of the workers."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        return [int(number) for number in children.split()]


@contextmanager
def serving(model: Path, *arguments: str, port: int = 0) -> Iterator[Server]:
    """Run `halfword serve` on a free port; it is stopped at the end, whatever happens."""
    log = model.with_name(f"serve-{time.monotonic_ns()}.log")
    command = [sys.executable, "-m", "halfword", "serve", "-m", str(model), "-p", str(port), *arguments]
    with log.open("w") as stream:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stream, text=True)
    try:
        assert process.stdout is not None
        said = process.stdout.readline()
        address = re.search(r"http://\S+", said)
        assert address, f"it did not start: {said}{log.read_text()}"
        yield Server(process, address[0], log)
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(20)
        finally:
            process.kill()
            if process.stdout is not None:
                process.stdout.close()
