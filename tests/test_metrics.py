"""The metrics, on cases small enough to count on the fingers."""

from hashlib import md5

import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfword.core import metrics


@given(st.text(min_size=3, max_size=50, alphabet=st.characters(exclude_categories=["Cs"])))
def test_a_hashed_prefix_leaves_something_to_complete(query: str) -> None:
    length = metrics.hashed_prefix_length(query)
    assert 2 <= length < len(query)
    assert length == 2 + int.from_bytes(md5((query + "0").encode()).digest(), "big") % (len(query) - 2)


def test_a_query_of_three_characters_is_asked_at_two() -> None:
    assert metrics.hashed_prefix_length("web") == 2


def test_a_partial_match_ends_at_a_word() -> None:
    assert metrics.partial_rank("new york times", ["new yor", "new york times square", "new"]) == 3
    assert metrics.partial_rank("new york times", ["new york times", "new york"]) == 1
    assert metrics.partial_rank("new york times", ["times"]) is None


@pytest.mark.parametrize(("typed", "share"), [(None, 0.0), (1, 0.5), (3, 0.0), (0, 0.75)])
def test_accepting_costs_one_key(typed: int | None, share: float) -> None:
    assert metrics.share_of_keystrokes_saved("news", typed) == share
