"""Live changes: how soon they are seen, what they cost, what they bring, and whether a crash loses one.

    python benchmarks/live.py --model base.halfword [--log log.tsv.gz] [--kills 1000] [--only cost,crash,replay,seen]

Prints one JSON object. `--model` is a model with popularity and memory; its prefixes are drawn from its own queries.
`--log` has rows of user, time and query, as `data/aol-sessions` has them: what was typed in March is trained on, what
came later is replayed in time order, once as trained and once with every query counted after it was asked for; a sample
of the rows of `--month` is asked. A person's own repeats within 30 minutes are left out. Ratios are of times taken in
turns in the same run. `live_crash.py` kills whole servers.
"""

import argparse
import csv
import gzip
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from statistics import quantiles
from typing import Any

from halfword import Live, Model, load
from halfword.core.journal import Writer
from halfword.core.live import KINDS, Change, Kind
from halfword.core.live_state import read_summed
from halfword.core.text import normalise_query


def prefixes_of(model: Model, count: int, seed: int = 1) -> list[str]:
    """Return prefixes of queries that the model suggests, of two characters and more."""
    chance, found = random.Random(seed), set()
    for first in "abcdefghijklmnopqrstuvwxyz":
        for second in "aeiourlst":
            for text in model.complete(first + second, count=20).texts:
                found.add(text)
    texts = sorted(found)
    return [(text := chance.choice(texts))[: chance.randint(2, max(2, len(text) - 1))] for _ in range(count)]


def times_of(model: Model, prefixes: list[str]) -> list[float]:
    taken = []
    for prefix in prefixes:
        begin = time.perf_counter()
        model.complete(prefix)
        taken.append((time.perf_counter() - begin) * 1000)
    return taken


def percentile(times: list[float], percent: int) -> float:
    return quantiles(times, n=100, method="inclusive")[percent - 1]


def resident() -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon"):
            return int(line.split()[1]) * 1024
    return 0


def many_changes(model: Model, count: int) -> dict[str, Any]:
    """Change a million queries, three quarters of them new; compare with a second copy of the model without changes."""
    plain, prefixes = load(model.path, cache=False), prefixes_of(model, 1500)
    changed, chance = load(model.path, cache=False), random.Random(7)
    words = sorted({word for prefix in prefixes for text in model.complete(prefix).texts for word in text.split()})
    texts: set[str] = {text for prefix in prefixes for text in model.complete(prefix, count=50).texts}
    while len(texts) < count:
        texts.add(" ".join(chance.choices(words, k=chance.randint(1, 4))))
    fields = [(KINDS[Kind.TYPED], text, float(chance.randint(1, 5)), "") for text in texts]
    del texts
    before, begin = resident(), time.perf_counter()
    for first in range(0, count, 20_000):
        changed._engine.apply_changes(fields[first : first + 20_000], 1.0, first + 20_000 >= count)
    seconds = time.perf_counter() - begin
    memory = resident() - before
    old: list[float] = []
    new: list[float] = []
    times_of(plain, prefixes[:200])
    times_of(changed, prefixes[:200])
    for first in range(0, len(prefixes), 100):
        part = prefixes[first : first + 100]
        old += times_of(plain, part)
        new += times_of(changed, part)
    return {
        "changed_queries": changed._engine.live_size()[0],
        "bytes_per_query_resident": round(memory / count, 1),
        "bytes_per_query_counted": round(changed._engine.live_size()[2] / count, 1),
        "characters_per_query": round(sum(len(text) for _, text, _, _ in fields) / count, 1),
        "applied_per_second": round(count / seconds),
        "p50_ms": {"none": percentile(old, 50), "changed": percentile(new, 50)},
        "p99_ms": {"none": percentile(old, 99), "changed": percentile(new, 99)},
        "p50_ratio": percentile(new, 50) / percentile(old, 50),
    }


def while_serving(model: Model, folder: Path, seconds: float) -> dict[str, Any]:
    """Complete 1,000 prefixes a second while another process writes 11,000 changes a second, and while none does."""
    path = folder / "busy.live"
    served = load(model.path, cache=False)
    live = Live(served, path)
    prefixes = prefixes_of(model, 4000)
    program = """
import random, sys, time
from pathlib import Path
from halfword.core.journal import Writer
from halfword.core.live import Change, Kind
writer, chance, texts = Writer(Path(sys.argv[1])), random.Random(3), sys.stdin.read().splitlines()
rate, done, begin = int(sys.argv[2]), 0, time.perf_counter()
while time.perf_counter() - begin < float(sys.argv[3]):
    writer.append([Change(Kind.TYPED, chance.choice(texts) + chance.choice(texts), 1) for _ in range(rate // 20)])
    done += rate // 20
    time.sleep(max(0.0, begin + done / rate - time.perf_counter()))
print(done / (time.perf_counter() - begin))
"""
    results: dict[str, Any] = {}
    quiet: list[float] = []
    busy: list[float] = []
    rates = []
    for _ in range(3):
        quiet += paced(served, prefixes, seconds)
        command = [sys.executable, "-c", program, str(path), "11000", str(seconds + 0.5)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as writer:
            assert writer.stdin is not None
            assert writer.stdout is not None
            writer.stdin.write("\n".join(prefixes))
            writer.stdin.close()
            stop = threading.Event()
            follower = threading.Thread(target=follow, args=(live, stop))
            follower.start()
            time.sleep(0.5)
            busy += paced(served, prefixes, seconds)
            rates.append(float(writer.stdout.read()))
            stop.set()
            follower.join()
    live.refresh()
    results["changes_per_second"] = round(min(rates))
    results["changed_queries"] = len(live)
    for percent in (50, 99):
        none, some = percentile(quiet, percent), percentile(busy, percent)
        results[f"p{percent}_ms"] = {"none": none, "changing": some, "ratio": some / none}
    results["completions"] = len(busy)
    return results


def follow(live: Live, stop: threading.Event) -> None:
    while not stop.is_set():
        live.refresh()
        time.sleep(0.05)


def paced(model: Model, prefixes: list[str], seconds: float, rate: int = 1000) -> list[float]:
    """Complete at a steady rate; the time of a completion is from when it was due."""
    begin, taken = time.perf_counter(), []
    for number in range(int(seconds * rate)):
        due = begin + number / rate
        time.sleep(max(0.0, due - time.perf_counter()))
        started = time.perf_counter()
        model.complete(prefixes[number % len(prefixes)])
        taken.append((time.perf_counter() - started) * 1000)
    return taken


def throughput(folder: Path) -> dict[str, Any]:
    """Write as fast as it goes: batches of 500 acknowledged changes of one writer."""
    path = folder / "fast.live"
    writer, done, begin = Writer(path), 0, time.perf_counter()
    while time.perf_counter() - begin < 3:
        writer.append([Change(Kind.TYPED, f"query {number}", 1) for number in range(done, done + 500)])
        done += 500
    return {"acknowledged_per_second": round(done / (time.perf_counter() - begin))}


def seen_by_workers(model: Model, folder: Path, trials: int = 20) -> dict[str, Any]:
    """Serve with two workers, change a query, and ask until every answer of a row of 12 has it."""
    keys = folder / "keys"
    keys.write_text("secret\n")
    command = [sys.executable, "-m", "halfword", "serve", "-m", str(model.path), "-p", "0", "-w", "2"]
    command += ["--live", str(folder / "seen.live"), "--live-key-file", str(keys)]
    delays = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        assert server.stdout is not None
        address = next(word for word in server.stdout.readline().split() if word.startswith("http"))
        for number in range(trials):
            url, headers = f"{address}/queries/zzqx%20{number}", {"X-API-Key": "secret"}
            request = urllib.request.Request(url, data=b'{"typed": 9}', headers=headers, method="PUT")
            urllib.request.urlopen(request).read()
            begin, misses = time.perf_counter(), 0.0
            hits = 0
            while hits < 12:  # connections go to either worker
                with urllib.request.urlopen(f"{address}/complete?q=zzqx%20&n=100") as reply:
                    found = [each["text"] for each in json.load(reply)["completions"]]
                if f"zzqx {number}" in found:
                    hits += 1
                else:
                    hits, misses = 0, time.perf_counter() - begin
            delays.append(misses * 1000)
        server.terminate()
    return {"trials": trials, "last_missing_ms": {"median": sorted(delays)[trials // 2], "worst": max(delays)}}


def crashes(folder: Path, kills: int) -> dict[str, Any]:
    """Kill a writer at random moments, also while it compacts; every acknowledged change must be there."""
    path, chance = folder / "crash.live", random.Random(5)
    lost = torn = 0
    acknowledged = 0
    for _ in range(kills):
        # A process that waits is forked off ahead of time, so that its start is not what is killed.
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            crash_writer(path, writing)
        os.close(writing)
        time.sleep(chance.uniform(0.0, 0.03))
        os.kill(child, 9)
        os.waitpid(child, 0)
        with os.fdopen(reading, "rb") as stream:
            told = stream.read().split(b"\n")[:-1]  # the last line may be cut
        acknowledged = max([acknowledged, *map(int, told)])
        size = path.stat().st_size if path.exists() else 0
        if path.exists():
            summed, reader = read_summed(path)
            torn += reader.position < size
            kept = summed.counts()["a"]
            lost += summed.number < acknowledged or kept < acknowledged
    return {"kills": kills, "lost": lost, "torn_tails": torn, "acknowledged_changes": acknowledged}


def crash_writer(path: Path, descriptor: int) -> None:
    from halfword.core.live_state import compact

    writer, turn = Writer(path), 0
    while True:
        number = writer.append([Change(Kind.TYPED, "a", 1)] * 7)
        os.write(descriptor, b"%d\n" % number)
        turn += 1
        if turn % 5 == 0:
            compact(path)


def rows_of(path: Path) -> Iterator[tuple[str, float, str]]:
    """Yield user, time and query in time order, without a person's own repeats within 30 minutes."""
    with gzip.open(path, "rt", encoding="utf-8", newline="") as stream:
        reader = csv.reader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)
        names = next(reader)
        user, when, query = (names.index(name) for name in ("user", "time", "query"))
        rows = [
            (row[user], datetime.fromisoformat(row[when]).timestamp(), normalise_query(row[query])) for row in reader
        ]
    last: dict[tuple[str, str], float] = {}
    for name, moment, text in sorted((row for row in rows if len(row[2]) >= 3), key=lambda row: row[1]):
        repeated = moment - last.get((name, text), -1e9) < 1800
        last[name, text] = moment
        if not repeated:
            yield name, moment, text


def replay(log: Path, folder: Path, sample: int, month: int) -> dict[str, Any]:
    """Train on March; then ask for rows of a later month in time order, as trained and with counts as they come."""
    rows = list(rows_of(log))
    months = [datetime.fromtimestamp(row[1]).month for row in rows]
    march, last = months.index(4), len(months) - months[::-1].index(month)
    data, path = folder / "march", folder / "march.halfword"
    data.mkdir()
    cut = int(march * 0.9)
    (data / "train.query.txt").write_text("".join(f"{row[2]}\n" for row in rows[:cut]))
    (data / "valid.query.txt").write_text("".join(f"{row[2]}\n" for row in rows[cut:march]))
    (data / "test.query.txt").write_text("".join(f"{row[2]}\n" for row in rows[march : march + 100]))
    command = [sys.executable, "-m", "halfword", "train", str(data), "-o", str(path), "--parts", "popular,ngram"]
    subprocess.run([*command, "--background", "none"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    candidates = [place for place in range(march, last) if months[place] == month]
    asked = set(random.Random(11).sample(candidates, min(sample, len(candidates))))
    results: dict[str, Any] = {"rows_trained": march, "rows_of_the_month": len(candidates), "asked": len(asked)}
    for name, parts in (("popular", ("popular",)), ("popular+memory", ("popular", "ngram"))):
        results[name] = replayed(load(path, parts=parts), load(path, parts=parts), rows[march:last], asked, march)
    return results


def replayed(
    static: Model, changing: Model, later: list[tuple[str, float, str]], asked: set[int], first: int
) -> dict[str, float]:
    """Count every row after it was asked for; those of `asked`, whose places begin with `first`, are asked."""
    chance, sums = random.Random(13), [0.0, 0.0]
    waiting: list[tuple[int, str, float, str]] = []
    kind = KINDS[Kind.TYPED]
    for place, (_, _, text) in enumerate(later, first):
        if place in asked:
            changing._engine.apply_changes(waiting, 1.0)
            waiting = []
            prefix = text[: chance.randint(2, len(text) - 1)]
            for number, model in enumerate((static, changing)):
                found = model.complete(prefix, min_probability=0.0, invent="freely").texts
                sums[number] += 1 / (found.index(text) + 1) if text in found else 0.0
        waiting.append((kind, text, 1.0, ""))
    before, after = (total / len(asked) for total in sums)
    return {"static": before, "live": after, "ratio": after / before}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--log", type=Path)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--queries", type=int, default=1_000_000)
    parser.add_argument("--sample", type=int, default=20_000)
    parser.add_argument("--month", type=int, default=5, choices=(4, 5), help="that is asked for; choose by 4")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--only", default="crash,seen,write,serve,many,replay")
    options = parser.parse_args()
    only, report = options.only.split(","), dict[str, Any]()
    report["machine"] = {"cores": os.cpu_count(), "load": os.getloadavg()[0]}
    with tempfile.TemporaryDirectory(dir=options.model.absolute().parent) as name:
        folder = Path(name)
        if "crash" in only:  # first: a process with threads must not fork
            report["crash"] = crashes(folder, options.kills)
        model = load(options.model)
        if "seen" in only:
            report["seen"] = seen_by_workers(model, folder)
        if "write" in only:
            report["write"] = throughput(folder)
        if "serve" in only:
            report["serve"] = while_serving(model, folder, options.seconds)
        if "many" in only:
            report["many"] = many_changes(model, options.queries)
        if "replay" in only and options.log is not None:
            report["replay"] = replay(options.log, folder, options.sample, options.month)
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
