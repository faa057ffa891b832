"""What a batched search has found so far: the texts that ended, known by their hashes, and their pieces."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from halfword.complete import SearchOptions
from halfword.row_steps import RowSteps
from halfword.rows import Best, Rows


@dataclass(frozen=True, slots=True)
class Ended:
    """Piece sequences that spell whole queries."""

    prefixes: Tensor
    hashes: Tensor  # of the texts; those of different prefixes differ
    scores: Tensor  # -inf where it may not end after all
    links: Tensor


@dataclass(frozen=True, slots=True)
class Ranked:
    """The answers to each prefix (prefixes, count), best first."""

    scores: Tensor  # -inf where there is none
    links: Tensor


class Found:
    """The texts that ended, and of each prefix the scores of the best: what a further text must exceed."""

    def __init__(self, prefixes: int, count: int, device: torch.device, steps: RowSteps) -> None:
        self._steps = steps
        none = torch.zeros(0, dtype=torch.int64, device=device)
        self._ended = [Ended(none, none, none.float(), none)]
        scores = torch.full((prefixes, count), -math.inf, device=device)
        self._best = Best(scores, torch.zeros_like(scores, dtype=torch.int64))

    def add(self, rows: Rows, ends: Tensor) -> None:
        """Note the rows that end here, and with what scores."""
        self._ended.append(Ended(rows.prefixes, rows.hashes, ends, rows.links))
        self._best = self._steps.note_ends(self._best, rows, ends)

    def bounds(self) -> Tensor:
        """Return what a further text of each prefix must score to be among the answers."""
        return self._best.scores[:, -1]

    def rank(self, mass: Tensor, options: SearchOptions) -> Ranked:
        """Return the best texts of all prefixes, whose log-probabilities are `mass`."""
        texts = _merged(_joined(self._ended), options.merge)
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
        links = torch.full(scores.shape, -1, device=mass.device)
        shift = mass[texts.prefixes] if options.conditional else 0.0
        scores[texts.prefixes, places] = texts.scores - shift
        links[texts.prefixes, places] = texts.links
        return Ranked(scores, links)


def _merged(ended: Ended, merge: bool) -> Ended:
    """Return each text once: with its best score, or with the sum of all."""
    ended = _taken(ended, (ended.scores > -math.inf).nonzero()[:, 0])
    ended = _taken(ended, ended.scores.argsort(descending=True))
    ended = _taken(ended, ended.hashes.argsort(stable=True))
    new = torch.ones_like(ended.hashes, dtype=torch.bool)
    new[1:] = ended.hashes[1:] != ended.hashes[:-1]
    texts = _taken(ended, new.nonzero()[:, 0])  # the best of each
    if not merge:
        return texts
    number = new.cumsum(0) - 1
    shares = torch.exp(ended.scores - texts.scores[number])
    sums = torch.zeros_like(texts.scores).index_add_(0, number, shares)
    return Ended(texts.prefixes, texts.hashes, texts.scores + sums.log(), texts.links)


def _joined(parts: list[Ended]) -> Ended:
    return Ended(
        torch.cat([part.prefixes for part in parts]),
        torch.cat([part.hashes for part in parts]),
        torch.cat([part.scores for part in parts]),
        torch.cat([part.links for part in parts]),
    )


def _taken(ended: Ended, rows: Tensor) -> Ended:
    return Ended(ended.prefixes[rows], ended.hashes[rows], ended.scores[rows], ended.links[rows])


class Links:
    """The pieces chosen by a search, each with a link to the one before; below 0 a link is a start: -1 - start."""

    def __init__(self) -> None:
        self._before: list[Tensor] = []
        self._columns: list[Tensor] = []
        self._size = 0

    def add(self, before: Tensor, columns: Tensor) -> Tensor:
        """Put `columns` behind the links `before`, and return the new links."""
        self._before.append(before)
        self._columns.append(columns)
        self._size += len(columns)
        return torch.arange(self._size - len(columns), self._size, device=columns.device)

    def follow(self, links: Tensor) -> tuple[Tensor, Tensor]:
        """Return the starts that `links` lead back to, and the columns on the way, the last first (…, depth).

        A column of -1 is none.
        """
        before, columns = (functional.pad(torch.cat(parts), (0, 1)) for parts in (self._before, self._columns))
        passed = []
        for _ in self._before:
            at = links.clamp(min=0)
            passed.append(torch.where(links < 0, -1, columns[at]))
            links = torch.where(links < 0, links, before[at])
        return -1 - links, torch.stack(passed, -1)
