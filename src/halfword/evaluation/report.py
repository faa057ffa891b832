"""What was measured of each query, and the figures that are made of it."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

from halfword.core import metrics
from halfword.core.errors import OptionError
from halfword.data.sessions import TypedRow

RANK_METRICS = ("mrr", "pmrr", "success")  # asked at one prefix
WALK_METRICS = ("mrl", "partial_mrl", "normalised_mrl", "keystrokes_saved")  # asked at every prefix


@dataclass(slots=True)
class Measured:
    """What was found out about one query."""

    query: str
    seen: bool
    prefix_length: int
    context: tuple[str, ...] = ()
    rank: int | None = None
    partial_rank: int | None = None
    recovered: int = 0  # characters that may be missing at the end
    partly_recovered: int = 0
    typed: int | None = None  # characters typed when the query is first offered

    @classmethod
    def of(cls, row: TypedRow, known: Collection[str]) -> Self:
        """Return a row of which nothing was measured yet; `known` are the queries of the train split."""
        return cls(row.query, row.query in known, metrics.hashed_prefix_length(row.query), row.context)

    def value(self, metric: str) -> float:
        """Return one of the metrics."""
        match metric:
            case "mrr":
                return metrics.reciprocal(self.rank)
            case "pmrr":
                return metrics.reciprocal(self.partial_rank)
            case "success":
                return float(self.rank is not None)
            case "mrl":
                return float(self.recovered)
            case "partial_mrl":
                return float(self.partly_recovered)
            case "normalised_mrl":
                return self.recovered / metrics.longest_recoverable(self.query)
            case "keystrokes_saved":
                return metrics.share_of_keystrokes_saved(self.query, self.typed)
        raise OptionError(f"unknown metric {metric!r}; the metrics are: {', '.join(RANK_METRICS + WALK_METRICS)}")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Report:
    """The figures of one evaluation; a figure is None where no row falls into its group."""

    rows: dict[str, int]  # seen, unseen, all
    walked_rows: int
    metrics: dict[str, dict[str, float | None]]  # metric → seen, unseen, all
    mrr_at: list[float]  # MRR over all rows when only the first 1, 2, … completions count
    success_at: list[float]
    by_query_length: dict[int, dict[str, float | None]]
    by_prefix_length: dict[int, dict[str, float | None]]
    completions_per_second: float  # on all cores
    context: dict[str, Any] | None = None  # what the context brings by kind of row; None if none was sent

    def __repr__(self) -> str:
        """Return the figures over all rows in one line.

        >>> figures = {"mrr": {"seen": 0.5, "unseen": None, "all": 0.5}}
        >>> Report(
        ...     rows={"all": 2}, walked_rows=0, metrics=figures, mrr_at=[], success_at=[], by_query_length={},
        ...     by_prefix_length={}, completions_per_second=1000.0,
        ... )
        Report(2 rows: mrr 0.5000)
        """
        values = ((name, means["all"]) for name, means in self.metrics.items())
        figures = ", ".join(f"{name} {value:.4f}" for name, value in values if value is not None)
        return f"Report({self.rows['all']:,} rows: {figures})"

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON can hold it."""
        return {name: getattr(self, name) for name in self.__slots__}


def contexts_of(rows: Sequence[Measured]) -> list[tuple[str, ...]]:
    """Return the context of each row."""
    return [row.context for row in rows]


def make_report(rows: list[Measured], walked: list[Measured], count: int, completions_per_second: float) -> Report:
    """Return the figures over all rows, and over those whose every prefix was asked."""
    places = [row.rank or count + 1 for row in rows]
    return Report(
        rows={name: len(group) for name, group in _by_novelty(rows).items()},
        walked_rows=len(walked),
        metrics=_by_metric(rows, RANK_METRICS) | _by_metric(walked, WALK_METRICS),
        mrr_at=[sum(1 / place for place in places if place <= k) / len(rows) for k in range(1, count + 1)],
        success_at=[sum(place <= k for place in places) / len(rows) for k in range(1, count + 1)],
        by_query_length=_by_length(rows, walked, lambda row: len(row.query)),
        by_prefix_length=_by_length(rows, [], lambda row: row.prefix_length),
        completions_per_second=completions_per_second,
    )


def _by_novelty(rows: list[Measured]) -> dict[str, list[Measured]]:
    return {"seen": [row for row in rows if row.seen], "unseen": [row for row in rows if not row.seen], "all": rows}


def _by_metric(rows: list[Measured], names: Iterable[str]) -> dict[str, dict[str, float | None]]:
    groups = _by_novelty(rows)
    return {name: {group: _mean(groups[group], name) for group in groups} for name in names}


def _by_length(
    rows: list[Measured], walked: list[Measured], length_of: Callable[[Measured], int]
) -> dict[int, dict[str, float | None]]:
    table: dict[int, dict[str, float | None]] = {}
    for length, group in _grouped(rows, length_of):
        table[length] = {"rows": len(group), **{name: _mean(group, name) for name in RANK_METRICS}}
    for length, group in _grouped(walked, length_of):
        table[length] |= {"walked_rows": len(group), **{name: _mean(group, name) for name in WALK_METRICS}}
    return table


def _grouped(rows: list[Measured], length_of: Callable[[Measured], int]) -> list[tuple[int, list[Measured]]]:
    groups: dict[int, list[Measured]] = defaultdict(list)
    for row in rows:
        groups[length_of(row)].append(row)
    return sorted(groups.items())


def _mean(rows: list[Measured], metric: str) -> float | None:
    return metrics.mean(row.value(metric) for row in rows)
