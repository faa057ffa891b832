"""The engine counts n-grams in bounded memory, and gives the arrays of the plain version to the last bit."""

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from halfword.core.errors import DatasetError, OptionError
from halfword.core.machine import machine_memory
from halfword.core.model_file import Array
from halfword.training.background import own_memory, train_corpus
from halfword.training.counted import Batch, Bounds, batches_of, counted_arrays, counter_of, learn_counted
from halfword.training.kneser_ney import Corpus, count_ngrams, estimate
from halfword.training.ngram import NgramOptions, learn_ngram
from halfword.training.options import TrainOptions
from halfword.training.pieces import Pieces
from halfword.training.segment import Kind, Segmenter, SegmentOptions, piece_arrays, train_segmenter
from tests.test_pieces import queries as made_up

pytestmark = pytest.mark.engine

BEGIN, END = 1, 2
LITTLE, PLENTY = 1, 1e9  # bytes
Queries = list[tuple[list[int], int]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("counted")


def counted(corpus: Corpus, folder: Path, memory: float) -> Any:
    counter = counter_of(corpus.vocabulary, BEGIN, END, NgramOptions(), folder, memory, threads=2)
    return _add(counter, corpus).finish()


def _add(counter: Any, corpus: Corpus) -> Any:
    """Add a corpus in two batches."""
    half = len(corpus.lengths) // 2
    cut = int(corpus.lengths[:half].sum())
    pieces, lengths = corpus.pieces.astype(np.uint32), corpus.lengths.astype(np.uint32)
    counts = corpus.counts.astype(np.uint64)
    counter.add_pieces(pieces[:cut], lengths[:half], counts[:half])
    counter.add_pieces(pieces[cut:], lengths[half:], counts[half:])
    return counter


def learned(corpus: Corpus, options: NgramOptions, folder: Path, memory: float, threads: int = 2) -> dict[str, Array]:
    counter = counter_of(corpus.vocabulary, BEGIN, END, options, folder, memory, threads)
    return counted_arrays(_add(counter, corpus).finish(), BEGIN, END, options)


def same(found: dict[str, Array], expected: dict[str, Array]) -> None:
    assert found.keys() == expected.keys()
    assert [name for name, array in expected.items() if found[name] != array] == []


@st.composite
def corpora(draw: st.DrawFn) -> Corpus:
    """Draw queries of few pieces, so that they have n-grams in common; some vocabularies need wide windows."""
    vocabulary = draw(st.sampled_from([4, 9, 16, 300, 1024, 4097, 65536]))
    known = draw(st.lists(st.integers(3, vocabulary - 1), min_size=1, max_size=6))
    query = st.lists(st.sampled_from([0, *known]), max_size=12)
    queries = draw(st.lists(st.tuples(query, st.integers(1, 70_000) | st.integers(1, 5)), min_size=1, max_size=40))
    return Corpus.of(queries, vocabulary=vocabulary, begin=BEGIN, end=END)


@settings(deadline=None, max_examples=150)
@given(
    corpus=corpora(),
    order=st.integers(2, 8),
    least_count=st.sampled_from([1, 1, 2, 4]),
    kilobytes=st.none() | st.floats(0.01, 8),
    memory=st.sampled_from([LITTLE, 100_000, PLENTY]),
    threads=st.integers(1, 3),
)
def test_the_arrays_are_those_of_the_plain_version(
    corpus: Corpus,
    order: int,
    least_count: int,
    kilobytes: float | None,
    memory: float,
    threads: int,
    folder: Path,
) -> None:
    room = 4 * corpus.vocabulary / 1e3  # what single pieces take
    megabytes = None if kilobytes is None else (room + kilobytes) / 1e3
    options = NgramOptions(order=order, least_count=least_count, megabytes=megabytes)
    same(learned(corpus, options, folder, memory, threads), learn_ngram(corpus, options))


Windows = Counter[tuple[int, ...]]


def windows_of(corpus: Corpus, order: int) -> Windows:
    """Count what begins at each piece and ends after `order` pieces or with the query."""
    found, place = Windows(), 0
    for length, count in zip(corpus.lengths.tolist(), corpus.counts.tolist(), strict=True):
        query = (BEGIN, *corpus.pieces[place : place + length].tolist(), END)
        place += length
        for first in range(len(query) - 1):
            found[query[first : first + order]] += count
    return found


def cut_rare(windows: Windows, least: int) -> Windows:
    """Cut each window before what makes it rarer than `least`."""
    often = Windows()
    for window, count in windows.items():
        for length in range(1, len(window) + 1):
            often[window[:length]] += count
    cut = Windows()
    for window, count in windows.items():
        lengths = range(len(window), 1, -1)
        cut[window[: next((length for length in lengths if often[window[:length]] >= least), 1)]] += count
    return cut


def adjusted_times(corpus: Corpus, order: int) -> list[list[int]]:
    levels = [level for level in count_ngrams(corpus, order) if len(level)]
    return [[int(np.sum(counts == number)) for number in (1, 2, 3, 4)] for counts in estimate(levels).adjusted]


@settings(deadline=None, max_examples=100)
@given(
    corpus=corpora(),
    order=st.integers(2, 8),
    least_count=st.sampled_from([1, 2, 3, 9]),
    memory=st.sampled_from([LITTLE, 100_000, PLENTY]),
    threads=st.integers(1, 3),
)
def test_windows_that_were_counted_and_cut_elsewhere_give_the_same_memory(
    corpus: Corpus, order: int, least_count: int, memory: float, threads: int, folder: Path
) -> None:
    options = NgramOptions(order=order)
    counter = counter_of(corpus.vocabulary, BEGIN, END, options, folder, memory, threads)
    windows = cut_rare(windows_of(corpus, order), least_count)
    lengths = np.array([len(window) for window in windows], np.uint32)
    pieces = np.array([piece for window in windows for piece in window], np.uint32)
    counter.add_windows(pieces, lengths, np.array(list(windows.values()), np.uint64))
    found = counted_arrays(counter.finish(), BEGIN, END, options, adjusted_times(corpus, order))
    expected = learn_ngram(corpus, NgramOptions(order=order, least_count=least_count))
    if least_count > 1:  # the costs of ending are worked out from pairs, also from rare ones
        found["ending.cost"] = expected["ending.cost"]
    same(found, expected)


@pytest.mark.parametrize("window", [[], [END], [3, BEGIN], [3, END, 4], [9], [3, 3, 3, 3, 3, 3, 3, 3, 3]])
def test_what_cannot_be_a_window_is_refused(window: list[int], folder: Path) -> None:
    counter = counter_of(9, BEGIN, END, NgramOptions(), folder, PLENTY)
    with pytest.raises(ValueError, match="window"):
        counter.add_windows(np.array(window, np.uint32), np.array([len(window)], np.uint32), np.ones(1, np.uint64))


def test_windows_that_do_not_belong_together_are_refused(folder: Path) -> None:
    counter = counter_of(9, BEGIN, END, NgramOptions(order=3), folder, PLENTY)
    counter.add_windows(np.array([3, 4, 5], np.uint32), np.array([3], np.uint32), np.ones(1, np.uint64))
    with pytest.raises(ValueError, match="without its end"):
        counter.finish()


def many_queries(number: int, vocabulary: int) -> Corpus:
    """Draw queries whose pieces are as uneven as words are."""
    chance = np.random.default_rng(5)
    share = 1 / np.arange(1, vocabulary - 2)
    queries = [
        ((3 + chance.choice(vocabulary - 3, size, p=share / share.sum())).tolist(), int(count))
        for size, count in zip(chance.integers(1, 9, number), chance.zipf(1.7, number), strict=True)
    ]
    return Corpus.of(queries, vocabulary=vocabulary, begin=BEGIN, end=END)


@pytest.mark.parametrize("vocabulary", [60, 5000])
@pytest.mark.parametrize("megabytes", [None, 0.1, 0.06])
@pytest.mark.parametrize("memory", [200_000, PLENTY])
def test_more_queries_than_a_buffer(vocabulary: int, megabytes: float | None, memory: float, folder: Path) -> None:
    corpus, options = many_queries(6000, vocabulary), NgramOptions(megabytes=megabytes)
    same(learned(corpus, options, folder, memory), learn_ngram(corpus, options))


def test_little_memory_means_files_that_leave_nothing_behind(folder: Path) -> None:
    corpus = many_queries(300, 60)
    assert counted(corpus, folder, LITTLE).in_files
    assert not counted(corpus, folder, PLENTY).in_files
    assert not list(folder.iterdir())


TEXTS = {"new york": 5, "new york times": 3, "york": 1, "café crème": 2, "東京 天気": 7, "o'neill 😀": 1, "x": 1}


def text_batches() -> Iterator[Batch]:
    yield ["york", "new york"], np.array([1, 5])
    yield [], []
    rest = [text for text in TEXTS if text not in ("york", "new york")]
    yield rest, [TEXTS[text] for text in rest]


@dataclass
class Columns:
    text: bytes
    begin: NDArray[np.uint64]
    count: NDArray[np.uint64]

    @classmethod
    def of(cls, counts: dict[str, int]) -> "Columns":
        texts = [text.encode() for text in counts]
        begin = np.cumsum([0, *map(len, texts)]).astype(np.uint64)
        return cls(b"".join(texts), begin, np.array(list(counts.values()), np.uint64))


@pytest.mark.parametrize("kind", list(Kind))
def test_texts_are_cut_as_sentencepiece_does(kind: Kind, folder: Path) -> None:
    segmenter = train_segmenter(TEXTS, SegmentOptions(kind=kind, size=0))
    arrays, options = piece_arrays(segmenter), NgramOptions(order=5)
    expected = learn_ngram(train_corpus(TEXTS, Pieces.of(arrays, segmenter.encode)), options)
    same(learn_counted(TEXTS, arrays, options, Bounds(folder / "model", LITTLE)), expected)
    plenty = Bounds(folder / "model", PLENTY)
    same(learn_counted(text_batches(), arrays, options, plenty), expected)
    same(learn_counted(Columns.of(TEXTS), arrays, options, plenty), expected)
    assert not list(folder.iterdir())


@pytest.mark.parametrize("kind", list(Kind))
def test_words_that_are_remembered_are_cut_as_sentencepiece_does(kind: Kind, folder: Path) -> None:
    known, others = (dict.fromkeys(made_up(random.Random(seed), 300), 1) for seed in (1, 2))
    segmenter = train_segmenter(known, SegmentOptions(kind=kind, size=0 if kind is Kind.CHAR else 150))
    arrays, options = piece_arrays(segmenter), NgramOptions(order=3)
    others |= {"ж ж жж ж": 1, "ж": 1, "x" * 100: 1}
    expected = learn_ngram(train_corpus(others, Pieces.of(arrays, segmenter.encode)), options)
    same(learn_counted(others, arrays, options, Bounds(folder / "model", PLENTY)), expected)


def pieces_of_texts() -> dict[str, Array]:
    segmenter: Segmenter = train_segmenter(TEXTS, SegmentOptions(size=0))
    return piece_arrays(segmenter)


def test_a_log_too_large_for_plain_numbers_is_pooled_as_far_as_there_is_memory(folder: Path) -> None:
    segmenter = train_segmenter(TEXTS, SegmentOptions(size=0))
    arrays, options = piece_arrays(segmenter), NgramOptions(order=4)
    pieces = Pieces.of(arrays, segmenter.encode)
    plain, small = (
        own_memory(TEXTS, pieces, arrays, options, Bounds(folder / "model", memory)) for memory in (PLENTY, 4_000)
    )
    whole, kept = (sum(map(len, memory.orders)) for memory in (plain, small))
    assert 0 < kept <= 4_000 / 150 < whole
    assert small.unigram.sum() == pytest.approx(1)


def test_a_log_is_read_in_batches() -> None:
    assert [(list(texts), list(counts)) for texts, counts in batches_of({"a": 2, "b": 1})] == [(["a", "b"], [2, 1])]
    assert list(batches_of([])) == list(batches_of({})) == []


def test_no_query_is_an_error(folder: Path) -> None:
    with pytest.raises(DatasetError, match="no query to learn"):
        learn_counted({}, pieces_of_texts(), NgramOptions(), Bounds(folder / "model", PLENTY))


def test_a_small_memory_is_not_pruned_and_a_large_one_by_the_number_of_queries() -> None:
    options = TrainOptions()
    assert [options.memory_room(queries) for queries in (100, 10**7)] == [20.0, 220.0]
    assert TrainOptions(memory_size=5.0).memory_room(10**7) == 5.0
    assert TrainOptions(query_bytes=100.0).memory_room(10**7) == 1000.0


def test_every_part_may_be_pruned_at_once() -> None:
    options = TrainOptions(keep_whole=0.0, query_bytes=10.0, companion_bytes=20.0, tree_bytes=30.0)
    assert [options.memory_room(10**5), options.companion_room(10**5), options.tree_room(10**5)] == [1.0, 2.0, 3.0]
    with pytest.raises(OptionError, match="keep-whole must be 0 or more"):
        TrainOptions(keep_whole=-1.0)


def test_a_quarter_of_the_machine_is_for_counting() -> None:
    assert TrainOptions().memory_bytes == machine_memory() / 4
    assert TrainOptions(memory=2.5).memory_bytes == 2.5e9


@pytest.mark.parametrize("options", [{"memory": 0.0}, {"memory": float("inf")}, {"query_bytes": -1.0}])
def test_options_out_of_range_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(OptionError, match="must be more than 0"):
        TrainOptions(**options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("pieces", "lengths", "counts"),
    [([9], [1], [1]), ([BEGIN], [1], [1]), ([3, END], [2], [1]), ([3], [2], [1]), ([3], [1], [0]), ([3], [1], [1, 1])],
)
def test_what_cannot_be_a_query_is_refused(
    pieces: list[int], lengths: list[int], counts: list[int], folder: Path
) -> None:
    counter = counter_of(9, BEGIN, END, NgramOptions(), folder, PLENTY)
    with pytest.raises(ValueError, match="quer"):
        counter.add_pieces(np.array(pieces, np.uint32), np.array(lengths, np.uint32), np.array(counts, np.uint64))


def test_a_folder_that_cannot_be_written_is_named(folder: Path) -> None:
    missing = folder / "missing"
    with pytest.raises(RuntimeError, match=r"missing: No such file"):
        counted(many_queries(300, 60), missing, LITTLE)
