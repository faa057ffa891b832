"""What a batched search has found so far: finished texts, identified by their hashes, and their pieces."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from halfword.core.options import SearchOptions
from halfword.search.gpu.row_steps import RowSteps
from halfword.search.gpu.rows import Best, Rows

NO_COLUMN = -1


@dataclass(frozen=True, slots=True)
class Ended:
    """Piece sequences that spell complete queries."""

    prefixes: Tensor
    hashes: Tensor  # of the texts; texts of different prefixes have different hashes
    scores: Tensor  # -inf if the sequence may not end here
    before: Tensor  # the scores without the end piece
    links: Tensor


@dataclass(frozen=True, slots=True)
class Ranked:
    """The answers to each prefix (prefixes, count), best first."""

    scores: Tensor  # -inf: no answer
    links: Tensor


class Found:
    """The finished texts, and per prefix the best scores, which a further text has to exceed."""

    def __init__(self, prefixes: int, count: int, device: torch.device, steps: RowSteps) -> None:
        self._steps = steps
        none = torch.zeros(0, dtype=torch.int64, device=device)
        self._ended = [Ended(none, none, none.float(), none.float(), none)]
        scores = torch.full((prefixes, count), -math.inf, device=device)
        self._best = Best(scores, torch.zeros_like(scores, dtype=torch.int64))

    def add(self, rows: Rows, ends: Tensor, prune: bool) -> None:
        """Record that rows end here with the scores `ends`; with `prune` only what a pruned search reaches."""
        self._best = self._steps.note_ends(self._best, rows, ends)
        # Rounding can make an end that is all but certain likelier than what ends; it must not rule itself out.
        before = torch.maximum(rows.scores, ends) if prune else torch.full_like(rows.scores, math.inf)
        self._ended.append(Ended(rows.prefixes, rows.hashes, ends, before, rows.links))

    def bounds(self) -> Tensor:
        """Return, per prefix, the score that a further text needs to be among the answers."""
        return self._best.scores[:, -1]

    def rank(self, mass: Tensor, options: SearchOptions) -> Ranked:
        """Return the best texts of all prefixes; `mass` are the log-probabilities of the prefixes."""
        ended = _joined(self._ended)
        # The engine takes the best hypothesis of all lengths first. It would have stopped before it reached the others.
        ended = _taken(ended, (ended.before >= self.bounds()[ended.prefixes]).nonzero()[:, 0])
        texts = _merged(ended, options.merge)
        if options.min_probability:
            least = (mass + math.log(options.min_probability))[texts.prefixes]
            texts = _taken(texts, (texts.scores >= least).nonzero()[:, 0])
        texts = _taken(texts, texts.scores.argsort(descending=True, stable=True))
        texts = _taken(texts, texts.prefixes.argsort(stable=True))
        places = torch.arange(len(texts.prefixes), device=mass.device)
        places = places - torch.searchsorted(texts.prefixes, texts.prefixes)
        texts = _taken(texts, (places < options.count).nonzero()[:, 0])
        places = places[places < options.count]
        scores = torch.full((len(mass), options.count), -math.inf, device=mass.device)
        links = torch.zeros(scores.shape, dtype=torch.int64, device=mass.device)
        shift = mass[texts.prefixes] if options.conditional else 0.0
        scores[texts.prefixes, places] = texts.scores - shift
        links[texts.prefixes, places] = texts.links
        return Ranked(scores, links)


def _merged(ended: Ended, merge: bool) -> Ended:
    """Return each text once, with its best score or, with `merge`, with the sum of all its probabilities."""
    ended = _taken(ended, (ended.scores > -math.inf).nonzero()[:, 0])
    ended = _taken(ended, ended.scores.argsort(descending=True))
    ended = _taken(ended, ended.hashes.argsort(stable=True))
    new = torch.ones_like(ended.hashes, dtype=torch.bool)
    new[1:] = ended.hashes[1:] != ended.hashes[:-1]
    texts = _taken(ended, new.nonzero()[:, 0])  # the best sequence of each text
    if not merge:
        return texts
    number = new.cumsum(0) - 1
    shares = torch.exp(ended.scores - texts.scores[number])
    sums = torch.zeros_like(texts.scores).index_add_(0, number, shares)
    return Ended(texts.prefixes, texts.hashes, texts.scores + sums.log(), texts.before, texts.links)


def _joined(parts: list[Ended]) -> Ended:
    return Ended(
        torch.cat([part.prefixes for part in parts]),
        torch.cat([part.hashes for part in parts]),
        torch.cat([part.scores for part in parts]),
        torch.cat([part.before for part in parts]),
        torch.cat([part.links for part in parts]),
    )


def _taken(ended: Ended, rows: Tensor) -> Ended:
    return Ended(ended.prefixes[rows], ended.hashes[rows], ended.scores[rows], ended.before[rows], ended.links[rows])


class Links:
    """The starts of a search and the pieces it chose; each piece has a link to the one before it."""

    def __init__(self, starts: int, device: torch.device) -> None:
        self.starts = torch.arange(starts, device=device)  # the links of the starts, which point to themselves
        self._before = [self.starts]
        self._columns = [torch.full_like(self.starts, NO_COLUMN)]
        self._size = starts

    def add(self, before: Tensor, columns: Tensor) -> Tensor:
        """Append `columns` after the links `before`, and return the new links."""
        self._before.append(before)
        self._columns.append(columns)
        self._size += len(columns)
        return torch.arange(self._size - len(columns), self._size, device=columns.device)

    def follow(self, links: Tensor) -> tuple[Tensor, Tensor]:
        """Return the starts that `links` lead back to, and the columns on the way in reverse order (…, depth)."""
        before, columns = torch.cat(self._before), torch.cat(self._columns)
        passed = []
        at = links.view(-1)
        for _ in self._before[1:]:
            passed.append(columns.index_select(0, at))
            at = before.index_select(0, at)
        if not passed:
            return at.view_as(links), columns.new_empty(*links.shape, 0)
        all_passed = torch.stack(passed, -1)
        depth = int((all_passed != NO_COLUMN).any(0).sum())
        return at.view_as(links), all_passed[:, :depth].reshape(*links.shape, depth)
