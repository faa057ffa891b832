"""`halfword evaluate`."""

from typing import Any

from rich.table import Table

from halfword.cli.options import AsJson, Data, HelpAll, ModelFile, NoVerify, takes
from halfword.cli.output import cells, console, print_json, table
from halfword.cli.progress import progress
from halfword.core.fields import changed
from halfword.data.dataset import open_dataset
from halfword.evaluation.context import KIND_NAMES, METRICS
from halfword.evaluation.evaluate import EvaluateOptions
from halfword.evaluation.evaluate import evaluate as run
from halfword.evaluation.report import Report
from halfword.search.model import DEFAULT_MODEL, load

_GROUPS = ("seen", "unseen", "all")


@takes(EvaluateOptions)
def evaluate(
    data: Data,
    model: ModelFile = DEFAULT_MODEL,
    *,
    given: dict[str, Any],
    no_verify: NoVerify = False,
    as_json: AsJson = False,
    help_all: HelpAll = False,
) -> None:
    """Measure how well a model completes the test queries.

    Example: halfword evaluate --model popular.halfword --data data/ --sample 5000
    """
    options = changed(EvaluateOptions(), given)
    with progress() as tell:
        report = run(load(model, verify=not no_verify), open_dataset(data), options, tell)
    if as_json:
        print_json({"model": model.name, "data": data.name, **report.to_json()})
    else:
        console.print(_report_table(report))
        if report.context is not None:
            console.print(_context_table(report.context))


def _context_table(by_kind: dict[str, Any]) -> Table:
    made = table("rows that …", "rows", *METRICS, "difference of mrr", caption="without → with context")
    for kind, found in by_kind.items():
        gains = [f"{found[name]['without']:.4f} → {found[name]['with_context']:.4f}" for name in METRICS]
        made.add_row(
            KIND_NAMES[kind], f"{found['rows']:,}", *gains, f"{found['mrr']['low']:+.4f} to {found['mrr']['high']:+.4f}"
        )
    return made


def _report_table(report: Report) -> Table:
    made = table("", *_GROUPS, caption=f"{report.completions_per_second:,.0f} completions per second on all cores")
    made.add_row("rows", *(f"{report.rows[group]:,}" for group in _GROUPS))
    for name, means in report.metrics.items():
        made.add_row(name, *cells(means[group] for group in _GROUPS))
    return made
