"""`halfword live`: changes of what is suggested, also while servers run."""

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from halfword.cli.output import print_fields, print_json
from halfword.core.errors import LiveError, OptionError
from halfword.core.journal import Writer
from halfword.core.live import Change, Kind, change
from halfword.core.live_report import Report, report_of
from halfword.core.live_state import compact, read_summed


class Action(StrEnum):
    """What to do with a journal."""

    ADD = "add"
    REMOVE = "remove"
    ALLOW = "allow"
    BOOST = "boost"
    WEIGH = "weigh"
    PIN = "pin"
    UNPIN = "unpin"
    LIST = "list"
    EXPORT = "export"
    COMPACT = "compact"
    REPORT = "report"


def live(
    action: Annotated[Action, typer.Argument(help="What to do.")],
    journal: Annotated[Path, typer.Argument(help="The journal, like my.halfword.live.")],
    texts: Annotated[list[str] | None, typer.Argument(help="Queries; export names no query.")] = None,
    count: Annotated[float | None, typer.Option(help="add: times typed (1); boost: factor; weigh: weight.")] = None,
    prefix: Annotated[str, typer.Option(help="pin, unpin: what is typed.")] = "",
    position: Annotated[int, typer.Option(help="pin: the place, from 1.")] = 1,
    beginning: Annotated[bool, typer.Option("--beginning", help="remove: all that begins so.")] = False,
    model: Annotated[Path | None, typer.Option(help="report: what it knows is not new.")] = None,
    days: Annotated[int, typer.Option(help="report: the last days, against those before.")] = 7,
) -> None:
    """Change what is suggested, at once and for good.

    Example: halfword live remove my.halfword.live "john smith" --beginning
    """
    if action in (Action.LIST, Action.EXPORT, Action.COMPACT, Action.REPORT):
        if texts:
            raise OptionError(f"live {action} takes no query")
        _tell(action, journal, model, days)
        return
    if not texts:
        raise OptionError(f'live {action} needs a query, as in: halfword live {action} {journal} "new york"')
    if action in (Action.BOOST, Action.WEIGH) and count is None:
        raise OptionError(f"live {action} needs --count, its {'factor' if action is Action.BOOST else 'weight'}")
    made = [_change(action, text, 1.0 if count is None else count, prefix, position, beginning) for text in texts]
    if not journal.exists():
        typer.echo(f"halfword: {journal} is a new journal; servers see it if they were started with it", err=True)
    number = Writer(journal, warn=lambda text: typer.echo(f"halfword: {text}", err=True)).append(made)
    typer.echo(f"{journal}: change {number} is on disk", err=True)


def _change(action: Action, text: str, count: float, prefix: str, position: int, beginning: bool) -> Change:
    match action:
        case Action.ADD:
            return change(Kind.TYPED, text, count)
        case Action.BOOST:
            return change(Kind.BOOST, text, count)
        case Action.WEIGH:
            return change(Kind.WEIGHT, text, count)
        case Action.REMOVE:
            return change(Kind.REMOVED_BEGINNING if beginning else Kind.REMOVED, text)
        case Action.ALLOW:
            return change(Kind.ALLOWED, text)
        case Action.PIN:
            return change(Kind.PIN, text, position, prefix)
        case Action.UNPIN:
            return change(Kind.UNPIN, text, prefix=prefix)
    raise LiveError(f"{action} is no change")


def _tell(action: Action, journal: Path, model: Path | None, days: int) -> None:
    if action is Action.COMPACT:
        before, after = compact(journal)
        typer.echo(f"{journal}: {before:,} bytes became {after:,}", err=True)
        return
    summed, _ = read_summed(journal)
    if action is Action.REPORT:
        _report(report_of(summed, _known_to(model), days=days))
        return
    typed = (Change(Kind.TYPED, text, number) for text, number in sorted(summed.counts().items()))
    for each in (*typed, *summed.changes()):
        if action is Action.EXPORT:
            pin = {"prefix": each.prefix} if each.prefix or each.kind is Kind.PIN else {}
            print_json({"change": each.kind, "text": each.text, "number": each.number, **pin})
        else:
            print_fields(each.kind, each.text, f"{each.number:g}", *([each.prefix] if each.prefix else []))


def _report(report: Report) -> None:
    """Print the queries that stand out, one per line: why, the query, and numbers."""
    print(f"{report.typed:,} queries were typed, {report.removed:,} are removed")
    for row in report.new:
        print_fields("new", row.text, f"typed {row.typed}", f"accepted {row.accepted}")
    for row in report.rising:
        print_fields("rising", row.text, f"typed {row.typed}", f"before {row.before}", f"accepted {row.accepted}")
    for row in report.never_accepted:
        print_fields("never accepted", row.text, f"typed {row.typed}")


def _known_to(model: Path | None) -> Callable[[str], bool]:
    """Return what tells whether a query is in the log of a model; without a model none is."""
    if model is None:
        return lambda text: False
    from halfword.search.live import Live
    from halfword.search.model import load

    live = Live(load(model))
    return lambda text: live.count(text) > 0
