"""`halfword complete`."""

import sys
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from halfword.cli.options import AsJson, HelpAll, ModelFile, NoVerify, divided, takes
from halfword.cli.output import print_fields, print_json
from halfword.core.errors import TextError
from halfword.core.filters import FilterOptions
from halfword.core.options import DEFAULTS, SearchOptions
from halfword.core.printable import printable
from halfword.search.filtered import FILTER, filtered
from halfword.search.model import DEFAULT_MODEL, Completion, load


@takes(SearchOptions, FilterOptions)
def complete(
    prefixes: Annotated[
        list[str] | None, typer.Argument(help="What was typed; left out, one per line of stdin.")
    ] = None,
    model: ModelFile = DEFAULT_MODEL,
    *,
    given: dict[str, Any],
    no_verify: NoVerify = False,
    scores: Annotated[bool, typer.Option("--scores", help="Add log p(text | prefix), source, corrected.")] = False,
    context: Annotated[
        list[str] | None, typer.Option("--context", help="An earlier query of the session; several, the oldest first.")
    ] = None,
    as_json: AsJson = False,
    help_all: HelpAll = False,
) -> None:
    """Print the likeliest completions of each PREFIX.

    Example: halfword complete "new yo"
    """
    options, filtering = divided(given, DEFAULTS, FILTER)
    completer = filtered(load(model, verify=not no_verify), filtering)
    several = prefixes is None or len(prefixes) > 1
    for prefix in _stdin_lines() if prefixes is None else prefixes:
        completions = completer.complete(prefix, options, context=context or ())
        if as_json:
            _print_json(prefix, completions)
            continue
        if not completions:
            typer.echo(f"no completion of {printable(prefix)!r}", err=True)
        for completion in completions:
            fields = [prefix] if several else []
            fields += [completion.display]
            fields += _judged(completion) if scores else []
            print_fields(*fields)


def _judged(completion: Completion) -> list[str]:
    fields = [f"{completion.score:.4f}", completion.source]
    return [*fields, "corrected"] if completion.corrected else fields


def _print_json(prefix: str, completions: list[Completion]) -> None:
    print_json({"prefix": prefix, "completions": [completion._asdict() for completion in completions]})


def _stdin_lines() -> Iterator[str]:
    for number, line in enumerate(sys.stdin.buffer, 1):
        try:
            yield line.decode("utf-8").rstrip("\r\n")
        except UnicodeDecodeError:
            raise TextError(f"stdin, line {number}: not UTF-8; convert the input first") from None
