"""The words that a memory has read: whole words that one of its n-grams spells from their first piece to their last."""

from collections.abc import Mapping

import numpy as np

from halfword.core.model_file import Array
from halfword.training.kneser_ney import Numbers
from halfword.training.memory import Memory

_SPACE = "▁"  # how SentencePiece spells a space; it begins the first piece of every word
TEXT = 1  # the kind of a piece that stands for text, in SentencePiece


def words_of(memory: Memory, arrays: Mapping[str, Array], end: int) -> set[str]:
    """Return the words of a memory over the pieces that lie in `arrays`.

    An n-gram that begins with the first piece of a word, and ends with a piece that begins another or with the end of
    a query, was read in some query; so the pieces between them are a word of it. Words of too many pieces are missed.
    """
    texts = _texts(arrays)
    begins = np.array([text.startswith(_SPACE) for text in texts])
    inside = np.array([bool(text) for text in texts]) & ~begins
    closes = begins.copy()
    closes[end] = True
    words: set[str] = set()
    spelled: Mapping[int, str] = dict(enumerate(texts))
    open_words: Numbers = np.flatnonzero(begins)  # n-grams of this order that are a word so far
    for order in memory.orders:
        is_open = np.zeros(len(order.total), bool)
        is_open[open_words] = True
        begun = is_open[order.parent]
        for parent in np.unique(order.parent[begun & closes[order.piece]]):
            words.update(spelled[parent].replace(_SPACE, " ").split())
        open_words = np.flatnonzero(begun & inside[order.piece])
        spelled = {each: spelled[order.parent[each]] + texts[order.piece[each]] for each in open_words.tolist()}
    return words


def _texts(arrays: Mapping[str, Array]) -> list[str]:
    """Return the text of each piece; empty for pieces that are no text."""
    begin = np.frombuffer(arrays["pieces.begin"].data, "<u4")
    kinds = arrays["pieces.kind"].data
    text = arrays["pieces.text"].data
    return [
        text[first:last].decode() if kind == TEXT else ""
        for first, last, kind in zip(begin[:-1], begin[1:], kinds, strict=True)
    ]
