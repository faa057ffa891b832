"""Live changes in plain Python, which the engine must equal: what the log and the changes add up to."""

from collections.abc import Iterable, Mapping

from halfword.core.folding import keys
from halfword.core.live import Change, Kind


class PlainLive:
    """The changes of one moment over the counts of a log."""

    def __init__(self, counts: Mapping[str, int], changes: Iterable[Change] = ()) -> None:
        self._counts = counts
        self._typed: dict[str, float] = {}
        self._weights: dict[str, float] = {}
        self._boosts: dict[str, float] = {}
        self._removed: set[str] = set()  # keys
        self._beginnings: set[str] = set()
        for change in changes:
            self._apply(change)

    def _apply(self, change: Change) -> None:
        text, number, own = change.text, change.number, removal_keys(change.text)
        match change.kind:
            case Kind.TYPED:
                self._typed[text] = self._typed.get(text, 0.0) + number
            case Kind.WEIGHT:
                self._weights[text] = number
            case Kind.BOOST:
                self._boosts[text] = number
            case Kind.REMOVED:
                self._removed |= own
            case Kind.REMOVED_BEGINNING:
                self._beginnings |= own
            case Kind.ALLOWED:
                self._removed -= own
                self._beginnings -= own

    def removes(self, text: str) -> bool:
        """Tell whether a text is removed, in whatever way it is written."""
        return any(
            key in self._removed or any(key.startswith(beginning) for beginning in self._beginnings)
            for key in removal_keys(text) | {text}
        )

    def counts(self) -> dict[str, float]:
        """Return the counts of all queries that can be suggested."""
        texts = self._counts.keys() | self._typed.keys() | self._weights.keys() | self._boosts.keys()
        found = {text: self.count(text) for text in texts}
        return {text: count for text, count in found.items() if count > 0}

    def count(self, text: str) -> float:
        """Return how often a query counts as typed."""
        if self.removes(text):
            return 0.0
        weight = self._weights.get(text, -1.0)
        begun = self._counts.get(text, 0) if weight < 0 else weight
        return (begun + self._typed.get(text, 0.0)) * self._boosts.get(text, 1.0)


def removal_keys(text: str) -> set[str]:
    """Return the keys by which a text is removed: those of folding, or itself if it has none."""
    return set(keys(text)) or {text}
