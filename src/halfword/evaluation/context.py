"""What the session's earlier queries bring, by what a row has in common with them."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from halfword.core import metrics
from halfword.data.sessions import TypedRow
from halfword.evaluation.report import Measured

REPEAT, SHARES, NEITHER, ALL = KINDS = ("repeat", "shares a word", "neither", "all")
KIND_NAMES = {
    REPEAT: "repeat a query of their context",
    SHARES: "share a word with it",
    NEITHER: "share nothing",
    ALL: "all",
}
METRICS = ("mrr", "success")


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """A metric without and with context, and the 95 % interval of the difference."""

    without: float
    with_context: float
    low: float
    high: float


def kind_of(row: TypedRow) -> str:
    """Return what a row has in common with its context.

    >>> kind_of(TypedRow("paris hotels", ("flights to paris",)))
    'shares a word'
    """
    if row.query in row.context:
        return REPEAT
    words = {word for query in row.context for word in query.split()}
    return SHARES if words & set(row.query.split()) else NEITHER


def by_kind(rows: Sequence[TypedRow], without: Sequence[Measured], found: Sequence[Measured]) -> dict[str, Any]:
    """Return for each kind of row how many there are, and what the context brings them."""
    kinds = [kind_of(row) for row in rows]
    numbers = Counter([*kinds, *[ALL] * len(rows)])
    table: dict[str, Any] = {}
    for kind in (kind for kind in KINDS if numbers[kind]):
        chosen = [place for place, each in enumerate(kinds) if kind in (each, ALL)]
        table[kind] = {"rows": len(chosen)}
        for metric in METRICS:
            pairs = [(without[place].value(metric), found[place].value(metric)) for place in chosen]
            table[kind][metric] = asdict(_gain([rows[place].query for place in chosen], pairs))
    return table


def _gain(queries: Sequence[str], pairs: Sequence[tuple[float, float]]) -> Gain:
    """Return the means of both, and the bootstrap interval of the difference; a query is drawn with all its rows."""
    import numpy as np

    from halfword.evaluation.reproduce.statistics import Bootstrap

    sums: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for query, (before, after) in zip(queries, pairs, strict=True):
        sums[query][0] += after - before
        sums[query][1] += 1
    drawn = Bootstrap().sums(np.array(list(sums.values())))
    low, high = np.percentile(drawn[:, 0] / drawn[:, 1], [2.5, 97.5])
    before_mean, after_mean = (metrics.mean(pair[place] for pair in pairs) or 0.0 for place in range(2))
    return Gain(without=before_mean, with_context=after_mean, low=float(low), high=float(high))
