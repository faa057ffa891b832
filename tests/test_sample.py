"""Segmentations are drawn as SentencePiece defines it: every path in proportion to exp(alpha × its score)."""

import math
from collections import Counter

import pytest
import torch

from halfword.training.network.sample import sampled_tokens
from halfword.training.segment import Kind, Segmenter, SegmentOptions, train_segmenter

CPU = torch.device("cpu")
COUNTS = {"new york": 5, "new york times": 7, "news": 5, "weather": 3, "web": 3, "weather in new york": 1, "ate": 2}


@pytest.fixture(scope="module")
def segmenter() -> Segmenter:
    return train_segmenter(COUNTS, SegmentOptions(kind=Kind.UNIGRAM, size=24))


def draw(
    segmenter: Segmenter, query: str, alpha: float, times: int = 20_000, most: int = 40
) -> Counter[tuple[int, ...]]:
    source = sampled_tokens(["web", query], segmenter, most, alpha, CPU)
    rows = source.tokens(torch.ones(times, dtype=torch.int64), torch.Generator().manual_seed(0))
    return Counter(tuple(piece for piece in row if piece >= 0) for row in rows.tolist())


def all_paths(segmenter: Segmenter, text: str) -> list[tuple[int, ...]]:
    if not text:
        return [(segmenter.end,)]
    pieces = [(segmenter.piece(number), number) for number in range(3, segmenter.size)]
    return [
        (number, *rest)
        for piece, number in pieces
        if text.startswith(piece)
        for rest in all_paths(segmenter, text[len(piece) :])
    ]


@pytest.mark.parametrize("alpha", [0.2, 1.0])
def test_a_path_is_drawn_in_proportion_to_its_score(segmenter: Segmenter, alpha: float) -> None:
    paths = all_paths(segmenter, "▁new▁web")
    weights = {path: math.exp(alpha * sum(segmenter.score(piece) for piece in path[:-1])) for path in paths}
    found = draw(segmenter, "new web", alpha)
    assert len(paths) > 3
    assert set(found) <= set(paths)
    for path, weight in weights.items():
        assert found[path] / 20_000 == pytest.approx(weight / sum(weights.values()), abs=0.015)


def test_the_draw_depends_on_the_generator_alone(segmenter: Segmenter) -> None:
    source = sampled_tokens(list(COUNTS), segmenter, 40, 0.2, CPU)
    rows = torch.arange(len(COUNTS)).repeat(20)
    first, again, other = (source.tokens(rows, torch.Generator().manual_seed(seed)) for seed in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


def test_a_run_of_unknown_characters_is_one_unknown_piece(segmenter: Segmenter) -> None:
    (best,) = segmenter.encode(["web 東京"])
    assert best.count(segmenter.unknown) == 1
    assert (*best, segmenter.end) in draw(segmenter, "web 東京", alpha=1.0)


def test_unknown_characters_are_spelled_in_bytes_where_the_pieces_have_them() -> None:
    rare = {chr(0x4E00 + number): 1 for number in range(300)}
    common = {f"{a}{b} {b}{a}": 5_000 for a in ("new", "yor", "tim", "web") for b in ("kes", "ork", "wen", "tri")}
    segmenter = train_segmenter(rare | common, SegmentOptions(kind=Kind.UNIGRAM, size=290))
    (best,) = segmenter.encode(["new 一"])
    assert segmenter.unknown not in best
    assert (*best, segmenter.end) in draw(segmenter, "new 一", alpha=1.0)


def test_a_long_query_is_cut(segmenter: Segmenter) -> None:
    assert {len(path) for path in draw(segmenter, "new york times new york times", alpha=0.2, most=5)} == {5}
