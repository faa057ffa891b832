"""What the benchmarks of the server share: starting one, loading it with wrk, and reading what it cost."""

import json
import os
import re
import subprocess
import threading
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus

HERE = Path(__file__).parent
TICKS = os.sysconf("SC_CLK_TCK")
WARM_UP = 3  # seconds


def typed_prefixes(queries: Sequence[str], most: int = 400_000) -> list[str]:
    """Return distinct prefixes in the order in which they are typed, key by key, query after query."""
    prefixes: dict[str, None] = {}
    for query in queries:
        for end in range(1, min(len(query), 200) + 1):
            prefixes.setdefault(query[:end])
        if len(prefixes) >= most:
            break
    return list(prefixes)


def write_prefixes(path: Path, prefixes: Sequence[str]) -> Path:
    """Write prefixes as they stand in an address, a line each."""
    path.write_text("".join(f"{quote_plus(prefix)}\n" for prefix in prefixes))
    return path


@contextmanager
def running(command: Sequence[str], *, address: str | None = None) -> Iterator[tuple[int, str]]:
    """Run a server until the block ends; yields its process and its address, which it prints unless it is given."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert process.stdout is not None
        found = address or re.search(r"http://\S+", process.stdout.readline())[0]  # type: ignore[index]
        _wait_until_it_answers(found)
        yield process.pid, found
    finally:
        process.terminate()
        process.wait(20)


def _wait_until_it_answers(address: str) -> None:
    for _ in range(200):
        try:
            with urllib.request.urlopen(f"{address}/complete?q=a", timeout=5):
                return
        except OSError:
            time.sleep(0.05)
    raise SystemExit(f"{address} does not answer")


def wrk(address: str, prefixes: Path, *, seconds: float, connections: int, threads: int = 1) -> dict[str, Any]:
    """Load a server and return what wrk measured."""
    command = ["wrk", f"-t{threads}", f"-c{connections}", f"-d{seconds:.0f}s", "-s", str(HERE / "typed.lua")]
    result = subprocess.run([*command, address, "--", str(prefixes), str(threads)], capture_output=True, text=True)
    if result.returncode:
        raise SystemExit(f"wrk failed: {result.stdout}{result.stderr}")
    measured: dict[str, Any] = json.loads(result.stdout.strip().splitlines()[-1])
    measured["requests_per_second"] = round(measured["requests"] / measured["seconds"])
    return measured


def family(process: int) -> list[int]:
    """Return a process and all that it has started."""
    found = [process]
    for task in Path(f"/proc/{process}/task").iterdir():
        for child in (task / "children").read_text().split():
            found += family(int(child))
    return found


def cpu_seconds(process: int) -> float:
    """Return the processor time of a process and its children."""
    total = 0
    for member in family(process):
        fields = Path(f"/proc/{member}/stat").read_text().rpartition(")")[2].split()
        total += int(fields[11]) + int(fields[12])
    return total / TICKS


def memory_kib(process: int) -> int:
    """Return the memory of a process and its children; what they share is counted once."""
    total = 0
    for member in family(process):
        rollup = Path(f"/proc/{member}/smaps_rollup").read_text()
        total += int(re.search(r"^Pss:\s+(\d+)", rollup, re.MULTILINE)[1])  # type: ignore[index]
    return total


def metrics_of(address: str) -> dict[str, float]:
    """Return the server's own numbers."""
    with urllib.request.urlopen(f"{address}/metrics", timeout=60) as reply:
        lines = reply.read().decode().splitlines()
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines if line[0] != "#")}


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
