"""Words that were typed together help a query that nobody typed before."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from halfword.core.card import Card
from halfword.core.model_file import Array, read_header, write_model
from halfword.core.policy import DEFAULT_POLICY
from halfword.data.dataset import open_dataset
from halfword.search.model import engine_policy, import_engine, load, open_model_file
from halfword.search.reference import PlainCompanions
from halfword.training import companions
from halfword.training.coded_numbers import code_numbers
from halfword.training.companions import learn_companions, read_companions
from halfword.training.options import TrainOptions
from halfword.training.train import train
from tests.toy import Toy, policy_for, write_toy

pytestmark = pytest.mark.engine
WORDS = ["a", "ab", "abc", "b", "ba", "rome", "ro", "é", "한국", "한"]
QUERIES = st.lists(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join), min_size=1, max_size=12, unique=True
)


def write_words(path: Path, arrays: dict[str, Array]) -> Path:
    write_model(path, arrays, Card(profile="default"))
    return path


def open_words(path: Path):  # type: ignore[no-untyped-def]
    return import_engine().Companions(open_model_file(path, read_header(path)))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    queries=QUERIES,
    typed=st.lists(st.sampled_from([*WORDS, "", "r", "x"]), max_size=4),
    count=st.integers(0, 4),
    most_met=st.sampled_from([0, 1, 2, 3, 1000]),
)
def test_it_equals_the_formula(queries: list[str], typed: list[str], count: int, most_met: int, tmp_path: Path) -> None:
    prefix = " ".join(typed)
    words = open_words(write_words(tmp_path / "words.halfword", learn_companions(queries)))
    policy = policy_for(count)
    policy.companions_most_met = most_met
    found, expected = words.complete(prefix, policy), PlainCompanions(queries).complete(prefix, count, most_met)
    assert [chance for _, chance in found] == pytest.approx([chance for _, chance in expected])
    assert dict(found) == pytest.approx(dict(expected)) or len({round(chance, 9) for _, chance in found}) < len(found)


def test_a_word_that_met_too_many_of_the_words_that_may_come_is_not_asked(tmp_path: Path) -> None:
    queries = ["the rome", "the paris", "the madrid", "hotels madrid"]
    words = open_words(write_words(tmp_path / "words.halfword", learn_companions(queries)))
    policy = policy_for(3)
    policy.companions_most_met = 2
    assert [text for text, _ in words.complete("hotels the ", policy)] == ["hotels the madrid"]
    assert [text for text, _ in words.complete("hotels the r", policy)] == ["hotels the rome"]  # of these it met one


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    queries=QUERIES,
    words=st.lists(st.sampled_from([*WORDS, "x", ""]), min_size=1, max_size=4),
    typed=st.integers(0),
    before=st.sampled_from([0.0, 1.0, 2.0, 100.0]),
)
def test_the_engine_finds_the_same_words_apart_and_the_same_texts_unfinished(
    queries: list[str], words: list[str], typed: int, before: float, tmp_path: Path
) -> None:
    text = " ".join(words)
    matched = typed % (len(text) + 1)
    policy = replace(DEFAULT_POLICY, odd_ending=0.4, odd_words_before=before)
    listed = open_words(write_words(tmp_path / "words.halfword", learn_companions(queries)))
    plain = PlainCompanions(queries)
    found = listed.is_apart(text, len(text[:matched].encode()), engine_policy(policy))
    assert found == plain.is_apart(text, matched, policy)
    assert listed.is_unfinished(text, engine_policy(policy)) == plain.is_unfinished(text, policy)


@pytest.mark.parametrize(
    ("typed", "added", "odd"),
    [
        ("red ", "shoes", False),
        ("red ", "wine", True),  # each was typed, but never together
        ("red w", "ine", True),
        ("red wine", " glasses", False),  # how it begins is the user's own
        ("bl", "ue", False),  # a single word
        ("red ", "shoes for", True),  # nobody stops there
        ("red shoes f", "or men", False),
        ("wine for ", "kids", True),  # nobody has wine and kids
        ("for ", "kids", False),
        ("", "for", False),
        ("xyz ", "shoes", True),
        ("shoes ", "men", True),  # together, but never side by side
        ("glasses ", "wine", True),  # only in the other order
    ],
)
def test_neighbours_that_were_never_typed_side_by_side_read_oddly(typed: str, added: str, odd: bool) -> None:
    queries = ["red shoes", "shoes for men", "shoes for women", "blue shoes for kids", "wine glasses"]
    policy = replace(DEFAULT_POLICY, odd_ending=0.1)
    plain, text = PlainCompanions(queries), typed + added
    assert (plain.is_apart(text, len(typed), policy) or plain.is_unfinished(text, policy)) is odd


def test_words_further_before_may_be_looked_at_too() -> None:
    plain = PlainCompanions(["nurofen extra", "extra safe", "extra safe condoms"])
    for before, odd in ((1.0, False), (2.0, True)):
        assert plain.is_apart("nurofen extra safe", 7, replace(DEFAULT_POLICY, odd_words_before=before)) is odd


def test_a_file_of_an_earlier_version_does_not_tell_what_stood_side_by_side(tmp_path: Path) -> None:
    arrays = learn_companions(["shoes for men", "red shoes"])
    policy = engine_policy(DEFAULT_POLICY)
    assert open_words(write_words(tmp_path / "new.halfword", arrays)).is_apart("shoes men", 6, policy)
    del arrays["ngram.words.after"]
    old = open_words(write_words(tmp_path / "old.halfword", arrays))
    assert not old.is_apart("shoes men", 6, policy)
    assert old.is_apart("red men", 4, policy)
    assert read_companions(arrays).after.all()


def test_words_that_stood_side_by_side_in_too_few_queries_did_not() -> None:
    found = read_companions(learn_companions(["red shoes", "red old shoes", "old red shoes"], least_count=2))
    pairs = zip(found.pairs.tolist(), found.after.tolist(), strict=True)
    named = {(found.words[pair >> 16], found.words[pair & 0xFFFF]): after for pair, after in pairs}
    assert named["red", "shoes"]
    assert not named["old", "shoes"]  # together in two queries, side by side in one
    assert not named["shoes", "red"]


def test_a_query_counts_once_however_often_it_was_typed_and_long_ones_not_at_all() -> None:
    long = " ".join(map(str, range(13)))
    arrays = learn_companions(["rome hotels", "hotels in rome", "hotels hotels", long])
    found = read_companions(arrays)
    pairs = zip(found.pairs.tolist(), found.counts.tolist(), strict=True)
    named = {(found.words[pair >> 16], found.words[pair & 0xFFFF]): count for pair, count in pairs}
    assert {pair: count for pair, count in named.items() if pair[0] == "rome"} == {
        ("rome", "hotels"): 2,
        ("rome", "in"): 1,
    }
    assert not any("7" in pair for pair in named)
    assert (found.typed["hotels"], found.ended["hotels"]) == (3, 2)


@given(queries=QUERIES, repeats=st.integers(1, 40))
def test_the_arrays_can_be_read_back(queries: list[str], repeats: int) -> None:
    arrays = learn_companions([f"{query} {number}" for query in queries for number in range(repeats)])
    found = read_companions(arrays)
    assert learn_companions([], background=found) == arrays


def test_a_word_with_many_companions_is_read_from_where_it_matters(tmp_path: Path) -> None:
    queries = [f"all w{number:03}{'x' * (number % 3)}" for number in range(200)]
    words, plain = (
        open_words(write_words(tmp_path / "words.halfword", learn_companions(queries))),
        PlainCompanions(queries),
    )
    for part in ("w00", "w06", "w12", "w19", "w199", "x"):
        found = dict(words.complete(f"all {part}", policy_for(20)))
        assert found == pytest.approx(dict(plain.complete(f"all {part}", 20)))


def test_so_many_queries_together_that_a_byte_is_too_small_are_255() -> None:
    arrays = learn_companions([f"ab cd {number}" for number in range(300)])
    assert max(arrays["ngram.words.together"].data) == 255


@pytest.mark.parametrize("megabytes", [0.0001, 0.001, 0.004])
def test_it_keeps_to_the_room_it_has(megabytes: float) -> None:
    arrays = learn_companions([f"word{number % 40} other{number}" for number in range(200)], megabytes)
    assert sum(len(array.data) for array in arrays.values()) <= megabytes * 1e6


def test_what_there_is_no_room_for_is_not_chosen_by_the_alphabet() -> None:
    queries = [f"{first}{number} {last}{number}" for first in "abcdef" for last in "uvwxyz" for number in range(40)]
    arrays = learn_companions(queries, 0.02)
    number = np.bincount(read_companions(arrays).pairs >> 16, minlength=480)
    kept = np.add.reduceat(number, np.arange(0, len(number), 40))
    assert len(kept) == 12
    assert kept.min() > 0.5 * kept.mean()


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("length", [9, 1, 1]),
        ("length", [1, 1]),
        ("counts", [2, 0, 2, 1, 1, 1, 1, 1]),
        ("counts", [2, 0, 2, 1, 1, 1, 1, 1, 1, 0]),
        ("counts", [2, 0, 2, 1, 1, 1, 1, 1, 200]),
        ("counts", [2, 9, 2, 1, 1, 1, 1, 1, 1]),
        ("counts", [0, 0, 2, 1, 1, 1, 1, 1, 1]),
        ("counts", [2, 0, 2, 1, 1, 1, 1, 1, 2]),
        ("counts", [2, 0, 3, 1, 1, 0, 1, 1, 1]),
        ("companion", [2, 0, 0, 0]),
        ("companion", [2, 14, 0, 0]),
        ("companion", [2, 2, 0]),
        ("companion", [2, 2, 0, 0, 0]),
        ("companion", [3, 2, 0, 0]),
        ("companion", [2, 2, 0, 200]),
        ("text", [ord("b"), ord("a"), ord("c")]),
        ("together", [2]),
    ],
)
def test_words_that_make_no_sense_are_refused(name: str, values: list[int], tmp_path: Path) -> None:
    arrays = learn_companions(["a b", "a c"])
    arrays[f"ngram.words.{name}"] = Array("U8", bytes(values))
    with pytest.raises(import_engine().EngineFileError, match="the words that were typed together make no sense"):
        open_words(write_words(tmp_path / "words.halfword", arrays))


def test_a_blend_offers_the_word_that_goes_with_another(tmp_path: Path) -> None:
    toy = Toy(parts=("popular", "ngram"), counts={"d abcd": 1, "abcd b d": 1, "abc": 1, "cab": 1, "ab": 1})
    without = load(write_toy(tmp_path / "without.halfword", toy))
    blend = load(write_toy(tmp_path / "with.halfword", replace(toy, words=True)))
    before, after = ({each.text: each.score for each in model.complete("d b ab")} for model in (without, blend))
    assert after["d b abcd"] != before.get("d b abcd")
    assert blend.complete("ab") == without.complete("ab")  # there is no word before
    assert blend.complete("abcd b") == without.complete("abcd b")  # that was typed


def test_training_keeps_them_within_the_size_of_the_memory(text_folder: Path, tmp_path: Path) -> None:
    data, path = open_dataset(text_folder), tmp_path / "my.halfword"
    train(data, path, TrainOptions(parts=("popular", "ngram"), memory_size=0.01))
    places = read_header(path).places
    assert "ngram.words.companion" in places
    assert sum(place.end - place.begin for name, place in places.items() if name.startswith("ngram.words")) <= 2600
    train(data, path, TrainOptions(parts=("ngram",)))
    assert "ngram.words.companion" not in read_header(path).places  # nobody would ask them


def test_the_size_of_many_pairs_is_worked_out_part_by_part(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = np.unique(np.random.default_rng(0).integers(0, 1 << 20, 1000))
    counts = np.arange(len(pairs)) % 3 + 1
    whole = companions._bytes_of(pairs, counts)
    assert whole == len(code_numbers(companions._steps(pairs, counts))) + (counts > 1).sum() + (len(pairs) + 7) // 8
    monkeypatch.setattr(companions, "_AT_A_TIME", 7)
    assert companions._bytes_of(pairs, counts) == whole
