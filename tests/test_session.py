"""What the session's earlier queries bring: copies, features that are 0 without them, and bounded work."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfword import load
from halfword.core.context import normalise_context
from halfword.core.errors import TextError
from halfword.core.filters import Blocklist
from halfword.core.options import DEFAULTS
from halfword.search.filtered import Filtered
from halfword.search.model import Model, engine_options, import_engine
from halfword.search.reference_session import PlainSession
from halfword.training.ranker import RankerWeights
from tests.toy import COUNTS, Toy, write_toy

pytestmark = pytest.mark.engine

NAMES = import_engine().feature_names()
SESSION = [place for place, name in enumerate(NAMES) if name.startswith("session_")]
PARTS = ("popular", "ngram")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Model:
    """A model that trusts the session."""
    trusting = RankerWeights.read(part="session").linear
    for name in ("session_repeat", "session_copied_words"):
        trusting[NAMES.index(name)] = 20.0
    toy = Toy(parts=PARTS, arrays={"ranker.session.linear": trusting.tolist()})
    return load(write_toy(tmp_path_factory.mktemp("session") / "toy.halfword", toy), cache=False)


def proposed(model: Model, prefix: str, context: list[str]) -> dict[str, dict[str, float]]:
    """Return what the sources propose, each with its features."""
    texts, values, *_ = model._engine.propose_batch([prefix], engine_options(DEFAULTS), 1, [context])[0]
    rows = np.frombuffer(values, np.float32).reshape(len(texts), -1)
    return {text: dict(zip(NAMES, row, strict=True)) for text, row in zip(texts, rows, strict=True)}


@pytest.mark.parametrize(
    ("prefix", "copied"),
    [
        ("fli", ["flights to paris"]),  # a whole query
        ("cheap fli", ["cheap flights to paris", "cheap flights"]),  # its end, and the word alone
        ("to p", ["to paris"]),
        ("cheap ", ["cheap flights to paris", "cheap flights", "cheap to paris", "cheap paris"]),
        ("hotels", ["hotels flights to paris", "hotels to paris", "hotels paris"]),  # the last query behind the word
        ("", ["flights to paris"]),
    ],
)
def test_what_can_be_copied_is_proposed(prefix: str, copied: list[str], model: Model) -> None:
    assert set(copied) <= set(proposed(model, prefix, ["flights to paris"]))


def test_nothing_is_copied_that_does_not_go_on_from_the_prefix(model: Model) -> None:
    for prefix in ("flights to paris", "x", "cheap x"):
        texts = proposed(model, prefix, ["flights to paris"])
        assert all(text.startswith(prefix) and text != prefix for text in texts)


def test_what_others_typed_after_the_last_query_is_proposed(model: Model) -> None:
    assert proposed(model, "", ["cab"])["cab d"]["log_count"] == pytest.approx(np.log1p(COUNTS["cab d"]))


def test_copies_say_that_they_are(model: Model) -> None:
    sources = {each.text: each.source for each in model.complete("ab", context=["ab xyz", "xyz", "ab cab"], count=50)}
    assert sources["ab xyz"] == sources["ab cab"] == "session"
    assert sources["abc"] in ("popular", "both")


def test_an_empty_prefix_predicts_the_next_query(model: Model) -> None:
    assert "never typed before" in model.complete("", context=["never typed before"], count=100).texts


def test_without_a_context_all_its_features_are_zero(model: Model) -> None:
    for features in proposed(model, "ab", []).values():
        assert not any(features[NAMES[place]] for place in SESSION)
    assert all(any(row[NAMES[place]] for place in SESSION) for row in proposed(model, "ab", ["d"]).values())


def test_an_empty_context_changes_nothing(model: Model) -> None:
    assert model.complete("ab", context=["", "  "]) == model.complete("ab")


def test_a_session_says_how_often_and_when(model: Model) -> None:
    row = proposed(model, "ab", ["ab cab", "da", "ab cab", "d"])["ab cab"]
    assert row["session_repeat"] == 1
    assert row["session_repeat_recency"] == pytest.approx(1 / 2)
    assert row["session_log_repeats"] == pytest.approx(np.log(2))
    assert row["session_overlap"] == row["session_shared_start"] == row["session_tail"] == 1


def test_only_the_last_queries_count(model: Model) -> None:
    old = [f"ab old{number}" for number in range(10)]
    assert proposed(model, "ab", [*old, *["d"] * 20]) == proposed(model, "ab", ["d"] * 20)
    assert proposed(model, "ab", ["ab x" + "y" * 4100, "d"]) == proposed(model, "ab", ["d"])


def test_copies_are_limited(model: Model) -> None:
    context = [" ".join(f"w{number}x{word}" for word in range(20)) for number in range(20)]
    assert len(PlainSession(context).copies("a ")) == 60
    assert len(proposed(model, "a ", context)) < 100


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=30), st.lists(st.text(max_size=40), max_size=25))
def test_whatever_arrives_is_answered(model: Model, prefix: str, context: list[str]) -> None:
    for completion in model.complete(prefix, context=context):
        assert np.isfinite(completion.score)


def test_a_context_is_normalised_like_a_query(model: Model) -> None:
    assert normalise_context([" Flights  TO Paris", "", "x" * 501]) == ["flights to paris"]
    assert model.complete("ab", context=["AB  Cab "]) == model.complete("ab", context=["ab cab"])


def test_a_batch_takes_one_context_for_each_prefix(model: Model) -> None:
    contexts = [["ab cab"], [], ["d"]]
    answers = model.complete_batch(["ab", "ab", "d"], contexts=contexts)
    expected = [model.complete(prefix, context=each) for prefix, each in zip(["ab", "ab", "d"], contexts, strict=True)]
    assert answers == expected
    with pytest.raises(TextError, match="one context for each prefix was expected, got 1 for 2 prefixes"):
        model.complete_batch(["ab", "d"], contexts=[["ab"]])


@pytest.mark.parametrize(
    ("context", "message"),
    [("new york", "a context is a list of queries, got one text 'new york'"), ([3], "must be text, got 3")],
)
def test_a_wrong_context_is_refused(context: Any, message: str, model: Model) -> None:
    with pytest.raises(TextError, match=message):
        model.complete("ab", context=context)


def test_what_is_blocked_is_not_copied_either(model: Model) -> None:
    filtered = Filtered(model, Blocklist(["xyz"]))
    found = filtered.complete("ab", context=["ab xyz", "ab cab"], count=100)
    assert "ab cab" in found.texts
    assert "ab xyz" not in found.texts
    assert filtered.complete_batch(["ab"], contexts=[["ab xyz", "ab cab"]], count=100) == [found]
