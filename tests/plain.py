"""The plain pipeline over a toy model, for tests that ask the engine and it the same."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
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


def known_words(counts: Mapping[str, int], background: Collection[str] = ()) -> KnownWords:
    """Return the words of some queries, with how often each was typed and how many queries end with it."""
    typed: Counter[str] = Counter()
    ended: Counter[str] = Counter()
    for query, count in counts.items():
        words = query.split()
        typed.update(dict.fromkeys(words, count))
        ended.update(words[-1:])
    parts = {part for query in counts for part in words_in(query)}
    return KnownWords(parts, background, {word: (count, ended[word]) for word, count in typed.items()})


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
