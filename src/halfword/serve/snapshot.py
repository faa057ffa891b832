"""Copies of the files in service that nobody can change.

A model is mapped into memory. If somebody overwrites or shortens the file that is mapped, answers become nonsense or
the process dies (SIGBUS). So the server maps a copy, which all workers share: in sealed memory, or for large files in
a file on disk that has no name.
"""

import fcntl
import json
import os
import socket
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from halfword.core.errors import ModelFileError
from halfword.core.files import open_regular

Stamp = tuple[tuple[int, int, int] | None, ...]
State = tuple[int, int]  # size and time of the last change
_SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE | fcntl.F_SEAL_SEAL
_MOST_FILES = 16
_LONGEST_MESSAGE = 65_536
_LARGEST_STEP = 2**30  # bytes copied by one call
_DISK = Path("/var/tmp")  # for copies, where the folder of the file cannot be written to; unlike /tmp not in memory


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Files, and for each a descriptor of its copy, or of itself where there is no copy; -1: it cannot be opened."""

    files: tuple[Path, ...]
    copies: tuple[int, ...]
    originals: tuple[State | None, ...] = ()  # how files were that have no copy; None: there is one

    @property
    def paths(self) -> list[Path]:
        """Where the content of each file can be read."""
        pairs = zip(self.files, self.copies, strict=True)
        return [file if copy < 0 else Path(f"/proc/self/fd/{copy}") for file, copy in pairs]

    @property
    def uncopied(self) -> list[Path]:
        """The files that are read where they are."""
        return [file for file, state in zip(self.files, self.originals, strict=False) if state is not None]

    @property
    def overwritten(self) -> bool:
        """Tell whether the first file, which stays mapped, has no copy and was changed since."""
        state = self.originals[0] if self.originals else None
        return state is not None and _state_of(self.copies[0]) != state

    def close(self) -> None:
        """Give up the copies; what is mapped of them stays mapped."""
        for copy in self.copies:
            if copy >= 0:
                os.close(copy)

    def named(self, text: str) -> str:
        """Put the names of the files in the place of those of their copies."""
        for file, path in zip(self.files, self.paths, strict=True):
            text = text.replace(str(path), str(file))
        return text

    def send(self, channel: socket.socket) -> None:
        """Hand the copies over to another process."""
        message = {"files": [str(file) for file in self.files], "copied": [copy >= 0 for copy in self.copies]}
        socket.send_fds(channel, [json.dumps(message).encode()], [copy for copy in self.copies if copy >= 0])

    @classmethod
    def received(cls, message: dict[str, list[str]], descriptors: Sequence[int]) -> "Snapshot":
        """Return what another process has sent."""
        left = iter(descriptors)
        copies = tuple(next(left) if copied else -1 for copied in message["copied"])
        return cls(tuple(map(Path, message["files"])), copies)


def receive(channel: socket.socket) -> tuple[dict[str, list[str]], list[int]]:
    """Receive a message and the descriptors that came with it; empty when the other side is gone."""
    data, descriptors, _, _ = socket.recv_fds(channel, _LONGEST_MESSAGE, _MOST_FILES)
    return json.loads(data) if data else {}, descriptors


def take(files: Sequence[Path], largest: int) -> Snapshot:
    """Copy files: to memory up to `largest` bytes, larger ones to disk; none at all if `largest` is 0."""
    held: list[tuple[int, State | None]] = []
    try:
        for file in files:
            held.append(_hold(file, largest))
    except BaseException:
        Snapshot(tuple(files[: len(held)]), tuple(copy for copy, _ in held)).close()
        raise
    return Snapshot(tuple(files), tuple(copy for copy, _ in held), tuple(state for _, state in held))


def stamp_of(files: Sequence[Path]) -> Stamp:
    """Return what changes when files change."""
    return tuple(map(_stamp_of, files))


def _stamp_of(file: Path) -> tuple[int, int, int] | None:
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


def _hold(file: Path, largest: int) -> tuple[int, State | None]:
    """Return the descriptor of a copy, or of the file itself and how it is now; -1 if it cannot be opened."""
    try:
        with open_regular(file) as stream:
            before = _state_of(stream.fileno())
            copy = _copy(file, stream.fileno(), largest) if largest else -1
            if copy < 0:
                return os.dup(stream.fileno()), before
            if _state_of(stream.fileno()) != before:
                os.close(copy)
                raise ModelFileError(f"{file} changed while it was read; it is read again once it stands still")
            return copy, None
    except OSError:
        return -1, None  # whoever reads the file itself can say better what is wrong with it


def _copy(file: Path, source: int, largest: int) -> int:
    """Return the descriptor of a copy; -1 where there is no room for one."""
    if os.fstat(source).st_size <= largest:
        with (
            suppress(OSError),
            _closed(os.memfd_create(file.name[:200], os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)) as copy,
        ):
            _fill(copy, source)
            fcntl.fcntl(copy, fcntl.F_ADD_SEALS, _SEALS)
            return os.dup(copy)
    for folder in (file.parent, _DISK):
        with suppress(OSError), tempfile.TemporaryFile(dir=folder) as stream:
            _fill(stream.fileno(), source)
            return os.dup(stream.fileno())
    return -1


def _fill(copy: int, source: int) -> None:
    """Copy a whole file inside the kernel; a file system that can share blocks between files copies nothing."""
    at = 0
    while count := _copy_some(copy, source, at):
        at += count


def _copy_some(copy: int, source: int, at: int) -> int:
    try:
        return os.copy_file_range(source, copy, _LARGEST_STEP, at)
    except OSError:  # memory and disk are different file systems
        return os.sendfile(copy, source, at, _LARGEST_STEP)


@contextmanager
def _closed(descriptor: int) -> Iterator[int]:
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _state_of(descriptor: int) -> State:
    status = os.fstat(descriptor)
    return status.st_size, status.st_mtime_ns
