"""Latency and throughput of a model, and the speed limit of the machine measured in the same run."""

import platform
import resource
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from halfword.core import metrics
from halfword.core.errors import OptionError
from halfword.core.fields import option
from halfword.core.options import DEFAULTS, SearchOptions
from halfword.core.progress import Event, Progress, quiet
from halfword.data.dataset import Dataset
from halfword.evaluation.evaluate import EvaluateOptions, sample_rows
from halfword.search.model import Model, engine_options, import_engine

_PERCENTILES = (50, 90, 99)


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchOptions:
    """What is timed."""

    sample: int = option(5000, "Test rows to ask, each at one prefix.")
    seed: int = option(0, "Draws another sample.")
    keystrokes: int = option(0, "Rows that are also typed key by key.")
    beam: int = option(DEFAULTS.beam, "Hypotheses followed of each length.")
    search: SearchOptions | None = None  # all search options; `beam` is then ignored

    def __post_init__(self) -> None:
        if self.keystrokes < 0:
            raise OptionError(f"keystrokes must be 0 or more, got {self.keystrokes}")

    def search_options(self) -> SearchOptions:
        """Return the search options."""
        return self.search or (DEFAULTS if self.beam == DEFAULTS.beam else SearchOptions(beam=self.beam))


def bench(model: Model, data: Dataset, options: BenchOptions, progress: Progress = quiet) -> dict[str, Any]:
    """Time `model` on one core and on all cores, and compare its arithmetic with the limit of the machine."""
    rows = sample_rows(data, EvaluateOptions(sample=options.sample, seed=options.seed))
    prefixes = [row[: metrics.hashed_prefix_length(row)] for row in rows]
    search = options.search_options()
    seconds = _timed(model, prefixes, search, progress)
    result: dict[str, Any] = {
        "machine": f"{platform.machine()}, {platform.python_implementation()} {platform.python_version()}",
        "completions": len(prefixes),
        "beam": search.beam,
        "milliseconds": _percentiles(seconds),
        "completions_per_second": len(prefixes) / sum(seconds),
        "completions_per_second_all_cores": _batch_rate(model, prefixes, search),
    }
    if "network" in model.parts and "popular" not in model.parts:  # a model without a network multiplies nothing
        result |= _arithmetic(model, prefixes, search, sum(seconds))
    if options.keystrokes:
        result["keystroke_milliseconds"] = _keystrokes(model, rows[: options.keystrokes], search, progress)
    result["peak_memory_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return result


def _timed(model: Model, prefixes: Sequence[str], search: SearchOptions, progress: Progress) -> list[float]:
    for prefix in prefixes[:200]:  # warm-up
        model.complete(prefix, search)
    seconds = []
    for done, prefix in enumerate(prefixes):
        begun = time.perf_counter()
        model.complete(prefix, search)
        seconds.append(time.perf_counter() - begun)
        if done % 256 == 0:
            progress(Event("one core", done, len(prefixes)))
    return seconds


def _percentiles(seconds: Sequence[float]) -> dict[str, float]:
    ordered = sorted(seconds)
    found = {f"p{share}": 1000 * ordered[len(ordered) * share // 100] for share in _PERCENTILES}
    return {**found, "mean": 1000 * sum(seconds) / len(seconds)}


def _batch_rate(model: Model, prefixes: Sequence[str], search: SearchOptions) -> float:
    begun = time.perf_counter()
    model.complete_batch(prefixes, search)
    return len(prefixes) / (time.perf_counter() - begun)


def _arithmetic(model: Model, prefixes: Sequence[str], search: SearchOptions, seconds: float) -> dict[str, Any]:
    """Return how much the searches computed, and which share of the machine's limit that is."""
    engine = import_engine()
    part = model._engine
    costs = [part.search_cost(prefix, engine_options(search)) for prefix in prefixes]
    cells = sum(cost[0] for cost in costs)
    int8, fp32 = engine.multiply_rate(part.kernels, 8)
    peak = engine.int8_peak(part.kernels) or int8
    rate = sum(cost[4] for cost in costs) / seconds / 1e9
    return {
        "kernels": part.kernels,
        "cells": cells / len(prefixes),
        "pieces": sum(cost[1] for cost in costs) / len(prefixes),
        "giga_multiplications_per_second": rate,
        "share_of_int8_peak": rate / peak,
        "yardstick": {"int8_peak": peak, "int8_8_rows": int8, "fp32_8_rows": fp32},
        "mean_to_fp32_yardstick": seconds / len(prefixes) * fp32 * 1e9 / part.multiplications,
    }


def _keystrokes(model: Model, rows: Sequence[str], search: SearchOptions, progress: Progress) -> dict[str, float]:
    seconds = []
    for done, row in enumerate(rows):
        for length in range(1, len(row) + 1):
            begun = time.perf_counter()
            model.complete(row[:length], search)
            seconds.append(time.perf_counter() - begun)
        progress(Event("keystrokes", done, len(rows)))
    return _percentiles(seconds)
