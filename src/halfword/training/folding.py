"""Queries and words by their keys (`core/folding.py`), so that `creme brulee` finds `crème brûlée`.

The arrays of the model file, each a popularity index (`engine/store/popular.h`); neither is there if it would be empty:

- `popular.folded.*`: the keys of the queries that are not their own key, with the counts of the queries, and
  `popular.folded.position` U32: where each of these queries lies in the popularity index. Of queries with the same
  key, the second has a zero byte after it, the third two, and so on;
- `words.folded.*`: a key, a zero byte, and how the word with that key is written, with the count of that form. A word
  is listed if it is not its own key, or another form of it is not; if it was typed at least twice; and if no other form
  was typed more than a fifth as often. Words of which several forms are common stay as they are typed: the language
  model knows them all.
"""

import struct
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from halfword.core.folding import fold, is_plain
from halfword.core.model_file import Array
from halfword.search.model import import_engine

LARGEST_COUNT = 2**32 - 1  # that an index of counts can hold
_FEWEST = 2  # times that a form must be typed
_TIMES = 5  # as often as any other form


def fold_queries(counts: Mapping[str, int]) -> dict[str, Array]:
    """Return the index of queries by their keys, as arrays for a model file."""
    position = {query: place for place, query in enumerate(sorted(counts, key=str.encode))}
    by_key: dict[str, list[str]] = defaultdict(list)
    for query in counts:
        if not is_plain(query):
            for key in import_engine().fold_keys(query):
                if key != query:
                    by_key[key].append(query)
    entries: dict[str, str] = {}
    for key, queries in by_key.items():
        for number, query in enumerate(sorted(queries, key=lambda query: (-counts[query], query))):
            entries[key + "\0" * number] = query
    if not entries:
        return {}
    order = [position[entries[text]] for text in sorted(entries, key=str.encode)]
    return {
        **_index("popular.folded", {text: counts[query] for text, query in entries.items()}),
        "popular.folded.position": Array("U32", struct.pack(f"<{len(order)}I", *order)),
    }


def learn_forms(counts: Mapping[str, int]) -> dict[str, Array]:
    """Return how words are written, by their keys, as arrays for a model file."""
    typed: Counter[str] = Counter()
    for query, count in counts.items():
        for word in set(query.split()):
            typed[word] += count
    return forms_of([word for word in typed if not is_plain(word)], typed)


def forms_of(words: Iterable[str], typed: Mapping[str, int]) -> dict[str, Array]:
    """Return the arrays of words that are not plain; `typed` tells how often any word was typed."""
    forms: dict[str, list[str]] = defaultdict(list)
    for word in words:
        forms[fold(word)].append(word)
    entries = {}
    for key, alike in forms.items():
        known = (word for word in {*alike, key} if word in typed)
        best, *others = sorted(known, key=lambda word: (-typed[word], word))
        is_clear = not others or typed[best] >= _TIMES * typed[others[0]]
        if key and typed[best] >= _FEWEST and is_clear:
            entries[f"{key}\0{best}"] = typed[best]
    return _index("words.folded", entries) if entries else {}


def _index(part: str, counts: Mapping[str, int]) -> dict[str, Array]:
    # A word may occur in many queries, and more often than an index can say.
    arrays = import_engine().popular_arrays([(text, min(count, LARGEST_COUNT)) for text, count in counts.items()])
    return {name.replace("popular", part): Array(dtype, data) for name, (dtype, data) in arrays.items()}
