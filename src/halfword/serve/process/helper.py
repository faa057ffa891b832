"""A process beside the workers that does one thing for the journal of live changes."""

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from time import monotonic

from halfword.core.errors import LiveError
from halfword.core.live_state import compact, is_overgrown
from halfword.serve.log import Log

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
