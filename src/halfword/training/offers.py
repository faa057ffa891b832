"""What a model's sources propose at many prefixes, laid out for fitting the ranker."""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from halfword.core import metrics
from halfword.core.options import UNFILTERED, Order, Typos
from halfword.data.sessions import TypedRow
from halfword.search.model import Model, engine_options, import_engine

_TOGETHER = 1024  # prefixes that are asked at once, on all cores
Floats = NDArray[np.float32]
# count, model score, companions, spellings, whether it reads oddly
Evidence = tuple[float, float | None, float, float, bool]


@dataclass(frozen=True, slots=True)
class Offers:
    """The proposals for many prefixes, one after the other; `first` tells where those of each prefix begin."""

    features: Floats  # (proposals, features)
    first: NDArray[np.int64]  # (prefixes + 1)
    whole: NDArray[np.bool_]  # (proposals); whether it is the query
    partial: NDArray[np.bool_]  # (proposals); whether it is the query, or whole words from its beginning
    evidence: Floats  # (proposals, 5)
    totals: Floats  # (prefixes, 2): how often queries that begin so were typed, and how many there are

    def __len__(self) -> int:
        return len(self.first) - 1

    def part(self, begin: int, end: int) -> "Offers":
        """Return the offers of some prefixes."""
        inside = slice(int(self.first[begin]), int(self.first[end]))
        first = self.first[begin : end + 1] - self.first[begin]
        columns = self.features[inside], first, self.whole[inside], self.partial[inside], self.evidence[inside]
        return Offers(*columns, self.totals[begin:end])


class Asked(NamedTuple):
    """A prefix at which a model is asked, with the queries before it in its session."""

    query: str
    typed: int  # characters
    context: tuple[str, ...] = ()
    mistyped: str = ""  # what was typed, if it is not the beginning of the query

    @property
    def prefix(self) -> str:
        """What was typed."""
        return self.mistyped or self.query[: self.typed]


def at_hashed_prefix(rows: Iterable[TypedRow]) -> list[Asked]:
    """Return one prefix of every row, the one at which it is evaluated."""
    return [Asked(query, metrics.hashed_prefix_length(query), context) for query, context in rows]


def at_every_prefix(rows: Iterable[TypedRow]) -> list[Asked]:
    """Return all prefixes of every row."""
    return [
        Asked(query, typed, context) for query, context in rows for typed in range(metrics.SHORTEST_PREFIX, len(query))
    ]


def at_some_prefixes(rows: Iterable[TypedRow], size: int) -> list[Asked]:
    """Return at most `size` of all prefixes of all rows, drawn at random."""
    every = at_every_prefix(rows)
    return random.Random(4).sample(every, min(size, len(every)))


def asked_again(rows: Sequence[TypedRow], size: int) -> list[Asked]:
    """Return `size` prefixes of random length, each row as often as any other."""
    chance = random.Random(3)
    again = [rows[number % len(rows)] for number in range(size)]
    return [Asked(query, chance.randrange(metrics.SHORTEST_PREFIX, len(query)), context) for query, context in again]


def collect(model: Model, prefixes: Iterable[Asked]) -> Offers:
    """Ask a model at prefixes."""
    # In a log every prefix is spelled as its query is: what is found by folding would always look wrong.
    # What does not go on from the typed text is not ranked by features.
    options = engine_options(replace(UNFILTERED, fold=False, typos=Typos.OFF, order=Order.AS_TYPED))
    size = len(import_engine().feature_names())
    features: list[Floats] = []
    whole: list[bool] = []
    partial: list[bool] = []
    evidence: list[Evidence] = []
    totals: list[tuple[float, float]] = []
    asked = list(prefixes)
    for begin in range(0, len(asked), _TOGETHER):
        some = asked[begin : begin + _TOGETHER]
        typed, contexts = [each.prefix for each in some], [each.context for each in some]
        proposed = model._engine.propose_batch(typed, options, 0, contexts)
        for (query, *_), (texts, values, reasons, facts) in zip(some, proposed, strict=True):
            features.append(np.frombuffer(values, np.float32).reshape(-1, size))
            whole += [text == query for text in texts]
            partial += [query.startswith(text) and metrics.partial_rank(query, [text]) is not None for text in texts]
            evidence += reasons
            totals.append(facts[:2])
    first = np.concatenate([[0], np.cumsum([len(each) for each in features])]).astype(np.int64)
    reasons_table = np.array(
        [(count, -np.inf if score is None else score, *others) for count, score, *others in evidence], np.float32
    )
    return Offers(
        np.concatenate([*features, np.zeros((0, size), np.float32)]),
        first,
        np.array(whole, bool),
        np.array(partial, bool),
        reasons_table.reshape(-1, 5),
        np.array(totals, np.float32).reshape(-1, 2),
    )


def join(offers: Iterable[Offers]) -> Offers:
    """Return several offers as one."""
    each = list(offers)
    sizes = np.cumsum([0, *(len(one.features) for one in each)])
    first = [one.first[:-1] + begin for one, begin in zip(each, sizes, strict=False)]
    return Offers(
        np.concatenate([one.features for one in each]),
        np.concatenate([*first, sizes[-1:]]),
        np.concatenate([one.whole for one in each]),
        np.concatenate([one.partial for one in each]),
        np.concatenate([one.evidence for one in each]),
        np.concatenate([one.totals for one in each]),
    )
