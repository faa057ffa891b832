"""The command line: one subcommand a stage; the only module that prints."""

import json
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from halfword.errors import HalfwordError, OptionError, TextError

if TYPE_CHECKING:
    from halfword.evaluate import Progress as EvaluateProgress
    from halfword.evaluate import Report

app = typer.Typer(
    name="halfword",
    help="Finishes half-typed search queries.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
out = Console(highlight=False, soft_wrap=True)
progress_out = Console(stderr=True, highlight=False, soft_wrap=True)


ModelFile = Annotated[Path, typer.Option("--model", "-m", help="The model file.", show_default=False)]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")]


@app.command()
def complete(
    model: ModelFile,
    prefixes: Annotated[
        list[str] | None, typer.Argument(help="What was typed so far; left out, a prefix a line on stdin.")
    ] = None,
    count: Annotated[int, typer.Option("--count", "-n", help="Completions to print.")] = 10,
    scores: Annotated[bool, typer.Option("--scores", help="Add log p(text | prefix) and the source.")] = False,
    as_json: AsJson = False,
) -> None:
    """Print the likeliest completions of each PREFIX, a line each, best first.

    Example: halfword complete --model my.halfword "new yo"
    """
    from halfword.complete import SearchOptions, load

    completer = load(model)
    options = SearchOptions(count=count)
    several = prefixes is None or len(prefixes) > 1
    for prefix in _stdin_lines() if prefixes is None else prefixes:
        completions = completer.complete(prefix, options)
        if as_json:
            rows = [completion._asdict() for completion in completions]
            print(json.dumps({"prefix": prefix, "completions": rows}, ensure_ascii=False))
            continue
        for completion in completions:
            fields = [prefix] if several else []
            fields += [completion.text, f"{completion.score:.4f}", completion.source] if scores else [completion.text]
            print("\t".join(fields))


@app.command()
def train(
    data: Annotated[Path, typer.Argument(help="A dataset folder, or one of {train,valid,test}.query.txt(.gz).")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The model file to write.", show_default=False)],
    parts: Annotated[str, typer.Option("--parts", help="What to learn, separated by commas.")] = "popular",
    as_json: AsJson = False,
) -> None:
    """Learn a model file from a dataset.

    Example: halfword train data/ --parts popular -o popular.halfword
    """
    from halfword.dataset import open_dataset
    from halfword.train import TrainOptions
    from halfword.train import train as run

    options = TrainOptions(parts=tuple(part.strip() for part in parts.split(",")))
    with progress_out.status("starting") as status:
        card = run(open_dataset(data), output, options, status.update)
    if as_json:
        print(json.dumps(card, ensure_ascii=False))
        return
    learned = card["parts"]["popular"]
    out.print(f"{output}: {learned['queries']:,} queries, typed {learned['rows']:,} times")


@app.command()
def evaluate(
    model: ModelFile,
    data: Annotated[Path, typer.Option("--data", "-d", help="The dataset to measure on.", show_default=False)],
    sample: Annotated[int | None, typer.Option(help="Measure only so many rows, drawn at random.")] = None,
    seed: Annotated[int, typer.Option(help="Draws another sample.")] = 0,
    walk: Annotated[int | None, typer.Option(help="Rows asked at every prefix (MRL, keystrokes); 0 for none.")] = None,
    paper: Annotated[bool, typer.Option("--paper", help="Repeat the accident of the paper's code.")] = False,
    as_json: AsJson = False,
) -> None:
    """Measure a model on the test split: MRR, PMRR, MRL and more, for seen, unseen and all queries.

    Example: halfword evaluate --model popular.halfword --data data/ --sample 5000
    """
    from halfword.complete import load
    from halfword.dataset import open_dataset
    from halfword.evaluate import EvaluateOptions
    from halfword.evaluate import evaluate as run

    options = EvaluateOptions(sample=sample, seed=seed, walk=walk, paper=paper)
    with _progress_bar() as progress:
        report = run(load(model), open_dataset(data), options, progress)
    if as_json:
        print(json.dumps({"model": model.name, "data": data.name, **report.to_json()}))
    else:
        out.print(_report_table(report))


@app.command()
def info(
    model: Annotated[Path, typer.Argument(help="The model file.")],
    as_json: AsJson = False,
) -> None:
    """Print what a model file says of itself: its card, its parts and their sizes.

    Example: halfword info popular.halfword
    """
    from halfword.model_file import read_header

    header = read_header(model)
    sizes = {name: place.end - place.begin for name, place in header.places.items()}
    if as_json:
        print(json.dumps({"card": header.card, "bytes": sizes}, ensure_ascii=False))
        return
    print(json.dumps(header.card, ensure_ascii=False, indent=2))
    for name, size in sorted(sizes.items()):
        print(f"{name}\t{size:,} bytes")


def _stdin_lines() -> Iterator[str]:
    for number, line in enumerate(sys.stdin.buffer, 1):
        try:
            yield line.decode("utf-8").rstrip("\r\n")
        except UnicodeDecodeError:
            raise TextError(f"stdin, line {number}: not UTF-8; convert the input first") from None


@contextmanager
def _progress_bar() -> "Iterator[EvaluateProgress]":
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed:,}"), TimeRemainingColumn())
    with Progress(*columns, console=progress_out, transient=True, disable=not progress_out.is_terminal) as bar:
        task = bar.add_task("starting", total=None)
        yield lambda stage, done, total: bar.update(task, description=stage, completed=done, total=total)


def _report_table(report: "Report") -> Table:
    groups = ("seen", "unseen", "all")
    table = Table(caption=f"{report.completions_per_second:,.0f} completions a second on all cores")
    table.add_column("")
    for group in groups:
        table.add_column(group, justify="right")
    table.add_row("rows", *(f"{report.rows[group]:,}" for group in groups))
    for name, means in report.metrics.items():
        table.add_row(name, *_cells(means[group] for group in groups))
    return table


def _cells(values: Iterable[float | None]) -> Iterator[str]:
    return ("–" if value is None else f"{value:.4f}" for value in values)


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
