"""Answers that were given lately. Typed prefixes repeat: the shorter, the more."""

from typing import NamedTuple

from halfword.search.model import Completion

_LARGEST = 20  # completions; who asks for more is no search box, and would fill the memory


class Found(NamedTuple):
    """What a search brought."""

    typed: str  # the prefix as normalised: what every completion begins with
    completions: list[Completion]
    whole: bool = True  # False when the deadline ended the search


class Cache:
    """The last so many answers; the one that was longest not asked for gives way."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._kept: dict[tuple[str, int], Found] = {}

    def get(self, typed: str, count: int) -> Found | None:
        """Return an answer, if it is still here."""
        found = self._kept.pop((typed, count), None)
        if found is not None:
            self._kept[typed, count] = found  # to the end of the dictionary, which keeps the order
        return found

    def put(self, count: int, found: Found) -> None:
        """Keep an answer."""
        if not self._size or len(found.completions) > _LARGEST:
            return
        if len(self._kept) >= self._size:
            del self._kept[next(iter(self._kept))]
        self._kept[found.typed, count] = found
