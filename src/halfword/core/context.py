"""The context of a request: what the same person searched before, the oldest query first."""

from collections.abc import Sequence

from halfword.core.errors import TextError
from halfword.core.text import DEFAULT, Profile, normalise_query

MOST_QUERIES = 20  # of a context are looked at, the last ones; `SessionLimits` in engine/sources/session.h
LONGEST_QUERY = 500  # characters; a longer text is no query, and is left out


def normalise_context(context: Sequence[str], profile: Profile = DEFAULT) -> list[str]:
    """Return the queries of a context as queries are stored; those that are empty or too long are left out.

    >>> normalise_context(["Flights  to PARIS", " "])
    ['flights to paris']
    """
    if isinstance(context, str):
        raise TextError(f"a context is a list of queries, got one text {context!r}; pass a list")
    wrong = next((query for query in context if not isinstance(query, str)), None)
    if wrong is not None:
        raise TextError(f"a query of the context must be text, got {wrong!r}")
    last = [query for query in context[-MOST_QUERIES:] if len(query) <= LONGEST_QUERY]
    return [normalised for query in last if (normalised := normalise_query(query, profile))]


def check_contexts(prefixes: Sequence[str], contexts: Sequence[Sequence[str]]) -> None:
    """Refuse contexts that are neither none nor one for each prefix."""
    if contexts and len(contexts) != len(prefixes):
        raise TextError(f"one context for each prefix was expected, got {len(contexts)} for {len(prefixes)} prefixes")
