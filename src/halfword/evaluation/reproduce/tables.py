"""The tables of a report as plain cells, for the page and for Markdown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from halfword.evaluation.context import KIND_NAMES
from halfword.evaluation.context import METRICS as IN_CONTEXT
from halfword.evaluation.reproduce.results import COMPARED
from halfword.evaluation.reproduce.rows import ALSO, GROUPS
from halfword.evaluation.reproduce.sample import GROUPS as NOVELTY
from halfword.evaluation.reproduce.words import METRIC_NAMES, NOTHING, chance, figure, half_width, marks, number

SHOWN = ("mrr", "pmrr", "mrl")
OTHERS = ("success", "partial_mrl", "normalised_mrl", "keystrokes_saved")
COSTS = ("steps", "cells", "p50 ms", "CPU /s", "GPU /s", "MB")


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell: a figure, a note below it, and whether it is the best of its column."""

    text: str
    note: str = ""
    best: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a table; the paper's line comes below ours."""

    label: str
    cells: list[Cell]
    paper: bool = False
    left_out: str | None = None


def tables(content: Mapping[str, Any]) -> dict[str, list[Line]]:
    """Return the lines of each group that is not empty, by its title."""
    found = {}
    for group, title in GROUPS.items():
        rows = [row for row in content["rows"] if row["group"] == group]
        also = [row for row in content["rows"] if row["name"] in ALSO.get(group, ())]
        if rows:
            found[title] = _lines([*also, *rows])
    return found


def _lines(rows: Sequence[Mapping[str, Any]]) -> list[Line]:
    best = {
        (metric, group): max((_value(row, metric, group) for row in rows if "metrics" in row), default=None)
        for metric in SHOWN
        for group in NOVELTY
    }
    lines = []
    for row in rows:
        if "metrics" not in row:
            lines.append(Line(row["label"], [], left_out=row["left_out"]))
            continue
        lines.append(Line(row["label"], [*_figures(row, best), *_costs(row)]))
        if row["published"]:
            lines.append(Line("paper", _published(row["published"]), paper=True))
    return lines


def _value(row: Mapping[str, Any], metric: str, group: str) -> float:
    value: float | None = row["metrics"].get(metric, {}).get(group, {}).get("value")
    return -1.0 if value is None else value


def _figures(row: Mapping[str, Any], best: Mapping[tuple[str, str], float | None]) -> list[Cell]:
    cells = []
    for metric in SHOWN:
        estimates = row["metrics"].get(metric)
        for group in NOVELTY:
            if estimates is None:
                cells.append(Cell(NOTHING))
                continue
            text = figure(metric, estimates[group]["value"])
            is_best = text == figure(metric, best[metric, group]) and text != NOTHING
            cells.append(Cell(text, half_width(metric, estimates[group]), is_best))
    return cells


def _costs(row: Mapping[str, Any]) -> list[Cell]:
    speed = row["speed"] or {}
    measured = row["measured_on"]
    gpu = measured["completions_per_second"] if measured["device"] == "cuda" else None
    values = [speed.get("steps"), speed.get("cells"), speed.get("milliseconds", {}).get("p50")]
    values += [speed.get("completions_per_second"), gpu, speed.get("megabytes")]
    return [Cell(number(value)) for value in values]


def _published(paper: Mapping[str, Any]) -> list[Cell]:
    cells = [Cell(figure(metric, value)) for metric in SHOWN for value in paper[metric]]
    costs = [paper["decode_length"], None, None, paper["cpu"], paper["gpu"], None]
    return [*cells, *(Cell("" if value is None else number(value)) for value in costs)]


def other_lines(content: Mapping[str, Any]) -> list[Line]:
    """Return the metrics that the paper does not report, over all rows."""
    lines = []
    for row in content["rows"]:
        if "metrics" in row:
            estimates = [(metric, row["metrics"].get(metric, {}).get("all")) for metric in OTHERS]
            lines.append(Line(row["label"], [_estimate(metric, found) for metric, found in estimates]))
    return lines


def _estimate(metric: str, found: Mapping[str, Any] | None) -> Cell:
    return Cell(NOTHING) if found is None else Cell(figure(metric, found["value"]), half_width(metric, found))


def context_columns() -> list[str]:
    """Return the names of the columns of figures without and with context."""
    names = [METRIC_NAMES[metric] for metric in IN_CONTEXT]
    return ["rows", *(column for name in names for column in (name, f"{name} with context", "difference"))]


def context_lines(content: Mapping[str, Any]) -> list[Line]:
    """Return what the session's earlier queries bring each row that knows them, by kind of test row."""
    return [
        Line(f"{row['label']}: {KIND_NAMES[kind]}", [Cell(f"{found['rows']:,}"), *_gains(found)])
        for row in content["rows"]
        for kind, found in (row["context"] or {}).items()
    ]


def _gains(found: Mapping[str, Any]) -> list[Cell]:
    cells = []
    for metric in IN_CONTEXT:
        gain = found[metric]
        low, high = figure(metric, gain["low"], signed=True), figure(metric, gain["high"], signed=True)
        cells += [Cell(figure(metric, gain["without"])), Cell(figure(metric, gain["with_context"]))]
        change = figure(metric, gain["with_context"] - gain["without"], signed=True)
        cells.append(Cell(change, f"{low} … {high}"))
    return cells


def comparison_columns() -> list[str]:
    """Return the names of the columns of differences."""
    return [f"{METRIC_NAMES[metric]} {group}" for metric, group in COMPARED]


def comparison_lines(content: Mapping[str, Any]) -> list[Line]:
    """Return the differences between the rows that the report compares."""
    labels = {row["name"]: row["label"] for row in content["rows"]}
    by_question: dict[str, list[Mapping[str, Any]]] = {}
    for test in content["comparisons"]:
        by_question.setdefault(test["question"], []).append(test)
    lines = []
    for question, tests in by_question.items():
        first, second = labels[tests[0]["first"]], labels[tests[0]["second"]]
        found = {(test["metric"], test["group"]): test for test in tests}
        cells = [Cell(f"{first} minus {second}"), *(_difference(found.get(key)) for key in COMPARED)]
        lines.append(Line(question, cells))
    return lines


def _difference(test: Mapping[str, Any] | None) -> Cell:
    if test is None:
        return Cell(NOTHING)
    metric = test["metric"]
    low, high = figure(metric, test["low"], signed=True), figure(metric, test["high"], signed=True)
    stars = marks(test["p_adjusted"])
    return Cell(
        figure(metric, test["value"], signed=True) + stars,
        f"{low} … {high}, p {chance(test['p_adjusted'])}",
        bool(stars),
    )


def accident_lines(content: Mapping[str, Any]) -> list[Line]:
    """Return MRR and PMRR with and without the mistake of the paper's code, next to the paper's PMRR."""
    lines = []
    for row in content["rows"]:
        if row.get("paper_mode") and row["published"]:
            values = [row["metrics"]["pmrr"]["all"]["value"], row["paper_mode"]["pmrr"]["all"]]
            values += [
                row["published"]["pmrr"][2],
                row["metrics"]["mrr"]["all"]["value"],
                row["paper_mode"]["mrr"]["all"],
            ]
            lines.append(Line(row["label"], [Cell(figure("pmrr", value)) for value in values]))
    return lines
