"""Changed files: noticed, tried in a process of their own, and only then put into service."""

import os
import signal
from collections.abc import Callable
from time import monotonic

from halfword.serve.models import Models, Served
from halfword.serve.snapshot import Snapshot, Stamp

WATCH_SECONDS = 1.0
TRIAL_SECONDS = 60  # that loading may take
_LONGEST_REASON = 4000  # bytes; fits into a pipe


class Reloads:
    """Watches the files of a model for the parent process.

    A damaged file could crash or never end the process that loads it. So a child loads it first, from the copy that the
    workers will get; meanwhile the old model answers.
    """

    def __init__(self, models: Models, leave_parent: Callable[[], None]) -> None:
        self._models = models
        self._leave_parent = leave_parent  # closes in a child what belongs to the parent
        self._seen: Stamp = ()
        self._look_at = 0.0  # when to look at the files next
        self._wanted = False
        self._trial: tuple[int, Snapshot, int] | None = None  # process, what it loads, where it says what is wrong

    def want(self) -> None:
        """Ask for a reload, also of files that have not changed."""
        self._wanted = True

    def look(self) -> str | None:
        """Begin a trial if one is due; return what is wrong if the files cannot even be read."""
        if self._trial is not None or not (self._wanted or self._have_settled()):
            return None
        self._wanted = False
        try:
            self._begin(self._models.take())
        except Exception as error:
            return _reason(error)
        return None

    def _have_settled(self) -> bool:
        """Tell whether the files have changed and then stood still from one look to the next."""
        if monotonic() < self._look_at:
            return False
        self._look_at = monotonic() + WATCH_SECONDS
        seen, self._seen = self._seen, self._models.stamp()
        return self._seen == seen and self._models.changed()

    def _begin(self, snapshot: Snapshot) -> None:
        reading, writing = os.pipe()
        process = os.fork()
        if process:
            os.close(writing)
            self._trial = process, snapshot, reading
            return
        status = 1
        try:
            self._leave_parent()
            signal.pthread_sigmask(signal.SIG_SETMASK, ())
            signal.alarm(TRIAL_SECONDS)  # which ends the process, whatever it is in the middle of
            self._models.load(snapshot)
            status = 0
        except Exception as error:
            os.write(writing, _reason(error).encode()[:_LONGEST_REASON])
        finally:
            os._exit(status)

    def ended(self, process: int, status: int) -> tuple[Snapshot, Served] | str | None:
        """Return what can go into service after a trial, or what is wrong; None if the process was no trial."""
        if self._trial is None or self._trial[0] != process:
            return None
        _, snapshot, reading = self._trial
        self._trial = None
        with os.fdopen(reading, "rb") as stream:
            reason = stream.read().decode("utf-8", "replace")
        try:
            if status == 0:
                return snapshot, self._models.load(snapshot, verify=False)  # the trial has done so
        except Exception as error:
            reason = _reason(error)
        snapshot.close()
        return reason or _cause_of_death(snapshot, status)

    def stop(self) -> None:
        """End a trial that is under way."""
        if self._trial is not None:
            os.kill(self._trial[0], signal.SIGKILL)


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__


def _cause_of_death(snapshot: Snapshot, status: int) -> str:
    if status == -signal.SIGALRM:
        return f"{snapshot.files[0]} is not loaded within {TRIAL_SECONDS} seconds; train it again"
    return f"{snapshot.files[0]} cannot be loaded (the process that tried ended with {status}); train it again"
