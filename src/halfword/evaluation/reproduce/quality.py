"""The quality of a row: its result for each query, stored without the queries themselves."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from halfword.core.options import SearchOptions
from halfword.core.progress import Progress
from halfword.evaluation.evaluate import Asker, measure
from halfword.evaluation.report import Measured
from halfword.evaluation.reproduce.machine import machine
from halfword.evaluation.reproduce.records import FORMAT, Arrays, as_read, read_arrays, write_arrays
from halfword.evaluation.reproduce.rows import Row
from halfword.evaluation.reproduce.sample import Numbers, Sample
from halfword.search.model import Completer, load

_AT_ONCE = {"cpu": 2048, "cuda": 65536}  # prefixes per batch; a GPU needs many
_FIELDS = ("rank", "partial_rank", "recovered", "partly_recovered", "typed")  # of `Measured`; 0 for none


@dataclass(frozen=True, slots=True)
class Quality:
    """The result of a row for each distinct query of a sample."""

    arrays: Arrays
    about: dict[str, Any]

    def values(self, metric: str, sample: Sample) -> Numbers:
        """Return one of the metrics of `evaluate` for each query."""
        return _VALUES[metric](self.arrays, sample)


def _reciprocal(ranks: Numbers) -> Numbers:
    return np.where(ranks > 0, 1 / np.maximum(ranks, 1), 0.0)


def _saved(arrays: Arrays, sample: Sample) -> Numbers:
    typed = arrays["typed"].astype(np.int64)
    return np.where(typed > 0, np.maximum(sample.lengths - typed - 1, 0) / sample.lengths, 0.0)


_VALUES: dict[str, Callable[[Arrays, Sample], Numbers]] = {
    "mrr": lambda arrays, sample: _reciprocal(arrays["rank"]),
    "pmrr": lambda arrays, sample: _reciprocal(arrays["partial_rank"]),
    "success": lambda arrays, sample: (arrays["rank"] > 0).astype(np.float64),
    "mrl": lambda arrays, sample: arrays["recovered"].astype(np.float64),
    "partial_mrl": lambda arrays, sample: arrays["partly_recovered"].astype(np.float64),
    "normalised_mrl": lambda arrays, sample: arrays["recovered"] / (sample.lengths - 2),
    "keystrokes_saved": _saved,
}


@dataclass(frozen=True, slots=True)
class Question:
    """A row and how it is measured: with or without the paper's mistake, and how many rows at every prefix."""

    row: Row
    model: str  # the digest of its file
    data: str
    sample: Sample
    seed: int
    paper: bool
    walk: int

    @property
    def search(self) -> SearchOptions:
        """Return the search options."""
        return replace(self.row.search, echo=self.paper)

    def path(self, folder: Path) -> Path:
        """Return the path of the stored results."""
        return folder / (f"{self.row.name}.paper.npz" if self.paper else f"{self.row.name}.npz")

    def made_from(self) -> dict[str, Any]:
        """Return what the results depend on, except for the number of rows measured at every prefix."""
        about = {
            "data": self.data,
            "model": self.model,
            "parts": self.row.parts,
            "precision": self.row.precision,
            "search": asdict(self.search),
            "rows": len(self.sample.rows),
            "seed": self.seed,
        }
        return as_read(about)


def kept_quality(folder: Path, question: Question) -> Quality | None:
    """Return the stored results, or None."""
    arrays, about = read_arrays(question.path(folder))
    if about.get("made_from") != question.made_from() or about["walk"] < question.walk:
        return None
    return Quality(arrays, about)


def measure_quality(folder: Path, question: Question, model: Path, device: str, progress: Progress) -> Quality:
    """Measure every query of the sample, and store the results."""
    row, sample = question.row, question.sample
    completer, place = completer_of(row, model, device)
    asker = Asker(completer, question.search, progress, _AT_ONCE[place])
    found = measure(asker, sample.rows, sample.known, question.walk)
    about = {
        "format": FORMAT,
        "made_from": question.made_from(),
        "walk": question.walk,
        "device": place,
        "completions": asker.asked,
        "completions_per_second": asker.asked / asker.seconds,
        "machine": machine(),
    }
    folder.mkdir(parents=True, exist_ok=True)
    quality = Quality(_arrays([found[query] for query in sample.queries]), about)
    write_arrays(question.path(folder), quality.arrays, about)
    return quality


def _arrays(found: list[Measured]) -> Arrays:
    return {name: np.array([getattr(each, name) or 0 for each in found], dtype=np.uint16) for name in _FIELDS}


def completer_of(row: Row, model: Path, device: str) -> tuple[Completer, str]:
    """Return the completer of a row and its device: batches on a GPU for a network alone, otherwise the engine."""
    if device == "cuda" and row.parts == ("network",) and row.precision == "fp32":
        from halfword.search.gpu.batched import BatchedNeural

        return BatchedNeural(model, device), device
    return load(model, parts=row.parts, precision=row.precision), "cpu"
