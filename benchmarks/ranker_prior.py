"""Fit the ranker's weights that ship with the package, from logs that may be learned from; prints JSON.

python benchmarks/ranker_prior.py DATA[=BACKGROUND]... --sessions LOG... -o src/halfword/models/ranker.json

For each dataset a model of popularity and memory is trained on its train split, on a background that has not learned
from its rows if one is named, and asked at prefixes of its validation split. Give datasets of different sizes and
subjects, from hundreds of rows to hundreds of thousands: the weights are the starting point of every training, and all
that a very small log has. Datasets named after `--sessions` keep the order in which people searched; they are asked
with the ten rows before as context too. The mixture (how evidence and models make one first estimate) is fitted first,
by coordinate descent, on what is asked without context; then all other weights. What is printed is the cross-entropy
in nats per prefix on the test splits: of the first estimate alone, and of the ranker.
"""

import argparse
import json
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from halfword.core.version import __version__
from halfword.data.dataset import Dataset, Split, open_dataset
from halfword.data.sessions import TypedRow
from halfword.search.model import Model, import_engine, load
from halfword.training.offers import Offers, at_every_prefix, at_hashed_prefix, collect, join
from halfword.training.options import NO_BACKGROUND, TrainOptions
from halfword.training.ranker import PRIOR, RankerWeights, cross_entropy, feature_place, fit, sample_rows
from halfword.training.train import train

CHOICES = {  # of the mixture, tried one after the other
    "discount": (0.3, 0.5, 0.65, 0.8, 0.9),
    "breadth": (0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0),
    "growth": (0.5, 0.6, 0.75, 0.9),
    "least": (0.1, 0.3, 1.0, 2.0),
    "companions": (0.05, 0.1, 0.2, 0.3),
    "spellings": (0.05, 0.1, 0.2, 0.3),
}
LEAST_ESTIMATE = 1e-13


@dataclass(frozen=True)
class Unvalidated(Dataset):
    """A dataset without validation rows, so that nothing is fitted to them before they are asked."""

    data: Dataset

    def counts(self, split: Split) -> dict[str, int]:
        return self.data.counts(split)

    def rows(self, split: Split) -> list[str]:
        return [] if split is Split.VALID else self.data.rows(split)

    def about(self) -> dict[str, Any]:
        return self.data.about()


def initial(units: int) -> RankerWeights:
    """Return weights that trust the first estimate alone."""
    size, shared = len(import_engine().feature_names()), import_engine().PREFIX_FEATURES
    linear = np.zeros(size, np.float32)
    linear[feature_place("estimate")] = 1.0
    hidden = np.random.default_rng(0).normal(0, size**-0.5, (units, size)).astype(np.float32)
    ones, zeros = np.ones(size, np.float32), np.zeros(size, np.float32)
    mixture = np.array([0.5, 2.0, 0.75, 1.0, 0.1, 0.1], np.float32)
    no_units = np.zeros(units, np.float32)
    return RankerWeights(mixture, zeros, ones, linear, hidden, no_units, no_units, np.zeros(shared + 1, np.float32))


def asked(model: Model, rows: list[TypedRow], size: int, walked: int) -> Offers:
    """Return what a model proposes at one prefix of `size` rows, and at every prefix of `walked` ones."""
    chosen = sample_rows(rows, size)
    return collect(model, at_hashed_prefix(chosen) + at_every_prefix(chosen[:walked]))


def scales(offers: Offers) -> tuple[np.ndarray, np.ndarray]:
    """Return what is taken off each feature and what it is divided by.

    What a session says must stay 0 where there is none, and is told apart from it by its size.
    """
    mean, scale = offers.features.mean(0), offers.features.std(0)
    of_session = [place for place, name in enumerate(import_engine().feature_names()) if name.startswith("session_")]
    known = offers.features[offers.features[:, feature_place("session_size")] > 0][:, of_session]
    mean[of_session] = 0.0
    scale[of_session] = 0.5 * np.sqrt((known**2).mean(0)) if len(known) else 1.0
    return mean, np.maximum(scale, 1e-3)


def alone(rows: list[TypedRow]) -> list[TypedRow]:
    """Return the rows without their context."""
    return [TypedRow(row.query) for row in rows]


def model_of(data: Dataset, folder: str, background: str) -> Model:
    """Return a model of the train split, fitted to nothing."""
    path, options = Path(folder) / "model.halfword", TrainOptions(parts=("popular", "ngram"), background=background)
    train(Unvalidated(data.path, data.profile, data), path, options)
    return load(path, cache=False)


def estimates(offers: Offers, mixture: np.ndarray) -> np.ndarray:
    """Return the feature of the same name under another mixture."""
    discount, breadth, growth, least, companions, spellings = mixture
    owner = np.repeat(np.arange(len(offers)), np.diff(offers.first))
    count, score, beside, spelled = offers.evidence.T
    total, distinct = offers.totals.T
    weight = least + breadth * distinct**growth

    def share(opinion: np.ndarray, value: float) -> np.ndarray:
        return np.where(np.bincount(owner, opinion > 0, len(offers)) > 0, value, 0.0)

    of_spellings = share(spelled, spellings)
    of_companions = share(beside, companions) * (1 - of_spellings)
    of_model = 1 - of_companions - of_spellings
    prior = of_model[owner] * np.exp(score) + of_companions[owner] * beside + of_spellings[owner] * spelled
    whole = np.maximum(count - discount, 0) + weight[owner] * prior
    values: np.ndarray = np.log(np.maximum(whole / (total - discount * distinct + weight)[owner], LEAST_ESTIMATE))
    return values


def with_mixture(offers: Offers, mixture: np.ndarray) -> Offers:
    """Return the offers with the first estimate under another mixture."""
    features = offers.features.copy()
    features[:, feature_place("estimate")] = estimates(offers, mixture)
    return replace(offers, features=features)


def fit_mixture(weights: RankerWeights, offers: Offers) -> RankerWeights:
    """Return the weights with the mixture whose first estimate is the likeliest by itself."""
    mixture = weights.mixture.copy()
    for _ in range(2):
        for place, name in enumerate(CHOICES):
            tried = []
            for value in CHOICES[name]:
                mixture[place] = value
                tried.append((cross_entropy(weights, with_mixture(offers, mixture)), value))
            mixture[place] = min(tried)[1]
    return replace(weights, mixture=mixture)


def main() -> None:
    """Collect, fit, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="+", metavar="DATA[=BACKGROUND]")
    parser.add_argument("--sessions", nargs="*", default=[], metavar="DATA[=BACKGROUND]")
    parser.add_argument("--output", "-o", type=Path, default=PRIOR)
    parser.add_argument("--units", type=int, default=32)
    parser.add_argument("--epochs", type=int, default=20)
    arguments = parser.parse_args()
    valid, in_sessions, test = [], [], {}
    with tempfile.TemporaryDirectory() as folder:
        for named in (*arguments.data, *arguments.sessions):
            path, _, background = named.partition("=")
            data = open_dataset(Path(path))
            model = model_of(data, folder, background or NO_BACKGROUND)
            rows, held_out = data.typed_rows(Split.VALID), data.typed_rows(Split.TEST)
            valid.append(asked(model, alone(rows), 3000, 300))
            test[named] = asked(model, alone(held_out), 2000, 0)
            if named in arguments.sessions:
                in_sessions.append(asked(model, rows, 3000, 300))
                test[f"{named} with context"] = asked(model, held_out, 2000, 0)
    mixture = fit_mixture(initial(1), join(valid)).mixture  # its units say nothing yet
    weights = replace(initial(arguments.units), mixture=mixture)
    offers = with_mixture(join([*valid, *in_sessions]), weights.mixture)
    mean, scale = scales(offers)
    linear = np.where(np.arange(len(scale)) == feature_place("estimate"), scale, 0).astype(np.float32)
    estimated = replace(weights, mean=mean, scale=scale, linear=linear)
    fitted = fit(estimated, offers, epochs=arguments.epochs, closeness=1.0)
    report = {
        name: [round(cross_entropy(each, with_mixture(asked, weights.mixture)), 4) for each in (estimated, fitted)]
        for name, asked in test.items()
    }
    names = import_engine().feature_names()
    content = {"halfword": __version__, "data": sorted(test), "features": names, "weights": fitted.to_json()}
    arguments.output.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    print(json.dumps({"mixture": dict(zip(CHOICES, fitted.mixture.tolist(), strict=True)), "nats": report}, indent=1))


if __name__ == "__main__":
    main()
