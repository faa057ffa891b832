"""Write a query log in AOL's format, of any size, with invented words; lengths, repeats and times are realistic.

python benchmarks/aol_log.py --rows 36000000 --files 10 -o /tmp/aol-log
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute

pc: Any = pyarrow.compute  # the type stubs for scalars are incomplete
Column = Any  # a PyArrow array
HEADER = b"AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n"
FIRST, LAST = np.datetime64("2006-03-01T00:00:00"), np.datetime64("2006-05-31T23:59:59")
PORTION = 1 << 18
ROWS_OF_A_USER = 55  # 36 million rows of 657,000 people
REPEATED = 0.27  # share of rows that repeat the one before (the user asked for the next page)
NEW = 0.3  # share of the others that are new queries
CONSONANTS, VOWELS = "bcdfghjklmnprst", "aeio"
SYLLABLES = [consonant + vowel for consonant in CONSONANTS for vowel in VOWELS]
ENDINGS = ["n", "r", "s", "t", "l", "m", "ng", "ck", "st", "rd", *[""] * 10]
DOMAINS = [".com", ".org", ".net", ".edu"]


def write_log(folder: Path, rows: int, files: int, seed: int = 2006, new: float = NEW) -> list[Path]:
    """Write `rows` rows over `files` files and return their paths; `new` is the share of queries that are new."""
    folder.mkdir(parents=True, exist_ok=True)
    words = _words(np.random.default_rng(seed), 60_000)
    paths = [folder / f"user-ct-test-collection-{number + 1:02}.txt" for number in range(files)]
    for number, path in enumerate(paths):
        share = rows // files + (number < rows % files)
        with path.open("wb") as stream:
            stream.write(HEADER)
            for portion in _portions(share, words, number, seed, new):
                stream.write(portion)
    return paths


def _portions(rows: int, words: Column, number: int, seed: int, new: float) -> Iterator[memoryview]:
    for part, start in enumerate(range(0, rows, PORTION)):
        random = np.random.default_rng([seed, number, part])
        first_user = 1_000_000 * (number + 1) + start // ROWS_OF_A_USER
        yield _portion(min(PORTION, rows - start), words, first_user, random, new)


def _portion(rows: int, words: Column, first_user: int, random: np.random.Generator, share: float) -> memoryview:
    users = np.sort(first_user + random.integers(0, max(1, rows // ROWS_OF_A_USER), rows))
    seconds = random.integers(0, int((LAST - FIRST).astype(int)) + 1, rows)
    seconds = seconds[np.lexsort((seconds, users))]  # rows are sorted by user and time
    queries = _queries(rows, words, random, share)
    repeated = random.random(rows) < REPEATED
    repeated[0] = False
    queries = queries.take(pa.array(np.maximum.accumulate(np.where(repeated, 0, np.arange(rows)))))
    times = pc.strftime(pa.array(FIRST + seconds), "%Y-%m-%d %H:%M:%S")
    clicked = random.random(rows) < 0.5
    ranks = pc.if_else(pa.array(clicked), pa.array(random.integers(1, 11, rows)).cast(pa.string()), "")
    sites = pc.binary_join_element_wise(
        "http://www.", words.take(pa.array(random.integers(0, 60_000, rows))), ".com", ""
    )
    urls = pc.if_else(pa.array(clicked), sites, "")
    lines = pc.binary_join_element_wise(pa.array(users).cast(pa.string()), queries, times, ranks, urls, "\t")
    whole = pc.binary_join(pa.ListArray.from_arrays([0, rows], lines), "\n")
    return memoryview(whole[0].as_buffer().to_pybytes() + b"\n")


def _queries(rows: int, words: Column, random: np.random.Generator, share: float) -> Column:
    """Return queries: most are from a fixed few million with Zipf frequencies (1/n), the others are new."""
    known = np.minimum(random.zipf(1.15, rows), 1 << 40).astype(np.uint64)
    new = random.random(rows) < share
    names = np.where(new, random.integers(1 << 41, 1 << 62, rows).astype(np.uint64), known)
    bits = _mixed(names)
    lengths = np.array([1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 5, 6, 8])[(bits >> np.uint64(60)).astype(int)]
    columns = []
    for place in range(8):
        chosen = _mixed(bits + np.uint64(place)).astype(np.float64) / 2.0**64
        word = words.take(pa.array((len(words) * chosen**3).astype(np.int64)))  # some words are frequent
        columns.append(pc.if_else(pa.array(lengths > place), word, pa.scalar(None, pa.string())))
    return pc.binary_join_element_wise(*columns, " ", null_handling="skip")


def _mixed(bits: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


def _words(random: np.random.Generator, number: int) -> Column:
    found: dict[str, None] = {}
    while len(found) < number:
        word = "".join(random.choice(SYLLABLES, random.integers(1, 4))) + str(random.choice(ENDINGS))
        found[word + (str(random.choice(DOMAINS)) if random.random() < 0.04 else "")] = None
    return pa.array(list(found)[:number])


def main() -> None:
    """Write a log with the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--files", type=int, default=10)
    parser.add_argument("--seed", type=int, default=2006)
    parser.add_argument("--new", type=float, default=NEW, help="the share of queries that are new")
    parser.add_argument("-o", "--output", type=Path, required=True)
    given = parser.parse_args()
    for path in write_log(given.output, given.rows, given.files, given.seed, given.new):
        print(path)


if __name__ == "__main__":
    main()
