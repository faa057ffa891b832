"""What the earlier queries of a session say, in plain Python; the engine must equal it.

The *context* is the session's earlier queries, the oldest first. The *recency* of a query is 1 for the last one, 1/2
for the one before it, and so on. The *words typed* are the whole words of the prefix; what follows is the word *begun*,
which may be empty. The *words added* by a proposal are all of its words from the one begun on.

Features, all 0 without a context. Of the prefix:

- `session_size`: log(1 + number of earlier queries); `session_typed_words`: words typed that an earlier query holds;
- `session_goes_on`: recency of the last query that begins with the prefix and is longer.

Of a proposal:

- `session_repeat`, `session_repeat_recency`, `session_log_repeats`: whether it is an earlier query, the recency of the
  last time, and the logarithm of how many times;
- `session_copied_words`, `session_new_words`: words added that an earlier query holds, and that none holds;
- `session_word_recency`, `session_word_agreement`: recency of the last query that holds the first word added, and
  log(1 + number of queries that hold it); `session_begun_characters`: if any does, log(1 + bytes of the word begun);
- `session_follows`: whether that word follows the last word typed (or begins a query) in an earlier query;
- `session_tail`: whether an earlier query ends with the words added;
- `session_extends`: recency of the last query that the proposal begins with and adds words to;
- `session_overlap`, `session_overlap_with_last`: words in common with an earlier query as a share of the words of both,
  of the query where that is largest, and of the last one;
- `session_shared_start`: share of the bytes added that an earlier query that begins with the prefix has too.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

MOST_QUERIES, MOST_BYTES, MOST_COPIES, MOST_TYPED_WORDS = 20, 4096, 60, 20  # as `SessionLimits` of the engine
EXTENDED, EXTENSIONS = 3, 3
FEATURES = 17
_MOST_WORDS = 4


class PlainSession:
    """The earlier queries of a session, the last one first."""

    def __init__(self, context: Sequence[str]) -> None:
        self.queries: list[str] = []
        size = 0
        for query in reversed(context):
            size += len(query.encode())
            if size > MOST_BYTES or len(self.queries) == MOST_QUERIES:
                break
            if query:
                self.queries.append(query)

    def copies(self, prefix: str) -> list[str]:
        """Return the texts that can be copied."""
        texts = dict.fromkeys(self._copies(prefix))
        return list(texts)[:MOST_COPIES]

    def _copies(self, prefix: str) -> Iterator[str]:
        yield from (query for query in self.queries if query.startswith(prefix) and query != prefix)
        if not prefix:
            return
        words, begun = _parted(prefix)
        for query in self.queries:
            for tail in _tails(query):
                if tail.startswith(begun):
                    yield from (words + end for end in (tail, tail.split(" ")[0]) if len(end) > len(begun))
        if begun:
            yield from (f"{prefix} {tail}" for query in self.queries[:1] for tail in _tails(query))

    def extensions(self, prefix: str, counts: Mapping[str, int]) -> Iterator[str]:
        """Yield what others typed that goes on from one of the last queries, which goes on from the prefix."""
        for query in self.queries[:EXTENDED]:
            if query.startswith(prefix):
                longer = [other for other in counts if other.startswith(f"{query} ")]
                yield from sorted(longer, key=lambda other: (-counts[other], other.encode()))[:EXTENSIONS]

    def holds_words(self, text: str) -> bool:
        """Tell whether the earlier queries hold all words of a text, and there are some."""
        return bool(text.split()) and set(text.split()) <= {word for query in self.queries for word in query.split()}

    def features(self, prefix: str, text: str) -> list[float]:
        """Return what the session says about a proposal."""
        if not self.queries:
            return [0.0] * FEATURES
        words, begun = _parted(prefix)
        typed, added = words.split()[-MOST_TYPED_WORDS:], text[len(words) :].split()
        ages = [age for age, query in enumerate(self.queries) if query == text]
        held = {word for query in self.queries for word in query.split()}
        copied = sum(word in held for word in added)
        holding = [age for age, query in enumerate(self.queries) if added and added[0] in query.split()]
        going_on = [age for age, query in enumerate(self.queries) if query.startswith(prefix) and query != prefix]
        extended = [age for age, query in enumerate(self.queries) if text.startswith(f"{query} ")]
        overlaps = [_overlap([*typed, *added], query.split()) for query in self.queries]
        return [
            math.log1p(len(self.queries)),
            min(sum(word in held for word in typed), _MOST_WORDS),
            _recency(going_on),
            float(bool(ages)),
            _recency(ages),
            math.log(max(len(ages), 1)),
            min(copied, _MOST_WORDS),
            min(len(added) - copied, _MOST_WORDS),
            _recency(holding),
            math.log1p(len(holding)),
            math.log1p(len(begun.encode())) if holding else 0.0,
            float(self._follows(typed, added)),
            float(any(f" {query}".endswith(f" {text[len(words) :]}") for query in self.queries)),
            _recency(extended),
            max(overlaps),
            overlaps[0],
            max(_shared_start(prefix, text, query) for query in self.queries),
        ]

    def _follows(self, typed: Sequence[str], added: Sequence[str]) -> bool:
        pair = (typed[-1] if typed else "", added[0] if added else "")
        return any(pair in pairwise(["", *query.split()]) for query in self.queries)


def _parted(prefix: str) -> tuple[str, str]:
    """Return the words typed, with the space after them, and the word begun."""
    place = prefix.rfind(" ") + 1
    return prefix[:place], prefix[place:]


def _tails(query: str) -> Iterator[str]:
    words = query.split(" ")
    yield from (" ".join(words[place:]) for place in range(len(words)))


def _recency(ages: Sequence[int]) -> float:
    return 1 / (1 + min(ages)) if ages else 0.0


def _overlap(words: Sequence[str], query: Sequence[str]) -> float:
    common = min(sum(word in query for word in words), len(query))
    return common / max(len(words) + len(query) - common, 1)


def _shared_start(prefix: str, text: str, query: str) -> float:
    if not query.startswith(prefix) or not text.startswith(prefix) or len(text) <= len(prefix):
        return 0.0
    typed, ours, theirs = len(prefix.encode()), text.encode(), query.encode()
    same = next((place for place, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b), None)
    same = min(len(ours), len(theirs)) if same is None else same
    return (same - typed) / (len(ours) - typed)
