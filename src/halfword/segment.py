"""Segmentation: SentencePiece cuts a query into the pieces that the network reads."""

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from halfword.errors import ModelFileError, require
from halfword.model_file import Array

if TYPE_CHECKING:
    import sentencepiece


class Kind(StrEnum):
    """How pieces are chosen; the position in this list is the number in a model file."""

    CHAR = "char"
    BPE = "bpe"
    UNIGRAM = "unigram"


_KIND_OF_MODEL_TYPE = {1: Kind.UNIGRAM, 2: Kind.BPE, 4: Kind.CHAR}  # TrainerSpec.ModelType of SentencePiece


class Segmenter:
    """A trained SentencePiece model: text in, ids of pieces out."""

    def __init__(self, model: bytes) -> None:
        spm = require("sentencepiece", "train")
        self.model = model
        self.kind = _KIND_OF_MODEL_TYPE[_model_type(model)]
        self._processor: sentencepiece.SentencePieceProcessor = spm.SentencePieceProcessor(model_proto=model)
        self.size: int = self._processor.vocab_size()
        self.unknown: int = self._processor.unk_id()
        self.begin: int = self._processor.bos_id()
        self.end: int = self._processor.eos_id()

    def __reduce__(self) -> tuple[type["Segmenter"], tuple[bytes]]:
        return Segmenter, (self.model,)

    def encode(self, queries: Sequence[str]) -> list[list[int]]:
        """Return the best segmentation of each query."""
        pieces: list[list[int]] = self._processor.encode(list(queries), num_threads=1)
        return pieces

    def piece(self, number: int) -> str:
        """Return the text of a piece as SentencePiece spells it."""
        text: str = self._processor.id_to_piece(number)
        return text

    def score(self, number: int) -> float:
        """Return what SentencePiece ranks the piece by: a log-probability, or minus the rank of a merge."""
        score: float = self._processor.get_score(number)
        return score

    def piece_kind(self, number: int) -> int:
        """Return SentencePiece's number for the kind of a piece."""
        processor = self._processor
        tests = (
            (processor.is_unknown, 2),
            (processor.is_control, 3),
            (processor.is_unused, 5),
            (processor.is_byte, 6),
        )
        return next((kind for test, kind in tests if test(number)), 1)


def piece_arrays(segmenter: Segmenter) -> dict[str, Array]:
    """Return the pieces as arrays for a model file."""
    import numpy as np

    numbers = range(segmenter.size)
    texts = [segmenter.piece(number).encode() for number in numbers]
    special = [list(Kind).index(segmenter.kind), segmenter.unknown, segmenter.begin, segmenter.end]
    begin = np.cumsum([0, *map(len, texts)])
    scores = [segmenter.score(number) for number in numbers]
    return {
        "pieces.special": Array("U32", np.array(special, dtype="<u4").tobytes()),
        "pieces.text": Array("U8", b"".join(texts)),
        "pieces.begin": Array("U32", begin.astype("<u4").tobytes()),
        "pieces.score": Array("F32", np.array(scores, dtype="<f4").tobytes()),
        "pieces.kind": Array("U8", bytes(segmenter.piece_kind(number) for number in numbers)),
    }


def _model_type(model: bytes) -> int:
    """Return TrainerSpec.model_type (field 3 of field 2), read here because the protobuf package may be missing."""
    try:
        trainer = dict(_fields(model)).get(2, b"")
        model_type = dict(_fields(trainer)).get(3, 1)
    except (IndexError, TypeError, ValueError):
        model_type = None
    if model_type not in _KIND_OF_MODEL_TYPE:
        raise ModelFileError("the SentencePiece model is damaged, or of a kind other than char, bpe and unigram")
    return int(model_type)


def _fields(message: bytes) -> list[tuple[int, Any]]:
    """Return (number, value) of each field of a protobuf message: bytes, or an integer."""
    fields: list[tuple[int, Any]] = []
    position = 0
    while position < len(message):
        key, position = _varint(message, position)
        match key & 7:
            case 0:
                value, position = _varint(message, position)
                fields.append((key >> 3, value))
            case 2:
                length, position = _varint(message, position)
                fields.append((key >> 3, message[position : position + length]))
                position += length
            case 1 | 5 as wire:
                position += 8 if wire == 1 else 4
            case wire:
                raise ValueError(f"wire type {wire}")
    return fields


def _varint(message: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[position]
        position += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, position
        shift += 7
