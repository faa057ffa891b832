"""One search for many prefixes on a device: seed, score, harvest, expand, and at the end rank.

An open hypothesis is a *row*. A row has a *slot*, which says whose it is: slot = prefix × width + place, where prefixes
are counted among those still searched, and width is the most hypotheses that one of them can have.
"""

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from halfword.batched_found import Ended, Found, Links
from halfword.columns import WHOLE, Columns
from halfword.complete import SearchOptions
from halfword.row_network import RowNetwork, States
from halfword.row_steps import Grammar
from halfword.starts import FOLLOWS_SPACE, TAIL_IS_SPACE, StartTree

_SEED_STEP, _SEED_FIRST = 0x1E3779B97F4A7C15, 0x2545F4914F6CDD1D  # the hash of each prefix: arbitrary, but different
_CROWDED = 0.7  # prefixes that are done leave when no more than this share is still searched


@dataclass(frozen=True, slots=True)
class SearchTables:
    """What a search reads and never changes."""

    columns: Columns
    network: RowNetwork
    grammar: Grammar


@dataclass(frozen=True, slots=True)
class Rows:
    """The open hypotheses."""

    slots: Tensor
    scores: Tensor
    hashes: Tensor  # of their texts
    links: Tensor  # to their last pieces; below 0 the start they are: -1 - start
    after_space: Tensor
    wholeness: Tensor | None


@dataclass(frozen=True, slots=True)
class Scored:
    """What can come next."""

    scores: Tensor  # (rows, columns) of each row with each next piece
    peaks: Tensor  # (rows, groups) the best of each group of columns
    ends: Tensor  # (rows) of the rows that end here


@dataclass(frozen=True, slots=True)
class Children:
    """The best ways to go on, (prefixes, width) each; those that are not open score -inf."""

    scores: Tensor
    parents: Tensor  # rows
    columns: Tensor


@dataclass(frozen=True, slots=True)
class Answers:
    """What was found, (prefixes, count) each."""

    scores: Tensor  # -inf where there is none
    tails: Tensor  # bytes of the prefix that are given up
    pieces: Tensor  # (prefixes, count, depth) the last first; -1 is none


@dataclass(slots=True)
class Work:
    """What a search took."""

    rows: int = 0  # steps of the network, over all hypotheses and starts
    steps: int = 0  # pieces of the longest hypothesis beyond its prefix


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceStarts:
    """A `StartTree` where the search needs it."""

    level_ends: list[int]
    width: int  # the most starts that a prefix has
    parents: Tensor
    pieces: Tensor
    prefixes: Tensor
    slots: Tensor
    nodes: Tensor
    tails: Tensor
    firsts: Tensor
    lasts: Tensor
    kinds: Tensor

    @classmethod
    def of(cls, tree: StartTree, prefixes: int, device: torch.device) -> Self:
        """Copy the tree of so many prefixes to a device."""
        counts = np.bincount(tree.prefixes, minlength=prefixes)
        width = int(counts.max())
        places = np.arange(len(tree.prefixes)) - np.repeat(np.cumsum(counts) - counts, counts)

        def put(array: NDArray[np.integer[Any]]) -> Tensor:
            return torch.from_numpy(array).to(device, torch.int64, non_blocking=True)

        return cls(
            level_ends=tree.level_ends.tolist(),
            width=width,
            slots=put(tree.prefixes * np.int64(width) + places),
            **{name: put(getattr(tree, name)) for name in StartTree._fields if name != "level_ends"},
        )


class BatchedSearch:
    """The search of all prefixes of a tree of starts."""

    def __init__(self, tables: SearchTables, tree: StartTree, prefixes: int, options: SearchOptions) -> None:
        self._columns, self._network, self._grammar = tables.columns, tables.network, tables.grammar
        self._device = self._columns.pieces.device
        self._options = options
        self._starts = DeviceStarts.of(tree, prefixes, self._device)
        self._prefixes = torch.arange(prefixes, device=self._device)  # those still searched
        self._width = self._starts.width
        self._mass = self._floor = self._lowest(prefixes)  # the floor of those still searched alone
        self._found = Found(prefixes, options.count, self._device, self._network.steps)
        self._links = Links()
        self.work = Work()

    @torch.inference_mode()
    def run(self) -> Answers:
        """Return the best completions of each prefix."""
        states, start_scores = self._read_tree()
        rows = self._seed(start_scores)
        scored = self._score_starts(rows, states)
        if self._options.echo:
            self._harvest(rows, scored.ends)
        for _ in range(self._options.max_pieces):
            rows, parents, columns = self._adopt(rows, self._best_children(rows, scored))
            if not len(parents):
                break
            states = self._network.read(states, parents, columns)
            scored = self._score(rows, states)
            self._harvest(rows, scored.ends)
            self.work.rows += len(parents)
            self.work.steps += 1
        return self._answers()

    def _lowest(self, *shape: int) -> Tensor:
        return torch.full(shape, -math.inf, device=self._device)

    def _read_tree(self) -> tuple[States, Tensor]:
        """Read the pieces of all starts, level by level; return the states and scores of the starts."""
        starts, network = self._starts, self._network
        columns = self._columns.places[starts.pieces]
        states = network.read(network.start(), torch.zeros_like(columns[:1]), columns[:1])
        scores = torch.zeros(1, device=self._device)
        levels, level_scores = [states], [scores]
        above = 0
        for begin, end in pairwise(starts.level_ends):
            parents = starts.parents[begin:end] - above
            logits = network.logits(states)
            gained = logits[parents, columns[begin:end]] - logits.logsumexp(1)[parents]
            scores = scores[parents] + gained
            states = network.read(states, parents, columns[begin:end])
            levels.append(states)
            level_scores.append(scores)
            above = begin
        self.work.rows += starts.level_ends[-1]
        return _joined(levels, starts.nodes), torch.cat(level_scores)[starts.nodes]

    def _seed(self, scores: Tensor) -> Rows:
        """Make every start a row."""
        starts, columns = self._starts, self._columns
        own = starts.prefixes * _SEED_STEP + _SEED_FIRST
        size = starts.tails.clamp(max=columns.heads.shape[1] - 1)
        return Rows(
            slots=starts.slots,
            scores=scores,
            hashes=(own - columns.heads[starts.firsts, size]) * columns.shrinks[size],
            links=-1 - torch.arange(len(scores), device=self._device),
            after_space=starts.kinds & FOLLOWS_SPACE > 0,
            wholeness=None if columns.wholeness is None else torch.full_like(starts.tails, WHOLE),
        )

    def _score_starts(self, rows: Rows, states: States) -> Scored:
        """Do what `_score` does; but a start has its own next pieces, and ends only where it is to be echoed."""
        starts, options = self._starts, self._options
        scored = self._score(rows, states)
        scores = scored.scores
        free = starts.tails == 0
        places = torch.arange(scores.shape[1], device=self._device)
        outside = (places < starts.firsts[:, None]) | (places >= starts.lasts[:, None])
        scores.masked_fill_(outside & ~free[:, None], -math.inf)
        mass = self._lowest(len(self._prefixes) * self._width)
        mass[rows.slots] = torch.where(free, rows.scores, scores.logsumexp(1))
        self._mass = mass.view(-1, self._width).logsumexp(1)
        if options.min_probability:
            self._floor = self._mass + math.log(options.min_probability)
        echoes = starts.kinds & TAIL_IS_SPACE > 0 if options.echo else torch.zeros_like(free)
        peaks = scores.view(len(scores), -1, self._grammar.group).amax(2)
        return Scored(scores, peaks, scored.ends.masked_fill(~echoes, -math.inf))

    def _score(self, rows: Rows, states: States) -> Scored:
        """Find what can come next."""
        scores = self._network.logits(states)
        ends, peaks = self._network.steps.score(scores, rows.scores, rows.after_space, self._grammar)
        if rows.wholeness is not None:
            ends = ends.masked_fill(rows.wholeness != WHOLE, -math.inf)
        return Scored(scores, peaks, ends)

    def _harvest(self, rows: Rows, ends: Tensor) -> None:
        """Note which rows end here."""
        ended = Ended(self._prefixes[rows.slots // self._width], rows.hashes, ends, rows.links)
        self._found.add(ended, rows.slots, self._width)

    def _best_children(self, rows: Rows, scored: Scored) -> Children:
        """Choose the best next pieces of each prefix, as many as the beam holds.

        The best score of each group of columns is enough to tell which groups the chosen ones can be in.
        """
        size, group, width = len(self._prefixes), self._grammar.group, self._width
        groups = scored.peaks.shape[1]
        peaks = self._lowest(size * width, groups).index_copy_(0, rows.slots, scored.peaks)
        peaks, chosen = peaks.view(size, -1).topk(min(self._options.beam, width * groups), 1)
        row_at = torch.zeros(size * width, dtype=torch.int64, device=self._device)
        row_at[rows.slots] = torch.arange(len(rows.slots), device=self._device)
        parents = row_at.view(size, width).gather(1, chosen // groups)
        chosen = chosen % groups
        members = scored.scores.view(-1, group)[parents * groups + chosen]  # (prefixes, beam, group)
        members = members.masked_fill(peaks[:, :, None] == -math.inf, -math.inf).view(size, -1)
        best, place = members.topk(min(self._options.beam, members.shape[1]), 1)
        at = place // group
        return Children(best, parents.gather(1, at), chosen.gather(1, at) * group + place % group)

    def _adopt(self, rows: Rows, children: Children) -> tuple[Rows, Tensor, Tensor]:
        """Make the children that can still be of use the new rows; return those, their parents and their columns."""
        alive = children.scores > -math.inf
        if self._options.prune:
            alive &= children.scores >= torch.maximum(self._found.bounds(), self._floor)[:, None]
        self._width = alive.shape[1]
        slots = alive.view(-1).nonzero()[:, 0]
        parents = children.parents.view(-1)[slots]
        columns = children.columns.view(-1)[slots]
        scores = children.scores.view(-1)[slots]
        table, wholeness = self._columns, rows.wholeness
        if wholeness is not None and table.wholeness is not None:
            wholeness = table.wholeness[wholeness[parents], columns]
        adopted = Rows(
            slots=self._leave(alive, slots),
            scores=scores,
            hashes=rows.hashes[parents] * table.powers[columns] + table.values[columns],
            links=self._links.add(rows.links[parents], columns),
            after_space=table.ends_space[columns],
            wholeness=wholeness,
        )
        return adopted, parents, columns

    def _leave(self, alive: Tensor, slots: Tensor) -> Tensor:
        """Let prefixes go that have no open hypothesis, once they are many; return the slots of the others' rows."""
        searched = alive.any(1)
        staying = searched.nonzero()[:, 0]
        if len(staying) > _CROWDED * len(self._prefixes):
            return slots
        self._prefixes, self._floor = self._prefixes[staying], self._floor[staying]
        self._found.keep(staying)
        numbers = searched.cumsum(0) - 1
        return numbers[slots // self._width] * self._width + slots % self._width

    def _answers(self) -> Answers:
        ranked = self._found.rank(self._mass, self._options)
        starts, columns = self._links.follow(ranked.links)
        pieces = torch.where(columns < 0, -1, self._columns.pieces[columns])
        return Answers(ranked.scores, self._starts.tails[starts], pieces)


def _joined(levels: list[States], nodes: Tensor) -> States:
    """Return the states of `nodes`, which are counted through all levels."""
    layers = range(len(levels[0].cells))
    return States(
        tuple(torch.cat([level.cells[layer] for level in levels])[nodes] for layer in layers),
        tuple(torch.cat([level.hidden[layer] for level in levels])[nodes] for layer in layers),
    )
