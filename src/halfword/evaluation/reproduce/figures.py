"""The figures of a report: the paper's curves by length, and quality against latency."""

import io
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from halfword.evaluation.reproduce.labels import Point, label_points
from halfword.evaluation.reproduce.rows import GROUPS
from halfword.evaluation.reproduce.words import METRIC_NAMES

INK, MUTED, GRID, PAPER = "#1b1f24", "#66707b", "#d5dbe1", "#ffffff"  # the page replaces them by its own
CURVE_COLOURS = {"char": "#8a63d2", "bpe-256-r": "#0f8f80", "sr-256-r-m": "#d9622b"}
GROUP_COLOURS = dict(zip(GROUPS, ("#8a63d2", "#3b82c4", "#0f8f80", "#d9622b", "#b8860b"), strict=True))
_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 9,
    "text.color": INK,
    "axes.edgecolor": GRID,
    "axes.labelcolor": INK,
    "axes.grid": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "legend.frameon": False,
}


def pictures(content: Mapping[str, Any], beside: Mapping[str, tuple[float, float]]) -> dict[str, dict[str, bytes]]:
    """Return each figure that can be drawn, as SVG and as PNG."""
    found = {}
    if any(panel["lengths"] for panel in content["curves"]):
        found["lengths"] = _drawn("lengths", lambda: _lengths(content))
    if any(row["speed"] and "metrics" in row for row in content["rows"]):
        found["frontier"] = _drawn("frontier", lambda: _frontier(content, beside))
    return found


def _drawn(name: str, draw: Any) -> dict[str, bytes]:
    with mpl.rc_context({**_STYLE, "svg.hashsalt": name}):
        figure = draw()
        files = {}
        for kind, options in (("svg", {"metadata": {"Date": None}}), ("png", {"dpi": 160})):
            stream = io.BytesIO()
            figure.savefig(stream, format=kind, facecolor=PAPER, **options)
            files[kind] = stream.getvalue()
    return files


def _lengths(content: Mapping[str, Any]) -> Figure:
    labels = {row["name"]: row["label"] for row in content["rows"]}
    figure = Figure(figsize=(9, 5.4), layout="constrained")
    axes = figure.subplots(2, 3)
    for panel, place in zip(content["curves"], axes.flat, strict=True):
        _panel(place, panel, labels)
    handles, names = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=len(names))
    return figure


def _panel(axes: Axes, panel: Mapping[str, Any], labels: Mapping[str, str]) -> None:
    if not panel["lengths"]:
        axes.text(0.5, 0.5, "too few rows", color=MUTED, ha="center", transform=axes.transAxes)
        axes.set(xticks=[], yticks=[])
    for name, points in panel["curves"].items():
        colour = CURVE_COLOURS[name]
        values, low, high = ([point[part] for point in points] for part in ("value", "low", "high"))
        axes.plot(panel["lengths"], values, color=colour, label=labels[name], linewidth=1.6, marker="o", markersize=2.5)
        axes.fill_between(panel["lengths"], low, high, color=colour, alpha=0.18, linewidth=0)
    axes.set_ylim(bottom=0)
    axes.set_title(f"{METRIC_NAMES[panel['metric']]} by {panel['of']} length", fontsize=10)
    axes.set_xlabel("characters")


def _frontier(content: Mapping[str, Any], beside: Mapping[str, tuple[float, float]]) -> Figure:
    figure = Figure(figsize=(9, 5.6), layout="constrained")
    axes = figure.subplots()
    points = [_point(row) for row in content["rows"] if row["speed"] and "metrics" in row]
    others = [Point(name, milliseconds, mrr, MUTED) for name, (milliseconds, mrr) in beside.items()]
    best = frontier(points)
    axes.plot([each.x for each in best], [each.y for each in best], color=MUTED, linewidth=1, linestyle=":", zorder=1)
    for group, title in GROUPS.items():
        own = [point for point in points if point.colour == GROUP_COLOURS[group]]
        if own:
            axes.scatter(
                [each.x for each in own], [each.y for each in own], s=34, color=own[0].colour, label=title, zorder=3
            )
    if others:
        axes.scatter(
            [each.x for each in others],
            [each.y for each in others],
            s=34,
            marker="s",
            color=MUTED,
            label="Other systems",
        )
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(lambda value, place: f"{value:g}")
    axes.xaxis.set_minor_formatter(lambda value, place: "")
    axes.set_xlabel("milliseconds a completion on one core, median")
    axes.set_ylabel("MRR over all")
    axes.margins(0.12, 0.08)
    figure.legend(loc="outside upper left", fontsize=8, ncols=2)
    label_points(figure, axes, [*others, *best, *(point for point in points if point not in best)])
    return figure


def _point(row: Mapping[str, Any]) -> Point:
    latency, mrr = row["speed"]["milliseconds"]["p50"], row["metrics"]["mrr"]["all"]["value"]
    return Point(row["label"], latency, mrr, GROUP_COLOURS[row["group"]])


def frontier(points: Sequence[Point]) -> list[Point]:
    """Return the Pareto frontier: the points for which no other is both faster and better."""
    best: list[Point] = []
    for point in sorted(points, key=lambda each: (each.x, -each.y)):
        if not best or point.y > best[-1].y:
            best.append(point)
    return best
