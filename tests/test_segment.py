"""Pieces are learned from counts, cover every script, and arrive in the model file as SentencePiece spells them."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
import sentencepiece

from halfword.core.errors import DatasetError, ModelFileError, OptionError
from halfword.training.segment import Kind, Segmenter, SegmentOptions, piece_arrays, train_segmenter

COUNTS = {"new york": 5, "new york times": 7, "news": 5, "weather": 3, "web": 3, "weather in new york": 1}
SIZES = {Kind.CHAR: 30, Kind.BPE: 30, Kind.UNIGRAM: 24}


@pytest.mark.parametrize("kind", Kind)
def test_the_kind_is_read_back_from_the_model(kind: Kind) -> None:
    segmenter = train_segmenter(COUNTS, SegmentOptions(kind=kind, size=SIZES[kind]))
    assert segmenter.kind is kind
    assert segmenter.size <= SIZES[kind]


def test_a_count_weighs_as_much_as_so_many_repeats() -> None:
    options = SegmentOptions(kind=Kind.BPE, size=12)
    rows = {"ab": 1, "cd": 9, "abc de cdb": 1}
    assert train_segmenter(rows, options).piece(3) == "cd"
    assert train_segmenter({**rows, "ab": 90}, options).piece(3) == "ab"


def test_the_arrays_spell_each_piece() -> None:
    segmenter = train_segmenter(COUNTS, SegmentOptions(kind=Kind.BPE, size=30))
    arrays = piece_arrays(segmenter)
    begin = np.frombuffer(arrays["pieces.begin"].data, "<u4")
    text = arrays["pieces.text"].data
    spelled = [text[start:end].decode() for start, end in pairwise(begin)]
    assert spelled == [segmenter.piece(number) for number in range(30)]
    assert np.frombuffer(arrays["pieces.special"].data, "<u4").tolist() == [1, 0, 1, 2]
    assert list(arrays["pieces.kind"].data) == [2, 3, 3] + [1] * 27
    assert np.frombuffer(arrays["pieces.score"].data, "<f4")[4] == -1


def test_every_character_gets_a_piece_where_there_is_room() -> None:
    segmenter = train_segmenter({**COUNTS, "東京 2020": 1}, SegmentOptions(kind=Kind.BPE, size=60))
    assert all(segmenter.unknown not in pieces for pieces in segmenter.encode(["東京", "2002"]))


def test_rare_characters_are_spelled_in_bytes_where_there_is_no_room() -> None:
    counts = {chr(0x4E00 + number): 1 for number in range(300)} | {"new york times": 100_000}
    segmenter = train_segmenter(counts, SegmentOptions(kind=Kind.BPE, size=290))
    (pieces,) = segmenter.encode(["new 一"])
    assert segmenter.unknown not in pieces
    assert [segmenter.piece_kind(piece) for piece in pieces][-3:] == [6, 6, 6]


def test_a_vocabulary_larger_than_the_data_allows_is_an_error_with_a_remedy() -> None:
    with pytest.raises(OptionError, match=r"larger than the data allows; ask for \d+ or fewer"):
        train_segmenter(COUNTS, SegmentOptions(kind=Kind.BPE, size=3000))


def test_a_vocabulary_too_small_for_the_characters_is_an_error_with_a_remedy() -> None:
    with pytest.raises(OptionError, match="ask for a vocabulary of"):
        train_segmenter(COUNTS, SegmentOptions(kind=Kind.UNIGRAM, size=10))


def test_no_query_is_an_error() -> None:
    with pytest.raises(DatasetError, match="no query"):
        train_segmenter({}, SegmentOptions())


def test_a_foreign_model_is_refused() -> None:
    with pytest.raises(ModelFileError, match="damaged"):
        Segmenter(b"\xff\xff\xff")


def test_a_segmenter_travels_to_another_process() -> None:
    segmenter = train_segmenter(COUNTS, SegmentOptions(kind=Kind.BPE, size=30))
    again = pickle.loads(pickle.dumps(segmenter))
    plain = sentencepiece.SentencePieceProcessor(model_proto=segmenter.model)
    assert again.encode(["new web"]) == [plain.encode("new web")]
