"""The command line: one subcommand per stage. Only this package prints, and only here are errors turned to lines."""

import errno
import io
import os
import sys
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from halfword.cli.signals import Interrupted
from halfword.core.errors import INTERRUPTED, HalfwordError, OptionError
from halfword.core.version import __version__

_SETTINGS: dict[str, Any] = {
    "context_settings": {"help_option_names": ["-h", "--help"]},
    "pretty_exceptions_enable": False,
    "rich_markup_mode": None,  # frames and wrapped columns would not fit the help on one screen
}
# Each command, in the order of the help, and the module that has a function of the same name as itself.
_COMMANDS = {
    "complete": "complete",
    "prepare": "prepare",
    "count": "count_ngrams",
    "train": "train",
    "shrink": "shrink",
    "import-subword-qac": "import_subword_qac",
    "evaluate": "evaluate",
    "bench": "bench",
    "reproduce": "reproduce",
    "info": "info",
    "serve": "serve",
    "live": "live",
    "try": "try_out",
    "doctor": "doctor",
}
# For the few who have a cluster, or the paper's own checkpoints; the list fits one screen.
_UNLISTED = {"count", "import-subword-qac"}


class _Commands(TyperGroup):
    """The commands, each imported when it is asked for: completing should not wait for what serving needs."""

    def list_commands(self, ctx: Any) -> list[str]:
        return [name for name in _COMMANDS if name not in _UNLISTED]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name in _COMMANDS and cmd_name not in self.commands:
            module = _COMMANDS[cmd_name]
            alone = typer.Typer(add_completion=False, **_SETTINGS)
            alone.command(cmd_name)(getattr(import_module(f"halfword.cli.{module}"), module))
            self.commands[cmd_name] = typer.main.get_command(alone)
        return super().get_command(ctx, cmd_name)


app = typer.Typer(name="halfword", cls=_Commands, no_args_is_help=True, **_SETTINGS)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"halfword {__version__}")
        raise typer.Exit


@app.callback()
def halfword(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Finishes half-typed search queries, as in: halfword complete "new yo"."""


def main() -> None:
    """Run the command line; a foreseen error is one line and status 1, or 2 for a wrong option; Ctrl-C is 130."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # it is None when it was closed before we began
            stream.reconfigure(errors="backslashreplace")  # a terminal that knows ASCII only is no reason to stop
    try:
        app()
    except HalfwordError as error:
        print(f"halfword: {error}", file=sys.stderr)
        sys.exit(error.status if isinstance(error, Interrupted) else 2 if isinstance(error, OptionError) else 1)
    except BrokenPipeError:  # the reader of our output had enough, as `head` has
        _forget_output()
        sys.exit(1)
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        _forget_output()
        print("halfword: the output cannot be written (no space is left on the device)", file=sys.stderr)
        sys.exit(1)
    except SystemExit as leaving:
        if leaving.code == INTERRUPTED:  # what Typer makes of Ctrl-C
            print("halfword: interrupted", file=sys.stderr)
        raise


def _forget_output() -> None:
    """Let what Python still holds for stdout go nowhere, or it would complain at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
