"""Any completer × a dataset → a report: how often, how high and how early the query that was typed is offered."""

import random
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from halfword.core import metrics
from halfword.core.errors import DatasetError, OptionError
from halfword.core.fields import option
from halfword.core.options import DEFAULTS, SearchOptions
from halfword.core.progress import Event, Progress, quiet
from halfword.core.text import SHORTEST_QUERY
from halfword.data.dataset import Dataset, Split
from halfword.search.model import Completer, Completion

RANK_METRICS = ("mrr", "pmrr", "success")  # asked at one prefix
WALK_METRICS = ("mrl", "partial_mrl", "normalised_mrl", "keystrokes_saved")  # asked at every prefix
_CHUNK = 2048
_TELL_EVERY = 256  # queries


@runtime_checkable
class BatchCompleter(Protocol):
    """A completer that takes many prefixes at once, on all cores."""

    def complete_batch(self, prefixes: Sequence[str], options: SearchOptions) -> list[list[Completion]]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluateOptions:
    """Which test rows are measured, and how."""

    sample: int | None = option(None, "Measure only so many rows, drawn at random.")
    seed: int = option(0, "Draws another sample.")
    # The first rows of the sample; None: all.
    walk: int | None = option(None, "Rows asked at every prefix (MRL, keystrokes); 0 for none.")
    paper: bool = option(False, "Repeat the accident of the paper's code.")  # `SearchOptions.echo`
    count: int = DEFAULTS.count  # completions asked for

    def __post_init__(self) -> None:
        if self.sample is not None and self.sample < 1:
            raise OptionError(f"sample must be 1 or more, got {self.sample}")
        if self.walk is not None and self.walk < 0:
            raise OptionError(f"walk must be 0 or more, got {self.walk}")
        self.search_options()  # which checks the count

    def search_options(self) -> SearchOptions:
        """Return what the completer is asked with."""
        return SearchOptions(count=self.count, echo=self.paper)


@dataclass(slots=True)
class Measured:
    """What was found out about one query."""

    query: str
    seen: bool
    prefix_length: int
    rank: int | None = None
    partial_rank: int | None = None
    recovered: int = 0  # characters that may be missing at the end
    partly_recovered: int = 0
    typed: int | None = None  # characters typed when the query is first offered

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


def evaluate(
    completer: Completer,
    data: Dataset,
    options: EvaluateOptions | None = None,
    progress: Progress = quiet,
) -> Report:
    """Measure `completer` on the test split of `data`."""
    options = options or EvaluateOptions()
    rows = sample_rows(data, options)
    asker = Asker(completer, options.search_options(), progress)
    measured = measure(asker, rows, data.counts(Split.TRAIN).keys(), options.walk)
    walked = rows[: options.walk]
    return _report([measured[query] for query in rows], [measured[query] for query in walked], asker, options.count)


def measure(
    asker: "Asker", rows: Sequence[str], known: Collection[str], walk: int | None = None
) -> dict[str, Measured]:
    """Ask each query at its hashed prefix, and those of the first `walk` rows (None: all) at every prefix.

    A query that occurs again is asked only once: its prefix length hangs on its text alone.
    """
    measured = {query: Measured(query, query in known, metrics.hashed_prefix_length(query)) for query in rows}
    _measure_ranks(asker, list(measured.values()))
    _measure_walks(asker, [measured[query] for query in dict.fromkeys(rows[:walk])])
    return measured


def sample_rows(data: Dataset, options: EvaluateOptions) -> list[str]:
    """Return the test rows to measure: those long enough, or a sample of them."""
    rows = [query for query in data.rows(Split.TEST) if len(query) >= SHORTEST_QUERY]
    if not rows:
        raise DatasetError(f"{data.path} has no test query of {SHORTEST_QUERY} characters and more")
    if options.sample is None:
        return rows
    if options.sample > len(rows):
        raise OptionError(f"sample must be at most {len(rows)}, the rows of the test split, got {options.sample}")
    return random.Random(options.seed).sample(rows, options.sample)


class Asker:
    """Asks the completer in chunks, and counts and times its answers."""

    def __init__(self, completer: Completer, options: SearchOptions, progress: Progress, at_once: int = _CHUNK) -> None:
        self._completer = completer
        self._options = options
        self._at_once = at_once
        self.progress = progress
        self.asked = 0
        self.seconds = 0.0

    def texts(self, prefixes: Sequence[str]) -> Iterator[list[str]]:
        """Yield the texts offered for each prefix."""
        for start in range(0, len(prefixes), self._at_once):
            chunk = prefixes[start : start + self._at_once]
            begun = time.perf_counter()
            answers = self._complete(chunk)
            self.seconds += time.perf_counter() - begun
            self.asked += len(chunk)
            for answer in answers:
                yield [completion.text for completion in answer]

    def _complete(self, prefixes: Sequence[str]) -> list[list[Completion]]:
        if isinstance(self._completer, BatchCompleter):
            return self._completer.complete_batch(prefixes, self._options)
        return [self._completer.complete(prefix, self._options) for prefix in prefixes]


def _measure_ranks(asker: Asker, queries: list[Measured]) -> None:
    prefixes = [item.query[: item.prefix_length] for item in queries]
    for done, (item, texts) in enumerate(zip(queries, asker.texts(prefixes), strict=True)):
        item.rank = metrics.rank(item.query, texts)
        item.partial_rank = metrics.partial_rank(item.query, texts)
        if done % _TELL_EVERY == 0:
            asker.progress(Event("ranks", done, len(queries)))


def _measure_walks(asker: Asker, queries: list[Measured]) -> None:
    """Shorten every query from its end while it is still offered, then type it from its beginning until it is."""
    alive = queries
    for removed in range(1, 1 + max((metrics.longest_recoverable(item.query) for item in queries), default=0)):
        asker.progress(Event("recoverable length", len(queries) - len(alive), len(queries)))
        alive = [item for item in alive if metrics.longest_recoverable(item.query) >= removed]
        alive = list(_still_recovered(asker, alive, removed))
    waiting = queries
    for typed in range(1, max((len(item.query) for item in queries), default=0)):
        asker.progress(Event("keystrokes", len(queries) - len(waiting), len(queries)))
        waiting = list(_still_typing(asker, [item for item in waiting if len(item.query) > typed], typed))


def _still_recovered(asker: Asker, queries: list[Measured], removed: int) -> Iterator[Measured]:
    prefixes = [item.query[:-removed] for item in queries]
    for item, texts in zip(queries, asker.texts(prefixes), strict=True):
        whole = item.recovered == removed - 1 and item.query in texts
        part = item.partly_recovered == removed - 1 and metrics.partial_rank(item.query, texts) is not None
        if whole:
            item.recovered = removed
        if part:
            item.partly_recovered = removed
        if whole or part:
            yield item


def _still_typing(asker: Asker, queries: list[Measured], typed: int) -> Iterator[Measured]:
    prefixes = [item.query[:typed] for item in queries]
    for item, texts in zip(queries, asker.texts(prefixes), strict=True):
        if item.query in texts:
            item.typed = typed
        else:
            yield item


def _report(rows: list[Measured], walked: list[Measured], asker: Asker, count: int) -> Report:
    places = [row.rank or count + 1 for row in rows]
    return Report(
        rows={name: len(group) for name, group in _by_novelty(rows).items()},
        walked_rows=len(walked),
        metrics=_by_metric(rows, RANK_METRICS) | _by_metric(walked, WALK_METRICS),
        mrr_at=[sum(1 / place for place in places if place <= k) / len(rows) for k in range(1, count + 1)],
        success_at=[sum(place <= k for place in places) / len(rows) for k in range(1, count + 1)],
        by_query_length=_by_length(rows, walked, lambda row: len(row.query)),
        by_prefix_length=_by_length(rows, [], lambda row: row.prefix_length),
        completions_per_second=asker.asked / asker.seconds,
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
