"""Making a model smaller: what is left answers alike, and an impossible size is refused."""

from pathlib import Path

import numpy as np
import pytest

from halfword import load
from halfword.core.errors import OptionError
from halfword.core.model_file import read_header
from halfword.core.options import UNFILTERED
from halfword.core.verify import read_arrays
from halfword.search.model import import_engine, open_model_file
from halfword.training.memory import bytes_per_ngram, least_size, read_memory
from halfword.training.pruning import losses_of, most_typed, probabilities, prune_memory, read_counts
from halfword.training.shrink import shrink
from halfword.training.train import popular_arrays
from tests.toy import SPECIALS, Toy, write_toy

LETTERS = "abcd"
QUERIES = [
    f"{first}{second} {third}{fourth}"
    for first in LETTERS
    for second in LETTERS
    for third in LETTERS
    for fourth in "ab"
]
COUNTS = {query: 1 + place % 7 for place, query in enumerate(QUERIES)}
EVERYTHING = Toy(parts=("popular", "ngram", "network"), counts=COUNTS, words=True, spellings=True)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return write_toy(tmp_path / "large.halfword", EVERYTHING)


def test_queries_and_counts_are_read_back_from_the_index() -> None:
    counts = {"new york": 5, "new york times": 300, "é" * 200: 2, "": 1} | COUNTS
    assert read_counts(popular_arrays(counts)) == counts


def test_the_most_typed_queries_are_kept() -> None:
    assert most_typed({"often": 9, "rare": 1, "seldom": 3}, 30) == {"often": 9, "seldom": 3}


def test_a_memory_says_the_same_as_the_engine(model: Path) -> None:
    header = read_header(model)
    memory = read_memory(read_arrays(model, header))
    ngram = import_engine().Ngram(open_model_file(model, header))
    pieces = [1, 4, 5, 3, 4]
    wanted = ngram.probabilities(pieces)
    for end in range(2, len(pieces) + 1):
        begin = max(0, end - ngram.order)
        assert probabilities(memory, np.array([pieces[begin:end]])) == pytest.approx(wanted[end - 1], rel=1e-4)


def test_a_pruned_memory_is_smaller_and_its_probabilities_sum_to_one(model: Path) -> None:
    memory = read_memory(read_arrays(model, read_header(model)))
    ngrams = sum(map(len, memory.orders))
    room = least_size(memory.vocabulary, len(memory.orders) + 1) + 0.5 * ngrams * bytes_per_ngram(memory.vocabulary)
    pruned = prune_memory(memory, losses_of(memory), room)
    assert 0 < sum(map(len, pruned.orders)) < ngrams
    everything = np.arange(len(SPECIALS) + len(EVERYTHING.pieces))
    context = np.repeat([[1, 8]], len(everything), axis=0)
    sums = probabilities(pruned, np.concatenate([context, everything[:, None]], axis=1)).sum()
    assert sums == pytest.approx(1.0, abs=1e-6)


def test_a_memory_can_be_pruned_away_or_kept_whole(model: Path) -> None:
    memory = read_memory(read_arrays(model, read_header(model)))
    pruned = prune_memory(memory, losses_of(memory), 0.0)
    assert pruned.orders == []
    whole = prune_memory(memory, losses_of(memory), 1e9)
    assert [len(order) for order in whole.orders] == [len(order) for order in memory.orders]
    assert whole.orders[0].backoff == pytest.approx(memory.orders[0].backoff, abs=1e-6)


def test_a_model_is_shrunk_to_its_size_and_still_completes(model: Path, tmp_path: Path) -> None:
    size = model.stat().st_size
    small = tmp_path / "small.halfword"
    card = shrink(model, small, 0.85 * size / 1e6)
    assert small.stat().st_size <= 0.85 * size
    assert card.parts.popular is not None
    assert card.parts.popular.queries is not None
    assert 0 < card.parts.popular.queries < len(COUNTS)
    assert card.other["shrunk"]["from"] == read_header(model).digest
    assert load(small).complete("a", count=3)
    header = read_header(small)
    assert not [
        name
        for name, place in header.places.items()
        if name.startswith("network.") and place.dtype == "F32" and len(place.shape) == 2
    ]


def test_a_model_that_is_small_enough_answers_the_same(model: Path, tmp_path: Path) -> None:
    shrink(model, tmp_path / "same.halfword", 4.0)
    for prefix in ("", "a", "ab ", "cd a"):
        assert load(tmp_path / "same.halfword").complete(prefix) == load(model).complete(prefix)


def test_a_size_that_nothing_fits_is_refused(model: Path, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"cannot be made as small as 0\.001 MB: what cannot be pruned takes .* MB"):
        shrink(model, tmp_path / "small.halfword", 0.001)
    assert not (tmp_path / "small.halfword").exists()


def test_what_is_left_is_found_by_its_words(tmp_path: Path) -> None:
    toy = Toy(parts=("popular", "ngram"), counts=COUNTS, words=True, order=8, mistakes=True)
    large, small = write_toy(tmp_path / "large.halfword", toy), tmp_path / "small.halfword"
    shrink(large, small, 0.95 * large.stat().st_size / 1e6)
    kept, model = read_counts(read_arrays(small, read_header(small))), load(small)
    assert 0 < len(kept) < len(COUNTS)
    found = set()
    for query in kept:
        typed = " ".join(reversed(query.split()))
        answer = model.complete(typed, UNFILTERED, typos="off", count=300)
        others = [text for text in answer.texts if not text.startswith(typed)]
        assert all(sorted(text.split()) == sorted(query.split()) for text in others)
        found.update(others)
    assert found
    assert found <= kept.keys()
