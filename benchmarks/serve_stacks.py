"""What HTTP costs with other servers, frameworks and JSON libraries; prints JSON. Needs wrk and what it compares:

pip install uvicorn uvloop httptools h11 granian hypercorn starlette fastapi litestar orjson msgspec
python benchmarks/serve_stacks.py --data DATASET [--model MODEL, for one row more: the model in the loop or in a thread]

The figure to look at is the processor time of the server for one request: it hardly depends on what else runs.
The last is how much memory grows while four clients send requests without reading the answers.
"""

import argparse
import asyncio
import importlib.util
import json
import os
import socket
import statistics
import sys
import tempfile
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from attack import Crowd, attack, pipeline
from halfword.data.dataset import Split, open_dataset
from serving import HERE, cpu_seconds, memory_kib, running, typed_prefixes, write_prefixes, wrk

UVICORN = [
    "uvicorn",
    "--loop=asyncio",
    "--factory",
    "--no-access-log",
    "--log-level=critical",
    "--no-proxy-headers",
    "--port={port}",
]
GRANIAN = ["granian", "--factory", "--interface=asgi", "--no-ws", "--no-log", "--port={port}"]
HYPERCORN = ["hypercorn", "--bind=127.0.0.1:{port}", "--worker-class=uvloop"]


@dataclass(frozen=True, slots=True)
class Stack:
    """One way to serve."""

    name: str
    command: list[str]
    needs: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)


def stacks(model: Path | None) -> list[Stack]:
    """Return all that is compared."""
    plain = [*UVICORN, "--http=httptools"]
    found = [
        Stack("own connections, httptools, asyncio; orjson", ["stacks", "{port}"]),
        Stack("uvicorn, httptools, asyncio; bare; orjson", [*plain, "stacks:bare"], ("orjson",)),
        Stack("the same with msgspec", [*plain, "stacks:bare"], ("msgspec",), {"HALFWORD_JSON": "msgspec"}),
        Stack("the same with json", [*plain, "stacks:bare"], (), {"HALFWORD_JSON": "json"}),
        Stack("uvicorn, httptools, uvloop; bare; orjson", [*UVICORN, "--loop=uvloop", "stacks:bare"], ("uvloop",)),
        Stack(
            "uvicorn, h11, asyncio; bare; orjson", [*UVICORN, "--loop=asyncio", "--http=h11", "stacks:bare"], ("h11",)
        ),
        Stack("uvicorn, httptools, asyncio; Starlette; orjson", [*plain, "stacks:starlette"], ("starlette",)),
        Stack("uvicorn, httptools, asyncio; FastAPI", [*plain, "stacks:fastapi"], ("fastapi",)),
        Stack("uvicorn, httptools, asyncio; Litestar", [*plain, "stacks:litestar"], ("litestar",)),
        Stack("granian; bare; orjson", [*GRANIAN, "stacks:bare"], ("granian",)),
        Stack("hypercorn, uvloop; bare; orjson", [*HYPERCORN, "stacks:bare()"], ("hypercorn", "uvloop")),
    ]
    if model is not None:
        loaded = {"HALFWORD_MODEL": str(model)}
        found.append(Stack("the first, with a model in the event loop", [*plain, "stacks:bare"], (), loaded))
        threaded = loaded | {"HALFWORD_THREAD": "1"}
        found.append(Stack("the first, with a model in a thread", [*plain, "stacks:bare"], (), threaded))
    return found


def measure(stack: Stack, prefixes: Path, seconds: float, connections: int) -> dict[str, Any]:
    """Load one stack for a while."""
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", *(part.format(port=port) for part in stack.command)]
    os.environ.update(stack.environment)
    try:
        with running(command, address=f"http://127.0.0.1:{port}") as (process, address):
            wrk(address, prefixes, seconds=1, connections=connections)
            before = cpu_seconds(process)
            measured = wrk(address, prefixes, seconds=seconds, connections=connections)
            measured["microseconds"] = (cpu_seconds(process) - before) / measured["requests"] * 1e6
            return measured | _pipelined(process, port, seconds)
    finally:
        for name in stack.environment:
            del os.environ[name]


def _pipelined(process: int, port: int, seconds: float) -> dict[str, Any]:
    """Return how memory grows while four clients send requests and read nothing."""
    before = memory_kib(process)
    asyncio.run(attack(Crowd(port), pipeline, 4, seconds))
    return {"pipelining_mib": (memory_kib(process) - before) / 1024}


def main() -> None:
    """Measure all stacks, several times in turn, and print the medians."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--connections", type=int, default=8)
    arguments = parser.parse_args()
    os.environ["PYTHONPATH"] = os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])
    rounds: dict[str, list[dict[str, Any]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        queries = open_dataset(arguments.data).rows(Split.TEST)
        prefixes = write_prefixes(Path(folder) / "prefixes", typed_prefixes(queries))
        for _ in range(arguments.rounds):
            for stack in stacks(arguments.model):
                if all(importlib.util.find_spec(module) for module in stack.needs):
                    measured = measure(stack, prefixes, arguments.seconds, arguments.connections)
                    rounds.setdefault(stack.name, []).append(measured)
    for name, results in rounds.items():
        row: dict[str, Any] = {"stack": name}
        for figure in ("microseconds", "requests_per_second", "p99_ms", "pipelining_mib"):
            row[figure] = round(statistics.median(result[figure] for result in results), 2)
        print(json.dumps(row))


if __name__ == "__main__":
    main()
