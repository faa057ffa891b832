"""How likely a hypothesis must be for the network to read it."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from halfword.core.model_file import read_header
from halfword.core.policy import Policy
from halfword.data.sessions import TypedRow
from halfword.training import network_reading
from halfword.training.network_reading import CHOICES, fit_network_reading
from tests.toy import SHOWS_ALL, Toy, write_toy

pytestmark = pytest.mark.engine

PARTS = ("popular", "ngram", "network")
ROWS = [TypedRow(f"{one}{two} {one}ab") for one in "abcd" for two in "abcd"] * 20


def fitted(path: Path, rows: list[TypedRow], network_weight: float) -> float:
    def write(policy: Policy) -> Path:
        weights = {"mixture.network_weight": [network_weight] * 32}
        return write_toy(path, Toy(parts=PARTS, spread=0.7, policy=policy, arrays=weights))

    return fit_network_reading(write, SHOWS_ALL, rows).network_min_probability


def test_a_network_that_says_nothing_need_not_read(tmp_path: Path) -> None:
    assert fitted(tmp_path / "toy.halfword", ROWS, network_weight=0.0) == CHOICES[0]


def test_few_rows_decide_nothing(tmp_path: Path) -> None:
    few = fitted(tmp_path / "toy.halfword", ROWS[:20], network_weight=0.0)
    assert few == SHOWS_ALL.network_min_probability


@pytest.mark.parametrize(
    ("lost", "share"),
    [
        ({}, 0.05),
        ({0.05: (0.01, 0.0)}, 0.02),  # of MRR
        ({0.05: (0.0, 0.01)}, 0.02),  # of the rows among the answers
        ({0.05: (0.0, 0.0002)}, 0.05),
        (dict.fromkeys(CHOICES, (0.01, 0.01)), 0.0),
    ],
)
def test_the_largest_share_is_taken_that_costs_next_to_nothing(
    lost: dict[float, tuple[float, float]], share: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def quality(path: Path, _rows: list[str]) -> np.ndarray:
        policy = read_header(path).policy
        return np.array([0.4, 0.5]) - lost.get(policy.network_min_probability, (0.0, 0.0))

    monkeypatch.setattr(network_reading, "_quality", quality)
    assert fitted(tmp_path / "toy.halfword", ROWS, network_weight=0.5) == share


def test_the_rest_of_the_policy_stays(tmp_path: Path) -> None:
    policy = replace(SHOWS_ALL, page=7.0)
    found = fit_network_reading(lambda each: write_toy(tmp_path / "t", Toy(parts=PARTS, policy=each)), policy, ROWS)
    assert replace(found, network_min_probability=policy.network_min_probability) == policy
