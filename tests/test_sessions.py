"""A dataset keeps who searched what after what, for logs that know it."""

from collections import Counter
from pathlib import Path

import pytest

from halfword.core.errors import DatasetError, OptionError
from halfword.data.dataset import SESSIONS, Dataset, Split, open_dataset
from halfword.data.options import PrepareOptions, SplitBy, SplitOptions
from halfword.data.pipeline import prepare
from halfword.data.sessions import TypedRow
from halfword.evaluation.evaluate import EvaluateOptions, sample_typed_rows
from halfword.training.mistyped import steps_of
from tests.test_prepare import write_aol, write_lines

pytestmark = pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")

ALL_TRAIN = SplitOptions(by=SplitBy.ROWS, valid_share=0, test_share=0)
LOG = [
    (7, "flights to paris", "2006-03-01 10:00:00"),
    (8, "weather", "2006-03-01 10:00:30"),
    (7, "paris hotels", "2006-03-01 10:01:00"),
    (7, "paris hotels", "2006-03-01 10:02:00"),  # a repeat
    (7, "flights to paris", "2006-03-01 10:31:00"),
    (7, "news", "2006-03-01 11:01:01"),  # after a pause
]


def prepared(log: Path, options: PrepareOptions | None = None) -> Dataset:
    prepare([log], log.parent / "data", options or PrepareOptions(split=ALL_TRAIN))
    return open_dataset(log.parent / "data")


def test_a_session_is_one_users_and_ends_with_a_pause(tmp_path: Path) -> None:
    data = prepared(write_aol(tmp_path / "log.txt", LOG))
    assert data.sessions(Split.TRAIN) == [
        ["flights to paris", "paris hotels", "flights to paris"],
        ["news"],
        ["weather"],
    ]
    assert data.typed_rows(Split.TRAIN, 1)[2] == TypedRow("flights to paris", ("paris hotels",))
    assert Counter(row.query for row in data.typed_rows(Split.TRAIN)) == Counter(data.rows(Split.TRAIN))


def test_steps_from_query_to_query_stay_in_a_session(tmp_path: Path) -> None:
    data = prepared(write_aol(tmp_path / "log.txt", LOG))
    assert list(steps_of(data, data.table(Split.TRAIN))) == [
        ("flights to paris", "paris hotels"),
        ("paris hotels", "flights to paris"),
    ]


def test_the_pause_can_be_chosen(tmp_path: Path) -> None:
    log = write_aol(tmp_path / "log.txt", LOG)
    data = prepared(log, PrepareOptions(split=ALL_TRAIN, session_gap=60))
    assert [len(session) for session in data.sessions(Split.TRAIN)] == [4, 1]
    with pytest.raises(OptionError, match="session_gap must be more than 0 minutes, got 0"):
        PrepareOptions(session_gap=0)


def test_without_users_the_log_is_one_stream(tmp_path: Path) -> None:
    rows = [f"{time}\t{query}" for _, query, time in reversed(LOG)]
    data = prepared(write_lines(tmp_path / "log.tsv", ["time\tquery", *rows]))
    assert data.sessions(Split.TRAIN)[0][:3] == ["flights to paris", "weather", "paris hotels"]


def test_rows_of_nobody_stand_alone(tmp_path: Path) -> None:
    rows = [f"{user}\t{query}\t{time}" for user, query, time in [("", *LOG[0][1:]), ("", *LOG[1][1:]), *LOG[2:3]]]
    data = prepared(write_lines(tmp_path / "log.tsv", ["user\tquery\ttime", *rows]))
    assert sorted(len(session) for session in data.sessions(Split.TRAIN)) == [1, 1, 1]


def test_sessions_do_not_cross_splits(tmp_path: Path) -> None:
    dates = SplitOptions(dates=("2006-03-01", "2006-03-01 10:01:00", "2006-03-01 10:31:00"))
    data = prepared(write_aol(tmp_path / "log.txt", LOG), PrepareOptions(split=dates))
    found = {split: data.sessions(split) for split in Split}
    assert found == {
        "train": [["flights to paris"], ["weather"]],
        "valid": [["paris hotels"]],
        "test": [["flights to paris"], ["news"]],
    }


def test_what_few_people_typed_is_in_no_session(tmp_path: Path) -> None:
    log = write_aol(
        tmp_path / "log.txt", [*LOG, (9, "news", "2006-03-01 10:00:00"), (9, "weather", "2006-03-01 10:01:00")]
    )
    data = prepared(log, PrepareOptions(split=ALL_TRAIN, min_users=2))
    assert data.sessions(Split.TRAIN) == [["news"], ["weather"], ["news", "weather"]]


def test_sessions_are_left_out_on_request_and_where_nothing_is_known(tmp_path: Path) -> None:
    left_out = prepared(write_aol(tmp_path / "log.txt", LOG), PrepareOptions(split=ALL_TRAIN, no_sessions=True))
    assert not (left_out.path / SESSIONS).exists()
    assert left_out.sessions(Split.TRAIN) == []
    assert set(left_out.typed_rows(Split.TRAIN)) == {TypedRow(query) for _, query, _ in LOG}
    lines = prepared(write_lines(tmp_path / "log.tsv", ["query\tcount", "weather\t3", "news\t2"]))
    assert lines.sessions(Split.TRAIN) == []


def test_plain_files_are_one_session_unless_they_are_sorted(tmp_path: Path) -> None:
    (tmp_path / "train.query.txt").write_text("weather\nnews\nweather\n")
    (tmp_path / "test.query.txt").write_text("news\nweather\n")
    data = open_dataset(tmp_path)
    assert data.sessions(Split.TRAIN) == [["weather", "news", "weather"]]
    assert data.sessions(Split.TEST) == []
    with pytest.raises(DatasetError, match="holds no sessions"):
        sample_typed_rows(data, EvaluateOptions(context=10))
