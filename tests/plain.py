"""The plain pipeline over a toy model, for tests that ask the engine and it the same."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from halfword import load
from halfword.core.model_file import read_header
from halfword.core.policy import Policy
from halfword.core.verify import read_arrays as stored_arrays
from halfword.core.words import words_in
from halfword.search.reference import read_arrays
from halfword.search.reference_ranker import KnownWords, PlainPipeline, PlainRanker
from halfword.training.memory import read_memory
from halfword.training.pruning import find_context, probabilities
from tests.toy import SHOWS_ALL

# How many ways to write a text a bounded search adds up depends on its bounds, which the plain pipeline does not have.
UNBOUNDED = replace(SHOWS_ALL, read_limit_base=1e6, surplus_factor=0.0)


def ranker_of(path: Path) -> PlainRanker:
    """Return the ranker of a model file."""
    return PlainRanker({name: array for name, array in read_arrays(path).items() if name.startswith("ranker.")})


class PlainMemory:
    """What a memory says of the next piece, and the class of the context (`LanguageModel::bucket_of`)."""

    def __init__(self, path: Path) -> None:
        arrays = stored_arrays(path, read_header(path))
        self._memory = read_memory(arrays)
        bounds = arrays.get("mixture.bounds")
        self._bounds = np.array([0.25, 0.5, 0.75]) if bounds is None else np.frombuffer(bounds.data, "<f4")

    def __call__(self, pieces: Sequence[int]) -> tuple[np.ndarray, int]:
        """Return the probability of every piece after some others, and the class."""
        memory = self._memory
        context = [memory.begin, *pieces][-len(memory.orders) :]
        every = np.arange(memory.vocabulary)
        sequences = np.column_stack([*(np.full(len(every), piece) for piece in context), every])
        found = probabilities(memory, sequences)
        matched, backoff = 0, 1.0
        for length in range(1, len(context) + 1):
            node = find_context(memory, np.array([context[-length:]]))[0]
            if node >= 0 and memory.orders[length - 1].total[node] > 0:
                matched, backoff = length, float(memory.orders[length - 1].backoff[node])
        return found, matched * 4 + int((np.float32(backoff) >= self._bounds).sum())


class PlainFilter(Collection[str]):
    """Words as `engine/store/word_filter.cc` keeps them: now and then it knows one that never occurred."""

    def __init__(self, words: Collection[str]) -> None:
        self._words = words
        self._bits = 64 * max(16, len(words) * 16 // 64 + 1)
        self._set = {place for word in words for place in self._places(word)}

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and self._set.issuperset(self._places(word))

    def __iter__(self) -> Iterator[str]:
        return iter(self._words)

    def __len__(self) -> int:
        return len(self._words)

    def _places(self, word: str) -> list[int]:
        """Return the bits of a word: seven in equal steps, as two halves of a hash tell."""
        code = 0xCBF29CE484222325
        for byte in word.encode():
            code = (code ^ byte) * 0x100000001B3 % 2**64
        code = (code ^ code >> 32) * 0xD6E8FEB86659FD93 % 2**64
        code ^= code >> 32
        return [(code + probe * (code >> 17 | 1)) % 2**64 % self._bits for probe in range(7)]


def known_words(counts: Mapping[str, int], background: Collection[str] = ()) -> KnownWords:
    """Return the words of some queries, with how often each was typed and how many queries end with it."""
    typed: Counter[str] = Counter()
    ended: Counter[str] = Counter()
    for query, count in counts.items():
        words = query.split()
        typed.update(dict.fromkeys(words, count))
        ended.update(words[-1:])
    parts = {part for query in counts for part in words_in(query)}
    others = {part for word in background for part in words_in(word)} - parts
    counted = {word: (count, ended[word]) for word, count in typed.items()}
    return KnownWords(PlainFilter(parts), PlainFilter(others), counted)


def plain_over_memory(path: Path, counts: Mapping[str, int], policy: Policy) -> PlainPipeline:
    """Return the plain pipeline over popularity and a memory, which the engine searches."""
    search = load(path, parts=("ngram",), cache=False)
    return PlainPipeline(
        counts,
        lambda prefix, options, surplus, others, context: search.complete(prefix, options),
        ranker_of(path),
        policy,
        known_words(counts),
    )
