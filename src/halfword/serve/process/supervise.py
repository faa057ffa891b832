"""The parent process: binds, loads, forks workers, restarts those that die, and passes signals on."""

import json
import os
import resource
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import NamedTuple

from halfword.core.errors import ModelFileError, OptionError
from halfword.serve.options import ServeOptions
from halfword.serve.process.helper import Compaction, Following
from halfword.serve.process.reload import Reloads
from halfword.serve.process.service import Service
from halfword.serve.process.worker import BACKLOG, adopt_process, run_worker

_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD)
_MOST_FILES = 65_536
_STOP_SECONDS = 15.0
_SOCKET_OPTIONS = (
    (socket.SOL_SOCKET, socket.SO_REUSEADDR, 1),
    # The kernel would let one connection hold megabytes of replies that nobody reads.
    (socket.SOL_SOCKET, socket.SO_SNDBUF, 131_072),
    (socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536),
    (socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 30_000),  # milliseconds, also for connections already closed
)
_RESTART_SECONDS = 1.0  # a worker that dies sooner than this after its start waits as long for the next


def serve(options: ServeOptions, ready: Callable[[str], None]) -> None:
    """Serve until SIGTERM or Ctrl+C; `ready` is told the address as soon as requests are taken.

    The model is loaded before the workers are forked, so a mistake in it ends here, and they share its memory.
    """
    _allow_many_connections()
    service = Service.begin(options)
    with bind(options.host, options.port) as listener:
        Supervisor(service, listener).run(lambda: ready(_address(listener)))


def _allow_many_connections() -> None:
    """Raise the number of open files as far as this process may; 1,024 is what it is given at first."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, _MOST_FILES)
    if soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


class Worker(NamedTuple):
    """A process that answers requests."""

    number: int
    started: float
    channel: socket.socket  # over which it is told of new files; it ends when the other end is closed


class Supervisor:
    """Keeps the workers running, and gives them new files."""

    def __init__(self, service: Service, listener: socket.socket) -> None:
        self._service = service
        self._listener = listener
        self._workers: dict[int, Worker] = {}  # by process
        self._due: dict[int, float] = {}  # number of a worker: when to start it again
        self._reloads = Reloads(service.models, self._leave_parent)
        self._helpers: list[Compaction | Following] = []
        if service.follower is not None:
            self._helpers.append(Following(service.follower, self._leave_parent, service.log))
        elif service.options.live is not None:
            self._helpers.append(Compaction(service.options.live, self._leave_parent, service.log))

    def run(self, ready: Callable[[], None]) -> None:
        """Fork the workers and mind them until told to stop."""
        before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)  # they are waited for, not handled
        workers, model = self._service.options.workers, self._service.models.current.version
        try:
            for number in range(workers):
                self._start(number)
            ready()
            self._service.log.event("serving", model=model, workers=workers)
            self._warn_of_missing_copies()
            self._mind()
        finally:
            self._stop()
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def _mind(self) -> None:
        while True:
            received = signal.sigtimedwait(_SIGNALS, 0.5)
            if received is not None:
                if received.si_signo in (signal.SIGTERM, signal.SIGINT):
                    return
                if received.si_signo == signal.SIGHUP:
                    self._reloads.want()
            for process, status in self._dead():
                self._bury(process, status)
            failure = self._reloads.look()
            if failure is not None:
                self._tell_failure(failure)
            for helper in self._helpers:
                helper.look()
            for number in [number for number, due in self._due.items() if due <= time.monotonic()]:
                del self._due[number]
                self._start(number)

    def _start(self, number: int) -> None:
        mine, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        process = os.fork()
        if process:
            its.close()
            mine.setblocking(False)
            self._workers[process] = Worker(number, time.monotonic(), mine)
            return
        status = 1
        try:
            mine.close()
            self._leave_parent(listener=True)
            adopt_process(number, self._service.metrics)
            run_worker(self._service, self._listener, its)
            status = 0
        except Exception as error:
            self._service.log.fault(error)
        finally:
            self._service.log.flush()
            os._exit(status)  # what the parent was in the middle of is not the child's to finish

    def _leave_parent(self, *, listener: bool = False) -> None:
        """Close in a child what only the parent uses, or the workers would not notice its end."""
        for worker in self._workers.values():
            worker.channel.close()
        if not listener:
            self._listener.close()

    def _dead(self) -> Iterator[tuple[int, int]]:
        """Yield process and status of children that have ended."""
        while True:
            try:
                process, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if not process:
                return
            yield process, os.waitstatus_to_exitcode(status)

    def _bury(self, process: int, status: int) -> None:
        """Plan the return of a worker that has died, or put into service what a trial has found to be well."""
        worker = self._workers.pop(process, None)
        if worker is not None:  # the first process of a container inherits strangers
            worker.channel.close()
            now = time.monotonic()
            self._due[worker.number] = now if now - worker.started > _RESTART_SECONDS else now + _RESTART_SECONDS
            self._service.log.event("worker died", process=process, status=status)
            self._refuse_what_was_overwritten()
            return
        if any(helper.helper.ended(process) for helper in self._helpers):
            return
        tried = self._reloads.ended(process, status)
        if isinstance(tried, str):
            self._tell_failure(tried)
        elif tried is not None:
            self._service.models.put(*tried)
            self._send(tried[0].send)

    def _tell_failure(self, reason: str) -> None:
        models = self._service.models
        models.failure = reason
        self._service.log.event("reload failed", serving=models.current.version, reason=reason)
        self._refuse_what_was_overwritten()
        self._send(lambda channel: channel.send(json.dumps({"failure": [reason]}).encode()))

    def _refuse_what_was_overwritten(self) -> None:
        """End the server if the model that it maps is no longer what it loaded: a new worker would die as well."""
        snapshot = self._service.models.snapshot
        if snapshot.overwritten:
            raise ModelFileError(
                f"{snapshot.files[0]} was changed in place while it served without a copy; "
                "start again, and replace it by mv"
            )

    def _warn_of_missing_copies(self) -> None:
        uncopied = self._service.models.snapshot.uncopied
        if uncopied:
            self._service.log.event("not copied", files=[file.name for file in uncopied])

    def _send(self, send: Callable[[socket.socket], object]) -> None:
        for worker in self._workers.values():
            with suppress(OSError):  # it has died, and its successor will know, or it is stuck
                send(worker.channel)

    def _stop(self) -> None:
        """Let the workers finish what they have begun; those that do not are killed."""
        self._listener.close()
        self._service.log.event("stopping")
        self._reloads.stop()
        for helper in self._helpers:
            helper.helper.stop()
        self._signal(signal.SIGTERM)
        end = time.monotonic() + _STOP_SECONDS
        while self._workers and time.monotonic() < end:
            signal.sigtimedwait((signal.SIGCHLD,), 0.1)
            for process, _ in self._dead():
                self._workers.pop(process, None)
        self._signal(signal.SIGKILL)
        self._service.log.flush()

    def _signal(self, number: signal.Signals) -> None:
        for process in self._workers:
            os.kill(process, number)


def bind(host: str, port: int) -> socket.socket:
    """Return a socket that listens, or say why there is none."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
        for level, option, value in _SOCKET_OPTIONS:  # connections inherit them
            listener.setsockopt(level, option, value)
        listener.bind(address)
        listener.listen(BACKLOG)
        # Whether it blocks is told to all processes at once. A copy of a blocking one, which each worker makes, would
        # for a moment make the others wait inside `accept`.
        listener.setblocking(False)
    except OSError as error:
        raise OptionError(
            f"cannot listen on {host} port {port} ({error.strerror}); choose another with --port"
        ) from None
    return listener


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
