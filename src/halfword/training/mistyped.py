"""Natural and mistyped prefixes, and what was meant: the rows from which belief in corrections is learned.

Mistakes of the validation split's own sessions are the best: a query and, right after it, what was meant. What was
meant is a query of the log; or it is new, but its words are far more frequent than those mistyped. Where there are few
of them, or none because the log has no sessions, mistakes are made in validation queries as the channel makes them.
These rows count as natural ones, too: many people leave a mistake as it is.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from halfword.core.metrics import SHORTEST_PREFIX
from halfword.core.model_file import Array
from halfword.core.text import SHORTEST_QUERY
from halfword.data.dataset import Dataset, Split
from halfword.data.query_table import QueryTable
from halfword.data.sessions import TypedRow
from halfword.search.model import load
from halfword.training.channel import Channel, Pair, are_alike, mine, mistype
from halfword.training.correcting import NATURAL, PARTS, BeliefWeights, fit_belief, read_rows
from halfword.training.from_table import WordColumns
from halfword.training.offers import Asked, at_hashed_prefix
from halfword.training.word_tree import count_words, may_be_mistyped

MOST = 4_000  # mistyped prefixes
_SHORTEST = 5  # characters of a query in which a mistake is made
_TIMES = 2  # prefixes of each pair
_OFTEN = 5  # what was meant is new, but each of its other words was typed so often,
_FACTOR = 20  # and so many times as often as the words mistyped


def learn_belief(path: Path, data: Dataset, channel: Channel) -> dict[str, Array]:
    """Return how far corrections are believed, fitted to what a model file makes of validation rows."""
    natural, mistyped = belief_rows(data, channel)
    rows = read_rows(load(path, cache=False), natural, mistyped)
    fitted = {part: fit_belief(BeliefWeights.read(part), rows, glance=part == "glance") for part in PARTS}
    return {name: array for part, weights in fitted.items() for name, array in weights.arrays(part).items()}


def belief_rows(data: Dataset, channel: Channel) -> tuple[list[Asked], list[Asked]]:
    """Return natural and mistyped prefixes of the validation split, each with the query that was meant."""
    chance = random.Random(4)
    pairs = list(corrections(data.sessions(Split.VALID), data.table(Split.TRAIN)))
    rows = [row for row in data.rows(Split.VALID) if len(row) >= SHORTEST_QUERY]
    natural = at_hashed_prefix(TypedRow(row) for row in chance.sample(rows, min(NATURAL, len(rows))))
    return natural, _mistyped(pairs, rows, channel, chance)


def corrections(sessions: Sequence[Sequence[str]], counts: Mapping[str, int]) -> Iterator[Pair]:
    """Yield the queries that were corrected by the next one, be it a query of the log or one of its words."""
    yield from mine(sessions, counts)
    often = _word_counts(counts)
    for session in sessions:
        for typed, meant in pairwise(session):
            new = are_alike(typed, meant) and not counts.get(typed) and not counts.get(meant)
            if new and _is_of_better_words(typed, meant, often):
                yield Pair(typed, meant)


def _word_counts(counts: Mapping[str, int]) -> Callable[[str], int]:
    """Return what tells how often a word was typed."""
    if not isinstance(counts, QueryTable):
        words = count_words(counts)
        return lambda word: words[word]
    table = WordColumns.of(counts).words
    return lambda word: table.get(word, 0) if may_be_mistyped(word) else 0


def _is_of_better_words(typed: str, meant: str, often: Callable[[str], int]) -> bool:
    wrong, right = Counter(typed.split()) - Counter(meant.split()), Counter(meant.split()) - Counter(typed.split())
    if not wrong or not right:
        return False
    least = min(map(often, right))
    return least >= _OFTEN and least >= _FACTOR * min(map(often, wrong))


def _mistyped(pairs: Sequence[Pair], rows: Sequence[str], channel: Channel, chance: random.Random) -> list[Asked]:
    found = [_cut(pair, chance) for pair in pairs for _ in range(_TIMES)]
    some = [row for row in dict.fromkeys(rows) if len(row) >= _SHORTEST]
    made = _made(chance.sample(some, min(max(0, MOST - len(found)), len(some))), channel, chance)
    return chance.sample(found, min(MOST, len(found))) + made


def _made(queries: Sequence[str], channel: Channel, chance: random.Random) -> list[Asked]:
    """Make a mistake in each query."""
    pairs = (Pair(mistype(query, channel, chance), query) for query in queries)
    return [_cut(pair, chance) for pair in pairs if not is_beginning(*pair)]


def is_beginning(one: str, other: str) -> bool:
    """Tell whether one of two texts begins with the other."""
    return one.startswith(other) or other.startswith(one)


def _cut(pair: Pair, chance: random.Random) -> Asked:
    """Return a beginning of what was mistyped that holds the mistake."""
    first = next(place for place, letters in enumerate(zip(*pair, strict=False)) if letters[0] != letters[1])
    typed = chance.randint(min(max(SHORTEST_PREFIX, first + 1), len(pair.typed)), len(pair.typed))
    return Asked(pair.meant, typed, mistyped=pair.typed[:typed])
