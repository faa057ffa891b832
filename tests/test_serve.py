"""What the server answers: every endpoint, every refusal, and the headers around them."""

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from halfword.core.card import Card
from halfword.core.errors import OptionError
from halfword.core.model_file import Array, write_model
from halfword.serve.http.reply import CODES
from halfword.serve.models import fingerprint
from halfword.serve.options import Limits, ServeOptions
from tests.conftest import COUNTS, OLD, MakeModel, damage
from tests.serving import Answer, Client, client_for


@pytest.fixture
def model(make_model: MakeModel) -> Path:
    return make_model(COUNTS)


@pytest.fixture
def client(model: Path) -> Client:
    return client_for(model)


def test_complete_echoes_the_prefix_and_marks_what_it_added(client: Client) -> None:
    answer = client.ask("GET /complete?q=New++yo&n=1")
    assert answer.status == 200
    assert answer.json["prefix"] == "New  yo"
    assert answer.json["took_ms"] >= 0
    assert answer.json["model"].startswith("test@")
    (completion,) = answer.json["completions"]
    assert completion.pop("score") == pytest.approx(-0.539, abs=1e-3)  # 7 of the 12 that begin so
    assert completion == {
        "text": "new york times",
        "source": "popular",
        "display": "new york times",
        "corrected": False,
        "highlight": {"typed": "new yo", "added": "rk times"},
    }


def test_an_empty_prefix_gives_the_most_popular(client: Client) -> None:
    assert client.ask("GET /complete?q=&n=2").texts == ["new york times", "new york"]


def test_suggest_is_an_opensearch_array(client: Client) -> None:
    answer = client.ask("GET /suggest?q=we&n=2")
    assert answer.headers["content-type"] == "application/x-suggestions+json"
    assert answer.json == ["we", ["weather", "web"]]


def test_opensearch_describes_the_server_by_the_name_it_was_called(model: Path) -> None:
    client = client_for(model, allowed_hosts=("box.test",))
    root = ElementTree.fromstring(client.ask("GET /opensearch.xml", headers={"Host": "box.test:80"}).body)
    templates = [url.get("template") for url in root.iter("{http://a9.com/-/spec/opensearch/1.1/}Url")]
    assert templates == ["http://box.test:80/?q={searchTerms}", "http://box.test:80/suggest?q={searchTerms}"]


def test_opensearch_repeats_no_nonsense_and_prefers_its_public_name(model: Path) -> None:
    open_to_all = client_for(model, allowed_hosts=("*",))
    assert b"evil" not in open_to_all.ask("GET /opensearch.xml", headers={"Host": 'evil"><x'}).body
    public = client_for(model, public_url="https://search.example/box/")
    assert b"https://search.example/box/suggest?q=" in public.ask("GET /opensearch.xml").body


def test_a_batch_is_answered_in_order(client: Client) -> None:
    answer = client.ask("POST /complete", body=b'{"prefixes": ["we", "nothing", "ne"], "n": 1}')
    assert [result["prefix"] for result in answer.json["results"]] == ["we", "nothing", "ne"]
    texts = [[completion["text"] for completion in result["completions"]] for result in answer.json["results"]]
    assert texts == [["weather"], [], ["new york times"]]


@pytest.mark.parametrize("path", ["/_search", "/queries/_search"])
def test_search_answers_like_elasticsearch(client: Client, path: str) -> None:
    suggest = {"one": {"prefix": "we", "completion": {"field": "q", "size": 1}}, "two": {"text": "n", "completion": {}}}
    answer = client.ask(f"POST {path}", body=json.dumps({"suggest": suggest}).encode())
    assert answer.headers["x-elastic-product"] == "Elasticsearch"
    assert set(answer.json["suggest"]) == {"one", "two"}
    (entry,) = answer.json["suggest"]["one"]
    assert (entry["text"], entry["offset"], entry["length"]) == ("we", 0, 2)
    assert [(option["text"], round(option["_score"], 3)) for option in entry["options"]] == [("weather", 0.429)]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("GET /complete", "missing_q"),
        ("GET /complete?p=x", "unknown_name"),
        ("GET /suggest?q=x&count=3", "unknown_name"),
        ("GET /complete?q=x&%ff=", "unknown_name"),
        ("POST /complete?n=3", "unknown_name"),
        ("POST /_search?typed_keys=true", "unknown_name"),
        ("GET /suggest", "missing_q"),
        ("GET /complete?q=%ff", "not_utf8"),
        ("GET /complete?q=%ED%A0%80", "not_utf8"),
        ("GET /complete?q=" + "x" * 201, "prefix_too_long"),
        ("GET /complete?q=" + "%EF%B7%BA" * 12, "prefix_too_long"),  # each becomes 18 characters
        ("GET /complete?q=x&n=0", "bad_n"),
        ("GET /complete?q=x&n=101", "bad_n"),
        ("GET /complete?q=x&n=", "bad_n"),
        ("GET /complete?q=x&n=-1", "bad_n"),
        ("GET /complete?q=x&n=1e1", "bad_n"),
        ("GET /complete?q=x&n=%C2%B2", "bad_n"),
        ("GET /complete?q=x&n=" + "9" * 5000, "bad_n"),
        ("GET /nothing", "not_found"),
        ("GET /../../etc/passwd", "not_found"),
        ("GET /static/halfword.js", "not_found"),
        ("GET /_a/_search", "not_found"),
        ("PUT /complete?q=x", "method_not_allowed"),
        ("GET /_search", "method_not_allowed"),
        ("POST /docs", "method_not_allowed"),
    ],
)
def test_a_mistake_has_a_code_and_a_sentence(client: Client, line: str, code: str) -> None:
    answer = client.ask(line)
    assert (answer.code, answer.status) == (code, CODES[code][0])
    assert len(answer.json["error"]["message"].split()) > 3
    assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    ("path", "body", "code"),
    [
        ("/complete", b"", "bad_json"),
        ("/complete", b"{", "bad_json"),
        ("/complete", b'{"prefixes": ["\\ud800"]}', "bad_json"),
        ("/complete", b'{"prefixes": ["\xff"]}', "bad_json"),
        ("/complete", b"[" * 50_000, "bad_json"),
        ("/complete", b"[]", "bad_body"),
        ("/complete", b'{"prefixes": []}', "bad_body"),
        ("/complete", b'{"prefixes": [1]}', "bad_body"),
        ("/complete", json.dumps({"prefixes": ["x"] * 101}).encode(), "bad_body"),
        ("/complete", b'{"prefixes": ["x"], "pad": 1}', "bad_body"),
        ("/complete", b'{"prefixes": ["x"], "count": 3}', "unknown_name"),
        ("/complete", b'{"prefixes": ["x"], "n": true}', "bad_n"),
        ("/complete", b'{"prefixes": ["x"], "n": 1.5}', "bad_n"),
        ("/complete", json.dumps({"prefixes": ["x" * 201]}).encode(), "prefix_too_long"),
        ("/complete", b" " * 65_537, "body_too_large"),
        ("/_search", b"{}", "bad_body"),
        ("/_search", b'{"query": {"match_all": {}}}', "bad_body"),
        ("/_search", b'{"suggest": {"a": {"prefix": "x", "completion": {}}}, "query": {}}', "unknown_name"),
        ("/_search", b'{"suggest": {"a": {"prefix": "x", "completion": {"analyzer": ""}}}}', "unknown_name"),
        ("/_search", b'{"suggest": {"a": {"prefix": "x", "completion": {"fuzzy": 1}}}}', "bad_body"),
        ("/_search", b'{"suggest": {"a": {"prefix": "x", "completion": {"contexts": {}}}}}', "unsupported"),
        ("/_search", b'{"suggest": {"a": {"regex": "n[ie]", "completion": {}}}}', "unsupported"),
        ("/_search", b'{"suggest": {"a": {"prefix": "x", "term": {}, "completion": {}}}}', "unknown_name"),
        ("/_search", b'{"suggest": {}}', "bad_body"),
        ("/_search", b'{"suggest": {"a": {"prefix": "x", "term": {}}}}', "bad_body"),
        ("/_search", b'{"suggest": {"a": {"completion": {}}}}', "bad_body"),
        ("/_search", b'{"suggest": {"text": "x", "a": {"completion": {}}}}', "bad_body"),
        ("/_search", b'{"suggest": {"a": {"prefix": "x", "completion": {"size": 0}}}}', "bad_n"),
    ],
)
def test_a_bad_body_is_refused(client: Client, path: str, body: bytes, code: str) -> None:
    answer = client.ask(f"POST {path}", body=body)
    assert (answer.code, answer.status) == (code, CODES[code][0])


def test_a_body_that_says_it_is_too_large_is_not_read(client: Client) -> None:
    answer = client.ask("POST /complete", body=b"{", headers={"Content-Length": "9999999"})
    assert answer.code == "body_too_large"


def test_an_unknown_name_is_named(client: Client) -> None:
    message = client.ask("GET /complete?q=x&cuont=3&limit=4").json["error"]["message"]
    assert message == "cuont, limit is not known; known are: q, n, pad, context, min_probability, invent, typos, order"
    body = b'{"suggest": {"box": {"prefix": "x", "completion": {"analyzer": ""}}}}'
    message = client.ask("POST /_search", body=body).json["error"]["message"]
    assert message.startswith("analyzer is not known in the completion of the suggester 'box'; known are: field")
    assert client.ask("GET /complete?q=x&").status == 200


def test_what_only_elasticsearch_has_is_named_with_what_to_do(client: Client) -> None:
    completion = {"field": "q", "contexts": {"place": ["cafe"]}}
    body = json.dumps({"suggest": {"box": {"prefix": "x", "completion": completion}}}).encode()
    message = client.ask("POST /_search", body=body).json["error"]["message"]
    assert message == (
        "in the suggester 'box', contexts is not supported: completions are not filtered by category; leave it out, or "
        "serve one model per category"
    )


def test_limits_can_be_set(model: Path) -> None:
    client = client_for(model, limits=Limits(longest_prefix=3, most_completions=2, most_prefixes=1, largest_body=40))
    assert len(client.ask("GET /complete?q=ne").texts) == 2
    assert client.ask("GET /complete?q=news").code == "prefix_too_long"
    assert client.ask("GET /complete?q=ne&n=3").code == "bad_n"
    assert client.ask("POST /complete", body=b'{"prefixes": ["a", "b"]}').code == "bad_body"
    assert client.ask("POST /complete", body=b'{"prefixes": ["a"], "n": 1' + b" " * 40 + b"}").code == "body_too_large"


def test_head_has_the_headers_of_get_and_no_body(client: Client) -> None:
    get, head = client.ask("GET /docs"), client.ask("HEAD /docs")
    assert (head.status, head.headers, head.body) == (200, get.headers, b"")


def test_an_answer_can_be_kept_and_asked_again_by_its_tag(client: Client) -> None:
    first = client.ask("GET /complete?q=new")
    assert first.headers["cache-control"] == "public, max-age=60, no-transform"
    again = client.ask("GET /complete?q=new", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status, again.body) == (304, b"")
    strong = {"If-None-Match": first.headers["etag"].removeprefix("W/")}  # as some proxies hand it on
    assert client.ask("GET /complete?q=new", headers=strong).status == 304
    assert client.ask("GET /complete?q=new", headers={"If-None-Match": '"other"'}).status == 200


def test_the_version_changes_with_any_byte_of_the_model(tmp_path: Path) -> None:
    path, content = tmp_path / "m.halfword", bytearray(600_000)
    names = set()
    for place in range(0, len(content), 10_007):
        content[place] = 1
        write_model(path, {"popular.text": Array("U8", bytes(content))}, Card())
        names.add(fingerprint(path))
    assert len(names) == len(range(0, len(content), 10_007))


def test_the_tag_belongs_to_the_version(client: Client) -> None:
    answer = client.ask("GET /complete?q=new")
    assert answer.headers["etag"] == f'W/"{answer.json["model"].partition("@")[2]}"'


def test_a_model_without_checksums_has_a_version_of_its_whole_content(tmp_path: Path) -> None:
    path = tmp_path / "old.halfword"
    shutil.copy(OLD, path)
    before = client_for(path).models.current
    assert client_for(path).models.current.version == before.version
    damage(path, "padding")
    assert client_for(path).models.current.etag != before.etag


def test_padding_hides_the_length_of_an_answer(client: Client, model: Path) -> None:
    lengths = {len(client.ask(f"GET /complete?q={prefix}&pad").body) for prefix in ("", "n", "new+york", "nothing")}
    assert lengths == {4096}
    assert client.ask("GET /complete?q=new&pad=0000").texts == client.ask("GET /complete?q=new").texts
    always = client_for(model, pad=True)
    assert len(always.ask("GET /suggest?q=we").body) == 4096
    assert len(client.ask("POST /complete", body=b'{"prefixes": ["we"], "pad": true}').body) == 4096


def test_other_origins_may_not_read_until_they_are_allowed(client: Client, model: Path) -> None:
    origin = {"Origin": "https://shop.example"}
    assert "access-control-allow-origin" not in client.ask("GET /complete?q=n", headers=origin).headers
    assert client.ask("OPTIONS /complete", headers=origin).code == "method_not_allowed"
    some = client_for(model, allowed_origins=("https://shop.example",))
    allowed = some.ask("GET /complete?q=n", headers=origin).headers
    assert (allowed["access-control-allow-origin"], allowed["vary"]) == ("https://shop.example", "origin")
    refused = some.ask("GET /complete?q=n", headers={"Origin": "https://evil.example"}).headers
    assert "access-control-allow-origin" not in refused
    preflight = some.ask("OPTIONS /complete", headers=origin)
    assert (preflight.status, preflight.headers["access-control-allow-methods"]) == (204, "GET, POST")
    for asked in (client, some):  # the box itself has no secrets
        for name in ("halfword", "combobox", "server"):
            widget = asked.ask(f"GET /{name}.js", headers=origin).headers
            assert widget["access-control-allow-origin"] == "*"
        assert "access-control-allow-origin" not in asked.ask("GET /page.js", headers={"Origin": "null"}).headers
    everyone = client_for(model, allowed_origins=("*",))
    widget = everyone.ask("GET /halfword.js", headers=origin).headers
    assert widget["access-control-allow-origin"] == "*"
    assert "vary" not in widget


def test_a_key_is_needed_once_there_is_a_file_of_them(model: Path, tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    keys.write_text("first-key\nsecond-key\n")
    client = client_for(model, api_key_file=keys)
    for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic first-key"}, {"X-API-Key": ""}):
        answer = client.ask("GET /complete?q=n", headers=headers)
        assert (answer.code, answer.headers["www-authenticate"]) == ("unauthorized", "Bearer")
    for headers in ({"Authorization": "Bearer first-key"}, {"X-API-Key": "second-key"}):
        answer = client.ask("GET /complete?q=n", headers=headers)
        assert (answer.status, answer.headers["cache-control"]) == (200, "private, max-age=60, no-transform")
    assert client.ask("GET /metrics").status == 401
    assert [client.ask(f"GET {path}").status for path in ("/", "/healthz", "/readyz")] == [200, 200, 200]


def test_who_sends_wrong_keys_too_often_has_to_wait(model: Path, tmp_path: Path) -> None:
    (tmp_path / "keys").write_text("right\n")
    client = client_for(model, api_key_file=tmp_path / "keys")
    statuses = [client.ask("GET /complete?q=n", headers={"X-API-Key": str(number)}).status for number in range(12)]
    assert statuses == [401] * 10 + [429] * 2
    refused = client.ask("GET /complete?q=n", headers={"X-API-Key": "right"})  # or guessing would go on
    assert (refused.code, refused.headers["retry-after"]) == ("rate_limited", "1")

    async def another() -> Answer:
        return await client.asked("GET /complete?q=n", headers={"X-API-Key": "right"}, peer="10.0.0.2")

    assert asyncio.run(another()).status == 200


@pytest.mark.parametrize(
    ("options", "answered", "refused"),
    [
        (
            {},
            "localhost 127.0.0.1 LOCALHOST:8080 [::1]:8080 localhost.",
            "evil.example 127.0.0.1.evil.example 10.0.0.1",
        ),
        ({"host": "::1"}, "localhost [::1]", "evil.example"),
        ({"host": "0.0.0.0"}, "evil.example 10.0.0.1:80", ""),
        (
            {"host": "0.0.0.0", "allowed_hosts": ("box.test",)},
            "Box.Test box.test:80 localhost",
            "evil.example x.box.test",
        ),
        ({"allowed_hosts": ("*",)}, "evil.example", ""),
        ({"public_url": "https://box.test/search"}, "box.test localhost", "evil.example"),
    ],
)
def test_a_name_that_is_not_the_servers_is_refused(
    model: Path, options: dict[str, Any], answered: str, refused: str
) -> None:
    client = client_for(model, **options)
    for host in answered.split():
        assert client.ask("GET /complete?q=n", headers={"Host": host}).status == 200, host
        assert client.ask("GET /", headers={"Host": host}).status == 200
    for host in refused.split():
        answer = client.ask("GET /complete?q=n", headers={"Host": host})
        assert (answer.status, answer.code) == (421, "wrong_host")
        assert client.ask("GET /healthz", headers={"Host": host}).status == 200


def test_a_file_without_keys_is_refused(model: Path, tmp_path: Path) -> None:
    (tmp_path / "keys").write_text("\n")
    with pytest.raises(OptionError, match="no API key in it"):
        client_for(model, api_key_file=tmp_path / "keys")


def test_a_client_that_asks_too_often_is_told_when_to_ask_again(model: Path) -> None:
    client = client_for(model, rate_limit=3)
    statuses = [client.ask("GET /complete?q=n").status for _ in range(5)]
    assert statuses == [200, 200, 200, 429, 429]
    refused = client.ask("GET /complete?q=n")
    assert (refused.code, refused.headers["retry-after"]) == ("rate_limited", "1")
    assert [client.ask(f"GET {path}").status for path in ("/metrics", "/", "/healthz")] == [200, 200, 200]


def test_a_proxy_is_believed_only_when_it_is_trusted(model: Path) -> None:
    trusting = client_for(model, rate_limit=1, trusted_proxies=("10.0.0.1",))
    for address in ("1.1.1.1", "2.2.2.2"):
        assert trusting.ask("GET /complete?q=n", headers={"X-Forwarded-For": address}).status == 200
    wary = client_for(model, rate_limit=1)
    asked = [wary.ask("GET /complete?q=n", headers={"X-Forwarded-For": address}) for address in ("1.1.1.1", "2.2.2.2")]
    assert [answer.status for answer in asked] == [200, 429]


@pytest.mark.parametrize(
    "invented",
    [
        ["{}", "1.2.3.4"],  # HAProxy adds a header of its own
        ["{}, 1.2.3.4"],  # nginx adds to the header
        ["{}, 1.2.3.4:5678, 10.9.9.9"],  # a second proxy
    ],
)
def test_a_client_cannot_invent_an_address_to_ask_more_often(model: Path, invented: list[str]) -> None:
    client = client_for(model, rate_limit=1, trusted_proxies=("10.0.0.0/8",))
    statuses = [
        client.ask("GET /complete?q=n", headers={"X-Forwarded-For": [line.format(address) for line in invented]}).status
        for address in ("6.6.6.6", "7.7.7.7", "10.1.1.1")
    ]
    assert statuses == [200, 429, 429]


def test_what_is_no_address_cannot_be_trusted(model: Path) -> None:
    with pytest.raises(OptionError, match=r"trusted-proxies must be addresses like .* got 'proxy'"):
        client_for(model, trusted_proxies=("proxy",))


def test_blocked_phrases_are_neither_completed_nor_offered(model: Path, tmp_path: Path) -> None:
    blocked = tmp_path / "blocked"
    blocked.write_text("# remarks\nTimes\n*eath*\n")
    client = client_for(model, blocklist=blocked)
    assert client.ask("GET /complete?q=new+yo").texts == ["new york"]
    assert client.ask("GET /complete?q=new+york+times+").texts == []
    assert client.ask("GET /complete?q=w").texts == ["web"]
    assert client.ask("GET /complete?q=&n=3").texts == ["new york", "news", "web"]  # the gaps are filled


def test_gaps_are_filled_however_many_are_blocked(make_model: MakeModel) -> None:
    blocked = {f"porn {number}": 9 for number in range(5)}
    model = make_model(blocked | {"popcorn": 2, "poll": 1, "pope": 1})
    assert client_for(model).ask("GET /complete?q=po&n=2").texts == ["popcorn", "poll"]


def test_the_shipped_blocklist_holds_unless_told_otherwise(make_model: MakeModel, tmp_path: Path) -> None:
    model = make_model({"porn": 9, "popcorn": 2, "poll": 1})
    mine = tmp_path / "mine"
    mine.write_text("poll\n")
    assert client_for(model).ask("GET /complete?q=po").texts == ["popcorn", "poll"]
    assert client_for(model, blocklist=mine).ask("GET /complete?q=po").texts == ["popcorn"]
    assert client_for(model, unfiltered=True).ask("GET /complete?q=po").texts == ["porn", "popcorn", "poll"]


def test_an_emptied_blocklist_blocks_nothing_any_more(make_model: MakeModel, tmp_path: Path) -> None:
    model, blocked = make_model(COUNTS), tmp_path / "blocked"
    blocked.write_text("web\n")
    client = client_for(model, blocklist=blocked)
    assert "web" not in client.ask("GET /complete?q=we").texts
    blocked.write_text("")
    assert client.models.reload()
    assert "web" in client.ask("GET /complete?q=we").texts


def test_an_exact_rule_leaves_longer_queries_alone(make_model: MakeModel, tmp_path: Path) -> None:
    blocked = tmp_path / "blocked"
    blocked.write_text("=belt\n")
    client = client_for(make_model({"belt": 9, "belt buckle": 1}), blocklist=blocked)
    assert client.ask("GET /complete?q=be").texts == ["belt buckle"]


FILES = ["/", "/docs", "/example", "/halfword.js", "/combobox.js", "/server.js", "/page.js", "/docs.js", "/page.css"]


@pytest.mark.parametrize("path", FILES)
def test_pages_have_a_strict_policy_and_no_code_inside(client: Client, path: str) -> None:
    answer = client.ask(f"GET {path}")
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert b"<style" not in answer.body
    assert b" style=" not in answer.body
    assert b"https://" not in answer.body.replace(b"https://your.", b"")  # nothing is fetched from elsewhere
    assert client.ask(f"GET {path}", headers={"If-None-Match": answer.headers["etag"]}).status == 304


def test_health_tells_of_the_process_and_readiness_of_the_model(client: Client) -> None:
    assert client.ask("GET /healthz").json == {"status": "alive"}
    assert client.ask("GET /readyz").json == {"status": "ready", "model": client.models.current.version}


def test_readiness_does_not_tell_where_files_lie(make_model: MakeModel, tmp_path: Path) -> None:
    model, blocked = make_model(COUNTS), tmp_path / "secret \x1b lists" / "my list"
    blocked.parent.mkdir()
    blocked.write_text("web\n")
    client = client_for(model, blocklist=blocked)
    blocked.write_text("@soup")
    assert not client.models.reload()
    reason = client.ask("GET /readyz").json["reload_error"]
    assert reason.startswith("my list, line 1: no set is called 'soup'")
    assert "/" not in reason
    blocked.unlink()
    assert not client.models.reload()
    assert str(tmp_path) not in client.ask("GET /readyz").body.decode()
    assert "secret" not in client.ask("GET /readyz").body.decode()
    model.write_bytes(b"nonsense")
    assert not client.models.reload()
    assert str(tmp_path) not in client.ask("GET /readyz").body.decode()


def test_metrics_count_requests_and_cache_hits(client: Client) -> None:
    for line in ("GET /complete?q=n", "GET /complete?q=n", "GET /complete", "GET /nothing"):
        client.ask(line)
    lines = client.ask("GET /metrics").body.decode().splitlines()
    assert 'halfword_requests_total{route="complete",status="200"} 2' in lines
    assert 'halfword_requests_total{route="complete",status="400"} 1' in lines
    assert 'halfword_requests_total{route="other",status="404"} 1' in lines
    assert 'halfword_request_seconds_bucket{le="+Inf"} 4' in lines
    assert "halfword_cache_hits_total 1" in lines
    assert "halfword_queue_length 0" in lines
    assert f'halfword_model_info{{version="{client.models.current.version}"}} 1' in lines


def test_queries_are_logged_only_when_that_is_asked_for(model: Path, tmp_path: Path) -> None:
    cases: list[tuple[dict[str, Any], list[str | None]]] = [
        ({}, []),
        ({"log_requests": True}, [None]),
        ({"log_requests": True, "log_queries": True}, ["secret é"]),
    ]
    for options, logged in cases:
        log = tmp_path / f"log-{len(options)}"
        client = client_for(model, log=log, **options)
        client.ask("GET /complete?q=secret+%C3%A9")
        client.app._log.flush()
        lines = [json.loads(line) for line in log.read_text().splitlines()]
        assert [line.get("query") for line in lines] == logged
        assert all(line["route"] == "complete" and line["status"] == 200 for line in lines)


def test_a_fault_is_a_500_and_its_log_holds_no_query(model: Path, tmp_path: Path) -> None:
    class Broken:
        def complete(self, prefix: str, options: object = None) -> list[object]:
            raise RuntimeError(f"no answer to {prefix}")

    log = tmp_path / "log"
    client = client_for(model, Broken(), log)  # type: ignore[arg-type]
    assert client.ask("GET /complete?q=secret").code == "internal_error"
    assert client.app._log.flush()
    assert "secret" not in log.read_text()
    assert json.loads(log.read_text())["error"] == "RuntimeError"


def test_the_openapi_document_lists_what_there_is_with_its_limits(client: Client) -> None:
    document = client.ask("GET /openapi.json").json
    count = document["paths"]["/complete"]["get"]["parameters"][1]["schema"]
    assert (count["minimum"], count["maximum"]) == (1, 100)
    for path in ("/suggest", "/healthz", "/readyz", "/metrics", "/opensearch.xml"):
        assert document["paths"][path]["get"]["responses"]["200"]


@pytest.mark.parametrize(
    "wrong",
    [{"port": 70_000}, {"workers": 0}, {"queue": -1}, {"deadline_ms": 0}, {"rate_limit": 0}, {"max_age": -1}]
    + [{"allowed_origins": (origin,)} for origin in ("shop.example", "https://shop.example/", "null", "ftp://x")]
    + [{"public_url": "search.example"}, {"allowed_hosts": ("box.test:80",)}, {"allowed_hosts": ("https://box.test",)}],
)
def test_options_out_of_range_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(OptionError, match=r"must (lie|be)"):
        ServeOptions(model=Path("m"), **wrong)  # type: ignore[arg-type]
