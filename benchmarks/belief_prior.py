"""Fit the belief in corrections that ships with the package, from logs that may be learned from; prints JSON.

    python benchmarks/belief_prior.py DATA[=BACKGROUND]... -o src/halfword/models/belief.json

For each dataset a model of popularity and memory is trained without its validation and test rows, on a background that
has not learned from them if one is named, and asked at natural and mistyped prefixes of its validation split. All
datasets count the same. A large log soon leaves these weights, so give small ones: of their right words many are
unknown, which a large log would take for mistakes. What is printed is how many rows were read.
"""

import argparse
import json
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from halfword.core.model_file import read_header, write_model
from halfword.core.verify import read_arrays
from halfword.data.dataset import Dataset, open_dataset
from halfword.search.model import import_engine, load
from halfword.training.channel import Channel, learn_channel
from halfword.training.correcting import PARTS, PRIOR, BeliefWeights, ReadRows, fit_belief, read_rows
from halfword.training.mistyped import belief_rows
from halfword.training.options import NO_BACKGROUND, TrainOptions
from halfword.training.train import train

UNITS = 8
WORTH = 1_000  # prefixes that each dataset counts for


def rows_of(data: Dataset, background: str, channel: Channel) -> ReadRows:
    """Return what a model of the train split reads in prefixes of the validation split, counted as if it were one."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.halfword"
        train(data, path, TrainOptions(parts=("popular", "ngram"), background=background, hold_out=True))
        header = read_header(path)
        thorough = replace(header.policy, corrected_least_odds=-100.0, corrected_most_completed=100.0)
        write_model(path, read_arrays(path, header), header.card, policy=thorough, features=header.features)
        rows = read_rows(load(path, cache=False), *belief_rows(data, channel, []))
        return replace(rows, worth=rows.worth * WORTH / rows.worth.sum())


def blank() -> dict[str, BeliefWeights]:
    """Return weights that believe nothing, with which a first model can be trained."""
    size = len(import_engine().belief_names())
    linear = np.where(np.arange(size) == 0, -10.0, 0.0)
    one = BeliefWeights(np.zeros(size), np.ones(size), linear, np.zeros((1, size)), np.zeros(1), np.zeros(1))
    return dict.fromkeys(PARTS, one)


def write(weights: dict[str, BeliefWeights], path: Path) -> None:
    """Write weights as JSON."""
    path.write_text(json.dumps({part: each.to_json() for part, each in weights.items()}) + "\n", encoding="utf-8")


def main() -> None:
    """Train, read, fit, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="+", metavar="DATA[=BACKGROUND]")
    parser.add_argument("--output", "-o", type=Path, default=PRIOR)
    asked = parser.parse_args()
    write(blank(), PRIOR)
    each = []
    for named in asked.data:
        path, _, background = named.partition("=")
        data = open_dataset(Path(path))
        each.append(rows_of(data, background or NO_BACKGROUND, learn_channel(data)))
    rows, chance = ReadRows.joined(each), np.random.default_rng(0)
    start = BeliefWeights.blank(rows, UNITS, chance)
    fitted = {part: fit_belief(start, rows, glance=part == "glance", closeness=1.0) for part in PARTS}
    write(fitted, asked.output)
    print(json.dumps({"rows": {named: len(one.worth) for named, one in zip(asked.data, each, strict=True)}}))


if __name__ == "__main__":
    main()
