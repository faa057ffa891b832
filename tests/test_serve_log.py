"""The log never holds up an answer, whoever reads it or does not."""

import json
import os
import signal
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from halfword.core.printable import printable_json
from halfword.serve import log as log_module
from halfword.serve.log import Log
from tests.conftest import COUNTS, MakeModel


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    reading, writing = os.pipe()
    yield reading, writing
    os.close(reading)


def fill(writing: int) -> int:
    """Fill a pipe and return how many bytes it took."""
    os.set_blocking(writing, False)
    filled = 0
    with suppress(BlockingIOError):
        while True:
            filled += os.write(writing, b" " * 4096)
    os.set_blocking(writing, True)
    return filled


def lines_of(reading: int, count: int) -> list[dict[str, object]]:
    """Read from a pipe until there are so many lines."""
    data = b""
    while data.count(b"\n") < count:
        data += os.read(reading, 65_536)
    return [json.loads(line) for line in data.splitlines()]


def test_lines_that_nobody_reads_are_dropped_and_counted(
    pipe: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_module, "MOST_WAITING", 10_000)
    reading, writing = pipe
    dropped: list[None] = []
    log = Log(writing, lambda: dropped.append(None))
    filled = fill(writing)
    for number in range(1000):
        log.event("full", number=number)
    assert not log.flush(0.1)
    kept = 1000 - len(dropped)
    assert 0 < kept < 1000
    while filled:
        filled -= len(os.read(reading, filled))
    assert [line["number"] for line in lines_of(reading, kept)] == list(range(kept))
    assert log.flush()
    log.event("read again")
    told, last = lines_of(reading, 2)
    assert (told["event"], told["count"]) == ("lines dropped", len(dropped))
    assert last["event"] == "read again"


def test_a_forked_process_writes_its_own_lines(pipe: tuple[int, int]) -> None:
    reading, writing = pipe
    log = Log(writing)
    log.event("parent")
    assert log.flush()
    child = os.fork()
    if not child:
        log.event("child")
        log.flush()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert [(line["event"], line["worker"]) for line in lines_of(reading, 2)] == [
        ("parent", os.getpid()),
        ("child", child),
    ]


def test_a_server_whose_log_nobody_reads_answers_and_stops(make_model: MakeModel) -> None:
    model: Path = make_model(COUNTS)
    command = [sys.executable, "-m", "halfword", "serve", "-m", str(model), "-p", "0", "--log-requests"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().split(" on ")[1].split()[0]
        for _ in range(1000):  # a pipe holds some 450 lines
            with urllib.request.urlopen(f"{address}/complete?q=new", timeout=5) as reply:
                assert reply.status == 200
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0


def test_what_is_logged_while_a_line_is_added_comes_with_it(
    pipe: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    reading, writing = pipe
    log = Log(writing)

    def interrupted(content: str) -> str:
        if "outer" in content:
            log.event("inner")  # as when garbage is collected in the middle of it
        return printable_json(content)

    monkeypatch.setattr(log_module, "printable_json", interrupted)
    adding = threading.Thread(target=log.event, args=("outer",), daemon=True)
    adding.start()
    adding.join(5.0)
    assert not adding.is_alive()
    assert [line["event"] for line in lines_of(reading, 2)] == ["outer", "inner"]
