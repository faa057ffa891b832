"""A server that is asked for many times what it bears: what it answers, how it refuses, and how it is afterwards."""

import asyncio
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from typing import Any

from asking import ask, offer
from serving import WARM_UP, MemorySamples, cpu_seconds, metrics_of, running

ROUNDS = 2  # one could cost something once: memory for as many connections


@dataclass(frozen=True, slots=True)
class Crowd:
    """Those who ask when a server is overloaded, and before and after that."""

    paths: Sequence[str]
    connections: int  # before and afterwards
    seconds: float  # of each phase
    times: float  # what the server bears, that is how much the overload asks
    fresh: bool  # whether each request of the overload opens a connection


def measure_overload(command: list[str], crowd: Crowd) -> dict[str, Any]:
    """Load a server as it can bear, overload it, load it as before, overload it again; and all without overload."""
    with running(command) as (process, address):
        warm_up = asyncio.run(ask(address, crowd.paths, crowd.connections, WARM_UP))
        some = round(warm_up["asked_per_second"] * crowd.seconds)
        overloaded = _measure_rounds(process, address, crowd, some, overload=True)
    with running(command) as (process, address):
        asyncio.run(ask(address, crowd.paths, crowd.connections, WARM_UP))
        control = _measure_rounds(process, address, crowd, some, overload=False)
    return {"overload": overloaded, "without_overload": control}


def _measure_rounds(process: int, address: str, crowd: Crowd, some: int, *, overload: bool) -> dict[str, Any]:
    """Ask for `some` paths; twice for others, in excess or not, and for the same again."""
    same, others = crowd.paths[:some], crowd.paths[some:]
    before = _phase(process, address, ask(address, same, crowd.connections))
    rate = crowd.times * before["answered_per_second"]
    rounds = []
    for _ in range(ROUNDS):
        if overload:
            load = offer(address, others, rate, crowd.seconds, fresh=crowd.fresh)
        else:
            load = ask(address, others, crowd.connections, crowd.seconds)
        between = _phase(process, address, load)
        rounds.append(_compared(before, between, _phase(process, address, ask(address, same, crowd.connections))))
    return {"before": before, "rounds": rounds}


def _compared(before: dict[str, Any], between: dict[str, Any], afterwards: dict[str, Any]) -> dict[str, Any]:
    return {
        "offered_to_borne": _ratio(between["asked_per_second"], before["answered_per_second"]),
        "offered_to_answered": _ratio(between["asked_per_second"], between["answered_per_second"]),
        "between": between,
        "afterwards": afterwards,
        "afterwards_to_before": {
            "throughput": _ratio(afterwards["answered_per_second"], before["answered_per_second"]),
            "p50": _ratio(afterwards["answered"]["p50_ms"], before["answered"]["p50_ms"]),
            "p99": _ratio(afterwards["answered"]["p99_ms"], before["answered"]["p99_ms"]),
            # What else runs on the machine changes this least.
            "cpu": _ratio(afterwards["cpu_microseconds_a_request"], before["cpu_microseconds_a_request"]),
        },
    }


def _phase(process: int, address: str, asking: Coroutine[Any, Any, dict[str, Any]]) -> dict[str, Any]:
    """Run a client; also return what only the server knows."""
    memory, cut, earlier = MemorySamples(process), _cut_answers(address), cpu_seconds(process)
    measured = asyncio.run(asking)
    spent = cpu_seconds(process) - earlier
    return measured | {
        "cut": _cut_answers(address) - cut,
        "server_cores": round(spent / measured["seconds"], 2),
        "cpu_microseconds_a_request": round(spent / measured["requests"] * 1e6, 1),
        "memory_mib": memory.stop(),
    }


def _cut_answers(address: str) -> int:
    """Return how many answers the deadline has cut short so far."""
    return int(metrics_of(address)["halfword_deadlines_total"])


def _ratio(value: float, base: float) -> float:
    return round(value / base, 2) if base else 0.0
