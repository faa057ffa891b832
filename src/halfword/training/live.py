"""A dataset with live changes: without what was removed, and with what was typed since."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from halfword.core.card import LiveCard
from halfword.core.live_state import Removed, Summed, mark_learned, read_removed, read_summed
from halfword.data.dataset import Dataset, Split


@dataclass(frozen=True, slots=True)
class WithLive(Dataset):
    """A dataset, less what is removed; the counts of a journal are learned with all rows, and never held out."""

    data: Dataset
    removed: Removed
    summed: Summed | None = None
    number: int = 0  # up to which the journal is learned

    @classmethod
    def of(cls, data: Dataset, removed: Path | None, journal: Path | None, *, learns: bool = True) -> "WithLive":
        """Return `data` with what a list of removed queries and a journal say; `learns`: its counts too."""
        listed = [read_removed(path) for path in (removed, journal) if path is not None]
        if journal is None or not learns:
            return cls(data.path, data.profile, data, Removed.all_of(listed))
        number = mark_learned(journal)
        return cls(data.path, data.profile, data, Removed.all_of(listed), read_summed(journal)[0], number)

    def counts(self, split: Split) -> dict[str, int]:
        return self._kept(self.data.counts(split))

    def rows(self, split: Split) -> list[str]:
        return [row for row in self.data.rows(split) if not self.removed.removes(row)]

    def sessions(self, split: Split) -> list[list[str]]:
        return [
            [query for query in session if not self.removed.removes(query)] for session in self.data.sessions(split)
        ]

    def learnable(self, split: Split) -> dict[str, int]:
        counts = self._kept(self.data.learnable(split))
        if split is Split.TRAIN and self.summed is not None:
            for query, typed in self._kept(self.summed.counts(until=self.number)).items():
                counts[query] = counts.get(query, 0) + max(round(typed), 1)
        return counts

    def left_out(self) -> dict[str, int]:
        return self.data.left_out()

    def about(self) -> dict[str, Any]:
        return self.data.about()

    def card(self) -> LiveCard | None:
        """Return how far the journal is learned."""
        if self.summed is None:
            return None
        return LiveCard(journal=self.summed.about.journal, number=self.number)

    def _kept(self, counts: dict[str, int]) -> dict[str, int]:
        if not self.removed:
            return dict(counts)
        return {query: count for query, count in counts.items() if not self.removed.removes(query)}
