"""The pieces of a model file, used again where a segmenter is expected."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import numpy as np

from halfword.core.model_file import Array
from halfword.training.segment import Kind, Segmenter


class StoredSegmenter(Segmenter):
    """A segmenter whose pieces lie in the arrays of a model file; the engine cuts with them as SentencePiece would."""

    def __init__(self, arrays: Mapping[str, Array], segment: Callable[[list[str]], list[list[int]]]) -> None:
        kind, unknown, begin, end = np.frombuffer(arrays["pieces.special"].data, "<u4").tolist()
        bounds = np.frombuffer(arrays["pieces.begin"].data, "<u4").tolist()
        text = arrays["pieces.text"].data
        self.kind, self.unknown, self.begin, self.end = list(Kind)[kind], unknown, begin, end
        self.model = text  # stands for it in checkpoints
        self.size = len(bounds) - 1
        self._texts = [text[first:last].decode() for first, last in pairwise(bounds)]
        self._scores: list[float] = np.frombuffer(arrays["pieces.score"].data, "<f4").tolist()
        self._kinds = arrays["pieces.kind"].data
        self._segment = segment

    def encode(self, queries: Sequence[str]) -> list[list[int]]:
        """Return the best segmentation of each query."""
        return self._segment(list(queries))

    def piece(self, number: int) -> str:
        """Return the text of a piece as SentencePiece spells it."""
        return self._texts[number]

    def score(self, number: int) -> float:
        """Return the score of a piece."""
        return self._scores[number]

    def piece_kind(self, number: int) -> int:
        """Return SentencePiece's number for the kind of a piece."""
        return self._kinds[number]
