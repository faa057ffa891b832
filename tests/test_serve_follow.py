"""A server that follows another one has the same changes, whatever happens to either."""

import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest

from halfword import Live
from halfword.core.errors import LiveError
from halfword.core.journal import Writer
from halfword.core.live import Change, Kind
from halfword.core.live_state import compact, read_summed
from halfword.serve.http.reply import Reply
from halfword.serve.live import follow
from halfword.serve.live.follow import Copy, Follower, Page, Refused, Remote, alone
from halfword.serve.live.sharing import Sharing
from tests.conftest import COUNTS, MakeModel, MakePopular
from tests.serving import client_for, serving

pytestmark = pytest.mark.engine
KEY = {"X-API-Key": "secret"}


class Near(Remote):
    """Asks a journal in this process as if it lay behind HTTP."""

    def __init__(self, journal: Path) -> None:
        super().__init__("http://near.test/", "secret")
        self._sharing = Sharing(journal)
        self.damage: Callable[[bytes], bytes] = lambda body: body

    def ask(self, file: str, begin: int, last: str) -> Page | None:
        reply: Reply = self._sharing._read(file, begin, last)
        if reply.status == 204:
            return None
        return self._page(dict(reply.headers)[b"x-journal-from"].decode(), self.damage(reply.body))


class Pair:
    """A journal, and a copy that follows it."""

    def __init__(self, folder: Path, make_popular: MakePopular) -> None:
        self.journal, self.copy = folder / "m.live", folder / "copy.live"
        self.writer = Writer(self.journal)
        self.remote = Near(self.journal)
        self.follower = Follower(self.copy, self.remote)
        self.reader = Live(make_popular(COUNTS), self.copy, writes=False)

    def type(self, text: str, times: int = 1) -> None:
        for _ in range(times):
            self.writer.append([Change(Kind.TYPED, text, 1)])

    def check(self) -> None:
        self.follower.catch_up()
        self.reader.refresh()
        counts = read_summed(self.journal)[0].counts()
        assert read_summed(self.copy)[0].counts() == counts
        assert {text: self.reader.count(text) for text in counts} == counts


@pytest.fixture
def pair(tmp_path: Path, make_popular: MakePopular) -> Pair:
    return Pair(tmp_path, make_popular)


def test_a_copy_goes_on_where_it_was(pair: Pair) -> None:
    pair.check()
    pair.type("zebra", 3)
    pair.check()
    pair.type("zoo")
    pair.follower = Follower(pair.copy, pair.remote)  # as after a restart
    pair.check()


def test_a_copy_survives_compaction(pair: Pair) -> None:
    pair.type("zebra", 5)
    pair.check()
    pair.type("zoo", 2)
    compact(pair.journal)  # the copy has not seen the last changes
    pair.check()
    pair.type("zoo")
    pair.check()
    compact(pair.journal)  # the copy has seen everything
    pair.type("zebra")
    pair.check()


def test_a_long_journal_comes_in_pages(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("halfword.serve.live.sharing.MOST_BYTES", 200)
    monkeypatch.setattr(follow, "MOST_BYTES", 200)
    pair.type("zebra", 20)
    compact(pair.journal)
    pair.type("zoo", 20)
    pair.check()


def test_half_a_frame_of_a_copy_is_asked_for_again(pair: Pair) -> None:
    pair.type("zebra", 5)
    pair.check()
    pair.copy.write_bytes(pair.copy.read_bytes()[:-7])
    pair.check()


def test_an_original_that_went_back_is_copied_anew(pair: Pair) -> None:
    pair.type("zebra", 3)
    saved = pair.journal.read_bytes()
    pair.type("zoo", 4)
    pair.check()
    pair.journal.write_bytes(saved)
    pair.writer = Writer(pair.journal)
    pair.type("newt", 2)
    pair.check()
    assert pair.reader.count("zoo") == 0


def test_changes_with_a_wrong_checksum_are_not_taken(pair: Pair) -> None:
    pair.type("zebra")
    pair.remote.damage = lambda body: body[:-3] + bytes([body[-3] ^ 1]) + body[-2:]
    with pytest.raises(LiveError, match="checksum is wrong"):
        pair.follower.catch_up()
    pair.remote.damage = lambda body: body
    pair.check()


def test_a_copy_takes_no_changes_and_no_other_journal_becomes_one(pair: Pair, tmp_path: Path) -> None:
    pair.type("zebra")
    pair.check()
    with pytest.raises(LiveError, match=r"is a copy of the journal of http://near.test"):
        Writer(pair.copy).append([Change(Kind.TYPED, "a", 1)])
    with pytest.raises(Refused, match=r"has changes of its own; name another file"):
        Copy(pair.journal, "http://near.test")
    with pytest.raises(Refused, match=r"is a copy of http://near.test"):
        Copy(pair.copy, "http://other.test")


def test_two_servers_cannot_keep_one_copy(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follow, "_LOCK_SECONDS", 0.0)
    with alone(pair.copy), pytest.raises(Refused, match="another server keeps its copy there"):
        pair.follower.catch_up()


def test_what_is_wrong_is_told_once(pair: Pair) -> None:
    told: list[tuple[str, str]] = []
    states = iter([True, True, True, True, False])
    answers = iter([LiveError("gone"), LiveError("gone"), None])

    def ask(file: str, begin: int, last: str) -> None:
        answer = next(answers)
        if answer is not None:
            raise answer

    pair.remote.ask = ask  # type: ignore[method-assign]
    pair.follower.follow(lambda: len(told) < 2 and next(states), lambda *given: told.append(given))
    assert told == [("live changes not followed", "gone"), ("live changes followed again", "http://near.test")]


def test_a_follower_sends_changes_elsewhere_and_can_be_followed(make_model: MakeModel, tmp_path: Path) -> None:
    (tmp_path / "keys").write_text("secret\n")
    client = client_for(
        make_model(COUNTS), live=tmp_path / "c.live", live_key_file=tmp_path / "keys", follow="http://localhost:1"
    )
    assert client.ask("PUT /queries/a", body=b'{"typed": 1}', headers=KEY).code == "follows_another"
    assert client.ask("POST /accepted", body=b'{"text": "news"}', headers=KEY).status == 200
    assert client.ask("GET /live/journal", headers=KEY).status == 503  # nothing was copied yet
    assert client.ask("GET /live/journal").status == 401
    for query in ("from=x", "from=-1", "a=b"):
        assert client.ask(f"GET /live/journal?{query}", headers=KEY).status == 400


def test_changes_of_another_server_are_seen_within_a_second(make_model: MakeModel, tmp_path: Path) -> None:
    (tmp_path / "keys").write_text("secret\n")
    (tmp_path / "wrong").write_text("wrong\n")
    model, keys = make_model(COUNTS), ("--live-key-file", str(tmp_path / "keys"))

    def change(address: str, text: str) -> None:
        request = urllib.request.Request(f"{address}/queries/{text}", data=b'{"typed": 3}', headers=KEY, method="PUT")
        urllib.request.urlopen(request).read()

    with serving(model, "--live", str(tmp_path / "m.live"), *keys) as first:
        change(first.address, "zebra")
        follows = ("--live", str(tmp_path / "copy.live"), "--follow", first.address, *keys)
        with serving(model, *follows) as second:
            assert second.get("/complete?q=z").texts == ["zebra"]
            change(first.address, "zoo")
            time.sleep(1.0)
            assert second.get("/complete?q=z").texts == ["zebra", "zoo"]
            first.process.kill()
            first.process.wait()
            second.wait_for_event("live changes not followed")
            compact(tmp_path / "m.live")
            with serving(model, "--live", str(tmp_path / "m.live"), *keys, port=first.port) as again:
                second.wait_for_event("live changes followed again")
                change(again.address, "newt")
                time.sleep(1.0)
                assert "newt" in second.get("/complete?q=new").texts
                assert second.get("/complete?q=z").texts == ["zebra", "zoo"]
                command = [sys.executable, "-m", "halfword", "serve", "-m", str(model), "-p", "0", *keys]
                command += ["--live", str(tmp_path / "x.live"), "--follow", again.address]
                command += ["--follow-key-file", str(tmp_path / "wrong")]
                said = subprocess.run(command, capture_output=True, text=True, timeout=20)
    assert said.returncode == 1
    assert "does not let itself be followed: 401" in said.stderr
    assert len(said.stderr.splitlines()) == 1
