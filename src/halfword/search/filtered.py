"""A completer that leaves out what is not to be suggested."""

from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any, Protocol, Unpack

from halfword.core.filters import Blocklist, FilterOptions, read_blocklist
from halfword.core.options import DEFAULTS, MOST_COMPLETIONS, SearchFields, SearchOptions, with_fields
from halfword.core.text import normalise_prefix
from halfword.search.model import Answer

SHORTEST_DEADLINE_MS = 0.1  # with less time left than this, a further search finds nothing
SEARCHED_WHEN_BLOCKED = 8  # completions per one that is wanted, where the prefix alone is blocked
FILTER = FilterOptions()


class BatchCompleter(Protocol):
    """What can be filtered: the models that `load` returns."""

    def complete(self, prefix: str, options: SearchOptions = DEFAULTS, *, context: Sequence[str] = ()) -> Answer:
        """Return the likeliest completions of `prefix`, best first."""
        ...

    def complete_batch(
        self, prefixes: Sequence[str], options: SearchOptions = DEFAULTS, *, contexts: Sequence[Sequence[str]] = ()
    ) -> list[Answer]:
        """Complete many prefixes."""
        ...


class Filtered:
    """A completer that leaves out what a blocklist blocks, and asks for more until the gaps are filled."""

    def __init__(self, completer: BatchCompleter, blocklist: Blocklist) -> None:
        self._completer = completer
        self._blocklist = blocklist

    def complete(
        self,
        prefix: str,
        options: SearchOptions = DEFAULTS,
        *,
        context: Sequence[str] = (),
        **fields: Unpack[SearchFields],
    ) -> Answer:
        """Return the likeliest completions of `prefix` that may be shown, best first."""
        options = with_fields(options, fields)
        began = perf_counter()
        if self._refuses(prefix):
            return Answer()
        return self._filled(prefix, context, self._ask(prefix, options, context), options, began)

    def complete_batch(
        self,
        prefixes: Sequence[str],
        options: SearchOptions = DEFAULTS,
        *,
        contexts: Sequence[Sequence[str]] = (),
        **fields: Unpack[SearchFields],
    ) -> list[Answer]:
        """Complete many prefixes on all cores; those that lose a completion are asked again one by one."""
        options = with_fields(options, fields)
        given: dict[str, Any] = {"contexts": contexts} if contexts else {}
        answers = self._completer.complete_batch(prefixes, options, **given)
        asked = zip(prefixes, contexts or [()] * len(prefixes), answers, strict=True)
        return [
            Answer() if self._refuses(prefix) else self._filled(prefix, context, found, options, perf_counter())
            for prefix, context, found in asked
        ]

    def _ask(self, prefix: str, options: SearchOptions, context: Sequence[str]) -> Answer:
        if not context:  # not every completer takes one
            return self._completer.complete(prefix, options)
        return self._completer.complete(prefix, options, context=context)

    def _refuses(self, prefix: str) -> bool:
        """Tell whether a prefix is blocked whatever follows; what is no text is left to the completer to refuse."""
        return isinstance(prefix, str) and self._blocklist.refuses(normalise_prefix(prefix))

    def _filled(
        self, prefix: str, context: Sequence[str], found: Answer, options: SearchOptions, began: float
    ) -> Answer:
        """Return what of `found` may be shown; if some may not, search for twice as many until there are enough.

        A search for more can find other scores. So completions of the first search stay as they are, and those of
        later searches only fill the gaps, at the end.
        """
        allowed = self._blocklist.allowed(found)
        asked, timed_out = options.count, found.timed_out
        if len(allowed) == len(found):
            return Answer(allowed, timed_out=timed_out)
        most = self._most(prefix, options)
        while len(allowed) < options.count and len(found) == asked < most:
            asked = min(2 * asked, most)
            more = _more(options, asked, began)
            if more is None:
                timed_out = True
                break
            found = self._ask(prefix, more, context)
            known = {completion.text for completion in allowed}
            new = [each for each in self._blocklist.allowed(found) if each.text not in known]
            allowed = [*allowed, *new[: options.count - len(allowed)]]
            timed_out = timed_out or found.timed_out
        return Answer(allowed, timed_out=timed_out)

    def _most(self, prefix: str, options: SearchOptions) -> int:
        """Return how many completions are worth looking at: few if the prefix alone is blocked, as most are then."""
        is_blocked = self._blocklist.blocks(normalise_prefix(prefix).rstrip())
        return min(MOST_COMPLETIONS, SEARCHED_WHEN_BLOCKED * options.count) if is_blocked else MOST_COMPLETIONS


def _more(options: SearchOptions, count: int, began: float) -> SearchOptions | None:
    """Return `options` for `count` completions in what is left of the deadline; None if nothing is left."""
    if options.deadline_ms is None:
        return replace(options, count=count)
    left = options.deadline_ms - (perf_counter() - began) * 1000
    return replace(options, count=count, deadline_ms=left) if left >= SHORTEST_DEADLINE_MS else None


def filtered(completer: BatchCompleter, options: FilterOptions = FILTER) -> Filtered:
    """Return `completer` without what the rules that ship, and those of the user's own, block."""
    return Filtered(completer, read_blocklist(*options.blocklists, allow=options.allow))
