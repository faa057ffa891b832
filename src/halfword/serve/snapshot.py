"""Copies of the files in service that nobody can change.

A model is mapped into memory. If somebody overwrites or shortens the file that is mapped, answers become nonsense or
the process dies (SIGBUS). So the server maps a copy in memory, which is sealed; all workers share the one copy.
"""

import fcntl
import json
import os
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from halfword.core.errors import ModelFileError
from halfword.core.files import open_regular

Stamp = tuple[tuple[int, int, int] | None, ...]
_SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE | fcntl.F_SEAL_SEAL
_MOST_FILES = 16
_LONGEST_MESSAGE = 65_536


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Files, and for each the descriptor of its copy; -1 where there is none, and the file itself is read."""

    files: tuple[Path, ...]
    copies: tuple[int, ...]

    @property
    def paths(self) -> list[Path]:
        """Where the content of each file can be read."""
        pairs = zip(self.files, self.copies, strict=True)
        return [file if copy < 0 else Path(f"/proc/self/fd/{copy}") for file, copy in pairs]

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
    """Copy files of up to `largest` bytes."""
    copies: list[int] = []
    try:
        for file in files:
            copies.append(_copy(file, largest))
    except BaseException:
        Snapshot(tuple(files[: len(copies)]), tuple(copies)).close()
        raise
    return Snapshot(tuple(files), tuple(copies))


def stamp_of(files: Sequence[Path]) -> Stamp:
    """Return what changes when files change."""
    return tuple(map(_stamp_of, files))


def _stamp_of(file: Path) -> tuple[int, int, int] | None:
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


def _copy(file: Path, largest: int) -> int:
    """Return the descriptor of a sealed copy; -1 where there is none to be had, or no file."""
    try:
        with open_regular(file) as stream:
            before = os.fstat(stream.fileno())
            if before.st_size > largest:
                return -1
            copy = os.memfd_create(file.name[:200], os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
            try:
                while os.sendfile(copy, stream.fileno(), None, 2**30):
                    pass
                after = os.fstat(stream.fileno())
                if (after.st_size, after.st_mtime_ns) != (before.st_size, before.st_mtime_ns):
                    raise ModelFileError(f"{file} changed while it was read; it is read again once it stands still")
                fcntl.fcntl(copy, fcntl.F_ADD_SEALS, _SEALS)
            except BaseException:
                os.close(copy)
                raise
    except OSError:
        return -1  # whoever reads the file itself can say better what is wrong with it
    return copy
