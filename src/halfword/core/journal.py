"""The journal of live changes: a file that only grows, beside the model.

    magic word `HALFLIVE`, version (U32), then frames:
    length of the content (U32), CRC-32 of number and content (U32), number (U64), content (JSON)

The first frame says what the journal is. Every other one holds changes, and its number is that of its last change;
changes are numbered from 1. A frame is acknowledged once it is on disk. Writers take a lock on the file for as long as
they write, so there is one at any moment, and the system lets go of the lock of a process that dies. What a killed
writer has left of a frame is cut off by the next one. Compaction writes a new file aside, which takes the place of the
old one; readers notice by its first frame, which no other file has. (The number of a file is no name: the system
gives it to the next file once the old one is gone.)
"""

import fcntl
import json
import os
import struct
import threading
import time
import uuid
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from glob import escape
from pathlib import Path
from typing import Any, BinaryIO

from halfword.core.errors import LiveError
from halfword.core.live import Change

MAGIC = b"HALFLIVE"
VERSION = 1
_HEAD = struct.Struct("<IIQ")
OPENING = MAGIC + struct.pack("<I", VERSION)
HEAD_BYTES = _HEAD.size
LARGEST_FRAME = 64 * 2**20
_MOST_CHANGES = 10_000  # of one frame
_SHORTEST_HALF_LIFE = 1.0  # days
LONGEST_OPENING = 4096  # bytes up to the end of the first frame
_AT_ONCE = 8 * 2**20  # bytes that are read at once; a longer frame is read whole
_LEFT_OVER_SECONDS = 3600.0  # after which nobody writes on to what was written aside


@dataclass(frozen=True, slots=True)
class Frame:
    """Changes that were acknowledged together."""

    number: int  # of the last change
    time: float  # seconds since 1970
    changes: list[Any]  # as JSON has them: reading a change costs more than applying it


@dataclass(frozen=True, slots=True)
class About:
    """What the first frame says."""

    journal: str  # its name, the same for all its life
    begun: float  # seconds since 1970; what is typed later counts more, where counts decay
    half_life_days: float | None = None
    compacted: int = 0  # the number of the last change that compaction has seen
    compacted_bytes: int = 0  # of the frames that it wrote
    follows: str | None = None  # the server that it is a copy of
    learned: tuple[int, ...] = ()  # up to these numbers models have learned it; compaction keeps what is between apart
    file: str = ""  # the name of this file; compaction makes another one
    restored: int = 0  # how often the original of a copy went back to an earlier state

    def content(self) -> bytes:
        """Return it as the first frame."""
        fields = {name: getattr(self, name) for name in About.__slots__} | {"file": self.file or uuid.uuid4().hex}
        return _frame(self.compacted, json.dumps(fields).encode())

    def tells_apart(self, number: int) -> bool:
        """Tell whether the changes up to `number`, which a model has learned, can be told from the later ones."""
        return number == 0 or number >= self.compacted or number in self.learned


def _frame(number: int, content: bytes) -> bytes:
    return _HEAD.pack(len(content), zlib.crc32(content, zlib.crc32(number.to_bytes(8, "little"))), number) + content


def changes_frame(number: int, when: float, changes: Sequence[Any]) -> bytes:
    """Return a frame of changes as JSON has them."""
    return _frame(number, json.dumps({"time": when, "changes": changes}, ensure_ascii=False).encode())


def frame_bytes(head: bytes) -> int:
    """Return how long the frame with this head is."""
    length: int = _HEAD.unpack(head)[0]
    return HEAD_BYTES + length


def read_frames(data: bytes, begin: int = 0) -> Iterator[tuple[int, bytes, int]]:
    """Yield number, content and end of every whole frame, up to the first that is not."""
    while begin + _HEAD.size <= len(data):
        length, checksum, number = _HEAD.unpack_from(data, begin)
        end = begin + _HEAD.size + length
        if not 0 < length <= LARGEST_FRAME or end > len(data):
            return
        content = data[begin + _HEAD.size : end]
        if zlib.crc32(content, zlib.crc32(number.to_bytes(8, "little"))) != checksum:
            return
        yield number, content, end
        begin = end


def read_some(stream: BinaryIO, begin: int, most: int = _AT_ONCE) -> bytes:
    """Return bytes from a place on: about `most`, but one whole frame at least if it is there."""
    stream.seek(begin)
    data = stream.read(most)
    if len(data) == most:
        length, _, _ = _HEAD.unpack_from(data)
        data += stream.read(max(0, min(length, LARGEST_FRAME) + _HEAD.size - most))
    return data


def parse(number: int, content: bytes) -> Frame:
    """Return the changes of a frame."""
    match json.loads(content):
        case {"time": int() | float() as when, "changes": list(changes)}:
            return Frame(number, when, changes)
    raise LiveError(f"the frame {number} of the journal holds no changes; it was written by another version")


class Reader:
    """Reads what a journal says, and later what was added."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.number = 0  # of the last change that was read
        self._seen: tuple[int, int, int, int] | None = None  # what the file system said of the file
        self._opening = b""  # of the file that was read
        self._end = 0
        self._known = 0  # frames up to this number were read before
        self.about: About | None = None

    def poll(self) -> tuple[bool, list[Frame]]:
        """Return whether all earlier frames are void, and the next ones; ask again until there are none."""
        try:
            found = self.path.stat()
            seen = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)
            if seen == self._seen:
                return False, []
            with self.path.open("rb") as stream:
                opening = stream.read(LONGEST_OPENING)
                replaced = not self._opening or not opening.startswith(self._opening)
                restarted = replaced and self._begin(opening)
                data = read_some(stream, self._end)
        except FileNotFoundError:
            return False, []
        except OSError as error:
            raise LiveError(f"{self.path}: the journal cannot be read ({error.strerror})") from error
        frames = []
        begun = 0
        for number, content, end in read_frames(data):
            if number > self._known:
                frames.append(parse(number, content))
            self.number = max(self.number, number)
            begun = end
        self._end += begun
        self._seen = None if begun else seen
        return self.poll() if begun and not frames else (restarted, frames)

    @property
    def position(self) -> int:
        """How many bytes were read."""
        return self._end

    def is_of(self, opening: bytes) -> bool:
        """Tell whether it reads the file that begins so."""
        return self._opening == opening

    def _begin(self, data: bytes) -> bool:
        """Read the first frame of a file that was not seen before; tell whether it must be read from the beginning."""
        about, end = read_about(self.path, data)
        same = self.about is not None and (self.about.journal, self.about.restored) == (about.journal, about.restored)
        known = same and self.number >= about.compacted
        first = not self._opening
        self.about, self._opening, self._end = about, data[:end], end
        if known:
            self._end += about.compacted_bytes
            self._known = self.number  # what follows in the new file may have been read in the old one
            return False
        self.number = self._known = 0
        return not first


def read_about(path: Path, data: bytes) -> tuple[About, int]:
    """Return what the beginning of a journal says, and where its first frame ends."""
    if data[: len(MAGIC)] != MAGIC:
        raise LiveError(f"{path} is no journal of live changes; name another file")
    if data[: len(OPENING)] != OPENING:
        raise LiveError(f"{path}: this version reads journals of version {VERSION} only; update Halfword")
    for number, content, end in read_frames(data, len(OPENING)):
        fields = json.loads(content)
        known = {name: fields[name] for name in About.__slots__ if name in fields}
        return About(**known | {"compacted": number, "learned": tuple(fields.get("learned", ()))}), end
    raise LiveError(f"{path}: the beginning of the journal is damaged; restore it from a copy")


class _Ticket:
    __slots__ = ("changes", "done", "error", "number")

    def __init__(self, changes: Sequence[Change]) -> None:
        self.changes = changes
        self.done, self.error, self.number = False, None, 0  # type: bool, LiveError | None, int


class Writer:
    """Appends changes; threads that append at the same time share one write to the disk."""

    def __init__(
        self,
        path: Path,
        *,
        half_life_days: float | None = None,
        clock: Callable[[], float] = time.time,
        warn: Callable[[str], None] = lambda text: None,
    ) -> None:
        if half_life_days is not None and not half_life_days >= _SHORTEST_HALF_LIFE:
            raise LiveError(f"a half-life must be {_SHORTEST_HALF_LIFE:g} day at least, got {half_life_days}")
        self.path = path
        self._clock = clock
        self._warn = warn
        self._mutex, self._writing = threading.Lock(), threading.Lock()
        self._waiting: list[_Ticket] = []
        self._opening = b""  # of the file that was written last
        self._end, self._number = 0, 0
        self._make(half_life_days)

    def append(self, changes: Sequence[Change]) -> int:
        """Write changes; when it returns they are on disk. Returns the number of the last one."""
        ticket = _Ticket(changes)
        with self._mutex:
            self._waiting.append(ticket)
        with self._writing:
            if not ticket.done:
                with self._mutex:
                    batch, self._waiting = self._waiting, []
                self._commit(batch)
        if ticket.error is not None:
            raise ticket.error
        return ticket.number

    def _commit(self, batch: list[_Ticket]) -> None:
        error = None
        try:
            with self.locked() as descriptor:
                number, frames = self._number, []
                for ticket in batch:
                    for begin in range(0, len(ticket.changes), _MOST_CHANGES):
                        part = [each.to_json() for each in ticket.changes[begin : begin + _MOST_CHANGES]]
                        number += len(part)
                        frames.append(changes_frame(number, self._clock(), part))
                    ticket.number = number
                self._write(descriptor, b"".join(frames))
                self._number = number
        except LiveError as refused:
            error = refused
        except OSError as refused:
            error = LiveError(f"{self.path}: the journal cannot be written ({refused.strerror}); nothing was changed")
        for ticket in batch:
            ticket.done, ticket.error = True, error

    def _write(self, descriptor: int, data: bytes) -> None:
        try:
            _write_all(descriptor, data, self._end)
            os.fdatasync(descriptor)
        except OSError:
            os.ftruncate(descriptor, self._end)  # nobody was told that it was there
            raise
        self._end += len(data)

    @contextmanager
    def locked(self) -> Iterator[int]:
        """Hold the lock of the journal, once it is known to its end and has no damaged tail; yields a descriptor."""
        while True:
            try:
                descriptor = os.open(self.path, os.O_RDWR | os.O_CLOEXEC)
            except OSError as error:
                raise LiveError(f"{self.path}: the journal cannot be opened ({error.strerror})") from error
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
                mine = os.fstat(descriptor)
                found = self.path.stat()
                if (found.st_dev, found.st_ino) != (mine.st_dev, mine.st_ino):
                    continue  # compaction has replaced it while we waited
                self._catch_up(descriptor)
                yield descriptor
                return
            finally:
                os.close(descriptor)

    def _catch_up(self, descriptor: int) -> None:
        """Read what others have written; cut off what a killed writer has left of a frame."""
        opening = os.pread(descriptor, LONGEST_OPENING, 0)
        if not self._opening or not opening.startswith(self._opening):
            about, end = read_about(self.path, opening)
            if about.follows:
                raise LiveError(f"{self.path} is a copy of the journal of {about.follows}; send changes there")
            if self._opening:  # compaction has checked what it wrote, and others wait
                end, self._opening = end + about.compacted_bytes, opening[:end]
            else:
                self._opening = opening[:end]
            self._end, self._number = end, about.compacted
        size = os.fstat(descriptor).st_size
        data = os.pread(descriptor, max(size - self._end, 0), self._end) if size > self._end else b""
        end = 0
        for number, _, after in read_frames(data):
            self._number, end = max(self._number, number), after
        if end < len(data):
            self._cut(descriptor, data, end)
        self._end += end

    def _cut(self, descriptor: int, data: bytes, begin: int) -> None:
        where = self._end + begin
        if any(next(read_frames(data, place), None) for place in range(begin + 1, len(data) - _HEAD.size)):
            raise LiveError(
                f"{self.path} is damaged at byte {where}, and whole changes follow; restore it from a copy, "
                "or write what is readable to a new one with: halfword live export"
            )
        self._warn(f"{self.path}: {len(data) - begin} bytes of a change that was never acknowledged were cut off")
        os.ftruncate(descriptor, where)

    def _make(self, half_life_days: float | None) -> None:
        """Make the journal if there is none; two who do so at once make one."""
        if self.path.exists():
            with self.path.open("rb") as stream:
                about, _ = read_about(self.path, stream.read(LONGEST_OPENING))
            if half_life_days is not None and half_life_days != about.half_life_days:
                raise LiveError(f"{self.path} was begun with a half-life of {about.half_life_days} days; leave it out")
            return
        about = About(uuid.uuid4().hex, self._clock(), half_life_days)
        aside = self._aside()
        try:
            write_whole(aside, OPENING + about.content())
            try:
                os.link(aside, self.path)  # unlike a rename, never over one that is there
            except FileExistsError:
                pass
            finally:
                aside.unlink()
            sync_folder(self.path)
        except OSError as error:
            raise LiveError(f"{self.path}: the journal cannot be made ({error.strerror})") from error

    def _aside(self) -> Path:
        return self.path.with_name(f".{self.path.name}.{uuid.uuid4().hex}")

    def _remove_left_over(self) -> None:
        """Remove what was written aside by processes that were killed."""
        for path in self.path.parent.glob(f".{escape(self.path.name)}.{'[0-9a-f]' * 32}"):
            with suppress(OSError):
                if time.time() - path.stat().st_mtime > _LEFT_OVER_SECONDS:
                    path.unlink()

    def replace(self, about: About, body: bytes, read: Reader) -> None:
        """Put `body` in the place of all frames that were read; what was written since follows it."""
        self._remove_left_over()
        aside = self._aside()
        try:
            write_whole(aside, OPENING + about.content() + body)
            with self._writing, self.locked() as descriptor:
                if not read.is_of(self._opening):
                    raise LiveError(f"{self.path}: not compacted; another process did so meanwhile")
                rest = os.pread(descriptor, self._end - read.position, read.position)
                with aside.open("ab") as stream:
                    stream.write(rest)
                    stream.flush()
                    os.fsync(stream.fileno())
                aside.replace(self.path)
                sync_folder(self.path)
        except OSError as error:
            raise LiveError(f"{self.path}: not compacted ({error.strerror}); nothing was changed") from error
        finally:
            aside.unlink(missing_ok=True)


def write_whole(path: Path, data: bytes) -> None:
    """Write a file and wait until it is on disk."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
    try:
        _write_all(descriptor, data, 0)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _write_all(descriptor: int, data: bytes, place: int) -> None:
    view = memoryview(data)
    while view:
        written = os.pwrite(descriptor, view, place)
        place, view = place + written, view[written:]


def sync_folder(path: Path) -> None:
    """Wait until the name of a file is on disk."""
    descriptor = os.open(path.absolute().parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
