"""A blend offers what was typed and what might be, in one order."""

import math
import random
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfword import Blend, Completion, Neural, Popular, SearchOptions, load
from halfword.core import metrics
from halfword.core.errors import ModelFileError, OptionError
from halfword.core.filters import Blocklist
from halfword.search.filtered import Filtered
from halfword.search.model import PARTS, engine_options
from halfword.training.fit_blend import BlendWeights, Offered, Weights, quality, recovered, tabulate
from tests.toy import COUNTS, Toy, write_toy

pytestmark = pytest.mark.engine


def write_blend(path: Path, **weights: list[float]) -> Path:
    """Write a model of all three parts over the toy pieces."""
    return write_toy(path, Toy(parts=PARTS, spread=0.7, weights=weights))


@pytest.fixture(scope="module")
def blend_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_blend(tmp_path_factory.mktemp("blend") / "blend.halfword")


def texts(completions: list[Completion]) -> list[str]:
    return [completion.text for completion in completions]


def test_parts_can_be_left_out(blend_path: Path) -> None:
    assert isinstance(load(blend_path), Blend)
    assert isinstance(load(blend_path, parts=("popular",)), Popular)
    assert isinstance(load(blend_path, parts=("ngram", "network")), Neural)
    assert isinstance(load(blend_path, parts=("ngram",)), Neural)
    with pytest.raises(OptionError, match="parts must be some of popular, ngram, network; got magic"):
        load(blend_path, parts=("magic",))
    with pytest.raises(ModelFileError, match="has no part that can complete"):
        load(blend_path, parts=())


def test_it_offers_what_was_typed_and_what_was_not(blend_path: Path) -> None:
    found = load(blend_path).complete("ab")
    sources = {completion.text: completion.source for completion in found}
    assert sources["ab cab"] in ("popular", "both")
    assert "model" in sources.values()
    assert len(found) == 10
    assert all(text.startswith("ab") and text != "ab" for text in sources)


def weighed(offered: Offered, weights: Weights) -> dict[str, float]:
    """Return what each candidate weighs, the best first."""
    _, prefix, candidates, distinct = offered
    model = weights.least + weights.breadth * distinct**0.75
    shortness = weights.shortness * distinct / (distinct + 3)
    scores = {
        text: (max(count - weights.discount, 0) + model * math.exp(score))
        * math.exp(-shortness * (len(text) - len(prefix)))
        for text, count, score in candidates
    }
    return {text: scores[text] for text in sorted(scores, key=lambda text: (-scores[text], text))}


def shown(offered: Offered, weights: BlendWeights) -> list[str]:
    """Return the ten best by choice, best first by order."""
    ten = list(weighed(offered, weights.choice))[:10]
    return [text for text in weighed(offered, weights.order) if text in ten]


# The engine's own while nothing is fitted.
UNFITTED = BlendWeights(order=Weights(0.8, 3.0, 1.0, 0.12), choice=Weights(0.8, 2.0, 1.0, 0.06))


@pytest.mark.parametrize("prefix", ["", "a", "ab", "ab ", "bc", "d", "x"])
def test_scores_follow_the_formula(prefix: str, blend_path: Path) -> None:
    blend, weights = load(blend_path), UNFITTED.order
    candidates, total, distinct = blend._part.candidates(prefix, engine_options(SearchOptions()))  # type: ignore[union-attr]
    offered: Offered = ("", prefix, candidates, distinct)
    whole = total - weights.discount * distinct + weights.least + weights.breadth * distinct**0.75
    found = blend.complete(prefix)
    assert texts(found) == shown(offered, UNFITTED)
    scores = [math.log(weighed(offered, weights)[each.text] / whole) for each in found]
    assert [each.score for each in found] == pytest.approx(scores, abs=1e-6)


def test_which_ten_and_in_which_order_are_two_questions(tmp_path: Path) -> None:
    counts = {f"a{letter}{other}": 30 - place for place, (letter, other) in enumerate(product("abcd", repeat=2))}
    typed, new = [0.0, 0.0, 1e-6, 0.0], [0.9, 1e6, 1.0, 0.0]

    def answers(**weights: list[float]) -> list[str]:
        path = write_toy(tmp_path / "two.halfword", Toy(parts=PARTS, counts=counts, weights=weights))
        return texts(load(path).complete("a", haste=0))

    of_typed, of_new = answers(choice=typed, order=typed), answers(choice=new, order=new)
    assert of_typed == list(counts)[:10]
    assert set(of_new) != set(of_typed)
    assert answers(choice=typed, order=new) != of_typed
    assert set(answers(choice=typed, order=new)) == set(of_typed)
    assert set(answers(choice=new, order=typed)) == set(of_new)


@pytest.mark.parametrize("prefix", ["", "a", "aa", "b", "c", "d"])
def test_who_asks_for_fewer_gets_the_first_of_the_same(prefix: str, popular_path: Path) -> None:
    blend = load(popular_path)
    ten = blend.complete(prefix)
    assert len(ten) == 10
    for count in (1, 3, 9):
        assert blend.complete(prefix, count=count) == ten[:count]


@pytest.mark.parametrize("prefix", ["", "a", "aa", "b", "c", "d"])
def test_the_least_probability_is_a_sieve_and_no_more(prefix: str, popular_path: Path) -> None:
    blend = load(popular_path)
    ten = blend.complete(prefix)
    middle = (ten[0].score + ten[-1].score) / 2
    likely = [completion for completion in ten if completion.score >= middle]
    assert 0 < len(likely) < 10
    assert blend.complete(prefix, min_probability=math.exp(middle)) == likely


@pytest.mark.parametrize("prefix", ["a", "aa", "b"])
def test_what_is_not_struck_out_stays_in_its_order(prefix: str, popular_path: Path) -> None:
    blend = load(popular_path)
    ten = blend.complete(prefix)
    found = Filtered(blend, Blocklist([ten[3].text])).complete(prefix)
    assert len(found) == 10
    assert [each for each in found if each in ten] == [*ten[:3], *ten[4:]]
    assert [each.score for each in found] == sorted((each.score for each in found), reverse=True)


def test_candidates_know_how_often_they_were_typed(blend_path: Path) -> None:
    candidates, total, distinct = load(blend_path)._part.candidates("ab", engine_options(SearchOptions()))  # type: ignore[union-attr]
    assert (total, distinct) == (9 + 5 + 4 + 1, 4)
    assert all(count == COUNTS.get(text, 0) for text, count, _ in candidates)
    assert {"ab cab", "abc", "abcd"} <= {text for text, _, _ in candidates}


def test_weights_in_the_file_are_heeded(tmp_path: Path) -> None:
    typed, new = [0.0, 0.0, 1e-6, 0.0], [0.9, 1e6, 1.0, 0.0]
    found = load(write_blend(tmp_path / "typed.halfword", order=typed, choice=typed)).complete("ab", count=3)
    assert texts(found) == ["ab cab", "abc", "abcd"]
    found = load(write_blend(tmp_path / "new.halfword", order=new, choice=new)).complete("ab", count=3, haste=0)
    model = load(tmp_path / "new.halfword", parts=("ngram", "network")).complete("ab", count=3)
    assert texts(found) == texts(model)


def search_cost(path: Path, parts: tuple[str, ...], prefix: str, options: SearchOptions) -> tuple[int, ...]:
    return load(path, cache=False, parts=parts)._part.search_cost(prefix, engine_options(options))  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("prefix", "parts", "beam", "haste"),
    [
        ("b", PARTS, 20, 0.25),
        ("aa", PARTS, 10, 0.5),
        ("c", ("popular", "ngram"), 10, 0.5),
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
        for beam, haste in [(20, 0.25), (10, 0.5), (4, 1.5)]
    }
    expected = costs.pop((*parts, beam, haste))
    assert expected not in costs.values()
    assert search_cost(popular_path, PARTS, prefix, SearchOptions(beam=5)) == expected


@pytest.mark.parametrize("weights", [[0.5], [1.5, 1, 1, 0], [0.5, 1, 0, 0], [0.5, 1, 1, -1], [float("nan"), 1, 1, 0]])
@pytest.mark.parametrize("name", ["order", "choice"])
def test_weights_that_make_no_sense_are_refused(name: str, weights: list[float], tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="weights of popularity and model make no sense"):
        load(write_blend(tmp_path / "bad.halfword", **{name: weights}))


@pytest.mark.parametrize("weight", [-0.1, 1.1, float("nan")])
def test_weights_of_the_mixture_are_shares(weight: float, tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="weights of the mixture are no shares"):
        load(write_blend(tmp_path / "bad.halfword", network_weight=[0.5] * 31 + [weight]))


def test_weights_of_an_earlier_version_are_refused(tmp_path: Path) -> None:
    path = write_blend(tmp_path / "old.halfword", popularity=[0.5, 1.0, 1.0, 0.1])
    with pytest.raises(ModelFileError, match=r"weighs its parts is of an earlier version; .* --base .*old\.halfword"):
        load(path)
    assert load(path, parts=("popular",)).complete("ab")


def test_an_echoed_prefix_was_typed_as_often_as_it_was(tmp_path: Path) -> None:
    counts = {f"a{number}": 1 for number in range(15)} | {"d": 7}  # sixteen fill a bucket of the index, "d" the last
    blend = load(write_toy(tmp_path / "echo.halfword", Toy(parts=PARTS, counts=counts)))
    candidates, total, distinct = blend._part.candidates("d ", engine_options(SearchOptions(echo=True)))  # type: ignore[union-attr]
    assert (total, distinct) == (7, 1)
    assert {text: count for text, count, _ in candidates if count} == {"d": 7}
    assert {each.text: each.source for each in blend.complete("d ", echo=True)}["d"] == "both"


def test_the_mixture_lies_between_network_and_memory(tmp_path: Path) -> None:
    for weight, part in ((1.0, "network"), (0.0, "ngram")):
        path = write_blend(tmp_path / "extreme.halfword", network_weight=[weight] * 32)
        mixed = load(path, parts=("ngram", "network"), precision="fp32").complete("ab")
        alone = load(path, parts=(part,), precision="fp32").complete("ab")
        assert texts(mixed) == texts(alone)
        assert [each.score for each in mixed] == pytest.approx([each.score for each in alone], abs=1e-3)


def test_half_a_model_has_no_two_views(blend_path: Path) -> None:
    with pytest.raises(ValueError, match="a network and a memory"):
        load(blend_path, parts=("ngram",))._part.view("ab")  # type: ignore[union-attr]


def test_both_parts_see_every_token(blend_path: Path) -> None:
    neural = load(blend_path, parts=("ngram", "network"))._part
    buckets, network, memory = neural.view("ab cab")  # type: ignore[union-attr]
    assert len(buckets) == len(neural.segment("ab cab")) + 1  # type: ignore[union-attr]
    assert all(0 <= bucket < 32 for bucket in buckets)
    assert all(0 < value < 1 for value in [*network, *memory])


@pytest.fixture(scope="module")
def popular_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a blend whose popularity knows many queries that begin with `a`."""
    counts = {f"a{letter}{other}": 1 for letter in "abcdé" for other in "abcd한국"} | {"cab d": 2}
    path = tmp_path_factory.mktemp("popular") / "blend.halfword"
    return write_toy(path, Toy(parts=PARTS, counts=counts, ending=3.0))


def test_a_batch_and_the_cache_change_nothing(popular_path: Path) -> None:
    blend, forgetful = load(popular_path), load(popular_path, cache=False)
    prefixes = ["", "a", "ab", "abc", "ab c", "b", "c", "d"] * 5
    assert blend.complete_batch(prefixes) == [forgetful.complete(prefix) for prefix in prefixes]


def test_the_longest_searches_are_cut_short(popular_path: Path) -> None:
    neural = load(popular_path, cache=False, parts=("ngram", "network"))._part
    options = engine_options(SearchOptions(beam=50))
    whole = neural.search_cost("b", options)  # type: ignore[union-attr]
    options.most_read = 12
    cut = neural.search_cost("b", options)  # type: ignore[union-attr]
    assert cut < whole
    assert cut[0] <= 12 + 4 + 1  # as many as were read together, and the prefix
    cost = search_cost(popular_path, PARTS, "d", SearchOptions(beam=5))
    assert cost < search_cost(popular_path, PARTS, "d", SearchOptions(beam=20, haste=0.25))  # which nothing cuts


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
    blend, memory = load(path), load(path, parts=("popular", "ngram"))
    assert (blend.complete("b") != memory.complete("b")) == asks


@pytest.mark.parametrize("count", [1, 10, 30])
def test_where_many_queries_were_typed_the_network_is_not_asked(count: int, popular_path: Path) -> None:
    blend, memory = load(popular_path), load(popular_path, parts=("popular", "ngram"))
    assert blend.complete("a", count=count) == memory.complete("a", count=count)
    assert blend.complete("aa", count=count) != memory.complete("aa", count=count)
    assert blend.complete("a", count=count, conditional=False) != memory.complete("a", count=count, conditional=False)


def test_quality_rewards_what_ranks_the_query_higher() -> None:
    offered: Offered = ("abc", "a", [("abc", 1.0, -5.0), ("abd", 0.0, -1.0)], 1.0)
    trusts_typed, trusts_model = Weights(0.0, 0.0, 0.1, 0.0), Weights(0.9, 9.0, 9.0, 0.0)
    assert list(weighed(offered, trusts_typed)) == ["abc", "abd"]
    assert list(weighed(offered, trusts_model)) == ["abd", "abc"]
    for choice in (trusts_typed, trusts_model):
        assert quality(tabulate([offered]), BlendWeights(trusts_typed, choice)) == 1.5
        assert quality(tabulate([offered]), BlendWeights(trusts_model, choice)) == pytest.approx(0.5 + 0.25 * 1.5)


CANDIDATES = st.dictionaries(
    st.sampled_from([f"a b{letter}" for letter in "cdefghijklmn"] + ["a", "a b"]),
    st.tuples(st.sampled_from([0.0, 1.0, 2.0, 7.0]), st.sampled_from([-1.0, -1.5, -3.0])),
)
OFFERED = st.builds(
    lambda query, candidates, distinct: (query, "a", [(text, *rest) for text, rest in candidates.items()], distinct),
    st.sampled_from(["a b", "a bc", "a bd e", "a"]),
    CANDIDATES,
    st.sampled_from([0.0, 1.0, 4.0, 20.0]),
)
WEIGHTS = st.builds(
    Weights, st.sampled_from([0.0, 0.8]), st.sampled_from([0.5, 2.0]), st.just(0.1), st.sampled_from([0.0, 0.12])
)


@given(st.lists(OFFERED, min_size=1, max_size=4), st.builds(BlendWeights, WEIGHTS, WEIGHTS))
def test_quality_is_that_of_the_plain_metrics(offered: list[Offered], weights: BlendWeights) -> None:
    expected = 0.0
    for each in offered:
        best = shown(each, weights)
        place = metrics.rank(each[0], best)
        partial = metrics.reciprocal(metrics.partial_rank(each[0], best))
        expected += metrics.reciprocal(place) + 0.25 * (partial + (place is not None))
    assert quality(tabulate(offered), weights) == pytest.approx(expected / len(offered))


def test_recovered_characters_end_at_the_first_prefix_that_misses() -> None:
    walks = {"abcde": [True, True, False], "abcdef": [False, True, True, True], "abcdeg": [True, False, True, True]}
    offered: list[Offered] = [
        (query, query[: len(query) - back], [(query if hit else "abcxy", 9.0, -1.0)], 1.0)
        for query, walk in walks.items()
        for back, hit in enumerate(walk, 1)
    ]
    assert recovered(tabulate(offered), Weights(0.5, 1.0, 0.1, 0.0)) == (2 + 0 + 1) / 3


def test_training_makes_a_blend_that_beats_popularity_on_a_small_log(tmp_path: Path) -> None:
    """New queries are new combinations of known words: popularity cannot know them, the memory can."""
    from halfword.data.dataset import open_dataset
    from halfword.evaluation.evaluate import EvaluateOptions, evaluate
    from halfword.training.train import TrainOptions, train

    chance = random.Random(0)
    things = [f"{kind}{number}" for kind in ("lamp", "chair", "table", "carpet") for number in range(12)]
    places = ["for the garden", "for the kitchen", "in blue", "in green", "on sale", "second hand"]
    rows = [f"{chance.choice(things)} {chance.choice(places)}" for _ in range(2600)]
    folder = tmp_path / "data"
    folder.mkdir()
    held = set(chance.sample(sorted(set(rows)), 60))
    known = [row for row in rows if row not in held]
    for split, part in (
        ("train", known[:1800]),
        ("valid", known[1800:]),
        ("test", [row for row in rows if row in held]),
    ):
        (folder / f"{split}.query.txt").write_text("\n".join(part))
    data = open_dataset(folder)
    card = train(data, tmp_path / "m.halfword", TrainOptions(parts=("popular", "ngram")))
    assert set(card["parts"]) == {"pieces", "ngram", "popular"}
    options = EvaluateOptions(walk=0)
    both = evaluate(load(tmp_path / "m.halfword"), data, options).metrics["mrr"]["all"]
    popular = evaluate(load(tmp_path / "m.halfword", parts=("popular",)), data, options).metrics["mrr"]["all"]
    assert both is not None
    assert popular is not None
    assert both > popular + 0.2


def test_a_model_of_an_earlier_version_still_loads() -> None:
    """One file of each format is kept; a build that no longer reads it must say so by raising FORMAT."""
    model = load(Path(__file__).parent / "data" / "format-1.halfword")
    assert isinstance(model, Blend)
    assert "ab cab" in texts(model.complete("ab"))
