"""A log becomes a dataset: what is dropped, how it is split, and what is said when it cannot be done."""

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from halfword.core.errors import HalfwordError, LogError, OptionError, OutputError
from halfword.core.filters import Blocklist
from halfword.core.progress import Event
from halfword.core.text import PAPER, normalise_query
from halfword.data.dataset import Split, open_dataset
from halfword.data.funnel import Funnel
from halfword.data.options import ColumnNames, PrepareOptions, SplitBy, SplitOptions
from halfword.data.pipeline import prepare

# Ibis 12 calls what DuckDB 2 has renamed.
pytestmark = pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")

HEADER = "AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n"
ROWS_ONLY = SplitOptions(by=SplitBy.ROWS, valid_share=0, test_share=0)  # everything is train


def write_aol(path: Path, rows: Iterable[tuple[int, str, str]]) -> Path:
    path.write_text(HEADER + "".join(f"{user}\t{query}\t{time}\t\t\n" for user, query, time in rows), encoding="utf-8")
    return path


def write_lines(path: Path, lines: Iterable[str]) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def run(log: Path, **options: Any) -> tuple[Funnel, dict[str, dict[str, int]]]:
    """Prepare `log` beside itself and return the funnel and what the dataset then holds."""
    output = log.parent / "data"
    funnel = prepare([log], output, PrepareOptions(**options))
    dataset = open_dataset(output)
    return funnel, {split: dataset.counts(split) for split in Split if funnel.splits[split].rows}


def test_the_paper_profile_splits_by_its_dates_and_drops_repeats_and_short_queries(tmp_path: Path) -> None:
    log = write_aol(
        tmp_path / "log.txt",
        [
            (7, "New  York", "2006-03-01 00:00:00"),
            (7, "new york", "2006-03-01 00:00:09"),  # a repeat
            (7, "ab", "2006-03-01 00:00:10"),  # too short, so it does not part the repeats
            (7, "new york", "2006-03-01 00:00:11"),
            (8, "new york", "2006-03-01 00:00:05"),
            (7, "café", "2006-05-17 23:59:59"),
            (7, "new york", "2006-05-18 00:00:00"),
            (8, "weather", "2006-05-25 00:00:00"),
            (9, "new york", "2006-05-31 23:59:59"),
            (9, "february", "2006-02-28 23:59:59"),
        ],
    )
    funnel, counts = run(log, profile=PAPER)
    assert counts == {
        "train": {"new york": 2, "caf": 1},
        "valid": {"new york": 1},
        "test": {"new york": 1, "weather": 1},
    }
    assert (funnel.read, funnel.too_short, funnel.repeats, funnel.outside, funnel.seen) == (10, 1, 2, 1, 0.5)


def test_ties_of_time_keep_the_order_of_the_file(tmp_path: Path) -> None:
    log = write_aol(tmp_path / "log.txt", [(7, query, "2006-03-01") for query in ("aaa", "bbb", "aaa", "aaa")])
    assert run(log, split=ROWS_ONLY)[1] == {"train": {"aaa": 2, "bbb": 1}}


def test_rows_without_a_user_are_never_repeats(tmp_path: Path) -> None:
    log = write_lines(tmp_path / "log.tsv", ["user\tquery", "\tnew york", "\tnew york", "7\tnew york", "7\tnew york"])
    funnel, counts = run(log, split=ROWS_ONLY)
    assert (funnel.repeats, counts) == (1, {"train": {"new york": 3}})


def test_repeats_are_kept_where_asked(tmp_path: Path) -> None:
    log = write_aol(tmp_path / "log.txt", [(7, query, "2006-03-01") for query in ("aaa", "aaa", "bbb")])
    funnel, counts = run(log, split=ROWS_ONLY, keep_repeats=True)
    assert (funnel.repeats, counts) == (0, {"train": {"aaa": 2, "bbb": 1}})


def test_the_default_profile_keeps_unicode_and_takes_out_private_things(tmp_path: Path) -> None:
    lines = ["서울 날씨", "CAFÉ", "mail joe@example.com", "call 555-123-4567", "order 1234567", "747"]
    _, counts = run(write_lines(tmp_path / "log.txt", lines), split=ROWS_ONLY)
    assert counts["train"] == {"서울 날씨": 1, "café": 1, "mail": 1, "call": 1, "order": 1, "747": 1}


def test_the_last_of_the_time_becomes_valid_and_test(tmp_path: Path) -> None:
    log = write_lines(tmp_path / "log.tsv", [f"2018-07-{day:02}\tquery {day}" for day in range(20, 0, -1)])
    _, counts = run(log, split=SplitOptions(valid_share=0.1, test_share=0.05))
    assert {split: sorted(queries)[-2:] for split, queries in counts.items()} == {
        "train": ["query 8", "query 9"],
        "valid": ["query 18", "query 19"],
        "test": ["query 20"],
    }
    assert len(counts["train"]) == 17


def test_dates_of_the_callers_choice_have_an_end(tmp_path: Path) -> None:
    log = write_lines(tmp_path / "log.tsv", [f"2018-07-{day:02} 12:00\tquery {day}" for day in range(1, 10)])
    split = SplitOptions(dates=("2018-07-02", "2018-07-05", "2018-07-06"), until="2018-07-08")
    funnel, counts = run(log, split=split)
    assert [list(counts[split]) for split in Split] == [
        ["query 2", "query 3", "query 4"], ["query 5"], ["query 6", "query 7"]
    ]  # fmt: skip
    assert funnel.outside == 3


def test_without_times_runs_of_rows_stay_together_and_shares_are_met(tmp_path: Path) -> None:
    log = write_lines(tmp_path / "log.txt", [f"query {line // 20}" for line in range(1, 40_001)])
    funnel, counts = run(log, split=SplitOptions(valid_share=0.1, test_share=0.2))
    assert sum(map(len, counts.values())) == 2001  # no run is on two sides
    assert funnel.splits[Split.VALID].rows == pytest.approx(4_000, rel=0.2)
    assert funnel.splits[Split.TEST].rows == pytest.approx(8_000, rel=0.2)


def test_counts_are_divided_between_the_splits_without_loss_or_bias(tmp_path: Path) -> None:
    given = {f"query {number}": 1 + number % 7 for number in range(3_000)} | {"new york": 10_000}
    log = write_lines(tmp_path / "log.tsv", [f"{query}\t{count}" for query, count in given.items()])
    funnel, counts = run(log)
    assert sum((Counter(queries) for queries in counts.values()), Counter()) == Counter(given)
    assert counts["test"]["new york"] == pytest.approx(500, abs=1)
    assert funnel.splits[Split.TEST].rows == pytest.approx(0.05 * sum(given.values()), rel=0.1)
    assert funnel.typed == sum(given.values())


def test_what_is_learned_needs_enough_users_and_test_does_not(tmp_path: Path) -> None:
    rows = [(user, "new york", "2006-03-02") for user in (1, 2)] + [(1, q, "2006-03-03") for q in ("my name", "abc")]
    rows += [(1, "my name", "2006-03-04"), (3, "my name", "2006-05-26")]  # counted for test only, so no second user
    funnel, counts = run(write_aol(tmp_path / "log.txt", rows), profile=PAPER, min_users=2)
    assert counts == {"train": {"new york": 2}, "test": {"my name": 1}}
    assert funnel.rare == 3


def test_what_is_learned_needs_a_count(tmp_path: Path) -> None:
    log = write_lines(tmp_path / "log.txt", ["new york", "weather", "new york"])
    funnel, counts = run(log, split=ROWS_ONLY, min_count=2)
    assert (funnel.rare, counts) == (1, {"train": {"new york": 2}})


def test_short_queries_are_left_out_but_two_characters_of_chinese_japanese_or_korean_are_one(tmp_path: Path) -> None:
    log = write_lines(tmp_path / "log.txt", ["手机", "한국", "テレ", "手", "tv", "s3", "map", "é手"])
    funnel, counts = run(log, split=ROWS_ONLY)
    assert (set(counts["train"]), funnel.too_short) == ({"手机", "한국", "テレ", "map", "é手"}, 3)
    funnel, counts = run(log, split=ROWS_ONLY, min_length=2)
    assert (len(counts["train"]), funnel.too_short) == (8, 0)


def test_long_queries_are_left_out_and_counted(tmp_path: Path) -> None:
    log = write_lines(tmp_path / "log.txt", ["new york", "7" * 1_000_000, "x" * 501, "y" * 500, "ab"])
    funnel, counts = run(log, split=ROWS_ONLY)
    assert sorted(counts["train"]) == ["new york", "y" * 500]
    assert funnel.dropped() == {"too short": 1, "personal data alone": 1, "too long": 1}
    assert run(log, split=ROWS_ONLY, max_length=8)[0].too_long == 2


def test_blocked_phrases_match_whole_words_only(tmp_path: Path) -> None:
    block = write_lines(tmp_path / "block.list", ["BAD  Thing", "", "ugly"])
    lines = [
        "a bad thing",
        "bad things",
        "bad",
        "thing bad",
        "ugly duckling",
        "uglyduckling",
        "bad thing",
        "not bad bad thing",
    ]
    log = write_lines(tmp_path / "log.txt", lines)
    funnel, counts = run(log, split=ROWS_ONLY, blocklist=block)
    assert sorted(counts["train"]) == ["bad", "bad things", "thing bad", "uglyduckling"]
    assert funnel.blocked == 4


def test_the_blocklist_is_read_and_matched_as_the_server_does(tmp_path: Path) -> None:
    lines = ["# a comment", "*porn*", "sex", "!sex education"]
    block = write_lines(tmp_path / "block.list", lines)
    queries = ["freepornvideos", "sex education", "sex-shop", "essex", "sex education sex", "a comment"]
    queries += ["free po\u200brn", "s\xadex"]  # characters that nobody sees hide no word
    funnel, counts = run(write_lines(tmp_path / "log.txt", queries), split=ROWS_ONLY, blocklist=block)
    allowed = [query for query in queries if not Blocklist(lines[1:]).blocks(normalise_query(query))]
    assert sorted(counts["train"]) == sorted(allowed) == ["a comment", "essex", "sex education"]
    assert funnel.blocked == 5


def test_ctrl_c_while_queries_are_compared_with_the_blocklist_is_ctrl_c(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def press(*_: object) -> bool:
        raise KeyboardInterrupt

    monkeypatch.setattr(Blocklist, "blocks", press)
    with pytest.raises(KeyboardInterrupt):
        run(write_lines(tmp_path / "log.txt", ["new york"]), blocklist=write_lines(tmp_path / "block.list", ["sex"]))


def test_the_dataset_is_sorted_and_says_what_was_done(tmp_path: Path) -> None:
    log = write_lines(tmp_path / "log.txt", ["bbb", "aaa", "ccc", "ccc", "a\tb"] + ["ddd"] * 30)
    funnel, counts = run(log, split=ROWS_ONLY, min_count=1)
    assert list(counts["train"]) == ["ddd", "ccc", "aaa", "bbb"]
    about = json.loads((tmp_path / "data" / "dataset.json").read_text())
    assert about["profile"] == "default"
    assert about["source"] == ["log.txt"]
    assert about["rows"] == json.loads(json.dumps(funnel.as_dict()))
    assert about["rows"]["broken"] == {"wrong column count": 1}
    assert str(tmp_path) not in json.dumps(about)


def test_a_log_with_more_than_a_twentieth_broken_is_refused(tmp_path: Path) -> None:
    rows = [(7, f"query {number}", "2006-03-01") for number in range(95)]
    log = write_aol(tmp_path / "log.txt", rows + [(7, "new york", "sometime")] * 5)
    assert run(log, split=ROWS_ONLY)[0].broken == {"bad date": 5}
    log = write_aol(tmp_path / "log.txt", rows + [(7, "new york", "sometime")] * 6)
    with pytest.raises(LogError, match=r"log.txt, line 97: expected a time .*, found 'sometime'; 5.9% of the rows"):
        run(log)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"min_users": 2}, "--min-users needs users and log.txt has none"),
        ({"split": SplitOptions(by=SplitBy.TIME)}, "a split by time needs times and log.txt has none"),
        ({"profile": PAPER}, "a split by dates needs times and log.txt has none"),
        ({"blocklist": Path("no/such/file")}, "the blocklist cannot be read"),
        ({"min_count": 100}, r"nothing is left for train of 2 rows \(2 rare\)"),
        ({"columns": ColumnNames(query="words")}, "has no column 'words'"),
    ],
)
def test_what_the_log_cannot_answer_is_one_line(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    log = write_lines(tmp_path / "log.txt", ["new york", "weather"])
    with pytest.raises(HalfwordError, match=message) as caught:
        run(log, **options)
    assert "\n" not in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["log.txt"]


def test_a_log_with_times_and_no_usable_row_is_one_line(tmp_path: Path) -> None:
    log = write_lines(tmp_path / "log.tsv", ["2005-07-01\tn", "2005-07-02\tw"])
    with pytest.raises(LogError, match=r"nothing is left for train of 2 rows \(2 too short\)"):
        run(log)


def test_dates_that_miss_the_log_are_told_with_its_own(tmp_path: Path) -> None:
    log = write_lines(tmp_path / "log.tsv", ["2005-07-01\tnew york", "2005-07-02\tweather"])
    with pytest.raises(LogError, match="no row lies within the dates; the log runs from 2005-07-01 to 2005-07-02"):
        run(log, profile=PAPER)


@pytest.mark.parametrize(
    "options",
    [
        {"dates": ("2006-03-01", "2006-02-01", "2006-05-25")},
        {"dates": ("2006-03-01", "soon", "2006-05-25")},
        {"dates": ("2006-03-01", "2006-04-01", "2006-05-25"), "by": SplitBy.ROWS},
        {"by": SplitBy.DATES},
        {"until": "2006-06-01"},
        {"valid_share": 0.5, "test_share": 0.5},
        {"test_share": -0.1},
        {"test_share": float("nan")},
    ],
)
def test_splits_that_make_no_sense_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(OptionError):
        SplitOptions(**options)


@pytest.mark.parametrize("options", [{"min_users": 0}, {"min_count": 0}, {"max_length": 0}, {"min_length": 0}])
def test_limits_below_one_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(OptionError, match=r"must be [13] or more, got 0"):
        PrepareOptions(**options)


def test_an_empty_blocklist_leaves_everything_in(tmp_path: Path) -> None:
    log, block = write_lines(tmp_path / "log.txt", ["new york"]), write_lines(tmp_path / "block", [" "])
    funnel, counts = run(log, split=ROWS_ONLY, blocklist=block)
    assert (funnel.blocked, list(counts["train"])) == (0, ["new york"])


def test_kinds_of_harm_are_left_out_when_that_is_asked_for(tmp_path: Path) -> None:
    log = write_lines(tmp_path / "log.txt", ["new york", "free porn", "how to make meth"])
    assert run(log, split=ROWS_ONLY)[0].blocked == 0
    assert run(log, split=ROWS_ONLY, block=("sexual",))[0].blocked == 1
    assert run(log, split=ROWS_ONLY, block=("all",))[0].blocked == 2
    with pytest.raises(OptionError, match="category 'sex' is unknown"):
        run(log, split=ROWS_ONLY, block=("sex",))


def test_a_folder_of_other_things_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    write_lines(tmp_path / "data" / "thesis.txt", ["years of work"])
    with pytest.raises(OutputError, match="holds other files than a dataset"):
        run(write_lines(tmp_path / "log.txt", ["new york"]))


def test_a_failure_leaves_the_old_dataset_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = write_lines(tmp_path / "log.txt", ["new york"])
    before = run(log, split=ROWS_ONLY)

    def fail(*_: object) -> None:
        raise KeyboardInterrupt

    write_lines(log, ["weather"])
    monkeypatch.setattr("halfword.data.pipeline._batches", fail)
    with pytest.raises(KeyboardInterrupt):
        run(log, split=ROWS_ONLY)
    assert open_dataset(tmp_path / "data").counts(Split.TRAIN) == before[1]["train"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "log.txt"]


def test_progress_tells_the_stages_in_their_order(tmp_path: Path) -> None:
    stages: dict[str, Event] = {}
    log = write_lines(tmp_path / "log.txt", ["new york"])
    options = PrepareOptions(split=ROWS_ONLY)
    prepare([log], tmp_path / "data", options, lambda event: stages.update({event.stage: event}))
    assert list(stages) == ["reading", "counting", "writing"]
    assert stages["reading"].done == stages["reading"].total == log.stat().st_size
