"""What `train --private` keeps of one person's query: nothing that a model which never read it would not say."""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from halfword import Model, load
from halfword.data.dataset import open_dataset
from halfword.training.options import NO_BACKGROUND, TrainOptions
from halfword.training.train import train

pytestmark = pytest.mark.engine

MOST_OFTEN = 1.5  # times as often as a query that was never read may one that was typed once be completed
SHARES = (0.4, 0.6, 0.8)  # of a query's characters are typed
SYLLABLES = ("ba", "den", "fo", "gri", "hal", "kes", "lu", "mo", "nor", "pri", "ros", "tim", "vel", "wes")
OPTIONS = TrainOptions(parts=("popular", "ngram"), background=NO_BACKGROUND, hold_out=True)


def people_and_places() -> Iterator[str]:
    names = ["".join(syllables) for syllables in product(SYLLABLES, SYLLABLES)]
    return (f"{person} {place}" for person, place in product(names, names))


def trained(folder: Path, rows: Mapping[str, Sequence[str]], options: TrainOptions) -> Model:
    folder.mkdir()
    for split, queries in rows.items():
        (folder / f"{split}.query.txt").write_text("\n".join(queries) + "\n")
    path = folder / "my.halfword"
    train(open_dataset(folder), path, options)
    return load(path)


def completed(model: Model, queries: Sequence[str]) -> float:
    """Return how often the queries are among everything that the model says to their first characters."""
    prefixes = [(query, query[: round(share * len(query))]) for query in queries for share in SHARES]
    answers = model.complete_batch([prefix for _, prefix in prefixes], min_probability=0, invent="freely")
    found = sum(query in answer.texts for (query, _), answer in zip(prefixes, answers, strict=True))
    return found / len(prefixes)


@pytest.mark.parametrize("private", [False, True])
def test_a_query_typed_once_is_recited_unless_the_model_is_private(tmp_path: Path, *, private: bool) -> None:
    queries = [*people_and_places()]
    random.Random(0).shuffle(queries)
    once, never, often, new = queries[:600], queries[600:800], queries[800:900], queries[900:1000]
    rows = {"train": [*once, *often * 3], "valid": [*often, *new], "test": never}
    model = trained(tmp_path / "log", rows, replace(OPTIONS, private=private))
    recited, guessed = completed(model, once), completed(model, never)
    assert guessed > 0
    assert (recited <= MOST_OFTEN * guessed) is private


def test_a_private_model_suggests_no_query_that_was_typed_once(tmp_path: Path) -> None:
    rows = {
        "train": ["library card"] * 12 + ["my secret wish"] + ["library"] * 11,
        "valid": ["library", "library card"],
        "test": ["library"],
    }
    open_to_all = trained(tmp_path / "all", rows, OPTIONS)
    private = trained(tmp_path / "private", rows, replace(OPTIONS, private=True))
    assert "my secret wish" in open_to_all.complete("my se").texts
    assert "my secret wish" not in private.complete("my se").texts
