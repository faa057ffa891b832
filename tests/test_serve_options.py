"""Options of the search come over HTTP, or with the server's start for all requests."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from halfword import load
from halfword.cli.options import derived
from halfword.core.errors import OptionError
from halfword.core.options import Invent, SearchOptions
from halfword.serve.options import ServeOptions
from tests.serving import Client, client_for
from tests.toy import Toy, write_toy

pytestmark = pytest.mark.engine

SURE = {"min_probability": 0.05}
CAREFUL = {"min_probability": 0.0, "invent": "never"}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    toy = Toy(parts=("popular", "ngram"), spread=0.7)
    return write_toy(tmp_path_factory.mktemp("options") / "toy.halfword", toy)


@pytest.fixture
def client(model: Path) -> Client:
    return client_for(model)


def address(chosen: dict[str, Any]) -> str:
    return "".join(f"&{name}={value}" for name, value in chosen.items())


@pytest.mark.parametrize("chosen", [SURE, CAREFUL])
def test_every_shape_of_request_takes_them(client: Client, model: Path, chosen: dict[str, Any]) -> None:
    expected = load(model).complete("a", **chosen).texts
    assert expected != load(model).complete("a").texts
    assert client.ask(f"GET /complete?q=a{address(chosen)}").texts == expected
    assert client.ask(f"GET /suggest?q=a{address(chosen)}").json == ["a", expected]
    batch = client.ask("POST /complete", body=json.dumps({"prefixes": ["a"], **chosen}).encode())
    assert [row["text"] for row in batch.json["results"][0]["completions"]] == expected
    suggester = {"prefix": "a", "completion": {"field": "query", "size": 10, **chosen}}
    search = client.ask("POST /_search", body=json.dumps({"suggest": {"any": suggester}}).encode())
    assert [option["text"] for option in search.json["suggest"]["any"][0]["options"]] == expected


def test_the_cache_keeps_answers_to_different_options_apart(client: Client) -> None:
    asked = ("", address(SURE), address(CAREFUL), "&n=2", "")
    first = [client.ask(f"GET /complete?q=a{each}").texts for each in asked]
    again = [client.ask(f"GET /complete?q=a{each}").texts for each in asked]
    assert first == again
    assert first[0] != first[1] != first[2]


def test_the_server_can_be_started_with_them(model: Path) -> None:
    client = client_for(model, search=SearchOptions(count=2, min_probability=0.0, invent=Invent.NEVER))
    expected = load(model).complete("a", **CAREFUL).texts  # type: ignore[arg-type]
    assert client.ask("GET /complete?q=a").texts == expected[:2]
    assert client.ask("GET /complete?q=a&n=10").texts == expected
    freely = client.ask("GET /complete?q=a&n=10&invent=freely").texts
    assert freely == load(model).complete("a", min_probability=0.0, invent="freely").texts != expected
    batch = client.ask("POST /complete", body=b'{"prefixes": ["a"]}').json
    assert [row["text"] for row in batch["results"][0]["completions"]] == expected[:2]
    parameters = client.ask("GET /openapi.json").json["paths"]["/complete"]["get"]["parameters"]
    defaults = {each["name"]: each["schema"].get("default") for each in parameters}
    assert (defaults["n"], defaults["invent"], defaults["min_probability"]) == (2, "never", 0.0)


def test_an_answer_under_other_options_has_another_etag(model: Path) -> None:
    tags = {
        client_for(model, search=search).ask("GET /complete?q=a").headers["etag"]
        for search in (SearchOptions(), SearchOptions(invent=Invent.NEVER), SearchOptions(min_probability=0.1))
    }
    assert len(tags) == 3
    plain = client_for(model).ask("GET /complete?q=a").headers["etag"]
    assert plain in tags


@pytest.mark.parametrize(
    "chosen",
    ["min_probability=2", "min_probability=nan", "min_probability=", "min_probability=x", "invent=", "invent=NEVER"],
)
def test_a_wrong_value_is_refused_in_the_address(client: Client, chosen: str) -> None:
    answer = client.ask(f"GET /complete?q=a&{chosen}")
    assert (answer.status, answer.code) == (400, "bad_option")
    assert chosen.partition("=")[0] in answer.json["error"]["message"]


@pytest.mark.parametrize(
    "chosen", [{"min_probability": "0.1"}, {"min_probability": True}, {"min_probability": []}, {"invent": None}]
)
def test_a_wrong_value_is_refused_in_a_body(client: Client, chosen: dict[str, Any]) -> None:
    assert client.ask("POST /complete", body=b'{"prefixes": ["a"], "min_probability": 1}').status == 200
    answer = client.ask("POST /complete", body=json.dumps({"prefixes": ["a"], **chosen}).encode())
    assert (answer.status, answer.code) == (400, "bad_option")


def test_null_leaves_the_choice_to_the_model(model: Path) -> None:
    client = client_for(model, search=SearchOptions(min_probability=0.3))
    answer = client.ask("POST /complete", body=b'{"prefixes": ["a"], "min_probability": null}')
    expected = load(model).complete("a").texts
    assert [row["text"] for row in answer.json["results"][0]["completions"]] == expected


def test_what_a_model_cannot_promise_is_an_error(tmp_path: Path) -> None:
    wordless = write_toy(tmp_path / "wordless.halfword", Toy(parts=("ngram",)))
    answer = client_for(wordless).ask("GET /complete?q=a&invent=never")
    assert (answer.status, answer.code) == (400, "bad_option")
    assert "this model has no list of words" in answer.json["error"]["message"]
    with pytest.raises(OptionError, match="no list of words"):
        client_for(wordless, search=SearchOptions(invent=Invent.NEVER))


def test_the_command_line_offers_them(model: Path) -> None:
    command = [sys.executable, "-m", "halfword", "serve"]
    refused = subprocess.run([*command, "--model", model, "--invent", "always"], capture_output=True, text=True)
    assert refused.returncode == 2
    assert "--invent must be one of never, careful, freely" in refused.stderr
    assert {"invent", "min_probability", "count"} <= {each.name for each in derived(ServeOptions)}
