"""Processes beside the workers: one compacts the journal of live changes, one follows the journal of another server."""

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from time import monotonic

from halfword.core.errors import LiveError
from halfword.core.live_state import compact, is_overgrown
from halfword.serve.http.guard import first_key
from halfword.serve.live.follow import Follower, Refused, Remote
from halfword.serve.log import Log
from halfword.serve.options import ServeOptions

_LOOK_SECONDS = 1.0
_AGAIN_SECONDS = 60.0  # until what has failed is tried again
_NICENESS = 10  # answers go first


class Helper:
    """Forks a process for a piece of work, one at a time, and notices its end."""

    def __init__(self, leave_parent: Callable[[], None], log: Log) -> None:
        self._leave_parent = leave_parent  # closes in a child what belongs to the parent
        self._log = log
        self._process: int | None = None

    @property
    def works(self) -> bool:
        """Whether the process runs."""
        return self._process is not None

    def begin(self, work: Callable[[], None]) -> None:
        """Do a piece of work in a process of its own."""
        self._process = os.fork()
        if self._process:
            return
        status = 1
        try:
            self._leave_parent()
            signal.pthread_sigmask(signal.SIG_SETMASK, ())
            for number in (signal.SIGINT, signal.SIGHUP):  # Ctrl+C reaches all processes; the parent ends this one
                signal.signal(number, signal.SIG_IGN)
            work()
            status = 0
        except Exception as error:
            self._log.fault(error)
        finally:
            self._log.flush()
            os._exit(status)

    def ended(self, process: int) -> bool:
        """Tell whether it was this process that has ended."""
        if process != self._process:
            return False
        self._process = None
        return True

    def stop(self) -> None:
        """End the process."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.kill(self._process, signal.SIGKILL)


class Compaction:
    """Has the journal compacted when most of it is past; it can be killed at any time, and nothing is lost."""

    def __init__(self, journal: Path, leave_parent: Callable[[], None], log: Log) -> None:
        self._journal = journal
        self._log = log
        self.helper = Helper(leave_parent, log)
        self._look_at = 0.0  # when to look at the journal next

    def look(self) -> None:
        """Begin to compact if that is due."""
        if self.helper.works or monotonic() < self._look_at:
            return
        self._look_at = monotonic() + _LOOK_SECONDS
        if is_overgrown(self._journal):
            self._look_at = monotonic() + _AGAIN_SECONDS
            self.helper.begin(self._compact)

    def _compact(self) -> None:
        os.nice(_NICENESS)
        try:
            before, after = compact(self._journal)
            self._log.event("live changes compacted", before=before, after=after)
        except LiveError as error:
            self._log.event("live changes not compacted", reason=str(error))


class Following:
    """Keeps a process that follows the journal of another server."""

    def __init__(self, follower: Follower, leave_parent: Callable[[], None], log: Log) -> None:
        self._follower = follower
        self._log = log
        self.helper = Helper(leave_parent, log)
        self._look_at = 0.0

    def look(self) -> None:
        """Begin to follow, also again if the process has died."""
        if not self.helper.works and monotonic() >= self._look_at:
            self._look_at = monotonic() + _LOOK_SECONDS
            parent = os.getpid()
            self.helper.begin(lambda: self._follower.follow(lambda: os.getppid() == parent, self._tell))

    def _tell(self, event: str, reason: str) -> None:
        self._log.event(event, reason=reason)


def follower_of(options: ServeOptions) -> Follower | None:
    """Return what follows the server that the options name."""
    key_file = options.follow_key_file or options.live_key_file or options.api_key_file
    if options.follow is None or options.live is None or key_file is None:
        return None
    return Follower(options.live, Remote(options.follow, first_key(key_file)))


def catch_up(follower: Follower, log: Log) -> None:
    """Bring the copy up to date before anything is answered; a server that cannot be reached is asked again later."""
    try:
        follower.catch_up()
    except Refused:
        raise
    except LiveError as error:
        log.event("live changes not followed", reason=str(error))
