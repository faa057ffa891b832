"""New files: copied, tried in a process of their own, and refused without harm."""

import errno
import os
import signal
import socket
import tempfile
import time
from pathlib import Path

import pytest

from halfword.core.errors import ModelFileError
from halfword.serve.models import Models, Served
from halfword.serve.options import ServeOptions
from halfword.serve.process import reload as reload_module
from halfword.serve.process.reload import Reloads
from halfword.serve.snapshot import Snapshot, receive, take
from tests.conftest import COUNTS, MakeModel


def test_a_copy_does_not_change_with_its_file_nor_by_itself(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"before")
    snapshot = take([file], 100)
    file.write_bytes(b"after")
    (path,) = snapshot.paths
    assert path.read_bytes() == b"before"
    with pytest.raises(PermissionError):
        os.truncate(snapshot.copies[0], 0)
    with pytest.raises(PermissionError):
        os.write(snapshot.copies[0], b"x")
    assert snapshot.named(f"{path} is damaged") == f"{file} is damaged"
    snapshot.close()


def test_a_large_file_is_copied_to_disk(tmp_path: Path) -> None:
    file = tmp_path / "large"
    file.write_bytes(b"before" * 100)
    snapshot = take([file], 100)
    os.truncate(file, 0)
    (path,) = snapshot.paths
    assert path.read_bytes() == b"before" * 100
    assert (snapshot.uncopied, snapshot.overwritten) == ([], False)
    assert list(tmp_path.iterdir()) == [file]
    snapshot.close()


def test_where_there_is_no_room_for_a_copy_the_file_itself_is_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    file = tmp_path / "large"
    file.write_bytes(b"x" * 101)
    snapshot = take([file], 100)
    assert snapshot.uncopied == [file]
    file.replace(tmp_path / "moved")
    file.write_bytes(b"another")
    assert snapshot.paths[0].read_bytes() == b"x" * 101
    assert not snapshot.overwritten
    os.truncate(tmp_path / "moved", 10)
    assert snapshot.overwritten
    snapshot.close()


def test_nothing_is_copied_if_nothing_shall_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"content")
    snapshot = take([tmp_path / "file"], 0)
    assert snapshot.uncopied == [tmp_path / "file"]
    snapshot.close()


def test_what_cannot_be_opened_keeps_its_name(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    files = [tmp_path / name for name in ("missing", "pipe")]
    assert take(files, 100).paths == files


def test_copies_can_be_handed_to_another_process(tmp_path: Path) -> None:
    (tmp_path / "small").write_bytes(b"content")
    (tmp_path / "large").write_bytes(b"x" * 101)
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with here, there:
        take([tmp_path / "large", tmp_path / "small"], 100).send(here)
        received = Snapshot.received(*receive(there))
        here.close()
        assert receive(there) == ({}, [])
    assert received.files == (tmp_path / "large", tmp_path / "small")
    assert [path.read_bytes() for path in received.paths] == [b"x" * 101, b"content"]


class Trying(Models):
    """A model whose next load is whatever a test wants."""

    attempt = "well"

    def load(self, snapshot: Snapshot, *, verify: bool = True) -> Served:
        if self.attempt == "hangs":
            while True:
                time.sleep(1)
        if self.attempt == "crashes":
            os.kill(os.getpid(), signal.SIGSEGV)
        if self.attempt == "raises":
            raise ModelFileError("it is damaged")
        return super().load(snapshot, verify=verify)


@pytest.mark.parametrize(
    ("attempt", "reason"),
    [
        ("well", None),
        ("raises", "it is damaged"),
        ("hangs", "is not loaded within 1 seconds"),
        ("crashes", "the process that tried ended with -11"),
    ],
)
def test_files_are_tried_in_a_process_of_their_own(
    make_model: MakeModel, monkeypatch: pytest.MonkeyPatch, attempt: str, reason: str | None
) -> None:
    monkeypatch.setattr(reload_module, "TRIAL_SECONDS", 1 if attempt == "hangs" else 60)
    models = Trying(ServeOptions(model=make_model(COUNTS)))
    models.attempt = attempt
    reloads = Reloads(models, lambda: None)
    reloads.want()
    assert reloads.look() is None
    process, status = os.waitpid(-1, 0)
    assert reloads.ended(process + 1, 0) is None
    tried = reloads.ended(process, os.waitstatus_to_exitcode(status))
    if reason is None:
        assert isinstance(tried, tuple)
        models.put(*tried)
        assert models.current.completer.complete("we").texts[0] == "weather"
    else:
        assert isinstance(tried, str)
        assert reason in tried


def test_changed_files_are_tried_once_they_stand_still(make_model: MakeModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reload_module, "WATCH_SECONDS", 0)
    models = Models(ServeOptions(model=make_model(COUNTS)))
    begun: list[Snapshot] = []
    reloads = Reloads(models, lambda: None)
    monkeypatch.setattr(reloads, "_begin", begun.append)
    for _ in range(3):
        reloads.look()
    assert not begun
    make_model({"new": 1})
    reloads.look()
    assert not begun
    reloads.look()
    reloads.look()
    assert len(begun) == 1
