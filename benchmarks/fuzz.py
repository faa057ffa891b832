"""Fuzz the engine with random models of every kind, whole and damaged; prints JSON.

Every request must end with an answer or an error, never with a crash or a hang, and every file must be loaded or
refused within a bound of processor time. Meant for an engine built with sanitizers (CONTRIBUTING.md has the commands).
A crash ends the process with a report, a hang with the stacks of all threads.

python benchmarks/fuzz.py --minutes 60
"""

import argparse
import faulthandler
import json
import math
import random
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from halfword import Completion, HalfwordError, SearchOptions, load
from halfword.core.options import Invent, Order, Typos
from halfword.search import model as completing
from halfword.search.model import PRECISIONS, Model, import_engine
from random_models import KINDS, damage, random_model, random_text

HANG_SECONDS = 600  # per model; it usually takes seconds with sanitizers, a minute on a busy machine
# Of processor time for a file, with sanitizers; without them the slowest of 8,000 took 0.07 s, with them up to 5.5 s.
LOAD_SECONDS, LOAD_SECONDS_PER_MB = 15.0, 1.0


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts of what was done and answered."""

    models: Counter[str] = field(default_factory=Counter)  # by their parts; one in four is undamaged
    loaded: Counter[str] = field(default_factory=Counter)  # by precision and kernels
    completions: Counter[str] = field(default_factory=Counter)  # by the kind of call
    answers: Counter[str] = field(default_factory=Counter)  # by whether all scores are numbers
    errors: Counter[str] = field(default_factory=Counter)  # by kind
    slowest: dict[str, float] = field(default_factory=lambda: {"load": 0.0})  # seconds of processor time


def random_prefix(chance: random.Random) -> str:
    """Return a prefix of arbitrary characters, sometimes a very long one."""
    return random_text(chance, chance.randint(0, 10_000) if chance.random() < 0.02 else 40)


def random_options(chance: random.Random) -> SearchOptions:
    """Return options anywhere in their ranges, limits included; the widest searches get a deadline."""
    beam, max_pieces = chance.choice([1, 2, 10, 50, 1000]), chance.choice([1, 5, 40, 1000])
    deadlines = [None, 0.001, 1.0] if beam * max_pieces <= 2000 else [0.001, 1.0, 100.0]
    return SearchOptions(
        count=chance.choice([1, 2, 10, 1000]),
        beam=beam,
        retrace=chance.choice([None, 0, 1, 3, 1000]),
        segmentations=chance.choice([1, 2, 100]),
        max_pieces=max_pieces,
        merge=chance.random() < 0.5,
        prune=chance.random() < 0.8,
        conditional=chance.random() < 0.5,
        haste=chance.choice([None, 0.0, 1.0, 100.0]),
        min_probability=chance.choice([0.0, 1e-9, 0.5, 1.0]),
        invent=chance.choice(list(Invent)),
        deadline_ms=chance.choice(deadlines),
        fold=chance.random() < 0.9,
        typos=Typos.AUTO if chance.random() < 0.8 else Typos.OFF,
        order=Order.ANY if chance.random() < 0.8 else Order.AS_TYPED,
        echo=chance.random() < 0.5,
    )


def random_context(chance: random.Random) -> list[str]:
    """Return the earlier queries of a session, often none; sometimes more and longer ones than are looked at."""
    size = chance.choice([0, 0, 1, 3, 10, 30])
    return [random_text(chance, chance.choice([5, 20, 600])) for _ in range(size)]


def random_load(path: Path, chance: random.Random, parts: tuple[str, ...], tally: Tally, *, whole: bool) -> Model:
    """Load a model in any precision, with any kernels, and with caches that are off, tiny or of the usual size.

    Damage must reach the engine, so only undamaged models are verified.
    """
    completing.CACHED_STATES, completing.CACHED_ANSWERS = chance.choice([(1, 1), (20, 2), (1024, 4096)])
    precision, kernels = chance.choice(PRECISIONS), chance.choice(import_engine().available_kernels())
    wanted = parts if chance.random() < 0.9 else tuple(chance.sample(parts, chance.randint(1, len(parts))))
    cache = chance.random() < 0.7
    model = load(path, parts=wanted, precision=precision, kernels=kernels, cache=cache, verify=whole)
    tally.loaded[f"{precision} {kernels}"] += 1
    return model


@dataclass(frozen=True, slots=True)
class Subject:
    """A model whose answers are all checked."""

    model: Model
    whole: bool  # a damaged model may answer nonsense, but not too many completions
    tally: Tally

    def look_at(self, found: list[Completion], options: SearchOptions) -> None:
        """Check one answer."""
        assert len(found) <= options.count, found
        scores = [completion.score for completion in found]
        numbers = not any(map(math.isnan, scores))
        self.tally.answers["numbers" if numbers else "not numbers"] += 1
        if self.whole:
            assert numbers, found
            penalty = self.penalty if any(each.matched for each in found) else 0.0  # none where nothing was typed
            keys = [each.score - penalty * (len(each.text) - each.matched) for each in found]
            if not options.echo:  # an echoed text is shorter than the prefix, but adds no less than nothing
                assert all(left >= right - 1e-6 for left, right in pairwise(keys)), found

    @property
    def penalty(self) -> float:
        """What a character costs in the order of the answers; a model of a single part has no ranker."""
        parts = self.model.parts
        return self.model.policy.length_penalty if "popular" in parts and len(parts) > 1 else 0.0


def ask_singly(subject: Subject, chance: random.Random) -> int:
    """Complete unrelated prefixes."""
    options = random_options(chance)
    context = random_context(chance)
    subject.look_at(subject.model.complete(random_prefix(chance), options, context=context), options)
    return 1


def ask_while_typing(subject: Subject, chance: random.Random) -> int:
    """Complete after every key of a query, and again after some keys were deleted."""
    options, query, context = random_options(chance), random_text(chance, 12), random_context(chance)
    lengths = [*range(len(query) + 1), *range(len(query), len(query) // 2, -1)]
    for length in lengths:
        subject.look_at(subject.model.complete(query[:length], options, context=context), options)
    return len(lengths)


def ask_for_a_batch(subject: Subject, chance: random.Random) -> int:
    """Complete several prefixes at once, on all cores."""
    options = random_options(chance)
    prefixes = [random_text(chance) for _ in range(chance.choice([0, 1, 9]))]
    contexts = [random_context(chance) for _ in prefixes]
    for found in subject.model.complete_batch(prefixes, options, contexts=contexts):
        subject.look_at(found, options)
    return len(prefixes)


ASK = {"single": ask_singly, "typed": ask_while_typing, "batch": ask_for_a_batch}


def fuzz_a_model(folder: Path, chance: random.Random, tally: Tally) -> None:
    """Write a model, and test it undamaged and with several kinds of damage."""
    parts = chance.choice(KINDS)
    written, tried = folder / "written.halfword", folder / "tried.halfword"
    random_model(written, chance, parts)
    for whole in (True, False, False, False):
        shutil.copyfile(written, tried)
        tally.models[" ".join(parts)] += 1
        try:
            if not whole:
                damage(tried, chance)
            with timed(tried, tally):
                model = random_load(tried, chance, parts, tally, whole=whole)
        except HalfwordError as error:
            if whole:
                raise
            tally.errors[f"{type(error).__name__} of a model"] += 1
        else:
            ask(Subject(model, whole, tally), chance)


@contextmanager
def timed(path: Path, tally: Tally) -> Iterator[None]:
    """Fail if what is done with a file takes too long for its size."""
    begun = time.process_time()
    try:
        yield
    finally:
        seconds, limit = time.process_time() - begun, LOAD_SECONDS + LOAD_SECONDS_PER_MB * path.stat().st_size / 1e6
        tally.slowest["load"] = max(tally.slowest["load"], round(seconds, 2))
        if seconds > limit:
            shutil.copy(path, "slow.halfword")
            raise SystemExit(f"slow.halfword took {seconds:.1f} s to load, more than {limit:.1f} s")


def ask(subject: Subject, chance: random.Random) -> None:
    """Call a model in every way."""
    for _ in range(8):
        way = chance.choice(list(ASK))
        try:
            subject.tally.completions[way] += ASK[way](subject, chance)
        except HalfwordError as error:
            subject.tally.errors[f"{type(error).__name__} of a prefix"] += 1


def main() -> None:
    """Fuzz until the time is over."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    chance, tally, slowest = random.Random(arguments.seed), Tally(), 0.0
    end = time.monotonic() + 60 * arguments.minutes
    with tempfile.TemporaryDirectory() as folder:
        while (begun := time.monotonic()) < end:
            faulthandler.dump_traceback_later(HANG_SECONDS, exit=True)
            fuzz_a_model(Path(folder), chance, tally)
            slowest = max(slowest, time.monotonic() - begun)
    faulthandler.cancel_dump_traceback_later()
    counts = {name: dict(sorted(getattr(tally, name).items())) for name in Tally.__slots__}
    totals = {name: sum(kinds.values()) for name, kinds in counts.items()}
    print(json.dumps({**vars(arguments), "slowest_seconds": round(slowest, 1), "totals": totals, **counts}))


if __name__ == "__main__":
    main()
