"""A worker process: the event loop that serves, takes new files and stops gently."""

import asyncio
import ctypes
import logging
import signal
import socket
from contextlib import suppress

from halfword.serve.http.connections import Connections
from halfword.serve.http.metrics import Metrics
from halfword.serve.log import LibraryLog
from halfword.serve.process.service import Service
from halfword.serve.snapshot import Snapshot, receive

BACKLOG = 1024
_M_MMAP_THRESHOLD = -3  # from malloc.h
_LARGE_BLOCK = 262_144  # bytes

Message = tuple[dict[str, list[str]], list[int]]  # of the parent process, with descriptors
_ACCEPTED_AT_ONCE = 4
_LIVE_SECONDS = 0.05  # from one look at the journal to the next


def run_worker(service: Service, listener: socket.socket, channel: socket.socket) -> None:
    """Serve until a signal says stop, or until the process at the other end of `channel` is gone."""
    logging.getLogger().handlers = [LibraryLog(service.log)]
    asyncio.run(_serve(service, listener, channel))


async def _serve(service: Service, listener: socket.socket, channel: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    stop, messages = asyncio.Event(), asyncio.Queue[Message]()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    channel.setblocking(False)
    loop.add_reader(channel, _receive, channel, messages, stop)
    options = service.options
    connections = Connections(service.app, most=options.connections, largest_body=options.limits.largest_body)
    tasks = [
        asyncio.create_task(_reload_forever(service, messages)),
        asyncio.create_task(connections.sweep_forever()),
        asyncio.create_task(_refresh_forever(service)),
    ]
    try:
        await _accept_until(stop, listener, connections)
        loop.remove_reader(channel)
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


def _receive(channel: socket.socket, messages: asyncio.Queue[Message], stop: asyncio.Event) -> None:
    """Take a message of the parent process; without a parent there is nothing to serve for."""
    message, descriptors = receive(channel)
    if message:
        messages.put_nowait((message, descriptors))
    else:
        stop.set()


async def _refresh_forever(service: Service) -> None:
    """Apply the live changes that others write to the journal."""
    failing = False
    while service.options.live is not None:
        live = service.models.current.live
        try:
            if live is not None:
                await asyncio.to_thread(live.refresh)
            failing = False
        except Exception as error:  # the changes so far stay, and the next look may succeed
            if not failing:
                service.log.event("live changes cannot be read", reason=str(error))
            failing = True
        await asyncio.sleep(_LIVE_SECONDS)


async def _reload_forever(service: Service, messages: asyncio.Queue[Message]) -> None:
    """Put into service what the parent process sends; it has tried it, but this process may still lack memory."""
    models = service.models
    while True:
        message, descriptors = await messages.get()
        old, failure = models.current.version, message.get("failure", [None])[0]
        if failure is None:
            snapshot = Snapshot.received(message, descriptors)
            try:
                models.put(snapshot, await asyncio.to_thread(models.load, snapshot, verify=False))
            except Exception as error:
                snapshot.close()
                failure = str(error) or type(error).__name__
                service.log.event("reload failed", serving=old, reason=failure)
        if failure is None:
            service.metrics.add("reloads_total")
            service.log.event("reloaded", old=old, new=models.current.version)
        else:
            models.failure = failure
            service.metrics.add("reload_failures_total")


def adopt_process(worker: int, metrics: Metrics) -> None:
    """Make a freshly forked process a worker: its own row of numbers, and signals that reach it."""
    metrics.belong_to(worker)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # the parent tells of new files
    _give_large_blocks_back()


def _give_large_blocks_back() -> None:
    """Have glibc map every large block by itself, so that its memory goes back to the system when it is freed.

    By itself glibc raises the size from which it does so. Large replies then lie among small objects and leave holes:
    clients that read slowly made the memory of a worker grow by 70 MiB where 25 MiB were in use.
    """
    with suppress(OSError, AttributeError):  # other C libraries have no such setting
        ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, _LARGE_BLOCK)
