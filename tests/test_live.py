"""Live changes last: in the journal, across processes, through damage, compaction and full disks."""

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from halfword import Live, Model, load
from halfword.core.card import Card, LiveCard, PartsCard, PopularCard
from halfword.core.errors import LiveError
from halfword.core.journal import About, Reader, Writer
from halfword.core.live import Change, Kind, change
from halfword.core.live_state import Removed, compact, day_of, mark_learned, read_removed, read_summed
from halfword.core.model_file import write_model
from halfword.training.train import popular_arrays
from tests.conftest import COUNTS, MakePopular

pytestmark = pytest.mark.engine
DAY = 86_400.0


def state_of(live: Live) -> list[tuple[str, float]]:
    return [(query.text, query.count) for query in live.queries()]


def test_changes_count_at_once_and_after_a_restart(make_popular: MakePopular, tmp_path: Path) -> None:
    live = Live(make_popular(COUNTS), tmp_path / "m.live")
    live.add("new deal", 9)
    live.boost("news", 3)
    live.weigh("web", 40)
    live.remove("New  YORK times")
    live.pin("newt", "ne", 2)
    assert live.model.complete("new").texts == ["news", "new deal", "new york"]
    again = Live(make_popular(COUNTS), tmp_path / "m.live")
    assert again.model.complete("new") == live.model.complete("new")
    assert again.model.complete("ne", count=2).texts == ["news", "newt"]
    assert again.model.complete("w", count=1).texts == ["web"]
    assert state_of(again) == state_of(live)


def test_another_process_sees_a_change_when_it_looks(make_popular: MakePopular, tmp_path: Path) -> None:
    first = Live(make_popular(COUNTS), tmp_path / "m.live")
    second = Live(make_popular(COUNTS), tmp_path / "m.live")
    first.add("zebra", 2)
    assert second.model.complete("z") == []
    assert second.refresh()
    assert not second.refresh()
    assert second.model.complete("z").texts == ["zebra"]
    second.add("zoo")
    first.refresh()
    assert first.model.complete("z").texts == ["zebra", "zoo"]


def test_changes_without_a_file_are_kept_in_memory(make_popular: MakePopular) -> None:
    live = Live(make_popular(COUNTS))
    live.add("zebra")
    assert live.model.complete("z").texts == ["zebra"]
    assert len(live) == 1


def test_allowing_what_a_beginning_still_removes_says_so(make_popular: MakePopular) -> None:
    live = Live(make_popular(COUNTS))
    live.remove("new y", beginning=True)
    with pytest.raises(LiveError, match="'new york' is still removed"):
        live.allow("new york")
    live.allow("new y")
    assert "new york" in live.model.complete("new").texts


@pytest.mark.parametrize(
    ("kind", "text", "number"),
    [(Kind.TYPED, " ", 1), (Kind.TYPED, "a" * 1001, 1), (Kind.TYPED, "a", -1), (Kind.BOOST, "a", float("nan")),
     (Kind.PIN, "a", 0), (Kind.PIN, "a", 1.5)],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(kind: Kind, text: str, number: float) -> None:
    with pytest.raises(LiveError):
        change(kind, text, number)
    with pytest.raises(LiveError, match="a prefix may have 1000 characters"):
        change(Kind.PIN, "a", 1, "b" * 1001)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(cut=st.integers(1, 300), garbage=st.binary(max_size=40))
def test_a_damaged_tail_is_cut_off_with_a_warning(
    cut: int, garbage: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("journal") / "m.live"
    writer, ends = Writer(path), [path.stat().st_size]
    for number in range(5):
        writer.append([Change(Kind.TYPED, f"query {number}", 1)])
        ends.append(path.stat().st_size)
    cut = max(ends[0], ends[-1] - cut)
    whole = sum(end <= cut for end in ends[1:])
    path.write_bytes(path.read_bytes()[:cut] + garbage)
    warnings: list[str] = []
    Writer(path, warn=warnings.append).append([Change(Kind.TYPED, "last", 1)])
    summed, _ = read_summed(path)
    assert list(summed.counts()) == [*(f"query {number}" for number in range(whole)), "last"]
    assert summed.number == whole + 1
    assert bool(warnings) == (cut not in ends or bool(garbage))


def test_damage_with_whole_changes_behind_it_is_no_tail(tmp_path: Path) -> None:
    path = tmp_path / "m.live"
    writer = Writer(path)
    begin = path.stat().st_size
    for number in range(3):
        writer.append([Change(Kind.TYPED, f"query {number}", 1)])
    content = bytearray(path.read_bytes())
    content[begin + 20] ^= 1
    path.write_bytes(content)
    with pytest.raises(LiveError, match="whole changes follow"):
        Writer(path).append([Change(Kind.TYPED, "a", 1)])
    assert path.read_bytes() == bytes(content)


def test_a_foreign_file_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("dear diary")
    with pytest.raises(LiveError, match="no journal of live changes"):
        Writer(path)
    assert path.read_text() == "dear diary"


def test_threads_share_one_write_and_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "m.live"
    writer = Writer(path)

    def write(thread: int) -> None:
        for number in range(20):
            writer.append([Change(Kind.TYPED, f"{thread} {number}", 1)])

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    summed, _ = read_summed(path)
    assert len(summed.counts()) == summed.number == 160


def test_compaction_keeps_the_sum_and_readers_go_on(make_popular: MakePopular, tmp_path: Path) -> None:
    path = tmp_path / "m.live"
    live = Live(make_popular(COUNTS), path)
    other = Live(make_popular(COUNTS), path)
    for number in range(300):
        live.add(f"zebra {number % 3}")
    live.remove("news")
    live.remove("weather")
    live.allow("weather")
    live.pin("newt", "ne")
    other.refresh()
    late = Live(make_popular(COUNTS), path)  # reads on only after the compaction
    live.add("zebra 0")
    before, after = compact(path)
    assert after < before / 5
    live.add("zoo", 5)
    for each in (other, late):
        each.refresh()
    fresh = Live(make_popular(COUNTS), path)
    for each in (other, late, fresh):
        assert each.number == live.number
        assert each.model.complete("z") == live.model.complete("z")
        assert each.model.complete("ne") == live.model.complete("ne")
    assert fresh.count("zebra 0") == 101


def test_a_reader_that_is_behind_a_compaction_begins_again(tmp_path: Path) -> None:
    path = tmp_path / "m.live"
    writer, reader = Writer(path), Reader(path)
    writer.append([Change(Kind.TYPED, "a", 1)])
    reader.poll()
    writer.append([Change(Kind.TYPED, "b", 1)])
    compact(path)
    restarted, frames = reader.poll()
    assert restarted
    assert [frame.changes for frame in frames] == [[["typed", "a", 1], ["typed", "b", 1]]]
    assert reader.poll() == (False, [])


def test_what_is_written_while_compaction_runs_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "m.live"
    writer = Writer(path)
    stop = threading.Event()
    written = 0

    def write() -> None:
        nonlocal written
        while not stop.is_set():
            writer.append([Change(Kind.TYPED, "a", 1)])
            written += 1

    thread = threading.Thread(target=write)
    thread.start()
    for _ in range(10):
        compact(path)
    stop.set()
    thread.join()
    assert read_summed(path)[0].counts() == {"a": written}


def test_a_new_journal_under_the_number_of_the_old_file_is_noticed(tmp_path: Path) -> None:
    path, other = tmp_path / "m.live", tmp_path / "other.live"
    writer, reader = Writer(path), Reader(path)
    for _ in range(3):
        writer.append([Change(Kind.TYPED, "old", 1)])
    reader.poll()
    Writer(other).append([Change(Kind.TYPED, "new", 1)])
    with path.open("r+b") as stream:  # the same inode, as when the system gives the number to the next file
        stream.truncate()
        stream.write(other.read_bytes())
    restarted, frames = reader.poll()
    assert restarted
    assert [frame.number for frame in frames] == [1]
    writer.append([Change(Kind.TYPED, "new", 1)])
    assert read_summed(path)[0].counts() == {"new": 2}


def test_counts_decay_by_half_in_a_half_life(make_popular: MakePopular, tmp_path: Path) -> None:
    now = 0.0
    live = Live(make_popular(COUNTS), tmp_path / "m.live", half_life_days=2, clock=lambda: now)
    live.add("zebra", 4)
    now = 2 * DAY
    live.add("zoo", 3)
    assert (live.count("zebra"), live.count("zoo"), live.count("news")) == (2.0, 3.0, 2.5)
    assert live.model.complete("z").texts == ["zoo", "zebra"]
    compact(tmp_path / "m.live")
    again = Live(make_popular(COUNTS), tmp_path / "m.live", clock=lambda: now)
    again.add("zoo", 1)
    assert (again.count("zebra"), again.count("zoo")) == (2.0, 4.0)


def test_a_half_life_cannot_be_changed_later(tmp_path: Path) -> None:
    Writer(tmp_path / "m.live", half_life_days=3)
    with pytest.raises(LiveError, match="half-life of 3 days"):
        Writer(tmp_path / "m.live", half_life_days=4)


def test_counts_that_the_model_has_learned_are_not_added_again(tmp_path: Path) -> None:
    path = tmp_path / "m.live"
    writer = Writer(path)
    writer.append([Change(Kind.TYPED, "zebra", 5), Change(Kind.REMOVED, "news")])
    folded = mark_learned(path)
    writer.append([Change(Kind.TYPED, "zebra", 2)])
    journal = read_summed(path)[0].about.journal
    for compactions in range(3):
        if compactions:
            compact(path)
        counts = {**COUNTS, "zebra": 5}
        live = Live(_model(tmp_path / "new.halfword", counts, LiveCard(journal=journal, number=folded)), path)
        assert live.count("zebra") == 7
        assert live.removes("news")
        older = Live(_model(tmp_path / "old.halfword", COUNTS, None), path)
        assert older.count("zebra") == 7


def test_a_model_whose_share_is_not_told_apart_any_more_is_warned_of(tmp_path: Path) -> None:
    path = tmp_path / "m.live"
    writer = Writer(path)
    writer.append([Change(Kind.TYPED, "zebra", 5)])
    number = mark_learned(path)
    for _ in range(64):
        writer.append([Change(Kind.TYPED, "zebra", 1)])
        mark_learned(path)
    compact(path)
    summed, _ = read_summed(path)
    assert len(summed.stretches) == 64
    assert summed.counts() == {"zebra": 69}
    warnings: list[str] = []
    card = LiveCard(journal=summed.about.journal, number=number)
    Live(_model(tmp_path / "m.halfword", COUNTS, card), path, warn=warnings.append)
    assert len(warnings) == 1
    assert "counts twice" in warnings[0]


def test_compaction_keeps_the_last_days_apart_and_adds_older_ones_up(tmp_path: Path) -> None:
    path, now = tmp_path / "m.live", 0.0
    writer = Writer(path, half_life_days=10, clock=lambda: now)
    for day in range(40):
        now = day * DAY
        writer.append([Change(Kind.TYPED, "zebra", 1)] * 2)
    before = read_summed(path)[0]
    for _ in range(2):
        compact(path)
        after, _ = read_summed(path)
        assert [day_of(stretch.time) for stretch in after.stretches] == list(range(10, 40))
        assert after.counts()["zebra"] == pytest.approx(before.counts()["zebra"])
        assert after.stretches[-1].counts["zebra"] == pytest.approx(before.stretches[-1].counts["zebra"])


def test_two_who_compact_at_once_lose_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "m.live"
    writer = Writer(path)
    for _ in range(9):
        writer.append([Change(Kind.TYPED, "a", 1)])
    own = Writer.replace

    def late(self: Writer, about: About, body: bytes, read: Reader) -> None:
        monkeypatch.setattr(Writer, "replace", own)
        compact(path)
        writer.append([Change(Kind.TYPED, "b", 1)])
        own(self, about, body, read)

    monkeypatch.setattr(Writer, "replace", late)
    with pytest.raises(LiveError, match="another process"):
        compact(path)
    assert read_summed(path)[0].counts() == {"a": 9, "b": 1}


def test_what_was_read_before_a_compaction_ended_is_not_counted_twice(
    make_popular: MakePopular, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "m.live"
    live = Live(make_popular(COUNTS), path)
    live.add("zebra", 2)
    own = Writer.replace

    def late(self: Writer, about: About, body: bytes, read: Reader) -> None:
        live.add("zebra", 3)  # which is written and read while the sum is taken
        own(self, about, body, read)

    monkeypatch.setattr(Writer, "replace", late)
    compact(path)
    live.refresh()
    live.add("zebra")
    assert live.count("zebra") == 6
    assert read_summed(path)[0].counts() == {"zebra": 6}


def test_what_is_removed_stays_so_while_a_journal_is_read_again(
    make_popular: MakePopular, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "m.live"
    live = Live(make_popular(COUNTS), path)
    live.remove("news")
    Writer(path).append([Change(Kind.TYPED, "a", 1)])
    compact(path)  # which is ahead of what was read
    seen: list[list[str]] = []
    give = live._give

    def watched(*given: Any, **named: Any) -> None:
        seen.append(live.model.complete("new").texts)
        give(*given, **named)

    monkeypatch.setattr(live, "_give", watched)
    assert live.refresh()
    assert seen
    assert not any("news" in texts for texts in seen)


def test_what_a_killed_compaction_has_left_is_removed(tmp_path: Path) -> None:
    path, left, fresh = (tmp_path / name for name in ("m.live", f".m.live.{'0' * 32}", f".m.live.{'1' * 32}"))
    Writer(path).append([Change(Kind.TYPED, "a", 1)])
    left.touch()
    fresh.touch()
    os.utime(left, (0, 0))
    compact(path)
    assert (left.exists(), fresh.exists()) == (False, True)


def _model(path: Path, counts: dict[str, int], live: LiveCard | None) -> Model:
    write_model(
        path, popular_arrays(counts), Card(profile="default", live=live, parts=PartsCard(popular=PopularCard()))
    )
    return load(path)


def test_a_full_disk_refuses_a_change_and_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "m.live"
    program = f"""
import resource, signal
from pathlib import Path
from halfword.core.errors import LiveError
from halfword.core.journal import Writer
from halfword.core.live import Change, Kind
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
writer = Writer(Path({str(path)!r}))
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
done = 0
try:
    while True:
        writer.append([Change(Kind.TYPED, f"query {{done}}", 1)])
        done += 1
except LiveError as error:
    print(done, error)
"""
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert "cannot be written" in said
    assert "nothing was changed" in said
    assert len(read_summed(path)[0].counts()) == int(said.split()[0]) > 5
    Writer(path).append([Change(Kind.TYPED, "more", 1)])


def test_a_killed_writer_loses_nothing_that_it_acknowledged(tmp_path: Path) -> None:
    path = tmp_path / "m.live"
    program = f"""
from pathlib import Path
from halfword.core.journal import Writer
from halfword.core.live import Change, Kind
writer = Writer(Path({str(path)!r}))
while True:
    print(writer.append([Change(Kind.TYPED, "a", 1)] * 3), flush=True)
"""
    acknowledged = 0
    for _ in range(3):
        with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            for _ in range(20):
                acknowledged = int(process.stdout.readline())
            os.kill(process.pid, signal.SIGKILL)
            acknowledged = max([acknowledged, *(int(line) for line in process.stdout if line.endswith("\n"))])
        assert read_summed(path)[0].number >= acknowledged
        assert read_summed(path)[0].counts()["a"] >= acknowledged


def test_a_removal_list_is_a_journal_or_a_text_file(tmp_path: Path) -> None:
    path, text = tmp_path / "m.live", tmp_path / "removed.txt"
    writer = Writer(path)
    writer.append([Change(Kind.REMOVED, "café"), Change(Kind.REMOVED_BEGINNING, "new y")])
    text.write_text("CAFÉ\nnew y*\n")
    for removed in (read_removed(path), read_removed(text)):
        assert [removed.removes(each) for each in ("cafe", "café noir", "new yórk", "new")] == [
            True,
            False,
            True,
            False,
        ]
    assert not Removed()


def test_the_journal_is_written_as_documented(tmp_path: Path) -> None:
    path = tmp_path / "m.live"
    Writer(path, clock=lambda: 5.0).append([Change(Kind.PIN, "a b", 2, "a"), Change(Kind.REMOVED, "c")])
    content = path.read_bytes()
    assert content.startswith(b"HALFLIVE\x01\x00\x00\x00")
    last = json.loads(content[content.rindex(b'{"time"') :])
    assert last == {"time": 5.0, "changes": [["pin", "a b", 2, "a"], ["removed", "c"]]}
