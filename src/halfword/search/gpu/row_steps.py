"""The small steps of a batched search between its matrix products, in PyTorch; `fused_rows` has GPU versions."""

import math

import torch
from torch import Tensor
from torch.nn import functional

from halfword.core.model_file import FORGET_BIAS, NORM_EPSILON
from halfword.search.gpu.columns import Columns
from halfword.search.gpu.rows import Best, Children, Grammar, Norm, Rows, Scored


class RowSteps:
    """The steps in plain PyTorch."""

    def step_cells(
        self, gates: Tensor, table: Tensor | None, columns: Tensor, cells: Tensor, parents: Tensor, norm: Norm
    ) -> tuple[Tensor, Tensor]:
        """Return the cells and the hidden values of new rows.

        `gates` are (rows, 3 × hidden). If there is a `table`, its row `columns` is added to them. `parents` are the
        rows of `cells` that the new rows continue.
        """
        size = cells.shape[1]
        given = gates.float() if table is None else gates.float() + table[columns]
        normed = functional.layer_norm(given.view(-1, 3, size), (size,), eps=NORM_EPSILON)
        forget, output, candidate = torch.addcmul(norm.bias, normed, norm.scale).unbind(1)
        cell = torch.lerp(torch.tanh(candidate), cells[parents], torch.sigmoid(forget + FORGET_BIAS))
        return cell, (torch.sigmoid(output) * torch.tanh(cell)).to(gates.dtype)

    def score(self, logits: Tensor, bases: Tensor, after_space: Tensor, grammar: Grammar) -> Scored:
        """Turn logits (rows, columns) into scores in place: log-probability + `bases`; -inf if not allowed."""
        scores = logits
        scores += (bases - scores.logsumexp(1))[:, None]
        ends = scores[:, grammar.end].masked_fill(after_space, -math.inf)
        scores[:, grammar.spelled :] = -math.inf
        scores[:, slice(*grammar.words)].masked_fill_(after_space[:, None], -math.inf)
        return Scored(scores, peaks_of(scores, grammar.group), ends)

    def note_ends(self, best: Best, rows: Rows, ends: Tensor) -> Best:
        """Return the best texts, those of `rows` with the scores `ends` included."""
        lines, count = best.scores.shape
        slots = _slots(rows)
        scores = _lowest(lines * rows.width, device=ends.device).index_copy_(0, slots, ends)
        hashes = torch.zeros_like(scores, dtype=torch.int64).index_copy_(0, slots, rows.hashes)
        scores = torch.cat([best.scores, scores.view(lines, -1)], 1)
        hashes = torch.cat([best.hashes, hashes.view(lines, -1)], 1)
        scores, order = scores.sort(1, descending=True)
        hashes, by_text = hashes.gather(1, order).sort(dim=1, stable=True)
        scores = scores.gather(1, by_text)  # of equal texts the best comes first, and is kept
        scores[:, 1:].masked_fill_(hashes[:, 1:] == hashes[:, :-1], -math.inf)
        scores, order = scores.topk(count, 1)
        return Best(scores, hashes.gather(1, order))

    def choose(self, rows: Rows, scored: Scored, bounds: Tensor, beam: int) -> Children:
        """Choose the `beam` best next pieces of each prefix; those that score below `bounds` are useless.

        The best score of each group of columns is enough to find the groups that hold the chosen ones. Of equal scores
        the earlier row is better, then the earlier column.
        """
        size, groups = len(bounds), scored.peaks.shape[1]
        group = scored.scores.shape[1] // groups
        slots = _slots(rows)
        peaks = _lowest(size * rows.width, groups, device=bounds.device).index_copy_(0, slots, scored.peaks)
        peaks, chosen = _highest(peaks.view(size, -1), beam)
        chosen, order = chosen.sort(1)
        peaks = peaks.gather(1, order)
        row_at = torch.zeros(size * rows.width, dtype=torch.int64, device=bounds.device)
        row_at[slots] = torch.arange(len(slots), device=bounds.device)
        parents = row_at.view(size, -1).gather(1, chosen // groups)
        chosen = chosen % groups
        members = scored.scores.view(-1, group)[parents * groups + chosen]  # (prefixes, beam, group)
        members = members.masked_fill(peaks[:, :, None] == -math.inf, -math.inf).view(size, -1)
        best, place = _highest(members, beam)
        at = place // group
        counts = ((best >= bounds[:, None]) & (best > -math.inf)).sum(1)
        return Children(best, parents.gather(1, at), chosen.gather(1, at) * group + place % group, counts)

    def adopt(self, rows: Rows, children: Children, columns: Columns) -> tuple[Rows, Tensor, Tensor]:
        """Return the useful children as rows (with their parents' links), their parents, and their columns."""
        width = children.scores.shape[1]
        places = torch.arange(width, device=children.scores.device)
        chosen = (places < children.counts[:, None]).nonzero(as_tuple=True)
        parents, pieces = children.parents[chosen], children.columns[chosen]
        adopted = Rows(
            width=width,
            begins=functional.pad(children.counts.cumsum(0), (1, 0)),
            prefixes=chosen[0],
            scores=children.scores[chosen],
            hashes=rows.hashes[parents] * columns.powers[pieces] + columns.values[pieces],
            links=rows.links[parents],
            after_space=columns.ends_space[pieces],
            wholeness=None,
        )
        return adopted, parents, pieces


def peaks_of(scores: Tensor, group: int) -> Tensor:
    """Return the best score of each group of columns."""
    return scores.view(len(scores), -1, group).amax(2)


def _slots(rows: Rows) -> Tensor:
    """Return the position of each row in an array (prefixes, width)."""
    places = torch.arange(len(rows.scores), device=rows.scores.device) - rows.begins[rows.prefixes]
    return rows.prefixes * rows.width + places


def _highest(scores: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Return the best scores of each line, best first, and their positions; unlike topk, ties keep their order."""
    best, places = scores.sort(dim=1, descending=True, stable=True)
    return best[:, :count].contiguous(), places[:, :count].contiguous()


def _lowest(*shape: int, device: torch.device) -> Tensor:
    return torch.full(shape, -math.inf, device=device)


def steps_on(device: torch.device) -> RowSteps:
    """Return the fastest implementation for a device."""
    if device.type != "cuda":
        return RowSteps()
    from halfword.search.gpu.fused_rows import FusedSteps

    return FusedSteps()
