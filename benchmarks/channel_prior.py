"""Learn the channel that ships from logs that may ship: pairs of a query and its correction in a log's own order, and
rare words beside common ones that differ in one letter.

    python benchmarks/channel_prior.py --log nlm/log-2018.tsv.gz --counts web/trec.tsv.gz nlm/counts.tsv.gz
"""

import argparse
import gzip
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from halfword.core.text import DEFAULT, normalise_query
from halfword.training.channel import PRIOR, Channel, Pair, mine, plain_prior
from halfword.training.misspellings import Misspellings
from halfword.training.word_tree import count_words

FEWEST = 2  # queries typed once are left out of what ships
SHORTEST = 6  # letters of a word that may be a mistake


def main() -> None:
    """Write `models/channel.json` and print how many pairs it was learned from."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--log", type=Path, required=True, help="time and query, separated by a tab")
    parser.add_argument("--counts", type=Path, nargs="+", required=True, help="query and count, separated by a tab")
    asked = parser.parse_args()
    rows = [normalise_query(row[1], DEFAULT) for row in lines(asked.log) if len(row) > 1]
    often = Counter(rows)
    ordered = [pair for pair in mine([rows], often) if often[pair.meant] >= FEWEST]
    words = [pair for path in asked.counts for pair in word_pairs(path)]
    channel = Channel.learn(words, plain_prior())
    channel = Channel.learn(ordered, channel)
    PRIOR.write_text(json.dumps(channel.to_json()) + "\n", encoding="utf-8")
    print(json.dumps({"ordered_pairs": len(ordered), "word_pairs": len(words), "likeliest": channel.likeliest}))


def word_pairs(path: Path) -> Iterator[Pair]:
    """Yield rare words that are probably mistakes, and what was meant."""
    counts = {row[0]: int(row[1]) for row in lines(path) if len(row) == 2 and int(row[1]) >= FEWEST}
    words = {word: count for word, count in count_words(counts).items() if word.isalpha()}
    known = Misspellings(words)
    for word in words:
        if len(word) >= SHORTEST and known.holds(word):
            for meant in known.meant_by(word)[:1]:
                if not meant.startswith(word):
                    yield Pair(word, meant)


def lines(path: Path) -> list[list[str]]:
    """Return the fields of every line of a compressed file."""
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        return [line.rstrip("\n").split("\t") for line in stream]


if __name__ == "__main__":
    main()
