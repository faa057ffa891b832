"""A worker process: the event loop that serves, watches the model file and stops gently."""

import asyncio
import ctypes
import logging
import signal
import socket
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

from halfword.serve.http.app import App
from halfword.serve.http.connections import Connections
from halfword.serve.http.metrics import Metrics
from halfword.serve.log import LibraryLog, Log
from halfword.serve.models import Models
from halfword.serve.options import ServeOptions

BACKLOG = 1024
_M_MMAP_THRESHOLD = -3  # from malloc.h
_LARGE_BLOCK = 262_144  # bytes
_ACCEPTED_AT_ONCE = 4
WATCH_SECONDS = 1.0


def run_worker(
    options: ServeOptions,
    app: App,
    listener: socket.socket,
    lifeline: int,
    models: Models,
    metrics: Metrics,
    log: Log,
) -> None:
    """Serve until a signal says stop, or until the process that holds the other end of `lifeline` is gone."""
    if models.changed():  # this worker replaces one that died, and the parent's model is an old one
        _tell_of_reload(models.current.version, models.reload(), models, metrics, log)
    logging.getLogger().handlers = [LibraryLog(log)]
    asyncio.run(_serve(options, app, listener, lifeline, models, metrics, log))


async def _serve(
    options: ServeOptions,
    app: App,
    listener: socket.socket,
    lifeline: int,
    models: Models,
    metrics: Metrics,
    log: Log,
) -> None:
    loop = asyncio.get_running_loop()
    stop, reload_now = asyncio.Event(), asyncio.Event()
    loop.add_signal_handler(signal.SIGHUP, reload_now.set)
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    loop.add_reader(lifeline, stop.set)
    connections = Connections(app, most=options.connections, largest_body=options.limits.largest_body)
    chores: list[Coroutine[Any, Any, None]] = [
        _watch(models, reload_now, metrics, log),
        connections.sweep_forever(),
    ]
    tasks = [asyncio.create_task(chore) for chore in chores]
    try:
        await _accept_until(stop, listener, connections)
        loop.remove_reader(lifeline)
        await connections.drain()
    finally:
        for task in tasks:
            task.cancel()


async def _accept_until(stop: asyncio.Event, listener: socket.socket, connections: Connections) -> None:
    """Accept connections until told to stop, and at last those that wait in the kernel.

    asyncio accepts as many connections in a row as its backlog has places: the first worker to wake would take all.
    So asyncio is told a few, and the kernel, which shares the socket among workers, is told the real number afterwards.
    """
    loop = asyncio.get_running_loop()
    waiting = listener.dup()
    server = await loop.create_server(connections.new, sock=listener, backlog=_ACCEPTED_AT_ONCE)
    listener.listen(BACKLOG)
    await stop.wait()
    server.close()
    with waiting:
        waiting.setblocking(False)
        while True:
            try:
                accepted, _ = waiting.accept()
            except OSError:
                return
            await loop.connect_accepted_socket(connections.new, accepted)


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


def adopt_process(worker: int, metrics: Metrics) -> None:
    """Make a freshly forked process a worker: its own row of numbers, and signals that reach it."""
    metrics.belong_to(worker)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # until the loop takes it
    _give_large_blocks_back()


def _give_large_blocks_back() -> None:
    """Have glibc map every large block by itself, so that its memory goes back to the system when it is freed.

    By itself glibc raises the size from which it does so. Large replies then lie among small objects and leave holes:
    clients that read slowly made the memory of a worker grow by 70 MiB where 25 MiB were in use.
    """
    with suppress(OSError, AttributeError):  # other C libraries have no such setting
        ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, _LARGE_BLOCK)
