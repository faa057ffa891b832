"""A completer that leaves out what a blocklist holds."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from halfword.core.filters import SHIPPED, Blocklist, read_blocklist
from halfword.core.options import DEFAULTS, MOST_COMPLETIONS, SearchOptions
from halfword.search.model import Completion


class BatchCompleter(Protocol):
    """What can be filtered: the completers that `load` returns."""

    def complete(self, prefix: str, options: SearchOptions = DEFAULTS) -> list[Completion]:
        """Return the likeliest completions of `prefix`, best first."""
        ...

    def complete_batch(self, prefixes: Sequence[str], options: SearchOptions = DEFAULTS) -> list[list[Completion]]:
        """Complete many prefixes."""
        ...


class Filtered:
    """A completer that leaves out what a blocklist holds, and asks for more to fill the gaps."""

    def __init__(self, completer: BatchCompleter, blocklist: Blocklist) -> None:
        self._completer = completer
        self._blocklist = blocklist

    def complete(self, prefix: str, options: SearchOptions = DEFAULTS) -> list[Completion]:
        """Return the likeliest completions of `prefix` that may be shown, best first."""
        return self._refilled(prefix, self._completer.complete(prefix, options), options)

    def complete_batch(self, prefixes: Sequence[str], options: SearchOptions = DEFAULTS) -> list[list[Completion]]:
        """Complete many prefixes on all cores; those that lose a completion are asked once more."""
        answers = self._completer.complete_batch(prefixes, options)
        return [self._refilled(prefix, found, options) for prefix, found in zip(prefixes, answers, strict=True)]

    def _refilled(self, prefix: str, found: list[Completion], options: SearchOptions) -> list[Completion]:
        allowed = self._blocklist.allowed(found)
        if not len(allowed) < len(found) == options.count:
            return allowed
        # There may be more behind those that were struck out; those that were not stay.
        more = replace(options, count=min(2 * options.count + 10, MOST_COMPLETIONS))
        known = {completion.text for completion in allowed}
        others = [
            each for each in self._blocklist.allowed(self._completer.complete(prefix, more)) if each.text not in known
        ]
        filled = [*allowed, *others[: options.count - len(allowed)]]
        return sorted(filled, key=lambda completion: (-completion.score, completion.text))


def filtered(completer: BatchCompleter) -> Filtered:
    """Return `completer` without what the shipped blocklist holds."""
    return Filtered(completer, read_blocklist(SHIPPED))
