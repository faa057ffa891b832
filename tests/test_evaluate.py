"""An evaluation counts every row, asks each query at its hashed prefix, and walks back from its end."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from halfword import Completion, SearchOptions
from halfword.core.errors import DatasetError, OptionError
from halfword.core.metrics import hashed_prefix_length
from halfword.core.options import DEFAULTS
from halfword.data.dataset import open_dataset
from halfword.evaluation.evaluate import EvaluateOptions, evaluate, sample_rows, sample_typed_rows
from halfword.search.filtered import Filtered
from halfword.search.model import Answer
from tests.conftest import COUNTS, MakePopular


class Scripted:
    """Offers what a table says for a prefix, and remembers what it was asked."""

    def __init__(self, table: dict[str, list[str]], always: list[str]) -> None:
        self.table = table
        self.always = always
        self.asked: list[str] = []
        self.options: set[SearchOptions] = set()

    def complete(self, prefix: str, options: SearchOptions = SearchOptions()) -> list[Completion]:  # noqa: B008
        self.asked.append(prefix)
        self.options.add(options)
        return [Completion(text, 0.0, "model") for text in self.table.get(prefix, self.always)]


def make_folder(path: Path, test: list[str], train: list[str]) -> Path:
    path.mkdir()
    for split, rows in (("train", train), ("valid", train), ("test", test)):
        (path / f"{split}.query.txt").write_text("\n".join(rows))
    return path


def test_popularity_on_a_log_that_can_be_counted_by_hand(text_folder: Path, make_popular: MakePopular) -> None:
    report = evaluate(make_popular(COUNTS), open_dataset(text_folder))
    assert report.rows == {"seen": 3, "unseen": 1, "all": 4}
    assert report.metrics["mrr"] == {"seen": 1.0, "unseen": 0.0, "all": 0.75}
    assert report.metrics["success"]["all"] == 0.75
    # "new york times" may lose 12 characters, "weather" 5; "new jersey" is never offered.
    assert report.metrics["mrl"] == {"seen": (12 + 5 + 5) / 3, "unseen": 0.0, "all": (12 + 5 + 5) / 4}
    assert report.metrics["normalised_mrl"]["seen"] == 1.0
    # Typing "n" or "w" is enough, and one key accepts.
    assert report.metrics["keystrokes_saved"]["seen"] == pytest.approx((12 / 14 + 5 / 7 + 5 / 7) / 3)
    assert report.mrr_at[0] == 0.75
    assert len(report.success_at) == 10


def test_repeated_rows_count_but_are_asked_once(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "data", test=["weather", "weather", "news"], train=["web"])
    completer = Scripted({}, ["weather"])
    report = evaluate(completer, open_dataset(folder), EvaluateOptions(walk=0))
    assert report.metrics["mrr"]["all"] == pytest.approx(2 / 3)
    assert sorted(completer.asked) == sorted(query[: hashed_prefix_length(query)] for query in ("weather", "news"))


def test_the_walk_ends_at_the_first_miss(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "data", test=["weather"], train=["web"])
    # Offered after losing 1, 2 and 4 characters, but not after 3: two are recoverable.
    table = {"weathe": ["weather"], "weath": ["x", "weather"], "wea": ["weather"]}
    report = evaluate(Scripted(table, []), open_dataset(folder))
    assert report.metrics["mrl"]["all"] == 2
    assert report.metrics["keystrokes_saved"]["all"] == pytest.approx((7 - 3 - 1) / 7)
    assert report.metrics["mrl"]["seen"] is None


def test_a_partial_match_recovers_whole_words(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "data", test=["new york times"], train=["web"])
    completer = Scripted({"new y": ["new york"], "new ": []}, ["new york times"])
    report = evaluate(completer, open_dataset(folder))
    assert report.metrics["mrl"]["all"] == len("ork times") - 1
    assert report.metrics["partial_mrl"]["all"] == len("ork times")


def test_a_walk_covers_the_first_rows_of_the_sample_only(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "data", test=["aaaa", "bbbb", "aaaa"], train=["web"])
    report = evaluate(Scripted({}, ["aaaa"]), open_dataset(folder), EvaluateOptions(walk=2))
    assert report.walked_rows == 2
    assert report.metrics["mrl"]["all"] == 1.0  # the third row is "aaaa" too, but was not to be walked


def test_figures_are_given_by_length(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "data", test=["abc", "abd", "abcde"], train=["web"])
    report = evaluate(Scripted({}, ["abc"]), open_dataset(folder))
    assert report.by_query_length[3] == {
        "rows": 2, "mrr": 0.5, "pmrr": 0.5, "success": 0.5, "walked_rows": 2, "mrl": 0.5, "partial_mrl": 0.5,
        "normalised_mrl": 0.5, "keystrokes_saved": pytest.approx(1 / 6),
    }  # fmt: skip
    assert sum(group["rows"] or 0 for group in report.by_prefix_length.values()) == 3


def test_a_sample_is_drawn_as_python_draws_it(text_folder: Path) -> None:
    completer = Scripted({}, [])
    evaluate(completer, open_dataset(text_folder), EvaluateOptions(sample=1, seed=3, walk=0))
    import random

    expected = random.Random(3).sample(["new york times", "weather", "weather", "new jersey"], 1)[0]
    assert completer.asked == [expected[: hashed_prefix_length(expected)]]


def test_paper_mode_asks_for_the_accident(text_folder: Path) -> None:
    completer = Scripted({}, [])
    evaluate(completer, open_dataset(text_folder), EvaluateOptions(paper=True))
    assert completer.options == {SearchOptions(echo=True)}


def test_a_sample_larger_than_the_split_is_refused(text_folder: Path) -> None:
    with pytest.raises(OptionError, match="sample must be at most 4"):
        evaluate(Scripted({}, []), open_dataset(text_folder), EvaluateOptions(sample=5))


@pytest.mark.parametrize("options", [{"sample": 0}, {"walk": -1}, {"count": 0}])
def test_options_out_of_range_are_refused(options: dict[str, int]) -> None:
    with pytest.raises(OptionError, match="must"):
        EvaluateOptions(**options)  # type: ignore[arg-type]


def test_rows_too_short_to_measure_are_refused(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "data", test=["ab"], train=["abc"])
    with pytest.raises(DatasetError, match="has no test query of 3 characters"):
        evaluate(Scripted({}, []), open_dataset(folder))


def session_folder(path: Path) -> Path:
    """A log in which one row repeats, one shares a word and one shares nothing with the rows before it."""
    return make_folder(
        path, test=["new york", "weather", "new york", "york hotels", "museum"], train=["new york", "weather"]
    )


class WithContext(Filtered):
    """Offers the last query of the context, and remembers all contexts."""

    def __init__(self) -> None:
        self.contexts: list[Sequence[str]] = []

    def complete_batch(
        self, prefixes: Sequence[str], options: SearchOptions = DEFAULTS, *, contexts: Any = (), **fields: Any
    ) -> list[Answer]:
        self.contexts += contexts
        return [
            Answer([Completion(context[-2], 0.0, "session")] if len(context) > 1 else [])
            for context in contexts or [()] * len(prefixes)
        ]


def test_a_row_is_asked_with_the_rows_before_it(tmp_path: Path) -> None:
    completer, data = WithContext(), open_dataset(session_folder(tmp_path / "data"))
    report = evaluate(completer, data, EvaluateOptions(walk=0, context=2))
    assert completer.contexts == [
        (),
        ("new york",),
        ("new york", "weather"),
        ("weather", "new york"),
        ("new york", "york hotels"),
    ]
    assert report.metrics["mrr"]["all"] == pytest.approx(1 / 5)


def test_the_gain_is_told_by_kind_of_row(tmp_path: Path) -> None:
    data = open_dataset(session_folder(tmp_path / "data"))
    table = evaluate(WithContext(), data, EvaluateOptions(walk=0, context=2)).context
    assert table is not None
    assert {kind: found["rows"] for kind, found in table.items()} == {
        "repeat": 1,
        "shares a word": 1,
        "neither": 3,
        "all": 5,
    }
    assert table["repeat"]["mrr"] == {"without": 0.0, "with_context": 1.0, "low": 1.0, "high": 1.0}
    assert table["neither"]["mrr"]["with_context"] == 0.0
    assert table["all"]["mrr"]["low"] < 0.2 < table["all"]["mrr"]["high"]


def test_a_sample_has_the_same_rows_with_and_without_context(text_folder: Path) -> None:
    data = open_dataset(text_folder)
    with_context = sample_typed_rows(data, EvaluateOptions(sample=3, context=10))
    assert [row.query for row in with_context] == sample_rows(data, EvaluateOptions(sample=3))


def test_what_takes_no_context_is_refused(text_folder: Path) -> None:
    with pytest.raises(OptionError, match="Scripted takes no context"):
        evaluate(Scripted({}, []), open_dataset(text_folder), EvaluateOptions(walk=0, context=3))
    with pytest.raises(OptionError, match="context must lie between 0 and 20, got 21"):
        EvaluateOptions(context=21)
