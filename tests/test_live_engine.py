"""Popularity with live changes answers exactly as an index of the sum would."""

import threading
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from halfword import Model, SearchOptions, load
from halfword.core.card import Card, PartsCard, PopularCard
from halfword.core.live import KINDS, Change, Kind
from halfword.core.model_file import Array, read_header, write_model
from halfword.core.options import DEFAULTS
from halfword.search.model import engine_options
from halfword.search.reference import PlainPopular
from halfword.search.reference_live import PlainLive
from halfword.training.known_words import word_arrays
from halfword.training.train import popular_arrays
from tests.conftest import COUNTS, MakePopular
from tests.toy import Toy, write_toy

pytestmark = pytest.mark.engine


def texts(alphabet: str) -> st.SearchStrategy[str]:
    return st.text(alphabet=alphabet, min_size=1, max_size=8).map(lambda text: " ".join(text.split())).filter(bool)


QUERIES = texts("ab é한")
FOLDED = texts("ab é-'")
TABLES = st.dictionaries(QUERIES, st.integers(1, 5) | st.integers(1, 2**31), max_size=60)
NUMBERS = st.integers(0, 9) | st.integers(0, 2**20)
CHANGES = st.lists(
    st.builds(Change, st.just(Kind.TYPED), QUERIES, NUMBERS)
    | st.builds(Change, st.just(Kind.WEIGHT), QUERIES, st.integers(-1, 9))
    | st.builds(Change, st.just(Kind.BOOST), QUERIES, st.sampled_from([0.0, 0.5, 1.0, 2.0, 8.0]))
    | st.builds(Change, st.sampled_from([Kind.REMOVED, Kind.REMOVED_BEGINNING, Kind.ALLOWED]), QUERIES),
    max_size=40,
)


def apply(model: Model, *changes: Change, scale: float = 1.0) -> None:
    model._engine.apply_changes([(KINDS[each.kind], each.text, each.number, each.prefix) for each in changes], scale)


def typed(text: str, number: float = 1) -> Change:
    return Change(Kind.TYPED, text, number)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300)
@given(
    counts=TABLES,
    changes=CHANGES,
    cut=st.integers(0, 40),
    prefix=QUERIES | st.just(""),
    space=st.booleans(),
    count=st.integers(1, 12),
    echo=st.booleans(),
)
def test_it_equals_the_brute_force_on_the_sum(
    counts: Mapping[str, int],
    changes: list[Change],
    cut: int,
    prefix: str,
    space: bool,
    count: int,
    echo: bool,
    make_popular: MakePopular,
) -> None:
    popular, plain = make_popular(counts), PlainLive(counts, changes)
    apply(popular, *changes[:cut])
    apply(popular, *changes[cut:])
    total = PlainPopular(plain.counts())  # type: ignore[arg-type]
    queries = [*counts, *(each.text for each in changes)]
    for each in queries:
        assert popular._engine.count_of(each) == plain.count(each)
    for asked in {prefix, prefix + " " * space, *(query[: len(prefix)] for query in queries)}:
        options = SearchOptions(count=count, echo=echo)
        found, expected = popular.complete(asked, options), total.complete(asked, options)
        assert [each.text for each in found] == [each.text for each in expected]
        assert [each.score for each in found] == pytest.approx([each.score for each in expected])


@settings(max_examples=100)
@given(
    counts=st.dictionaries(FOLDED, st.integers(1, 9), max_size=20),
    changes=st.lists(
        st.builds(typed, FOLDED, st.integers(0, 9))
        | st.builds(Change, st.sampled_from([Kind.REMOVED, Kind.REMOVED_BEGINNING, Kind.ALLOWED]), FOLDED),
        max_size=20,
    ),
    count=st.integers(1, 9),
)
def test_it_equals_an_index_of_the_sum_for_texts_that_fold_in_several_ways(
    counts: dict[str, int], changes: list[Change], count: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("index") / "test.halfword"
    card = Card(profile="default", parts=PartsCard(popular=PopularCard()))
    write_model(path, popular_arrays(counts), card)
    first = load(path)
    apply(first, *changes)
    write_model(path, popular_arrays({k: int(v) for k, v in PlainLive(counts, changes).counts().items()}), card)
    second = load(path)
    queries = [*counts, *(each.text for each in changes)]
    for prefix in {"", *(query[:length] for query in queries for length in (1, 2, 3))}:
        found, expected = first.complete(prefix, count=count), second.complete(prefix, count=count)
        assert found.texts == expected.texts
        assert [each.score for each in found] == pytest.approx([each.score for each in expected])


@settings(max_examples=30)
@given(learned=st.lists(st.builds(typed, QUERIES, st.integers(1, 9)), max_size=20))
@example(learned=[typed("abd", 7), typed("da", 3), typed("ab cab", 1)])
def test_a_blend_proposes_what_one_does_whose_index_holds_the_sum(
    learned: list[Change], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("toy")
    toy = Toy(parts=("popular", "ngram"), words=True)
    first = load(write_toy(folder / "first.halfword", toy))
    second = load(_with_index(write_toy(folder / "second.halfword", toy), PlainLive(toy.counts, learned).counts()))
    apply(first, *learned)
    options = engine_options(SearchOptions(fold=False))
    for prefix in ("", "a", "ab", "ab ", "b", "c", *(each.text[:3] for each in learned)):
        found, expected = (model._engine.propose_batch([prefix], options, 1)[0] for model in (first, second))
        assert found[0] == expected[0]
        assert found[2:] == expected[2:]  # what the language model makes of the counts is tested with the pipeline


def _with_index(path: Path, summed: Mapping[str, float]) -> Path:
    """Give a toy the popularity and the words of a sum."""
    header, content = read_header(path), path.read_bytes()
    arrays = {
        name: Array(place.dtype, content[place.begin : place.end], place.shape) for name, place in header.places.items()
    }
    arrays |= popular_arrays({text: int(count) for text, count in summed.items()}) | word_arrays(summed, ())
    write_model(path, arrays, header.card, policy=header.policy, features=header.features)
    return path


def test_a_removed_query_is_proposed_by_no_source(tmp_path: Path) -> None:
    model = load(write_toy(tmp_path / "toy.halfword", Toy(parts=("popular", "ngram"), words=True)))

    def proposed() -> set[str]:
        return set(model._engine.propose_batch(["ab"], engine_options(DEFAULTS), 1, [["ab zz top"]])[0][0])

    before = sorted(proposed())
    assert {"ab zz top", "ab cab", "abcd"} < set(before)  # copied, typed and, like most of them, generated
    removed = [*before[::2], "ab zz top"]
    apply(model, *(Change(Kind.REMOVED, text) for text in removed))
    assert not proposed() & set(removed)
    assert set(before) - set(removed) <= proposed()


def test_removal_knows_every_way_to_write_a_query(make_popular: MakePopular) -> None:
    popular = make_popular({"café olé": 3, "cafe ole": 2, "cafe": 1, "e-mail": 2})
    apply(popular, Change(Kind.REMOVED, "cafe olé"), Change(Kind.REMOVED, "email"))
    assert popular.complete("caf").texts == ["cafe"]
    assert popular.complete("e").texts == []
    apply(popular, Change(Kind.ALLOWED, "Cafe ole".lower()))
    assert popular.complete("caf").texts == ["café olé", "cafe ole", "cafe"]


def test_a_removed_beginning_takes_along_what_is_learned_later(make_popular: MakePopular) -> None:
    popular = make_popular(COUNTS)
    apply(popular, Change(Kind.REMOVED_BEGINNING, "new y"))
    apply(popular, typed("new york pizza", 50), typed("newark", 2))
    assert popular.complete("new").texts == ["news", "newark"]
    apply(popular, Change(Kind.ALLOWED, "new y"))
    assert popular.complete("new").texts[0] == "new york pizza"


def test_new_words_are_known_while_their_query_can_be_suggested(tmp_path: Path) -> None:
    model = load(write_toy(tmp_path / "toy.halfword", Toy(parts=("popular", "ngram"))))
    apply(model, typed("abx", 3))
    assert "abx" in model.complete("ab", invent="never").texts
    apply(model, Change(Kind.REMOVED, "abx"))
    assert "abx" not in model.complete("ab", invent="never").texts


def test_a_pin_has_its_place_and_no_other(make_popular: MakePopular) -> None:
    popular = make_popular(COUNTS)
    apply(popular, Change(Kind.PIN, "new deal", 1, "new"), Change(Kind.PIN, "news", 3, "new"))
    assert popular.complete("new", count=4).texts == ["new deal", "new york times", "news", "new york"]
    assert popular.complete("ne").texts[0] == "new york times"
    apply(popular, Change(Kind.REMOVED, "new deal"))
    assert popular.complete("new", count=1).texts == ["new york times"]
    apply(popular, Change(Kind.UNPIN, "news", prefix="new"))
    assert popular.complete("new").texts == ["new york times", "new york", "news"]


def test_a_blend_shows_a_pin_that_it_finds_unlikely(tmp_path: Path) -> None:
    model = load(write_toy(tmp_path / "toy.halfword", Toy(parts=("popular", "ngram"))))
    apply(model, Change(Kind.PIN, "ab zzz", 2, "ab"), Change(Kind.PIN, "other", 1, "ab"))
    assert model.complete("ab", count=3).texts[:2] == ["other", "ab zzz"]


def test_a_scale_leaves_the_order_as_it_is(make_popular: MakePopular) -> None:
    popular = make_popular(COUNTS)
    before = popular.complete("new")
    apply(popular, typed("web", 1), scale=0.25)
    assert [each.text for each in popular.complete("new")] == [each.text for each in before]
    assert popular._engine.count_of("web") == 1.0


def test_changes_can_be_forgotten(make_popular: MakePopular) -> None:
    popular = make_popular(COUNTS)
    before = popular.complete("")
    apply(popular, typed("zebra", 99), Change(Kind.REMOVED, "new"), Change(Kind.PIN, "x", 1, ""))
    assert popular.complete("") != before
    popular._engine.clear_changes()
    assert popular.complete("") == before


def test_an_answer_that_was_kept_is_not_given_after_a_change(make_popular: MakePopular) -> None:
    model = make_popular({"abc": 2, "abd": 1})
    for number in (2, 2, 2):
        before = model.complete("ab").texts
        assert model.complete("ab").texts == before
        apply(model, typed(before[-1], number))
        assert model.complete("ab").texts == before[::-1]
    model._engine.clear_changes()
    assert model.complete("ab").texts == ["abc", "abd"]


def test_an_answer_that_was_kept_is_given_for_the_same_options_alone(make_popular: MakePopular) -> None:
    model = make_popular({"abc": 2, "abd": 1})
    for count in (1, 2, 1, 2):
        assert model.complete("ab", count=count).texts == ["abc", "abd"][:count]


def test_readers_see_whole_batches_while_a_writer_goes_on(make_popular: MakePopular) -> None:
    popular = make_popular({f"query {number}": 1 for number in range(500)})
    stop, wrong = threading.Event(), []

    def read() -> None:
        while not stop.is_set():
            # Both always have the same count, so they must stand side by side.
            found = [each.score for each in popular.complete("pair", count=2)]
            if len(found) == 2 and found[0] != found[1]:
                wrong.append(found)

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for number in range(400):
        apply(popular, typed("pair a", 1), *(typed(f"query {number} {step}") for step in range(20)), typed("pair b", 1))
    stop.set()
    for reader in readers:
        reader.join()
    assert not wrong
    assert popular._engine.count_of("pair b") == 400


@pytest.mark.parametrize("fields", [(99, "a", 1.0, ""), (0, "", 1.0, ""), (0, "a", float("nan"), "")])
def test_nonsense_is_refused(fields: tuple[int, str, float, str], make_popular: MakePopular) -> None:
    with pytest.raises(ValueError, match="makes no sense"):
        make_popular(COUNTS)._engine.apply_changes([fields], 1.0)
