"""Draw logs of small sites from a list of queries: few queries that many people type, and some new ones.

python benchmarks/site_logs.py nlm/counts.tsv.gz -o sites/nlm --counts

A site is about few things, so each of its queries shares a word with another one. The most frequent is typed twice as
often as the second, three times as often as the third, and so on; one row in ten is any query of the list. A
folder for each site has train, validation and test rows.
"""

import random
from collections import defaultdict

from small_logs import list_parser, read_list, write_rows

SITES = {40: 300, 100: 800, 300: 3_000, 1_000: 10_000, 3_000: 20_000}  # queries of a site, and rows that are learned
VALID, TEST = 500, 1_000
ANY = 0.1  # share of the rows that are any query of the list
SUBJECTS = 5  # queries that have nothing to do with each other
SHORTEST_WORD = 4  # letters of a word that two queries may share


def alike(queries: list[str], size: int, chance: random.Random) -> list[str]:
    """Return so many queries, each of which shares a word with one before, but for the first few."""
    with_word = defaultdict[str, list[str]](list)
    for query in queries:
        for word in {word for word in query.split() if len(word) >= SHORTEST_WORD}:
            with_word[word].append(query)
    chosen = dict.fromkeys(chance.sample(queries, SUBJECTS))
    while len(chosen) < size:
        words = [word for query in chosen for word in query.split() if len(with_word.get(word, ())) > 1]
        chosen.setdefault(chance.choice(with_word[chance.choice(words)] if words else queries))
    return chance.sample(list(chosen), size)


def rows_of(site: list[str], queries: list[str], number: int, chance: random.Random) -> list[str]:
    """Draw rows of a site."""
    weights = [1 / rank for rank in range(1, len(site) + 1)]
    rows = chance.choices(site, weights, k=number)
    return [chance.choice(queries) if chance.random() < ANY else row for row in rows]


def main() -> None:
    """Write a folder per site."""
    parser = list_parser((__doc__ or "").splitlines()[0])
    parser.add_argument("--seed", type=int, default=13, help="another one draws other sites")
    given = parser.parse_args()
    queries, _ = read_list(given.list, given.counts, given.ascii)
    chance = random.Random(given.seed)
    for distinct, learned in SITES.items():
        site = alike(queries, distinct, chance)
        for name, number in (("train", learned), ("valid", VALID), ("test", TEST)):
            path = given.output / str(distinct) / f"{name}.query.txt"
            write_rows(path, rows_of(site, queries, number, chance))


if __name__ == "__main__":
    main()
