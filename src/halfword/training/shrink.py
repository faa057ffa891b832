"""A model file made smaller, so that a page can download it.

The network is kept in 8 bits. The n-gram memory, the words that go together, and the queries of popularity lose what is
worth least: each of the three keeps the same share of its bytes. The words with which mistakes are corrected are the
most frequent ones of what they were. Everything else stays as it is.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from halfword.core.card import Card, MemoryCard, PopularCard
from halfword.core.errors import OptionError
from halfword.core.filters import SHIPPED, read_blocklist
from halfword.core.model_file import PADDING, Array, Header, check_model_output, file_size, read_header, write_model
from halfword.core.text import PROFILES
from halfword.core.verify import read_arrays
from halfword.training.companions import learn_companions, read_companions
from halfword.training.memory import Memory, memory_arrays, read_memory
from halfword.training.network.weights import in_8_bits
from halfword.training.other_order import learn_order
from halfword.training.pinyin import learn_pinyin
from halfword.training.pruning import logged_counts, losses_of, most_typed, prune_memory, read_counts
from halfword.training.spellings import learn_spellings
from halfword.training.train import popular_arrays
from halfword.training.word_tree import count_words, word_tree

_ROUNDS = 8  # the size of what is kept is an estimate at first, and is then corrected
_WORDS = "ngram.words."


def shrink(model: Path, output: Path, megabytes: float) -> Card:
    """Write a model of at most `megabytes` that answers as much like `model` as fits; returns its card."""
    check_model_output(output)
    header = read_header(model)
    arrays = {name: array for name, array in read_arrays(model, header).items() if not name.startswith(PADDING)}
    parts = _Parts(in_8_bits(arrays), header, megabytes)
    found = parts.within_size(f"{model} cannot be made as small as {megabytes:g} MB")
    card = _card(header, found, megabytes)
    write_model(output, found, card, policy=header.policy, features=header.features)
    return card


class _Parts:
    """What can be pruned of a model, and what cannot."""

    def __init__(self, arrays: Mapping[str, Array], header: Header, megabytes: float) -> None:
        self._arrays = dict(arrays)
        self._profile = PROFILES[header.card.profile or "default"]
        self._memory: Memory | None = read_memory(arrays) if "ngram.shape" in arrays else None
        self._losses = losses_of(self._memory) if self._memory is not None else []
        self._companions = read_companions(arrays)
        self._counts = read_counts(arrays) if "popular.text" in arrays else {}
        self._words = count_words(self._counts) | self._companions.typed
        self._header, self._megabytes = header, megabytes

    def within_size(self, problem: str) -> dict[str, Array]:
        """Return the arrays pruned to a file that is not too large."""
        size = self._megabytes * 1e6
        if self._size(self._arrays) <= size:
            return self._arrays
        least = self._size(self._pruned(0.0))
        if least > size:
            raise OptionError(
                f"{problem}: what cannot be pruned takes {least / 1e6:.2f} MB; give --megabytes at least that"
            )
        low, high = 0.0, 1.0  # shares of which one is known to fit, and one not to
        best = self._pruned(0.0)
        for _ in range(_ROUNDS):
            share = (low + high) / 2
            found = self._pruned(share)
            if self._size(found) <= size:
                low, best = share, found
            else:
                high = share
        return best

    def _size(self, arrays: Mapping[str, Array]) -> int:
        card = _card(self._header, arrays, self._megabytes)
        return file_size(arrays, card, self._header.policy, self._header.features)

    def _pruned(self, share: float) -> dict[str, Array]:
        kept = {name: array for name, array in self._arrays.items() if not self._is_pruned(name)}
        if self._memory is not None:
            kept |= memory_arrays(prune_memory(self._memory, self._losses, share * self._bytes("ngram.", but=_WORDS)))
        if self._companions.words:
            kept |= learn_companions([], share * self._bytes(_WORDS) / 1e6, self._companions)
        if self._counts:
            kept |= self._popular(
                most_typed(self._counts, share * sum(len(each.encode()) + 8 for each in self._counts))
            )
        if "words.tree.letter" in self._arrays:
            kept |= word_tree(dict(self._words.most_common(int(share * len(self._words)))))
        return kept

    def _popular(self, counts: dict[str, int]) -> dict[str, Array]:
        arrays = popular_arrays(counts)
        if "order.places" in self._arrays:
            arrays |= learn_order(counts)
        if "pinyin.position" in self._arrays:
            arrays |= learn_pinyin(counts)
        if "popular.by_letters" in self._arrays:
            blocks = read_blocklist(SHIPPED, profile=self._profile).blocks
            arrays |= learn_spellings(list(counts), blocks)
        return arrays

    def _is_pruned(self, name: str) -> bool:
        return name.startswith(("ngram.", "popular.", "order.", "pinyin.", "words.tree.")) or name == "ending.cost"

    def _bytes(self, beginning: str, but: str = "-") -> int:
        named = (
            array for name, array in self._arrays.items() if name.startswith(beginning) and not name.startswith(but)
        )
        return sum(len(array.data) for array in named)


def _card(header: Header, arrays: Mapping[str, Array], megabytes: float) -> Card:
    card, parts = header.card, header.card.parts
    if parts.ngram is not None:
        size = sum(len(array.data) for name, array in arrays.items() if name.startswith("ngram."))
        parts = replace(parts, ngram=replace(parts.ngram or MemoryCard(), megabytes=round(size / 1e6, 2)))
    if parts.popular is not None:
        counts = logged_counts(arrays)
        parts = replace(
            parts, popular=replace(parts.popular or PopularCard(), queries=len(counts), rows=int(counts.sum()))
        )
    shrunk = {"shrunk": {"from": header.digest, "megabytes": megabytes}}
    return replace(card, parts=parts, other={**card.other, **shrunk})
