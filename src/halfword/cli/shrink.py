"""`halfword shrink`."""

from pathlib import Path
from typing import Annotated

import typer

from halfword.cli.options import AsJson
from halfword.cli.output import console, print_json
from halfword.core.errors import OptionError, require
from halfword.search.model import DEFAULT_MODEL


def shrink(
    output: Annotated[Path, typer.Option("--output", "-o", help="The model file to write.", show_default=False)],
    model: Annotated[
        Path, typer.Argument(help="The model file; left out, the one that ships.", show_default=False)
    ] = DEFAULT_MODEL,
    megabytes: Annotated[float, typer.Option("--megabytes", help="The most that the file may have.")] = 4.0,
    as_json: AsJson = False,
) -> None:
    """Make a model file smaller, so that a page can download it.

    Example: halfword shrink my.halfword -o web.halfword --megabytes 4
    """
    if not megabytes > 0:
        raise OptionError(f"--megabytes must be more than 0, got {megabytes:g}")
    require("numpy", "train")
    from halfword.training.shrink import shrink as run

    card = run(model, output, megabytes)
    if as_json:
        print_json(card.to_json())
    else:
        console.print(f"{output}: {output.stat().st_size / 1e6:.2f} MB, from {model.stat().st_size / 1e6:.2f} MB")
