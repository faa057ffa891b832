"""The searches in plain Python: slow, short, and the specification that the engine must equal."""

import math
from collections.abc import Mapping

from halfword.complete import DEFAULTS, Completion, SearchOptions
from halfword.text import DEFAULT, Profile, normalise_prefix


class PlainPopular:
    """Most popular completion by looking at every query."""

    def __init__(self, counts: Mapping[str, int], profile: Profile = DEFAULT) -> None:
        self._counts = counts
        self._profile = profile

    def complete(self, prefix: str, options: SearchOptions = DEFAULTS) -> list[Completion]:
        """Return the queries that begin with `prefix` and are longer: higher counts first, ties by text."""
        prefix = normalise_prefix(prefix, self._profile)
        matching = {query: count for query, count in self._counts.items() if query.startswith(prefix)}
        if options.echo and prefix.endswith(" ") and prefix[:-1] in self._counts:
            matching[prefix[:-1]] = self._counts[prefix[:-1]]
        total = sum(matching.values())
        ranked = sorted(matching.items(), key=lambda item: (-item[1], item[0]))
        offered = [(query, count) for query, count in ranked if query != prefix]
        return [Completion(query, math.log(count / total), "popular") for query, count in offered[: options.count]]
