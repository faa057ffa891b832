"""`halfword try`."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from halfword.cli.options import NoVerify, takes
from halfword.core.errors import OptionError
from halfword.core.fields import changed
from halfword.core.filters import FilterOptions
from halfword.search.filtered import FILTER, filtered
from halfword.search.model import DEFAULT_MODEL, load


@takes(FilterOptions)
def try_out(
    models: Annotated[
        list[Path] | None,
        typer.Option("--model", "-m", help="A model file; twice, to compare two.", show_default=False),
    ] = None,
    *,
    given: dict[str, Any],
    no_verify: NoVerify = False,
) -> None:
    """Type ahead in the terminal.

    Example: halfword try --model my.halfword
    """
    from halfword.cli.screen import Contender, TryOut

    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise OptionError("try needs a terminal; to complete lines of a file, use: halfword complete < prefixes.txt")
    paths = models or [DEFAULT_MODEL]
    if len(paths) > 2:
        raise OptionError(f"try shows two models at the most, got {len(paths)}")
    loaded = [(path.stem, load(path, verify=not no_verify)) for path in paths]
    filtering = changed(FILTER, given)
    TryOut([Contender(name, filtered(model, filtering)) for name, model in loaded]).run()
