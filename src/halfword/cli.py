"""The command line: one subcommand a stage; the only module that prints."""

import os
import sys

import typer
from rich.console import Console

from halfword.errors import HalfwordError, OptionError

app = typer.Typer(
    name="halfword",
    help="Finishes half-typed search queries.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
out = Console(highlight=False, soft_wrap=True)
progress_out = Console(stderr=True, highlight=False, soft_wrap=True)


def main() -> None:
    """Run the command line; a foreseen mistake is one line and exit status 1, or 2 for a wrong option."""
    try:
        app()
    except HalfwordError as error:
        print(f"halfword: {error}", file=sys.stderr)
        sys.exit(2 if isinstance(error, OptionError) else 1)
    except BrokenPipeError:  # the reader of our output had enough, as `head` has
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
