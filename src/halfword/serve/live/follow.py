"""Following: keeps a copy of another server's journal, which the workers read like a journal of their own."""

import fcntl
import os
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import orjson

from halfword.core.errors import LiveError
from halfword.core.journal import (
    HEAD_BYTES,
    LARGEST_FRAME,
    LONGEST_OPENING,
    OPENING,
    About,
    read_about,
    read_frames,
    read_some,
    sync_folder,
)
from halfword.serve.live.sharing import FROM, MOST_BYTES, PATH

INTERVAL = 0.2  # seconds between two questions for news
_TIMEOUT = 10.0  # seconds for an answer
_LONGEST_PAUSE = 5.0  # seconds until a server that fails is asked again
_LOCK_SECONDS = 15.0  # for which a process that followed before may take to end
_LARGEST_REPLY = LONGEST_OPENING + max(MOST_BYTES, LARGEST_FRAME + HEAD_BYTES)


class Refused(LiveError):
    """The other server does not let itself be followed; asking again will hardly help."""


@dataclass(frozen=True, slots=True)
class Page:
    """What a server has answered: frames that follow on byte `begin` of its file."""

    about: About
    begin: int
    frames: bytes


class Remote:
    """The server that is followed."""

    def __init__(self, url: str, key: str) -> None:
        self.url = url.rstrip("/")
        parts = urlsplit(self.url)
        self._connects = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        self._host, self._path = parts.netloc, parts.path + PATH
        self._headers = {"X-API-Key": key}
        self._connection: HTTPConnection | None = None

    def ask(self, file: str, begin: int, last: str) -> Page | None:
        """Return what follows on a copy; None: nothing yet."""
        query = urlencode({"file": file, "from": begin, "last": last})
        try:
            if self._connection is None:
                self._connection = self._connects(self._host, timeout=_TIMEOUT)
            self._connection.request("GET", f"{self._path}?{query}", headers=self._headers)
            reply = self._connection.getresponse()
            body = reply.read(_LARGEST_REPLY + 1)
        except (OSError, HTTPException) as error:
            self.close()
            raise LiveError(f"{self.url} cannot be reached ({error or type(error).__name__})") from error
        if reply.status == 204:
            return None
        if reply.status != 200 or reply.headers.get(FROM) is None:
            self.close()
            raise _refusal(self.url, reply.status, body)
        return self._page(reply.headers[FROM], body)

    def _page(self, begin: str, body: bytes) -> Page:
        about, end = read_about(Path("its journal"), body[:LONGEST_OPENING])
        whole = end
        for _, _, after in read_frames(body, end):
            whole = after
        if whole != len(body) or not begin.isdecimal():
            self.close()
            raise LiveError(f"{self.url} sent changes whose checksum is wrong; they are asked for again")
        return Page(about, int(begin), body[end:])

    def close(self) -> None:
        """Begin anew with the next question."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _refusal(url: str, status: int, body: bytes) -> LiveError:
    try:
        said = str(orjson.loads(body)["error"]["message"])[:200]
    except (ValueError, KeyError, TypeError):
        said = "it is no Halfword server, or an older one"
    hints = {401: "; name a file with its key: --follow-key-file", 404: "; is it started with --live?"}
    if status in (429, 500, 502, 503, 504):
        return LiveError(f"{url} answers {status} ({said})")
    return Refused(f"{url} does not let itself be followed: {status} ({said}){hints.get(status, '')}")


class Copy:
    """The copy on disk: the frames of the other file as they are, behind a first frame of its own."""

    def __init__(self, path: Path, url: str) -> None:
        self._path = path
        self._url = url.rstrip("/")
        self.about: About | None = None
        self._opening = 0  # bytes of the first frame
        self.length = 0  # bytes of the others
        self.last = b""  # the head of the last one
        if path.exists():
            self._open()

    @property
    def file(self) -> str:
        """The name of the file that it is a copy of."""
        return "" if self.about is None else self.about.file

    def _open(self) -> None:
        """Find out how far the copy goes; what was half written is cut off."""
        with self._path.open("r+b") as stream:
            about, self._opening = read_about(self._path, stream.read(LONGEST_OPENING))
            if about.follows != self._url:
                whose = "has changes of its own" if about.follows is None else f"is a copy of {about.follows}"
                raise Refused(f"{self._path} {whose}; name another file with --live, or remove it")
            while self._take(read_some(stream, self._opening + self.length)):
                pass
            stream.truncate(self._opening + self.length)
        self.about = about

    def _take(self, data: bytes) -> int:
        """Note the whole frames of what follows; returns their bytes."""
        whole = 0
        for _, _, after in read_frames(data):
            self.last, whole = data[whole : whole + HEAD_BYTES], after
        self.length += whole
        return whole

    def append(self, frames: bytes) -> None:
        """Add frames; should they be lost in a crash, they are asked for again."""
        with self._path.open("r+b") as stream:
            stream.seek(self._opening + self.length)
            stream.write(frames)
        self._take(frames)

    def begin(self, page: Page, more: Callable[["Copy"], Page | None]) -> None:
        """Take the place of the copy with another file, once all that compaction has written of it is here."""
        went_back = self.about is not None and self.about.file == page.about.file
        restored = (0 if self.about is None else self.about.restored) + went_back
        about = replace(page.about, follows=self._url, restored=restored)
        fresh = Copy(self._path.with_name(f".{self._path.name}.{uuid.uuid4().hex}"), self._url)
        try:
            opening = OPENING + about.content()
            fresh._path.write_bytes(opening)
            fresh.about, fresh._opening = about, len(opening)
            fresh.append(page.frames)
            while fresh.length < about.compacted_bytes:
                next_page = more(fresh)
                if next_page is None or next_page.about.file != about.file or next_page.begin != fresh.length:
                    raise LiveError(f"{self._url} has compacted its journal meanwhile; it is asked for again")
                fresh.append(next_page.frames)
            with fresh._path.open("rb") as stream:
                os.fsync(stream.fileno())
            fresh._path.replace(self._path)
            sync_folder(self._path)
        finally:
            fresh._path.unlink(missing_ok=True)
        self.about, self._opening, self.length, self.last = about, fresh._opening, fresh.length, fresh.last


class Follower:
    """Brings the copy up to date, again and again."""

    def __init__(self, path: Path, remote: Remote) -> None:
        self._path = path
        self._remote = remote
        self._copy: Copy | None = None

    def step(self) -> bool:
        """Ask once; tell whether there may be more at once. Raises LiveError if that failed."""
        try:
            copy = self._copy = self._copy or Copy(self._path, self._remote.url)
            page = self._ask(copy)
            if page is None:
                return False
            if page.about.file == copy.file and page.begin == copy.length:
                copy.append(page.frames)
            elif page.begin == 0:
                copy.begin(page, self._ask)
            else:
                raise LiveError(f"{self._remote.url} sent changes that were not asked for")
            return len(page.frames) >= MOST_BYTES // 2
        except OSError as error:
            self._copy = None  # it is looked at again
            raise LiveError(f"{self._path}: the copy cannot be written ({error.strerror})") from error

    def _ask(self, copy: Copy) -> Page | None:
        return self._remote.ask(copy.file, copy.length, copy.last.hex())

    def catch_up(self) -> None:
        """Ask until there is nothing new."""
        try:
            with alone(self._path):
                while self.step():
                    pass
        finally:
            self._begin_anew()

    def _begin_anew(self) -> None:
        """Forget copy and connection: another process may have gone on with them."""
        self._copy = None
        self._remote.close()

    def follow(self, wanted: Callable[[], bool], tell: Callable[[str, str], None]) -> None:
        """Ask on and on while it is `wanted`; what is wrong, and that it is well again, is told once."""
        failure, pause = "", INTERVAL
        self._begin_anew()
        with alone(self._path):
            while wanted():
                try:
                    while self.step() and wanted():
                        pass
                    if failure:
                        tell("live changes followed again", self._remote.url)
                    failure, pause = "", INTERVAL
                except LiveError as error:
                    if str(error) != failure:
                        tell("live changes not followed", str(error))
                    failure, pause = str(error), min(2 * pause, _LONGEST_PAUSE)
                time.sleep(pause)


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Be the only process that writes to a copy."""
    lock = os.open(path.with_name(f".{path.name}.following"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        end = time.monotonic() + _LOCK_SECONDS
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > end:
                    raise Refused(f"{path}: another server keeps its copy there; name another file") from None
                time.sleep(INTERVAL)
        yield
    finally:
        os.close(lock)
