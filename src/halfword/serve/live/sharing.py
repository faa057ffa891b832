"""`GET /live/journal`: the journal as it is on disk, for servers that follow this one.

A follower names the file that it has a copy of, how many bytes of frames it has, and the head of the last one. If that
is how the journal begins, it gets the frames that come next, or 204 if there are none. Otherwise (compaction has made
another file, or this one was restored from an older copy) it gets the journal from its beginning. Every reply begins
with the first frame of the file, and the header says from which byte on frames follow.
"""

import asyncio
from pathlib import Path
from typing import BinaryIO

from halfword.core.errors import LiveError
from halfword.core.journal import HEAD_BYTES, LONGEST_OPENING, frame_bytes, read_about, read_frames, read_some
from halfword.serve.http.asked import query_fields
from halfword.serve.http.reply import Reply, refuse
from halfword.serve.http.request import Request

PATH = "/live/journal"
FROM = "x-journal-from"
MOST_BYTES = 2**20  # of frames in a reply; a longer frame comes whole
_NO_STORE = [(b"cache-control", b"no-store")]
_NAMES = (b"file", b"from", b"last")


class Sharing:
    """Answers servers that follow this one."""

    def __init__(self, journal: Path) -> None:
        self._journal = journal

    async def journal(self, request: Request) -> Reply:
        """Return what follows on what the asking server has."""
        fields = query_fields(request.query_string)
        unknown = [name.decode("utf-8", "replace")[:100] for name in fields if name not in _NAMES]
        if unknown:
            raise refuse("unknown_name", f"{unknown[0]} is not known; the parameters are: file, from, last")
        given = fields.get(b"from", b"0")
        if not given.isdigit() or len(given) > 18:
            raise refuse("bad_change", "from must be a number of bytes")
        last = fields.get(b"last", b"").decode("latin-1")
        return await asyncio.to_thread(self._read, fields.get(b"file", b"").decode("latin-1"), int(given), last)

    def _read(self, file: str, begin: int, last: str) -> Reply:
        try:
            with self._journal.open("rb") as stream:
                opening = stream.read(LONGEST_OPENING)
                about, end = read_about(self._journal, opening)
                if about.file != file or not _ends_there(stream, end, begin, last):
                    begin, file = 0, ""
                data = read_some(stream, end + begin, MOST_BYTES)
        except (OSError, LiveError):
            raise refuse("live_failed", "the journal cannot be read") from None
        whole = 0
        for _, _, after in read_frames(data):
            whole = after
        if file and not whole:
            return Reply(204, _NO_STORE, b"")
        headers = [(b"content-type", b"application/octet-stream"), (FROM.encode(), str(begin).encode()), *_NO_STORE]
        return Reply(200, headers, opening[:end] + data[:whole])


def _ends_there(stream: BinaryIO, opening: int, length: int, last: str) -> bool:
    """Tell whether a frame with the head `last` ends so many bytes behind the first frame."""
    if length == 0:
        return last == ""
    try:
        head = bytes.fromhex(last)
    except ValueError:
        return False
    if len(head) != HEAD_BYTES or not HEAD_BYTES <= frame_bytes(head) <= length:
        return False
    stream.seek(opening + length - frame_bytes(head))
    return stream.read(HEAD_BYTES) == head
