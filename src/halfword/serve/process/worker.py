"""A worker process: the event loop that serves, watches the model file and stops gently."""

import asyncio
import logging
import signal
import socket
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn

from halfword.serve.http.app import App
from halfword.serve.http.metrics import Metrics
from halfword.serve.http.protocol import BoundedProtocol, sweep_forever
from halfword.serve.log import LibraryLog, Log
from halfword.serve.models import Models

BACKLOG = 1024
_ACCEPTED_AT_ONCE = 4
WATCH_SECONDS = 1.0
_FLUSH_SECONDS = 0.2
_STOP_SECONDS = 10
_IDLE_SECONDS = 75  # longer than nginx keeps a connection, or it would at times use one that is just being closed


class _Server(uvicorn.Server):
    """A uvicorn server on a socket that several workers listen on."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave the signals to the event loop: uvicorn would raise them again and end before the log is written."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to accept.

        asyncio accepts as many connections in a row as its backlog has places: the first worker to wake would take
        all. So it is told a few, and the kernel, which shares the socket, is told the real number afterwards.
        """
        await super().startup(sockets)
        for listener in sockets or ():
            listener.listen(BACKLOG)


def run_worker(app: App, listener: socket.socket, lifeline: int, models: Models, metrics: Metrics, log: Log) -> None:
    """Serve until a signal says stop, or until the process that holds the other end of `lifeline` is gone."""
    if models.changed():  # this worker replaces one that died, and the parent's model is an old one
        _tell_of_reload(models.current.version, models.reload(), models, metrics, log)
    config = uvicorn.Config(
        app,
        http=BoundedProtocol,
        loop="asyncio",
        ws="none",
        lifespan="off",
        interface="asgi3",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        backlog=_ACCEPTED_AT_ONCE,
        timeout_keep_alive=_IDLE_SECONDS,
        timeout_graceful_shutdown=_STOP_SECONDS,
    )
    logging.getLogger().handlers = [LibraryLog(log)]
    logging.getLogger("uvicorn").setLevel(logging.CRITICAL)  # what it says of requests is in our replies and metrics
    asyncio.run(_serve(_Server(config), listener, lifeline, models, metrics, log))


async def _serve(
    server: uvicorn.Server, listener: socket.socket, lifeline: int, models: Models, metrics: Metrics, log: Log
) -> None:
    loop = asyncio.get_running_loop()
    reload_now = asyncio.Event()
    loop.add_signal_handler(signal.SIGHUP, reload_now.set)
    for stop in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(stop, setattr, server, "should_exit", True)
    loop.add_reader(lifeline, setattr, server, "should_exit", True)
    chores: list[Coroutine[Any, Any, None]] = [
        _watch(models, reload_now, metrics, log),
        sweep_forever(server.server_state.connections),
        _flush_forever(log),
    ]
    tasks = [asyncio.create_task(chore) for chore in chores]
    try:
        await server.serve(sockets=[listener])
    finally:
        loop.remove_reader(lifeline)
        for task in tasks:
            task.cancel()
        log.flush()


async def _watch(models: Models, reload_now: asyncio.Event, metrics: Metrics, log: Log) -> None:
    """Reload when told to, and when the files have changed and then stood still from one look to the next."""
    seen = None
    while True:
        try:
            await asyncio.wait_for(reload_now.wait(), WATCH_SECONDS)
        except TimeoutError:
            stamp = models.stamp()
            settled, seen = stamp == seen, stamp
            if not (settled and models.changed()):
                continue
        reload_now.clear()
        old = models.current.version
        _tell_of_reload(old, await asyncio.to_thread(models.reload), models, metrics, log)


def _tell_of_reload(old: str, well: bool, models: Models, metrics: Metrics, log: Log) -> None:
    if well:
        metrics.add("reloads_total")
        log.event("reloaded", old=old, new=models.current.version)
    else:
        metrics.add("reload_failures_total")
        log.event("reload failed", serving=old, reason=models.failure)


async def _flush_forever(log: Log) -> None:
    while True:
        await asyncio.sleep(_FLUSH_SECONDS)
        log.flush()


def adopt_process(worker: int, metrics: Metrics) -> None:
    """Make a freshly forked process a worker: its own row of numbers, and signals that reach it."""
    metrics.belong_to(worker)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # until the loop takes it
