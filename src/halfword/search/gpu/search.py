"""One search for many prefixes on a device: read the starts and seed; then repeat choose, adopt, read, score."""

import math
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Self

import numpy as np
import torch
from torch import Tensor

from halfword.core.options import SearchOptions
from halfword.search.gpu.columns import WHOLE, Columns
from halfword.search.gpu.copying import Copying, PointerWeights
from halfword.search.gpu.found import NO_COLUMN, Found, Links
from halfword.search.gpu.row_network import RowNetwork, States
from halfword.search.gpu.row_steps import peaks_of
from halfword.search.gpu.rows import Grammar, Rows, Scored
from halfword.search.gpu.starts import FOLLOWS_SPACE, NO_PIECE, TAIL_IS_SPACE, StartTree

_SEED_STEP, _SEED_FIRST = 0x1E3779B97F4A7C15, 0x2545F4914F6CDD1D  # give each prefix a different, arbitrary hash


@dataclass(frozen=True, slots=True)
class SearchTables:
    """The tables that a search only reads."""

    columns: Columns
    network: RowNetwork
    grammar: Grammar
    pointer: PointerWeights | None


@dataclass(frozen=True, slots=True)
class Answers:
    """The completions found (prefixes, count)."""

    scores: Tensor  # -inf: none
    tails: Tensor  # bytes at the end of the prefix that the pieces replace
    pieces: Tensor  # (prefixes, count, depth) in reverse order; NO_PIECE: none


@dataclass(slots=True)
class Work:
    """The work of a search."""

    rows: int = 0  # steps of the network, summed over all hypotheses and starts
    steps: int = 0  # pieces that the longest hypothesis adds to its prefix


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceStarts:
    """A `StartTree` on the device."""

    level_ends: list[int]
    width: int  # the largest number of starts of a prefix
    parents: Tensor
    above: Tensor  # the parents, as indices within their level
    pieces: Tensor
    begins: Tensor  # where the starts of each prefix begin
    prefixes: Tensor
    slots: Tensor  # the position of a start in an array (prefixes, width)
    nodes: Tensor
    tails: Tensor
    firsts: Tensor
    lasts: Tensor
    kinds: Tensor

    @classmethod
    def of(cls, tree: StartTree, prefixes: int, device: torch.device) -> Self:
        """Copy the tree to a device in one transfer."""
        counts = np.bincount(tree.prefixes, minlength=prefixes)
        width = int(counts.max())
        begins = np.concatenate([[0], np.cumsum(counts)])
        places = np.arange(len(tree.prefixes)) - np.repeat(begins[:-1], counts)
        ends = tree.level_ends
        level_begins = np.repeat(np.concatenate([[0, 0], ends])[: len(ends)], np.diff(ends, prepend=0))
        arrays = {name: getattr(tree, name) for name in StartTree._fields[1:]}
        arrays |= {"above": tree.parents - level_begins, "begins": begins, "slots": tree.prefixes * width + places}
        joined = torch.from_numpy(np.concatenate(list(arrays.values())).astype(np.int64)).to(device)
        parts = torch.split(joined, [len(array) for array in arrays.values()])
        return cls(level_ends=ends.tolist(), width=width, **dict(zip(arrays, parts, strict=True)))


class BatchedSearch:
    """The search of all prefixes of a tree of starts; prefixes may be equal if their contexts differ."""

    def __init__(
        self,
        tables: SearchTables,
        tree: StartTree,
        prefixes: int,
        options: SearchOptions,
        copying: Copying | None = None,
    ) -> None:
        self._columns, self._network, self._grammar = tables.columns, tables.network, tables.grammar
        self._device = self._columns.pieces.device
        self._options = options
        self._copying = copying
        self._starts = DeviceStarts.of(tree, prefixes, self._device)
        self._mass = self._floor = torch.full((prefixes,), -math.inf, device=self._device)
        self._found = Found(prefixes, options.count, self._device, self._network.steps)
        self._links = Links(len(tree.nodes), self._device)
        self.work = Work()

    @torch.inference_mode()
    def run(self) -> Answers:
        """Return the best completions of each prefix."""
        states, start_scores = self._read_tree()
        rows = self._seed(start_scores)
        scored = self._score_starts(rows, states)
        if self._options.echo:
            self._found.add(rows, scored.ends, prune=False)
        for _ in range(self._options.max_pieces):
            rows, parents, columns = self._expand(rows, scored)
            if not len(parents):
                break
            states = self._network.read(states, parents, columns)
            scored = self._score(rows, states)
            self._found.add(rows, scored.ends, self._options.prune)
            self.work.rows += len(parents)
            self.work.steps += 1
        return self._answers()

    def _read_tree(self) -> tuple[States, Tensor]:
        """Read the pieces of all starts, level by level; return the states and scores of the starts."""
        starts, network = self._starts, self._network
        columns = self._columns.places[starts.pieces]
        levels = [network.read(network.start(), starts.above[:1], columns[:1])]
        for begin, end in pairwise(starts.level_ends):
            levels.append(network.read(levels[-1], starts.above[begin:end], columns[begin:end]))
        states = _joined(levels)
        scores = network.follow(states, starts.parents, columns)
        scores[0] = 0.0  # the begin piece is its own parent
        self.work.rows += len(columns)
        if self._copying is not None:
            return _taken(states, starts.nodes), self._copied_paths(self._copying, scores, states.hidden[-1], columns)
        ancestors = starts.parents
        for _ in range(len(levels).bit_length()):  # each round doubles the number of pieces summed
            scores = scores + scores[ancestors]
            ancestors = ancestors[ancestors]
        return _taken(states, starts.nodes), scores[starts.nodes]

    def _copied_paths(self, copying: Copying, alone: Tensor, hidden: Tensor, columns: Tensor) -> Tensor:
        """Return the scores of the starts; the pieces of the tree are scored anew for every context."""
        starts = self._starts
        scores = torch.zeros(len(starts.nodes), device=self._device)
        waiting, nodes = torch.arange(len(scores), device=self._device), starts.nodes
        while len(waiting):
            inside = nodes > 0
            waiting, nodes = waiting[inside], nodes[inside]
            parents = starts.parents[nodes]
            prefixes = starts.prefixes[waiting]
            scores[waiting] += copying.follow(alone[nodes], hidden[parents], prefixes, columns[nodes])
            nodes = parents
        return scores

    def _seed(self, scores: Tensor) -> Rows:
        """Make every start a row."""
        starts, columns = self._starts, self._columns
        own = starts.prefixes * _SEED_STEP + _SEED_FIRST
        size = starts.tails.clamp(max=columns.heads.shape[1] - 1)
        return Rows(
            width=starts.width,
            begins=starts.begins,
            prefixes=starts.prefixes,
            scores=scores,
            hashes=(own - columns.heads[starts.firsts, size]) * columns.shrinks[size],
            links=self._links.starts,
            after_space=starts.kinds & FOLLOWS_SPACE > 0,
            wholeness=None if columns.wholeness is None else torch.full_like(starts.tails, WHOLE),
        )

    def _score_starts(self, rows: Rows, states: States) -> Scored:
        """Like `_score`, but a start must spell its freed characters first, and ends only if it is to be echoed."""
        starts, options = self._starts, self._options
        scored = self._score(rows, states)
        free = starts.tails == 0
        places = torch.arange(scored.scores.shape[1], device=self._device)
        outside = (places < starts.firsts[:, None]) | (places >= starts.lasts[:, None])
        scores = scored.scores.masked_fill_(outside & ~free[:, None], -math.inf)
        mass = torch.full((len(self._mass) * starts.width,), -math.inf, device=self._device)
        mass[starts.slots] = torch.where(free, rows.scores, scores.logsumexp(1))
        self._mass = mass.view(-1, starts.width).logsumexp(1)
        if options.min_probability:
            self._floor = self._mass + math.log(options.min_probability)
        echoes = starts.kinds & TAIL_IS_SPACE > 0 if options.echo else torch.zeros_like(free)
        return Scored(scores, peaks_of(scores, self._grammar.group), scored.ends.masked_fill(~echoes, -math.inf))

    def _score(self, rows: Rows, states: States) -> Scored:
        """Score everything that can come next."""
        logits = self._network.logits(states)
        if self._copying is not None:
            self._copying.mix(logits, states.hidden[-1], rows.prefixes)
        scored = self._network.steps.score(logits, rows.scores, rows.after_space, self._grammar)
        if rows.wholeness is None:
            return scored
        return replace(scored, ends=scored.ends.masked_fill(rows.wholeness != WHOLE, -math.inf))

    def _expand(self, rows: Rows, scored: Scored) -> tuple[Rows, Tensor, Tensor]:
        """Return the best children as the next rows, their parents, and the columns they add."""
        steps, table = self._network.steps, self._columns.wholeness
        bounds = torch.maximum(self._found.bounds(), self._floor)
        if not self._options.prune:
            bounds = torch.full_like(bounds, -math.inf)
        children = steps.choose(rows, scored, bounds, self._options.beam)
        adopted, parents, columns = steps.adopt(rows, children, self._columns)
        adopted = replace(adopted, links=self._links.add(adopted.links, columns))
        if table is not None and rows.wholeness is not None:
            adopted = replace(adopted, wholeness=table[rows.wholeness[parents], columns])
        return adopted, parents, columns

    def _answers(self) -> Answers:
        ranked = self._found.rank(self._mass, self._options)
        starts, columns = self._links.follow(ranked.links)
        pieces = torch.where(columns == NO_COLUMN, NO_PIECE, self._columns.pieces[columns])
        return Answers(ranked.scores, self._starts.tails[starts], pieces)


def _joined(levels: list[States]) -> States:
    layers = range(len(levels[0].cells))
    return States(
        tuple(torch.cat([level.cells[layer] for level in levels]) for layer in layers),
        tuple(torch.cat([level.hidden[layer] for level in levels]) for layer in layers),
    )


def _taken(states: States, rows: Tensor) -> States:
    return States(tuple(each[rows] for each in states.cells), tuple(each[rows] for each in states.hidden))
