"""`halfword prepare`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from halfword.cli.options import AsJson, HelpAll, takes
from halfword.cli.output import console, print_json, table
from halfword.cli.progress import progress
from halfword.core.errors import require
from halfword.core.fields import changed
from halfword.data.options import PrepareOptions

if TYPE_CHECKING:
    from halfword.data.funnel import Funnel


@takes(PrepareOptions)
def prepare(
    logs: Annotated[list[str], typer.Argument(help="Query logs: files, folders, patterns; also .gz, .zst.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The dataset folder to write.", show_default=False)],
    given: dict[str, Any],
    keep_personal: Annotated[
        bool,
        typer.Option("--keep-personal", help="Keep e-mail addresses, phone numbers and long numbers.", hidden=True),
    ] = False,
    as_json: AsJson = False,
    help_all: HelpAll = False,
) -> None:
    """Make a dataset of query logs.

    Example: halfword prepare logs/*.txt.gz -o data/
    """
    for module in ("pyarrow", "ibis"):
        require(module, "prepare")
    from halfword.data.pipeline import prepare as run
    from halfword.data.rows import Problem

    options = changed(PrepareOptions(), given)
    options = changed(options, {"scrub": False}) if keep_personal else options
    with progress() as tell:
        funnel = run(logs, output, options, tell)
    if as_json:
        print_json(funnel.as_dict())
    else:
        console.print(_funnel_table(funnel))
        for line in funnel.files:
            console.print(line)
        if Problem.UTF8 in funnel.broken:
            broken = f"{funnel.broken[Problem.UTF8]:,}"
            console.print(f"{broken} rows are not UTF-8; read another encoding with --encoding, such as latin-1")
        if funnel.too_short and options.min_length > 2:
            console.print(
                f"{funnel.too_short:,} rows are too short; --min-length 2 keeps those of two letters, such as hr"
            )
        if funnel.personal:
            alone = f"{funnel.personal:,} rows hold nothing but numbers of six digits or more, or addresses"
            console.print(f"{alone}, which may be personal; --keep-personal keeps them, such as part numbers")


def _funnel_table(funnel: "Funnel") -> Table:
    caption = None if funnel.seen is None else f"{funnel.seen:.1%} of test is seen in train"
    made = table("", "rows", "distinct", caption=caption)
    made.add_row("read", f"{funnel.read:,}")
    for reason, number in funnel.dropped().items():
        made.add_row(f"− {reason}", f"{number:,}")
    if funnel.weighted:
        made.add_row("weights", f"{funnel.weighted:+,}")
    made.add_section()
    for split, size in funnel.splits.items():
        made.add_row(str(split), f"{size.rows:,}", f"{size.distinct:,}")
    return made
