"""`halfword import-subword-qac`."""

from pathlib import Path
from typing import Annotated

import typer

from halfword.cli.options import AsJson
from halfword.cli.output import print_json, print_learned
from halfword.cli.progress import progress
from halfword.core.errors import require
from halfword.core.progress import Event


def import_subword_qac(
    folder: Annotated[Path, typer.Argument(help="A folder with the model.pt and spm.model of the paper's code.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The model file to write.", show_default=False)],
    as_json: AsJson = False,
) -> None:
    """Turn a checkpoint of the paper's code into a model file.

    Example: halfword import-subword-qac checkpoints/bpe-256 -o paper.halfword
    """
    require("numpy", "train")
    from halfword.training.import_subword_qac import import_subword_qac as run

    with progress(lines=True) as tell:
        tell(Event("reading the checkpoint"))
        card = run(folder, output)
    if as_json:
        print_json(card.to_json())
    else:
        print_learned(output, card)
