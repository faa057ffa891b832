"""Load on `halfword serve`: throughput, latency, memory, refusals and start. Prints JSON; needs wrk.

python benchmarks/serve.py load --model M --data DATASET --workers 2 --seconds 60
python benchmarks/serve.py http --model M --data DATASET       the same with a completer that answers at once
python benchmarks/serve.py overload --model M --data DATASET --workers 1 --connections 4
    what it bears, twelve times as much, and the same prefixes again; then all of it without the overload. The client
    needs a core and offers some 4,000/s at the most, so M must be slow: a large network, asked for 100 completions
python benchmarks/serve.py startup --model M                   from the command to the first answer
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus

from halfword.core.options import DEFAULTS, SearchOptions
from halfword.data.dataset import Split, open_dataset
from halfword.search.model import Answer, Completion
from halfword.serve.options import ServeOptions
from halfword.serve.process.service import Service
from halfword.serve.process.supervise import Supervisor, bind
from overload import Crowd, measure_overload
from serving import WARM_UP, MemorySamples, cpu_seconds, metrics_of, running, typed_prefixes, write_prefixes, wrk


class Instant:
    """A completer that answers at once, so that what is measured is HTTP."""

    def complete(self, prefix: str, options: SearchOptions = DEFAULTS, *, context: Sequence[str] = ()) -> Answer:
        """Return ten completions."""
        return Answer([Completion(prefix + ending, -1.5, "both") for ending in _ENDINGS])


_ENDINGS = [f" times {number}" for number in range(10)]


def serve_instant(model: Path, workers: int) -> None:
    """Run the real server around `Instant`."""
    options = ServeOptions(model=model, port=0, workers=workers, unfiltered=True)
    service = Service.begin(options, os.open(os.devnull, os.O_WRONLY))
    service.models.current = replace(service.models.current, completer=Instant())
    with bind(options.host, 0) as listener:
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        Supervisor(service, listener).run(lambda: print(address, flush=True))


def measure_load(command: list[str], prefixes: Sequence[str], connections: int, seconds: float) -> dict[str, Any]:
    """Load a server steadily."""
    with tempfile.TemporaryDirectory() as folder, running(command) as (process, address):
        file = write_prefixes(Path(folder) / "prefixes", prefixes)
        wrk(address, file, seconds=WARM_UP, connections=connections)
        memory = MemorySamples(process)
        before = cpu_seconds(process)
        measured = wrk(address, file, seconds=seconds, connections=connections)
        spent = cpu_seconds(process) - before
        return measured | {
            "connections": connections,
            "cpu_microseconds_a_request": round(spent / measured["requests"] * 1e6, 1),
            "memory_mib": memory.stop(),
            "cache_hits": metrics_of(address)["halfword_cache_hits_total"],
        }


def measure_startup(command: list[str], times: int = 10) -> dict[str, Any]:
    """Return the seconds from the command to the first answer."""
    seconds = []
    for _ in range(times):
        begin = time.monotonic()
        with running(command):
            seconds.append(round(time.monotonic() - begin, 3))
    return {"median_seconds": statistics.median(seconds), "highest_seconds": max(seconds)}


def machine() -> dict[str, Any]:
    """Return what the figures depend on."""
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    names = {line.partition(":")[2].strip() for line in lines if line.startswith("model name")}
    return {"processor": sorted(names), "cores": os.cpu_count(), "load": os.getloadavg(), "commit": commit}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["load", "http", "overload", "startup", "serve-instant"])
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--connections", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--count", type=int, default=100, help="completions that the overload asks for")
    parser.add_argument("--times", type=float, default=12, help="what it bears; the client may fall behind a little")
    parser.add_argument("--deadline", type=float, default=50, help="of the overloaded server, milliseconds")
    parser.add_argument("--fresh", action="store_true", help="overload with a new connection for each request")
    arguments = parser.parse_args()
    if arguments.what == "serve-instant":
        return serve_instant(arguments.model, arguments.workers)
    workers = str(arguments.workers)
    command = [sys.executable, "-m", "halfword", "serve", "-m", str(arguments.model), "-p", "0", "-w", workers]
    if arguments.what == "startup":
        result = measure_startup(command)
    else:
        if arguments.what == "http":
            command = [sys.executable, __file__, "serve-instant", "--model", str(arguments.model), "--workers", workers]
        data = open_dataset(arguments.data)
        prefixes = typed_prefixes([query for split in (Split.TEST, Split.TRAIN) for query in data.rows(split)])
        if arguments.what == "overload":
            paths = [f"/complete?n={arguments.count}&q={quote_plus(prefix)}" for prefix in prefixes]
            crowd = Crowd(paths, arguments.connections, arguments.seconds, arguments.times, arguments.fresh)
            result = measure_overload([*command, "--cache", "0", "--deadline", str(arguments.deadline)], crowd)
        else:
            result = measure_load(command, prefixes, arguments.connections, arguments.seconds)
    settings = {"what": arguments.what, "model": arguments.model.name, "workers": arguments.workers}
    print(json.dumps(settings | result | machine(), indent=2))
    return None


if __name__ == "__main__":
    main()
