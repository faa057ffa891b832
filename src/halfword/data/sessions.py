"""Sessions: what one person searched one after the other, and what was searched before each query."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

CONTEXT = 10  # earlier queries that make the context of a row, as a search box sends them


class TypedRow(NamedTuple):
    """A query as it was typed once, and the queries before it in its session, the oldest first."""

    query: str
    context: tuple[str, ...] = ()


def with_context(sessions: Sequence[Sequence[str]], size: int = CONTEXT) -> Iterator[TypedRow]:
    """Yield every query of the sessions with at most `size` queries before it.

    >>> list(with_context([["new york", "new york hotels"]]))[1]
    TypedRow(query='new york hotels', context=('new york',))
    """
    for session in sessions:
        for place, query in enumerate(session):
            yield TypedRow(query, tuple(session[max(0, place - size) : place]))
