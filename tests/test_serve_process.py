"""`halfword serve` as a process: workers, signals, new models, and clients that misbehave."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from threading import Barrier, Event

import pytest

from halfword.core.card import Card
from halfword.core.model_file import write_model
from halfword.serve.http.request import LARGEST_HEAD
from halfword.serve.models import fingerprint
from halfword.serve.process.supervise import bind
from halfword.training.train import popular_arrays
from tests.conftest import COUNTS, MakeModel
from tests.serving import Answer, Server, serving


def write(path: Path, counts: dict[str, int]) -> Path:
    """Put a model in the place of another, whole."""
    write_model(path, popular_arrays(counts), Card(profile="default"))
    return path


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(write(tmp_path_factory.mktemp("model") / "m.halfword", COUNTS), "--workers", "2") as running:
        yield running


def test_it_answers_soon_after_it_is_started(make_model: MakeModel) -> None:
    begin = time.monotonic()
    with serving(make_model(COUNTS)) as running:
        assert running.get("/complete?q=new+yo").texts == ["new york times", "new york"]
        assert time.monotonic() - begin < 3  # docs/serving.md has the figure; here other tests run beside


def test_workers_share_the_counting(server: Server) -> None:
    before = served_so_far(server)
    for _ in range(20):  # each on a connection of its own, so that both workers get some
        server.get("/suggest?q=we")
    assert served_so_far(server) - before == 20
    assert len(server.workers()) == 2
    assert "halfword_workers 2" in server.get("/metrics").body.decode()


def test_a_worker_that_starts_does_not_make_the_others_wait_for_connections() -> None:
    with bind("127.0.0.1", 0) as listener, listener.dup():  # a worker's copy; whether it blocks is common to all
        assert not os.get_blocking(listener.fileno())


def served_so_far(server: Server) -> int:
    lines = server.get("/metrics").body.decode().splitlines()
    return sum(int(line.split()[-1]) for line in lines if line.startswith('halfword_requests_total{route="suggest"'))


def test_the_clients_of_elasticsearch_can_switch(server: Server) -> None:
    elasticsearch = pytest.importorskip("elasticsearch")
    with elasticsearch.Elasticsearch(server.address) as client:
        suggest = {"box": {"prefix": "wea", "completion": {"field": "query", "size": 1}}}
        answer = client.search(index="queries", suggest=suggest)
    assert [option["text"] for option in answer["suggest"]["box"][0]["options"]] == ["weather"]


MALFORMED = [
    b"\x00" * 100,
    b"\xff\xfe\r\n\r\n",
    b"GET\r\n\r\n",
    b"GET  HTTP/1.1\r\n\r\n",
    b"GET /complete?q=\xff HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET /\xff HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET /complete?q=a HTTP/9.9\r\n\r\n",
    b"OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"CONNECT x:1 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"GET http://[::1/ HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
    b"GET / HTTP/1.1\r\nA B: c\r\n\r\n",
    b"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n",
    b"POST /complete HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
    b"POST /complete HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999\r\n\r\n",
    b"POST /complete HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{",
    b"POST /complete HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nffffffff\r\nx",
    b"POST /complete HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    b"GET /complete?q=a HTTP/1.1\r\n" + b"X: y\r\n" * 5000 + b"\r\n",
    b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n\r\n",
    b"GET /complete?q=a HTTP/1.1\r\nHost: localhost\r\n\r\n" * 50,
]


@pytest.mark.parametrize("raw", MALFORMED, ids=range(len(MALFORMED)))
def test_malformed_http_gets_an_error_or_nothing_and_harms_nobody(server: Server, raw: bytes) -> None:
    workers = server.workers()
    answer = server.exchange(raw)
    assert answer == b"" or answer.startswith(b"HTTP/1.1 ")
    assert b" 500 " not in answer.partition(b"\r\n")[0]
    assert server.get("/complete?q=wea").texts[0] == "weather"
    assert server.workers() == workers
    assert not [event for event in server.events() if event["event"] == "fault"]


def test_what_is_no_http_is_answered_in_json(server: Server) -> None:
    head, _, body = server.exchange(b"nonsense\r\n\r\n").partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    assert json.loads(body)["error"]["code"] == "bad_http"


def test_a_head_without_end_is_refused(server: Server) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=5) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nX: " + b"y" * (LARGEST_HEAD + 1))
        assert connection.recv(100).startswith(b"HTTP/1.1 431 ")


def test_who_sends_without_reading_is_stopped_by_full_buffers(server: Server) -> None:
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 65_536)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)
        connection.connect(("127.0.0.1", server.port))
        assert sent_until_full(connection, 2**23) < 2**23
    assert server.get("/complete?q=wea").texts[0] == "weather"


def sent_until_full(connection: socket.socket, most: int) -> int:
    """Send requests until none is taken for a second, and return how many bytes were."""
    connection.settimeout(1)
    sent = 0
    while sent < most:
        try:
            sent += connection.send(b"GET /complete?q=new HTTP/1.1\r\nHost: localhost\r\n\r\n" * 100)
        except TimeoutError:
            break
    return sent


def test_a_worker_that_dies_is_replaced(server: Server) -> None:
    victim, other = server.workers()
    before = server.get("/readyz").json["model"]
    os.kill(victim, signal.SIGKILL)
    server.wait_for_event("worker died")
    deadline = time.monotonic() + 5
    while len(server.workers()) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert other in server.workers()
    assert victim not in server.workers()
    assert {server.get("/readyz").json["model"] for _ in range(10)} == {before}


def test_killing_all_workers_loses_only_what_they_were_answering(make_model: MakeModel) -> None:
    clients = 8
    with serving(make_model(COUNTS), "--workers", "2") as running, ThreadPoolExecutor(clients) as pool:
        stop = Event()

        def ask_until_stopped() -> tuple[int, int]:
            """Ask again and again, over a new connection when one breaks; return the answers, and the requests lost."""
            answered = lost = 0
            connection = HTTPConnection("127.0.0.1", running.port, timeout=10)
            while not stop.is_set():
                try:
                    connection.request("GET", f"/complete?q={answered}")
                    reply = connection.getresponse()
                    reply.read()
                    answered += reply.status == 200
                except (ConnectionError, HTTPException):
                    lost += 1
                    connection.close()
            connection.close()
            return answered, lost

        asking = [pool.submit(ask_until_stopped) for _ in range(clients)]
        time.sleep(0.3)
        victims = running.workers()
        for victim in victims:
            os.kill(victim, signal.SIGKILL)
        deadline = time.monotonic() + 10
        while len(set(running.workers()) - set(victims)) < 2 and time.monotonic() < deadline:
            time.sleep(0.02)
        time.sleep(0.3)
        stop.set()
        counts = [client.result() for client in asking]
        assert all(answered > 0 and lost <= 1 for answered, lost in counts), counts
        assert running.get("/healthz").status == 200


def test_workers_end_when_their_parent_is_killed(make_model: MakeModel) -> None:
    with serving(make_model(COUNTS), "--workers", "2") as running:
        workers = running.workers()
        running.process.kill()
        deadline = time.monotonic() + 10
        while any(Path(f"/proc/{worker}").exists() for worker in workers) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not any(Path(f"/proc/{worker}").exists() for worker in workers)


def test_sigterm_finishes_what_was_begun(make_model: MakeModel) -> None:
    with serving(make_model(COUNTS)) as running:
        with socket.create_connection(("127.0.0.1", running.port), timeout=10) as connection:
            body = b'{"prefixes": ["wea"]}'
            head = f"POST /complete HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n".encode()
            connection.sendall(head + body[:5])
            time.sleep(0.2)
            running.process.send_signal(signal.SIGTERM)
            time.sleep(0.4)
            connection.sendall(body[5:])
            answer = b"".join(iter(lambda: connection.recv(65_536), b""))
        assert answer.startswith(b"HTTP/1.1 200 ")
        assert b"weather" in answer
        assert running.process.wait(10) == 0
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", running.port), timeout=5)


def test_sigterm_loses_no_request_of_those_who_keep_their_connection(make_model: MakeModel) -> None:
    with serving(make_model(COUNTS), "--workers", "2") as running, ThreadPoolExecutor(16) as pool:
        asking = Barrier(17)

        def ask_until_told_to_leave() -> int:
            connection = HTTPConnection("127.0.0.1", running.port, timeout=10)
            for number in range(1_000_000):
                connection.request("GET", f"/complete?q={number}")
                reply = connection.getresponse()
                reply.read()
                assert reply.status == 200
                if reply.headers["connection"] == "close":
                    return number
                if number == 5:
                    asking.wait()
            raise AssertionError("it was never told")

        clients = [pool.submit(ask_until_told_to_leave) for _ in range(16)]
        asking.wait()
        running.process.send_signal(signal.SIGTERM)
        assert all(client.result() >= 5 for client in clients)
        assert running.process.wait(10) == 0


def test_a_new_model_is_swapped_in_without_a_failed_or_mixed_answer(tmp_path: Path) -> None:
    model = tmp_path / "m.halfword"
    versions = {}
    for word in ("new alpha", "new beta"):
        version = f"m@{fingerprint(write(model, {f'{word} {number}': 9 for number in range(50)}))}"
        versions[version] = word
    with serving(model, "--workers", "2", "--unfiltered") as running, ThreadPoolExecutor(2) as pool:
        end = time.monotonic() + 2

        def hammer() -> list[Answer]:
            answers = []
            while time.monotonic() < end:
                answers.append(running.get("/complete?q=new&n=50"))
            return answers

        hammering = [pool.submit(hammer) for _ in range(2)]
        for word in ("new alpha", "new beta", "new alpha"):
            time.sleep(0.4)
            write(model, {f"{word} {number}": 9 for number in range(50)})
            running.process.send_signal(signal.SIGHUP)
        answers = [answer for one in hammering for answer in one.result()]
        running.wait_for_event("reloaded", count=2)
    assert {answer.status for answer in answers} == {200}
    contents = [answer.json for answer in answers]
    assert {content["model"] for content in contents} == set(versions)
    for content in contents:
        assert all(row["text"].startswith(versions[content["model"]]) for row in content["completions"])


def test_a_changed_file_is_noticed_and_a_broken_one_leaves_the_old_serving(tmp_path: Path) -> None:
    model = write(tmp_path / "m.halfword", COUNTS)
    with serving(model) as running:
        before = running.get("/readyz").json
        write(model, {"fresh": 1})
        running.wait_for_event("reloaded")
        assert running.get("/complete?q=f").texts == ["fresh"]
        broken = tmp_path / "broken"
        broken.write_bytes(model.read_bytes()[:-9])
        broken.replace(model)
        (failed,) = running.wait_for_event("reload failed")
        assert "is damaged" in failed["reason"]
        state = running.get("/readyz").json
        assert "is damaged" in state["reload_error"]
        assert state["model"] != before["model"]
        assert running.get("/complete?q=f").texts == ["fresh"]
        assert "halfword_model_fresh 0" in running.get("/metrics").body.decode()
        model.unlink()
        running.process.send_signal(signal.SIGHUP)
        assert "does not exist" in running.wait_for_event("reload failed", count=2)[1]["reason"]
        write(model, COUNTS)
        running.wait_for_event("reloaded", count=2)
        assert running.get("/readyz").json == before


def write_large(path: Path) -> Path:
    """Put a model of more than a mebibyte in the place of another."""
    return write(path, COUNTS | {f"filler {number * 7919}": 1 for number in range(150_000)})


@pytest.mark.parametrize("copied_to", ["memory", "disk"])
def test_a_file_that_is_changed_in_place_harms_nobody(copied_to: str, tmp_path: Path) -> None:
    model = write_large(tmp_path / "m.halfword")
    whole = model.read_bytes()
    assert len(whole) > 2**20
    limit = "1" if copied_to == "disk" else "100"
    with serving(model, "--workers", "2", "--cache", "0", "--copy-mib", limit) as running:
        workers = running.workers()
        before = [running.get(f"/complete?q={prefix}").texts for prefix in ("", "n", "w", "filler+49")]
        model.write_bytes(bytes(len(whole)))
        os.truncate(model, 100)
        after = [running.get(f"/complete?q={prefix}").texts for prefix in ("", "n", "w", "filler+49") for _ in range(5)]
        assert after == [texts for texts in before for _ in range(5)]
        assert "is not a model file" in running.wait_for_event("reload failed")[0]["reason"]
        assert running.workers() == workers


def test_without_a_copy_a_file_that_is_changed_in_place_ends_the_server_in_one_line(tmp_path: Path) -> None:
    model = write_large(tmp_path / "m.halfword")
    with serving(model, "--workers", "2", "--cache", "0", "--copy-mib", "0") as running:
        assert running.wait_for_event("not copied")[0]["files"][0] == "m.halfword"
        os.truncate(model, 100)
        with suppress(OSError, HTTPException):  # the worker that answers dies
            running.get("/complete?q=filler+49")
        assert running.process.wait(20) == 1
        *events, line = running.log.read_text().splitlines()
        assert line.startswith(f"halfword: {model} was changed in place while it served without a copy; start again")
        assert len([event for event in events if "worker died" in event]) <= 2


@pytest.mark.parametrize("limit", ["0", "1", "100"])
def test_a_new_file_with_a_zeroed_page_leaves_the_old_serving_and_is_told_in_one_line(
    limit: str, tmp_path: Path
) -> None:
    model = write_large(tmp_path / "m.halfword")
    damaged = bytearray(model.read_bytes())
    damaged[-500_000:-495_904] = bytes(4096)
    with serving(model, "--copy-mib", limit) as running:
        before = running.get("/complete?q=filler+49").json
        (tmp_path / "new").write_bytes(damaged)
        (tmp_path / "new").replace(model)
        running.process.send_signal(signal.SIGHUP)
        (failed,) = running.wait_for_event("reload failed")
        assert failed["reason"].startswith(f"{model} is damaged: the array popular.")
        assert failed["reason"].endswith("does not match its checksum; copy or train it again")
        assert running.get("/complete?q=filler+49").json["completions"] == before["completions"]
        assert running.get("/readyz").json["model"] == before["model"]
        assert len([event for event in running.events() if event["event"] == "reload failed"]) == 1


def test_a_pipe_in_the_place_of_a_file_is_refused_at_once(tmp_path: Path) -> None:
    model, blocked = write(tmp_path / "m.halfword", COUNTS), tmp_path / "blocked"
    blocked.write_text("web\n")
    with serving(model, "--blocklist", str(blocked)) as running:
        for file in (model, blocked):
            saved = file.read_bytes()
            file.unlink()
            os.mkfifo(file)
            running.process.send_signal(signal.SIGHUP)
            failed = running.wait_for_event("reload failed", 1 if file == model else 2)[-1]
            assert "not a regular file" in failed["reason"]
            assert running.get("/complete?q=we").texts == ["weather", "weather in new york"]
            file.unlink()
            file.write_bytes(saved)
            running.process.send_signal(signal.SIGHUP)
            running.wait_for_event("reloaded", 1 if file == model else 2)


def test_a_mistake_at_the_start_is_one_line(make_model: MakeModel, tmp_path: Path) -> None:
    def refused(*arguments: str | Path) -> tuple[int, str]:
        command = [sys.executable, "-m", "halfword", "serve", *map(str, arguments)]
        result = subprocess.run(command, capture_output=True, text=True, timeout=20)
        return result.returncode, result.stderr

    model = make_model(COUNTS)
    assert refused("-m", tmp_path / "none")[0] == 1
    with socket.create_server(("127.0.0.1", 0)) as taken:
        status, line = refused("-m", model, "-p", str(taken.getsockname()[1]))
    assert (status, line.count("\n")) == (2, 1)
    assert "choose another with --port" in line
    assert refused("-m", model, "--host", "no.such.host.invalid")[0] == 2
    os.mkfifo(tmp_path / "pipe")
    assert "not a regular file" in refused("-m", tmp_path / "pipe")[1]
    damaged = tmp_path / "damaged.halfword"
    shutil.copy(model, damaged)
    damaged.write_bytes(damaged.read_bytes()[:-9])
    assert "is damaged" in refused("-m", damaged)[1]


def test_a_worker_that_replaces_a_dead_one_has_the_newest_model(tmp_path: Path) -> None:
    model = write(tmp_path / "m.halfword", {"old": 1})
    with serving(model) as running:
        write(model, {"new": 1})
        running.process.send_signal(signal.SIGHUP)
        running.wait_for_event("reloaded")
        os.kill(running.workers()[0], signal.SIGKILL)
        running.wait_for_event("worker died")
        assert running.get("/complete?q=").texts == ["new"]


def test_the_blocklist_is_reloaded_with_the_model(tmp_path: Path) -> None:
    model, blocked = write(tmp_path / "m.halfword", COUNTS), tmp_path / "blocked"
    blocked.write_text("weather\n")
    with serving(model, "--blocklist", str(blocked)) as running:
        first = running.get("/complete?q=we")
        assert first.texts == ["web"]
        blocked.write_text("web\n")
        running.process.send_signal(signal.SIGHUP)
        running.wait_for_event("reloaded")
        second = running.get("/complete?q=we", {"If-None-Match": first.headers["etag"]})
        assert second.texts == ["weather", "weather in new york"]
        blocked.write_text("@soup\n")
        running.process.send_signal(signal.SIGHUP)
        assert "no set is called 'soup'" in running.wait_for_event("reload failed")[0]["reason"]
        assert running.get("/complete?q=we").texts == second.texts
        blocked.write_text("")
        running.process.send_signal(signal.SIGHUP)
        running.wait_for_event("reloaded", 2)
        assert running.get("/complete?q=we").texts == ["weather", "web", "weather in new york"]


@contextmanager
def slow_server(model: Path, asked: Path, queue: int) -> Iterator[int]:
    """Run a server that takes 0.3 seconds for each completion; yields its port."""
    command = [sys.executable, "-m", "tests.slow_server", str(model), str(asked), str(queue)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield int(process.stdout.readline())
        finally:
            process.terminate()


def ask_on_a_new_connection(port: int, prefix: str) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), timeout=30)
    connection.sendall(f"GET /complete?q={prefix} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    return connection


def test_who_hangs_up_while_waiting_is_not_computed(make_model: MakeModel, tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    with slow_server(make_model(COUNTS), asked, queue=128) as port:
        connections = [ask_on_a_new_connection(port, "first")]
        while not asked.exists():
            time.sleep(0.01)
        connections += [ask_on_a_new_connection(port, prefix) for prefix in ("stays", "leaves")]
        connections.pop().close()
        (tmp_path / "go").touch()
        for connection in connections:
            assert connection.recv(100).startswith(b"HTTP/1.1 200 ")
            connection.close()
        with ask_on_a_new_connection(port, "last") as connection:
            assert connection.recv(100).startswith(b"HTTP/1.1 200 ")
        assert asked.read_text().split() == ["first", "stays", "last"]


def test_a_crowd_of_new_connections_is_refused_while_completions_are_slow(
    make_model: MakeModel, tmp_path: Path
) -> None:
    with slow_server(make_model(COUNTS), tmp_path / "asked", queue=4) as port:
        connections = [ask_on_a_new_connection(port, str(number)) for number in range(200)]
        statuses: Counter[bytes] = Counter()
        for connection in connections:
            with connection:
                statuses[connection.recv(100)[9:12]] += 1
        assert set(statuses) == {b"200", b"503"}
        assert statuses[b"503"] > 150
