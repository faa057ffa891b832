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
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from halfword.serve.http.app import App
from halfword.serve.http.metrics import Metrics
from halfword.serve.http.reply import CLIENT_GONE, RequestError, on_the_wire
from halfword.serve.http.request import RequestReader
from halfword.serve.log import Log
from halfword.serve.models import Answerer, Models
from halfword.serve.options import ServeOptions


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes

    @classmethod
    def parse(cls, raw: bytes) -> "Answer":
        """Read a reply as it comes over the wire."""
        head, _, body = raw.partition(b"\r\n\r\n")
        first, *lines = head.decode().split("\r\n")
        return cls(int(first.split()[1]), dict(line.split(": ", 1) for line in lines), body)

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


@dataclass(slots=True)
class Client:
    """Asks an app without a socket; what it sends is read as if it came from one."""

    app: App
    models: Models
    options: ServeOptions

    def ask(self, line: str, *, body: bytes = b"", headers: Mapping[str, str | list[str]] = {}) -> Answer:
        """Ask like `GET /complete?q=new`."""
        return asyncio.run(self.asked(line, body=body, headers=headers))

    async def asked(
        self,
        line: str,
        *,
        body: bytes = b"",
        headers: Mapping[str, str | list[str]] = {},
        peer: str = "10.0.0.1",
        leaves: asyncio.Event | None = None,
    ) -> Answer:
        """The same among others; the client is gone once `leaves` is set."""
        given: dict[str, str | list[str]] = {
            "Host": "127.0.0.1",
            **({"Content-Length": str(len(body))} if body else {}),
            **headers,
        }
        several = ((name, [value] if isinstance(value, str) else value) for name, value in given.items())
        lines = "".join(f"{name}: {value}\r\n" for name, values in several for value in values)
        reader = RequestReader(self.options.limits.largest_body)
        reader.feed(f"{line} HTTP/1.1\r\n{lines}\r\n".encode() + body)
        try:
            request = reader.next(peer, bool if leaves is None else leaves.is_set)
            assert request is not None
            reply = await self.app(request)
        except RequestError as error:
            reply = self.app.refused(error)
        if reply.status == CLIENT_GONE:
            return Answer(reply.status, {}, b"")
        return Answer.parse(on_the_wire(reply, b"today", close=False, body=not line.startswith("HEAD ")))


def client_for(model: Path, completer: Answerer | None = None, log: Path | None = None, **options: Any) -> Client:
    """Return a client of an app that serves `model`, or `completer` in its stead."""
    chosen = ServeOptions(model=model, **options)
    models = Models(chosen)
    if completer is not None:
        models.current = replace(models.current, completer=completer)
    descriptor = os.open(log or os.devnull, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    return Client(App(chosen, models, Metrics(), Log(descriptor)), models, chosen)


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
