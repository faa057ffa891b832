"""The engine's search equals the plain one, whatever the model, the prefix and the options."""

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from heapq import nlargest
from operator import attrgetter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from halfword import Completion, Model, SearchOptions, load
from halfword.core.errors import ModelFileError, OptionError
from halfword.core.model_file import Array, read_header, write_model
from halfword.search.model import engine_options, import_engine, open_model_file
from halfword.search.reference import Found, Hypothesis, PlainNetwork, PlainNeural, read_arrays
from tests.toy import PIECES, Toy, write_toy

pytestmark = pytest.mark.engine
TOLERANCE = 1e-3
CROWD = 2048  # rows: when a search needs more, the shortest hypotheses go first
RELATIVE = 1e-5  # of a score of hundreds of nats a float keeps no more


def load_both(path: Path) -> tuple[Model, PlainNeural]:
    model = load(path, precision="fp32")
    return model, PlainNeural(path, model._engine.segment_best)


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> tuple[Model, PlainNeural]:
    return load_both(write_toy(tmp_path_factory.mktemp("toy") / "toy.halfword", Toy()))


def assert_equal(found: list[Completion], expected: list[Completion]) -> None:
    """The same texts with the same scores in the same order, but for neighbours whose scores cannot be told apart."""
    assert [completion.score for completion in found] == pytest.approx(
        [each.score for each in expected], rel=RELATIVE, abs=TOLERANCE
    )
    scores = {completion.text: completion.score for completion in expected}
    for completion in found:
        if completion.text in scores:
            assert completion.score == pytest.approx(scores[completion.text], rel=RELATIVE, abs=TOLERANCE)
        else:  # it tied with the last one
            assert completion.score == pytest.approx(expected[-1].score, rel=RELATIVE, abs=TOLERANCE)
    assert len({completion.text for completion in found}) == len(found)


def assert_equal_if_sure(found: list[Completion], plain: PlainNeural, prefix: str, options: SearchOptions) -> None:
    """The same as the plain search, unless that came to a decision which floats may well take otherwise."""
    expected = plain.complete(prefix, options)
    try:
        assert_equal(found, expected)
    except AssertionError:
        if plain.closest_call > 1e-4:
            raise


TOYS = st.builds(
    Toy,
    segmentation=st.sampled_from(["char", "bpe", "unigram"]),
    hidden=st.sampled_from([1, 5, 12, 33]),
    embedding=st.sampled_from([1, 6, 16]),
    layers=st.integers(1, 3),
    summary=st.sampled_from([0, 0, 1, 7, 60]),
    spread=st.sampled_from([0.1, 1.0, 4.0]),
    pieces=st.sets(st.sampled_from(PIECES), min_size=2).map(lambda pieces: tuple(sorted(pieces))),
    seed=st.integers(0, 10_000),
)
PREFIXES = st.text(alphabet="abcd aé한국x", max_size=10)
OPTIONS = st.builds(
    SearchOptions,
    count=st.integers(1, 12),
    beam=st.integers(1, 12),
    retrace=st.none() | st.integers(0, 4),
    segmentations=st.integers(1, 3),
    max_pieces=st.integers(1, 6),
    merge=st.booleans(),
    prune=st.booleans(),
    haste=st.none() | st.sampled_from([0.0, 0.5, 1.0, 3.0]),
    conditional=st.booleans(),
    echo=st.booleans(),
    min_probability=st.sampled_from([0.0, 1e-6, 1e-3, 0.2]),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=400)
@given(
    toy=TOYS,
    ending=st.sampled_from([0.0, 3.0]),
    prefixes=st.lists(PREFIXES, min_size=1, max_size=4),
    options=OPTIONS,
)
@example(toy=Toy(), ending=0.0, prefixes=["", " ", "ab"], options=SearchOptions(echo=True, retrace=0, max_pieces=3))
@example(
    toy=Toy(segmentation="unigram"),
    ending=0.0,
    prefixes=["abcd"],
    options=SearchOptions(segmentations=3, max_pieces=3),
)
@example(toy=Toy(), ending=0.0, prefixes=["abcd " * 12 + "ab"], options=SearchOptions(max_pieces=3))
@example(
    toy=Toy(segmentation="unigram"),
    ending=0.0,
    prefixes=["abcd " * 12 + "ab"],
    options=SearchOptions(segmentations=20, max_pieces=3),
)
def test_it_equals_the_plain_search(
    toy: Toy, ending: float, prefixes: list[str], options: SearchOptions, tmp_path: Path
) -> None:
    model, plain = load_both(write_toy(tmp_path / "random.halfword", replace(toy, ending=ending)))
    for prefix in prefixes:
        assert_equal_if_sure(model.complete(prefix, options), plain, prefix, options)


class PlainByLength(PlainNeural):
    """The textbook's beam search: all hypotheses of one length, then all of the next."""

    def _search(self, starts: list[Hypothesis], found: Found, floor: float, options: SearchOptions) -> None:
        level = starts
        for _ in range(options.max_pieces):
            children = [child for parent in level for child in self._children(parent)]
            level = [self._go_on(child) for child in nlargest(options.beam, children, key=attrgetter("score"))]
            for hypothesis in level:
                self._end_here(hypothesis, found)


@pytest.mark.parametrize("prune", [True, False])
def test_it_finds_what_a_search_length_by_length_finds_even_when_too_many_wait(prune: bool, tmp_path: Path) -> None:
    path = write_toy(tmp_path / "toy.halfword", Toy(spread=4.0))
    model = load(path, precision="fp32", cache=False)
    plain = PlainByLength(path, model._engine.segment_best)
    narrow = SearchOptions(beam=20, merge=False, prune=prune, max_pieces=10)
    wide = replace(narrow, beam=1000, count=1000)
    assert _rows(model, narrow) < CROWD < _rows(model, wide)
    for options in (narrow, wide):
        assert_equal(model.complete("a", options), plain.complete("a", options))


def test_a_search_at_the_limits_of_its_options_needs_bounded_room(tmp_path: Path) -> None:
    model = load(write_toy(tmp_path / "toy.halfword", Toy(spread=4.0)), cache=False)
    wide = SearchOptions(beam=1000, count=1000, prune=False)
    assert CROWD < _rows(model, replace(wide, max_pieces=200)) < CROWD + 2 * 1000


def _rows(model: Model, options: SearchOptions) -> int:
    """Return how many hypotheses a search had to keep at once."""
    _, _, rows, *_ = model._engine.search_cost("a", engine_options(options))
    return rows


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=40)
@given(toy=TOYS, prefix=PREFIXES, options=OPTIONS)
def test_pruning_without_merging_loses_nothing(toy: Toy, prefix: str, options: SearchOptions, tmp_path: Path) -> None:
    model, _ = load_both(write_toy(tmp_path / "random.halfword", replace(toy, ending=3.0)))
    fields = {name: getattr(options, name) for name in options.__slots__} | {"merge": False, "haste": 0.0}
    pruned = model.complete(prefix, SearchOptions(**fields | {"prune": True}))
    assert pruned == model.complete(prefix, SearchOptions(**fields | {"prune": False}))


def test_retrace_reaches_a_piece_that_the_prefix_cuts(toy: tuple[Model, PlainNeural]) -> None:
    for completer in toy:
        # "▁ca" is cut from "▁cab": its pieces are ▁, c, a, so only a retrace of three characters finds "▁cab".
        with_retrace = {c.text for c in completer.complete("ca", SearchOptions(count=50, beam=50, max_pieces=1))}
        without = {c.text for c in completer.complete("ca", SearchOptions(count=50, beam=50, max_pieces=1, retrace=0))}
        assert with_retrace - without == {"cab"} - without
        assert "cab" in with_retrace


def test_a_trailing_space_starts_a_word(toy: tuple[Model, PlainNeural]) -> None:
    for completer in toy:
        found = completer.complete("ab ", SearchOptions(count=20, beam=20))
        assert found
        assert all(completion.text.startswith("ab ") and len(completion.text) > 3 for completion in found)
        assert not any("  " in completion.text or completion.text.endswith(" ") for completion in found)


def test_the_prefix_is_echoed_only_when_asked(toy: tuple[Model, PlainNeural]) -> None:
    for completer in toy:
        for retrace in (None, 0):
            wide = SearchOptions(count=12, beam=12, retrace=retrace)
            assert "ab" not in {c.text for c in completer.complete("ab ", wide)}
            echoing = SearchOptions(count=12, beam=12, retrace=retrace, echo=True)
            assert "ab" in {c.text for c in completer.complete("ab ", echoing)}


def test_scores_are_probabilities_given_the_prefix(tmp_path: Path) -> None:
    pieces = ("▁", "a", "b")
    path = write_toy(tmp_path / "characters.halfword", Toy(pieces=pieces, segmentation="char"))
    best = load(path, precision="fp32").complete("a", count=1)[0]
    network = PlainNetwork(read_arrays(path))
    state = network.start()
    for piece in (1, 3, 4):  # begin, ▁, a: the prefix
        state = network.read(state, piece)
    expected = 0.0
    for piece in [3 + pieces.index(character) for character in best.text[1:].replace(" ", "▁")] + [2]:
        expected += network.predict(state)[piece]
        state = network.read(state, piece)
    assert best.score == pytest.approx(expected, abs=TOLERANCE)


def test_a_least_probability_is_kept(toy: tuple[Model, PlainNeural]) -> None:
    model, _ = toy
    everything = model.complete("a")
    likely = model.complete("a", min_probability=math.exp(everything[3].score - 1e-6))
    assert [completion.text for completion in likely] == [completion.text for completion in everything[:4]]


def test_merging_adds_up_what_spells_the_same(tmp_path: Path) -> None:
    model, _ = load_both(write_toy(tmp_path / "few.halfword", Toy(pieces=("▁", "a", "b", "ab"), spread=0.1)))
    merged = {c.text: c.score for c in model.complete("a", merge=True, count=30, beam=30, conditional=False)}
    single = {c.text: c.score for c in model.complete("a", merge=False, count=30, beam=30, conditional=False)}
    assert merged["aab"] > single["aab"] + 0.1  # a, ab and a, a, b
    assert all(merged[text] >= single[text] - 1e-9 for text in merged.keys() & single.keys())


def test_characters_without_a_piece_stay_in_the_completions(toy: tuple[Model, PlainNeural]) -> None:
    for completer in toy:
        found = completer.complete("ZЖ ab")
        assert found
        assert all(completion.text.startswith("zж ab") for completion in found)


def test_upper_case_and_double_spaces_make_no_difference(toy: tuple[Model, PlainNeural]) -> None:
    model, _ = toy
    assert model.complete("  AB  a") == model.complete("ab a")


def test_a_batch_and_threads_give_what_single_calls_give(toy: tuple[Model, PlainNeural]) -> None:
    model, _ = toy
    prefixes = ["", "a", "ab", "ab ", "d", "é"] * 20
    single = [model.complete(prefix) for prefix in prefixes]
    assert model.complete_batch(prefixes) == single
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(model.complete, prefixes)) == single


def test_what_is_remembered_between_keystrokes_changes_no_answer(tmp_path: Path) -> None:
    path = write_toy(tmp_path / "toy.halfword", Toy())
    remembering, forgetful = load(path), load(path, cache=False)
    for query in ("abcd ab cab", "ab da b", "abcd abd", "국한국 ab") * 2:
        for length in range(len(query) + 1):
            assert remembering.complete(query[:length]) == forgetful.complete(query[:length])
            assert remembering.complete(query[:length], beam=3) == forgetful.complete(query[:length], beam=3)


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("halfword.search.model.CACHED_STATES", 2)
    monkeypatch.setattr("halfword.search.model.CACHED_ANSWERS", 1)
    path = write_toy(tmp_path / "toy.halfword", Toy())
    small, forgetful = load(path), load(path, cache=False)
    for prefix in ("ab", "abc", "a", "b", "ab", "d a", "abcd ab", "ab"):
        assert small.complete(prefix) == forgetful.complete(prefix)


def test_a_deadline_returns_what_was_found(toy: tuple[Model, PlainNeural]) -> None:
    model, _ = toy
    assert len(model.complete("a", deadline_ms=0.001, beam=1000, max_pieces=1000)) <= 10
    assert model.complete("a", deadline_ms=60_000) == model.complete("a")


def test_a_prefix_of_ten_thousand_characters_is_answered(toy: tuple[Model, PlainNeural]) -> None:
    model, _ = toy
    prefix = ("abcd " * 2000).strip()
    assert all(completion.text.startswith(prefix) for completion in model.complete(prefix))


@pytest.fixture(params=import_engine().available_kernels())
def kernels(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize("summary", [0, 20])
@pytest.mark.parametrize("precision", ["int8", "fp32"])
def test_every_instruction_set_gives_the_same_completions(
    precision: str, summary: int, kernels: str, tmp_path: Path
) -> None:
    path = write_toy(tmp_path / "wide.halfword", Toy(hidden=70, embedding=20, layers=2, summary=summary))
    fastest = load(path, precision=precision)
    named = load(path, precision=precision, kernels=kernels)
    assert named.kernels == kernels
    for prefix in ("", "ab", "ab ", "bcd", "abcd ab cab d"):
        found, expected = named.complete(prefix, max_pieces=3), fastest.complete(prefix, max_pieces=3)
        assert [each.text for each in found] == [each.text for each in expected]
        assert [each.score for each in found] == pytest.approx([each.score for each in expected], abs=1e-4)


@pytest.mark.parametrize(
    "shape",
    [
        Toy(),
        Toy(hidden=70, embedding=20, layers=2),
        Toy(hidden=70, embedding=20, layers=2, summary=20),
        Toy(hidden=16, embedding=40),
        Toy(hidden=128, embedding=8, spread=4.0),
    ],
)
def test_every_instruction_set_has_the_same_bits_of_what_it_rounds(shape: Toy, kernels: str, tmp_path: Path) -> None:
    path = write_toy(tmp_path / "toy.halfword", shape)
    file = open_model_file(path, read_header(path))
    engine = import_engine()
    pieces = np.random.default_rng(0).integers(1, len(PIECES), 50).tolist()
    for length in (1, 2, 10, 50):
        plain = np.frombuffer(engine.network_state(file, pieces[:length], "portable"), np.float32)
        assert np.isfinite(plain).all()
        assert plain.std() > 0
        assert engine.network_state(file, pieces[:length], kernels) == plain.tobytes()


@pytest.mark.parametrize("rows", [1, 2, 5, 12, 13, 31])
def test_every_instruction_set_gives_the_same_integers(rows: int, kernels: str) -> None:
    chance = np.random.default_rng(rows)
    for outputs, inputs in ((1, 1), (70, 33), (96, 600)):
        weights = chance.integers(-127, 128, (outputs, inputs)).astype(np.int8)
        values = chance.integers(0, 256, (rows, inputs)).astype(np.uint8)
        found = import_engine().multiply_int8(kernels, weights.tobytes(), outputs, values.tobytes(), rows)
        expected = (values.astype(np.int64) - 128) @ weights.T.astype(np.int64)
        assert np.array_equal(np.frombuffer(found, np.int32).reshape(rows, outputs), expected)


@pytest.mark.parametrize("summary", [0, 20])
def test_eight_bits_stay_close_to_the_formula(summary: int, tmp_path: Path) -> None:
    path = write_toy(tmp_path / "toy.halfword", Toy(hidden=64, embedding=16, summary=summary, spread=0.5))
    exact = {c.text: c.score for c in load(path, precision="fp32").complete("a", count=5)}
    rounded = {c.text: c.score for c in load(path, precision="int8").complete("a", count=5)}
    assert len(exact.keys() & rounded.keys()) >= 4
    assert all(rounded[text] == pytest.approx(exact[text], abs=0.2) for text in exact.keys() & rounded.keys())


def test_the_plain_network_predicts_a_distribution(tmp_path: Path) -> None:
    network = PlainNetwork(read_arrays(write_toy(tmp_path / "toy.halfword", Toy(layers=2))))
    state = network.read(network.start(), 1)
    assert np.exp(network.predict(state)).sum() == pytest.approx(1)


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"beam": 0}, "beam must lie between 1 and 1000, got 0"),
        ({"retrace": -1}, "retrace must lie between 0 and 1000, got -1"),
        ({"min_probability": 1.5}, "min_probability must lie between 0.0 and 1.0, got 1.5"),
        ({"deadline_ms": 0}, "deadline_ms must lie between"),
        ({"max_pieces": 0}, "max_pieces must lie between"),
        ({"segmentations": 0}, "segmentations must lie between"),
    ],
)
def test_options_out_of_range_are_refused(fields: dict[str, int], line: str) -> None:
    with pytest.raises(OptionError) as caught:
        SearchOptions(**fields)  # type: ignore[arg-type]
    assert line in str(caught.value)


def test_unknown_kernels_and_precisions_are_named(tmp_path: Path) -> None:
    path = write_toy(tmp_path / "toy.halfword", Toy())
    with pytest.raises(OptionError, match="kernels 'abacus' are not available on this machine; choose one of"):
        load(path, kernels="abacus")
    with pytest.raises(OptionError, match="precision must be one of int8, fp32; got 'int4'"):
        load(path, precision="int4")


@pytest.mark.parametrize(
    "name", ["output_bias", "projection", "projection.scale", "layer0.norm_scale", "layer0.summary"]
)
@pytest.mark.parametrize("value", ["nan", "inf", "-inf"])
def test_weights_that_are_no_numbers_are_refused(name: str, value: str, tmp_path: Path) -> None:
    path = write_toy(tmp_path / "toy.halfword", Toy(embedding=2, summary=5))
    content, begin = bytearray(path.read_bytes()), read_header(path).places[f"network.{name}"].begin
    content[begin : begin + 4] = np.float32(value).tobytes()
    path.write_bytes(content)
    precision = "int8" if name.endswith("scale") else "fp32"
    with pytest.raises(ModelFileError, match=rf"network\.{name} holds something that is no number"):
        load(path, precision=precision, verify=False)


def test_weights_whose_product_is_no_number_are_refused(tmp_path: Path) -> None:
    path = write_toy(tmp_path / "toy.halfword", Toy(embedding=40, spread=1e25))  # so wide that the head is one matrix
    with pytest.raises(ModelFileError, match="a product of matrices holds something that is no number"):
        load(path)


def test_a_wide_embedding_costs_no_more_than_one_matrix(tmp_path: Path) -> None:
    costs = [
        load(write_toy(tmp_path / "toy.halfword", Toy(embedding=width)))._engine.multiplications
        for width in (4, 40, 400)
    ]
    assert costs[0] < costs[1] == costs[2]


@pytest.mark.parametrize("size", [0, 1, 12 * 5 - 1, 12 * 6])
def test_a_summary_that_does_not_fit_is_refused(size: int, tmp_path: Path) -> None:
    path = write_toy(tmp_path / "toy.halfword", Toy(hidden=12, summary=5))
    header = read_header(path)
    content = path.read_bytes()
    arrays = {
        name: Array(place.dtype, content[place.begin : place.end], place.shape)
        for name, place in header.places.items()
        if not name.startswith("padding")
    }
    arrays["network.layer0.summary"] = Array("F32", bytes(4 * size), (size,))
    write_model(path, arrays, header.card)
    with pytest.raises(ModelFileError, match=r"the array network\.layer0\.\w+ holds \d+ numbers, expected \d+"):
        load(path, precision="fp32")


def test_what_hypotheses_share_is_multiplied_once(tmp_path: Path) -> None:
    model = load(write_toy(tmp_path / "toy.halfword", Toy()), cache=False)
    cells, *_, multiplications = model._engine.search_cost("a", engine_options(SearchOptions()))
    each = model._engine.multiplications
    assert each < multiplications < cells * each


def test_a_damaged_network_gives_an_error_or_an_answer_but_never_a_crash(tmp_path: Path) -> None:
    whole = write_toy(tmp_path / "toy.halfword", Toy(summary=5)).read_bytes()
    places = read_header(tmp_path / "toy.halfword").places
    bent_path = tmp_path / "bent.halfword"
    chance = np.random.default_rng(0)
    for _ in range(300):
        bent = np.frombuffer(whole, np.uint8).copy()
        place = places[chance.choice(sorted(places))]
        for _ in range(chance.integers(1, 8)):
            bent[chance.integers(place.begin, place.end)] = chance.integers(256)
        bent_path.write_bytes(bent.tobytes())
        try:
            model = load(bent_path, verify=False)
        except ModelFileError:
            continue
        for prefix in ("", "ab", "zz 한"):
            assert len(model.complete(prefix, max_pieces=5)) <= 10
