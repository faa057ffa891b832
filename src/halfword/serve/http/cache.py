"""Answers that were given lately. Typed prefixes repeat: the shorter, the more."""

from sys import getsizeof
from typing import NamedTuple

from halfword.core.options import Typos
from halfword.search.model import Completion

LARGEST_ANSWER = 20  # completions; who asks for more is no search box, and would fill the memory
_LARGEST_SHARE = 1 / 8  # of the memory, for one answer
_ENTRY_BYTES = 500  # of memory that an answer takes besides its completions
_COMPLETION_BYTES = 136  # of memory that a completion takes besides its text
_Key = tuple[str, int, Typos]  # the prefix as normalised, completions wanted, whether mistakes are corrected


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
        self._kept: dict[_Key, Found] = {}  # in the order of their last use
        self.size = 0  # bytes of memory, about

    def get(self, typed: str, count: int, typos: Typos = Typos.AUTO) -> Found | None:
        """Return an answer, if it is still here."""
        found = self._kept.pop((typed, count, typos), None)
        if found is not None:
            self._kept[typed, count, typos] = found
        return found

    def put(self, count: int, found: Found, typos: Typos = Typos.AUTO) -> None:
        """Keep an answer."""
        size = _size_of(found)
        if not self._most or len(found.completions) > LARGEST_ANSWER or size > self._most_bytes * _LARGEST_SHARE:
            return
        self._forget((found.typed, count, typos))
        self._kept[found.typed, count, typos] = found
        self.size += size
        while len(self._kept) > self._most or self.size > self._most_bytes:
            self._forget(next(iter(self._kept)))

    def _forget(self, key: _Key) -> None:
        found = self._kept.pop(key, None)
        if found is not None:
            self.size -= _size_of(found)


def _size_of(found: Found) -> int:
    texts = sum([getsizeof(completion.text) for completion in found.completions])
    return _ENTRY_BYTES + getsizeof(found.typed) + _COMPLETION_BYTES * len(found.completions) + texts
