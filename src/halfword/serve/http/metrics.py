"""Counters that all workers share, in the text format of Prometheus."""

import mmap
from bisect import bisect_left
from collections.abc import Iterator
from typing import Any

from halfword.serve.http.reply import CLIENT_GONE, CODES

ROUTES = ("complete", "batch", "suggest", "search", "page", "health", "metrics", "live", "accepted", "other")
STATUSES = (200, 204, 304, *sorted({status for status, _ in CODES.values()}), CLIENT_GONE)
BUCKETS = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0)  # seconds
SINGLES = {
    "cache_hits_total": ("counter", "Completions that were found in the cache."),
    "cache_misses_total": ("counter", "Completions that had to be searched."),
    "deadlines_total": ("counter", "Searches that the deadline ended."),
    "abandoned_total": ("counter", "Requests not computed because their client had gone."),
    "reloads_total": ("counter", "Models that went into service after the first."),
    "reload_failures_total": ("counter", "Changed files that could not go into service."),
    "log_lines_dropped_total": ("counter", "Lines of the log that could not be written in time."),
    "empty_answers_total": ("counter", "Prefixes for which there was no completion."),
    "accepted_total": ("counter", "Suggestions that were chosen, as POST /accepted tells."),
    "queue_length": ("gauge", "Requests that wait now."),
}

_HISTOGRAM = len(ROUTES) * len(STATUSES)
_SUM = _HISTOGRAM + len(BUCKETS) + 1
_SINGLES = {name: _SUM + 1 + index for index, name in enumerate(SINGLES)}
_SIZE = _SUM + 1 + len(SINGLES)
_ROUTE_INDEX = {route: index * len(STATUSES) for index, route in enumerate(ROUTES)}
_STATUS_INDEX = {status: index for index, status in enumerate(STATUSES)}


class Metrics:
    """A row of numbers for each worker, in memory that they share. A worker writes its own row, anyone reads all."""

    def __init__(self, workers: int = 1) -> None:
        self._workers = workers
        self._rows: Any = memoryview(mmap.mmap(-1, workers * _SIZE * 8)).cast("d")
        self._mine = self._rows[:_SIZE]

    def belong_to(self, worker: int) -> None:
        """Write to the row of this worker from now on."""
        self._mine = self._rows[worker * _SIZE : (worker + 1) * _SIZE]
        self.set("queue_length", 0)

    def count_request(self, route: str, status: int, seconds: float) -> None:
        """Count a request that has been answered."""
        self._mine[_ROUTE_INDEX[route] + _STATUS_INDEX[status]] += 1
        self._mine[_HISTOGRAM + bisect_left(BUCKETS, seconds)] += 1
        self._mine[_SUM] += seconds

    def add(self, name: str) -> None:
        """Add one to a number of SINGLES."""
        self._mine[_SINGLES[name]] += 1

    def set(self, name: str, value: float) -> None:
        """Set a number of SINGLES."""
        self._mine[_SINGLES[name]] = value

    def text(self, model: str, *, fresh: bool) -> str:
        """Return the sums over all workers, as Prometheus reads them."""
        sums = [sum(self._rows[index::_SIZE]) for index in range(_SIZE)]
        return "\n".join([*_requests(sums), *_latency(sums), *_singles(sums), *_state(model, fresh, self._workers), ""])


def _requests(sums: list[float]) -> Iterator[str]:
    yield from _head("requests_total", "counter", "Requests by what they asked for and the status they got.")
    for route, first in _ROUTE_INDEX.items():
        for status, index in _STATUS_INDEX.items():
            if sums[first + index]:
                yield f'halfword_requests_total{{route="{route}",status="{status}"}} {sums[first + index]:.0f}'


def _latency(sums: list[float]) -> Iterator[str]:
    yield from _head("request_seconds", "histogram", "Time from a request's headers to its answer.")
    total = 0.0
    for index, bound in enumerate((*BUCKETS, "+Inf")):
        total += sums[_HISTOGRAM + index]
        yield f'halfword_request_seconds_bucket{{le="{bound}"}} {total:.0f}'
    yield f"halfword_request_seconds_sum {sums[_SUM]:.6f}"
    yield f"halfword_request_seconds_count {total:.0f}"


def _singles(sums: list[float]) -> Iterator[str]:
    for name, (kind, meaning) in SINGLES.items():
        yield from _head(name, kind, meaning)
        yield f"halfword_{name} {sums[_SINGLES[name]]:.0f}"


def _state(model: str, fresh: bool, workers: int) -> Iterator[str]:
    escaped = model.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    yield from _head("model_info", "gauge", "The model that the worker which answers has in service.")
    yield f'halfword_model_info{{version="{escaped}"}} 1'
    yield from _head("model_fresh", "gauge", "0 when the newest model file could not go into service.")
    yield f"halfword_model_fresh {int(fresh)}"
    yield from _head("workers", "gauge", "Worker processes.")
    yield f"halfword_workers {workers}"


def _head(name: str, kind: str, meaning: str) -> Iterator[str]:
    yield f"# HELP halfword_{name} {meaning}"
    yield f"# TYPE halfword_{name} {kind}"
