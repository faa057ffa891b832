"""The command line: one subcommand a stage; the only module that prints."""

import errno
import io
import json
import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from rich.console import Console
from rich.table import Table

from halfword.cli.progress import console as progress_console
from halfword.cli.progress import is_helper, progress
from halfword.cli.signals import Interrupted
from halfword.core.errors import INTERRUPTED, HalfwordError, OptionError, TextError, require
from halfword.core.fields import changed
from halfword.core.progress import Event
from halfword.core.text import profile_named
from halfword.search.model import DEFAULT_MODEL

if TYPE_CHECKING:
    from halfword.core.card import PartsCard
    from halfword.data.funnel import Funnel
    from halfword.evaluation.evaluate import Report

app = typer.Typer(
    name="halfword",
    help='Finishes half-typed search queries.\n\nExample: halfword complete "new yo"',
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # frames and wrapped columns would not fit the help on one screen
    context_settings={"help_option_names": ["-h", "--help"]},
)
out = Console(highlight=False, soft_wrap=True)


def _show_all(context: typer.Context, wanted: bool) -> None:
    """Print the help with the options that it leaves out otherwise."""
    if wanted:
        for parameter in context.command.params:
            parameter.hidden = False  # type: ignore[attr-defined]
        print(context.get_help())
        raise typer.Exit


def _rare(*names: str, help: str) -> Any:
    """Return an option that only --help-all shows."""
    return typer.Option(*names, help=help, hidden=True)


ModelFile = Annotated[
    Path, typer.Option("--model", "-m", help="The model file; left out, the one that ships.", show_default=False)
]
HelpAll = Annotated[
    bool, typer.Option("--help-all", callback=_show_all, is_eager=True, help="Show all options, the rare ones too.")
]
Choice = TypeVar("Choice", bound=StrEnum)
Unfiltered = Annotated[bool, typer.Option("--unfiltered", help="Offer slurs and sexual terms too.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")]


@app.command()
def complete(
    prefixes: Annotated[
        list[str] | None, typer.Argument(help="What was typed; left out, a line each of stdin.")
    ] = None,
    model: ModelFile = DEFAULT_MODEL,
    count: Annotated[int, typer.Option("--count", "-n", help="Completions to print.")] = 10,
    unfiltered: Unfiltered = False,
    scores: Annotated[bool, typer.Option("--scores", help="Add log p(text | prefix) and the source.")] = False,
    as_json: AsJson = False,
) -> None:
    """Print the likeliest completions of each PREFIX.

    Example: halfword complete "new yo"
    """
    from halfword.core.options import SearchOptions
    from halfword.search.filtered import filtered
    from halfword.search.model import load

    completer = load(model) if unfiltered else filtered(load(model))
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
def prepare(
    logs: Annotated[list[str], typer.Argument(help="Query logs: files, folders, patterns; also .gz, .zst.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The dataset folder to write.", show_default=False)],
    profile: Annotated[str, _rare(help="default, or paper for the protocol of the paper.")] = "default",
    query_column: Annotated[str | None, typer.Option(help="Name or number of the queries' column.")] = None,
    user_column: Annotated[str | None, typer.Option(help="The same for users.")] = None,
    time_column: Annotated[str | None, typer.Option(help="The same for times.")] = None,
    count_column: Annotated[str | None, typer.Option(help="The same for counts.")] = None,
    split: Annotated[str | None, typer.Option(help="By dates, time or rows; left out, as can be.")] = None,
    dates: Annotated[tuple[str, str, str] | None, _rare(help="The dates on which train, valid and test begin.")] = None,
    until: Annotated[str | None, _rare(help="The date on which test ends; left out, the log's end.")] = None,
    valid_share: Annotated[float, _rare(help="Part of the log that becomes valid.")] = 0.05,
    test_share: Annotated[float, _rare(help="Part of the log that becomes test.")] = 0.05,
    min_users: Annotated[int, typer.Option(help="Learn what so many people typed.")] = 1,
    min_count: Annotated[int, typer.Option(help="Learn what was typed so often.")] = 1,
    blocklist: Annotated[Path | None, typer.Option(help="Phrases, a line each, that no query may hold.")] = None,
    keep_personal: Annotated[
        bool, _rare("--keep-personal", help="Keep e-mail addresses, phone numbers and long numbers.")
    ] = False,
    engine: Annotated[str, typer.Option(help="duckdb or spark.")] = "duckdb",
    spark_master: Annotated[str, _rare(help="Where Spark runs.")] = "local[*]",
    as_json: AsJson = False,
    help_all: HelpAll = False,
) -> None:
    """Make a dataset of query logs.

    Example: halfword prepare logs/*.txt.gz -o data/
    """
    for module in ("pyarrow", "ibis"):
        require(module, "prepare")
    from halfword.data.options import ColumnNames, Engine, PrepareOptions, SplitBy, SplitOptions
    from halfword.data.pipeline import prepare as run

    options = PrepareOptions(
        profile=replace(profile_named(profile), scrub=False) if keep_personal else profile_named(profile),
        columns=ColumnNames(query=query_column, user=user_column, time=time_column, count=count_column),
        split=SplitOptions(
            by=None if split is None else _choice(SplitBy, split, "--split"),
            dates=dates,
            until=until,
            valid_share=valid_share,
            test_share=test_share,
        ),
        min_users=min_users,
        min_count=min_count,
        blocklist=blocklist,
        engine=_choice(Engine, engine, "--engine"),
        spark_master=spark_master,
    )
    with progress() as tell:
        funnel = run(logs, output, options, tell)
    if as_json:
        print(json.dumps(funnel.as_dict(), ensure_ascii=False))
    else:
        out.print(_funnel_table(funnel))


@app.command()
def train(
    data: Annotated[Path, typer.Argument(help="A dataset folder, or plain query files.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The model file to write.", show_default=False)],
    parts: Annotated[str, typer.Option("--parts", help="What to learn.")] = "popular,ngram,network",
    fast: Annotated[bool, typer.Option("--fast", help="A smaller network, for less time a key.")] = False,
    best: Annotated[bool, typer.Option("--best", help="A larger one, taught by five others.")] = False,
    preset: Annotated[str | None, _rare(help="default, fast, teacher, taught or paper.")] = None,
    segmentation: Annotated[str | None, _rare(help="char, bpe or unigram.")] = None,
    vocabulary: Annotated[int | None, _rare(help="Pieces to learn.")] = None,
    hidden_size: Annotated[int | None, _rare(help="Width of a layer.")] = None,
    embedding_size: Annotated[int | None, _rare(help="Width of the embedding.")] = None,
    summary_size: Annotated[int | None, _rare(help="Numbers a layer hands to its next step; 0 for all.")] = None,
    layers: Annotated[int | None, _rare(help="Recurrent layers.")] = None,
    output_dropout: Annotated[float | None, _rare(help="Share of the top layer dropped while learning.")] = None,
    epochs: Annotated[int | None, typer.Option(help="How often the data is read, at most.")] = None,
    batch: Annotated[int | None, _rare(help="Queries a step, in each process.")] = None,
    learning_rate: Annotated[float | None, _rare(help="Of Adam, at its highest.")] = None,
    schedule: Annotated[str | None, _rare(help="Of the learning rate: constant or decay.")] = None,
    seed: Annotated[int | None, _rare(help="Draws other weights and another order.")] = None,
    teacher: Annotated[list[Path] | None, _rare(help="Model file of a larger network, to learn from.")] = None,
    memory_size: Annotated[float | None, typer.Option(help="Megabytes of the n-gram memory.")] = None,
    compact: Annotated[bool, _rare("--compact", help="Store the network in 8 bits only.")] = False,
    drop_misspellings: Annotated[
        bool, typer.Option("--drop-misspellings", help="Do not learn likely slips of the keyboard.")
    ] = False,
    base: Annotated[Path | None, typer.Option(help="Take the network over from this model.")] = None,
    note: Annotated[str | None, _rare(help="A sentence for the model's card.")] = None,
    licence: Annotated[str | None, _rare(help="The model's licence, for its card.")] = None,
    time_limit: Annotated[float | None, typer.Option(help="Minutes for the network to learn in.")] = None,
    device: Annotated[str | None, typer.Option(help="cpu or cuda; left out, the best there is.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a training that was stopped.")] = False,
    as_json: AsJson = False,
    help_all: HelpAll = False,
) -> None:
    """Learn a model file from a dataset.

    Example: halfword train data/ --time-limit 20 -o my.halfword
    """
    from halfword.data.dataset import open_dataset
    from halfword.training.options import TrainOptions, with_preset
    from halfword.training.train import train as run

    changes: dict[str, Any] = {
        "kind": segmentation,
        "size": vocabulary,
        "hidden_size": hidden_size,
        "embedding_size": embedding_size,
        "summary_size": summary_size,
        "layers": layers,
        "output_dropout": output_dropout,
        "epochs": epochs,
        "batch": batch,
        "learning_rate": learning_rate,
        "schedule": schedule,
        "seed": seed,
        "teachers": tuple(map(str, teacher)) if teacher else None,
        "time_limit": time_limit,
    }
    changes |= {
        "parts": tuple(part.strip() for part in parts.split(",")),
        "device": device,
        "resume": resume,
        "memory_size": memory_size,
        "compact": compact,
        "drop_misspellings": drop_misspellings,
        "base": base,
        "note": note,
        "licence": licence,
    }
    given = {name: value for name, value in changes.items() if value is not None}
    options = changed(with_preset(TrainOptions(), _preset_of(preset, fast, best)), given)
    with progress(lines=True) as tell:
        card = run(open_dataset(data), output, options, tell)
    if is_helper():
        return
    if as_json:
        print(json.dumps(card.to_json(), ensure_ascii=False))
    else:
        _print_learned(output, card.parts)


def _preset_of(preset: str | None, fast: bool, best: bool) -> str:
    """Return which preset was asked for, by its name or by --fast or --best."""
    named = [name for name in (preset, "fast" if fast else None, "best" if best else None) if name]
    if len(named) > 1:
        raise OptionError("choose one of --fast, --best and --preset")
    return named[0] if named else "default"


def _print_learned(output: Path, parts: "PartsCard") -> None:
    if popular := parts.popular:
        out.print(f"{output}: {popular.queries:,} queries, typed {popular.rows:,} times")
    if (network := parts.network) and (pieces := parts.pieces):
        line = f"{output}: {pieces.size:,} {pieces.segmentation} pieces, {network.hidden_size} hidden"
        if best := network.best:
            line += (
                f"; best epoch {best['epoch']}, validation loss {best['valid_loss']:.3f} nats per query, "
                f"perplexity {best['valid_perplexity']:.3f} per character"
            )
        out.print(line)


@app.command("import-subword-qac")
def import_subword_qac(
    folder: Annotated[Path, typer.Argument(help="A folder with the model.pt and spm.model of the paper's code.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The model file to write.", show_default=False)],
    as_json: AsJson = False,
) -> None:
    """Turn a checkpoint of the paper's code into a model file.

    Example: halfword import-subword-qac checkpoints/bpe-256 -o paper.halfword
    """
    from halfword.core.errors import require

    require("numpy", "train")
    from halfword.training.import_subword_qac import import_subword_qac as run

    with progress(lines=True) as tell:
        tell(Event("reading the checkpoint"))
        card = run(folder, output)
    if as_json:
        print(json.dumps(card.to_json(), ensure_ascii=False))
    else:
        _print_learned(output, card.parts)


@app.command()
def evaluate(
    data: Annotated[Path, typer.Option("--data", "-d", help="The dataset to measure on.", show_default=False)],
    model: ModelFile = DEFAULT_MODEL,
    sample: Annotated[int | None, typer.Option(help="Measure only so many rows, drawn at random.")] = None,
    seed: Annotated[int, typer.Option(help="Draws another sample.")] = 0,
    walk: Annotated[int | None, typer.Option(help="Rows asked at every prefix (MRL, keystrokes); 0 for none.")] = None,
    paper: Annotated[bool, typer.Option("--paper", help="Repeat the accident of the paper's code.")] = False,
    as_json: AsJson = False,
) -> None:
    """Measure how well a model completes the test queries.

    Example: halfword evaluate --model popular.halfword --data data/ --sample 5000
    """
    from halfword.data.dataset import open_dataset
    from halfword.evaluation.evaluate import EvaluateOptions
    from halfword.evaluation.evaluate import evaluate as run
    from halfword.search.model import load

    options = EvaluateOptions(sample=sample, seed=seed, walk=walk, paper=paper)
    with progress() as tell:
        report = run(load(model), open_dataset(data), options, tell)
    if as_json:
        print(json.dumps({"model": model.name, "data": data.name, **report.to_json()}))
    else:
        out.print(_report_table(report))


@app.command()
def bench(
    data: Annotated[Path, typer.Option("--data", "-d", help="The dataset to take prefixes from.", show_default=False)],
    model: ModelFile = DEFAULT_MODEL,
    sample: Annotated[int, typer.Option(help="Test rows to ask, each at one prefix.")] = 5000,
    seed: Annotated[int, typer.Option(help="Draws another sample.")] = 0,
    keystrokes: Annotated[int, typer.Option(help="Rows to type key by key besides.")] = 0,
    beam: Annotated[int, typer.Option(help="Hypotheses followed of each length.")] = 10,
    precision: Annotated[str, typer.Option(help="int8 or fp32.")] = "int8",
    kernels: Annotated[str, typer.Option(help="An instruction set; the fastest unless named.")] = "",
    cache: Annotated[bool, typer.Option("--cache/--no-cache", help="Remember between searches.")] = False,
) -> None:
    """Time a model: latency and throughput, as JSON.

    Example: halfword bench --model my.halfword --data data/
    """
    from halfword.data.dataset import open_dataset
    from halfword.evaluation.bench import BenchOptions
    from halfword.evaluation.bench import bench as run
    from halfword.search.model import load

    options = BenchOptions(sample=sample, seed=seed, keystrokes=keystrokes, beam=beam)
    loaded = load(model, precision=precision, kernels=kernels, cache=cache)
    with progress() as tell:
        result = run(loaded, open_dataset(data), options, tell)
    print(json.dumps(result, indent=2))


@app.command()
def reproduce(
    data: Annotated[Path, typer.Argument(help="A dataset folder, or one of {train,valid,test}.query.txt(.gz).")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder of the report.", show_default=False)],
    rows: Annotated[
        list[str] | None,
        typer.Option(
            "--rows", help="Rows or groups of the table, separated by commas; left out, all.", metavar="NAME…"
        ),
    ] = None,
    paper: Annotated[bool, typer.Option("--paper", help="Repeat the accident of the paper's code.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="Small networks, few test rows: minutes on a CPU.")] = False,
    steps: Annotated[str, typer.Option(help="What to do, separated by commas.")] = "train,quality,speed,report",
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto",
    sample: Annotated[int | None, typer.Option(help="Test rows to measure, drawn at random; left out, all.")] = None,
    seed: Annotated[int, typer.Option(help="Draws another sample, and other intervals.")] = 0,
    beside: Annotated[
        Path | None, typer.Option(help='JSON of other systems, {"name": [milliseconds, MRR]}, for the picture.')
    ] = None,
) -> None:
    """Repeat the paper on a dataset and go past it: train, measure, and write a report.

    What is finished is kept and not done again, so the same command goes on where it was stopped.

    Example: halfword reproduce data/ -o report/ --quick
    """
    require("numpy", "train")
    from halfword.data.dataset import open_dataset
    from halfword.evaluation.reproduce import ReproduceOptions
    from halfword.evaluation.reproduce import reproduce as run

    options = ReproduceOptions(
        rows=tuple(name.strip() for names in rows or [] for name in names.split(",")),
        steps=tuple(step.strip() for step in steps.split(",")),
        paper=paper,
        quick=quick,
        device=device,
        sample=sample,
        seed=seed,
        beside=beside,
    )
    with progress(lines=True) as tell:
        results = run(open_dataset(data), output, options, tell)
    for name, reason in results["left_out"].items():
        progress_console.print(f"{name} is left out: {reason}")
    if "rows" in results:
        out.print(_rows_table(results["rows"]))
        print(output / "report.html")


@app.command()
def info(
    model: Annotated[Path, typer.Argument(help="The model file.")],
    as_json: AsJson = False,
) -> None:
    """Print the card, the parts and the sizes of a model.

    Example: halfword info popular.halfword
    """
    from halfword.core.model_file import read_header

    header = read_header(model)
    sizes = {name: place.end - place.begin for name, place in header.places.items()}
    if as_json:
        print(json.dumps({"card": header.card.to_json(), "bytes": sizes}, ensure_ascii=False))
        return
    print(json.dumps(header.card.to_json(), ensure_ascii=False, indent=2))
    for name, size in sorted(sizes.items()):
        print(f"{name}\t{size:,} bytes")


@app.command()
def serve(
    model: ModelFile = DEFAULT_MODEL,
    host: Annotated[str, typer.Option(help="0.0.0.0 lets other machines in.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", "-p", help="Of HTTP; 0 for any that is free.")] = 8080,
    workers: Annotated[int, typer.Option("--workers", "-w", help="Processes that answer; one a core.")] = 1,
    queue: Annotated[int, _rare(help="Requests that may wait, a worker; more get 503.")] = 128,
    deadline: Annotated[float, typer.Option(help="Milliseconds that a search may take.")] = 50.0,
    cache: Annotated[int, typer.Option(help="Answers kept, a worker.")] = 4096,
    max_age: Annotated[int, _rare(help="Seconds for which browsers and a CDN may keep an answer.")] = 60,
    max_prefix: Annotated[int, _rare(help="Characters that a prefix may have.")] = 200,
    max_count: Annotated[int, _rare(help="Completions that may be asked for.")] = 100,
    max_batch: Annotated[int, _rare(help="Prefixes that a batch may have.")] = 100,
    max_body: Annotated[int, _rare(help="Bytes that a body may have.")] = 65_536,
    rate_limit: Annotated[float | None, typer.Option(help="Requests a second of each client.")] = None,
    trusted_proxy: Annotated[
        list[str] | None, _rare(help="Address of a proxy whose X-Forwarded-For is believed; may be repeated.")
    ] = None,
    allow_origin: Annotated[list[str] | None, typer.Option(help="Let pages of this origin ask; * for all.")] = None,
    api_key_file: Annotated[Path | None, typer.Option(help="Keys, a line each; a request brings one.")] = None,
    blocklist: Annotated[Path | None, typer.Option(help="Phrases, a line each, that are not offered.")] = None,
    unfiltered: Unfiltered = False,
    pad: Annotated[bool, _rare("--pad", help="Hide the length of every answer.")] = False,
    public_url: Annotated[str | None, _rare(help="What browsers call this server, behind a proxy.")] = None,
    log_requests: Annotated[bool, typer.Option("--log-requests", help="Log every request.")] = False,
    log_queries: Annotated[bool, _rare("--log-queries", help="Log every request with what was typed.")] = False,
    help_all: HelpAll = False,
) -> None:
    """Answer over HTTP, with a search box on the page.

    Example: halfword serve --model my.halfword --workers 2
    """
    from halfword.serve.options import Limits, ServeOptions
    from halfword.serve.process.supervise import serve as run

    options = ServeOptions(
        model=model,
        host=host,
        port=port,
        workers=workers,
        limits=Limits(
            longest_prefix=max_prefix, most_completions=max_count, most_prefixes=max_batch, largest_body=max_body
        ),
        queue=queue,
        deadline_ms=deadline,
        cache=cache,
        max_age=max_age,
        rate_limit=rate_limit,
        trusted_proxies=tuple(trusted_proxy or ()),
        allowed_origins=tuple(allow_origin or ()),
        api_key_file=api_key_file,
        blocklist=blocklist,
        unfiltered=unfiltered,
        pad=pad,
        public_url=public_url,
        log_requests=log_requests or log_queries,
        log_queries=log_queries,
    )
    run(options, lambda address: print(f"A search box is on {address} (Ctrl+C stops it)", flush=True))


@app.command("try")
def try_out(
    models: Annotated[
        list[Path] | None,
        typer.Option("--model", "-m", help="A model file; twice, to compare two.", show_default=False),
    ] = None,
    unfiltered: Unfiltered = False,
) -> None:
    """Type ahead in the terminal.

    Example: halfword try --model my.halfword
    """
    from halfword.cli.try_out import Contender, TryOut
    from halfword.search.filtered import filtered
    from halfword.search.model import load

    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise OptionError("try needs a terminal; to complete lines of a file, use: halfword complete < prefixes.txt")
    paths = models or [DEFAULT_MODEL]
    if len(paths) > 2:
        raise OptionError(f"try shows two models at the most, got {len(paths)}")
    loaded = [(path.stem, load(path)) for path in paths]
    TryOut([Contender(name, model if unfiltered else filtered(model)) for name, model in loaded]).run()


@app.command()
def doctor(as_json: AsJson = False) -> None:
    """Print what this installation can do, and what is missing.

    Example: halfword doctor
    """
    from halfword.cli.doctor import examine

    findings = list(examine())
    if as_json:
        print(json.dumps({finding.name: asdict(finding) for finding in findings}, ensure_ascii=False))
        return
    for finding in findings:
        remedy = f"; to get it: {finding.remedy}" if finding.remedy else ""
        print(f"{'✓' if finding.well else '–'} {finding.name:14} {finding.state}{remedy}")


def _stdin_lines() -> Iterator[str]:
    for number, line in enumerate(sys.stdin.buffer, 1):
        try:
            yield line.decode("utf-8").rstrip("\r\n")
        except UnicodeDecodeError:
            raise TextError(f"stdin, line {number}: not UTF-8; convert the input first") from None


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


def _rows_table(rows: list[dict[str, Any]]) -> Table:
    table = Table(caption="MRR as seen, unseen and all; the others over all")
    for name in ("", "seen", "unseen", "all", "PMRR", "MRL", "p50 ms"):
        table.add_column(name, justify="right" if name else "left")
    for row in rows:
        if found := row.get("metrics"):
            values = [found["mrr"][group]["value"] for group in ("seen", "unseen", "all")]
            values += [found[metric]["all"]["value"] for metric in ("pmrr", "mrl")]
            table.add_row(row["label"], *_cells([*values, (row["speed"] or {}).get("milliseconds", {}).get("p50")]))
    return table


def _choice(choices: type[Choice], given: str, option: str) -> Choice:
    try:
        return choices(given)
    except ValueError:
        raise OptionError(f"{option} must be one of {', '.join(choices)}, got {given!r}") from None


def _funnel_table(funnel: "Funnel") -> Table:
    table = Table(caption=None if funnel.seen is None else f"{funnel.seen:.1%} of test is seen in train")
    for name in ("", "rows", "distinct"):
        table.add_column(name, justify="right" if name else "left")
    table.add_row("read", f"{funnel.read:,}")
    for reason, number in funnel.dropped().items():
        table.add_row(f"− {reason}", f"{number:,}")
    table.add_section()
    for split, size in funnel.splits.items():
        table.add_row(str(split), f"{size.rows:,}", f"{size.distinct:,}")
    return table


def _cells(values: Iterable[float | None]) -> Iterator[str]:
    return ("–" if value is None else f"{value:.4f}" for value in values)


def main() -> None:
    """Run the command line; a foreseen mistake is one line and status 1, or 2 for a wrong option; Ctrl-C is 130."""
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
