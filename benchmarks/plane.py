"""Sizes of network and memory: the quality of each model on validation rows, and its latency.

python benchmarks/plane.py DATA fast.halfword fast-8.halfword ... --beams 4 10

The weights of a blend are fitted on valid too, but they are too few to overfit. Prints one JSON object per model and
beam.
"""

import argparse
import json
import random
from pathlib import Path

import numpy as np

from blend import measure
from halfword import SearchOptions, load
from halfword.core.text import SHORTEST_QUERY
from halfword.data.dataset import Split, open_dataset


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("models", type=Path, nargs="+")
    parser.add_argument("--sample", type=int, default=10_000)
    parser.add_argument("--beams", type=int, nargs="*", default=[4, 10])
    arguments = parser.parse_args()
    data = open_dataset(arguments.data)
    long_enough = [row for row in data.rows(Split.VALID) if len(row) >= SHORTEST_QUERY]
    rows = random.Random(0).sample(long_enough, min(arguments.sample, len(long_enough)))
    train = data.counts(Split.TRAIN)
    seen = np.array([row in train for row in rows])
    for path in arguments.models:
        model, megabytes = load(path, cache=False), round(path.stat().st_size / 1e6, 1)
        for beam in arguments.beams:
            found = measure(model, rows, seen, SearchOptions(beam=beam))
            print(json.dumps({"model": path.stem, "beam": beam, "megabytes": megabytes, **found}), flush=True)


if __name__ == "__main__":
    main()
