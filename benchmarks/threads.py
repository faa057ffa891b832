"""Share models among many threads that complete, type, complete batches, load and drop; prints JSON counts.

Meant for an engine built with the thread sanitizer (CONTRIBUTING.md has the commands), which reports data races. Every
answer is also compared with the answer that a single thread got before.

python benchmarks/threads.py --minutes 3
"""

import argparse
import faulthandler
import itertools
import json
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from tests.toy import COUNTS, Toy, write_toy

from halfword import Completion, SearchOptions, load
from halfword.search import model as completing
from halfword.search.model import PRECISIONS, Model, engine_options
from random_models import KINDS

HANG_SECONDS = 120  # after the requested time
QUERIES = ("abcd ab cab", "ab da b", "bcd a", "cab d", "국한국 ab", "x")
PREFIXES = sorted({query[:length] for query in QUERIES for length in range(len(query) + 1)})
OPTIONS = (  # with both pruning and merging, cached states may change a score slightly
    SearchOptions(merge=False),
    SearchOptions(merge=False, count=3, beam=4),
    SearchOptions(prune=False, count=20, beam=20, echo=True, max_pieces=5),
)

MANY = COUNTS | {f"a{first}{second}": 1 for first in "abcd" for second in "abcd"}  # so that only the memory is asked

Asked = tuple[str, SearchOptions]


@dataclass(slots=True)
class Slot:
    """A model that all threads use; any of them may reload it while others are still searching it."""

    path: Path
    precision: str
    model: Model
    expected: Mapping[Asked, list[Completion]]

    def reload(self) -> None:
        """Replace the model by a new one; the old one is freed when its last search ends."""
        self.model = load(self.path, precision=self.precision)


def slots(folder: Path) -> Iterator[Slot]:
    """Write a model of every kind, and compute the expected answers in one thread without caches."""
    completing.CACHED_STATES, completing.CACHED_ANSWERS = 64, 16  # so small that threads evict each other's entries
    for number, parts in enumerate(KINDS):
        toy = Toy(
            parts=parts,
            counts=MANY,
            words=True,
            spellings=True,
            layers=2,
            summary=number // 2 % 2 * 5,
            spread=0.7,
            seed=number,
        )
        path = write_toy(folder / f"{number}.halfword", toy)
        for precision in PRECISIONS:
            alone = load(path, precision=precision, cache=False)
            expected = {asked: alone.complete(*asked) for asked in itertools.product(PREFIXES, OPTIONS)}
            yield Slot(path, precision, load(path, precision=precision), expected)


def complete_one(slot: Slot, chance: random.Random) -> int:
    """Complete any prefix."""
    prefix, options = chance.choice(PREFIXES), chance.choice(OPTIONS)
    assert slot.model.complete(prefix, options) == slot.expected[prefix, options], (slot.path, prefix, options)
    return 1


def type_a_query(slot: Slot, chance: random.Random) -> int:
    """Complete a query key by key."""
    model, query, options = slot.model, chance.choice(QUERIES), chance.choice(OPTIONS)
    for length in range(len(query) + 1):
        found = model.complete(query[:length], options)
        assert found == slot.expected[query[:length], options], (slot.path, query[:length], options)
    return len(query) + 1


def complete_a_batch(slot: Slot, chance: random.Random) -> int:
    """Complete many prefixes on the engine's own threads."""
    prefixes, options = chance.choices(PREFIXES, k=20), chance.choice(OPTIONS)
    found = slot.model._engine.complete_batch(prefixes, engine_options(options), 4, Completion)
    assert [answer for answer, _ in found] == [slot.expected[prefix, options] for prefix in prefixes], (
        slot.path,
        prefixes,
        options,
    )
    return len(prefixes)


def load_anew(slot: Slot, chance: random.Random) -> int:
    """Load the model again and drop the old one."""
    slot.reload()
    return 1


WAYS: tuple[Callable[[Slot, random.Random], int], ...] = (complete_one, type_a_query, complete_a_batch, load_anew)


def work(shared: list[Slot], seed: int, end: float) -> Counter[str]:
    """Do random operations on random models until the time is over; return their counts."""
    chance, done = random.Random(seed), Counter[str]()
    while time.monotonic() < end:
        way = chance.choices(WAYS, weights=(8, 4, 2, 1))[0]
        done[way.__name__] += way(chance.choice(shared), chance)
    return done


def main() -> None:
    """Work on all threads until the time is over."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--threads", type=int, default=8)
    arguments = parser.parse_args()
    faulthandler.dump_traceback_later(60 * arguments.minutes + HANG_SECONDS, exit=True)
    with tempfile.TemporaryDirectory() as folder:
        shared = list(slots(Path(folder)))
        end = time.monotonic() + 60 * arguments.minutes
        with ThreadPoolExecutor(arguments.threads) as pool:
            done = sum(pool.map(lambda seed: work(shared, seed, end), range(arguments.threads)), Counter[str]())
    faulthandler.cancel_dump_traceback_later()
    print(json.dumps({**vars(arguments), "models": len(shared), "done": dict(sorted(done.items()))}))


if __name__ == "__main__":
    main()
