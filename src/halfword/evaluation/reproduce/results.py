"""All figures of a report, from the stored results of each row; `docs/guide/evaluating.md` explains the JSON."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfword.evaluation.report import RANK_METRICS, WALK_METRICS
from halfword.evaluation.reproduce.comparisons import COMPARISONS
from halfword.evaluation.reproduce.quality import Quality
from halfword.evaluation.reproduce.rows import Row
from halfword.evaluation.reproduce.sample import GROUPS, Numbers, Sample
from halfword.evaluation.reproduce.statistics import Bootstrap, difference, estimate, holm, mean

METRICS = (*RANK_METRICS, *WALK_METRICS)
COMPARED = (("mrr", "all"), ("mrr", "unseen"), ("pmrr", "all"), ("mrl", "all"))  # how two rows are compared
CURVES = ("char", "bpe-256-r", "sr-256-r-m")  # rows of the paper's figure
_FEWEST = 20  # test rows of a length that are needed for a point of a curve


@dataclass(slots=True)
class Found:
    """What was measured for one row; None: missing."""

    row: Row
    model: dict[str, Any] | None = None  # the record of its model
    quality: Quality | None = None
    paper: Quality | None = None  # with the mistake of the paper's code
    context: dict[str, Any] | None = None  # what the session's earlier queries bring
    speed: dict[str, Any] | None = None
    examples: dict[str, list[str]] | None = None
    left_out: str | None = None  # why figures are missing


@dataclass(slots=True)
class Figures:
    """Means and their bootstrap samples, by metric: (rows, groups) and (draws, rows, groups)."""

    rows: list[str]
    means: dict[str, list[list[float | None]]] = field(default_factory=dict)
    draws: dict[str, Numbers] = field(default_factory=dict)


def results(found: Sequence[Found], sample: Sample, bootstrap: Bootstrap) -> dict[str, Any]:
    """Return rows and comparisons as JSON."""
    measured = [each for each in found if each.quality is not None]
    figures = figures_of(measured, sample, bootstrap)
    return {
        "rows": [describe(each, figures, sample) for each in found],
        "comparisons": compared(figures),
        "curves": curves(measured, sample, bootstrap),
    }


def figures_of(measured: Sequence[Found], sample: Sample, bootstrap: Bootstrap) -> Figures:
    """Return the means of every metric, row and group, with their bootstrap samples."""
    figures = Figures([each.row.name for each in measured])
    for metric in METRICS if measured else ():
        columns = [each.quality.values(metric, sample) for each in measured if each.quality is not None]
        values, weights = np.stack(columns, axis=1), group_weights(metric, sample)
        if not weights.any():
            continue
        figures.means[metric] = [[mean(column, weight) for weight in weights.T] for column in columns]
        figures.draws[metric] = bootstrap.means(values, weights)
    return figures


def group_weights(metric: str, sample: Sample) -> Numbers:
    """Return the weight of each query in each group: (queries, groups)."""
    weights = sample.walked_weights if metric in WALK_METRICS else sample.weights
    return np.stack([weights * sample.in_group(group) for group in GROUPS], axis=1)


def describe(found: Found, figures: Figures, sample: Sample) -> dict[str, Any]:
    """Return everything about one row."""
    row = found.row
    about: dict[str, Any] = {
        "name": row.name,
        "label": row.label,
        "group": row.group,
        "model": row.model.name,
        "parts": list(row.parts),
        "precision": row.precision,
        "search": asdict(row.search),
        "published": asdict(row.published) if row.published else None,
        "left_out": found.left_out or (None if found.quality else "it was not measured"),
        "context": found.context["kinds"] if found.context else None,
        "speed": _facts(found.speed),
        "examples": found.examples,
    }
    if found.quality is None:
        return about
    place = figures.rows.index(row.name)
    return about | {
        "metrics": {metric: _estimates(figures, metric, place) for metric in figures.means},
        "by_query_length": _by_length(found.quality, sample, sample.lengths, METRICS),
        "by_prefix_length": _by_length(found.quality, sample, sample.prefix_lengths, RANK_METRICS),
        **_by_rank(found.quality, sample),
        "paper_mode": _paper_mode(found.paper, sample),
        "measured_on": {name: value for name, value in found.quality.about.items() if name != "made_from"},
    }


def _facts(speed: dict[str, Any] | None) -> dict[str, Any] | None:
    return None if speed is None else {name: value for name, value in speed.items() if name != "made_from"}


def _estimates(figures: Figures, metric: str, place: int) -> dict[str, Any]:
    draws = figures.draws[metric][:, place]
    values = figures.means[metric][place]
    return {
        group: asdict(estimate(value, draws[:, number]))
        for number, (group, value) in enumerate(zip(GROUPS, values, strict=True))
    }


def _by_rank(quality: Quality, sample: Sample) -> dict[str, list[float | None]]:
    """Return MRR and success over all rows when only the first 1, 2, … completions count."""
    ranks = quality.arrays["rank"]
    reciprocal = quality.values("mrr", sample)
    places = range(1, 11)
    within = [(ranks > 0) & (ranks <= place) for place in places]
    return {
        "mrr_at": [mean(reciprocal * mask, sample.weights) for mask in within],
        "success_at": [mean(mask.astype(float), sample.weights) for mask in within],
    }


def _by_length(
    quality: Quality, sample: Sample, lengths: NDArray[np.int64], metrics: Sequence[str]
) -> dict[int, dict[str, float | None]]:
    """Return the mean of each metric over the rows of each length."""
    table: dict[int, dict[str, float | None]] = {
        int(length): {"rows": float(rows)} for length, rows in enumerate(np.bincount(lengths, sample.weights)) if rows
    }
    for metric in metrics:
        weights = _weights(metric, sample)
        sums = np.bincount(lengths, weights * quality.values(metric, sample))
        totals = np.bincount(lengths, weights)
        for length, means in table.items():
            means[metric] = float(sums[length] / totals[length]) if totals[length] else None
    return table


def _weights(metric: str, sample: Sample) -> Numbers:
    return sample.walked_weights if metric in WALK_METRICS else sample.weights


def _paper_mode(quality: Quality | None, sample: Sample) -> dict[str, Any] | None:
    """Return MRR and PMRR with the mistake of the paper's code."""
    if quality is None:
        return None
    return {
        metric: {
            group: mean(quality.values(metric, sample), weights)
            for group, weights in zip(GROUPS, group_weights(metric, sample).T, strict=True)
        }
        for metric in ("mrr", "pmrr")
    }


def compared(figures: Figures) -> list[dict[str, Any]]:
    """Return the comparisons of rows that were both measured; p is corrected for the number of tests (Holm)."""
    tests = []
    for comparison in COMPARISONS:
        if {comparison.first, comparison.second} <= set(figures.rows):
            tests += [
                {**asdict(comparison), "metric": metric, "group": group, **test}
                for metric, group in COMPARED
                if (test := _test(figures, comparison.first, comparison.second, metric, group))
            ]
    for test, adjusted in zip(tests, holm([test["p"] for test in tests]), strict=True):
        test["p_adjusted"] = adjusted
    return tests


def _test(figures: Figures, first: str, second: str, metric: str, group: str) -> dict[str, float] | None:
    if metric not in figures.means:
        return None
    number, places = GROUPS.index(group), [figures.rows.index(name) for name in (first, second)]
    ours, theirs = (figures.means[metric][place][number] for place in places)
    if ours is None or theirs is None:
        return None
    draws = figures.draws[metric][:, places, number]
    return asdict(difference(ours - theirs, draws[:, 0] - draws[:, 1]))


def curves(measured: Sequence[Found], sample: Sample, bootstrap: Bootstrap) -> list[dict[str, Any]]:
    """Return the panels of the paper's figure: a metric by length, one curve with an interval per row."""
    shown = [each for each in measured if each.row.name in CURVES]
    panels = [("mrr", "query"), ("pmrr", "query"), ("mrl", "query")]
    panels += [("mrr", "prefix"), ("pmrr", "prefix"), ("normalised_mrl", "query")]
    return [_panel(shown, sample, bootstrap, metric, of) for metric, of in panels if shown]


def _panel(shown: Sequence[Found], sample: Sample, bootstrap: Bootstrap, metric: str, of: str) -> dict[str, Any]:
    all_lengths = sample.lengths if of == "query" else sample.prefix_lengths
    weights = _weights(metric, sample)
    lengths = [int(each) for each in np.unique(all_lengths) if weights[all_lengths == each].sum() >= _FEWEST]
    curves = {}
    if lengths:
        masks = np.stack([weights * (all_lengths == length) for length in lengths], axis=1)
        columns = [each.quality.values(metric, sample) for each in shown if each.quality is not None]
        drawn = bootstrap.means(np.stack(columns, axis=1), masks)  # (draws, rows, lengths)
        for place, (each, column) in enumerate(zip(shown, columns, strict=True)):
            points = [estimate(mean(column, mask), drawn[:, place, number]) for number, mask in enumerate(masks.T)]
            curves[each.row.name] = [asdict(point) for point in points]
    return {"metric": metric, "of": of, "lengths": lengths, "curves": curves}
