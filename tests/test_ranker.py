"""The ranker is fitted to what people typed, and held near the weights that ship."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from halfword.data.sessions import TypedRow
from halfword.search.model import import_engine
from halfword.training.offers import Offers, asked_again, join
from halfword.training.ranker import (
    _PENALTIES,
    RankerWeights,
    _forward,
    _gradients,
    _is_as_good,
    _order,
    cross_entropy,
    feature_place,
    fit,
    qualities,
)

FEATURES = len(import_engine().feature_names())


def made_up(prefixes: int, seed: int = 0) -> Offers:
    """Return offers in which the proposal with the highest count is mostly the right one; some prefixes have none."""
    chance = np.random.default_rng(seed)
    sizes = chance.integers(0, 6, prefixes)
    first = np.concatenate([[0], np.cumsum(sizes)])
    features = chance.normal(0, 1, (first[-1], FEATURES)).astype(np.float32)
    whole = np.zeros(first[-1], bool)
    for begin, end in pairwise(first):
        features[begin:end, :5] = chance.normal(0, 1, 5)
        if begin < end and chance.random() < 0.8:
            whole[begin + np.argmax(features[begin:end, feature_place("log_count")])] = True
    columns = features, first, whole, whole.copy(), np.zeros((len(whole), 4), np.float32)
    return Offers(*columns, np.zeros((prefixes, 2), np.float32))


def test_gradients_are_those_of_the_cross_entropy() -> None:
    weights, offers = RankerWeights.read(), made_up(40)
    gradients = _gradients(weights, _forward(weights, offers), offers)
    for name, gradient in gradients.items():
        value = getattr(weights, name).astype(np.float64)
        place = np.unravel_index(abs(gradient).argmax(), gradient.shape)
        step = np.zeros_like(value)
        step[place] = 1e-4
        up, down = (cross_entropy(replace(weights, **{name: value + sign * step}), offers) for sign in (1, -1))
        assert gradient[place] == pytest.approx((up - down) / 2e-4, rel=1e-2, abs=1e-6)


def test_probabilities_and_none_sum_to_one() -> None:
    offers = made_up(20)
    made = _forward(RankerWeights.read(), offers)
    sums = np.exp(made.log_none) + np.bincount(made.owner, np.exp(made.log_probabilities), len(offers))
    assert sums == pytest.approx(np.ones(20))


def test_fitting_makes_what_was_typed_likelier() -> None:
    prior, learned, held_out = RankerWeights.read(), made_up(2000), made_up(500, seed=1)
    assert cross_entropy(fit(prior, learned), held_out) < 0.8 * cross_entropy(prior, held_out)


def test_few_rows_stay_near_the_weights_that_ship() -> None:
    prior = RankerWeights.read()

    def distance(rows: int, closeness: float) -> float:
        fitted = fit(prior, made_up(rows), closeness=closeness)
        return float(abs(fitted.linear - prior.linear).sum())

    assert distance(5, 10.0) < 0.8 * distance(5, 0.0)
    assert distance(4000, 10.0) > 0.95 * distance(4000, 0.0)


def test_quality_rewards_the_better_order() -> None:
    offers = made_up(200)
    fitted = fit(RankerWeights.read(), offers)
    assert qualities(fitted, offers, 0.0).mean() > qualities(RankerWeights.read(), offers, 0.0).mean()


@pytest.mark.parametrize("better", [0, 3, 40])  # rows, of 200, whose answers are in a better order
def test_short_answers_come_first_only_if_more_than_chance_speaks_for_it(better: int) -> None:
    best = np.concatenate([np.ones(better), np.full(200 - better, 0.5)])
    assert _is_as_good(np.full(200, 0.5), best, 2.0) is (better < 40)
    assert _is_as_good(np.full(200, 0.5), best, 0.0) is (better == 0)


def test_the_least_length_penalty_is_taken_that_is_as_good_as_any() -> None:
    weights, offers = RankerWeights.read(), made_up(200)
    means = {penalty: qualities(weights, offers, penalty).mean() for penalty in _PENALTIES}
    best = max(means.values())
    assert means[_order(weights, offers, 0.0)] == best
    assert _order(weights, offers, 1e9) == 0.0


def test_offers_can_be_joined_and_parted() -> None:
    one, other = made_up(5), made_up(7, seed=1)
    both = join([one, other])
    assert len(both) == 12
    assert (both.part(5, 12).features == other.features).all()
    assert (both.part(5, 12).first == other.first).all()


def test_the_weights_that_ship_fit_the_engine() -> None:
    assert RankerWeights.read().linear.shape == (FEATURES,)


def test_the_weights_with_a_context_start_from_those_without() -> None:
    prior, session = RankerWeights.read(), RankerWeights.read(part="session")
    own = replace(prior, linear=prior.linear + 1, none=prior.none - 1)
    moved = own.moved(prior, session)
    assert moved.none == pytest.approx(session.none - 1, abs=1e-5)
    assert moved.linear == pytest.approx(session.linear + session.scale / prior.scale, rel=1e-4, abs=1e-4)
    assert moved.hidden == pytest.approx(session.hidden, abs=1e-5)
    unmoved = own.moved(prior, session, 0.0)
    assert cross_entropy(unmoved, made_up(50)) == pytest.approx(cross_entropy(own, made_up(50)), rel=1e-3)


def test_units_that_a_log_has_added_stay_beside_those_of_sessions() -> None:
    prior, session, offers = RankerWeights.read(), RankerWeights.read(part="session"), made_up(50)
    own = fit(prior.with_units(4, np.random.default_rng(1)), made_up(300))
    assert cross_entropy(own.moved(prior, session, 0.0), offers) == pytest.approx(cross_entropy(own, offers), rel=1e-3)
    assert len(own.moved(prior, session).output) == len(session.output) + 4


def test_other_scales_and_silent_units_change_no_probability() -> None:
    weights, offers = RankerWeights.read(), made_up(50)
    changed = weights.rescaled(weights.scale * 3).with_units(4, np.random.default_rng(0))
    assert cross_entropy(changed, offers) == pytest.approx(cross_entropy(weights, offers), rel=1e-3)


def test_few_rows_are_asked_at_more_prefixes_each_as_often_as_the_others() -> None:
    rows = [TypedRow("new york", ("boston",)), TypedRow("dvd player")]
    asked = asked_again(rows, 9)
    assert [each.query for each in asked].count("new york") == 5
    assert all(len(each.prefix) < len(each.query) for each in asked)
    assert {each.context for each in asked if each.query == "new york"} == {("boston",)}
    assert asked_again(rows, -3) == []
