"""Kill a server that takes live changes, process by process; prints JSON, and fails if an acknowledged change is lost.

    python benchmarks/live_crash.py --kills 1000 [--model MODEL] [--workers 3]

Clients send one change after the other, each of a query of its own, and note what was acknowledged. Meanwhile a process
of the server is killed with SIGKILL again and again: a worker, the process that compacts the journal, and one time in
eight the parent process, after which the server is started anew on the same journal. Some changes are long, so that
the journal is compacted often. Every so often, and at the end, each acknowledged change must be in the journal once.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path

from halfword.core.live_state import read_summed
from halfword.search.model import DEFAULT_MODEL

CLIENTS = 4
CHECK_EVERY = 25  # kills
LONG = "z" * 900
LONGEST_PAUSE = 0.7  # seconds between two kills; a worker that dies soon after its start is started again after 1 s


class Server:
    """A server that is started again when its parent process was killed."""

    def __init__(self, model: Path, folder: Path, workers: int) -> None:
        keys = folder / "keys"
        keys.write_text("secret\n")
        self.journal = folder / "crash.live"
        self._command = [sys.executable, "-m", "halfword", "serve", "-m", str(model), "-p", "0", "-w", str(workers)]
        self._command += ["--live", str(self.journal), "--live-key-file", str(keys)]
        self.log = folder / "log"
        self._stream = self.log.open("wb")
        self.port = 0
        self.start()

    def start(self) -> None:
        """Start it; it listens on another port than before, since orphaned workers finish what they have begun."""
        self.process = subprocess.Popen(self._command, stdout=subprocess.PIPE, stderr=self._stream, text=True)
        assert self.process.stdout is not None
        said = self.process.stdout.readline()
        if not said:
            sys.exit(f"the server does not start: {self.log.read_text()[-2000:]}")
        self.port = int(said.split()[5].rpartition(":")[2])

    def children(self) -> list[int]:
        """Return the workers, and the process that compacts if there is one."""
        with suppress(OSError):
            children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
            return [int(number) for number in children.split()]
        return []

    def kill(self, process: int) -> None:
        """Kill a process of the server."""
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


class Clients:
    """Send changes without end, and remember those that were acknowledged."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._stop = threading.Event()
        self.acknowledged: list[list[int]] = [[] for _ in range(CLIENTS)]
        self.failures = Counter[str]()
        self._threads = [threading.Thread(target=self._send, args=(number,)) for number in range(CLIENTS)]
        for thread in self._threads:
            thread.start()

    def _send(self, client: int) -> None:
        number, connection = client, HTTPConnection("127.0.0.1", 0)
        while not self._stop.is_set():
            number += CLIENTS
            text = LONG if number % (2 * CLIENTS) == client else f"k{number}"
            try:
                if connection.port != self._server.port:
                    connection = HTTPConnection("127.0.0.1", self._server.port, timeout=10)
                connection.request("PUT", f"/queries/{text}", b'{"typed": 1}', {"X-API-Key": "secret"})
                reply = connection.getresponse()
                reply.read()
            except (OSError, HTTPException) as error:
                self.failures[type(error).__name__] += 1
                connection.close()
                time.sleep(0.01)
                continue
            if reply.status == 200 and text != LONG:
                self.acknowledged[client].append(number)
            elif reply.status != 200:
                self.failures[str(reply.status)] += 1

    def stop(self) -> None:
        """Send no more."""
        self._stop.set()
        for thread in self._threads:
            thread.join()


def kill_one(server: Server, chance: random.Random, workers: int) -> str:
    """Wait for a moment, kill a process of the server and tell which; one that compacts is killed wherever it is."""
    end = time.monotonic() + chance.uniform(0.0, LONGEST_PAUSE)
    while True:
        children = server.children()
        if len(children) > workers:
            time.sleep(chance.uniform(0.0, 0.1))
            server.kill(children[-1])
            return "youngest of all"  # the process that compacts, or a worker that was started after it
        if time.monotonic() > end and children:
            break
        time.sleep(0.01)
    if chance.randrange(8):
        server.kill(chance.choice(children))
        return "worker"
    server.kill(server.process.pid)
    server.process.wait()
    server.start()
    return "parent"


def lost(journal: Path, acknowledged: list[int]) -> int:
    """Return how many acknowledged changes the journal has not, or has not once."""
    counts = read_summed(journal)[0].counts()
    return sum(counts[f"k{number}"] != 1 for number in acknowledged)


def main() -> None:
    """Kill, check and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--model", type=Path, default=DEFAULT_MODEL)
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    chance, killed, missing = random.Random(options.seed), Counter[str](), 0
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        server = Server(options.model, folder, options.workers)
        clients = Clients(server)
        for number in range(options.kills):
            killed[kill_one(server, chance, options.workers)] += 1
            if number % CHECK_EVERY == 0:
                known = [each for mine in clients.acknowledged for each in list(mine)]
                missing += lost(server.journal, known)
                told = {"kills": number + 1, "acknowledged": len(known), "lost": missing}
                print(json.dumps(told), file=sys.stderr, flush=True)
        clients.stop()
        server.process.send_signal(signal.SIGTERM)
        server.process.wait()
        known = [each for mine in clients.acknowledged for each in mine]
        missing += lost(server.journal, known)
        log = server.log.read_text()
        report = {
            "kills": sum(killed.values()),
            "of": dict(killed),
            "seconds": round(time.monotonic() - begin),
            "acknowledged": len(known),
            "lost": missing,
            "compactions": log.count('"live changes compacted"'),
            "tails_cut_off": log.count("never acknowledged"),
            "not_acknowledged": dict(clients.failures),
        }
    print(json.dumps(report, indent=2))
    sys.exit(bool(missing))


if __name__ == "__main__":
    main()
