"""Fit the ranker's weights that ship with the package, from logs that may be learned from; prints JSON.

python benchmarks/ranker_prior.py DATA[=BACKGROUND]... --sessions LOG... -o src/halfword/models/ranker.json
python benchmarks/ranker_prior.py --keep --sessions LOG...                 only the weights of requests with a context
python benchmarks/ranker_prior.py --few DATA[=BACKGROUND]...               only the weights of logs of few queries

For each dataset a model of popularity and memory is trained on its train split, on a background that has not learned
from its rows if one is named, and asked at prefixes of its validation split. Give datasets of different sizes and
subjects, from hundreds of rows to hundreds of thousands: the weights are the starting point of every training, and all
that a very small log has. The mixture (how evidence and models make one first estimate) is fitted first, by coordinate
descent, then all other weights. Datasets named after `--sessions` keep the order in which people searched. Their rows
are asked with the ten rows before as context; the weights of requests with a context are fitted to them, starting from
the others. Those of logs of few queries start from the others, too; give them small sites (`site_logs.py`) and small
logs. What is printed is the cross-entropy in nats per prefix on the test splits: of what the fit started from,
and of the ranker.
"""

import argparse
import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
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

    def rows(self, split: Split) -> Sequence[str]:
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


def session_scales(weights: RankerWeights, offers: Offers) -> RankerWeights:
    """Return the same weights with what a session says divided by half of its root mean square; it is mostly 0."""
    scale = weights.scale.copy()
    for place, name in enumerate(import_engine().feature_names()):
        if name.startswith("session_"):
            scale[place] = max(0.5 * np.sqrt((offers.features[:, place] ** 2).mean()), 1e-3)
    return weights.rescaled(scale)


def alone(rows: list[TypedRow]) -> list[TypedRow]:
    """Return the rows without their context."""
    return [TypedRow(row.query) for row in rows]


def model_of(data: Dataset, folder: str, background: str) -> Model:
    """Return a model of the train split, fitted to nothing."""
    path, options = (
        Path(folder) / "model.halfword",
        TrainOptions(parts=("popular", "ngram"), background=background, hold_out=True),
    )
    train(Unvalidated(data.path, data.profile, data), path, options)
    return load(path, cache=False)


def estimates(offers: Offers, mixture: np.ndarray) -> np.ndarray:
    """Return the feature of the same name under another mixture."""
    discount, breadth, growth, least, companions, spellings = mixture
    owner = np.repeat(np.arange(len(offers)), np.diff(offers.first))
    count, score, beside, spelled, _ = offers.evidence.T
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


@dataclass
class Collected:
    """What was asked, and what the test splits say of the weights."""

    valid: list[Offers] = field(default_factory=list)
    test: dict[str, Offers] = field(default_factory=dict)

    def add(self, named: str, size: int, walked: int, *, with_context: bool) -> None:
        """Ask a dataset."""
        path, _, background = named.partition("=")
        data = open_dataset(Path(path))
        rows, held_out = list(data.typed_rows(Split.VALID)), list(data.typed_rows(Split.TEST))
        if not with_context:
            rows, held_out = alone(rows), alone(held_out)
        with tempfile.TemporaryDirectory() as folder:
            model = model_of(data, folder, background or NO_BACKGROUND)
            self.valid.append(asked(model, rows, size, walked))
            self.test[named] = asked(model, held_out, 2000, 0)

    def nats(self, *weights: RankerWeights) -> dict[str, list[float]]:
        """Return the cross-entropy of weights on each test split."""
        mixture = weights[-1].mixture
        return {
            name: [round(cross_entropy(each, with_mixture(offers, mixture)), 4) for each in weights]
            for name, offers in self.test.items()
        }


def fit_alone(collected: Collected, units: int, epochs: int) -> tuple[RankerWeights, RankerWeights]:
    """Return the weights of requests without a context: those of the first estimate alone, and the fitted ones."""
    mixture = fit_mixture(initial(1), join(collected.valid)).mixture  # its units say nothing yet
    offers = with_mixture(join(collected.valid), mixture)
    mean, scale = offers.features.mean(0), np.maximum(offers.features.std(0), 1e-3)
    of_session = [place for place, name in enumerate(import_engine().feature_names()) if name.startswith("session_")]
    scale[of_session] = 1.0
    linear = np.where(np.arange(len(scale)) == feature_place("estimate"), scale, 0).astype(np.float32)
    estimated = replace(initial(units), mixture=mixture, mean=mean, scale=scale, linear=linear)
    return estimated, fit(estimated, offers, epochs=epochs, closeness=1.0, rate=5e-3)


def fit_few(collected: Collected, epochs: int) -> RankerWeights:
    """Return the weights that ship, fitted to logs of few queries."""
    return fit(RankerWeights.read(), join(collected.valid), epochs=epochs, rate=5e-3)


def fit_session(weights: RankerWeights, collected: Collected, units: int, epochs: int) -> RankerWeights:
    """Return the weights of requests with a context."""
    offers = with_mixture(join(collected.valid), weights.mixture)
    start = session_scales(weights, offers).with_units(units, np.random.default_rng(0))
    return fit(start, offers, epochs=epochs, closeness=1.0, rate=5e-3)


def main() -> None:
    """Collect, fit, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="*", metavar="DATA[=BACKGROUND]")
    parser.add_argument("--sessions", nargs="*", default=[], metavar="DATA[=BACKGROUND]")
    parser.add_argument("--keep", action="store_true", help="keep the weights of requests without a context")
    parser.add_argument("--few", action="store_true", help="only the weights of logs of few queries")
    parser.add_argument("--output", "-o", type=Path, default=PRIOR)
    parser.add_argument("--units", type=int, default=16)
    parser.add_argument("--session-units", type=int, default=32, help="hidden units added for a context")
    parser.add_argument("--epochs", type=int, default=20)
    arguments = parser.parse_args()
    plain, in_sessions = Collected(), Collected()
    for named in arguments.data:
        plain.add(named, 3000, 300, with_context=False)
    for named in arguments.sessions:
        in_sessions.add(named, 20_000, 2000, with_context=True)
    content = json.loads(PRIOR.read_text(encoding="utf-8"))
    weights, report = RankerWeights.read(), {}
    if arguments.few:
        few = fit_few(plain, arguments.epochs)
        content |= {"few_data": sorted(plain.test), "few": few.to_json()}
        report["few"] = plain.nats(weights, few)
    elif not arguments.keep:
        estimated, weights = fit_alone(plain, arguments.units, arguments.epochs)
        content |= {"data": sorted(plain.test), "weights": weights.to_json()}
        report["alone"] = plain.nats(estimated, weights)
    if in_sessions.valid:
        session = fit_session(weights, in_sessions, arguments.session_units, arguments.epochs)
        content |= {"session_data": sorted(in_sessions.test), "session": session.to_json()}
        report["with context"] = in_sessions.nats(weights, session)
    content |= {"halfword": __version__, "features": import_engine().feature_names()}
    arguments.output.write_text(json.dumps(content) + "\n", encoding="utf-8")
    print(json.dumps({"mixture": dict(zip(CHOICES, weights.mixture.tolist(), strict=True)), "nats": report}, indent=1))


if __name__ == "__main__":
    main()
