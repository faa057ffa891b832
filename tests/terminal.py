"""A terminal for tests and pictures: a pseudo-terminal, and an emulator that knows what stands on its screen."""

import fcntl
import os
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from typing import Self

import pyte


class Terminal:
    """A terminal of 80×24 in which `halfword try` runs."""

    def __init__(self, *arguments: str) -> None:
        self._ours, theirs = os.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self._before = termios.tcgetattr(theirs)
        self.screen = pyte.Screen(80, 24)
        self._stream = pyte.ByteStream(self.screen)
        self._theirs = theirs
        self._seen = b""
        command = [sys.executable, "-m", "halfword", "try", *arguments]
        environment = os.environ | {"TERM": "xterm", "LC_ALL": "C.UTF-8"}
        self._process = subprocess.Popen(
            command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment, start_new_session=True
        )

    def __enter__(self) -> Self:
        self.wait_for(lambda text: "Esc leaves" in text)
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._ours)
        os.close(self._theirs)

    @property
    def text(self) -> str:
        """What stands on the screen."""
        return "\n".join(line.rstrip() for line in self.screen.display).strip()

    def type(self, keys: str) -> None:
        """Press keys, one after the other."""
        os.write(self._ours, keys.encode())

    def wait_for(self, sight: Callable[[str], bool], seconds: float = 20) -> str:
        """Return the screen once it shows what is awaited."""
        end = time.monotonic() + seconds
        while not sight(self.text):
            assert time.monotonic() < end, f"waited in vain before this screen:\n{self.text}"
            self._read()
        return self.text

    def leave(self, key: str) -> None:
        """Leave by `key`: the status is 0, the user's own screen is back, and the terminal is as it was."""
        self.type(key)
        assert self._process.wait(timeout=20) == 0
        self._read()
        assert self._seen.count(b"\x1b[?1049h") == self._seen.count(b"\x1b[?1049l") == 1
        assert termios.tcgetattr(self._theirs) == self._before

    def _read(self) -> None:
        if select.select([self._ours], [], [], 0.1)[0]:
            got = os.read(self._ours, 65_536)
            self._seen += got
            self._stream.feed(got)
