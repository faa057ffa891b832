"""Segmentation: SentencePiece cuts a query into the pieces that the network reads."""

import io
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from halfword.core.errors import DatasetError, ModelFileError, OptionError, require
from halfword.core.fields import option
from halfword.core.model_file import Array
from halfword.data.query_table import QueryTable
from halfword.search.model import import_engine

if TYPE_CHECKING:
    import sentencepiece


class Kind(StrEnum):
    """How pieces are chosen; the position in this list is the number in a model file."""

    CHAR = "char"
    BPE = "bpe"
    UNIGRAM = "unigram"


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentOptions:
    """Which pieces to learn, and how many."""

    kind: Kind = option(Kind.BPE, "char, bpe or unigram.", "segmentation", rare=True, preset=True)
    # 0: chosen by the size of the data
    size: int = option(0, "Pieces to learn.", "vocabulary", rare=True, preset=True)
    coverage: float = 1.0  # share of the text whose characters get a piece; SentencePiece's default is 0.9995

    def __post_init__(self) -> None:
        if self.size and not 8 <= self.size <= 65536:
            raise OptionError(f"vocabulary must lie between 8 and 65536 pieces, got {self.size}")
        if not _LEAST_COVERAGE <= self.coverage <= 1:
            raise OptionError(f"coverage must lie between 0.98 and 1, got {self.coverage}")


_LEAST_COVERAGE = 0.98  # the smallest value that SentencePiece accepts
_SMALL_VOCABULARY, _LARGE_VOCABULARY, _LARGE_LOG = 256, 1024, 200_000
_BYTES = 256  # the number of pieces that byte fallback adds
_SPECIALS = 3  # unknown, begin and end
_MOST_SENTENCES = 4_000_000  # a larger sample does not improve the pieces, but takes longer
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
        pieces: list[list[int]] = self._processor.encode(list(queries), num_threads=os.cpu_count() or 1)
        return pieces

    def cut(self, query: str) -> list[int]:
        """Return the best segmentation of one query."""
        pieces: list[int] = self._processor.encode(query)
        return pieces

    def piece(self, number: int) -> str:
        """Return the text of a piece as SentencePiece spells it."""
        text: str = self._processor.id_to_piece(number)
        return text

    def score(self, number: int) -> float:
        """Return the score of a piece: its log-probability (unigram), or minus the rank of its merge (BPE)."""
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


def train_segmenter(counts: Mapping[str, int], options: SegmentOptions) -> Segmenter:
    """Learn pieces from queries and their counts."""
    if not counts:
        raise DatasetError("there is no query to learn pieces from")
    spm = require("sentencepiece", "train")
    asked, options = options.size, options if options.size else _suited(counts, options)
    writer = io.BytesIO()
    try:
        spm.SentencePieceTrainer.train(
            sentence_iterator=(f"{text}\t{count}" for text, count in _sentences(counts, options.kind)),
            input_format="tsv",
            model_writer=writer,
            model_type=str(options.kind),
            vocab_size=options.size,
            normalization_rule_name="identity",  # the text is normalised already (text.py)
            input_sentence_size=_MOST_SENTENCES,
            num_threads=os.cpu_count() or 1,
            minloglevel=2,
            hard_vocab_limit=bool(asked) and options.kind is not Kind.CHAR,
            **_coverage(counts, options),
        )
    except RuntimeError as error:
        raise OptionError(_explain(str(error), options)) from error
    return Segmenter(writer.getvalue())


def _sentences(counts: Mapping[str, int], kind: Kind) -> Iterable[tuple[str, int]]:
    """Return what pieces are learned from: of a table its words, because no piece of these kinds spans two words."""
    if not isinstance(counts, QueryTable) or kind is Kind.UNIGRAM:
        return counts.items()
    text, begin, occurrences, *_ = import_engine().word_columns(counts.columns)
    pairs: Iterable[tuple[str, int]] = QueryTable(text, begin, occurrences).items()
    return pairs


def _characters(counts: Mapping[str, int]) -> Counter[str]:
    """Return how often each character was typed."""
    if isinstance(counts, QueryTable):
        return Counter(dict(import_engine().character_counts(counts.columns)))
    typed: Counter[str] = Counter()
    for query, count in counts.items():
        for character in query:
            typed[character] += count
    return typed


def _suited(counts: Mapping[str, int], options: SegmentOptions) -> SegmentOptions:
    """Choose the size of the vocabulary: few pieces for a small log, more if it has many different characters."""
    size = _LARGE_VOCABULARY if sum(counts.values()) >= _LARGE_LOG else _SMALL_VOCABULARY
    characters = len(_characters(counts))
    return replace(options, size=max(size, min(2 * characters, _LARGE_VOCABULARY * 8) + _SPECIALS))


def _coverage(counts: Mapping[str, int], options: SegmentOptions) -> dict[str, Any]:
    """Give every character a piece; if that would fill half the vocabulary, spell the rare ones in bytes."""
    typed = _characters(counts)
    room = options.size - _SPECIALS
    if options.coverage < 1 or len(typed) <= room // 2:
        return {"character_coverage": options.coverage}
    share = sum(count for _, count in typed.most_common(max(room - _BYTES, 0) // 2)) / typed.total()
    if share >= _LEAST_COVERAGE:
        return {"character_coverage": share, "byte_fallback": True}
    if len(typed) < room:  # the space has a piece too
        return {"character_coverage": 1.0}
    needed = min(_characters_for(_LEAST_COVERAGE, typed) * 2 + _BYTES, len(typed) + 1) + _SPECIALS
    raise OptionError(
        f"the data holds {len(typed):,} different characters, too many for {options.size} pieces; "
        f"ask for a vocabulary of {needed} or more"
    )


def _characters_for(share: float, typed: Counter[str]) -> int:
    covered = 0
    for number, (_, count) in enumerate(typed.most_common(), 1):
        covered += count
        if covered >= share * typed.total():
            return number
    return len(typed)


def _explain(message: str, options: SegmentOptions) -> str:
    """Return one line that says why SentencePiece failed."""
    asked = f"a {options.kind} vocabulary of {options.size} pieces"
    if most := re.search(r"Please set it to a value <= (\d+)", message):
        return f"{asked} is larger than the data allows; ask for {most[1]} or fewer"
    if least := re.search(r"smaller than required_chars\. \d+ vs (\d+)", message):
        return f"{asked} is too small for the characters of the data; ask for {least[1]} or more"
    return f"{asked} cannot be learned ({message.splitlines()[0]}); ask for another size"


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
    """Return TrainerSpec.model_type (field 3 of field 2); decoded here because protobuf may not be installed."""
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
