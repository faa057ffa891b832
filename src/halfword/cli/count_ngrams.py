"""`halfword count`."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from halfword.cli.options import AsJson, HelpAll, takes
from halfword.cli.output import console, print_json
from halfword.cli.progress import progress
from halfword.core.errors import require
from halfword.core.fields import changed
from halfword.data.dataset import open_dataset
from halfword.training.count_options import CountOptions


@takes(CountOptions)
def count_ngrams(
    data: Annotated[Path, typer.Argument(help="A dataset folder.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder to write.", show_default=False)],
    *,
    given: dict[str, Any],
    as_json: AsJson = False,
    help_all: HelpAll = False,
) -> None:
    """Count the n-grams of a dataset that is too large for one machine.

    Example: halfword count data/ --engine spark --least-count 5 -o counts/
    """
    require("numpy", "train")
    from halfword.training.ngram_counts import count_ngrams as run

    with progress(lines=True) as tell:
        card = run(open_dataset(data), output, changed(CountOptions(), given), tell)
    if as_json:
        print_json(asdict(card))
        return
    for name, number in card.windows.items():
        console.print(f"{output / name}: {number:,} windows of at most {card.order} pieces")
    console.print("learn from them with: halfword train --counts")
