"""The pieces of a model, as what learns from queries needs them: how many there are, and how a query is cut."""

import struct
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Self

from halfword.core.model_file import Array
from halfword.training.kneser_ney import Corpus

Segment = Callable[[list[str]], list[list[int]]]


@dataclass(frozen=True, slots=True)
class Pieces:
    """A vocabulary, and what cuts queries into its pieces."""

    size: int
    unknown: int
    begin: int
    end: int
    segment: Segment

    @classmethod
    def of(cls, arrays: Mapping[str, Array], segment: Segment) -> Self:
        """Return the pieces that lie in the arrays of a model file."""
        _, unknown, begin, end = struct.unpack("<4I", arrays["pieces.special"].data)
        return cls(len(arrays["pieces.kind"].data), unknown, begin, end, segment)

    def corpus(self, queries: list[str], weights: Iterable[int]) -> Corpus:
        """Cut queries into pieces."""
        pairs = zip(self.segment(queries), weights, strict=True)
        return Corpus.of(pairs, vocabulary=self.size, begin=self.begin, end=self.end)
