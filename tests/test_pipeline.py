"""The whole way from a request to an answer: what was typed and what might be, in one order."""

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from halfword import Completion, SearchOptions, load
from halfword.core.errors import ModelFileError, OptionError, TextError
from halfword.core.filters import Blocklist
from halfword.core.model_file import Array, read_header, write_model
from halfword.core.options import Invent, Typos
from halfword.core.policy import DEFAULT_POLICY, Policy
from halfword.search.filtered import Filtered
from halfword.search.model import PARTS, Model, engine_options, import_engine
from halfword.search.reference import PlainCompanions, PlainNeural, PlainSpellings, read_arrays
from halfword.search.reference_belief import PlainBelief
from halfword.search.reference_corrections import PlainCorrections
from halfword.search.reference_folding import PlainForms
from halfword.search.reference_order import PlainOrder
from halfword.search.reference_ranker import KnownWords, PlainMistakes, PlainPipeline
from halfword.training.other_order import FEWEST
from tests.plain import PlainMemory, known_words, ranker_of
from tests.toy import COUNTS, SHOWS_ALL, Toy, write_toy

pytestmark = pytest.mark.engine

SOBER = replace(
    DEFAULT_POLICY,
    min_probability=0.003,
    invented_min_probability=0.01,
    often_typed=3.0,
    known_typed=2.0,
    counts_believed=3.0,
    new_after_whole=0.5,
    shown_once=1.0,
)
# The plain search reads one hypothesis at a time, and mostly has no memory.
UNLIMITED = replace(SOBER, read_limit_base=1e6, network_min_probability=0.0, search_min_probability=0.0)
ALWAYS_BOTH = replace(UNLIMITED, many_queries=1e6, enough_repeats=1e9, surplus_factor=0.0, known_surplus_factor=0.5)
QUERIES = {"ab cab": 5, "ab": 9, "abc": 4, "abcd": 1, "bcd a": 3, "cab d": 2, "da": 2, "d abcd": 1, "abcd b d": 1}
BACKGROUND = ("abca", "ba", "d", "dab", "a")
OTHERS = {"abca": 40, "ab": 3, "cab": 7, "dab": 1}
ENDINGS = (("d", ""), ("", "d"), ("a", "c"), ("a-", "-"), ("-", "b-"))
ACCENTS = {
    "abé": 9,
    "abé cab": 5,
    "abc": 4,
    "é": 2,
    "dé a": 3,
    "cab d": 2,
    "c-ab": 4,
    "한국 d": 5,
    "d한국": 1,
    "dea": 1,
}
MANY = {f"a{letter}{other}": 1 for letter in "abcdé" for other in "abcd한국"} | {"cab d": 2}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_toy(tmp_path_factory.mktemp("all") / "all.halfword", Toy(parts=PARTS, spread=0.7))


@pytest.fixture(scope="module")
def popular_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a model whose popularity knows many queries that begin with `a`."""
    policy = replace(SHOWS_ALL, network_min_probability=0.0)
    toy = Toy(parts=PARTS, counts=MANY, ending=3.0, policy=policy)
    return write_toy(tmp_path_factory.mktemp("popular") / "popular.halfword", toy)


def texts(completions: list[Completion]) -> list[str]:
    return [completion.text for completion in completions]


def words_of(counts: dict[str, int]) -> KnownWords:
    return known_words(counts, BACKGROUND)


Pair = tuple[Model, PlainPipeline, Callable[[], float]]


@pytest.fixture(scope="module", params=[DEFAULT_POLICY.length_penalty, 0.0])
def popular_and_network(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Pair:
    """The engine and the plain pipeline over popularity and a network, by the plain search."""
    policy = replace(UNLIMITED, length_penalty=request.param)
    toy = Toy(parts=("popular", "network"), counts=QUERIES, ending=3.0, policy=policy, background_words=BACKGROUND)
    path = write_toy(tmp_path_factory.mktemp("pair") / "pair.halfword", toy)
    model = load(path, precision="fp32", cache=False)
    search = PlainNeural(path, model._engine.segment_best)
    plain = PlainPipeline(QUERIES, search.complete, ranker_of(path), policy, words_of(QUERIES))
    return model, plain, lambda: search.closest_call


@pytest.fixture(scope="module")
def with_copying(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    """The engine and the plain pipeline over popularity and a network that copies from the session."""
    parts = ("popular", "network")
    toy = Toy(parts=parts, counts=QUERIES, policy=UNLIMITED, background_words=BACKGROUND, pointer=5)
    path = write_toy(tmp_path_factory.mktemp("copying") / "copying.halfword", toy)
    model = load(path, precision="fp32", cache=False)
    search = PlainNeural(path, model._engine.segment_best)
    plain = PlainPipeline(QUERIES, search.complete, ranker_of(path), UNLIMITED, words_of(QUERIES))
    return model, plain, lambda: search.closest_call


LEAST = [(0.0, 0.0, 0.0), (0.02, 0.0, 0.0), (0.2, 0.1, 0.0), (1.0, 0.1, 1.0), (0.0, 0.03, 0.3), (0.2, 0.3, 0.9)]


@pytest.fixture(scope="module", params=LEAST)
def with_memory(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Pair:
    """The engine and the plain pipeline over popularity, network and memory, which reads what is unlikely alone."""
    by_network, least, found = request.param
    policy = replace(UNLIMITED, enough_repeats=1e9, many_queries=1e6, network_min_probability=by_network)
    policy = replace(policy, search_min_probability=least, search_least_found=found)
    weights = {"mixture.network_weight": [0.2 + 0.02 * kind for kind in range(32)]}
    toy = Toy(parts=PARTS, counts=QUERIES, spread=0.7, policy=policy, background_words=BACKGROUND, arrays=weights)
    path = write_toy(tmp_path_factory.mktemp("memory") / "memory.halfword", toy)
    model = load(path, precision="fp32", cache=False)
    segment = model._engine.segment_best
    search = PlainNeural(
        path, segment, memory=PlainMemory(path), network_least=by_network, least=least, least_found=found
    )
    plain = PlainPipeline(QUERIES, search.complete, ranker_of(path), policy, words_of(QUERIES))
    return model, plain, lambda: search.closest_call


@pytest.fixture(scope="module")
def with_accents(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    """The engine and the plain pipeline over queries with accents, hyphens and Hangul."""
    toy = Toy(parts=("popular", "network"), counts=ACCENTS, ending=3.0, policy=UNLIMITED, background_words=BACKGROUND)
    path = write_toy(tmp_path_factory.mktemp("accents") / "accents.halfword", toy)
    search = load(path, precision="fp32", cache=False, parts=("network",))
    segment = PlainNeural(path, search._engine.segment_best)
    forms = PlainForms(ACCENTS, UNLIMITED)
    plain = PlainPipeline(
        ACCENTS, segment.complete, ranker_of(path), UNLIMITED, words_of(ACCENTS), readings=forms.readings
    )
    return load(path, precision="fp32", cache=False), plain, lambda: segment.closest_call


@pytest.fixture(scope="module")
def all_sources(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    """The engine and the plain pipeline over all sources; the language model is the engine's."""
    policy = replace(ALWAYS_BOTH, odd_min_probability=0.02, odd_ending=0.4)
    toy = Toy(parts=PARTS, counts=QUERIES, words=True, spellings=True, policy=policy, background_words=BACKGROUND)
    path = write_toy(tmp_path_factory.mktemp("sources") / "sources.halfword", toy)
    search = load(path, parts=("ngram", "network"), cache=False)
    companions, spellings = PlainCompanions(list(QUERIES)), PlainSpellings(QUERIES, "")
    plain = PlainPipeline(
        QUERIES,
        lambda prefix, options, surplus, others, context: search.complete(prefix, options, context=context),
        ranker_of(path),
        policy,
        words_of(QUERIES),
        lambda prefix: companions.complete(prefix, int(policy.page)),
        lambda prefix: spellings.complete(prefix, int(policy.page)),
        lambda text, matched: companions.is_apart(text, matched, policy),
        lambda text, matched: companions.repeats_word(text, matched, policy),
        lambda text: companions.is_unfinished(text, policy),
    )
    return load(path, cache=False), plain, lambda: math.inf


MISTAKEN = replace(
    ALWAYS_BOTH,
    corrected_most_steps=1e7,
    corrected_letters_for_two=3.0,
    corrected_edit_cost=1.0,
    corrected_least_odds=-100.0,
    min_probability=0.02,
    common_probability=1e-4,
)


@pytest.fixture(scope="module", params=[0.0, 1.0], ids=["by the memory", "by the network too"])
def with_mistakes(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Pair:
    """The engine and the plain pipeline with corrections, which are believed at random, and words in another order."""
    policy = replace(MISTAKEN, corrected_network=request.param, reordered_corrections=2.0, reordered_most_queries=3.0)
    policy = replace(
        policy, inside_most_queries=1e3, inside_fewest_before=1.0, reordered_inflected=1.0, inside_factor=0.3
    )
    policy = replace(policy, inside_fewest_typed=3.0, inside_fewest_ending=2.0)
    size, chance = len(import_engine().belief_names()), random.Random(1)
    believed = {
        f"{part}.{name}": [chance.gauss(0, 0.3) for _ in range(length)]
        for part in ("glance", "belief")
        for name, length in (("linear", size), ("hidden", 2 * size), ("hidden_bias", 2), ("output", 2))
    } | {
        f"{part}.{name}": [value] * size
        for part in ("glance", "belief")
        for name, value in (("mean", 0.5), ("scale", 2))
    }
    toy = Toy(parts=PARTS, counts=QUERIES, policy=policy, background_words=BACKGROUND, mistakes=True, arrays=believed)
    toy = replace(toy, others=OTHERS, order=4, words=True, endings=ENDINGS)
    path = write_toy(tmp_path_factory.mktemp("mistakes") / "mistakes.halfword", toy)
    search, arrays = load(path, parts=("ngram", "network"), cache=False), read_arrays(path)
    corrected_search = search if request.param else load(path, parts=("ngram",), cache=False)

    def log_probability(search: Model, prefix: str) -> float:
        joint, given = (search.complete(prefix, count=1, conditional=conditional) for conditional in (False, True))
        return joint[0].score - given[0].score if given else 0.0

    costs = arrays["channel.cost"].astype(float).tolist()
    companions = PlainCompanions(list(QUERIES))
    belief = PlainBelief({name: array for name, array in arrays.items() if name in believed}, policy)
    mistakes = PlainMistakes(
        PlainCorrections(QUERIES, costs, policy, OTHERS),
        belief,
        lambda prefix, options, surplus, others, earlier: corrected_search.complete(prefix, options),
        partial(log_probability, corrected_search),
    )
    plain = PlainPipeline(
        QUERIES,
        lambda prefix, options, surplus, others, earlier: search.complete(prefix, options),
        ranker_of(path),
        policy,
        words_of(QUERIES),
        lambda prefix: companions.complete(prefix, int(policy.page)),
        apart=lambda text, matched: companions.is_apart(text, matched, policy),
        repeats=lambda text, matched: companions.repeats_word(text, matched, policy),
        unfinished=lambda text: companions.is_unfinished(text, policy),
        mistakes=mistakes,
        log_probability=partial(log_probability, search),
        other_order=PlainOrder(QUERIES, policy, fewest=FEWEST, most=4),
        endings=ENDINGS,
    )
    return load(path, cache=False), plain, lambda: math.inf


def assert_same(pair: Pair, prefix: str, options: SearchOptions, context: Sequence[str] = ()) -> None:
    """The same answers, unless floats may well have decided otherwise."""
    model, plain, closest_call = pair
    found = model.complete(prefix, options, context=context)
    expected = plain.complete(prefix, options, context=context)
    scores = {each.text: each.score for each in expected}
    close = closest_call() < 1e-4 or len({round(score, 3) for score in scores.values()}) < len(scores)
    if close:
        return
    assert texts(found) == texts(expected)
    assert [each.score for each in found] == pytest.approx(list(scores.values()), abs=1e-3)
    assert [each.source for each in found] == [each.source for each in expected]


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@example(typed={"abdc": 9}, prefix="abd ", options=SearchOptions())  # a space too early, before what is only live
@given(
    typed=st.dictionaries(st.sampled_from([*QUERIES, "abdc", "dcba a", "ab ca", "b"]), st.integers(1, 9), max_size=5),
    prefix=st.text("abcd ", max_size=4),
    options=st.sampled_from([SearchOptions(min_probability=0.0), SearchOptions(), SearchOptions(invent=Invent.NEVER)]),
)
def test_live_counts_are_seen_as_if_they_had_been_learned(
    typed: dict[str, int], prefix: str, options: SearchOptions, all_sources: Pair
) -> None:
    model, plain, closest_call = all_sources
    counts = {text: QUERIES.get(text, 0) + typed.get(text, 0) for text in {**QUERIES, **typed}}
    words = replace(words_of(counts), counts=words_of(QUERIES).counts)  # which live changes do not add to
    changed = replace(plain, counts=counts, words=words, since={text: float(n) for text, n in typed.items()})
    model._engine.apply_changes([(0, text, float(number), "") for text, number in typed.items()], 1.0)
    try:
        assert_same((model, changed, closest_call), prefix, options)
    finally:
        model._engine.clear_changes()


PREFIXES = st.text("abcd ", max_size=6)
CONTEXTS = st.lists(st.one_of(st.text("abcdé ", max_size=12), st.sampled_from(list(QUERIES))), max_size=22)
OPTIONS = st.builds(
    SearchOptions,
    count=st.sampled_from([1, 3, 10, 12]),
    beam=st.sampled_from([1, 2, 4]),
    haste=st.sampled_from([None, None, 0.0, 0.5]),
    min_probability=st.sampled_from([None, 0.0, 0.0, 0.01]),
    invent=st.sampled_from(list(Invent)),
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(prefix=PREFIXES, options=OPTIONS)
def test_the_engine_equals_the_plain_pipeline(prefix: str, options: SearchOptions, popular_and_network: Pair) -> None:
    assert_same(popular_and_network, prefix, options)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(prefix=PREFIXES, options=OPTIONS)
@example(prefix="dabdda", options=SearchOptions(beam=4, count=3))  # to the filter `dabddacab` is `bcd`
def test_the_engine_equals_the_plain_pipeline_where_what_is_unlikely_is_read_by_the_memory_or_not_followed(
    prefix: str, options: SearchOptions, with_memory: Pair
) -> None:
    assert_same(with_memory, prefix, replace(options, haste=None))


@settings(max_examples=100, deadline=None)
@given(prefix=PREFIXES, options=OPTIONS)
def test_the_engine_equals_the_plain_pipeline_over_all_sources(
    prefix: str, options: SearchOptions, all_sources: Pair
) -> None:
    assert_same(all_sources, prefix, options)


@settings(max_examples=200, deadline=None)
@given(prefix=PREFIXES, options=OPTIONS, context=CONTEXTS)
@example(prefix="a ", options=SearchOptions(beam=1), context=["a c"])  # its word, below a query found elsewhere
@example(prefix="b ", options=SearchOptions(beam=1), context=["bcd a"])  # a query of the session, found elsewhere
def test_the_engine_equals_the_plain_pipeline_with_a_context(
    prefix: str, options: SearchOptions, context: list[str], all_sources: Pair
) -> None:
    assert_same(all_sources, prefix, options, context)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(prefix=PREFIXES, options=OPTIONS, context=st.lists(st.sampled_from(list(QUERIES)), min_size=1, max_size=4))
def test_the_engine_equals_the_plain_pipeline_where_the_network_copies(
    prefix: str, options: SearchOptions, context: list[str], with_copying: Pair
) -> None:
    assert_same(with_copying, prefix, options, context)


@settings(max_examples=100, deadline=None)
@given(prefix=PREFIXES, options=OPTIONS)
def test_the_engine_equals_the_plain_pipeline_where_mistakes_are_corrected(
    prefix: str, options: SearchOptions, with_mistakes: Pair
) -> None:
    model, plain, _ = with_mistakes
    options = replace(options, typos=Typos.AUTO)
    assert_same(with_mistakes, prefix, options)
    found, expected = model.complete(prefix, options), plain.complete(prefix, options)
    if texts(found) == texts(expected):
        assert [each.corrected for each in found] == [each.corrected for each in expected]


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    prefix=st.text("abcdeé -한하ᄒ", max_size=6) | st.sampled_from(["abe", "abe c", "de", "c ab", "하"]),
    options=OPTIONS,
)
def test_the_engine_equals_the_plain_pipeline_where_folding_finds_more(
    prefix: str, options: SearchOptions, with_accents: Pair
) -> None:
    assert_same(with_accents, prefix, options)


def test_other_words_go_on_from_the_form_that_people_write(with_accents: Pair) -> None:
    model, plain, _ = with_accents
    readings = plain.readings("c abe ")
    assert readings == [("c abé ", DEFAULT_POLICY.folded_log_probability)]
    found = model.complete("c abe ", count=20, min_probability=0.0, invent="freely")
    assert any(text.startswith("c abé ") for text in texts(found))
    assert all(text.startswith(("c abé ", "c abe ")) for text in texts(found))


def test_a_sign_that_was_typed_is_not_read_away(with_accents: Pair) -> None:
    model, plain, _ = with_accents  # in which `c-ab` is how the word is written
    for typed in ("c-", "d c-"):
        assert plain.readings(typed) == []
        assert all(
            text.startswith(typed) for text in texts(model.complete(typed, min_probability=0.0, invent="freely"))
        )


def test_parts_can_be_left_out(path: Path) -> None:
    assert load(path).parts == PARTS
    assert load(path, parts=("popular",)).parts == ("popular",)
    assert load(path, parts=("network", "ngram")).parts == ("ngram", "network")
    with pytest.raises(OptionError, match="parts must be some of popular, ngram, network; got magic"):
        load(path, parts=("magic",))
    with pytest.raises(ModelFileError, match="has no part that can complete"):
        load(path, parts=())


def test_it_offers_what_was_typed_and_what_was_not(path: Path) -> None:
    found = load(path).complete("ab")
    sources = {completion.text: completion.source for completion in found}
    assert sources["ab cab"] in ("popular", "both")
    assert "model" in sources.values()
    assert len(found) == 10
    assert all(text.startswith("ab") and text != "ab" for text in sources)


@pytest.mark.parametrize("prefix", ["", "a", "ab", "ab ", "d", "xyz"])
def test_probabilities_sum_to_less_than_one(prefix: str, path: Path) -> None:
    assert sum(math.exp(each.score) for each in load(path).complete(prefix, count=1000)) < 1


@pytest.mark.parametrize("prefix", ["", "a", "aa", "b", "c", "d"])
def test_who_asks_for_fewer_gets_the_first_of_the_same(prefix: str, popular_path: Path) -> None:
    model = load(popular_path)
    ten = model.complete(prefix)
    assert len(ten) == 10
    for count in (1, 3, 9):
        assert model.complete(prefix, count=count) == ten[:count]


@pytest.mark.parametrize("prefix", ["", "a", "aa", "b", "c", "d"])
def test_the_least_probability_is_a_sieve_and_no_more(prefix: str, popular_path: Path) -> None:
    model = load(popular_path)
    ten = model.complete(prefix)
    scores = sorted(each.score for each in ten)
    middle = (scores[0] + scores[-1]) / 2
    likely = [completion for completion in ten if completion.score >= middle]
    assert 0 < len(likely) < 10
    assert model.complete(prefix, min_probability=math.exp(middle)) == likely


@pytest.mark.parametrize("prefix", ["a", "aa", "b"])
def test_what_is_not_struck_out_stays_in_its_order(prefix: str, popular_path: Path) -> None:
    model = load(popular_path)
    ten = model.complete(prefix)
    blocklist = Blocklist([ten[3].text])
    found = Filtered(model, blocklist).complete(prefix)
    assert len(found) == 10
    assert [text for text in texts(found) if text in texts(ten)] == texts(blocklist.allowed(ten))


def test_the_length_penalty_puts_short_beginnings_first(tmp_path: Path) -> None:
    def order(penalty: float) -> list[str]:
        toy = Toy(parts=PARTS, policy=replace(SHOWS_ALL, length_penalty=penalty))
        return texts(load(write_toy(tmp_path / "order.halfword", toy)).complete("ab"))

    def length_of_first(penalty: float) -> int:
        return sum(len(text) for text in order(penalty)[:4])

    assert set(order(9.0)) == set(order(0.0)) == set(order(-1.0))
    assert length_of_first(9.0) < length_of_first(0.0) <= length_of_first(-1.0)


def test_proposals_know_how_often_they_were_typed(path: Path) -> None:
    found, _, evidence, facts = load(path)._engine.propose_batch(["ab"], engine_options(SearchOptions()), 1)[0]
    assert facts == (9 + 5 + 4 + 1, 4, 5 + 4 + 1, 3)
    assert {text: reasons[0] for text, reasons in zip(found, evidence, strict=True)} == {
        text: COUNTS.get(text, 0) for text in found
    }
    assert {"ab cab", "abc", "abcd"} <= set(found)


def test_an_echoed_prefix_was_typed_as_often_as_it_was(tmp_path: Path) -> None:
    counts = {f"a{number}": 1 for number in range(15)} | {"d": 7}  # sixteen fill a bucket of the index, "d" the last
    model = load(write_toy(tmp_path / "echo.halfword", Toy(parts=PARTS, counts=counts)))
    found, _, evidence, facts = model._engine.propose_batch(["d "], engine_options(SearchOptions(echo=True)), 1)[0]
    assert facts[:2] == (7, 1)
    assert {text: reasons[0] for text, reasons in zip(found, evidence, strict=True) if reasons[0]} == {"d": 7}
    assert {each.text: each.source for each in model.complete("d ", echo=True)}["d"] == "both"


def search_cost(path: Path, parts: tuple[str, ...], prefix: str, options: SearchOptions) -> tuple[int, ...]:
    return load(path, cache=False, parts=parts)._engine.search_cost(prefix, engine_options(options))


@pytest.mark.parametrize(
    ("prefix", "parts", "beam", "haste"),
    [
        ("b", PARTS, 12, 0.25),
        ("aa", PARTS, 7, 0.5),
        ("c", ("popular", "ngram"), 7, 0.5),
        ("a", ("popular", "ngram"), 4, 1.5),
    ],
    ids=["no query begins so", "six do", "one does that was typed twice", "many do"],
)
def test_it_searches_the_harder_the_less_popularity_knows(
    prefix: str, parts: tuple[str, ...], beam: int, haste: float, popular_path: Path
) -> None:
    costs = {
        (*kept, beam, haste): search_cost(popular_path, kept, prefix, SearchOptions(beam=beam, haste=haste))
        for kept in (PARTS, ("popular", "ngram"))
        for beam, haste in [(12, 0.25), (7, 0.5), (4, 1.5)]
    }
    expected = costs.pop((*parts, beam, haste))
    assert expected not in costs.values()
    assert search_cost(popular_path, PARTS, prefix, SearchOptions(beam=5)) == expected


def test_the_longest_searches_are_cut_short(tmp_path: Path) -> None:
    def cost(base: float) -> tuple[int, ...]:
        policy = replace(SHOWS_ALL, read_limit_base=base, read_limit_per_beam=0.0, network_min_probability=0.0)
        path = write_toy(tmp_path / "cut.halfword", Toy(parts=PARTS, counts=MANY, ending=3.0, policy=policy))
        return search_cost(path, PARTS, "b", SearchOptions(beam=50))

    limit = 20  # twice the answers asked for
    assert cost(1.0) < cost(1e6)
    assert cost(1.0)[0] <= limit + 4 + 1  # as many as were read together, and the prefix


@pytest.mark.parametrize(
    ("counts", "asks"),
    [
        ({}, True),
        ({"ba": 1}, True),
        ({"b": 5}, True),
        ({"ba": 2}, False),
        ({"ba": 2, "bb": 1}, True),
        ({"ba": 2, "bb": 2}, False),
        ({"ba": 1, "bb": 1, "bc": 1, "bd": 2}, True),
        ({"ba": 1, "bb": 1, "bc": 1, "bd": 4}, False),
        ({f"b{number}": 1 for number in range(9)}, True),
        ({f"b{number}": 1 for number in range(10)}, False),
    ],
)
def test_the_network_is_asked_where_few_queries_were_typed_and_hardly_one_twice(
    counts: dict[str, int], asks: bool, tmp_path: Path
) -> None:
    path = write_toy(tmp_path / "few.halfword", Toy(parts=PARTS, counts={**counts, "cab d": 9}))
    model, memory = load(path), load(path, parts=("popular", "ngram"))
    assert (model.complete("b") != memory.complete("b")) == asks


@pytest.mark.parametrize("count", [1, 10, 30])
def test_where_many_queries_were_typed_the_network_is_not_asked(count: int, popular_path: Path) -> None:
    model, memory = load(popular_path), load(popular_path, parts=("popular", "ngram"))
    assert model.complete("a", count=count) == memory.complete("a", count=count)
    assert model.complete("aa", count=count) != memory.complete("aa", count=count)
    assert model.complete("a", count=count, conditional=False) != memory.complete("a", count=count, conditional=False)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("mixture", [0.5]),
        ("mixture", [1.5, 1, 0.5, 1, 0.1, 0.1]),
        ("mixture", [0.5, 1, 0.5, 0, 0.1, 0.1]),
        ("linear", [1.0]),
        ("linear", [float("nan")] * 18),
        ("scale", [0.0] * 18),
        ("output", [1.0] * 5),
        ("none", [1e9] * 6),
    ],
)
def test_a_ranker_that_makes_no_sense_is_refused(name: str, values: list[float], tmp_path: Path) -> None:
    toy = Toy(parts=PARTS, arrays={f"ranker.{name}": values})
    with pytest.raises(ModelFileError, match=r"ranker\.\w+ makes no sense"):
        load(write_toy(tmp_path / "bad.halfword", toy))


def test_a_ranker_that_lacks_the_newest_feature_gives_it_no_weight(path: Path, tmp_path: Path) -> None:
    content, header = path.read_bytes(), read_header(path)
    size, older, without = len(header.features), {}, {}
    for name, place in header.places.items():
        data = content[place.begin : place.end]
        part, _, kind = name.rpartition(".")
        ends = 4 * size if part.startswith("ranker") and kind in ("mean", "scale", "linear", "hidden") else 0
        rows = [data[begin : begin + ends] for begin in range(0, len(data), ends)] if ends else [data]
        weighs_nothing = b"\0\0\0\0" if kind in ("linear", "hidden") else None
        older[name] = Array(place.dtype, b"".join(row[:-4] if ends else row for row in rows))
        same = [row[:-4] + weighs_nothing if ends and weighs_nothing else row for row in rows]
        without[name] = Array(place.dtype, b"".join(same))
    write_model(tmp_path / "older.halfword", older, header.card, policy=header.policy, features=header.features[:-1])
    write_model(tmp_path / "without.halfword", without, header.card, policy=header.policy, features=header.features)
    assert load(tmp_path / "older.halfword").complete("ab") == load(tmp_path / "without.halfword").complete("ab")


def test_a_ranker_of_other_features_is_refused(path: Path, tmp_path: Path) -> None:
    content, header = path.read_bytes(), read_header(path)
    arrays = {name: Array(place.dtype, content[place.begin : place.end]) for name, place in header.places.items()}
    write_model(tmp_path / "old.halfword", arrays, header.card, features=header.features[1:])
    with pytest.raises(ModelFileError, match=r"looks at other features .* --base .*old\.halfword"):
        load(tmp_path / "old.halfword")
    assert load(tmp_path / "old.halfword", parts=("popular",)).complete("ab")


@pytest.mark.parametrize("values", [{"page": 0.0}, {"page": math.nan}, {"haste_few": -1.0}, {"widest_beam": "10"}])
def test_a_policy_that_makes_no_sense_is_refused(values: dict[str, float]) -> None:
    with pytest.raises(ModelFileError, match=f"the policy's {next(iter(values))} must lie between"):
        Policy(**values)


@pytest.mark.parametrize("weight", [-0.1, 1.1, float("nan")])
def test_weights_of_the_mixture_are_shares(weight: float, tmp_path: Path) -> None:
    toy = Toy(parts=PARTS, arrays={"mixture.network_weight": [0.5] * 31 + [weight]})
    with pytest.raises(ModelFileError, match="weights of the mixture are no shares"):
        load(write_toy(tmp_path / "bad.halfword", toy))


@pytest.mark.parametrize("bounds", [[0.1, 0.2], [0.1, 0.2, 1.5], [0.1, float("nan"), 0.5]])
def test_bounds_of_the_mixture_are_shares(bounds: list[float], tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="bounds of the mixture are no shares"):
        load(write_toy(tmp_path / "bad.halfword", Toy(parts=PARTS, arrays={"mixture.bounds": bounds})))


def test_the_mixture_lies_between_network_and_memory(tmp_path: Path) -> None:
    for weight, part in ((1.0, "network"), (0.0, "ngram")):
        toy = Toy(parts=PARTS, spread=0.7, arrays={"mixture.network_weight": [weight] * 32})
        path = write_toy(tmp_path / "extreme.halfword", toy)
        mixed = load(path, parts=("ngram", "network"), precision="fp32").complete("ab")
        alone = load(path, parts=(part,), precision="fp32").complete("ab")
        assert texts(mixed) == texts(alone)
        assert [each.score for each in mixed] == pytest.approx([each.score for each in alone], abs=1e-3)


def test_half_a_model_has_no_two_views(path: Path) -> None:
    with pytest.raises(ValueError, match="a network and a memory"):
        load(path, parts=("ngram",))._engine.view("ab")


def test_both_parts_see_every_token(path: Path) -> None:
    engine = load(path, parts=("ngram", "network"))._engine
    buckets, network, memory = engine.view("ab cab")
    assert len(buckets) == len(engine.segment("ab cab")) + 1
    assert all(0 <= bucket < 32 for bucket in buckets)
    assert all(0 < value < 1 for value in [*network, *memory])


def test_a_batch_and_the_cache_change_nothing(popular_path: Path) -> None:
    model, forgetful = load(popular_path), load(popular_path, cache=False)
    prefixes = ["", "a", "ab", "abc", "ab c", "b", "c", "d"] * 5
    assert model.complete_batch(prefixes) == [forgetful.complete(prefix) for prefix in prefixes]


def test_after_the_deadline_popularity_still_answers(popular_path: Path) -> None:
    answer = load(popular_path).complete("ab", deadline_ms=0.001)
    assert answer.timed_out
    assert texts(answer)[:2] == ["aba", "abb"]
    assert {each.source for each in answer} == {"popular"}
    assert sum(math.exp(each.score) for each in answer) < 1
    assert not load(popular_path).complete("ab").timed_out


@pytest.mark.parametrize("parts", [PARTS, ("ngram", "network")])
def test_the_deadline_holds_while_the_prefix_is_read(parts: tuple[str, ...], popular_path: Path) -> None:
    pieces, _, _, timed_out, _ = search_cost(popular_path, parts, "abcd " * 200, SearchOptions(deadline_ms=0.001))
    assert timed_out
    assert pieces == 0


def test_a_text_too_long_for_a_query_is_only_looked_up(popular_path: Path) -> None:
    assert search_cost(popular_path, PARTS, "ab" * 50_000, SearchOptions())[0] == 0
    assert search_cost(popular_path, PARTS, "ab" * 500, SearchOptions())[0] > 0


def test_an_exception_in_one_thread_of_a_batch_reaches_the_caller() -> None:
    def work(number: int) -> None:
        if number == 5:
            raise LookupError("the fifth")

    with pytest.raises(LookupError, match="the fifth"):
        import_engine().parallel_for(100, 4, work)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda model: model.complete(None), "a prefix must be text, got None"),
        (lambda model: model.complete("a", 2), "options must be SearchOptions, got 2; pass single options by name"),
        (lambda model: model.complete("a", count="5"), "count must be a whole number, got '5'"),
        (lambda model: model.complete("a", count=True), "count must be a whole number, got True"),
        (lambda model: model.complete("a", merge=1), "merge must be True or False, got 1"),
        (lambda model: model.complete("a", cuont=5), "unknown option cuont; the options are: count, beam"),
        (lambda model: model.complete_batch("new yo"), "complete_batch takes several prefixes, got one text 'new yo'"),
    ],
)
def test_whoever_asks_wrongly_is_told(ask: Callable[[Model], object], message: str, path: Path) -> None:
    with pytest.raises((OptionError, TextError), match=message):
        ask(load(path))


def test_a_model_tells_what_it_is(path: Path) -> None:
    assert repr(load(path)) == "Model('all.halfword', parts=('popular', 'ngram', 'network'))"
    assert load(path).queries == len(COUNTS)
