"""A dataset with live changes: without what was removed, and with what was typed since."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from halfword.core.card import LiveCard
from halfword.core.live_state import Removed, Summed, mark_learned, read_removed, read_summed
from halfword.data.dataset import Dataset, Split
from halfword.data.query_table import QueryTable


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
        return dict(self.table(split))

    def table(self, split: Split) -> QueryTable:
        return self._kept(self.data.table(split))

    def rows(self, split: Split) -> Sequence[str]:
        if not self.removed:
            return self.data.rows(split)
        return [row for row in self.data.rows(split) if not self.removed.removes(row)]

    def sessions(self, split: Split) -> Sequence[list[str]]:
        if not self.removed:
            return self.data.sessions(split)
        return [
            [query for query in session if not self.removed.removes(query)] for session in self.data.sessions(split)
        ]

    def learnable(self, split: Split) -> dict[str, int]:
        return dict(self.learnable_table(split))

    def learnable_table(self, split: Split) -> QueryTable:
        kept = self._kept(self.data.learnable_table(split))
        if split is not Split.TRAIN or self.summed is None:
            return kept
        typed = {query: max(round(count), 1) for query, count in self.summed.counts(until=self.number).items()}
        return QueryTable.sum_of([kept, self._kept(QueryTable.of(typed))])

    def left_out(self) -> dict[str, int]:
        return self.data.left_out()

    def about(self) -> dict[str, Any]:
        return self.data.about()

    def card(self) -> LiveCard | None:
        """Return how far the journal is learned."""
        if self.summed is None:
            return None
        return LiveCard(journal=self.summed.about.journal, number=self.number)

    def _kept(self, table: QueryTable) -> QueryTable:
        if not self.removed:
            return table
        return QueryTable.of(pair for pair in table.items() if not self.removed.removes(pair[0]))
