"""Malformed HTTP against `halfword serve` for as long as one likes; prints JSON, and fails if it found anything.

python benchmarks/serve_malformed.py --model MODEL --minutes 60

Valid requests are damaged at random: bytes flipped, cut, repeated, swapped between requests, sent in pieces, hung up
on. Meanwhile a well-behaved client asks; it must always be answered, by the same worker processes, with memory flat.
"""

import argparse
import json
import random
import socket
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from urllib.parse import urlsplit

from serving import family, memory_kib, metrics_of, running

BODY = b'{"prefixes": ["new yo", "wea"], "n": 3}'
SUGGEST = b'{"suggest": {"a": {"prefix": "new", "completion": {"field": "q", "size": 3}}}}'
SEEDS = [
    b'GET /complete?q=new+yo&n=10 HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\nIf-None-Match: W/"0"\r\n\r\n',
    b"GET /suggest?q=%E2%82%AC&pad=000 HTTP/1.1\r\nHost: localhost\r\nConnection: keep-alive\r\n\r\n",
    b"HEAD /docs HTTP/1.0\r\n\r\n",
    b"OPTIONS /complete HTTP/1.1\r\nHost: localhost\r\nOrigin: http://x\r\n\r\n",
    b"POST /complete HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n%s"
    % (len(BODY), BODY),
    b"POST /a/_search HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s" % (len(SUGGEST), SUGGEST),
    b"POST /complete HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n"
    % (len(BODY), BODY),
    b"GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: x\r\n\r\n",
]
TOKENS = [b"\r\n", b"\n", b"\0", b"\xff", b"%", b"%zz", b"%00", b"..", b"//", b":", b"; ", b"Content-Length: 9\r\n"]
TOKENS += [
    b"Transfer-Encoding: chunked\r\n",
    b"HTTP/1.1",
    b"HTTP/2.0",
    b"\xed\xa0\x80",
    b"9" * 30,
    b"a" * 5000,
    b"[" * 2000,
]


def damaged(chance: random.Random) -> bytes:
    """Return a request, or several, with one to eight things wrong."""
    raw = bytearray(b"".join(chance.choices(SEEDS, k=chance.choice((1, 1, 1, 2, 5)))))
    for _ in range(chance.randint(1, 8)):
        at = chance.randrange(len(raw) + 1)
        kind = chance.randrange(5)
        if kind == 0 and at < len(raw):
            raw[at] = chance.randrange(256)
        elif kind == 1:
            del raw[at : at + chance.choice((1, 2, 8, 64))]
        elif kind == 2:
            raw[at:at] = chance.choice(TOKENS)
        elif kind == 3:
            raw[at:at] = raw[at : at + 40] * chance.randint(1, 50)
        else:
            other = chance.choice(SEEDS)
            raw[at:at] = other[chance.randrange(len(other)) :][:60]
    return bytes(raw)


def misbehave(port: int, chance: random.Random, found: Counter[str], end: float) -> None:
    """Send damaged requests until the time is over, and count what comes back."""
    while time.monotonic() < end:
        raw = damaged(chance)
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
                cut = chance.randrange(len(raw) + 1) if chance.random() < 0.2 else 0
                connection.sendall(raw[:cut])
                connection.sendall(raw[cut:])
                if chance.random() < 0.1:
                    continue  # hang up without listening
                connection.shutdown(socket.SHUT_WR)
                answer = b"".join(iter(lambda: connection.recv(65_536), b""))
            found[answer[9:12].decode("latin-1") if answer.startswith(b"HTTP/1.1 ") else "nothing"] += 1
            if answer and not answer.startswith(b"HTTP/1.1 "):
                found["NO HTTP"] += 1
        except TimeoutError:
            found["HANGS"] += 1
        except OSError:
            found["closed"] += 1


def main() -> None:
    """Misbehave on two threads, watch from a third."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    command = [sys.executable, "-m", "halfword", "serve", "-m", str(arguments.model), "-p", "0", "-w", "2"]
    found: Counter[str] = Counter()
    with running(command) as (process, address):
        port, end = urlsplit(address).port or 0, time.monotonic() + arguments.minutes * 60
        workers, memory, slowest = family(process), [], 0.0
        for number in range(2):
            chance = random.Random(arguments.seed * 2 + number)
            threading.Thread(target=misbehave, args=(port, chance, found, end)).start()
        while time.monotonic() < end:
            begin = time.monotonic()
            metrics_of(address)  # raises when the server does not answer as it should
            slowest = max(slowest, time.monotonic() - begin)
            memory.append(memory_kib(process))
            time.sleep(min(1.0, arguments.minutes))
        time.sleep(11)  # for those who wait for an answer that does not come
        result = {
            "sent": sum(found.values()),
            "answers": dict(found.most_common()),
            "worker_deaths": len(set(workers) - set(family(process))),
            "slowest_good_answer_ms": round(slowest * 1000, 1),
            "memory_mib": {"first": memory[len(memory) // 10] // 1024, "last": memory[-1] // 1024},
        }
    print(json.dumps(result, indent=2))
    sys.exit(bool(found["HANGS"] or found["500"] or found["NO HTTP"] or result["worker_deaths"]))


if __name__ == "__main__":
    main()
