"""Give a trained model what it needs to correct typing mistakes and to find words in another order, without training.

    python benchmarks/correctable.py MODEL -o NEW

The words are those that the model knows already: of its companions, with the number of queries that hold each, and of
its queries. The channel and the belief are those that ship, so nothing is fitted to the model's log.
"""

import argparse
from dataclasses import fields, replace
from pathlib import Path

from halfword.core.model_file import PADDING, read_header, write_model
from halfword.core.policy import DEFAULT_POLICY
from halfword.core.verify import read_arrays
from halfword.training.channel import Channel
from halfword.training.companions import read_companions
from halfword.training.correcting import prior_arrays
from halfword.training.other_order import learn_order
from halfword.training.pruning import read_counts
from halfword.training.word_tree import count_words, word_tree

PARTS = ("corrected_", "reordered_")  # numbers of the policy that are as they ship


def main() -> None:
    """Read, add, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("--output", "-o", type=Path, required=True)
    asked = parser.parse_args()
    header = read_header(asked.model)
    arrays = {name: each for name, each in read_arrays(asked.model, header).items() if not name.startswith(PADDING)}
    counts = read_counts(arrays)
    arrays |= word_tree(count_words(counts) | read_companions(arrays).typed)
    arrays |= learn_order(counts) | Channel.read().arrays() | prior_arrays()
    shipped = {
        each.name: getattr(DEFAULT_POLICY, each.name) for each in fields(DEFAULT_POLICY) if each.name.startswith(PARTS)
    }
    write_model(asked.output, arrays, header.card, policy=replace(header.policy, **shipped), features=header.features)


if __name__ == "__main__":
    main()
