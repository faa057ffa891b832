"""The popularity index answers exactly as looking at every query would."""

import math
import re
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from halfword import Completion, SearchOptions, load
from halfword.core.card import Card
from halfword.core.errors import ModelFileError, OptionError, TextError
from halfword.core.text import PAPER
from halfword.search.reference import PlainPopular
from tests.conftest import COUNTS, MakeModel, MakePopular

pytestmark = pytest.mark.engine

# Few letters make shared beginnings and ties; the rest crosses every length of UTF-8.
QUERIES = st.text(alphabet="ab é한م😀", min_size=1, max_size=12).map(lambda text: " ".join(text.split())).filter(bool)
TABLES = st.dictionaries(QUERIES, st.integers(1, 5) | st.integers(1, 2**32 - 1), max_size=150)


def texts(completions: Sequence[Completion]) -> list[str]:
    return [completion.text for completion in completions]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(counts=TABLES, prefix=QUERIES | st.just(""), space=st.booleans(), count=st.integers(1, 20), echo=st.booleans())
def test_it_equals_the_brute_force(
    counts: dict[str, int], prefix: str, space: bool, count: int, echo: bool, make_popular: MakePopular
) -> None:
    popular, plain = make_popular(counts), PlainPopular(counts)
    for typed in {prefix, prefix + " " * space, *(query[: len(prefix)] for query in counts)}:
        options = SearchOptions(count=count, echo=echo)
        found, expected = popular.complete(typed, options), plain.complete(typed, options)
        assert [(each.text, each.source) for each in found] == [(each.text, each.source) for each in expected]
        assert [each.score for each in found] == pytest.approx([each.score for each in expected])


def test_every_prefix_of_a_large_index_equals_the_brute_force(make_popular: MakePopular) -> None:
    queries = [f"query {number * 7919 % 5000:04} {'x' * (number % 300)}".strip() for number in range(5000)]
    counts = {query: number * 7 % 13 * 40 + 1 for number, query in enumerate(queries)}  # some do not fit a byte
    popular, plain = make_popular(counts), PlainPopular(counts)
    assert popular.queries == len(counts)
    for prefix in ["", "q", "query ", "query 1", "query 12", "query 123", "query 0001 x", "query 4999", "r", "a"]:
        for count in (1, 10, 1000):
            options = SearchOptions(count=count)
            assert texts(popular.complete(prefix, options)) == texts(plain.complete(prefix, options))


def test_higher_counts_come_first_and_ties_go_by_text(make_popular: MakePopular) -> None:
    assert texts(make_popular(COUNTS).complete("")) == [
        "new york times", "new york", "news", "weather", "web", "new", "weather in new york"
    ]  # fmt: skip


def test_scores_are_log_probabilities_given_the_prefix(make_popular: MakePopular) -> None:
    best = make_popular(COUNTS).complete("new y", count=1)[0]
    assert (best.text, best.source) == ("new york times", "popular")
    assert best.score == pytest.approx(math.log(7 / 12))
    assert best.probability == pytest.approx(7 / 12)


def test_the_prefix_itself_is_not_offered(make_popular: MakePopular) -> None:
    popular = make_popular(COUNTS)
    assert "new york" not in texts(popular.complete("new york"))
    assert texts(popular.complete("new york ")) == ["new york times"]
    assert texts(popular.complete("new york ", echo=True)) == ["new york times", "new york"]


def test_a_prefix_nobody_typed_has_no_completion(make_popular: MakePopular) -> None:
    assert make_popular(COUNTS).complete("zebra") == []


def test_an_empty_index_completes_nothing(make_popular: MakePopular) -> None:
    assert make_popular({}).complete("") == []


@pytest.mark.parametrize(
    ("query", "typed"),
    [("서울 날씨", "서"), ("東京 天気", "東京"), ("طقس القاهرة", "طقس "), ("👩‍🚀 costume", "👩"), ("straße", "STRASS")],
)
def test_prefixes_are_code_points_of_any_script(query: str, typed: str, make_popular: MakePopular) -> None:
    found = texts(make_popular({query: 2, "other": 1}).complete(typed, fold=False))
    assert found == ([query] if query.startswith(typed) else [])


def test_prefixes_are_normalised_as_queries_are(make_popular: MakePopular) -> None:
    popular = make_popular(COUNTS)
    assert popular.complete("  NEW   Yo") == popular.complete("new yo")
    assert popular.complete("ｎｅｗ　yo") == popular.complete("new yo")
    assert texts(make_popular({"caf noir": 1}, PAPER).complete("Café")) == ["caf noir"]


def test_a_batch_gives_what_single_calls_give(make_popular: MakePopular) -> None:
    popular = make_popular(COUNTS)
    prefixes = ["", "new", "new ", "we", "zebra"] * 50
    assert popular.complete_batch(prefixes, count=3) == [popular.complete(prefix, count=3) for prefix in prefixes]
    assert popular.complete_batch([]) == []


def test_threads_share_one_index(make_popular: MakePopular) -> None:
    popular = make_popular(COUNTS)
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(popular.complete, ["new"] * 400))
    assert all(answer == popular.complete("new") for answer in answers)


def test_a_completer_outlives_the_name_it_was_loaded_under(make_model: MakeModel) -> None:
    path = make_model(COUNTS)
    popular = load(path)
    path.unlink()
    assert texts(popular.complete("we", count=1)) == ["weather"]


@pytest.mark.parametrize("count", [0, -1, 1001])
def test_a_count_out_of_range_is_refused(count: int, make_popular: MakePopular) -> None:
    with pytest.raises(OptionError, match="count must lie between 1 and 1000"):
        make_popular(COUNTS).complete("new", count=count)


def test_an_unknown_option_is_named(make_popular: MakePopular) -> None:
    with pytest.raises(OptionError, match="unknown option cuont; the options are: count, beam"):
        make_popular(COUNTS).complete("new", cuont=3)  # type: ignore[call-arg]
    with pytest.raises(OptionError, match="unknown option cuont; the options are: count, beam"):
        make_popular(COUNTS).complete("new", cuont=[3])  # type: ignore[call-arg]


@pytest.mark.parametrize(("count", "found"), [([3], "[3]"), (True, "True"), (3.0, "3.0")])
def test_a_count_that_is_no_number_is_refused_also_after_one_that_is_equal(
    count: Any, found: str, make_popular: MakePopular
) -> None:
    popular = make_popular(COUNTS)
    assert popular.complete("new", count=3)
    assert popular.complete("new", count=1)
    with pytest.raises(OptionError, match=re.escape(f"count must be a whole number, got {found}")):
        popular.complete("new", count=count)


def test_half_a_surrogate_pair_is_refused(make_popular: MakePopular) -> None:
    with pytest.raises(TextError, match="character 3 is half of a surrogate pair"):
        make_popular(COUNTS).complete("ne\ud83d")


def test_a_model_of_no_part_cannot_complete(tmp_path: Path) -> None:
    from halfword.core.model_file import write_model

    path = tmp_path / "empty.halfword"
    write_model(path, {}, Card(profile="default"))
    with pytest.raises(ModelFileError, match="has no part that can complete"):
        load(path)


def test_completing_needs_nothing_but_the_standard_library(make_model: MakeModel) -> None:
    heavy = "{'numpy', 'pyarrow', 'ibis', 'duckdb', 'torch', 'typer', 'rich', 'asyncio'}"
    program = (
        f"import sys, halfword; halfword.load({str(make_model(COUNTS))!r}).complete('new');"
        f"print({heavy} & set(sys.modules))"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "set()"
    assert result.stderr == ""
