"""Which words were typed together, in whatever order and however far apart: what a memory of neighbours cannot know.

Somebody types a query nobody typed before: `rome cheap ho`. The n-gram memory knows what follows `cheap`, the network
guesses; but that `rome` and `hotels` stood together in some query says much more. As arrays of a model file, with V
words sorted by their bytes, those that most queries hold:

- `ngram.words.text` U8: the words one after the other; `ngram.words.begin` U32 (V + 1): where each begins;
- `ngram.words.typed`, `ngram.words.ended` U32 (V): how many different queries hold a word, and end with it;
- `ngram.words.first` U32 (V + 1): where its companions begin; `ngram.words.companion` U16: they, rising, and
  `ngram.words.together` U8: in how many different queries of at most twelve words they stood together, up to 255.

How likely a word w is to end a query after the words a, b, …, by these alone: the mean over a, b, … of
(together(a, w) + h · typed(w) / Σ typed) / (Σ together(a, ·) + h) with h = 5, as a share of that of all words that
begin as w does so far, times (ended(w) + 0.3) / (typed(w) + 1). Of a, b, … those count that have companions, each once
and the last twenty at most; only words that stood together with one of them are offered.
"""

from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np

from halfword.core.model_file import Array
from halfword.training.kneser_ney import Numbers

_MOST_WORDS = 65_535  # so that two bytes name one
_MOST_IN_A_QUERY = 12  # words; a longer query is a sentence
_PAIR_BYTES, _WORD_BYTES = 3, 16  # the latter besides its text


def learn_companions(queries: Iterable[str], megabytes: float | None = None) -> dict[str, Array]:
    """Return the words of different queries and their companions, as arrays of at most so many megabytes."""
    whole = [query.split() for query in queries]
    ended = Counter(words[-1] for words in whole if words)
    split = [list(dict.fromkeys(words)) for words in whole]
    typed = Counter(word for words in split for word in words)
    half = np.inf if megabytes is None else megabytes * 1e6 / 2
    common = [word for word, _ in typed.most_common(_MOST_WORDS)]
    sizes = np.cumsum([2 * _WORD_BYTES, *(len(word.encode()) + _WORD_BYTES for word in common)])
    chosen = sorted(common[: max(int(np.searchsorted(sizes, half, "right")) - 1, 0)], key=str.encode)
    if not chosen:
        return {}
    pairs, counts = _pairs(split, {word: number for number, word in enumerate(chosen)})
    if len(pairs) > half / _PAIR_BYTES:
        kept = _most_often(pairs, counts, int(half / _PAIR_BYTES))
        pairs, counts = pairs[kept], counts[kept]
    return _layout(chosen, typed, ended, pairs, counts)


def _most_often(pairs: Numbers, counts: Numbers, number: int) -> Numbers:
    """Return where the pairs are that stood together most often; of equals, any, but both directions alike."""
    ends = np.sort(np.stack([pairs >> 16, pairs & 0xFFFF]), axis=0)
    scrambled = (ends[0] * 0x9E3779B1 + ends[1] * 0x85EBCA6B) % 0xFFFFFFFB
    return np.sort(np.lexsort((scrambled, -counts))[:number])


def _pairs(split: Iterable[list[str]], numbers: Mapping[str, int]) -> tuple[Numbers, Numbers]:
    """Return all pairs of words, as first × 2^16 + second, rising, and how often each is."""
    both = [np.empty(0, np.int64)]
    for words in split:
        if 1 < len(words) <= _MOST_IN_A_QUERY:
            known = np.array([numbers[word] for word in words if word in numbers], np.int64)
            both.append((known[:, None] << 16 | known)[~np.eye(len(known), dtype=bool)])
    pairs, counts = np.unique(np.concatenate(both), return_counts=True)
    return pairs, counts


def _layout(
    words: list[str], typed: Mapping[str, int], ended: Mapping[str, int], pairs: Numbers, counts: Numbers
) -> dict[str, Array]:
    encoded = [word.encode() for word in words]
    arrays = {
        "begin": ("U32", "<u4", np.cumsum([0, *map(len, encoded)])),
        "typed": ("U32", "<u4", [typed[word] for word in words]),
        "ended": ("U32", "<u4", [ended[word] for word in words]),
        "first": ("U32", "<u4", np.searchsorted(pairs >> 16, np.arange(len(words) + 1))),
        "companion": ("U16", "<u2", pairs & 0xFFFF),
        "together": ("U8", "<u1", np.minimum(counts, 255)),
    }
    return {"ngram.words.text": Array("U8", b"".join(encoded))} | {
        f"ngram.words.{name}": Array(dtype, np.asarray(values).astype(kind).tobytes())
        for name, (dtype, kind, values) in arrays.items()
    }
