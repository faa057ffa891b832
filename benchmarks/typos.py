"""How often the right completion of a mistyped prefix is offered, and what correcting costs right ones; prints JSON.

python benchmarks/typos.py MODEL --mistyped PAIRS.tsv... --right QUERIES.tsv... --sample 5000

A file of mistyped prefixes has `prefix<TAB>wanted` per line. A file of right queries has one query per line (what
follows a tab is ignored); each is cut at random. Everything that the ranker found is counted (`min_probability=0`,
`invent="freely"`), with `typos` auto and off. `first_corrected` is the share of prefixes whose first answer does not go
on from the prefix as typed.
"""

import argparse
import gzip
import json
import random
from collections.abc import Sequence
from pathlib import Path

from halfword import Model, load
from halfword.core.metrics import SHORTEST_PREFIX, rank, reciprocal
from halfword.core.options import Invent, SearchOptions, Typos

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
    report = {
        name: {"prefixes": len(pairs), **{typos.value: measured(model, pairs, typos) for typos in Typos}}
        for name, pairs in sets.items()
    }
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
