"""The plain pipeline over a toy model, for tests that ask the engine and it the same."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path

from halfword import load
from halfword.core.policy import Policy
from halfword.core.words import words_in
from halfword.search.reference import read_arrays
from halfword.search.reference_ranker import KnownWords, PlainPipeline, PlainRanker
from tests.toy import SHOWS_ALL

# How many ways to write a text a bounded search adds up depends on its bounds, which the plain pipeline does not have.
UNBOUNDED = replace(SHOWS_ALL, read_limit_base=1e6, surplus_factor=0.0)


def ranker_of(path: Path) -> PlainRanker:
    """Return the ranker of a model file."""
    return PlainRanker({name: array for name, array in read_arrays(path).items() if name.startswith("ranker.")})


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
