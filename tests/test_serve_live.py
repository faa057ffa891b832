"""Live changes over HTTP: who may change what, what counts when, and that every worker sees it."""

import json
import os
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, settings

from halfword.core.card import Card
from halfword.core.errors import OptionError
from halfword.core.journal import Writer
from halfword.core.live import Change, Kind
from halfword.core.live_state import read_summed
from halfword.core.model_file import write_model
from halfword.serve.http.openapi import document
from halfword.serve.live.openapi import live_paths
from halfword.serve.live.threshold import Threshold
from halfword.serve.options import Limits, ServeOptions
from halfword.training.train import popular_arrays
from tests.conftest import COUNTS, MakeModel
from tests.serving import Answer, Client, Server, client_for, serving

pytestmark = pytest.mark.engine
KEY = {"X-API-Key": "secret"}
DAY = 86_400.0
EXAMPLES = int(os.environ.get("HALFWORD_EXAMPLES", "30"))  # of each endpoint; thousands before a release
schemathesis = pytest.importorskip("schemathesis")
ignored_auth = pytest.importorskip("schemathesis.specs.openapi.checks").ignored_auth


@pytest.fixture
def client(make_model: MakeModel, tmp_path: Path) -> Client:
    (tmp_path / "keys").write_text("secret\n")
    return client_for(make_model(COUNTS), live=tmp_path / "m.live", live_key_file=tmp_path / "keys", live_clients=3)


def put(client: Client, text: str, **fields: Any) -> Answer:
    return client.ask(f"PUT /queries/{quote(text, safe='')}", body=json.dumps(fields).encode(), headers=KEY)


def typed(client: Client, text: str, user: str) -> Answer:
    body = json.dumps({"queries": [{"text": text, "client": user}]}).encode()
    return client.ask("POST /typed", body=body, headers=KEY)


def test_a_query_is_counted_pinned_removed_and_allowed_again(client: Client) -> None:
    assert client.ask("GET /complete?q=z").texts == []
    assert put(client, "Zebra Café/Bar", typed=4).json["count"] == 4
    assert client.ask("GET /complete?q=z").texts == ["zebra café/bar"]  # not the answer that was kept
    assert put(client, "zoo", weight=9, pin={"prefix": "n", "position": 1}).status == 200
    assert client.ask("GET /complete?q=n&n=1").texts == ["zoo"]
    assert client.ask("DELETE /queries/zebra?beginning=true", headers=KEY).json["removed"]
    assert client.ask("GET /complete?q=z").texts == ["zoo"]
    put(client, "zebra", allowed=True)
    assert client.ask("GET /complete?q=z").texts == ["zoo", "zebra café/bar"]
    listed = client.ask("GET /live?n=2", headers=KEY).json
    assert [row["text"] for row in listed["queries"]] == ["zebra café/bar", "zoo"]


def test_an_answer_that_a_browser_keeps_is_void_after_a_change(client: Client) -> None:
    tag = client.ask("GET /complete?q=new").headers["etag"]
    assert client.ask("GET /complete?q=new", headers={"If-None-Match": tag}).status == 304
    put(client, "newt", typed=3)
    assert client.ask("GET /complete?q=new", headers={"If-None-Match": tag}).status == 200


@pytest.mark.parametrize("line", ["PUT /queries/a", "DELETE /queries/a", "POST /typed", "POST /accepted", "GET /live"])
def test_changes_need_their_key(line: str, client: Client) -> None:
    assert client.ask(line, body=b"{}" if line[0] == "P" else b"").status == 401
    assert client.ask(line, headers={"X-API-Key": "wrong"}).status == 401


def test_without_a_journal_there_are_no_changes(make_model: MakeModel) -> None:
    client = client_for(make_model(COUNTS))
    assert client.ask("PUT /queries/a", body=b'{"typed": 1}').status == 404
    assert client.ask("GET /live").status == 404
    assert "/typed" not in client.ask("GET /openapi.json").json["paths"]


def test_a_journal_without_a_key_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="no journal; name one with --live"):
        ServeOptions(model=tmp_path / "m.halfword", live_key_file=tmp_path / "keys")
    with pytest.raises(OptionError, match="live changes need a key"):
        ServeOptions(model=tmp_path / "m.halfword", live=tmp_path / "m.live")


@pytest.mark.parametrize(
    ("line", "body", "code"),
    [
        ("PUT /queries/a", {}, "bad_change"),
        ("PUT /queries/a", [], "bad_body"),
        ("PUT /queries/a", {"tpyed": 1}, "unknown_name"),
        ("PUT /queries/a", {"typed": -1}, "bad_change"),
        ("PUT /queries/a", {"typed": True}, "bad_change"),
        ("PUT /queries/a", {"pin": {"prefix": "a", "position": 0}}, "bad_change"),
        ("PUT /queries/a", {"pin": {"prefix": "a", "position": 1.5}}, "bad_change"),
        ("PUT /queries/a", {"pin": {"prefix": "a", "position": True}}, "bad_change"),
        ("PUT /queries/a", {"pin": "a"}, "bad_change"),
        ("PUT /queries/a?b=c", {"typed": 1}, "unknown_name"),
        ("PUT /queries/%20", {"typed": 1}, "bad_change"),
        ("PUT /queries/%ff", {"typed": 1}, "not_utf8"),
        ("DELETE /queries/a?beginning=yes", None, "bad_change"),
        ("POST /typed", {"queries": []}, "bad_body"),
        ("POST /typed", {"queries": ["a"]}, "bad_change"),
        ("POST /typed", {"queries": [{"text": "a", "client": "b", "c": 1}]}, "bad_change"),
        ("POST /accepted", {"text": "a", "client": "b"}, "bad_change"),
        ("GET /live?n=0", None, "bad_n"),
    ],
)
def test_what_makes_no_sense_is_named(line: str, body: Any, code: str, client: Client) -> None:
    assert client.ask(line, body=b"" if body is None else json.dumps(body).encode(), headers=KEY).code == code


def test_a_whole_number_may_be_written_with_a_point(client: Client) -> None:
    body = b'{"pin": {"prefix": "n", "position": 1.0}}'
    assert client.ask("PUT /queries/zebra", body=body, headers=KEY).status == 200
    assert client.ask("GET /complete?q=n").texts[0] == "zebra"


def test_a_new_query_is_learned_once_enough_clients_typed_it(client: Client, tmp_path: Path) -> None:
    for user in ("ann", "ann", "bob", "ann"):
        assert typed(client, "Zebra", user).json["counted"] == 0
    assert b"zebra" not in (tmp_path / "m.live").read_bytes()
    assert client.ask("GET /complete?q=z").texts == []
    assert typed(client, "zebra", "eve").json["counted"] == 5
    assert client.ask("GET /complete?q=z").texts == ["zebra"]
    assert typed(client, "zebra", "eve").json["counted"] == 1
    assert b"eve" not in (tmp_path / "m.live").read_bytes()


def test_what_is_personal_blocked_or_removed_is_not_learned(client: Client, tmp_path: Path) -> None:
    client.ask("DELETE /queries/zebra", headers=KEY)
    for text in ("ann@example.com", "porn videos", "zébra", "x" * 2000):
        assert [typed(client, text, user).json["counted"] for user in "abcdef"] == [0] * 6
    assert b"example.com" not in (tmp_path / "m.live").read_bytes()


def test_an_accepted_suggestion_is_counted_if_the_query_is_known(client: Client) -> None:
    def accepted(text: str) -> int:
        body = json.dumps({"text": text}).encode()
        return int(client.ask("POST /accepted", body=body, headers=KEY).json["counted"])

    assert (accepted("News"), accepted("my secret")) == (1, 0)
    assert accepted("\ufdfa" * 100) == 0  # which becomes longer than a query may be


def test_pages_may_tell_what_was_chosen_if_that_is_switched_on(make_model: MakeModel, tmp_path: Path) -> None:
    (tmp_path / "keys").write_text("secret\n")
    given: dict[str, Any] = {"live": tmp_path / "m.live", "live_key_file": tmp_path / "keys"}
    for switched_on, status, counted in ((False, 401, 0), (True, 200, 1)):
        client = client_for(make_model(COUNTS), live_accepted=switched_on, **given)
        assert client.ask("POST /accepted", body=b'{"text": "news"}   ').status == status
        assert f"halfword_accepted_total {counted}" in client.ask("GET /metrics").body.decode()
        assert (b'data-accepted="on"' in client.ask("GET /").body) == switched_on
        assert client.ask("PUT /queries/a", body=b'{"typed": 1}').status == 401
    with pytest.raises(OptionError, match="name one with --live"):
        ServeOptions(model=tmp_path / "m.halfword", live_accepted=True)


def test_prefixes_without_a_completion_are_counted(client: Client) -> None:
    for prefix in ("zz", "zz", "new"):
        client.ask(f"GET /complete?q={prefix}")
    assert "halfword_empty_answers_total 2" in client.ask("GET /metrics").body.decode()


def test_clients_are_told_apart_for_one_day_only() -> None:
    now = 10 * DAY
    threshold = Threshold(2, clock=lambda: now)
    assert threshold.typed("zebra", "ann") == 0
    now += DAY
    assert threshold.typed("zebra", "bob") == 0
    assert threshold.typed("zebra", "ann") == 2
    assert threshold.typed("zebra", "bob") == 1


def test_no_number_of_queries_fills_the_table_up() -> None:
    threshold = Threshold(2, clock=lambda: DAY)
    for number in range(200_000):
        threshold.typed(f"query {number}", "ann")
    assert threshold.typed("zebra", "ann") + threshold.typed("zebra", "bob") == 2


def test_every_worker_sees_a_change_within_a_second(make_model: MakeModel, tmp_path: Path) -> None:
    (tmp_path / "keys").write_text("secret\n")
    arguments = ("-w", "2", "--live", str(tmp_path / "m.live"), "--live-key-file", str(tmp_path / "keys"))
    with serving(make_model(COUNTS), *arguments) as server:
        request = urllib.request.Request(
            f"{server.address}/queries/zebra", data=b'{"typed": 3}', headers=KEY, method="PUT"
        )
        assert server.open(request).status == 200
        time.sleep(1.0)
        assert all(server.get("/complete?q=z").texts == ["zebra"] for _ in range(20))  # of one worker or the other
        os.kill(server.workers()[0], 9)
        server.wait_for_event("worker died")
        time.sleep(1.0)
        assert all(server.get("/complete?q=z").texts == ["zebra"] for _ in range(20))


def test_a_journal_that_has_grown_is_compacted_while_it_serves(make_model: MakeModel, tmp_path: Path) -> None:
    (tmp_path / "keys").write_text("secret\n")
    journal = tmp_path / "m.live"
    writer, long = Writer(journal), "zebra" + " x" * 400
    for _ in range(6):
        writer.append([Change(Kind.TYPED, long, 1)] * 1000)
    grown = journal.stat().st_size
    arguments = ("--live", str(journal), "--live-key-file", str(tmp_path / "keys"))
    with serving(make_model(COUNTS), *arguments) as server:
        acknowledged = 0
        while not [event for event in server.events() if event["event"] == "live changes compacted"]:
            request = urllib.request.Request(
                f"{server.address}/queries/zoo", data=b'{"typed": 1}', headers=KEY, method="PUT"
            )
            assert server.open(request).status == 200
            acknowledged += 1
        assert server.get("/complete?q=z").texts == [long, "zoo"]
    assert journal.stat().st_size < grown / 10
    assert read_summed(journal)[0].counts() == {long: 6000, "zoo": acknowledged}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("model")
    write_model(folder / "m.halfword", popular_arrays(COUNTS), Card(profile="default"))
    (folder / "keys").write_text("secret\n")
    arguments = ("--live", str(folder / "m.live"), "--live-key-file", str(folder / "keys"))
    with serving(folder / "m.halfword", *arguments) as running:
        yield running


described = document(Limits(), live=True)
schema = schemathesis.openapi.from_dict(described | {"paths": live_paths()})


@schema.parametrize()  # type: ignore[untyped-decorator]
@settings(max_examples=EXAMPLES, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
def test_the_server_keeps_to_its_document(case: Any, server: Server) -> None:
    # Who guesses keys is soon answered 429, and then nothing else could be tested.
    case.call_and_validate(base_url=server.address, headers=KEY, excluded_checks=[ignored_auth])
