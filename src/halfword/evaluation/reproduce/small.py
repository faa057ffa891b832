"""A part of a dataset, for a quick report."""

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from halfword.data.dataset import Dataset, Split

_MOST = {Split.TRAIN: 20_000, Split.VALID: 2_000}  # rows; the test split is sampled later


@dataclass(frozen=True, slots=True)
class SmallDataset(Dataset):
    """Some rows of another dataset, drawn once."""

    whole: Dataset
    drawn: dict[Split, Sequence[str]]

    @classmethod
    def of(cls, whole: Dataset, seed: int = 0) -> "SmallDataset":
        """Draw rows of the train and valid splits; take all if there are few."""
        drawn: dict[Split, Sequence[str]] = {}
        for split, most in _MOST.items():
            rows = whole.rows(split)
            drawn[split] = rows if len(rows) <= most else random.Random(seed).sample(rows, most)
        return cls(whole.path, whole.profile, whole, drawn)

    def counts(self, split: Split) -> dict[str, int]:
        return dict(Counter(self.rows(split)))

    def rows(self, split: Split) -> Sequence[str]:
        return self.drawn[split] if split in self.drawn else self.whole.rows(split)

    def sessions(self, split: Split) -> Sequence[list[str]]:
        return [] if split in self.drawn else self.whole.sessions(split)  # rows that were drawn have no neighbours

    def about(self) -> dict[str, Any]:
        return {**self.whole.about(), "drawn": {str(split): len(rows) for split, rows in self.drawn.items()}}
