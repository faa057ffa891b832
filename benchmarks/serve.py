"""Load on `halfword serve`: throughput, latency, memory, refusals and start. Prints JSON; needs wrk.

python benchmarks/serve.py load --model M --data DATASET --workers 2 --seconds 60
python benchmarks/serve.py http --model M --data DATASET       the same with a completer that answers at once
python benchmarks/serve.py overload --model M --data DATASET   ten times the connections it can bear, then as before
python benchmarks/serve.py startup --model M                   from the command to the first answer
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from halfword.complete import DEFAULTS, Completion, SearchOptions
from halfword.dataset import Split, open_dataset
from halfword.serve.app import App
from halfword.serve.log import Log
from halfword.serve.metrics import Metrics
from halfword.serve.models import Models
from halfword.serve.options import ServeOptions
from halfword.serve.supervise import Supervisor, bind
from serving import cpu_seconds, memory_kib, metrics_of, running, typed_prefixes, write_prefixes, wrk

WARM_UP = 3  # seconds


class Instant:
    """A completer that answers at once, so that what is measured is HTTP."""

    def complete(self, prefix: str, options: SearchOptions = DEFAULTS) -> list[Completion]:
        """Return ten completions."""
        return [Completion(prefix + ending, -1.5, "both") for ending in _ENDINGS]


_ENDINGS = [f" times {number}" for number in range(10)]


def serve_instant(model: Path, workers: int) -> None:
    """Run the real server around `Instant`."""
    options = ServeOptions(model=model, port=0, workers=workers)
    models, metrics, log = Models(model, (), options.cache), Metrics(workers), Log(os.open(os.devnull, os.O_WRONLY))
    models.current = replace(models.current, completer=Instant())
    with bind(options.host, 0) as listener:
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        app = App(options, models, metrics, log)
        Supervisor(workers, app, listener, models, metrics, log).run(lambda: print(address, flush=True))


def measure_load(command: list[str], prefixes: Path, connections: int, seconds: float) -> dict[str, Any]:
    """Load a server steadily."""
    with running(command) as (process, address):
        wrk(address, prefixes, seconds=WARM_UP, connections=connections)
        memory = MemorySamples(process)
        before = cpu_seconds(process)
        measured = wrk(address, prefixes, seconds=seconds, connections=connections)
        spent = cpu_seconds(process) - before
        return measured | {
            "connections": connections,
            "cpu_microseconds_a_request": round(spent / measured["requests"] * 1e6, 1),
            "memory_mib": memory.stop(),
            "cache_hits": metrics_of(address)["halfword_cache_hits_total"],
        }


class MemorySamples:
    """The memory of a server and its workers, looked at every two seconds."""

    def __init__(self, process: int) -> None:
        self._process = process
        self._samples: list[float] = []
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        while not self._end.wait(2):
            self._samples.append(round(memory_kib(self._process) / 1024, 1))

    def stop(self) -> dict[str, float]:
        """Return how much it was at first, in the middle, and at last."""
        self._end.set()
        self._thread.join()
        samples = self._samples or [round(memory_kib(self._process) / 1024, 1)]
        return {"first": samples[0], "middle": samples[len(samples) // 2], "last": samples[-1]}


def measure_overload(command: list[str], prefixes: Path, connections: int, seconds: float) -> dict[str, Any]:
    """Load a server as it can bear, then with ten times and a hundred times the connections, then as before."""
    with running(command) as (process, address):
        wrk(address, prefixes, seconds=WARM_UP, connections=connections)
        result: dict[str, Any] = {"before": wrk(address, prefixes, seconds=seconds, connections=connections)}
        for times in (10, 100):
            earlier = metrics_of(address)
            measured = wrk(address, prefixes, seconds=seconds, connections=connections * times)
            answered = _answers(metrics_of(address), 200) - _answers(earlier, 200)
            measured["answered_per_second"] = round(answered / measured["seconds"])
            result[f"{times} times"] = measured
        result["afterwards"] = wrk(address, prefixes, seconds=seconds, connections=connections)
        result["memory_mib"] = round(memory_kib(process) / 1024, 1)
    return result


def _answers(metrics: dict[str, float], status: int) -> float:
    return metrics.get(f'halfword_requests_total{{route="complete",status="{status}"}}', 0.0)


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
        queries = [query for split in (Split.TEST, Split.TRAIN) for query in data.rows(split)]
        with tempfile.TemporaryDirectory() as folder:
            prefixes = write_prefixes(Path(folder) / "prefixes", typed_prefixes(queries))
            measure = measure_overload if arguments.what == "overload" else measure_load
            result = measure(command, prefixes, arguments.connections, arguments.seconds)
    settings = {"what": arguments.what, "model": arguments.model.name, "workers": arguments.workers}
    print(json.dumps(settings | result | machine(), indent=2))
    return None


if __name__ == "__main__":
    main()
