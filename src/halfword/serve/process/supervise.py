"""The parent process: binds, loads, forks workers, restarts those that die, and passes signals on."""

import os
import resource
import signal
import socket
import time
from collections.abc import Callable, Iterator
from functools import partial

from halfword.core.errors import OptionError
from halfword.serve.http.app import App
from halfword.serve.http.metrics import Metrics
from halfword.serve.log import Log
from halfword.serve.models import Models
from halfword.serve.options import ServeOptions
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
    metrics = Metrics(options.workers)
    log = Log(on_drop=partial(metrics.add, "log_lines_dropped_total"))
    models = Models(options)
    app = App(options, models, metrics, log)
    with bind(options.host, options.port) as listener:
        Supervisor(options, app, listener, models, metrics, log).run(lambda: ready(_address(listener)))


def _allow_many_connections() -> None:
    """Raise the number of open files as far as this process may; 1,024 is what it is given at first."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, _MOST_FILES)
    if soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


class Supervisor:
    """Keeps the workers running."""

    def __init__(
        self, options: ServeOptions, app: App, listener: socket.socket, models: Models, metrics: Metrics, log: Log
    ) -> None:
        self._options = options
        self._app = app
        self._listener = listener
        self._models = models
        self._metrics = metrics
        self._log = log
        self._started: dict[int, tuple[int, float]] = {}  # process: worker, when
        self._due: dict[int, float] = {}  # worker: when to start it again
        self._lifeline = os.pipe()  # its end in the workers closes when this process is gone, however it went

    def run(self, ready: Callable[[], None]) -> None:
        """Fork the workers and mind them until told to stop."""
        before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)  # they are waited for, not handled
        try:
            for worker in range(self._options.workers):
                self._start(worker)
            ready()
            self._log.event("serving", model=self._models.current.version, workers=self._options.workers)
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
                    self._tell(signal.SIGHUP)
            self._bury()
            for worker in [worker for worker, due in self._due.items() if due <= time.monotonic()]:
                del self._due[worker]
                self._start(worker)

    def _start(self, worker: int) -> None:
        process = os.fork()
        if process:
            self._started[process] = (worker, time.monotonic())
            return
        status = 1
        try:
            os.close(self._lifeline[1])
            adopt_process(worker, self._metrics)
            run_worker(
                self._options, self._app, self._listener, self._lifeline[0], self._models, self._metrics, self._log
            )
            status = 0
        except Exception as error:
            self._log.fault(error)
        finally:
            self._log.flush()
            os._exit(status)  # what the parent was in the middle of is not the child's to finish

    def _bury(self) -> None:
        """Take note of workers that have died, and plan their return."""
        for process, worker, started, status in self._dead():
            now = time.monotonic()
            self._due[worker] = now if now - started > _RESTART_SECONDS else now + _RESTART_SECONDS
            self._log.event("worker died", process=process, status=status)

    def _dead(self) -> Iterator[tuple[int, int, float, int]]:
        """Yield process, worker, start and status of those that have ended, and forget them."""
        while self._started:
            process, status = os.waitpid(-1, os.WNOHANG)
            if not process:
                return
            if process in self._started:  # the first process of a container inherits strangers
                yield process, *self._started.pop(process), os.waitstatus_to_exitcode(status)

    def _stop(self) -> None:
        """Let the workers finish what they have begun; those that do not are killed."""
        self._listener.close()
        self._log.event("stopping")
        self._tell(signal.SIGTERM)
        end = time.monotonic() + _STOP_SECONDS
        while self._started and time.monotonic() < end:
            signal.sigtimedwait((signal.SIGCHLD,), 0.1)
            for _ in self._dead():
                pass
        self._tell(signal.SIGKILL)
        self._log.flush()

    def _tell(self, number: signal.Signals) -> None:
        for process in self._started:
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
    except OSError as error:
        raise OptionError(
            f"cannot listen on {host} port {port} ({error.strerror}); choose another with --port"
        ) from None
    return listener


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
