"""The engine copies from the earlier queries of a session as the plain search does."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from halfword import Model, SearchOptions, load
from halfword.core.errors import ModelFileError
from halfword.core.model_file import Array, read_header, write_model
from halfword.core.verify import read_arrays
from halfword.search.reference import PlainNeural
from tests.test_neural import OPTIONS, PREFIXES, TOYS, assert_equal
from tests.toy import Toy, write_toy

pytestmark = pytest.mark.engine
COPYING = Toy(pointer=6)
CONTEXTS = st.lists(st.text(alphabet="abcdé x", min_size=1, max_size=60).map(str.strip).filter(bool), max_size=5)


def queries_of(context: list[str]) -> list[str]:
    return [" ".join(query.split()) for query in context]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=150)
@given(toy=TOYS, size=st.sampled_from([1, 4, 17]), prefix=PREFIXES, context=CONTEXTS, options=OPTIONS)
def test_it_equals_the_plain_search(
    toy: Toy, size: int, prefix: str, context: list[str], options: SearchOptions, tmp_path: Path
) -> None:
    path = write_toy(tmp_path / "random.halfword", replace(toy, pointer=size))
    model = load(path, precision="fp32")
    plain = PlainNeural(path, model._engine.segment_best)
    for _ in ("cold", "warm"):
        found = model.complete(prefix, options, context=context)
        expected = plain.complete(prefix, options, context=queries_of(context))
        if plain.closest_call > 1e-4:
            assert_equal(found, expected)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Model:
    return load(write_toy(tmp_path_factory.mktemp("copying") / "toy.halfword", COPYING), precision="fp32")


def test_without_context_nothing_changes(model: Model, tmp_path: Path) -> None:
    alone = load(write_toy(tmp_path / "alone.halfword", replace(COPYING, pointer=0)), precision="fp32")
    for prefix in ("", "a", "ab c"):
        assert model.complete(prefix) == alone.complete(prefix)


def test_a_context_does_not_change_later_answers_without_it(model: Model) -> None:
    before = model.complete("a")
    assert model.complete("a", context=["abcd cab"]) != before
    assert model.complete("a") == before


def changed(path: Path, arrays: dict[str, Array]) -> Path:
    header = read_header(path)
    write_model(path, {**read_arrays(path, header), **arrays}, header.card, policy=header.policy)
    return path


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("key", [1.0] * 7),
        ("query", [1.0] * 12),
        ("nothing", []),
        ("nothing_bias", [float("nan")]),
        ("age", []),
        ("age", [float("inf")]),
        ("by_class", [0.0]),
    ],
)
def test_a_damaged_pointer_is_refused(name: str, values: list[float], tmp_path: Path) -> None:
    path = write_toy(tmp_path / "damaged.halfword", COPYING)
    data = np.array(values, "<f4")
    with pytest.raises(ModelFileError):
        load(changed(path, {f"pointer.{name}": Array("F32", data.tobytes(), data.shape)}))
