"""`halfword live` changes a journal, and tells what is in it."""

import json
import subprocess
import sys
from pathlib import Path

from halfword.core.journal import Writer
from halfword.core.live import Change, Kind
from halfword.core.live_report import report_of
from halfword.core.live_state import compact, read_summed


def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, "-m", "halfword", "live", *arguments], capture_output=True, text=True)


def test_changes_are_listed_exported_reported_and_compacted(tmp_path: Path) -> None:
    journal = str(tmp_path / "m.live")
    for arguments in (
        ("add", journal, "Zebra", "zoo", "--count", "3"),
        ("boost", journal, "news", "--count", "2"),
        ("weigh", journal, "web", "--count", "9"),
        ("pin", journal, "newt", "--prefix", "ne", "--position", "2"),
        ("remove", journal, "john s", "--beginning"),
        ("remove", journal, "gone"),
        ("allow", journal, "gone"),
    ):
        done = run(*arguments)
        assert done.returncode == 0, done.stderr
    listed = run("list", journal).stdout
    assert listed.splitlines() == [
        "typed\tzebra\t3", "typed\tzoo\t3", "weight\tweb\t9", "boost\tnews\t2",
        "removed_beginning\tjohn s\t0", "pin\tnewt\t2\tne",
    ]  # fmt: skip
    assert "compact" not in run("compact", journal).stdout
    assert run("list", journal).stdout == listed
    assert json.loads(run("export", journal).stdout.splitlines()[0]) == {
        "change": "typed",
        "text": "zebra",
        "number": 3,
    }


def test_mistakes_are_one_clear_line(tmp_path: Path) -> None:
    journal = str(tmp_path / "m.live")
    (tmp_path / "notes").write_text("dear diary")
    for arguments, said in (
        (("add", journal), "needs a query"),
        (("list", journal), "there is no such journal"),
        (("add", journal, " "), "holds no text"),
        (("add", str(tmp_path / "notes"), "a"), "no journal"),
        (("list", journal, "a"), "takes no query"),
        (("boost", journal, "a"), "needs --count"),
    ):
        done = run(*arguments)
        assert done.returncode in (1, 2)
        assert said in done.stderr
        assert len(done.stderr.splitlines()) == 1


def test_a_new_journal_is_told_from_a_mistyped_name(tmp_path: Path) -> None:
    journal = str(tmp_path / "m.live")
    assert "is a new journal" in run("remove", journal, "a").stderr
    assert "is a new journal" not in run("remove", journal, "b").stderr


def test_a_report_has_what_is_new_rises_and_is_never_chosen(tmp_path: Path) -> None:
    journal, now = tmp_path / "m.live", 0.0
    writer = Writer(journal, half_life_days=5, clock=lambda: now)
    for day, texts in ((0, "aabc"), (8, "aabb"), (15, "bbbadcee")):
        now = day * 86_400.0
        writer.append([Change(Kind.TYPED, text, 1) for text in texts])
    writer.append([Change(Kind.ACCEPTED, "b", 2), Change(Kind.REMOVED, "e")])
    compact(journal)
    assert run("report", str(journal)).stdout.splitlines() == [
        "5 queries were typed, 1 are removed",
        "new\td\ttyped 1\taccepted 0",
        "rising\tb\ttyped 3\tbefore 2\taccepted 2",
        "never accepted\ta\ttyped 5",
        "never accepted\tc\ttyped 2",
        "never accepted\td\ttyped 1",
    ]
    summed, _ = read_summed(journal)
    assert report_of(summed, lambda text: text == "d").new == []
    assert "days must lie between 1 and 14" in run("report", str(journal), "--days", "15").stderr
