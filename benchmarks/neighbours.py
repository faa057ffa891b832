"""Give a private model every pair of words that enough queries share, a longer list of words, and fit what it shows.

    halfword train data/ --base old.halfword --private … --hold-out -o twin.halfword
    python benchmarks/neighbours.py model.halfword twin.halfword data/ -o default.halfword

A model that has learned all rows has none left to judge it by. Its twin is made as it is, but with rows held out: the
probabilities above which a suggestion is shown are fitted with the twin on the validation rows. The pairs of both are
learned anew, without a limit on their size; a training with `--memory-size` keeps the most frequent ones only.

The words of two queries are listed, too. They are not learned: the list only tells real words from invented ones, here
and in logs that stand on the model. Only for queries that are public: a rare word may be somebody's name.
"""

import argparse
from dataclasses import fields, replace
from pathlib import Path

import numpy as np

from halfword.core.model_file import PADDING, Array, read_header, write_model
from halfword.core.policy import Policy
from halfword.core.scratch import scratch_folder
from halfword.core.verify import read_arrays
from halfword.data.dataset import Dataset, Split, open_dataset
from halfword.data.query_table import QueryTable
from halfword.search.model import load
from halfword.training.companions import read_companions
from halfword.training.from_table import WordColumns, companions_of, word_list_of
from halfword.training.misspellings import WithoutMisspellings
from halfword.training.offers import at_hashed_prefix, collect
from halfword.training.options import TrainOptions
from halfword.training.ranker import RankerWeights, fit_shown, sample_rows

ROWS = 8_000  # that are asked
LISTED = 2  # queries that hold a word of the list
FITTED = ("min_probability", "odd_min_probability", "invented_min_probability")


def write_with_words(model: Path, table: QueryTable, output: Path, shown: dict[str, float]) -> None:
    """Write a model with the pairs and the words of a table, and other numbers of what is shown."""
    header = read_header(model)
    arrays = {name: each for name, each in read_arrays(model, header).items() if not name.startswith(PADDING)}
    least = TrainOptions(private=True).least_count
    words = WordColumns.of(table)
    listed = [word for word, queries in zip(words.words, words.queries.tolist(), strict=True) if queries >= LISTED]
    arrays |= companions_of(table, words, None, read_companions({}), least) | word_list_of(words, listed, least)
    write_model(output, arrays, header.card, policy=replace(header.policy, **shown), features=header.features)


def fitted_on(twin: Path, data: Dataset, output: Path) -> dict[str, float]:
    """Return the numbers of what is shown, as they are fitted to a model on rows that it has not learned."""
    with scratch_folder(output) as folder:
        path = folder / "twin.halfword"
        write_with_words(twin, data.table(Split.TRAIN), path, {})
        header = read_header(path)
        weights = weights_in(read_arrays(path, header))
        rows = sample_rows(data.typed_rows(Split.VALID), ROWS)
        offers = collect(load(path, cache=False), at_hashed_prefix(rows))
    policy: Policy = fit_shown(header.policy, weights, offers, len(rows))
    return {name: getattr(policy, name) for name in FITTED}


def weights_in(arrays: dict[str, Array]) -> RankerWeights:
    """Return the weights of the ranker in a model file; features that it lacks have none."""
    values = {each.name: np.frombuffer(arrays[f"ranker.{each.name}"].data, "<f4") for each in fields(RankerWeights)}
    values["hidden"] = values["hidden"].reshape(-1, len(values["mean"]))
    return RankerWeights.of(values)


def main() -> None:
    """Fit, write, and print what was fitted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("twin", type=Path, help="made as the model, with rows held out")
    parser.add_argument("data", type=Path)
    parser.add_argument("--output", "-o", type=Path, required=True)
    given = parser.parse_args()
    data = WithoutMisspellings.of(open_dataset(given.data))
    shown = fitted_on(given.twin, data, given.output)
    write_with_words(given.model, data.all_table(), given.output, shown)
    print(shown)


if __name__ == "__main__":
    main()
