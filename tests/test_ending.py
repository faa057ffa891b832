"""The cost of ending is the likeliest way to an end, scaled down and held within its limits."""

import math

import numpy as np
import pytest

from halfword.training.ending import ending_costs
from halfword.training.kneser_ney import Corpus, count_ngrams

BEGIN, END = 0, 1


def costs_of(queries: list[tuple[list[int], int]]) -> np.ndarray:
    corpus = Corpus.of(queries, vocabulary=6, begin=BEGIN, end=END)
    return ending_costs(count_ngrams(corpus, 2)[1], 6, END)


def test_a_piece_that_mostly_goes_on_is_far_from_an_end() -> None:
    costs = costs_of([([2], 1), ([2, 3], 99)])  # 3 always ends; 2 ends once in a hundred times, else it goes on to 3
    assert costs[3] == 1.0  # the least
    assert costs[2] == 1.0  # by way of 3
    far = costs_of([([2, 2, 2, 2, 2, 2, 2, 2, 2, 2], 1)])
    assert far[2] == pytest.approx(0.8 * math.log(10))


def test_the_way_may_lead_over_several_pieces() -> None:
    costs = costs_of([([2, 3, 4], 1), ([2, 5], 19), ([5] * 100, 19)])  # 5 hardly ever ends
    assert costs[2] == pytest.approx(0.8 * math.log(20))  # one in twenty goes on to 3, and surely to 4 and the end


def test_a_piece_that_never_ends_costs_the_most() -> None:
    assert costs_of([([2], 3)])[5] == pytest.approx(0.8 * 12.0)
