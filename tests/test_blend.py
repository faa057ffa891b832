"""A blend offers what was typed and what might be, in one order."""

import math
import random
from pathlib import Path

import pytest

from halfword import Blend, Completion, Neural, Popular, SearchOptions, load
from halfword.complete import PARTS, engine_options
from halfword.errors import ModelFileError, OptionError
from halfword.fit_blend import BlendWeights, quality, ranked
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


def test_scores_follow_the_formula(blend_path: Path) -> None:
    blend = load(blend_path)
    weights = BlendWeights(0.8, 2.0, 1.0, 0.06)  # the engine's own while nothing is fitted
    for prefix in ("", "a", "ab", "ab ", "bc", "d", "x"):
        candidates, total, distinct = blend._part.candidates(prefix, engine_options(SearchOptions()))  # type: ignore[union-attr]
        model = weights.least + weights.breadth * distinct
        expected = {
            text: math.log((max(count - 0.8, 0) + model * math.exp(score)) / (total - 0.8 * distinct + model))
            - (0.06 if distinct else 0.0) * (len(text) - len(prefix))
            for text, count, score in candidates
        }
        found = blend.complete(prefix)
        assert texts(found) == ranked(prefix, candidates, distinct, weights)[:10]
        assert [each.score for each in found] == pytest.approx([expected[each.text] for each in found], abs=1e-6)


def test_candidates_know_how_often_they_were_typed(blend_path: Path) -> None:
    candidates, total, distinct = load(blend_path)._part.candidates("ab", engine_options(SearchOptions()))  # type: ignore[union-attr]
    assert (total, distinct) == (9 + 5 + 4 + 1, 4)
    assert all(count == COUNTS.get(text, 0) for text, count, _ in candidates)
    assert {"ab cab", "abc", "abcd"} <= {text for text, _, _ in candidates}


def test_weights_in_the_file_are_heeded(tmp_path: Path) -> None:
    typed = load(write_blend(tmp_path / "typed.halfword", popularity=[0.0, 0.0, 1e-6, 0.0])).complete("ab", count=3)
    assert texts(typed) == ["ab cab", "abc", "abcd"]
    new = load(write_blend(tmp_path / "new.halfword", popularity=[0.9, 1e6, 1.0, 0.0])).complete("ab", count=3, haste=0)
    model = load(tmp_path / "new.halfword", parts=("ngram", "network")).complete("ab", count=3)
    assert texts(new) == texts(model)


@pytest.mark.parametrize(
    ("prefix", "beam", "haste"),
    [("b", 20, 0.0), ("c", 10, 1.0), ("a", 6, 2.0)],
    ids=["no query begins so", "fewer than are offered do", "more do"],
)
def test_it_searches_the_harder_the_less_popularity_knows(prefix: str, beam: int, haste: float, tmp_path: Path) -> None:
    counts = {f"a{letter}{other}": 1 for letter in "abcdé" for other in "abcd한국"} | {"cab d": 2}
    path = write_toy(tmp_path / "blend.halfword", Toy(parts=PARTS, counts=counts, ending=3.0))
    part = load(path, cache=False)._part
    settings = [(20, 0.0), (10, 1.0), (6, 2.0)]
    costs = {
        each: part.search_cost(prefix, engine_options(SearchOptions(beam=each[0], haste=each[1])))  # type: ignore[union-attr]
        for each in settings
    }
    assert len(set(costs.values())) == 3
    assert part.search_cost(prefix, engine_options(SearchOptions())) == costs[beam, haste]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "popularity", [[0.5], [1.5, 1, 1, 0], [0.5, 1, 0, 0], [0.5, 1, 1, -1], [float("nan"), 1, 1, 0]]
)
def test_weights_that_make_no_sense_are_refused(popularity: list[float], tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="weights of popularity and model make no sense"):
        load(write_blend(tmp_path / "bad.halfword", popularity=popularity))


@pytest.mark.parametrize("weight", [-0.1, 1.1, float("nan")])
def test_weights_of_the_mixture_are_shares(weight: float, tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="weights of the mixture are no shares"):
        load(write_blend(tmp_path / "bad.halfword", network_weight=[0.5] * 31 + [weight]))


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


def test_both_parts_see_every_token(blend_path: Path) -> None:
    neural = load(blend_path, parts=("ngram", "network"))._part
    buckets, network, memory = neural.view("ab cab")  # type: ignore[union-attr]
    assert len(buckets) == len(neural.segment("ab cab")) + 1  # type: ignore[union-attr]
    assert all(0 <= bucket < 32 for bucket in buckets)
    assert all(0 < value < 1 for value in [*network, *memory])


def test_a_batch_and_the_cache_change_nothing(blend_path: Path) -> None:
    blend, forgetful = load(blend_path), load(blend_path, cache=False)
    prefixes = ["", "a", "ab", "abc", "ab c", "d"] * 5
    assert blend.complete_batch(prefixes) == [forgetful.complete(prefix) for prefix in prefixes]


def test_quality_rewards_what_ranks_the_query_higher() -> None:
    offered = [("abc", "a", [("abc", 1.0, -5.0), ("abd", 0.0, -1.0)], 1.0)]
    trusts_typed, trusts_model = BlendWeights(0.0, 0.0, 0.1, 0.0), BlendWeights(0.9, 9.0, 9.0, 0.0)
    assert ranked("a", offered[0][2], 1.0, trusts_typed) == ["abc", "abd"]
    assert ranked("a", offered[0][2], 1.0, trusts_model) == ["abd", "abc"]
    assert quality(offered, trusts_typed) == 1.5
    assert quality(offered, trusts_model) == pytest.approx(0.5 + 0.25 * 1.5)


def test_training_makes_a_blend_that_beats_popularity_on_a_small_log(tmp_path: Path) -> None:
    """New queries are new combinations of known words: popularity cannot know them, the memory can."""
    from halfword.dataset import open_dataset
    from halfword.evaluate import EvaluateOptions, evaluate
    from halfword.train import TrainOptions, train

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
