"""Ask for an error or an answer, never a crash: random prefixes, options and damaged models; prints JSON counts.

Meant for an engine built with sanitizers (see .ci/run); a crash ends the process with its report.

python benchmarks/fuzz.py --minutes 60
"""

import argparse
import json
import random
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from tests.toy import PIECES, Toy, write_toy

from halfword import HalfwordError, SearchOptions, load
from halfword.complete import EngineCompleter
from halfword.model_file import Array, read_header, write_model
from halfword.train import popular_arrays

ALPHABETS = ("abcd ", "abcd é한국😀 ", "".join(map(chr, range(1, 0x250))), "".join(map(chr, range(0xD700, 0xE100))))


def random_prefix(chance: random.Random) -> str:
    """Return a prefix of any characters, now and then a very long one, lone surrogates among them."""
    length = chance.choice([0, 1, 2, 5, 12, 40, chance.randint(0, 10_000) if chance.random() < 0.02 else 8])
    return "".join(chance.choices(chance.choice(ALPHABETS), k=length))


def random_options(chance: random.Random) -> SearchOptions:
    """Return options anywhere in their ranges, their limits included."""
    return SearchOptions(
        count=chance.choice([1, 2, 10, 1000]),
        beam=chance.choice([1, 2, 10, 50]),
        retrace=chance.choice([None, 0, 1, 3, 1000]),
        segmentations=chance.choice([1, 2, 100]),
        max_pieces=chance.choice([1, 5, 40]),
        merge=chance.random() < 0.5,
        prune=chance.random() < 0.8,
        conditional=chance.random() < 0.5,
        min_probability=chance.choice([0.0, 1e-9, 0.5, 1.0]),
        deadline_ms=chance.choice([None, 0.001, 1.0]),
        echo=chance.random() < 0.5,
    )


def random_model(path: Path, chance: random.Random) -> None:
    """Write a neural or a popularity model."""
    if chance.random() < 0.3:
        queries = {
            random_prefix(chance)[:60].encode("utf-8", "ignore").decode(): 1 for _ in range(chance.randint(0, 300))
        }
        arrays = popular_arrays({query: chance.randint(1, 2**32 - 1) for query in queries})
        write_model(path, arrays, {"profile": "default"})
        return
    toy = Toy(
        segmentation=chance.choice(["char", "bpe", "unigram"]),
        hidden=chance.choice([1, 12, 40]),
        layers=chance.randint(1, 2),
        pieces=tuple(chance.sample(PIECES, chance.randint(1, len(PIECES)))),
        spread=chance.choice([0.1, 2.0, 30.0]),
        seed=chance.randrange(1000),
    )
    write_toy(path, toy)


def damage(path: Path, chance: random.Random) -> None:
    """Overwrite some bytes, most often inside one array, or cut an array short behind the header's back."""
    content = bytearray(path.read_bytes())
    places = [place for place in read_header(path).places.values() if place.end > place.begin]
    place = chance.choice(places)
    for _ in range(chance.randint(1, 30)):
        begin, end = (place.begin, place.end) if chance.random() < 0.9 else (0, len(content))
        content[chance.randrange(begin, end)] = chance.choice([0, 255, chance.randrange(256)])
    path.write_bytes(content if chance.random() < 0.9 else content[: chance.randrange(len(content))])


def shrink(path: Path, chance: random.Random) -> None:
    """Write the model again with one array of another length."""
    header, content = read_header(path), path.read_bytes()
    arrays = {
        name: Array(place.dtype, content[place.begin : place.end])
        for name, place in header.places.items()
        if not name.startswith("padding")
    }
    name = chance.choice(sorted(arrays))
    data = arrays[name].data
    arrays[name] = Array(
        arrays[name].dtype, data[: 8 * chance.randint(0, len(data) // 8)] + bytes(8 * chance.randint(0, 2))
    )
    write_model(path, arrays, header.card)


def main() -> None:
    """Fuzz until the time is over."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    chance = random.Random(arguments.seed)
    counts = {"models": 0, "refused_models": 0, "completions": 0, "refused_prefixes": 0}
    end = time.monotonic() + 60 * arguments.minutes
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fuzz.halfword"
        while time.monotonic() < end:
            random_model(path, chance)
            for mangle in (damage, shrink):
                if chance.random() < 0.4:
                    try:
                        mangle(path, chance)
                    except HalfwordError:
                        break
            counts["models"] += 1
            try:
                model: EngineCompleter = load(
                    path, precision=chance.choice(["int8", "fp32"]), cache=chance.random() < 0.5
                )
            except HalfwordError:
                counts["refused_models"] += 1
                continue
            for _ in range(20):
                try:
                    found = model.complete(random_prefix(chance), random_options(chance))
                    counts["completions"] += 1
                    assert len(found) <= 1000
                except HalfwordError:
                    counts["refused_prefixes"] += 1
    print(json.dumps({"minutes": arguments.minutes, **counts}))


if __name__ == "__main__":
    main()
