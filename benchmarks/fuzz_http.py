"""Fuzz `halfword serve` over HTTP while honest clients ask; prints JSON, and fails if anything was found.

python benchmarks/fuzz_http.py --minutes 60 [--seed 0] [--model MODEL] [--workers 2] [--live]

Three things go on at once:
- damaged requests (malformed.py), sent in pieces, half-closed, hung up on;
- one attack of attack.py after the other, for some seconds, over up to `--connections` connections;
- honest requests of every kind, sent in pieces and several at once, whose answers are compared with those that the
  server gave before.
It is a finding if an honest answer is wrong or does not come, if a health check fails, if anybody gets a 500 or what is
no HTTP, if the server does not hang up on somebody who has, if a worker dies, or if its memory grows by half. What is
late while a process of the server, or this program, waited for a core for half of the time is counted, but it is no
finding. On a busy machine `nice -n -5` keeps that rare. Every minute a line on stderr says how far it is.

With `--live` the server takes live changes, and half of the damaged requests ask for some (malformed_live.py). What the
others are answered then depends on them, so it only has to be an answer. At the end the journal must be readable.
"""

import argparse
import asyncio
import json
import os
import random
import struct
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from socket import SO_LINGER, SOL_SOCKET
from urllib.parse import urlsplit

from attack import ATTACKS, MOST_GROWTH, PATIENCE, Crowd, attack, warm_up
from halfword.core.live_state import read_summed
from halfword.search.model import DEFAULT_MODEL
from honest import Line, Question, learn
from malformed import damaged
from malformed_live import KEY, live_request
from serving import family, metrics_of, running

HONEST_CLIENTS, DISHONEST_CLIENTS = 4, 8
PAUSE = 0.02  # seconds between two requests of an honest client, so that the attackers get their share of the processor
HEALTH = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
LONGEST_WAIT = 20.0  # seconds per request; the server itself allows 10 for each of its phases
MOST_PATIENCE = 300.0  # seconds for everything that a client does on one connection
STATUS_SECONDS = 60.0
TOO_SLOW = 408
Waited = dict[int, float]  # process: seconds
HANG_UP_AT_ONCE = struct.pack("ii", 1, 0)  # closing sends a reset


@dataclass(slots=True)
class Found:
    """What happened, and what should not have."""

    processes: list[int]  # of the server, and this one
    changes: bool = False  # whether answers may differ from those before
    counts: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)
    slowest: dict[str, float] = field(default_factory=dict)

    def fault(self, name: str, example: object) -> None:
        """Count a fault, and keep what led to the first of its kind."""
        self.faults[name] += 1
        print(json.dumps({"fault": name, "example": repr(example)[:2000]}), file=sys.stderr, flush=True)
        self.examples.setdefault(name, repr(example)[:2000])

    def late(self, name: str, example: object, limit: float, waited: Waited) -> None:
        """Count a fault, unless the machine was too busy to run the server and us since `waited` was measured."""
        if max(now - waited.get(process, 0.0) for process, now in self.starved().items()) > limit / 2:
            self.counts[f"too busy to tell: {name}"] += 1
        else:
            self.fault(name, example)

    def starved(self) -> Waited:
        """Return for how many seconds each process of the server, and this one, was ready to run and did not."""
        files = {process: Path(f"/proc/{process}/schedstat") for process in self.processes}
        return {process: int(file.read_text().split()[1]) / 1e9 for process, file in files.items() if file.exists()}

    def took(self, name: str, begin: float) -> None:
        """Note how long something took."""
        self.slowest[name] = max(self.slowest.get(name, 0.0), time.monotonic() - begin)


async def ask_honestly(port: int, questions: list[Question], chance: random.Random, found: Found) -> None:
    """Ask several questions on one connection, sometimes without waiting for the answers, and compare."""
    waited, limit = found.starved(), 0.0  # what delays us before we send counts too: the server hangs up meanwhile
    line = await Line.open(port)
    try:
        for _ in range(chance.randint(1, 30)):
            together = chance.choices(questions, k=chance.choice((1, 1, 1, 2, 8)))
            begin, limit = time.monotonic(), LONGEST_WAIT * len(together)
            raw, pieces = b"".join(question.request for question in together), chance.choice((1, 1, 2, 5, 40))
            async with asyncio.timeout(limit), asyncio.TaskGroup() as group:
                cuts = sorted(chance.choices(range(len(raw)), k=pieces - 1))
                sending = group.create_task(line.send(raw, cuts))
                for question in together:
                    status, body = await line.reply()
                    if status == TOO_SLOW and not sending.done():  # and we were, among all that this program does
                        found.counts["honest: sent too slowly"] += 1
                    else:
                        judge(question, status, body, found)
            found.took("honest answer", begin)
            waited = found.starved()
            await asyncio.sleep(PAUSE)
    except* TimeoutError:
        found.late("no answer", raw, limit, waited)
    except* (ConnectionError, asyncio.IncompleteReadError):
        if line.is_last:  # said before it closed; this happens when a request follows a chunked one too closely
            found.counts["honest: closed as announced"] += 1
        else:
            found.late("closed without a word", raw, PATIENCE, waited)
    finally:
        line.end()


def judge(question: Question, status: int, body: bytes, found: Found) -> None:
    """Compare an answer with the one that was given before; while there are live changes it only has to be JSON."""
    if status in (429, 503):
        found.counts[f"honest: {status}"] += 1
    elif status == 200 and ((found.changes and json.loads(body) is not None) or question.is_answered_by(body)):
        found.counts["honest: right"] += 1
    elif status == 200 and b'"timed_out":true' in body:
        found.counts["honest: cut short"] += 1
    else:
        found.fault("wrong answer", (question, status, body))


async def misbehave(port: int, chance: random.Random, found: Found) -> None:
    """Send a damaged request and look at what comes back."""
    live = found.changes and chance.random() < 0.5
    raw, waited = live_request(chance) if live else damaged(chance), found.starved()
    longest = LONGEST_WAIT * max(1, raw.count(b" HTTP/1."))
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        cut = chance.randrange(len(raw) + 1) if chance.random() < 0.3 else 0
        for piece in (raw[:cut], raw[cut:]):
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0)
        ending = chance.choice(("half-closed", "half-closed", "half-closed", "closed", "reset", "left open"))
        if ending == "half-closed":
            writer.write_eof()
            begin = time.monotonic()
            look_at(await asyncio.wait_for(reader.read(-1), longest), raw, found)
            found.took("half-closed", begin)
        elif ending == "left open":
            with suppress(TimeoutError):
                look_at(await asyncio.wait_for(reader.read(2**20), 0.2), raw, found)
        elif ending == "reset":
            writer.get_extra_info("socket").setsockopt(SOL_SOCKET, SO_LINGER, HANG_UP_AT_ONCE)
        found.counts[f"damaged: {ending}"] += 1
    except TimeoutError:
        found.late("not closed", raw, longest, waited)
    finally:
        writer.close()


def look_at(answer: bytes, raw: bytes, found: Found) -> None:
    """Count what a damaged request was answered with."""
    if answer and not answer.startswith(b"HTTP/1.1 "):
        found.fault("no HTTP", (raw, answer))
    if b"HTTP/1.1 500" in answer:
        found.fault("status 500", (raw, answer))
    found.counts[
        f"{'change' if b'X-API-Key' in raw else 'damaged'}: {answer[9:12].decode('latin-1') or 'no answer'}"
    ] += 1


async def ask_for_health(port: int, found: Found) -> None:
    """Ask once whether the server is well, over a new connection as load balancers do."""
    begin, waited = time.monotonic(), found.starved()
    try:
        async with asyncio.timeout(PATIENCE):
            line = await Line.open(port)
            await line.send(HEALTH)
            status, _ = await line.reply()
            line.end()
        found.counts[f"health: {status}"] += 1
        found.took("health check", begin)
        if status != 200:
            found.fault("health check failed", status)
    except (OSError, TimeoutError, asyncio.IncompleteReadError) as error:
        found.late("health check failed", error, PATIENCE, waited)
    await asyncio.sleep(0.2)


async def attack_at_random(port: int, chance: random.Random, most: int, found: Found) -> None:
    """Let one of the attacks go on for some seconds."""
    name, crowd = chance.choice(list(ATTACKS)), Crowd(port)
    await attack(crowd, ATTACKS[name], chance.randint(1, most), chance.uniform(1, 15))
    found.counts[f"attack: {name}"] += 1
    found.counts["attack: bytes sent"] += crowd.seen["bytes sent"]
    if crowd.seen["status 500"]:
        found.fault("status 500", name)


async def repeat(end: float, what: Callable[[], Awaitable[None]], found: Found) -> None:
    """Do something again and again until the time is over."""
    while time.monotonic() < end:
        waited = found.starved()
        try:
            async with asyncio.timeout(MOST_PATIENCE):
                await what()
        except TimeoutError:
            found.late("no answer", what, MOST_PATIENCE, waited)
        except OSError:
            found.counts["connections lost"] += 1


class Workers:
    """The worker processes of a server: none may die, and none may grow by half."""

    def __init__(self, server: int) -> None:
        self._server = server
        self._begin = self._peak = self._memory()
        self.numbers = list(self._begin)

    def _memory(self) -> dict[int, int]:
        pages = {worker: Path(f"/proc/{worker}/statm").read_text().split()[1] for worker in family(self._server)[1:]}
        return {worker: int(count) * 4 // 1024 for worker, count in pages.items()}

    async def watch(self, found: Found) -> None:
        """Look once."""
        now = self._memory()
        for worker in self._begin.keys() - now.keys():
            found.fault("worker died", worker)
        self._peak = {worker: max(peak, now.get(worker, 0)) for worker, peak in self._peak.items()}
        await asyncio.sleep(0.1)

    @property
    def peaks(self) -> list[int]:
        """MiB of each worker at its peak."""
        return list(self._peak.values())

    def summary(self, found: Found) -> list[dict[str, float]]:
        """Return MiB at the start, at the peak and at the end, and judge them."""
        end, rows = self._memory(), []
        for worker, begin in self._begin.items():
            growth = round(self._peak[worker] / begin, 2)
            rows.append({"start": begin, "peak": self._peak[worker], "end": end.get(worker, 0), "growth": growth})
            if growth >= MOST_GROWTH:
                found.fault("memory grew by half", rows[-1])
        return rows


async def fuzz(port: int, workers: Workers, questions: list[Question], arguments: argparse.Namespace) -> Found:
    """Do everything at once until the time is over."""
    found, end = Found([*workers.numbers, os.getpid()], arguments.live), time.monotonic() + 60 * arguments.minutes
    chances = [random.Random(f"{arguments.seed} {number}") for number in range(HONEST_CLIENTS + DISHONEST_CLIENTS + 1)]
    honest, dishonest, attacker = chances[:HONEST_CLIENTS], chances[HONEST_CLIENTS:-1], chances[-1]
    work: list[Callable[[], Awaitable[None]]] = [
        *(lambda chance=chance: ask_honestly(port, questions, chance, found) for chance in honest),
        *(lambda chance=chance: misbehave(port, chance, found) for chance in dishonest),
        lambda: attack_at_random(port, attacker, arguments.connections, found),
        lambda: ask_for_health(port, found),
        lambda: workers.watch(found),
    ]
    status = asyncio.create_task(tell(workers, found))
    await asyncio.gather(*(repeat(end, each, found) for each in work))
    status.cancel()
    return found


async def tell(workers: Workers, found: Found) -> None:
    """Say on stderr now and then how far it is."""
    begin = time.monotonic()
    while True:
        await asyncio.sleep(STATUS_SECONDS)
        right, damaged = found.counts["honest: right"], found.counts["damaged: half-closed"]
        minutes = (time.monotonic() - begin) / 60
        line = {"minutes": round(minutes, 1), "honest_right": right, "half_closed": damaged, "peaks": workers.peaks}
        print(json.dumps(line | {"faults": dict(found.faults)}), file=sys.stderr, flush=True)


def main() -> None:
    """Start a server, fuzz it and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--model", type=Path, default=DEFAULT_MODEL)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--connections", type=int, default=100, help="of an attack, at most")
    parser.add_argument("--live", action="store_true", help="take live changes too")
    arguments = parser.parse_args()
    command = [sys.executable, "-m", "halfword", "serve", "-m", str(arguments.model), "-p", "0"]
    command += ["-w", str(arguments.workers), "--deadline", "1000"]
    with tempfile.TemporaryDirectory() as folder:
        journal = Path(folder) / "fuzz.live"
        if arguments.live:
            (Path(folder) / "keys").write_bytes(KEY)
            command += ["--live", str(journal), "--live-key-file", f"{folder}/keys", "--live-clients", "2"]
            command += ["--trusted-proxy", "127.0.0.1"]
        report(arguments, command, journal)


def report(arguments: argparse.Namespace, command: list[str], journal: Path) -> None:
    """Fuzz the server that a command starts, and print what was found."""
    with running(command) as (process, address):
        for _ in range(2 * arguments.workers):  # each goes to any of the workers
            warm_up(address)
        port = urlsplit(address).port or 0
        questions = asyncio.run(learn(port, random.Random(arguments.seed)))
        workers = Workers(process)
        found = asyncio.run(fuzz(port, workers, questions, arguments))
        memory = workers.summary(found)
        failed = sum(value for name, value in metrics_of(address).items() if 'status="500"' in name)
        if failed:
            found.fault("status 500", failed)
    if arguments.live:
        found.counts["changes in the journal"] = read_summed(journal)[0].number
    print(
        json.dumps(
            {
                "minutes": arguments.minutes,
                "seed": arguments.seed,
                "faults": dict(found.faults),
                "examples": found.examples,
                "worker_memory_mib": memory,
                "slowest_seconds": {name: round(seconds, 3) for name, seconds in found.slowest.items()},
                "counts": dict(sorted(found.counts.items())),
            },
            indent=2,
        )
    )
    sys.exit(bool(found.faults))


if __name__ == "__main__":
    main()
