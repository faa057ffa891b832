"""Folders for what a command needs only while it runs; those of a killed command are removed by its next run."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from halfword.core.errors import HalfwordError, OutputError
from halfword.core.interrupts import undisturbed

_LOCK = "lock"  # held by the process that a folder belongs to; the system lets go of it when the process ends
_NO_ROOM = ("No space left on device", "Disk quota exceeded", "File too large", "max_temp_directory_size")


@contextmanager
def scratch_folder(output: Path) -> Iterator[Path]:
    """Yield a folder beside `output`, on the same disk, that is gone when the block ends, however it ends.

    Folders that killed processes left beside the same `output` are removed first: they may hold a log with its users.
    """
    parent, prefix = output.absolute().parent, f".{output.name}.scratch-"
    try:
        parent.mkdir(parents=True, exist_ok=True)
        _remove_abandoned(parent, prefix)
        folder = Path(tempfile.mkdtemp(prefix=f".{output.name}.new-", dir=parent))
    except OSError as error:
        raise OutputError(f"{output}: cannot be written ({error.strerror})") from error
    with _locked(folder):
        # Only now does the folder get the name by which others find it: what they find unlocked is abandoned.
        folder = folder.rename(parent / folder.name.replace(".new-", ".scratch-"))
        try:
            yield folder
        finally:
            with undisturbed():
                shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def room_checked(output: Path) -> Iterator[None]:
    """Turn the errors by which libraries say that a disk is full into one that names `output`."""
    try:
        yield
    except HalfwordError:
        raise
    except Exception as error:
        reason = next((reason for reason in _NO_ROOM if reason in str(error)), None)
        if reason is None:
            raise
        raise OutputError(
            f"{output}: no room left to write ({reason}); free some space, or name a folder on another disk"
        ) from error


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    with (folder / _LOCK).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
        except OSError:  # on a disk without locks nobody can tell whether the folder is in use, so it stays for ever
            (folder / _LOCK).unlink()
        lock.write(f"{os.getpid()}\n")  # for people who wonder whose folder this is
        lock.flush()
        yield


def _remove_abandoned(parent: Path, prefix: str) -> None:
    for folder in parent.iterdir():
        if folder.name.startswith(prefix) and _is_abandoned(folder):
            shutil.rmtree(folder, ignore_errors=True)


def _is_abandoned(folder: Path) -> bool:
    try:
        with (folder / _LOCK).open() as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # in use, or somebody else's
        return False
    return True
