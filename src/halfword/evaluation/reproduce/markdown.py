"""The tables of a report as Markdown, for documents; without any query."""

from collections.abc import Mapping, Sequence
from typing import Any

from halfword.evaluation.reproduce import prose
from halfword.evaluation.reproduce.sample import GROUPS
from halfword.evaluation.reproduce.tables import (
    COSTS,
    SHOWN,
    Line,
    comparison_columns,
    comparison_lines,
    context_columns,
    context_lines,
    tables,
)
from halfword.evaluation.reproduce.words import METRIC_NAMES


def markdown(content: Mapping[str, Any]) -> str:
    """Return all tables, each under a heading."""
    data = content["data"]
    rows = f"{data['rows']['all']:,} test rows, {data['rows']['seen']:,} of them seen in training"
    parts = [
        f"Figures are seen / unseen / all, the 95 % interval behind all; MRL over {data['walked_rows']:,} rows; "
        f"{rows}. Lines in italics are the paper's, on the full AOL log.",
    ]
    for title, lines in tables(content).items():
        names = [METRIC_NAMES[metric] for metric in SHOWN]
        parts += [f"### {title}", _table(["", *names, *COSTS], [_grouped(line) for line in lines])]
    if content["context"] is not None:
        parts += ["### With the earlier queries of a session", prose.context(content)]
    if lines := context_lines(content):
        parts += [_table(["", *context_columns()], [_noted(line) for line in lines])]
    if lines := comparison_lines(content):
        head = ["question", "rows", *comparison_columns()]
        parts += ["### Comparisons", _table(head, [_noted(line) for line in lines])]
    return "\n\n".join(parts) + "\n"


def _noted(line: Line) -> list[str]:
    """Return a line with notes in brackets."""
    return [line.label, *(f"{cell.text} ({cell.note})" if cell.note else cell.text for cell in line.cells)]


def _grouped(line: Line) -> list[str]:
    """Return a line that has the figures of seen, unseen and all in one cell."""
    if line.left_out:
        return [line.label, f"left out: {line.left_out}", *[""] * (len(SHOWN) - 1 + len(COSTS))]
    size = len(GROUPS)
    cells = [f"**{cell.text}**" if cell.best else cell.text for cell in line.cells]
    figures = []
    for start in range(0, size * len(SHOWN), size):
        note = line.cells[start + size - 1].note
        figures.append(" / ".join(cells[start : start + size]) + (f" {note}" if note else ""))
    label = f"*{line.label}*" if line.paper else line.label
    return [label, *figures, *cells[size * len(SHOWN) :]]


def _table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    rule = ["---", *["---:"] * (len(head) - 1)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, rule, *lines))
