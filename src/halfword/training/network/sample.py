"""Subword regularisation: a unigram segmentation is drawn each time a query is read.

SentencePiece draws a path through the lattice of a query with probability ∝ exp(alpha × the sum of its scores), over
all paths (l = ∞). Here the same distribution is sampled for many queries at once, on the CPU or the GPU. Given that
some piece begins at a position, the probability that it has a certain length is constant, so it is computed once. A
sample then goes through the query from its beginning and takes one random number per piece.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
import torch
from torch import Tensor

from halfword.training.network.network import IGNORED
from halfword.training.segment import Segmenter

_QUERIES_AT_ONCE = 50_000
_UNKNOWN = 0x10FFFF  # code points that occur in no query stand for unknown characters ...
_BYTE = 0x100000  # ... and for the bytes that spell them
_ALMOST_ONE = 1 - 1e-6


@dataclass(frozen=True, slots=True)
class SampledTokens:
    """The lattices of all queries: position p of query q (after its p-th character) has the number first[q] + p."""

    first: Tensor  # (queries): the number of position 0
    length: Tensor  # (queries): the number of characters
    key: Tensor  # (edges): the position where the edge begins + the cumulative probability of the edges there
    piece: Tensor  # (edges)
    width: Tensor  # (edges): the number of characters of the piece
    end: int  # the piece that ends a query
    most_tokens: int

    def tokens(self, rows: Tensor, generator: torch.Generator) -> Tensor:
        """Draw a segmentation of each row."""
        position, last = self.first[rows], (self.first + self.length)[rows]
        drawn = self.piece.new_full((len(rows), self.most_tokens), IGNORED)
        alive = torch.arange(len(rows), device=rows.device)
        for step in range(self.most_tokens):
            over = position == last
            drawn[alive[over], step] = self.end
            alive, position, last = alive[~over], position[~over], last[~over]
            if not len(alive):
                break
            draw = torch.rand(len(alive), generator=generator, device=rows.device, dtype=torch.float64)
            edge = torch.searchsorted(self.key, position + draw.clamp_(max=_ALMOST_ONE), right=True)
            drawn[alive, step] = self.piece[edge]
            position = position + self.width[edge]
        return drawn


def sampled_tokens(
    queries: Sequence[str], segmenter: Segmenter, most_tokens: int, alpha: float, device: torch.device
) -> SampledTokens:
    """Compute the lattices of `queries`."""
    trie = _Trie(segmenter, device)
    left = iter(queries)
    parts = [
        _lattice(list(islice(left, _QUERIES_AT_ONCE)), trie, alpha) for _ in range(0, len(queries), _QUERIES_AT_ONCE)
    ]
    sizes = [len(length) + int(length.sum()) for length, *_ in parts]
    offsets = np.concatenate([[0], np.cumsum(sizes)])[:-1].tolist()
    length = torch.cat([part[0] for part in parts])
    return SampledTokens(
        first=torch.cumsum(length + 1, 0) - length - 1,
        length=length,
        key=torch.cat([part[1] + offset for part, offset in zip(parts, offsets, strict=True)]),
        piece=torch.cat([part[2] for part in parts]),
        width=torch.cat([part[3] for part in parts]),
        end=segmenter.end,
        most_tokens=most_tokens,
    )


class _Trie:
    """All pieces as a trie; children are found by binary search, so that any alphabet is possible."""

    def __init__(self, segmenter: Segmenter, device: torch.device) -> None:
        self.device = device
        texts = {segmenter.piece(n): n for n in range(segmenter.size) if segmenter.piece_kind(n) in (1, 4)}
        alphabet = sorted({character for text in texts for character in text})
        self.foreign = re.compile(f"[^{re.escape(''.join(alphabet))}]+")
        self.spelled = {segmenter.piece(n): n for n in range(segmenter.size) if segmenter.piece_kind(n) == 6}
        byte_texts = {chr(_BYTE + int(text[3:5], 16)): number for text, number in self.spelled.items()}
        texts |= byte_texts or {chr(_UNKNOWN): segmenter.unknown}
        self.codes = torch.tensor(sorted({ord(character) for text in texts for character in text}), device=device)
        self.widest = max(map(len, texts))
        self._build({text: (number, segmenter.score(number)) for text, number in texts.items()})

    def _build(self, texts: dict[str, tuple[int, float]]) -> None:
        code_of = {chr(code): number for number, code in enumerate(self.codes.tolist())}
        nodes, edges = {"": 0}, {}
        for text in texts:
            for stop in range(1, len(text) + 1):
                node = nodes.setdefault(text[:stop], len(nodes))
                edges[nodes[text[: stop - 1]] * len(code_of) + code_of[text[stop - 1]]] = node
        keys = sorted(edges)
        self.edge_keys = torch.tensor(keys, device=self.device)
        self.edge_nodes = torch.tensor([edges[key] for key in keys], device=self.device)
        found = [texts.get(text, (-1, -torch.inf)) for text in nodes]
        self.piece = torch.tensor([number for number, _ in found], dtype=torch.int32, device=self.device)
        self.score = torch.tensor([score for _, score in found], device=self.device)

    def codes_of(self, queries: list[str]) -> tuple[Tensor, Tensor]:
        """Return the characters of all queries, one after the other, and the number of characters of each."""
        escaped = [self.foreign.sub(self._spell, "▁" + query.replace(" ", "▁")) for query in queries]
        points = np.frombuffer("".join(escaped).encode("utf-32-le"), "<u4").astype(np.int64)
        codes = torch.searchsorted(self.codes, torch.from_numpy(points).to(self.device))
        return codes, torch.tensor([len(text) for text in escaped], device=self.device)

    def _spell(self, unknown: re.Match[str]) -> str:
        if not self.spelled:
            return chr(_UNKNOWN)  # a run of unknown characters is one piece, as in SentencePiece
        return "".join(chr(_BYTE + byte) for byte in unknown[0].encode())

    def child(self, node: Tensor, code: Tensor) -> Tensor:
        """Return the child node, or -1."""
        key = node * len(self.codes) + code
        place = torch.searchsorted(self.edge_keys, key).clamp_(max=len(self.edge_keys) - 1)
        return torch.where((self.edge_keys[place] == key) & (node >= 0), self.edge_nodes[place], -1)


def _lattice(queries: list[str], trie: _Trie, alpha: float) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return length, key, piece and width of `SampledTokens`, with positions that begin at 0."""
    codes, length = trie.codes_of(queries)
    first = torch.cumsum(length + 1, 0) - length - 1
    pieces, weights = _edges(codes, length, first, trie)
    shares = _shares(weights * alpha, length, first)  # (positions, widest)
    position, width = shares.nonzero(as_tuple=True)
    piece = pieces[position, width]
    key = position + torch.cumsum(shares, 1)[position, width].clamp_(max=1.0)
    is_last = torch.ones_like(position, dtype=torch.bool)
    is_last[:-1] = position[1:] != position[:-1]
    key[is_last] = (position[is_last] + 1).double()
    return length, key, piece, width + 1


def _edges(codes: Tensor, length: Tensor, first: Tensor, trie: _Trie) -> tuple[Tensor, Tensor]:
    """Return, per position and width, the piece that begins there, and its score (positions, widest)."""
    device, total = codes.device, int(length.sum()) + len(length)
    query = torch.repeat_interleave(torch.arange(len(length), device=device), length)
    start = torch.arange(len(codes), device=device)
    begin, last = start + query, (first + length)[query]  # a query has one position more than characters
    pieces = torch.full((total, trie.widest), -1, dtype=torch.int32, device=device)
    scores = torch.full((total, trie.widest), -torch.inf, device=device, dtype=torch.float64)
    node = torch.zeros(len(codes), dtype=torch.int64, device=device)
    for width in range(trie.widest):
        inside = begin + width < last
        begin, node, start, last = begin[inside], node[inside], start[inside], last[inside]
        node = trie.child(node, codes[start + width])
        known = node >= 0
        begin, node, start, last = begin[known], node[known], start[known], last[known]
        pieces[begin, width] = trie.piece[node]
        scores[begin, width] = trie.score[node].double()
    return pieces, scores


def _shares(weights: Tensor, length: Tensor, first: Tensor) -> Tensor:
    """Return the probability of each edge among those that begin at its position, from sums over all paths."""
    total, widest = weights.shape
    sums = torch.full((total + widest,), -torch.inf, dtype=torch.float64, device=weights.device)
    sums[first + length] = 0.0
    widths = torch.arange(1, widest + 1, device=weights.device)
    for left in range(1, int(length.max()) + 1):
        here = (first + length - left)[length >= left]
        sums[here] = torch.logsumexp(sums[here[:, None] + widths] + weights[here], 1)
    here = torch.arange(total, device=weights.device)
    shares = torch.exp(sums[here[:, None] + widths] + weights - sums[here][:, None])
    shares[first + length] = 0.0  # no piece begins after the last character
    return shares
