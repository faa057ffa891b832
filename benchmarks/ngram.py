"""Train the n-gram memory at several sizes and measure it on the valid split; prints JSON.

python benchmarks/ngram.py data/ --megabytes 25 12 6
python benchmarks/ngram.py data/ --segmenter spm.model --order 5 --counts sqrt
python benchmarks/ngram.py data/ --order 6 --megabytes --kenlm kenlm/build/bin

`nats` is the loss of a typed query in nats, over all and over those (not) seen in train; `perplexity` is per piece.
Times are in nanoseconds per piece. `ratio` is the time of a prediction divided by the time that NumPy needs for the
exponential of as many numbers as there are pieces. `kenlm` is the perplexity of KenLM's `lmplz` on the same pieces,
learned from the same counts.
"""

import argparse
import json
import math
import os
import platform
import resource
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfword._engine import ArrayPlace, ModelFile, Ngram
from halfword.core.card import Card
from halfword.core.model_file import read_header, write_model
from halfword.data.dataset import Split, open_dataset
from halfword.training.kneser_ney import Corpus
from halfword.training.ngram import NgramOptions, learn_ngram
from halfword.training.segment import Segmenter, SegmentOptions, train_segmenter

ROOT = Path(__file__).parent.parent
REPEATS = 8  # timed predictions after the first
COUNTS: dict[str, Callable[[NDArray[np.int64]], NDArray[Any]]] = {
    "raw": lambda counts: counts,
    "power": lambda counts: counts**0.75,
    "sqrt": np.sqrt,
    "log": lambda counts: 1 + np.log2(counts),
    "distinct": np.ones_like,
}


def corpus_of(counts: Mapping[str, int], segmenter: Segmenter) -> Corpus:
    """Segment queries."""
    pairs = zip(segmenter.encode(list(counts)), counts.values(), strict=True)
    return Corpus.of(pairs, vocabulary=segmenter.size, begin=segmenter.begin, end=segmenter.end)


def queries_of(corpus: Corpus) -> list[list[int]]:
    """Return the pieces of each query, and its end."""
    return [[*pieces.tolist(), corpus.end] for pieces in np.split(corpus.pieces, np.cumsum(corpus.lengths)[:-1])]


def load(path: Path) -> Ngram:
    """Open the memory of a model file."""
    places = {name: ArrayPlace(each.dtype, each.begin, each.end) for name, each in read_header(path).places.items()}
    return Ngram(ModelFile(str(path), places))


def losses(memory: Ngram, valid: Corpus, seen: NDArray[np.bool_]) -> dict[str, float]:
    """Return the mean loss per typed query."""
    queries = queries_of(valid)
    nats = np.array([-sum(map(math.log, memory.probabilities(query))) for query in queries])
    pieces = float(valid.counts @ (valid.lengths + 1))

    def mean(chosen: NDArray[np.bool_]) -> float:
        return round(float(nats[chosen] @ valid.counts[chosen] / valid.counts[chosen].sum()), 4)

    return {
        "nats": mean(np.ones_like(seen)),
        "nats_seen": mean(seen),
        "nats_unseen": mean(~seen),
        "perplexity": round(math.exp(float(nats @ valid.counts) / pieces), 4),
    }


def seconds(work: Callable[[], object]) -> float:
    """Return the time that `work` took."""
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def speed(memory: Ngram, queries: list[list[int]], vocabulary: int) -> dict[str, float]:
    """Return the time of a prediction, and of a step with one prediction and the call from Python.

    The time of a prediction is the difference between many predictions and one, divided by their number. All are timed
    in turn, and the medians are used.
    """
    pieces = sum(map(len, queries))
    logits = np.zeros(vocabulary, np.float32)
    rounds = [
        (
            seconds(lambda: [np.exp(logits) for _ in range(1000)]) / 1000,
            seconds(lambda: [memory.sums(query, 1) for query in queries]) / pieces,
            seconds(lambda: [memory.sums(query, 1 + REPEATS) for query in queries]) / pieces,
        )
        for _ in range(9)
    ]
    yardstick, once, _ = np.median(rounds, axis=0).tolist()
    predict = float(np.median([(many - one) / REPEATS for _, one, many in rounds]))
    return {
        "predict_nanoseconds": round(predict * 1e9),
        "advance_and_predict_nanoseconds": round(once * 1e9),
        "yardstick_nanoseconds": round(yardstick * 1e9),
        "ratio": round(predict / yardstick, 2),
    }


def measure(train: Corpus, valid: Corpus, seen: NDArray[np.bool_], options: NgramOptions) -> dict[str, Any]:
    """Train one memory and return its figures."""
    begin = time.perf_counter()
    arrays = learn_ngram(train, options)
    took = time.perf_counter() - begin
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ngram.halfword"
        write_model(path, arrays, Card())
        memory = load(path)
        size = sum(len(array.data) for array in arrays.values())
        return {
            "order": options.order,
            "megabytes": options.megabytes,
            "bytes": size,
            "ngrams": len(memory),
            "bytes_per_ngram": round(size / max(len(memory), 1), 3),
            "seconds": round(took, 1),
            **losses(memory, valid, seen),
            **speed(memory, queries_of(valid)[:5000], valid.vocabulary),
        }


def write_pieces(path: Path, corpus: Corpus) -> None:
    """Write the queries for KenLM: pieces as words, one line per occurrence of a query."""
    with path.open("w") as file:
        for query, count in zip(queries_of(corpus), corpus.counts.tolist(), strict=True):
            file.writelines([" ".join(f"p{piece}" for piece in query[:-1]) + "\n"] * count)


def perplexity_of_kenlm(programs: Path, train: Corpus, valid: Corpus, order: int) -> float:
    """Return the perplexity per piece that KenLM's programs report."""
    with tempfile.TemporaryDirectory() as folder:
        learned, asked, model = (Path(folder) / name for name in ("train.txt", "valid.txt", "model.arpa"))
        write_pieces(learned, train)
        write_pieces(asked, valid)
        lmplz = [str(programs / "lmplz"), "-o", str(order), "--discount_fallback", "-S", "1G", "-T", folder]
        with learned.open() as source, model.open("w") as target:
            subprocess.run(lmplz, stdin=source, stdout=target, stderr=subprocess.DEVNULL, check=True)
        query = [str(programs / "query"), "-v", "summary", str(model)]
        with asked.open() as source:
            told = subprocess.run(query, stdin=source, capture_output=True, text=True, check=True).stdout
    line = next(line for line in told.splitlines() if line.startswith("Perplexity including OOVs"))
    return float(line.partition(":")[2])


def main() -> None:
    """Measure with the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--segmenter", type=Path, help="a SentencePiece model; without it one is trained")
    parser.add_argument("--order", type=int, default=8)
    parser.add_argument("--megabytes", type=float, nargs="*", default=[60, 25, 12, 6])
    parser.add_argument("--counts", choices=COUNTS, default="raw", help="the weight of a query that was typed n times")
    parser.add_argument("--kenlm", type=Path, help="the folder of KenLM's lmplz and query, to compare with")
    given = parser.parse_args()
    data = open_dataset(given.data)
    counts, held_out = data.counts(Split.TRAIN), data.counts(Split.VALID)
    model = given.segmenter
    segmenter = Segmenter(model.read_bytes()) if model else train_segmenter(counts, SegmentOptions())
    train, valid = corpus_of(counts, segmenter), corpus_of(held_out, segmenter)
    train = replace(train, counts=np.rint(COUNTS[given.counts](train.counts)).astype(np.int64))
    seen = np.array([query in counts for query in held_out])
    sizes = [
        measure(train, valid, seen, NgramOptions(order=given.order, megabytes=size))
        for size in (None, *given.megabytes)
    ]
    git = ["git", "rev-parse", "--short", "HEAD"]
    about = {
        "counts": given.counts,
        "peak_megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "machine": {"processor": platform.processor() or platform.machine(), "cores": os.cpu_count()},
        "commit": subprocess.run(git, capture_output=True, text=True, cwd=ROOT, check=False).stdout.strip(),
    }
    if given.kenlm is not None:
        about["kenlm"] = perplexity_of_kenlm(given.kenlm, train, valid, given.order)
    print(json.dumps({"sizes": sizes, **about}, indent=2))


if __name__ == "__main__":
    main()
