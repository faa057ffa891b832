"""Fuzz `halfword prepare` with logs of every format, whole and damaged; prints JSON, and fails if anything was found.

python benchmarks/fuzz_logs.py --minutes 60 [--seed 0] [--first 0]

Each log must become a dataset, or end with one HalfwordError of one line, within bounds of time and memory. Nothing may
be left behind: no scratch folder, and where a dataset was before, either the new one or the old one, whole.
A finding names the number of its log; `--first NUMBER --minutes 0.01` tries that one again.
"""

import argparse
import json
import multiprocessing
import random
import resource
import sys
import tempfile
import time
import traceback
from collections import Counter
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from halfword.core.errors import HalfwordError
from halfword.core.scrub import query_of
from halfword.core.text import DEFAULT, PAPER, SHORTEST_QUERY
from halfword.data import backends
from halfword.data.dataset import open_dataset
from halfword.data.funnel import Funnel
from halfword.data.options import PrepareOptions, SplitBy, SplitOptions
from halfword.data.pipeline import prepare
from random_logs import write_log

HANG_SECONDS = 600  # on the clock, however busy the machine is
SECONDS, SECONDS_PER_MB = 10.0, 1.0  # of processor time, for a log of so many MB unpacked
MEMORY_MIB = 1024  # of the process, Python and its libraries included
TABLES = 512 << 20  # bytes that DuckDB may take, less than usual: so logs of this size show that it keeps to its limit
LARGE_LOG = 1 << 20  # bytes; what such a log leaves in the process would be taken for that of the next one


@dataclass(slots=True)
class Tried:
    """What became of one log."""

    outcome: str
    bytes: int
    seconds: float = 0.0
    memory: int = 0  # MiB at its peak
    faults: dict[str, str] = field(default_factory=dict)


def random_options(chance: random.Random) -> PrepareOptions:
    """Return options that ask for something unusual now and then."""
    return PrepareOptions(
        profile=chance.choice((DEFAULT,) * 9 + (PAPER,)),
        split=SplitOptions(
            by=chance.choice((None,) * 8 + (SplitBy.ROWS, SplitBy.TIME)), valid_share=chance.choice((0.05, 0.0, 0.5))
        ),
        min_count=chance.choice((1, 1, 1, 2)),
        min_users=chance.choice((1,) * 9 + (2,)),
        max_length=chance.choice((500, 20, 1_000_000)),
        block=chance.choice(((), (), ("sexual", "slurs"))),
    )


def try_log(folder: Path, chance: random.Random) -> Tried:
    """Prepare a random log, sometimes over an older dataset, and look at what came of it."""
    output, log = folder / "data", folder / "log"
    if chance.random() < 0.2:
        _older_dataset(folder, output)
    before = _fingerprint(output)
    tried = Tried("dataset", write_log(log, chance))
    begin = _processor_seconds()
    options = None
    _forget_peak()
    try:
        options = random_options(chance)
        funnel = prepare([log], output, options)
    except HalfwordError as error:
        tried.outcome = type(error).__name__
        if not str(error).isprintable():
            tried.faults["message is not one printable line"] = repr(str(error))
        if _fingerprint(output) != before:
            tried.faults["output changed by an error"] = str(error)
    except Exception:
        tried.outcome = "traceback"
        tried.faults["traceback"] = traceback.format_exc()
    else:
        _check_dataset(output, funnel, options, tried.faults)
    tried.seconds, tried.memory = _processor_seconds() - begin, _peak()
    _check_bounds(tried, folder)
    return tried


def _check_dataset(output: Path, funnel: Funnel, options: PrepareOptions, faults: dict[str, str]) -> None:
    data = open_dataset(output)
    for split, size in funnel.splits.items():
        counts = data.counts(split) if size.rows else {}  # opening an empty split is an error
        if (sum(counts.values()), len(counts)) != (size.rows, size.distinct):
            faults["the dataset is not what the funnel says"] = f"{split}: {size}"
        for query in counts:
            if query_of(query, options.profile) != query or not SHORTEST_QUERY <= len(query) <= options.max_length:
                faults["not a query"] = repr(query)[:500]


def _check_bounds(tried: Tried, folder: Path) -> None:
    left = {path.name for path in folder.iterdir()} - {"log", "data", "older.txt"}
    if left:
        tried.faults["left behind"] = str(left)
    if tried.seconds > SECONDS + SECONDS_PER_MB * tried.bytes / 1e6:
        tried.faults["too slow"] = f"{tried.seconds:.1f} s for {tried.bytes} bytes"
    if tried.memory > MEMORY_MIB:
        tried.faults["too much memory"] = f"{tried.memory} MiB for {tried.bytes} bytes"


def _older_dataset(folder: Path, output: Path) -> None:
    (folder / "older.txt").write_text("older query\n" * 100)
    prepare([folder / "older.txt"], output)


def _fingerprint(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()} if folder.exists() else {}


def _processor_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def _forget_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")


def _peak() -> int:
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) // 1024


def work(channel: Connection, seed: int) -> None:
    """Try the logs whose numbers come, in a process that may crash or hang without harm."""
    backends.MOST_MEMORY = TABLES
    while True:
        number = channel.recv()
        with tempfile.TemporaryDirectory() as folder:
            channel.send(try_log(Path(folder), random.Random(f"{seed} {number}")))


class Worker:
    """The process that tries logs; after a crash or a hang a new one takes its place."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._channel, theirs = context.Pipe()
        self._process = context.Process(target=work, args=(theirs, self._seed), daemon=True)
        self._process.start()
        theirs.close()

    def try_log(self, number: int) -> Tried:
        """Return what became of the log with this number."""
        self._channel.send(number)
        try:
            if self._channel.poll(HANG_SECONDS):
                tried = self._channel.recv()
                assert isinstance(tried, Tried)
                if tried.bytes > LARGE_LOG:
                    self.end()
                    self._start()
                return tried
            fault = {"hangs": f"for {HANG_SECONDS} s"}
        except EOFError:
            self._process.join()
            fault = {"crash": f"status {self._process.exitcode}"}
        self.end()
        self._start()
        return Tried("crash or hang", 0, faults=fault)

    def end(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.join()


def fuzz(arguments: argparse.Namespace) -> dict[str, Any]:
    """Try logs until the time is over."""
    end, number = time.monotonic() + 60 * arguments.minutes, arguments.first
    outcomes: Counter[str] = Counter()
    faults: Counter[str] = Counter()
    examples: dict[str, dict[int, str]] = {}
    slowest, largest = (0.0, 0), (0, 0)  # with the numbers of their logs
    worker = Worker(arguments.seed)
    while number == arguments.first or time.monotonic() < end:
        tried = worker.try_log(number)
        outcomes[tried.outcome] += 1
        slowest, largest = max(slowest, (tried.seconds, number)), max(largest, (tried.memory, number))
        for fault, example in tried.faults.items():
            faults[fault] += 1
            print(json.dumps({"log": number, "fault": fault, "example": example}), file=sys.stderr, flush=True)
            if len(examples.setdefault(fault, {})) < 3:
                examples[fault][number] = example
        number += 1
    worker.end()
    return {
        "minutes": arguments.minutes,
        "seed": arguments.seed,
        "logs": number - arguments.first,
        "outcomes": dict(outcomes),
        "slowest": {"processor_seconds": round(slowest[0], 1), "log": slowest[1]},
        "largest": {"memory_mib": largest[0], "log": largest[1]},
        "faults": dict(faults),
        "examples": examples,
    }


def main() -> None:
    """Fuzz and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first log")
    result = fuzz(parser.parse_args())
    print(json.dumps(result, indent=2))
    sys.exit(bool(result["faults"]))


if __name__ == "__main__":
    main()
