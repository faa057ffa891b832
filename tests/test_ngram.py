"""The n-gram memory: equal to Kneser-Ney written plainly, normalised, of the size asked for, and safe to read."""

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfword._engine import ArrayPlace, EngineFileError, ModelFile, Ngram
from halfword.core.card import Card
from halfword.core.errors import DatasetError, OptionError
from halfword.core.model_file import Array, read_header, write_model
from halfword.training.kneser_ney import Corpus, count_ngrams, estimate
from halfword.training.ngram import NgramOptions, learn_ngram, prune

pytestmark = pytest.mark.engine

BEGIN, END, VOCABULARY = 1, 2, 9
Query = tuple[int, ...]
Queries = dict[Query, int]
TOY: Queries = {(3, 4, 5): 4, (3, 4): 2, (3, 5): 1, (4, 4, 4, 5): 1, (5,): 3, (6, 3, 4, 5): 1, (6, 3, 4, 7): 2}
QUERIES = st.dictionaries(
    st.lists(st.integers(3, VOCABULARY - 1), min_size=1, max_size=12).map(tuple), st.integers(1, 9), min_size=1
)


class PlainKneserNey:
    """Interpolated modified Kneser-Ney in dictionaries, after Chen and Goodman; n-grams are tuples."""

    def __init__(self, queries: Queries, order: int, vocabulary: int = VOCABULARY) -> None:
        self.order = order
        self.vocabulary = vocabulary
        count: Counter[Query] = Counter()
        before: defaultdict[Query, set[int]] = defaultdict(set)
        for query, times in queries.items():
            tokens = (BEGIN, *query, END)
            for start in range(len(tokens)):
                for end in range(start + 1, min(start + order, len(tokens)) + 1):
                    count[tokens[start:end]] += times
                    if start:
                        before[tokens[start:end]].add(tokens[start - 1])
        self.count = {
            ngram: times if len(ngram) == order or ngram[0] == BEGIN else len(before[ngram])
            for ngram, times in count.items()
            if ngram != (BEGIN,)
        }
        self.after: defaultdict[Query, list[Query]] = defaultdict(list)
        for ngram in self.count:
            self.after[ngram[:-1]].append(ngram)
        self.discounts = {size: self._discounts(size) for size in range(1, order + 1)}

    def _discounts(self, size: int) -> list[float]:
        times = Counter(count for ngram, count in self.count.items() if len(ngram) == size)
        if not times[1] or not times[2]:
            return [0, 0.5, 1, 1.5]
        share = times[1] / (times[1] + 2 * times[2])
        found = [i - (i + 1) * share * times[i + 1] / times[i] if times[i] else i / 2 for i in (1, 2, 3)]
        return [0, *(min(max(value, 0.05), i - 0.05) for i, value in enumerate(found, 1))]

    def discount(self, ngram: Query) -> float:
        return self.discounts[len(ngram)][min(self.count[ngram], 3)]

    def probability(self, context: Query, piece: int) -> float:
        """Return p(piece | context), the context no longer than the order allows."""
        lower = self.probability(context[1:], piece) if context else (piece != BEGIN) / (self.vocabulary - 1)
        after = self.after[context]
        if not after:
            return lower
        total = sum(self.count[ngram] for ngram in after)
        backoff = sum(self.discount(ngram) for ngram in after) / total
        ngram = (*context, piece)
        gain = (self.count[ngram] - self.discount(ngram)) / total if ngram in self.count else 0
        return gain + backoff * lower

    def predict(self, pieces: Sequence[int]) -> list[float]:
        context = (BEGIN, *pieces)[-self.order + 1 :]
        return [self.probability(context, piece) for piece in range(self.vocabulary)]


def corpus_of(queries: Queries, vocabulary: int = VOCABULARY) -> Corpus:
    return Corpus.of(queries.items(), vocabulary=vocabulary, begin=BEGIN, end=END)


def write(path: Path, arrays: dict[str, Array]) -> Path:
    write_model(path, arrays, Card())
    return path


def load(path: Path) -> Ngram:
    places = read_header(path).places
    return Ngram(
        ModelFile(str(path), {name: ArrayPlace(each.dtype, each.begin, each.end) for name, each in places.items()})
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("ngram")


def learned(folder: Path, queries: Queries, vocabulary: int = VOCABULARY, **options: float) -> Ngram:
    arrays = learn_ngram(corpus_of(queries, vocabulary), NgramOptions(**options))  # type: ignore[arg-type]
    return load(write(folder / "learned.halfword", arrays))


def random_queries(seed: int, number: int, pieces: int, longest: int = 9) -> Queries:
    """Draw queries whose pieces are as uneven as words are."""
    chance = np.random.default_rng(seed)
    weights = 1 / np.arange(1, pieces + 1)
    drawn: Counter[Query] = Counter()
    for length in chance.integers(1, longest, number):
        drawn[tuple((3 + chance.choice(pieces, length, p=weights / weights.sum())).tolist())] += 1
    return dict(drawn)


def contexts_of(queries: Queries) -> list[Query]:
    """Return all beginnings of the queries, and some that nobody typed."""
    known = {query[:end] for query in queries for end in range(len(query) + 1)}
    return sorted(known | {(*context[::-1], 3) for context in known})


@settings(deadline=None)
@given(queries=QUERIES, order=st.integers(2, 8))
def test_it_equals_kneser_ney_written_plainly(queries: Queries, order: int, folder: Path) -> None:
    memory, plain = learned(folder, queries, order=order), PlainKneserNey(queries, order)
    for context in contexts_of(queries)[:40]:
        found, expected = memory.predict(context), plain.predict(context)
        assert found == pytest.approx(expected, rel=2e-3, abs=1e-6)
        assert sum(found) == pytest.approx(1, abs=1e-5)
        assert found[BEGIN] == 0


def test_coarse_codes_stay_close_to_kneser_ney(folder: Path) -> None:
    queries = {query: count**4 for query, count in random_queries(1, 2000, VOCABULARY - 3).items()}
    memory, plain = learned(folder, queries, order=4), PlainKneserNey(queries, 4)
    for context in contexts_of(queries)[:200]:
        assert memory.predict(context) == pytest.approx(plain.predict(context), rel=0.05)


def test_single_probabilities_are_those_of_the_whole_distribution(folder: Path) -> None:
    memory = learned(folder, TOY)
    for query in TOY:
        pieces = [*query, END]
        expected = [memory.predict(pieces[:end])[piece] for end, piece in enumerate(pieces)]
        assert memory.probabilities(pieces) == pytest.approx(expected)
        assert memory.sums(pieces) == pytest.approx([1] * len(pieces))


def check_likely(memory: Ngram, context: Query, allowed: Sequence[int], least: float, most: int) -> None:
    """Compare the likely pieces after a context with the whole distribution."""
    predicted = memory.predict(context)
    found = memory.likely(context, allowed, least, most)
    expected = sorted((predicted[piece] for piece in allowed if predicted[piece] >= least), reverse=True)[:most]
    assert len({piece for piece, _ in found}) == len(found)
    assert sorted((probability for _, probability in found), reverse=True) == pytest.approx(expected, rel=1e-5)
    assert [probability for _, probability in found] == pytest.approx([predicted[piece] for piece, _ in found])
    assert {piece for piece, _ in found} <= set(allowed)


@settings(deadline=None)
@given(
    queries=QUERIES,
    order=st.integers(2, 8),
    allowed=st.sets(st.integers(3, VOCABULARY - 1)).map(sorted),
    least=st.sampled_from([0.0, 0.013, 0.11, 0.51]),
    most=st.integers(1, VOCABULARY),
    listed=st.booleans(),
)
def test_likely_pieces_are_those_of_the_whole_distribution(
    queries: Queries, order: int, allowed: list[int], least: float, most: int, listed: bool, folder: Path
) -> None:
    memory = learned(folder, queries, order=order)
    if listed:
        memory.list_likely()
    for context in contexts_of(queries)[:20]:
        check_likely(memory, context, allowed, least, most)


@pytest.mark.parametrize("listed", [False, True])
def test_likely_pieces_are_found_among_many(folder: Path, listed: bool) -> None:
    queries = random_queries(5, 3000, 200)
    memory = learned(folder, queries, 210, order=5)
    if listed:
        memory.list_likely()
    for number, context in enumerate(contexts_of(queries)[::40]):
        for least, most in [(0.0, 5), (0.0, 60), (0.0011, 100), (0.023, 10)]:
            check_likely(memory, context, range(3 + number % 2, 210, 1 + number % 3), least, most)


def test_a_memory_of_single_pieces_has_likely_ones(folder: Path) -> None:
    memory = learned(folder, TOY, megabytes=1e-6)
    memory.list_likely()
    check_likely(memory, (3, 4), [3, 4, 5], 0.0, 2)


def test_it_tells_how_much_of_the_context_it_knows(folder: Path) -> None:
    memory = learned(folder, TOY, order=3)
    assert memory.order == 3
    assert [order for order, _ in memory.contexts([3, 4, 7, 7, 8, 8, 3])] == [1, 2, 2, 2, 1, 0, 0]
    assert memory.contexts([8, 8])[1] == (0, 1.0)
    assert all(0 < backoff < 1 for _, backoff in memory.contexts([3, 4, 5]))


@settings(deadline=None)
@given(queries=QUERIES, kilobytes=st.floats(0.5, 4))
def test_pruned_distributions_sum_to_one(queries: Queries, kilobytes: float, folder: Path) -> None:
    memory = learned(folder, queries, megabytes=kilobytes / 1e3)
    for context in contexts_of(queries)[:20]:
        found = memory.predict(context)
        assert sum(found) == pytest.approx(1, abs=1e-5)
        assert found[BEGIN] == 0
        assert all(probability > 0 for piece, probability in enumerate(found) if piece != BEGIN)


def test_the_file_has_the_size_asked_for_and_the_loss_grows_slowly(folder: Path) -> None:
    queries = random_queries(2, 4000, 200)
    held_out = [[*query, END] for query in random_queries(3, 300, 200)]
    losses = []
    for megabytes in (1, 0.08, 0.04, 0.03):
        arrays = learn_ngram(corpus_of(queries, 210), NgramOptions(megabytes=megabytes))
        size = sum(len(array.data) for array in arrays.values())
        assert size <= megabytes * 1e6
        assert megabytes == 1 or size > 0.8e6 * megabytes
        memory = load(write(folder / "sized.halfword", arrays))
        losses.append(-sum(math.log(each) for query in held_out for each in memory.probabilities(query)))
    assert max(losses) < 1.1 * losses[0]


def test_a_kept_ngram_keeps_its_prefixes() -> None:
    levels = count_ngrams(corpus_of(random_queries(4, 500, 6)), 6)
    keep = prune(levels, estimate(levels), 13_000)
    for below, level, kept in zip(keep, levels[1:], keep[1:], strict=False):
        assert below[level.parent[kept]].all()
    assert 0 < sum(int(kept.sum()) for kept in keep[1:]) < sum(map(len, levels[1:]))


def test_pruned_ngrams_teach_the_smaller_orders() -> None:
    levels = count_ngrams(corpus_of(TOY), 3)
    without_top = [np.full(len(level), order < 3) for order, level in enumerate(levels, 1)]
    pruned, small = estimate(levels, without_top), estimate(count_ngrams(corpus_of(TOY), 2))
    assert pruned.probability[1] == pytest.approx(small.probability[1])


def test_a_memory_too_small_for_any_ngram_still_knows_single_pieces(folder: Path) -> None:
    memory = learned(folder, TOY, megabytes=1e-6)
    assert (memory.order, len(memory)) == (1, 0)
    assert sum(memory.predict([3, 4])) == pytest.approx(1)
    assert memory.contexts([3, 4]) == [(0, 1.0), (0, 1.0)]


@pytest.mark.parametrize("vocabulary", [9, 64, 1000, 1024, 1025, 4096, 4097, 65536])
def test_vocabularies_of_all_sizes(vocabulary: int, folder: Path) -> None:
    last = vocabulary - 1
    queries = {**TOY, (last, 3): 3, (last, 4): 1}
    memory, plain = learned(folder, queries, vocabulary), PlainKneserNey(queries, 8, vocabulary)
    for context in [(last,), (last, 3), (3, 4)]:
        found = memory.predict(context)
        assert sum(found) == pytest.approx(1, abs=1e-4)
        for piece in (0, END, 3, 4, last):
            assert found[piece] == pytest.approx(plain.probability((BEGIN, *context), piece), rel=2e-3)


def test_a_piece_with_many_followers_is_found_among_many(folder: Path) -> None:
    sizes = range(150)
    queries: Queries = {(3 + first, 3 + second): 1 for first in sizes for second in range(0, 150, first + 1)}
    memory, plain = learned(folder, queries, 153, order=3), PlainKneserNey(queries, 3, 153)
    for first in sizes:
        assert memory.predict([3 + first]) == pytest.approx(plain.predict([3 + first]), rel=0.02)
        assert [order for order, _ in memory.contexts([3 + first, 3, END])] == [1, 2, 2]


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_a_damaged_memory_gives_wrong_numbers_or_an_error_but_no_crash(folder: Path, data: st.DataObject) -> None:
    arrays = learn_ngram(corpus_of(TOY), NgramOptions(order=4))
    name = data.draw(st.sampled_from(sorted(arrays)))
    raw = bytearray(arrays[name].data)
    for place in data.draw(st.lists(st.integers(0, len(raw) - 1), min_size=1, max_size=8)):
        raw[place] = data.draw(st.integers(0, 255))
    length = data.draw(st.sampled_from([len(raw), len(raw) // 2 // 8 * 8, 0]))
    arrays[name] = Array(arrays[name].dtype, bytes(raw[:length]))
    try:
        memory = load(write(folder / "damaged.halfword", arrays))
    except EngineFileError:
        return
    for query in TOY:
        memory.probabilities([*query, END])
        memory.contexts(query)
        assert len(memory.predict(query)) == VOCABULARY
        memory.likely(query, range(VOCABULARY), 0.0, 5)
    memory.list_likely()
    for query in TOY:
        assert len(memory.likely(query, range(VOCABULARY), 0.01, 5)) <= 5


def test_a_missing_array_is_named(folder: Path) -> None:
    arrays = learn_ngram(corpus_of(TOY), NgramOptions())
    del arrays["ngram.3.gain"]
    with pytest.raises(EngineFileError, match=r"ngram\.3\.gain is missing"):
        load(write(folder / "missing.halfword", arrays))


def test_a_piece_out_of_range_is_refused(folder: Path) -> None:
    with pytest.raises(IndexError):
        learned(folder, TOY).predict([VOCABULARY])


def test_no_query_is_an_error() -> None:
    with pytest.raises(DatasetError, match="no query to learn"):
        learn_ngram(corpus_of({}), NgramOptions())


@pytest.mark.parametrize("options", [{"order": 1}, {"order": 9}, {"megabytes": 0}, {"megabytes": float("nan")}])
def test_options_out_of_range_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(OptionError, match="of the memory must"):
        NgramOptions(**options)  # type: ignore[arg-type]


def test_a_log_of_very_many_rows_gives_a_memory_that_loads(folder: Path) -> None:
    memory = learned(folder, {query: times * 10**15 for query, times in TOY.items()}, order=3)
    assert sum(memory.predict([3, 4])) == pytest.approx(1)
