"""The engine cuts text exactly as SentencePiece does."""

import random
from pathlib import Path

import pytest

from halfword.core.card import Card
from halfword.core.errors import ModelFileError
from halfword.core.model_file import read_header, write_model
from halfword.search.model import import_engine, load, open_model_file
from halfword.training.segment import Kind, Segmenter, SegmentOptions, piece_arrays, train_segmenter
from tests.toy import Toy, write_toy

pytestmark = pytest.mark.engine
WORDS = [
    "new",
    "york",
    "times",
    "weather",
    "google",
    "maps",
    "cheap",
    "flights",
    "to",
    "map",
    "quest",
    "서울",
    "날씨",
    "한국어",
    "東京",
    "天気",
    "ニュース",
    "طقس",
    "القاهرة",
    "погода",
    "москва",
    "straße",
    "café",
    "naïve",
    "👩",
    "😀",
    "www.example.com",
    "2006",
    "c++",
    "r&b",
    "o'neill",
    "x",
]


def queries(chance: random.Random, size: int) -> list[str]:
    """Return made-up queries of many scripts, some with words glued together."""
    glue = (" ", " ", " ", "")
    return [
        "".join(chance.choice(WORDS) + chance.choice(glue) for _ in range(chance.randint(1, 5))).strip()
        for _ in range(size)
    ]


@pytest.mark.parametrize("kind", list(Kind))
@pytest.mark.parametrize("unseen", ["", "Ω≈ç√ÿ汉字ゞ𝔘"])
def test_it_cuts_as_sentencepiece_does(kind: Kind, unseen: str, tmp_path: Path) -> None:
    chance = random.Random(1)
    counts = dict.fromkeys(queries(chance, 3000), 1)
    segmenter: Segmenter = train_segmenter(counts, SegmentOptions(kind=kind, size=170))
    path = tmp_path / "pieces.halfword"
    write_model(path, piece_arrays(segmenter), Card(profile="default"))
    engine = import_engine().Segmenter(open_model_file(path, read_header(path)))
    asked = [query + chance.choice([*unseen, ""]) + chance.choice(["", "a"]) for query in queries(chance, 4000)]
    assert engine.segment_batch(asked) == segmenter.encode(asked)


def test_a_piece_too_long_to_be_a_piece_is_refused(tmp_path: Path) -> None:
    assert load(write_toy(tmp_path / "long.halfword", Toy(pieces=("a", "a" * 256)))).complete("a")
    with pytest.raises(ModelFileError, match="a piece is longer than any that is learned"):
        load(write_toy(tmp_path / "longer.halfword", Toy(pieces=("a", "a" * 257))))
