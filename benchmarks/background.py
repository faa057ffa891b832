"""Train logs with and without a background and compare them on their test splits; prints JSON, one line per model.

python benchmarks/background.py my.halfword small-log/ another-log/
python benchmarks/background.py my.halfword small-log/ --parts popular,ngram,network

The background must not have learned from the rows that are tested. `mrr` is of all that was found, `shown` of what is
shown by default. `invented` is the share of suggestions shown by default with a word that occurs neither in the train
split nor in the background; whole words of the prefix do not count.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from halfword import Model, load
from halfword.core import metrics
from halfword.core.options import Invent
from halfword.core.words import words_in
from halfword.data.dataset import Dataset, Split, open_dataset
from halfword.evaluation.evaluate import EvaluateOptions, evaluate
from halfword.training.background import Background
from halfword.training.options import NO_BACKGROUND, TrainOptions
from halfword.training.train import train

MOST_ROWS = 1500  # of which suggestions are counted
EVERYTHING = EvaluateOptions(walk=0, invent=Invent.FREELY, min_probability=0.0)


def invented(model: Model, rows: Sequence[str], words: set[str]) -> float:
    """Return the share of suggestions that hold a word that nobody typed."""
    prefixes = [row[: metrics.hashed_prefix_length(row)] for row in rows if len(row) >= metrics.SHORTEST_PREFIX + 1]
    shown = holding = 0
    for prefix, answer in zip(prefixes, model.complete_batch(prefixes), strict=True):
        known = words.union(words_in(prefix[: prefix.rfind(" ") + 1]))
        shown += len(answer)
        holding += sum(each.source == "model" and not known.issuperset(words_in(each.text)) for each in answer)
    return holding / max(shown, 1)


def measure(data: Dataset, name: str, options: TrainOptions, words: set[str]) -> dict[str, Any]:
    """Train one model and return what it is worth and what it costs."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.halfword"
        started = time.monotonic()
        card = train(data, path, options)
        seconds = time.monotonic() - started
        model = load(path)
        found = evaluate(model, data, EVERYTHING).to_json()["metrics"]
        shown = evaluate(model, data, EvaluateOptions(walk=0)).to_json()["metrics"]
        return {
            "data": name,
            "background": card.background.name if card.background is not None else None,
            "mrr": found["mrr"],
            "success": found["success"]["all"],
            "shown": shown["mrr"]["all"],
            "invented": round(invented(model, data.rows(Split.TEST)[:MOST_ROWS], words), 4),
            "megabytes": round(path.stat().st_size / 1e6, 2),
            "seconds": round(seconds, 1),
        }


def main() -> None:
    """Print the figures of each log, without and with the background."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("background")
    parser.add_argument("data", type=Path, nargs="+")
    parser.add_argument("--parts", default="popular,ngram")
    given = parser.parse_args()
    known = Background.open(given.background).words()
    for folder in given.data:
        data = open_dataset(folder)
        words = known.union(*map(words_in, data.counts(Split.TRAIN)))
        for background in (NO_BACKGROUND, given.background):
            options = TrainOptions(parts=tuple(given.parts.split(",")), background=background, hold_out=True)
            print(json.dumps(measure(data, folder.name, options, words)), flush=True)


if __name__ == "__main__":
    main()
