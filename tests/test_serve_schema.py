"""Schemathesis asks the app everything that its OpenAPI document allows, and much that it forbids."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from halfword.core.card import Card
from halfword.core.model_file import write_model
from halfword.serve.http.openapi import document
from halfword.serve.options import Limits
from halfword.training.train import popular_arrays
from tests.conftest import COUNTS
from tests.serving import Server, serving

EXAMPLES = int(os.environ.get("HALFWORD_EXAMPLES", "30"))  # of each endpoint; thousands before a release
schemathesis = pytest.importorskip("schemathesis")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    model: Path = tmp_path_factory.mktemp("model") / "m.halfword"
    write_model(model, popular_arrays(COUNTS), Card(profile="default"))
    with serving(model) as running:
        yield running


schema = schemathesis.openapi.from_dict(document(Limits()))


@schema.parametrize()  # type: ignore[untyped-decorator]
@settings(max_examples=EXAMPLES, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
def test_the_server_keeps_to_its_document(case: Any, server: Server) -> None:
    case.call_and_validate(base_url=server.address)
