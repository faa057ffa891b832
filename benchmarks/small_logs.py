"""Draw small logs from a list of queries: 300 rows within 3,000 within 30,000, each with validation and test rows.

python benchmarks/small_logs.py esci/queries.txt.gz -o logs/esci --ascii
python benchmarks/small_logs.py web/trec.tsv.gz -o logs/web --counts

A list has one query per line; with `--counts` a tab and how often it was typed, and rows are drawn by that. All logs
have the same 1,500 test rows, and validation rows of a tenth of their size, at least 200. 1,500 rows are few: their MRR
has a standard error of .007. `many.query.txt` holds 6,000 rows of the list that no log learns or is fitted to.
"""

import argparse
import gzip
import random
from collections.abc import Iterable
from pathlib import Path

from halfword.core.text import SHORTEST_QUERY, normalise_query

SIZES = (300, 3_000, 30_000)
TEST, MANY = 1_500, 6_000
FEWEST_VALID = 200
SEEDS = (7, 11)  # of the logs, and of the many rows


def read_list(path: Path, counted: bool, ascii_only: bool) -> tuple[list[str], list[int] | None]:
    """Return the queries of a list that are long enough to be asked, and their counts if it has such."""
    queries, counts = [], []
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            text, _, count = line.rstrip("\n").rpartition("\t") if counted else (line.rstrip("\n"), "", "1")
            query = normalise_query(text)
            if len(query) >= SHORTEST_QUERY and (query.isascii() or not ascii_only):
                queries.append(query)
                counts.append(int(count))
    return queries, counts if counted else None


def list_parser(description: str) -> argparse.ArgumentParser:
    """Return what reads the names of a list and of the folder for its logs."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("list", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--counts", action="store_true")
    parser.add_argument("--ascii", action="store_true", help="only rows in ASCII")
    return parser


def write_rows(path: Path, rows: Iterable[str]) -> None:
    """Write one query per line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")


def main() -> None:
    """Write a folder per log."""
    parser = list_parser((__doc__ or "").splitlines()[0])
    given = parser.parse_args()
    queries, counts = read_list(given.list, given.counts, given.ascii)
    valid_rows, chance = SIZES[-1] // 10, random.Random(SEEDS[0])
    size = TEST + valid_rows + SIZES[-1]
    rows = chance.sample(queries, size) if counts is None else chance.choices(queries, counts, k=size)
    test, valid, train = rows[:TEST], rows[TEST : TEST + valid_rows], rows[TEST + valid_rows :]
    for size in SIZES:
        folder = given.output / str(size)
        write_rows(folder / "train.query.txt", train[:size])
        write_rows(folder / "valid.query.txt", valid[: max(FEWEST_VALID, size // 10)])
        write_rows(folder / "test.query.txt", test)
    learned = {*train, *valid}
    unused = [query for query in queries if query not in learned]
    write_rows(given.output / "many.query.txt", random.Random(SEEDS[1]).sample(unused, min(MANY, len(unused))))


if __name__ == "__main__":
    main()
