"""Intervals and tests agree with what one would do by hand, slowly."""

import math

import numpy as np
import pytest

from halfword.evaluation.reproduce.statistics import Bootstrap, difference, estimate, holm, mean


def draw_by_draw(values: np.ndarray, weights: np.ndarray, bootstrap: Bootstrap) -> np.ndarray:
    """Draw queries, and take the mean over all their rows."""
    chance = np.random.default_rng(bootstrap.seed)
    means = []
    for _ in range(bootstrap.draws):
        drawn = chance.integers(0, len(values), len(values))
        means.append(np.average(values[drawn], weights=weights[drawn]))
    return np.array(means)


@pytest.fixture
def chance() -> np.random.Generator:
    return np.random.default_rng(1)


def test_means_are_those_of_drawing_queries_one_by_one(chance: np.random.Generator) -> None:
    values, weights = chance.random((50, 3)), chance.integers(1, 6, 50).astype(float)
    bootstrap = Bootstrap(draws=40, seed=7)
    found = bootstrap.means(values, weights[:, None])
    assert found.shape == (40, 3, 1)
    for row in range(3):
        assert found[:, row, 0] == pytest.approx(draw_by_draw(values[:, row], weights, bootstrap))


def test_groups_count_only_their_queries(chance: np.random.Generator) -> None:
    values = chance.random((30, 1))
    seen = (np.arange(30) < 12).astype(float)
    found = Bootstrap(draws=20).means(values, np.stack([seen, 1 - seen, np.ones(30)], axis=1))
    alone = Bootstrap(draws=20).means(values, seen[:, None])
    assert found[:, 0, 0] == pytest.approx(alone[:, 0, 0])
    assert np.isnan(Bootstrap(draws=3).means(values, np.zeros((30, 1)))).all()


def test_an_interval_holds_the_truth_as_often_as_it_says(chance: np.random.Generator) -> None:
    hits = 0
    for _ in range(200):
        values = (chance.random((150, 1)) < 0.3).astype(float)
        drawn = Bootstrap(draws=300).means(values, np.ones((150, 1)))[:, 0, 0]
        found = estimate(float(values.mean()), drawn)
        assert found.low is not None
        assert found.high is not None
        hits += found.low <= 0.3 <= found.high
    assert 0.89 <= hits / 200 <= 0.99


def test_repeats_of_a_query_are_no_further_evidence(chance: np.random.Generator) -> None:
    values = chance.random(100)
    once = Bootstrap().means(values[:, None], np.ones((100, 1)))[:, 0, 0]
    often = Bootstrap().means(values[:, None], np.full((100, 1), 50.0))[:, 0, 0]
    assert often == pytest.approx(once)


def test_p_agrees_with_a_test_that_swaps_the_two_systems(chance: np.random.Generator) -> None:
    ours, theirs = chance.random(300), chance.random(300)
    for shift in (0.0, 0.03, 0.06):
        apart = ours + shift - theirs
        signs = chance.choice([-1, 1], (20_000, 300))
        exact = float((np.abs(signs @ apart) >= abs(apart.sum())).mean())
        drawn = Bootstrap().means(np.stack([ours + shift, theirs], axis=1), np.ones((300, 1)))[:, :, 0]
        found = difference(float(apart.mean()), drawn[:, 0] - drawn[:, 1])
        assert found.p == pytest.approx(exact, abs=0.03)
        assert found.low < found.value < found.high


def test_equal_rows_do_not_differ() -> None:
    found = difference(0.0, np.zeros(10))
    assert (found.value, found.low, found.high, found.p) == (0.0, 0.0, 0.0, 1.0)


def test_holm_raises_the_least_p_most() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([]) == []
    assert max(holm([0.9, 0.8])) == 1.0


def test_a_mean_of_nothing_is_none() -> None:
    assert mean(np.array([1.0]), np.array([0.0])) is None
    assert math.isclose(mean(np.array([1.0, 0.0]), np.array([1.0, 3.0])) or 0, 0.25)
