"""The batched search equals the plain one and the engine's, whatever the model, the prefixes and the options."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from halfword import SearchOptions, load
from halfword.core.card import Card
from halfword.core.errors import ModelFileError, OptionError, TextError
from halfword.core.model_file import Array, write_model
from halfword.core.options import DEFAULTS
from halfword.evaluation.evaluate import BatchCompleter, takes_contexts
from halfword.search.gpu import copying
from halfword.search.gpu.batched import BatchedNeural
from halfword.training.network.weights import network_arrays
from tests.conftest import MakeModel
from tests.test_copying import CONTEXTS, queries_of
from tests.test_neural import OPTIONS, PREFIXES, TOYS, assert_equal, assert_equal_if_sure, load_both
from tests.toy import PIECES, Toy, piece_arrays, random_weights, write_toy

BYTES = tuple(f"<0x{byte:02X}>" for byte in range(256))


EXACT = OPTIONS.map(lambda options: replace(options, haste=None))


def load_batched(path: Path) -> BatchedNeural:
    return BatchedNeural(path, device="cpu")


@pytest.fixture(scope="module")
def toy_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_toy(tmp_path_factory.mktemp("toy") / "toy.halfword", Toy())


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=80)
@given(toy=TOYS, prefixes=st.lists(PREFIXES, min_size=1, max_size=4), options=EXACT)
@example(toy=Toy(), prefixes=["", " ", "ab", "ab "], options=SearchOptions(echo=True, retrace=0, max_pieces=3))
@example(toy=Toy(segmentation="unigram"), prefixes=["abcd"], options=SearchOptions(segmentations=3, max_pieces=3))
@example(toy=Toy(pieces=("ab", "▁")), prefixes=["aa"], options=SearchOptions(count=2, beam=2, max_pieces=2))  # ties
def test_it_equals_the_plain_search(toy: Toy, prefixes: list[str], options: SearchOptions, tmp_path: Path) -> None:
    path = write_toy(tmp_path / "random.halfword", toy)
    _, plain = load_both(path)
    for prefix, found in zip(prefixes, load_batched(path).complete_batch(prefixes, options), strict=True):
        assert_equal_if_sure(found, plain, prefix, options)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=40)
@given(toy=TOYS, prefixes=st.lists(PREFIXES, min_size=5, max_size=40), options=EXACT)
@example(  # the end is certain
    toy=Toy(pieces=("▁", "▁a"), segmentation="char", embedding=6, spread=4.0),
    prefixes=[""],
    options=SearchOptions(count=1, beam=1, merge=False),
)
def test_it_equals_the_engine(toy: Toy, prefixes: list[str], options: SearchOptions, tmp_path: Path) -> None:
    options = replace(options, max_pieces=12)
    path = write_toy(tmp_path / "random.halfword", toy)
    engine, plain = load_both(path)
    answers = load_batched(path).complete_batch(prefixes, options)
    for prefix, found, expected in zip(prefixes, answers, engine.complete_batch(prefixes, options), strict=True):
        try:
            assert_equal(found, expected)
        except AssertionError:
            assert_equal_if_sure(found, plain, prefix, options)


def test_pieces_of_single_bytes_make_whole_characters(tmp_path: Path) -> None:
    toy = Toy(pieces=(*PIECES, *BYTES), spread=0.3)
    chance = np.random.default_rng(1)
    kinds = np.array([2, 3, 3] + [1] * len(PIECES) + [6] * len(BYTES), "<u1")
    arrays = piece_arrays(toy, chance) | {"pieces.kind": Array("U8", kinds.tobytes())}
    path = tmp_path / "bytes.halfword"
    weights = random_weights(toy, chance)
    weights["output_bias"][3 + len(PIECES) + np.array([0xC3, 0xBC])] += 5  # ü
    write_model(path, arrays | network_arrays(weights), Card(profile="default"))
    options = SearchOptions(count=50, beam=60, max_pieces=5)
    prefixes = ["", "ab", "ü", "a€"]
    answers = load_batched(path).complete_batch(prefixes, options)
    assert any("ü" in completion.text for completion in answers[0])
    for found, expected in zip(answers, load(path, precision="fp32").complete_batch(prefixes, options), strict=True):
        assert_equal(found, expected)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(
    toy=TOYS,
    size=st.sampled_from([1, 4, 17]),
    asked=st.lists(st.tuples(PREFIXES, CONTEXTS), min_size=1, max_size=12),
    options=EXACT,
)
def test_it_copies_from_each_context_as_the_engine_does(
    toy: Toy, size: int, asked: list[tuple[str, list[str]]], options: SearchOptions, tmp_path: Path
) -> None:
    path = write_toy(tmp_path / "random.halfword", replace(toy, pointer=size))
    engine, plain = load_both(path)
    prefixes, contexts = [prefix for prefix, _ in asked], [context for _, context in asked]
    answers = load_batched(path).complete_batch(prefixes, options, contexts=contexts)
    expected = engine.complete_batch(prefixes, options, contexts=contexts)
    for (prefix, context), found, wanted in zip(asked, answers, expected, strict=True):
        try:
            assert_equal(found, wanted)
        except AssertionError:
            surely = plain.complete(prefix, options, context=queries_of(context))
            if plain.closest_call > 1e-4:
                assert_equal(found, surely)


@pytest.fixture(scope="module")
def copying_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_toy(tmp_path_factory.mktemp("copying") / "toy.halfword", Toy(pointer=6))


SESSIONS = [["abcd cab", "d"], ["bcd"] * 20, [], ["Abcd  CAB", "d"], ["ab " * 60]]


def test_a_prefix_is_searched_once_for_each_context(copying_path: Path) -> None:
    once, again = load_batched(copying_path), load_batched(copying_path)
    found = once.complete_batch(["a"] * len(SESSIONS), contexts=SESSIONS)
    again.complete_batch(["a"] * 4, contexts=[SESSIONS[0], SESSIONS[1], SESSIONS[2], SESSIONS[4]])
    assert once.work == again.work
    assert found[0] == found[3]
    assert all(found[place] != found[2] for place in (0, 1, 4))
    assert_equal(found[2], once.complete("a"))
    assert_equal(found[0], once.complete("a", context=SESSIONS[0]))


def test_contexts_in_small_parts_give_the_same(copying_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prefixes = ["a", "", "ab c", "d", "ab"]
    together = load_batched(copying_path).complete_batch(prefixes, contexts=SESSIONS)
    monkeypatch.setattr(copying, "_HELD", 1)  # numbers
    apart = BatchedNeural(copying_path, device="cpu", rows=1).complete_batch(prefixes, contexts=SESSIONS)
    for found, expected in zip(apart, together, strict=True):
        assert_equal(found, expected)


def test_a_network_that_copies_nothing_ignores_contexts(toy_path: Path) -> None:
    completer = load_batched(toy_path)
    assert completer.complete("a", context=["abcd"]) == completer.complete("a")


def test_contexts_that_do_not_fit_are_refused(copying_path: Path) -> None:
    with pytest.raises(TextError, match="one context for each prefix was expected, got 1 for 2 prefixes"):
        load_batched(copying_path).complete_batch(["a", "b"], contexts=[["ab"]])


def test_small_batches_give_what_one_large_batch_gives(toy_path: Path) -> None:
    prefixes = ["", "a", "ab", "ab ", "d", "é", "cab cab", "ab"] * 3
    together = BatchedNeural(toy_path, device="cpu").complete_batch(prefixes)
    apart = BatchedNeural(toy_path, device="cpu", rows=1).complete_batch(prefixes)
    for found, expected in zip(apart, together, strict=True):
        assert_equal(found, expected)


def test_it_is_a_batch_completer(toy_path: Path) -> None:
    completer = load_batched(toy_path)
    assert isinstance(completer, BatchCompleter)
    assert takes_contexts(completer)
    assert completer.complete_batch([], DEFAULTS) == []
    assert completer.complete("AB  ") == completer.complete("ab ")
    assert completer.work.rows > 0


def test_its_completions_have_all_that_the_engine_says_of_one(toy_path: Path) -> None:
    (found,) = load_batched(toy_path).complete("ab é", replace(DEFAULTS, count=1))
    (expected,) = load(toy_path, precision="fp32").complete("ab é", count=1)
    assert found._replace(score=0.0) == expected._replace(score=0.0)
    assert found.matched == 4


def test_a_prefix_of_a_thousand_characters_is_answered(toy_path: Path) -> None:
    prefix = ("abcd " * 200).strip()
    found = load_batched(toy_path).complete(prefix)
    assert found
    assert all(completion.text.startswith(prefix) for completion in found)


def test_a_deadline_is_refused(toy_path: Path) -> None:
    with pytest.raises(OptionError, match="no deadline"):
        load_batched(toy_path).complete("a", SearchOptions(deadline_ms=5))


def test_haste_is_refused(toy_path: Path) -> None:
    with pytest.raises(OptionError, match=r"a batched search is exact: leave haste out, got 1\.0"):
        load_batched(toy_path).complete("a", replace(DEFAULTS, haste=1.0))


def test_a_file_without_a_network_is_refused(make_model: MakeModel) -> None:
    with pytest.raises(ModelFileError, match="no network"):
        load_batched(make_model({"news": 1}))


def test_a_network_in_eight_bits_is_enough(tmp_path: Path) -> None:
    toy = Toy(spread=0.5)
    chance = np.random.default_rng(0)
    arrays = piece_arrays(toy, chance) | network_arrays(random_weights(toy, chance))
    rounded = {name: array for name, array in arrays.items() if f"{name}.int8" not in arrays}
    write_model(tmp_path / "whole.halfword", arrays, Card(profile="default"))
    write_model(tmp_path / "rounded.halfword", rounded, Card(profile="default"))
    expected = {c.text: c.score for c in load_batched(tmp_path / "whole.halfword").complete("a")}
    found = {c.text: c.score for c in load_batched(tmp_path / "rounded.halfword").complete("a")}
    shared = found.keys() & expected.keys()
    assert len(shared) >= 8
    assert all(found[text] == pytest.approx(expected[text], abs=0.2) for text in shared)
