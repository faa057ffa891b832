"""When a new query may be learned from traffic: once enough different clients have typed it on one day.

Until then nothing is written anywhere. What is kept, in memory that the workers share, is a salted hash of the query
and of each client. The salt is drawn anew every day, and all hashes are forgotten with it. The table has a fixed size:
where it is full, the entry that is least typed gives way.
"""

import hashlib
import mmap
import os
import time
from collections.abc import Callable
from typing import Any

_SETS, _WAYS = 16_384, 4
_SALT = 16  # bytes
_DAY_SECONDS = 86_400


class Threshold:
    """Counts the different clients that typed a query today; all workers count together."""

    def __init__(self, clients: int, clock: Callable[[], float] = time.time) -> None:
        self._needed = clients
        self._clock = clock
        self._width = 2 + clients  # of an entry: hash of the query, times typed, hashes of clients
        self._memory = mmap.mmap(-1, 32 + _SETS * _WAYS * self._width * 8)
        self._today: Any = memoryview(self._memory)[:8].cast("Q")
        self._table: Any = memoryview(self._memory)[32:].cast("Q")

    def typed(self, text: str, client: str) -> int:
        """Count a query of a client; return how often it is to be counted now: 0 until enough have typed it."""
        salt = self._salt()
        entry = self._entry_of(_hash(text, salt))
        self._table[entry + 1] += 1
        places, mine = range(entry + 2, entry + self._width), _hash(client, salt)
        known = [self._table[place] for place in places]
        if 0 not in known:
            return 1
        if mine in known:
            return 0
        self._table[places[known.index(0)]] = mine
        return int(self._table[entry + 1]) if known.count(0) == 1 else 0

    def _salt(self) -> bytes:
        """Return the salt of today; on a new day it is drawn anew, and everything is forgotten."""
        today = int(self._clock() // _DAY_SECONDS) + 1
        if self._today[0] != today:
            self._memory[32:] = bytes(len(self._memory) - 32)
            self._memory[8 : 8 + _SALT] = os.urandom(_SALT)
            self._today[0] = today
        return self._memory[8 : 8 + _SALT]

    def _entry_of(self, text: int) -> int:
        first = text % _SETS * _WAYS * self._width
        entries = range(first, first + _WAYS * self._width, self._width)
        for entry in entries:
            if self._table[entry] == text:
                return entry
        least = min(entries, key=lambda entry: int(self._table[entry + 1]))
        for place in range(least, least + self._width):
            self._table[place] = 0
        self._table[least] = text
        return least


def _hash(text: str, salt: bytes) -> int:
    return (
        int.from_bytes(hashlib.blake2b(text.encode("utf-8", "replace"), key=salt, digest_size=8).digest(), "big") or 1
    )
