"""The paper's metrics and ours, as pure functions of a query and the completions offered for its prefixes."""

from collections.abc import Iterable, Sequence
from hashlib import md5

SHORTEST_PREFIX = 2


def hashed_prefix_length(query: str) -> int:
    """Return the prefix length at which the paper measures `query`: 2 to len(query) - 1, fixed by a hash.

    >>> hashed_prefix_length("weather")
    3
    """
    digest = md5(f"{query}0".encode(), usedforsecurity=False).hexdigest()
    return SHORTEST_PREFIX + int(digest, 16) % (len(query) - SHORTEST_PREFIX)


def rank(query: str, texts: Sequence[str]) -> int | None:
    """Return the rank of `query` in `texts`, from 1, or None when it is not there.

    >>> rank("weather", ["web", "weather"])
    2
    """
    return texts.index(query) + 1 if query in texts else None


def partial_rank(query: str, texts: Sequence[str]) -> int | None:
    """Return the rank of the first text that is `query`, or whole words from its beginning.

    >>> partial_rank("new york times", ["new yorker", "new york"])
    2
    """
    matches = (place for place, text in enumerate(texts, 1) if query == text or query.startswith(f"{text} "))
    return next(matches, None)


def reciprocal(rank: int | None) -> float:
    """Return 1/rank, or 0.0 where there is none.

    >>> reciprocal(4), reciprocal(None)
    (0.25, 0.0)
    """
    return 1 / rank if rank else 0.0


def longest_recoverable(query: str) -> int:
    """Return how many characters can be taken off `query` before its prefix gets too short to be asked."""
    return len(query) - SHORTEST_PREFIX


def share_of_keystrokes_saved(query: str, typed: int | None) -> float:
    """Return the share of keys spared by accepting, with one key, after `typed` characters (None: never offered).

    >>> share_of_keystrokes_saved("weather in", typed=4)
    0.5
    """
    return max(0, len(query) - typed - 1) / len(query) if typed is not None else 0.0


def mean(values: Iterable[float]) -> float | None:
    """Return the mean, or None of nothing.

    >>> mean([1.0, 0.0]), mean([])
    (0.5, None)
    """
    listed = list(values)
    return sum(listed) / len(listed) if listed else None
