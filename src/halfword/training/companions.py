"""Companions: which words co-occur in queries, in any order and at any distance.

The n-gram memory knows only neighbouring pieces. For a new query such as `rome cheap ho`, the fact that `rome` and
`hotels` co-occur in some training query helps more. The arrays of the model file, with V words sorted by their bytes
(the words that occur in most queries):

- `ngram.words.text` U8: the words one after the other; `ngram.words.length` U8 (V): how many bytes each has;
- `ngram.words.counts` U8, three base-128 integers (`coded_numbers.py`) for each word: how many distinct queries contain
  it, how many end with it, and how many companions it has;
- `ngram.words.companion` U8, one such integer for each companion of one word after the other, in ascending order: twice
  the difference of its number to that of the companion before it (of the first to 0), plus 1 if more than one distinct
  query of at most twelve words contains both; `ngram.words.together` U8: their number in these cases, up to 255;
- `ngram.words.after` U8, one bit for each companion, the lowest of a byte first: whether it was typed right after the
  word. Files of earlier versions lack it; all their companions may stand side by side.

The probability that the word w ends a query after the words a, b, … is computed in three steps:

1. s(w) is the mean over a, b, … of (together(a, w) + h · typed(w) / Σ typed) / (Σ together(a, ·) + h), with h = 5;
2. s(w) is divided by the sum of s over all words that begin with the characters typed so far;
3. the result is multiplied by (ended(w) + 0.3) / (typed(w) + 1).

Of a, b, … only words that have companions count, each once, and at most the last twenty. Only words that co-occur with
one of them are offered.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from halfword.core.model_file import Array
from halfword.training.coded_numbers import code_numbers, number_sizes, read_numbers
from halfword.training.kneser_ney import Mask, Numbers

LONGEST = 255  # bytes of a word, so that one byte holds its length
MOST_WORDS = 65_535  # so that two bytes are enough for the number of a word
MOST_IN_A_QUERY = 12  # words; longer queries are sentences; their pairs are ignored
_AT_A_TIME = 1 << 22  # pairs that are worked on together
_NO_PAIR = -1 << 16  # before the first one: of no word, and no step to its companion
_MOST_TOGETHER = 255  # queries, so that one byte holds their number


@dataclass(frozen=True, slots=True)
class Companions:
    """Words, in how many queries each occurs and how many it ends, and the pairs of them that co-occur."""

    words: list[str]
    typed: Counter[str]
    ended: Counter[str]
    pairs: Numbers  # first × 2^16 + second, by their numbers in `words`; ascending
    counts: Numbers
    after: Mask  # whether the second was typed right after the first

    def numbered(self, numbers: Mapping[str, int]) -> "Pairs":
        """Return those pairs whose words have other numbers now."""
        new = np.array([numbers.get(word, -1) for word in self.words], np.int64)
        first, second = new[self.pairs >> 16], new[self.pairs & 0xFFFF]
        both = (first >= 0) & (second >= 0)
        pairs = first[both] << 16 | second[both]
        return pairs, self.counts[both], np.sort(pairs[self.after[both]])


Pairs = tuple[Numbers, Numbers, Numbers]  # pairs, their counts, and which of them were typed side by side, ascending
_NOTHING = Companions([], Counter(), Counter(), np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, bool))


def learn_companions(
    queries: Iterable[str],
    megabytes: float | None = None,
    background: Companions = _NOTHING,
    least_count: int = 1,
) -> dict[str, Array]:
    """Return the words of distinct queries and their companions, as arrays of at most `megabytes`.

    Words and pairs that occur in fewer than `least_count` queries are left out. What a background knows is added:
    which words go together is much the same everywhere.
    """
    whole = [query.split() for query in queries]
    ended = Counter(words[-1] for words in whole if words) + background.ended
    split = [list(dict.fromkeys(words)) for words in whole]
    typed = Counter(word for words in split for word in words if len(word.encode()) <= LONGEST) + background.typed
    common = sorted(typed, key=lambda word: (-typed[word], word))[:MOST_WORDS]
    chosen = choose_words([word for word in common if typed[word] >= least_count], typed, megabytes)
    if not chosen:
        return {}
    own = (*_pairs(split, chosen), _neighbours(whole, chosen, least_count))
    return kept_pairs(chosen, typed, ended, own, megabytes, background, least_count)


def choose_words(common: list[str], typed: Mapping[str, int], megabytes: float | None) -> list[str]:
    """Return as many of the most common words as half of the megabytes can hold, sorted by their bytes."""
    queries = np.array([typed[word] for word in common], np.int64)
    # At most as many end with it, and each holds it beside eleven others.
    of_counts = 2 * number_sizes(queries) + number_sizes((MOST_IN_A_QUERY - 1) * queries)
    sizes = np.cumsum([len(word.encode()) + 1 for word in common]) + np.cumsum(of_counts)
    return sorted(common[: int(np.searchsorted(sizes, _half(megabytes), "right"))], key=str.encode)


def kept_pairs(
    chosen: list[str],
    typed: Mapping[str, int],
    ended: Mapping[str, int],
    own: Pairs,
    megabytes: float | None,
    background: Companions = _NOTHING,
    least_count: int = 1,
) -> dict[str, Array]:
    """Return the arrays of words and of those of their pairs that half of the megabytes can hold."""
    pairs, counts, after = own
    if least_count > 1:
        often = counts >= least_count
        pairs, counts = pairs[often], counts[often]
    if background.words:
        numbers = {word: number for number, word in enumerate(chosen)}
        theirs, their_counts, theirs_after = background.numbered(numbers)
        pairs, counts = _sum_of((pairs, counts), (theirs, their_counts))
        after = np.union1d(after, theirs_after)
    room, number = _half(megabytes), len(pairs)
    while (size := _bytes_of(pairs, counts)) > room:
        number = int(number * min(room / size, 0.99))
        kept = _most_often(pairs, counts, number)
        pairs, counts = pairs[kept], counts[kept]
    return _layout(chosen, typed, ended, pairs, counts, _among(pairs, after))


def _among(pairs: Numbers, after: Numbers) -> Mask:
    """Return which pairs are among others, which are given in ascending order."""
    if len(after) == 0:
        return np.zeros(len(pairs), bool)
    found: Mask = after[np.minimum(np.searchsorted(after, pairs), len(after) - 1)] == pairs
    return found


def _half(megabytes: float | None) -> float:
    """Return the bytes that words may take, and their pairs as many."""
    return np.inf if megabytes is None else megabytes * 1e6 / 2


def read_companions(arrays: Mapping[str, Array]) -> Companions:
    """Return the companions that lie in the arrays of a model file; none if it has none."""
    if "ngram.words.text" not in arrays:
        return _NOTHING
    length = np.frombuffer(arrays["ngram.words.length"].data, "u1")
    ends = np.cumsum(length, dtype=np.int64)
    text = arrays["ngram.words.text"].data
    words = [text[end - size : end].decode() for end, size in zip(ends.tolist(), length.tolist(), strict=True)]
    typed, ended, number = _read("counts", arrays).reshape(-1, 3).T
    coded = _read("companion", arrays)
    counts = np.ones(len(coded), np.int64)
    counts[coded % 2 == 1] = np.frombuffer(arrays["ngram.words.together"].data, "u1")
    risen = np.cumsum(coded >> 1)
    first = np.cumsum(number) - number
    before = np.concatenate([[0], risen])[first]  # what the lists of earlier words add up to
    owner = np.repeat(np.arange(len(words)), number)
    after = np.ones(len(coded), np.uint8)
    if "ngram.words.after" in arrays:
        bits = np.frombuffer(arrays["ngram.words.after"].data, np.uint8)
        after = np.unpackbits(bits, count=len(coded), bitorder="little")
    return Companions(
        words,
        Counter(dict(zip(words, typed.tolist(), strict=True))),
        Counter(dict(zip(words, ended.tolist(), strict=True))),
        owner << 16 | risen - before[owner],
        counts,
        after.astype(bool),
    )


def _read(name: str, arrays: Mapping[str, Array]) -> Numbers:
    return read_numbers(np.frombuffer(arrays[f"ngram.words.{name}"].data, np.uint8))


def _sum_of(*parts: tuple[Numbers, Numbers]) -> tuple[Numbers, Numbers]:
    """Return all pairs in ascending order, each once, and the sums of their counts."""
    pairs, inverse = np.unique(np.concatenate([pairs for pairs, _ in parts]), return_inverse=True)
    return pairs, np.bincount(inverse, np.concatenate([counts for _, counts in parts]), len(pairs)).astype(np.int64)


def _most_often(pairs: Numbers, counts: Numbers, number: int) -> Mask:
    """Return which are the most frequent pairs; ties are broken alike for both directions of a pair.

    There may be a hundred million of them, so only those as frequent as the last that is kept are compared.
    """
    if number <= 0:
        return np.zeros(len(pairs), bool)
    bound = np.partition(counts, len(counts) - number)[len(counts) - number]
    kept: Mask = counts > bound
    tied = counts == bound
    room = number - int(np.count_nonzero(kept))
    scrambled = _scrambled(pairs[tied])
    last = np.partition(scrambled, room - 1)[room - 1]
    chosen = scrambled < last
    chosen[np.flatnonzero(scrambled == last)[: room - int(np.count_nonzero(chosen))]] = True
    kept[tied] = chosen
    return kept


def _scrambled(pairs: Numbers) -> NDArray[np.uint32]:
    """Return a number for each pair that has nothing to do with its words, the same for both directions."""
    made = np.empty(len(pairs), np.uint32)
    for begin in range(0, len(pairs), _AT_A_TIME):
        some = pairs[begin : begin + _AT_A_TIME].astype(np.int64)
        first, second = some >> 16, some & 0xFFFF
        low, high = np.minimum(first, second), np.maximum(first, second)
        made[begin : begin + _AT_A_TIME] = (low * 0x9E3779B1 + high * 0x85EBCA6B) % 0xFFFFFFFB
    return made


def _pairs(split: Iterable[list[str]], chosen: list[str]) -> tuple[Numbers, Numbers]:
    """Return all pairs of words, as first × 2^16 + second, in ascending order, and their counts."""
    numbers = {word: number for number, word in enumerate(chosen)}
    both = [np.empty(0, np.int64)]
    for words in split:
        if 1 < len(words) <= MOST_IN_A_QUERY:
            known = np.array([numbers[word] for word in words if word in numbers], np.int64)
            both.append((known[:, None] << 16 | known)[~np.eye(len(known), dtype=bool)])
    pairs, counts = np.unique(np.concatenate(both), return_counts=True)
    return pairs, counts


def _neighbours(whole: Iterable[list[str]], chosen: list[str], least_count: int) -> Numbers:
    """Return the pairs of which the second word follows the first in at least so many queries, in ascending order."""
    numbers = {word: number for number, word in enumerate(chosen)}
    found: Counter[int] = Counter()
    for words in whole:
        if 1 < len(set(words)) <= MOST_IN_A_QUERY:
            both = {(one, other) for one, other in pairwise(words) if one in numbers and other in numbers}
            found.update(numbers[one] << 16 | numbers[other] for one, other in both if one != other)
    return np.array(sorted(pair for pair, count in found.items() if count >= least_count), np.int64)


def _layout(
    words: list[str],
    typed: Mapping[str, int],
    ended: Mapping[str, int],
    pairs: Numbers,
    counts: Numbers,
    after: Mask,
) -> dict[str, Array]:
    encoded = [word.encode() for word in words]
    number = np.bincount(pairs >> 16, minlength=len(words))
    of_words = np.stack([[typed[word] for word in words], [ended[word] for word in words], number], axis=1)
    return {
        "ngram.words.text": Array("U8", b"".join(encoded)),
        "ngram.words.length": Array("U8", bytes(map(len, encoded))),
        "ngram.words.counts": Array("U8", code_numbers(of_words.ravel()).tobytes()),
        "ngram.words.companion": Array("U8", code_numbers(_steps(pairs, counts)).tobytes()),
        "ngram.words.together": Array("U8", np.minimum(counts[counts > 1], _MOST_TOGETHER).astype("u1").tobytes()),
        "ngram.words.after": Array("U8", np.packbits(after, bitorder="little").tobytes()),
    }


def _steps(pairs: Numbers, counts: Numbers, before: int = _NO_PAIR) -> Numbers:
    """Return what stands for each companion of one word after the other; `before` is the pair before the first."""
    first, second = pairs.astype(np.int64) >> 16, pairs.astype(np.int64) & 0xFFFF
    steps = np.where(np.diff(first, prepend=before >> 16) > 0, second, np.diff(second, prepend=before & 0xFFFF))
    found: Numbers = 2 * steps + (counts > 1)
    return found


def _bytes_of(pairs: Numbers, counts: Numbers) -> int:
    """Return how many bytes some pairs take; a part of them at a time, since a large log has a hundred million."""
    size, before = (len(pairs) + 7) // 8 + int(np.count_nonzero(counts > 1)), _NO_PAIR
    for begin in range(0, len(pairs), _AT_A_TIME):
        part = slice(begin, begin + _AT_A_TIME)
        size += int(number_sizes(_steps(pairs[part], counts[part], before)).sum())
        before = int(pairs[part][-1])
    return size
