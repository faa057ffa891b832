"""Answers that were given lately. Typed prefixes repeat: the shorter, the more."""

from sys import getsizeof
from typing import NamedTuple

from halfword.search.model import Completion
from halfword.serve.http.chosen import Chosen

LARGEST_ANSWER = 20  # completions; who asks for more is no search box, and would fill the memory
_LARGEST_SHARE = 1 / 8  # of the memory, for one answer
_ENTRY_BYTES = 500  # of memory that an answer takes besides its completions
_COMPLETION_BYTES = 136  # of memory that a completion takes besides its text


class Key(NamedTuple):
    """What an answer depends on, besides what is in service."""

    typed: str  # as normalised
    wanted: int  # completions
    chosen: Chosen = ()


class Found(NamedTuple):
    """What a search brought."""

    typed: str  # the prefix as normalised: what most completions begin with
    completions: list[Completion]
    timed_out: bool = False  # whether the deadline ended the search


class Cache:
    """The last answers, bounded in number and in bytes; the one that was not asked for longest is forgotten first."""

    def __init__(self, most: int, most_bytes: int) -> None:
        self._most = most
        self._most_bytes = most_bytes
        self._kept: dict[Key, Found] = {}  # in the order of their last use
        self._version = 0
        self.size = 0  # bytes of memory, about

    def renew(self, version: int) -> None:
        """Forget all answers that were given with an earlier version of the live changes."""
        if version != self._version:
            self._kept.clear()
            self._version, self.size = version, 0

    def get(self, key: Key) -> Found | None:
        """Return an answer, if it is still here."""
        found = self._kept.pop(key, None)
        if found is not None:
            self._kept[key] = found
        return found

    def put(self, key: Key, found: Found) -> None:
        """Keep an answer."""
        size = _size_of(found)
        if not self._most or len(found.completions) > LARGEST_ANSWER or size > self._most_bytes * _LARGEST_SHARE:
            return
        self._forget(key)
        self._kept[key] = found
        self.size += size
        while len(self._kept) > self._most or self.size > self._most_bytes:
            self._forget(next(iter(self._kept)))

    def _forget(self, key: Key) -> None:
        found = self._kept.pop(key, None)
        if found is not None:
            self.size -= _size_of(found)


def _size_of(found: Found) -> int:
    texts = sum([getsizeof(each.text) + getsizeof(each.display) for each in found.completions])
    return _ENTRY_BYTES + getsizeof(found.typed) + _COMPLETION_BYTES * len(found.completions) + texts
