"""Make the log from which the default model learns, out of public lists of queries and names.

python benchmarks/default_data.py LISTS -o default.tsv
halfword prepare default.tsv -o default-data/ --block sexual,slurs,self-harm,violence,crimes,people

`LISTS` is a folder with `web/trec.tsv.gz` and `nlm/counts.tsv.gz` (`query<TAB>count`), `esci/queries.txt.gz` and
`open/*.txt.gz` (one text per line). No list tells what people search today: counts are of 2005 or of one site, the
others have none. So a query counts by how many lists know it, by its place in those that are sorted by popularity, and
by how many other queries begin with it. What one list alone knows stays below four, whatever its count: `train
--private` then offers it only as far as it is made of what others typed too.
"""

import argparse
import gzip
from collections import Counter
from collections.abc import Iterable, Iterator
from math import log2
from pathlib import Path

from halfword.core.text import normalise_query

COUNTED = {"web/trec": 1, "nlm/counts": 2}  # and the least count that may be used
RANKED = {  # sorted by popularity: how many of them, and bits for the first one
    "open/city_names": (10_000, 3.0),
    "open/wikipedia_clickstream_titles": (10_000, 3.0),
    "open/govuk_search": (5_000, 2.0),
    "open/opendns_top_domains": (3_000, 4.0),
}
PLAIN = (
    "esci/queries",
    "open/nq_google_queries",
    "open/query_wellformedness",
    "open/boolq_dev_test",
    "open/webquestions",
    "open/wands",
    "open/duckduckgo_instant_answer_test_queries",
    "open/shopify_product_categories",
    "open/wikipedia_popular_titles",
)
ALONE = 1.5  # bits that one list can give by itself: 2.8 times
MOST_OF_A_LIST = 4.0
MOST = 12.0
FEW, SLOPE = 2.0, 0.6  # further bits count less: the head of a log is steep, but no list says how steep


def lines_of(folder: Path, name: str) -> Iterator[str]:
    """Yield the lines of a list."""
    kind = "tsv" if name in COUNTED else "txt"
    with gzip.open(folder / f"{name}.{kind}.gz", "rt", encoding="utf-8") as lines:
        yield from (line.rstrip("\n") for line in lines)


def evidence(folder: Path) -> Iterator[tuple[str, str, float]]:
    """Yield a list, a query that it knows, and the bits for it."""
    for name, least in COUNTED.items():
        for line in lines_of(folder, name):
            query, _, count = line.rpartition("\t")
            if int(count) >= least:
                yield name, query, log2(int(count)) / 2
    for name, (most, bits) in RANKED.items():
        ranked = [line for _, line in zip(range(most), lines_of(folder, name), strict=False)]
        for place, query in enumerate(ranked):
            worth = bits * (1 - log2(1 + place) / log2(1 + most))
            yield name, query, worth
            if name.endswith("domains"):  # people type the name alone
                yield name, query.split(".")[0], worth
    for name in PLAIN:
        for query in lines_of(folder, name):
            yield name, query, 0.0


def weighed(given: Iterable[tuple[str, str, float]]) -> dict[str, int]:
    """Return how often each query counts."""
    by_list: dict[str, dict[str, float]] = {}
    for name, query, bits in given:
        known = by_list.setdefault(normalise_query(query), {})
        known[name] = max(known.get(name, 0.0), min(bits, MOST_OF_A_LIST))
    by_list.pop("", None)
    begun = Counter(begin for query in by_list for begin in beginnings(query))
    counts = {}
    for query, known in by_list.items():
        if set(known) == {"open/opendns_top_domains"} and "." not in query:
            continue  # a part of a name that nobody types
        bits = sum(known.values()) + len(known) - 1
        if len(known) > 1:
            bits += log2(1 + begun[query]) / 2
        steep = min(bits, FEW) + SLOPE * max(min(bits, MOST) - FEW, 0.0)
        counts[query] = round(2 ** (min(bits, ALONE) if len(known) == 1 else steep))
    return counts


def beginnings(query: str) -> Iterator[str]:
    """Yield the whole words from the beginning of a query, without the last."""
    words = query.split(" ")
    for count in range(1, len(words)):
        yield " ".join(words[:count])


def main() -> None:
    """Write the log."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("lists", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    given = parser.parse_args()
    counts = weighed(evidence(given.lists))
    rows = sorted(counts.items(), key=lambda row: (-row[1], row[0]))
    given.output.write_text("".join(f"{query}\t{count}\n" for query, count in rows), encoding="utf-8")
    print(f"{len(rows)} queries, counted {sum(counts.values())} times")


if __name__ == "__main__":
    main()
