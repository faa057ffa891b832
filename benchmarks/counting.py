"""Count n-grams, estimate Kneser-Ney and write the memory of a log, in a process of its own; prints JSON.

python benchmarks/counting.py data/ --order 6 --memory 1
python benchmarks/counting.py data/ --order 6 --kenlm kenlm/build/bin
python benchmarks/counting.py data/ --pieces my.halfword --megabytes 8

`from_texts` begins with the texts of the distinct queries and cuts them into pieces first; `from_pieces` begins with
their pieces. Both end with a model file on disk. `peak_megabytes` is the most that the process ever had in memory.
`kenlm` is KenLM's `lmplz` on the same pieces, one line per time that a query counts, which writes an ARPA file or, as
`intermediate`, its own binary files. `ratio` is the time of `from_texts` divided by that of `lmplz` with an ARPA file.
Each time is the best of `--repeat` runs.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from halfword.core.card import Card
from halfword.core.model_file import read_header, write_model
from halfword.core.verify import read_arrays
from halfword.data.dataset import Split, open_dataset
from halfword.search.model import import_engine, open_model_file
from halfword.training.counted import Bounds, counted_arrays, counter_of, learn_counted, weights_of
from halfword.training.ngram import NgramOptions
from halfword.training.pieces import Pieces
from halfword.training.segment import SegmentOptions, piece_arrays, train_segmenter

ROOT = Path(__file__).parent.parent
NAMES = ("text", "begin", "count", "pieces", "lengths")
Json = dict[str, Any]


@dataclass(frozen=True)
class Stored:
    """The queries of a log in a folder, as texts and as pieces, and the model file with the pieces."""

    text: NDArray[np.uint8]
    begin: NDArray[np.uint64]
    count: NDArray[np.uint64]
    pieces: NDArray[np.uint32]
    lengths: NDArray[np.uint32]

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read what `store` has written."""
        return cls(*(np.load(folder / f"{name}.npy") for name in NAMES))


def store(data: Path, pieces: Path | None, folder: Path) -> int:
    """Write the queries of the train split into a folder; returns how many there are."""
    counts = open_dataset(data).counts(Split.TRAIN)
    if pieces is None:
        arrays = piece_arrays(train_segmenter(counts, SegmentOptions()))
    else:
        every = read_arrays(pieces, read_header(pieces))
        arrays = {name: array for name, array in every.items() if name.startswith("pieces.")}
    write_model(folder / "pieces.halfword", arrays, Card())
    texts = [query.encode() for query in counts]
    segmented = _segmenter(folder).segment_batch(list(counts))
    columns: tuple[NDArray[Any], ...] = (
        np.frombuffer(b"".join(texts), np.uint8),
        np.cumsum([0, *map(len, texts)]).astype(np.uint64),
        np.array(list(counts.values()), np.uint64),
        np.concatenate([np.array(each, np.uint32) for each in segmented]),
        np.array(list(map(len, segmented)), np.uint32),
    )
    for name, column in zip(NAMES, columns, strict=True):
        np.save(folder / f"{name}.npy", column)
    return len(counts)


def _segmenter(folder: Path) -> Any:
    path = folder / "pieces.halfword"
    return import_engine().Segmenter(open_model_file(path, read_header(path)))


def count(folder: Path, begin_with: str, options: NgramOptions, memory: float) -> Json:
    """Learn the memory of what is stored, and write it; this is the whole work of a child process."""
    began = time.perf_counter()
    log, output = Stored.read(folder), folder / "learned.halfword"
    path = folder / "pieces.halfword"
    arrays = read_arrays(path, read_header(path))
    if begin_with == "texts":
        found = learn_counted(log, arrays, options, Bounds(output, memory))
    else:
        known = Pieces.of(arrays, _segmenter(folder).segment_batch)
        counter = counter_of(known.size, known.begin, known.end, options, folder, memory)
        counter.add_pieces(log.pieces, log.lengths, weights_of(log.count))
        found = counted_arrays(counter.finish(), known.begin, known.end, options)
    write_model(output, found, Card())
    return {
        "seconds": round(time.perf_counter() - began, 2),
        "peak_megabytes": peak_megabytes(),
        "bytes": sum(len(array.data) for array in found.values()),
    }


def peak_megabytes() -> int:
    """Return the most memory that this process had; `getrusage` would count what it was before it was this program."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) // 1024


def best_of_children(given: argparse.Namespace, folder: Path, begin_with: str) -> Json:
    """Run children one after the other, and return the figures of the fastest."""
    command = [sys.executable, __file__, str(folder), "--child", begin_with, "--order", str(given.order)]
    command += ["--memory", str(given.memory)]
    command += [] if given.megabytes is None else ["--megabytes", str(given.megabytes)]
    told = [subprocess.run(command, capture_output=True, text=True, check=True).stdout for _ in range(given.repeat)]
    return min(map(json.loads, told), key=lambda each: float(each["seconds"]))


def time_kenlm(program: Path, folder: Path, given: argparse.Namespace) -> Json:
    """Return how long `lmplz` takes for the same pieces."""
    log, source = Stored.read(folder), folder / "pieces.txt"
    queries = np.split(log.pieces, np.cumsum(log.lengths)[:-1])
    with source.open("w") as file:
        for query, weight in zip(queries, weights_of(log.count).tolist(), strict=True):
            file.writelines([" ".join(map("p{}".format, query.tolist())) + "\n"] * weight)
    lmplz = [str(program), "-o", str(given.order), "--discount_fallback", "-S", f"{given.memory}G", "-T", str(folder)]

    def seconds(*more: str) -> float:
        began = time.perf_counter()
        with source.open() as stream:
            subprocess.run([*lmplz, *more], stdin=stream, stderr=subprocess.DEVNULL, check=True)
        return round(time.perf_counter() - began, 2)

    arpa = min(seconds("--arpa", str(folder / "model.arpa")) for _ in range(given.repeat))
    binary = min(seconds("--intermediate", str(folder / "model")) for _ in range(given.repeat))
    return {"seconds": arpa, "intermediate_seconds": binary}


def main() -> None:
    """Measure with the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--pieces", type=Path, help="a model file with pieces; without it they are learned")
    parser.add_argument("--order", type=int, default=6)
    parser.add_argument("--megabytes", type=float, help="prune to this size")
    parser.add_argument("--memory", type=float, default=4, help="gigabytes")
    parser.add_argument("--kenlm", type=Path, help="the folder of KenLM's lmplz, to compare with")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--child", choices=("texts", "pieces"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child is not None:
        options = NgramOptions(order=given.order, megabytes=given.megabytes)
        print(json.dumps(count(given.data, given.child, options, given.memory * 1e9)))
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        found: Json = {"queries": store(given.data, given.pieces, folder), "order": given.order}
        found |= {"memory_gigabytes": given.memory, "megabytes": given.megabytes}
        found |= {f"from_{each}": best_of_children(given, folder, each) for each in ("texts", "pieces")}
        if given.kenlm is not None:
            found["kenlm"] = time_kenlm(given.kenlm / "lmplz", folder, given)
            found["ratio"] = round(found["from_texts"]["seconds"] / found["kenlm"]["seconds"], 3)
    git = ["git", "rev-parse", "--short", "HEAD"]
    found["machine"] = {"processor": platform.processor() or platform.machine(), "cores": os.cpu_count()}
    found["commit"] = subprocess.run(git, capture_output=True, text=True, cwd=ROOT, check=False).stdout.strip()
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
