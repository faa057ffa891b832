"""What each part of a blend gains and costs: quality with confidence intervals, latency, and a figure.

python benchmarks/blend.py DATA best.halfword [fast.halfword ...] --picture docs/images/frontier.svg

The first model is measured with every combination of its parts (the ablation), every model with several beams (the
frontier). Prefixes are those of the paper's hash on a sample of the test split. Intervals are 95 % bootstrap over rows.
Prints JSON.
"""

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from frontier_picture import Point, picture
from halfword import SearchOptions, load
from halfword.core import metrics
from halfword.core.model_file import Array, read_header, write_model
from halfword.data.dataset import Dataset, Split, open_dataset
from halfword.evaluation.evaluate import EvaluateOptions, evaluate, sample_rows
from halfword.search.model import Model
from halfword.training.ranker import RankerWeights

# Rivals, measured on the same rows and the same kind of machine: completions per second, MRR over all.
RIVALS = {
    "most popular (jermp/autocomplete)": (251_000, 0.261),
    "Lucene free-text": (51_300, 0.289),
    "QueryBlazer, pruned, precomputed": (17_500, 0.348),
    "QueryBlazer, unpruned, on demand": (237, 0.374),
    "QueryBlazer, unpruned, precomputed (3.2 GB)": (16_300, 0.374),
    "the paper's char LSTM, its own code": (28.4, 0.300),
    "the paper's BPE 256 + R∞, its own code": (31, 0.289),
}
ABLATION = (
    ("popular",),
    ("ngram",),
    ("network",),
    ("ngram", "network"),
    ("popular", "ngram"),
    ("popular", "network"),
    ("popular", "ngram", "network"),
)


def measure(model: Model, rows: list[str], seen: np.ndarray, options: SearchOptions) -> dict[str, Any]:
    """Return quality and latency over `rows`."""
    prefixes = [row[: metrics.hashed_prefix_length(row)] for row in rows]
    seconds, values = [], []
    for prefix in prefixes[:200]:
        model.complete(prefix, options)
    for row, prefix in zip(rows, prefixes, strict=True):
        begun = time.perf_counter()
        found = model.complete(prefix, options)
        seconds.append(time.perf_counter() - begun)
        texts = [completion.text for completion in found]
        place = metrics.rank(row, texts)
        partial = metrics.partial_rank(row, texts)
        values.append((metrics.reciprocal(place), metrics.reciprocal(partial), float(place is not None)))
    table = np.array(values)
    ordered = sorted(seconds)
    return {
        "mrr": [round(float(table[mask, 0].mean()), 4) for mask in (seen, ~seen, seen | ~seen)],
        "mrr_interval": interval(table[:, 0]),
        "pmrr": round(float(table[:, 1].mean()), 4),
        "success": round(float(table[:, 2].mean()), 4),
        "p50_ms": round(1000 * ordered[len(ordered) // 2], 4),
        "mean_ms": round(1000 * sum(ordered) / len(ordered), 4),
        "p99_ms": round(1000 * ordered[len(ordered) * 99 // 100], 4),
    }


def interval(values: np.ndarray) -> list[float]:
    """Return the 95 % bootstrap interval of the mean."""
    chance = np.random.default_rng(0)
    means = [values[chance.integers(0, len(values), len(values))].mean() for _ in range(1000)]
    return [round(float(bound), 4) for bound in np.percentile(means, [2.5, 97.5])]


def without_fitted_weights(path: Path, folder: Path) -> Path:
    """Write a copy of a model without the weights that were fitted on valid."""
    header, content = read_header(path), path.read_bytes()
    arrays = {
        name: Array(place.dtype, content[place.begin : place.end], place.shape)
        for name, place in header.places.items()
        if not name.startswith(("padding.", "mixture.network_weight"))
    }
    arrays |= RankerWeights.read().arrays()
    write_model(folder / "unfitted.halfword", arrays, header.card, features=header.features)
    return folder / "unfitted.halfword"


def ablation(path: Path, data: Dataset, rows: list[str], seen: np.ndarray) -> dict[str, Any]:
    """Return the figures of every combination of parts, and of the whole model without fitted weights."""
    results = {}
    for parts in ABLATION:
        results["+".join(parts)] = measure(load(path, parts=parts, cache=False), rows, seen, SearchOptions())
    with tempfile.TemporaryDirectory() as folder:
        unfitted = load(without_fitted_weights(path, Path(folder)), cache=False)
        results["all, weights not fitted"] = measure(unfitted, rows, seen, SearchOptions(haste=0.0))
    report = evaluate(load(path), data, EvaluateOptions(sample=len(rows), walk=1000))
    results["popular+ngram+network"]["mrl"] = report.metrics["mrl"]
    return results


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("models", type=Path, nargs="+")
    parser.add_argument("--sample", type=int, default=5000)
    parser.add_argument("--beams", type=int, nargs="*", default=[4, 10, 20])
    parser.add_argument("--picture", type=Path)
    arguments = parser.parse_args()
    data = open_dataset(arguments.data)
    rows = sample_rows(data, EvaluateOptions(sample=arguments.sample))
    train = data.counts(Split.TRAIN)
    seen = np.array([row in train for row in rows])
    result: dict[str, Any] = {"ablation": ablation(arguments.models[0], data, rows, seen), "frontier": {}}
    points = [Point(name, 1000 / rate, mrr, ours=False) for name, (rate, mrr) in RIVALS.items()]
    for path in arguments.models:
        model = load(path, cache=False)
        for beam in arguments.beams:
            name = f"{path.stem}, beam {beam}"
            found = measure(model, rows, seen, SearchOptions(beam=beam))
            result["frontier"][name] = {**found, "megabytes": round(path.stat().st_size / 1e6, 1)}
            points.append(Point(f"Halfword {name}", found["mean_ms"], found["mrr"][2], ours=True))
    alone = result["ablation"]["popular+ngram"]
    points.append(Point("Halfword without a network", alone["mean_ms"], alone["mrr"][2], ours=True))
    if arguments.picture:
        arguments.picture.write_text(picture(points), encoding="utf-8")
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
