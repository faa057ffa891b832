"""The time of a row on one core of this machine, and the work of its searches."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from halfword.core import metrics
from halfword.core.model_file import read_header
from halfword.core.progress import Progress
from halfword.data.dataset import Dataset
from halfword.evaluation.bench import BenchOptions, bench
from halfword.evaluation.evaluate import EvaluateOptions, sample_rows
from halfword.evaluation.reproduce.machine import machine
from halfword.evaluation.reproduce.records import FORMAT, as_read, read_json, write_json
from halfword.evaluation.reproduce.rows import Row
from halfword.search.model import Model, engine_options, load

_COSTED = 500  # searches whose cells and steps are counted


def kept_speed(folder: Path, made_from: dict[str, Any], row: Row) -> dict[str, Any] | None:
    """Return the stored figures, or None."""
    found = read_json(_path(folder, row))
    return found if found.get("made_from") == made_from else None


def made_from(row: Row, model: str, data: str, sample: int) -> dict[str, Any]:
    """Return what the figures of a row depend on, except for the machine."""
    about = {
        "data": data,
        "model": model,
        "parts": row.parts,
        "precision": row.precision,
        "search": asdict(row.search),
        "rows": sample,
    }
    return as_read(about)


def measure_speed(
    folder: Path, made_from: dict[str, Any], row: Row, model: Path, data: Dataset, progress: Progress
) -> dict[str, Any]:
    """Time a row with `bench`, without its cache, and store the figures."""
    completer = load(model, parts=row.parts, precision=row.precision, cache=False)
    result = bench(completer, data, BenchOptions(sample=made_from["rows"], search=row.search), progress)
    about = {
        "format": FORMAT,
        "made_from": made_from,
        "machine": machine(),
        "milliseconds": result["milliseconds"],
        "completions_per_second": result["completions_per_second"],
        "kernels": result.get("kernels"),
        **_cost(completer, data, row, min(made_from["rows"], _COSTED)),
        "megabytes": megabytes(model, row),
    }
    folder.mkdir(parents=True, exist_ok=True)
    write_json(_path(folder, row), about)
    return about


def megabytes(model: Path, row: Row) -> float:
    """Return the size of the arrays that a row reads: its parts, in the precision in which it computes."""
    places = read_header(model).places
    twins = {name.removesuffix(".int8") for name in places if name.endswith(".int8")}

    def is_read(name: str) -> bool:
        part = name.partition(".")[0]
        if part == "network":
            int8 = name.endswith((".int8", ".scale"))
            return "network" in row.parts and (int8 or name not in twins if row.precision == "int8" else not int8)
        needs = {"pieces": {"network", "ngram"}, "blend": set(row.parts), "popular": {"popular"}, "ngram": {"ngram"}}
        return bool(needs.get(part, set()) & set(row.parts))

    return sum(place.end - place.begin for name, place in places.items() if is_read(name)) / 1e6


def _cost(completer: Model, data: Dataset, row: Row, sample: int) -> dict[str, float | None]:
    """Return the mean number of cells (pieces read by the language model) and of steps of a search."""
    if completer.parts == ("popular",):
        return {"cells": None, "steps": None}
    rows = sample_rows(data, EvaluateOptions(sample=sample))
    options = engine_options(row.search)
    search_cost = completer._engine.search_cost
    costs = [search_cost(query[: metrics.hashed_prefix_length(query)], options) for query in rows]
    return {"cells": sum(cost[0] for cost in costs) / len(rows), "steps": sum(cost[1] for cost in costs) / len(rows)}


def _path(folder: Path, row: Row) -> Path:
    return folder / f"{row.name}.speed.json"
