"""Completions per second of the batched search, where the time goes, and their quality; prints JSON.

python benchmarks/batched.py model.halfword data/ --sample 20000 --profile 20

Every prefix is searched once, so one completion is one search. `mrr` is over all rows. `engine_mrr` is that of the
engine in fp32 on the first `--engine-rows` of them, `same_rows_mrr` that of the batched search on the same rows.
`ceiling` is the number of completions per second that the matrix products alone would allow on an H200.
`starts_seconds` (cutting prefixes) and `spell_seconds` are spent on the host. `busy_seconds` (with `--profile`) is the
sum of all kernels.
"""

import argparse
import json
import platform
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch

from halfword.core import metrics
from halfword.core.options import SearchOptions
from halfword.data.dataset import open_dataset
from halfword.evaluation.evaluate import BatchCompleter, EvaluateOptions, sample_rows
from halfword.search.gpu.batched import BatchedNeural
from halfword.search.gpu.search import Work
from halfword.search.gpu.starts import Starts, StartTree
from halfword.search.model import Completer, Completion, load

PEAK = 790e12  # bf16 operations per second that PyTorch reaches on an H200


class Kernel(NamedTuple):
    """The time of one kind of kernel."""

    name: str
    seconds: float
    calls: int


class TimedStarts(Starts):
    """Measures the time that the host takes."""

    starts_seconds = 0.0
    spell_seconds = 0.0

    def tree(self, prefixes: Sequence[str], options: SearchOptions) -> StartTree:
        """Cut prefixes."""
        begun = time.perf_counter()
        tree = super().tree(prefixes, options)
        self.starts_seconds += time.perf_counter() - begun
        return tree

    def spell(self, *arguments: Any) -> list[list[Completion]]:
        """Spell completions."""
        begun = time.perf_counter()
        spelled = super().spell(*arguments)
        self.spell_seconds += time.perf_counter() - begun
        return spelled


def answer(
    completer: BatchCompleter, prefixes: Sequence[str], options: SearchOptions, batch: int
) -> tuple[dict[str, list[str]], float]:
    """Complete all prefixes, `batch` per call; return the answers and the seconds."""
    answers: dict[str, list[str]] = {}
    seconds = 0.0
    for begin in range(0, len(prefixes), batch):
        asked = prefixes[begin : begin + batch]
        begun = time.perf_counter()
        found = completer.complete_batch(asked, options)
        seconds += time.perf_counter() - begun
        answers.update({prefix: [each.text for each in texts] for prefix, texts in zip(asked, found, strict=True)})
    return answers, seconds


def mrr(rows: Sequence[str], answers: dict[str, list[str]]) -> float:
    """Return the mean reciprocal rank of the rows."""
    ranks = [metrics.reciprocal(metrics.rank(row, answers[prefix_of(row)])) for row in rows]
    return round(sum(ranks) / len(ranks), 5)


def prefix_of(query: str) -> str:
    """Return the prefix at which a query is asked."""
    return query[: metrics.hashed_prefix_length(query)]


def measure(completer: BatchedNeural, prefixes: Sequence[str], options: SearchOptions, batch: int) -> dict[str, Any]:
    """Time one pass over the prefixes, after a warm-up."""
    answer(completer, prefixes[: min(batch, 20000)], options, batch)
    timed = TimedStarts.__new__(TimedStarts)
    timed.__dict__.update(completer._starts.__dict__)
    completer._starts, completer.work = timed, Work()
    answers, seconds = answer(completer, prefixes, options, batch)
    ceiling = PEAK * len(prefixes) / (completer.work.rows * completer.operations)
    return {
        "answers": answers,
        "batch": batch,
        "completions_per_second": round(len(prefixes) / seconds, 1),
        "seconds": round(seconds, 4),
        "starts_seconds": round(timed.starts_seconds, 4),
        "spell_seconds": round(timed.spell_seconds, 4),
        "cells_per_completion": round(completer.work.rows / len(prefixes), 2),
        "steps": completer.work.steps,
        "ceiling": round(ceiling),
        "share_of_ceiling": round(len(prefixes) / seconds / ceiling, 4),
    }


def busy(completer: BatchedNeural, prefixes: Sequence[str], options: SearchOptions, batch: int) -> list[Kernel]:
    """Return the time of all kernels (on a CPU: operations), the longest first."""
    on_device = torch.cuda.is_available()
    kinds = [torch.profiler.ProfilerActivity.CUDA if on_device else torch.profiler.ProfilerActivity.CPU]
    with torch.profiler.profile(activities=kinds) as profile:
        answer(completer, prefixes, options, batch)
    kernels = []
    for event in profile.key_averages():
        spent = event.self_device_time_total if on_device else event.self_cpu_time_total
        kernels.append(Kernel(event.key[:70], spent / 1e6, event.count))
    return sorted(kernels, key=lambda kernel: -kernel.seconds)


def engine_mrr(path: Path, rows: Sequence[str], options: SearchOptions) -> dict[str, Any]:
    """Return the MRR of the engine on the same rows."""
    engine: Completer = load(path, parts=("network",), precision="fp32")
    assert isinstance(engine, BatchCompleter)
    prefixes = list({prefix_of(row): None for row in rows})
    answers, seconds = answer(engine, prefixes, options, 2048)
    return {"engine_mrr": mrr(rows, answers), "engine_completions_per_second": round(len(prefixes) / seconds, 1)}


def machine() -> str:
    """Return the name of the device."""
    return torch.cuda.get_device_name() if torch.cuda.is_available() else platform.processor() or platform.machine()


def commit() -> str:
    """Return the current commit."""
    told = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    return told.stdout.strip()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("data", type=Path)
    parser.add_argument("--sample", type=int, default=20000)
    parser.add_argument("--beams", type=int, nargs="+", default=[10, 30])
    parser.add_argument("--batches", type=int, nargs="+", default=[2048, 16384])
    parser.add_argument("--walk", type=int, default=0, help="also ask every prefix of so many queries, in one call")
    parser.add_argument("--rows", type=int, help="hypotheses at once")
    parser.add_argument("--engine-rows", type=int, default=2000)
    parser.add_argument("--device")
    parser.add_argument("--profile", type=int, default=0, metavar="LINES")
    given = parser.parse_args()
    rows = sample_rows(open_dataset(given.data), EvaluateOptions(sample=given.sample))
    prefixes = list({prefix_of(row): None for row in rows})
    completer = BatchedNeural(given.model, given.device, given.rows)
    told = {"model": given.model.name, "machine": machine(), "commit": commit(), "distinct_prefixes": len(prefixes)}
    for beam in given.beams:
        options = SearchOptions(beam=beam, count=10)
        for batch in given.batches:
            result = told | {"beam": beam} | measure(completer, prefixes, options, batch)
            answers = result.pop("answers")
            result["mrr"] = mrr(rows, answers)
            if given.engine_rows and batch == given.batches[-1]:
                result["same_rows_mrr"] = mrr(rows[: given.engine_rows], answers)
                result |= engine_mrr(given.model, rows[: given.engine_rows], options)
            kernels = busy(completer, prefixes, options, batch) if given.profile else []
            if kernels:
                result["busy_seconds"] = round(sum(kernel.seconds for kernel in kernels), 4)
            print(json.dumps(result), flush=True)
            for kernel in kernels[: given.profile]:
                print(f"  {kernel.seconds * 1e3:9.3f} ms {kernel.calls:6d} × {kernel.name}")
        if given.walk:
            walked = list({query[:length]: None for query in rows[: given.walk] for length in range(2, len(query))})
            result = measure(completer, walked, options, len(walked))
            print(json.dumps(told | {"beam": beam, "walked": len(walked)} | result | {"answers": None}), flush=True)


if __name__ == "__main__":
    main()
