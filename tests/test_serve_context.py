"""The server answers with the session's earlier queries, and keeps and logs none of them."""

import json
from pathlib import Path

import pytest

from halfword import load
from halfword.core.context import LONGEST_QUERY
from halfword.search.model import import_engine
from halfword.training.ranker import RankerWeights
from tests.serving import Client, client_for
from tests.toy import Toy, write_toy

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a model that trusts the session."""
    trusting = RankerWeights.read(part="session").linear
    trusting[import_engine().feature_names().index("session_repeat")] = 20.0
    toy = Toy(parts=("popular", "ngram"), arrays={"ranker.session.linear": trusting.tolist()})
    return write_toy(tmp_path_factory.mktemp("serve") / "toy.halfword", toy)


@pytest.fixture
def client(model: Path) -> Client:
    return client_for(model)


def test_context_is_a_repeated_parameter_oldest_first(client: Client, model: Path) -> None:
    answer = client.ask("GET /complete?q=ab&context=ab+x&context=AB%20xy")
    expected = load(model).complete("ab", context=["ab x", "AB xy"])
    assert answer.texts == expected.texts
    assert {row["text"]: row["source"] for row in answer.json["completions"]}["ab xy"] == "session"
    assert client.ask("GET /suggest?q=ab&context=ab+x&context=AB%20xy").json == ["ab", expected.texts]


def test_context_comes_in_a_body_too(client: Client, model: Path) -> None:
    expected = load(model).complete("ab", context=["ab x"]).texts
    batch = client.ask("POST /complete", body=json.dumps({"prefixes": ["ab", "a"], "context": ["ab x"]}).encode())
    assert [row["text"] for row in batch.json["results"][0]["completions"]] == expected
    suggester = {"prefix": "ab", "context": ["ab x"], "completion": {"field": "query", "size": 10}}
    search = client.ask("POST /_search", body=json.dumps({"suggest": {"any": suggester}}).encode())
    assert [option["text"] for option in search.json["suggest"]["any"][0]["options"]] == expected


def test_nobody_keeps_an_answer_to_a_session(client: Client) -> None:
    alone = client.ask("GET /complete?q=ab")
    with_context = client.ask("GET /complete?q=ab&context=ab+x", headers={"If-None-Match": alone.headers["etag"]})
    assert with_context.status == 200
    assert with_context.headers["cache-control"] == "no-store"
    assert "etag" not in with_context.headers
    assert client.ask("GET /complete?q=ab").texts == alone.texts != with_context.texts
    assert client.ask("GET /complete?q=ab&context=d").texts != with_context.texts


@pytest.mark.parametrize(
    "context", [["x"] * 21, ["x" * (LONGEST_QUERY + 1)], "ab x", [3], None, {"a": "b"}], ids=lambda each: str(each)[:9]
)
def test_a_wrong_context_is_refused(context: object, client: Client) -> None:
    answer = client.ask("POST /complete", body=json.dumps({"prefixes": ["ab"], "context": context}).encode())
    assert (answer.status, answer.json["error"]["code"]) == (400, "bad_context")


def test_a_wrong_context_in_the_address_is_refused(client: Client) -> None:
    assert client.ask("GET /complete?q=ab&context=%ff").json["error"]["code"] == "not_utf8"
    assert client.ask("GET /complete?q=ab" + "&context=x" * 11).json["error"]["code"] == "bad_context"


def test_the_log_holds_no_context(model: Path, tmp_path: Path) -> None:
    client = client_for(model, log=tmp_path / "log", log_requests=True, log_queries=True)
    client.ask("GET /complete?q=ab&context=secret")
    client.ask("POST /complete", body=b'{"prefixes": ["ab"], "context": ["secret"]}')
    assert "secret" not in (tmp_path / "log").read_text()
