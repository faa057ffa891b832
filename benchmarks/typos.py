"""How often the right completion of a mistyped prefix is offered, and what correcting costs right ones; prints JSON.

python benchmarks/typos.py MODEL --mistyped PAIRS.tsv... --right QUERIES.tsv... --sample 5000

A file of mistyped prefixes has `prefix<TAB>wanted` per line. A file of right queries has one query per line (what
follows a tab is ignored); each is cut at random. Everything that the ranker found is counted (`min_probability=0`,
`invent="freely"`), with `typos` auto and off. `first_corrected` is the share of prefixes whose first answer does not go
on from the prefix as typed. For mistyped prefixes the MRR is also told by the kind of mistake, by where it is, by how
many there are, and by whether the model knows what is wanted.
"""

import argparse
import gzip
import json
import random
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from halfword import Model, load
from halfword.core.metrics import SHORTEST_PREFIX, rank, reciprocal
from halfword.core.options import Invent, SearchOptions, Typos
from halfword.training.channel import Pair as Mistake
from halfword.training.channel import distance, edits_of

Pair = tuple[str, str]  # what was typed, and what is wanted


def lines(path: Path) -> list[list[str]]:
    """Return the fields of every line of a file, which may be compressed."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as stream:
        return [line.rstrip("\n").split("\t") for line in stream]


def cut(queries: Sequence[str], size: int, seed: int) -> list[Pair]:
    """Return random beginnings of at most `size` queries."""
    chance = random.Random(seed)
    long_enough = [query for query in queries if len(query) > SHORTEST_PREFIX + 1]
    drawn = chance.sample(long_enough, min(size, len(long_enough)))
    return [(query[: chance.randint(SHORTEST_PREFIX, len(query) - 1)], query) for query in drawn]


def measured(model: Model, pairs: Sequence[Pair], typos: Typos) -> dict[str, float]:
    """Return how well what is wanted is ranked."""
    options = SearchOptions(typos=typos, min_probability=0.0, invent=Invent.FREELY)
    answers = model.complete_batch([typed for typed, _ in pairs], options)
    ranks = [reciprocal(rank(wanted, answer.texts)) for (_, wanted), answer in zip(pairs, answers, strict=True)]
    corrected = sum(bool(answer) and answer[0].corrected for answer in answers)
    return {
        "mrr": round(sum(ranks) / len(pairs), 4),
        "success": round(sum(map(bool, ranks)) / len(pairs), 4),
        "first_corrected": round(corrected / len(pairs), 4),
    }


def traits(model: Model, pair: Pair) -> list[str]:
    """Tell what kind of mistake a prefix holds."""
    typed, wanted = pair
    lengths = range(max(1, len(typed) - 2), min(len(wanted), len(typed) + 2) + 1)
    meant = min((wanted[:length] for length in lengths), key=lambda text: distance(typed, text), default=wanted)
    edits = edits_of(Mistake(typed, meant))
    place = next(
        (place for place, both in enumerate(zip(typed, meant, strict=False)) if both[0] != both[1]), len(meant)
    )
    where = "first word" if " " not in meant[:place] else "later word"
    first = not place or meant[place - 1] == " "
    return [
        *dict.fromkeys(f"kind: {edit.table}" for edit in edits),
        f"place: {'first letter of a word' if first else where}",
        f"mistakes: {len(edits) if len(edits) < 3 else '3 or more'}",
        "wanted: known" if model._engine.count_of(wanted) > 0 else "wanted: new",
    ]


def broken_down(model: Model, pairs: Sequence[Pair]) -> dict[str, str]:
    """Return the MRR by kinds of mistakes, and how many prefixes have each."""
    options = SearchOptions(typos=Typos.AUTO, min_probability=0.0, invent=Invent.FREELY)
    answers = model.complete_batch([typed for typed, _ in pairs], options)
    ranks: dict[str, list[float]] = defaultdict(list)
    for pair, answer in zip(pairs, answers, strict=True):
        for trait in traits(model, pair):
            ranks[trait].append(reciprocal(rank(pair[1], answer.texts)))
    return {trait: f"{sum(each) / len(each):.3f} of {len(each)}" for trait, each in sorted(ranks.items())}


def main() -> None:
    """Ask, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("--mistyped", type=Path, nargs="*", default=[])
    parser.add_argument("--right", type=Path, nargs="*", default=[])
    parser.add_argument("--sample", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=3)
    arguments = parser.parse_args()
    sets = {path.name: [(line[0], line[1]) for line in lines(path)] for path in arguments.mistyped}
    for path in arguments.right:
        sets[path.name] = cut([line[0] for line in lines(path)], arguments.sample, arguments.seed)
    model = load(arguments.model)
    report: dict[str, dict[str, Any]] = {
        name: {"prefixes": len(pairs), **{typos.value: measured(model, pairs, typos) for typos in Typos}}
        for name, pairs in sets.items()
    }
    for path in arguments.mistyped:
        report[path.name]["by"] = broken_down(model, sets[path.name])
    print(json.dumps(report, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main()
