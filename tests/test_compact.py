"""A network that is stored in 8 bits only completes, and as the plain one says."""

from pathlib import Path

import pytest

from halfword.core.model_file import read_header
from halfword.data.dataset import open_dataset
from halfword.search.model import load
from halfword.search.reference import PlainNeural
from halfword.training.options import TrainOptions
from halfword.training.train import train
from tests.toy import Toy, write_toy


@pytest.fixture
def compact(tmp_path: Path, text_folder: Path) -> Path:
    base = write_toy(tmp_path / "base.halfword", Toy(layers=2, summary=5))
    output = tmp_path / "small.halfword"
    train(open_dataset(text_folder), output, TrainOptions(parts=("network",), base=base, compact=True))
    assert output.stat().st_size < base.stat().st_size
    return output


def test_the_32_bit_matrices_are_left_out(compact: Path) -> None:
    names = set(read_header(compact).places)
    assert {"network.embedding.int8", "network.embedding.scale", "network.output_bias"} <= names
    assert not {"network.embedding", "network.projection", "network.layer0.input"} & names


@pytest.mark.engine
@pytest.mark.parametrize("prefix", ["", "a", "ab c", "d"])
def test_the_engine_completes_as_the_plain_search_does(compact: Path, prefix: str) -> None:
    model = load(compact, precision="fp32")
    found, expected = model.complete(prefix), PlainNeural(compact, model._engine.segment_best).complete(prefix)
    assert [completion.text for completion in found] == [completion.text for completion in expected]
    assert [each.score for each in found] == pytest.approx([each.score for each in expected], abs=1e-3)
    assert load(compact).complete(prefix)
