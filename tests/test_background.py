"""A log on a background: memories pooled by the formula, words and companions taken over, and no harm elsewhere."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from halfword import load
from halfword._engine import ArrayPlace, ModelFile, Ngram
from halfword.cli.main import app
from halfword.core.card import Card
from halfword.core.errors import ModelFileError, OptionError
from halfword.core.model_file import Array, read_header, write_model
from halfword.data.dataset import open_dataset
from halfword.training.background import Background
from halfword.training.companions import learn_companions, read_companions
from halfword.training.kneser_ney import Corpus
from halfword.training.lexicon import words_of
from halfword.training.memory import Memory, memory_arrays, read_memory
from halfword.training.network.options import NetworkOptions, NetworkTraining
from halfword.training.network.weights import network_sizes, network_weights
from halfword.training.ngram import NgramOptions, learn_memory, learn_ngram
from halfword.training.options import NO_BACKGROUND, TrainOptions
from halfword.training.pooling import FADINGS, GRID, Share, fit_share, log_likelihood, pool, read_queries
from halfword.training.train import train
from tests.toy import Toy, write_toy

pytestmark = pytest.mark.engine

BEGIN, END, VOCABULARY = 1, 2, 8
Query = tuple[int, ...]
QUERIES = st.dictionaries(
    st.lists(st.integers(3, VOCABULARY - 1), min_size=1, max_size=8).map(tuple), st.integers(1, 5), min_size=1
)
MEMORY = ("popular", "ngram")


def corpus_of(queries: Mapping[Query, int]) -> Corpus:
    return Corpus.of(queries.items(), vocabulary=VOCABULARY, begin=BEGIN, end=END)


def memory_of(queries: Mapping[Query, int], order: int) -> Memory:
    return learn_memory(corpus_of(queries), NgramOptions(order=order))


class Plain:
    """A memory in dictionaries: the gain of each n-gram, and total and backoff of each context."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.gain: dict[Query, float] = {}
        self.total: dict[Query, float] = {}
        self.backoff: dict[Query, float] = {}
        names: list[Query] = [(piece,) for piece in range(memory.vocabulary)]
        for order in memory.orders:
            for number, name in enumerate(names):
                self.total[name], self.backoff[name] = float(order.total[number]), float(order.backoff[number])
            names = [(*names[parent], int(piece)) for parent, piece in zip(order.parent, order.piece, strict=True)]
            self.gain |= dict(zip(names, order.gain.tolist(), strict=True))


def pooled_probability(own: Plain, other: Plain, share: Share, context: Query, piece: int) -> float:
    """Return p(piece | context), straight from the formula."""
    if not context:
        mine, theirs = own.memory.unigram_total, share.weights[0] * other.memory.unigram_total
        both = mine * own.memory.unigram[piece] + theirs * other.memory.unigram[piece]
        return float(both / (mine + theirs))
    lower = pooled_probability(own, other, share, context[1:], piece)
    seen, ngram = other.total.get(context, 0.0), (*context, piece)
    weight = share.weights[len(context)] * (seen**-share.fading if seen else 1.0)
    mine, theirs = own.total.get(context, 0.0), weight * seen
    if not mine + theirs:
        return lower
    gain = own.gain.get(ngram, 0.0) + weight * other.gain.get(ngram, 0.0)
    left = mine * own.backoff.get(context, 1.0) + theirs * other.backoff.get(context, 1.0)
    return (gain + left * lower) / (mine + theirs)


def engine_memory(path: Path, memory: Memory) -> Ngram:
    write_model(path, memory_arrays(memory), Card())
    places = read_header(path).places
    return Ngram(
        ModelFile(str(path), {name: ArrayPlace(each.dtype, each.begin, each.end) for name, each in places.items()})
    )


@settings(deadline=None, max_examples=40)
@given(own=QUERIES, other=QUERIES, orders=st.tuples(st.integers(2, 5), st.integers(2, 5)), seed=st.integers(0, 99))
def test_a_pooled_memory_follows_the_formula(
    tmp_path_factory: pytest.TempPathFactory,
    own: dict[Query, int],
    other: dict[Query, int],
    orders: tuple[int, int],
    seed: int,
) -> None:
    mine, theirs = memory_of(own, orders[0]), memory_of(other, orders[1])
    share = Share(np.random.default_rng(seed).choice(GRID, 9).tolist(), FADINGS[seed % len(FADINGS)])
    pooled = engine_memory(tmp_path_factory.mktemp("pooled") / "pooled.halfword", pool(mine, theirs, share))
    plain = Plain(mine), Plain(theirs)
    for query in [*own, *other][:6]:
        context = (BEGIN, *query)[-max(orders) + 1 :]
        found = pooled.predict(query)
        expected = [pooled_probability(*plain, share, context, piece) for piece in range(VOCABULARY)]
        assert found == pytest.approx(expected, rel=5e-3, abs=1e-5)
        assert sum(found) == pytest.approx(1, abs=1e-4)


@settings(deadline=None, max_examples=30)
@given(queries=QUERIES, order=st.integers(2, 6))
def test_a_memory_is_read_as_it_was_written(queries: dict[Query, int], order: int) -> None:
    memory = memory_of(queries, order)
    again = read_memory(memory_arrays(memory))
    assert len(again.orders) == len(memory.orders)
    for before, after in zip(memory.orders, again.orders, strict=True):
        np.testing.assert_array_equal(before.piece, after.piece)
        np.testing.assert_array_equal(before.parent, after.parent)
        np.testing.assert_allclose(before.backoff, after.backoff, rtol=2e-3, atol=1e-6)
        # Of contexts with one child and the same backoff, only the mean total is stored.
        alone = np.bincount(before.parent, minlength=len(before.total)) == 1
        others = ~alone[before.parent]
        np.testing.assert_allclose(before.gain[others], after.gain[others], rtol=2e-3)
        np.testing.assert_allclose(before.total[~alone], after.total[~alone], rtol=1e-2)
        for backoff in np.unique(before.backoff[alone].round(9)):
            same = alone & (before.backoff.round(9) == backoff)
            assert after.total[same] == pytest.approx(before.total[same].mean(), rel=1e-2)


@settings(deadline=None, max_examples=20)
@given(own=QUERIES, other=QUERIES, valid=QUERIES)
def test_no_equal_weight_for_all_orders_is_better_than_the_fitted_ones(
    own: dict[Query, int], other: dict[Query, int], valid: dict[Query, int]
) -> None:
    mine, theirs, corpus = memory_of(own, 3), memory_of(other, 3), corpus_of(dict.fromkeys(valid, 1))
    share = fit_share(mine, theirs, corpus)
    reading, other_reading = read_queries(mine, corpus), read_queries(theirs, corpus)
    fitted = log_likelihood(reading, other_reading.faded(share.fading), share.weights)
    for fading in FADINGS:
        faded = other_reading.faded(fading)
        best = max(log_likelihood(reading, faded, [weight] * len(share.weights)) for weight in GRID)
        assert fitted >= best - 1e-9
    pooled = read_queries(pool(mine, theirs, share), corpus)
    assert log_likelihood(pooled) == pytest.approx(fitted, rel=1e-6)


def test_a_background_whose_contexts_fade_says_the_same_by_itself() -> None:
    theirs, corpus = memory_of({(3, 5): 40, (3, 6): 20}, 3), corpus_of({(3, 5): 1, (3, 6): 1})
    reading = read_queries(theirs, corpus)
    assert log_likelihood(reading.faded(0.6)) == pytest.approx(log_likelihood(reading))


def test_the_log_has_more_to_say_where_its_background_fades() -> None:
    mine, theirs, corpus = memory_of({(3, 4): 2}, 3), memory_of({(3, 5): 40, (6, 5): 1}, 3), corpus_of({(3, 4): 1})
    steady, faded = (read_queries(pool(mine, theirs, Share([1.0] * 3, each)), corpus) for each in (0.0, 0.6))
    assert log_likelihood(faded) > log_likelihood(steady)


def test_the_words_of_a_memory_are_those_that_it_has_read(tmp_path: Path) -> None:
    path = write_toy(tmp_path / "toy.halfword", Toy(parts=("ngram",), counts={"ab cab": 2, "abc da": 1}))
    background = Background.open(str(path))
    assert background.words() == {"ab", "cab", "abc", "da"}
    assert words_of(background.memory(), background.arrays, background.pieces.end) == background.words()


def test_the_words_of_a_background_are_those_of_its_list(tmp_path: Path) -> None:
    counts = {"ab cab": 3, "dadadadadadadadadada": 1}  # more pieces than an n-gram has
    path = write_toy(tmp_path / "listed.halfword", Toy(parts=MEMORY, counts=counts))
    background = Background.open(str(path))
    assert background.words() == {"ab", "cab", "dadadadadadadadadada"}
    assert words_of(background.memory(), background.arrays, background.pieces.end) != background.words()


def test_companions_of_a_background_are_added() -> None:
    first = learn_companions(["red shoes", "red hat"])
    both = read_companions(learn_companions(["red shoes", "blue hat"], None, read_companions(first)))
    assert both.words == ["blue", "hat", "red", "shoes"]
    assert both.typed == {"blue": 1, "hat": 2, "red": 3, "shoes": 2}
    assert both.ended == {"hat": 2, "shoes": 2, "blue": 0, "red": 0}
    together = {
        (both.words[pair >> 16], both.words[pair & 0xFFFF]): count
        for pair, count in zip(both.pairs.tolist(), both.counts.tolist(), strict=True)
    }
    assert together["red", "shoes"] == together["shoes", "red"] == 2
    assert together["red", "hat"] == together["blue", "hat"] == 1


def write_log(folder: Path, rows: list[str]) -> Path:
    folder.mkdir(exist_ok=True)
    for number, split in enumerate(("train", "valid", "test")):
        (folder / f"{split}.query.txt").write_text("\n".join(rows[number::3]) + "\n", encoding="utf-8")
    return folder


ENGLISH = [
    f"{verb} {thing}"
    for verb in ("book a", "renew a", "find a", "reserve a", "return a", "lost")
    for thing in ("library card", "meeting room", "study desk", "computer", "book", "magazine")
]
MANY = [f"{query}{rest}" for query in ENGLISH for rest in ("", *(f" on floor {floor}" for floor in range(1, 9)))]
CHINESE = ["手机壳", "手机价格", "苹果手机", "手机铃声", "电影下载", "免费电影", "天气预报", "北京天气", "上海天气"] * 3


def test_a_small_log_completes_words_that_only_its_background_knows(tmp_path: Path) -> None:
    data, output = open_dataset(write_log(tmp_path / "log", MANY)), tmp_path / "my.halfword"
    card = train(data, output, TrainOptions(parts=MEMORY))
    assert card.background is not None
    assert card.background.name == "default.halfword"
    assert card.parts.ngram is not None
    assert len(card.parts.ngram.background_weights or ()) == 6
    model = load(output)
    assert "new york" in model.complete("new yor").texts
    assert "book a computer" in model.complete("book a com").texts
    assert "words.others.letter" in read_header(output).places  # what others type is seldom a mistake


def test_a_list_of_a_few_rows_offers_its_own_words_only(tmp_path: Path) -> None:
    data, output = open_dataset(write_log(tmp_path / "log", ENGLISH)), tmp_path / "my.halfword"
    train(data, output, TrainOptions(parts=MEMORY))
    assert load(output).complete("new yor").texts == []
    assert "book a computer" in load(output).complete("book a com").texts


def test_the_command_says_what_a_model_stands_on(tmp_path: Path) -> None:
    data, output = write_log(tmp_path / "log", ENGLISH), tmp_path / "my.halfword"
    done = CliRunner().invoke(app, ["train", str(data), "--parts", "popular,ngram", "-o", str(output)])
    assert done.exit_code == 0, done.output
    assert "stands on default.halfword (licence: CC BY-SA 4.0)" in " ".join(done.output.split())


def test_without_a_background_the_log_stands_alone(tmp_path: Path) -> None:
    data, output = open_dataset(write_log(tmp_path / "log", ENGLISH)), tmp_path / "my.halfword"
    card = train(data, output, TrainOptions(parts=MEMORY, background=NO_BACKGROUND))
    assert card.background is None
    assert "new york" not in load(output).complete("new yor").texts
    assert "words.others.letter" not in read_header(output).places


def test_beside_pieces_that_it_does_not_have_only_the_words_of_a_background_count(tmp_path: Path) -> None:
    data, base, output = open_dataset(write_log(tmp_path / "log", ENGLISH)), tmp_path / "base", tmp_path / "my.halfword"
    train(data, base, TrainOptions(parts=MEMORY, background=NO_BACKGROUND))
    card = train(data, output, TrainOptions(parts=MEMORY, base=base))
    assert card.background is not None
    assert card.parts.ngram is not None
    assert not card.parts.ngram.background_weights
    assert "words.others.letter" in read_header(output).places


def test_a_log_in_a_language_that_the_background_does_not_know_trains_as_before(tmp_path: Path) -> None:
    data = open_dataset(write_log(tmp_path / "log", CHINESE))
    paths = tmp_path / "with.halfword", tmp_path / "without.halfword"
    assert train(data, paths[0], TrainOptions(parts=MEMORY)).background is None
    train(data, paths[1], TrainOptions(parts=MEMORY, background=NO_BACKGROUND))
    answers = [load(path).complete("手机").texts for path in paths]
    assert answers[0] == answers[1]
    assert "手机壳" in answers[0]


def test_a_background_needs_a_memory_and_what_it_brings_must_not_be_asked_for_too(tmp_path: Path) -> None:
    path = write_toy(tmp_path / "toy.halfword", Toy(parts=("network",)))
    with pytest.raises(ModelFileError, match="has no memory to stand on"):
        Background.open(str(path))
    with pytest.raises(OptionError, match="brings its own pieces"):
        TrainOptions(background=str(path), memory_size=1.0)
    assert not TrainOptions(memory_size=1.0).stands


def test_the_network_of_a_background_is_where_a_network_of_its_shape_starts(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="needs the train extra")
    from halfword.training.network.learn_network import _first_weights

    path = write_toy(tmp_path / "toy.halfword", Toy(parts=("ngram", "network")))
    background = Background.open(str(path))
    weights = network_weights(background.arrays)
    same = NetworkOptions(**network_sizes(weights))
    assert set(_first_weights(background, same)) == set(weights)
    assert _first_weights(background, replace(same, hidden_size=13)) == {}
    assert _first_weights(None, same) == {}


def test_the_pieces_of_a_background_cut_as_its_engine_does(tmp_path: Path) -> None:
    path = write_toy(tmp_path / "toy.halfword", Toy(parts=("ngram",)))
    background = Background.open(str(path))
    segmenter = background.segmenter()
    assert segmenter.encode(["ab cab", "da"]) == background.pieces.segment(["ab cab", "da"])
    assert [segmenter.piece(number) for number in range(4)] == ["<unk>", "<s>", "</s>", "▁"]
    assert (segmenter.begin, segmenter.end, segmenter.unknown) == (1, 2, 0)


def test_a_small_log_is_read_a_few_times_and_a_large_one_as_ever() -> None:
    training = NetworkTraining()
    assert training.tuned(300).epochs == 10
    assert training.tuned(30_000).epochs == 3
    assert training.tuned(500_000) == training


def test_a_private_memory_holds_only_what_several_queries_share() -> None:
    queries: dict[Query, int] = {(3, 4): 1, (3, 4, 5): 1, (3, 4, 6): 1, (7, 5): 1}
    options = NgramOptions(order=3, least_count=3)
    memory = learn_memory(corpus_of(queries), options)
    kept = set(Plain(memory).gain)
    assert (BEGIN, 3) in kept
    assert (BEGIN, 3, 4) in kept
    assert not any(7 in ngram or ngram[-1] == 6 for ngram in kept)
    small = learn_ngram(corpus_of(queries), replace(options, megabytes=0.01))
    assert set(Plain(read_memory(small)).gain) <= kept


def test_a_damaged_background_is_refused(tmp_path: Path) -> None:
    path = write_toy(tmp_path / "toy.halfword", Toy(parts=("ngram",)))
    place = read_header(path).places["ngram.2.entry"]
    content = bytearray(path.read_bytes())
    content[place.begin] ^= 1
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match=r"ngram\.2\.entry does not match its checksum"):
        Background.open(str(path))


def test_a_background_tells_its_own_pieces_from_others(tmp_path: Path) -> None:
    path = write_toy(tmp_path / "toy.halfword", Toy(parts=("ngram", "network")))
    background = Background.open(str(path))
    assert background.has_pieces_of(background.arrays)
    assert not background.has_pieces_of({**background.arrays, "pieces.text": Array("U8", b"other")})
