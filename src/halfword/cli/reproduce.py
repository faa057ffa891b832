"""`halfword reproduce`."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from halfword.cli.options import takes
from halfword.cli.output import cells, console, print_fields, table
from halfword.cli.progress import console as progress_console
from halfword.cli.progress import progress
from halfword.core.errors import require
from halfword.core.fields import changed
from halfword.data.dataset import open_dataset
from halfword.evaluation.reproduce.options import ReproduceOptions


@takes(ReproduceOptions)
def reproduce(
    data: Annotated[Path, typer.Argument(help="A dataset folder, or plain query files.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder of the report.", show_default=False)],
    given: dict[str, Any],
) -> None:
    """Repeat the paper on a dataset and go past it: train, measure, and write a report.

    What is finished is kept and not done again, so the same command goes on where it was stopped.

    Example: halfword reproduce data/ -o report/ --quick
    """
    require("numpy", "train")
    from halfword.evaluation.reproduce.workflow import reproduce as run

    options = changed(ReproduceOptions(), given)
    with progress(lines=True) as tell:
        results = run(open_dataset(data), output, options, tell)
    for name, reason in results["left_out"].items():
        progress_console.print(f"{name} is left out: {reason}")
    if "rows" in results:
        console.print(_rows_table(results["rows"]))
        print_fields(str(output / "report.html"))


def _rows_table(rows: list[dict[str, Any]]) -> Table:
    columns = ("", "seen", "unseen", "all", "PMRR", "MRL", "p50 ms")
    made = table(*columns, caption="MRR as seen, unseen and all; the others over all")
    for row in rows:
        if found := row.get("metrics"):
            values = [found["mrr"][group]["value"] for group in ("seen", "unseen", "all")]
            values += [found[metric]["all"]["value"] for metric in ("pmrr", "mrl")]
            made.add_row(row["label"], *cells([*values, (row["speed"] or {}).get("milliseconds", {}).get("p50")]))
    return made
