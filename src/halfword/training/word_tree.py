"""The tree of a log's words, in which what a mistyped word may stand for is looked for (`engine/store/word_tree.h`)."""

from collections import Counter
from collections.abc import Collection, Mapping

from halfword.core.model_file import Array
from halfword.core.words import is_without_spaces
from halfword.search.model import import_engine

_LONGEST = 40  # characters; longer words are rarely right, and never alike
_LARGEST_COUNT = 2**32 - 1


def count_words(counts: Mapping[str, int]) -> Counter[str]:
    """Return how often each word was typed; those of scripts without spaces are left out, being whole queries."""
    typed: Counter[str] = Counter()
    for query, count in counts.items():
        for word in query.split():
            typed[word] += count
    for word in [word for word in typed if not may_be_mistyped(word)]:
        del typed[word]
    return typed


def may_be_mistyped(word: str) -> bool:
    """Tell whether a word is one that others may be mistaken for: not too long, and of a script with spaces."""
    return len(word) <= _LONGEST and not is_without_spaces(word)


def word_tree(counts: Mapping[str, int], background: Collection[str] = (), least: int = 1) -> dict[str, Array]:
    """Return the words of some queries that were typed often enough, and of the background, as arrays of a tree."""
    words = {word: min(count, _LARGEST_COUNT) for word, count in count_words(counts).items() if count >= least}
    for word in background:
        if may_be_mistyped(word):
            words.setdefault(word, 1)
    return _arrays(words)


def others_tree(counts: Mapping[str, int]) -> dict[str, Array]:
    """Return the words of other people, those who typed the background, as arrays of a tree of their own.

    A rare word of the log that others type, too, is seldom a mistake.
    """
    words = {word: min(count, _LARGEST_COUNT) for word, count in counts.items() if may_be_mistyped(word)}
    return (
        {name.replace("words.tree.", "words.others."): array for name, array in _arrays(words).items()} if words else {}
    )


def _arrays(words: Mapping[str, int]) -> dict[str, Array]:
    arrays = import_engine().word_tree_arrays(sorted(words.items()))
    return {name: Array(dtype, data) for name, (dtype, data) in arrays.items()}
