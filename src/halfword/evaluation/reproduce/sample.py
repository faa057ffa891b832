"""The test rows that are measured: each distinct query once, with its weight."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfword.core import metrics
from halfword.data.dataset import Dataset, Split
from halfword.evaluation.evaluate import EvaluateOptions, sample_rows

Numbers = NDArray[np.float64]
GROUPS = ("seen", "unseen", "all")


@dataclass(frozen=True, slots=True)
class Sample:
    """The rows, and the facts about each distinct query among them, in the order of first occurrence."""

    rows: list[str]
    walk: int  # the first so many rows are asked at every prefix
    known: set[str]  # the queries that occur in train
    queries: list[str]
    weights: Numbers  # the number of rows of each query
    walked_weights: Numbers  # the same among the rows that are asked at every prefix
    seen: NDArray[np.bool_]
    lengths: NDArray[np.int64]
    prefix_lengths: NDArray[np.int64]

    def in_group(self, group: str) -> NDArray[np.bool_]:
        """Return a mask of the queries that are seen, unseen, or all."""
        return {"seen": self.seen, "unseen": ~self.seen, "all": np.ones_like(self.seen)}[group]

    def describe(self) -> dict[str, Any]:
        """Return the sizes of the sample."""
        counts = {group: int(self.weights[self.in_group(group)].sum()) for group in GROUPS}
        return {"rows": counts, "different": len(self.queries), "walked_rows": int(self.walked_weights.sum())}


def draw_sample(data: Dataset, size: int | None, walk: int | None, seed: int) -> Sample:
    """Draw rows of the test split as `evaluate` does; take all if there are fewer than `size`."""
    every = sample_rows(data, EvaluateOptions())
    small = size is not None and size < len(every)
    rows = sample_rows(data, EvaluateOptions(sample=size, seed=seed)) if small else every
    walk = len(rows) if walk is None else min(walk, len(rows))
    counts, walked = Counter(rows), Counter(rows[:walk])
    train = data.table(Split.TRAIN)
    queries = list(counts)
    known = {query for query in queries if query in train}
    return Sample(
        rows=rows,
        walk=walk,
        known=known,
        queries=queries,
        weights=np.array(list(counts.values()), dtype=np.float64),
        walked_weights=np.array([walked[query] for query in queries], dtype=np.float64),
        seen=np.array([query in known for query in queries]),
        lengths=np.array([len(query) for query in queries]),
        prefix_lengths=np.array([metrics.hashed_prefix_length(query) for query in queries]),
    )
