"""Queries that teachers make up: with them a pupil reads more of what its teachers know than the log holds."""

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from halfword.batches import BestTokens, Queries
from halfword.errors import OptionError
from halfword.network import IGNORED, Network
from halfword.row_network import RowNetwork
from halfword.segment import Segmenter
from halfword.teacher import Teacher, mean_probabilities

_AT_ONCE = {"cpu": 1024, "cuda": 65536}


def with_imagined(
    queries: Queries, teacher: Teacher, segmenter: Segmenter, number: int, generator: torch.Generator
) -> Queries:
    """Return `queries` and so many more that the teacher makes up; an epoch reads all of them."""
    if not isinstance(queries.source, BestTokens):
        raise OptionError("imagined queries go with one segmentation a query; set alpha to 0, or leave them out")
    table = queries.source.table
    drawn = imagine(teacher, segmenter, number, table.shape[1], generator).to(table.dtype)
    rows = queries.rows
    return replace(
        queries,
        source=BestTokens(torch.cat([table, drawn])),
        counts=torch.cat([queries.counts, queries.counts.new_ones(number)]),
        characters=queries.characters * (rows + number) // rows,
    )


def imagine(
    teacher: Teacher, segmenter: Segmenter, number: int, most_tokens: int, generator: torch.Generator
) -> Tensor:
    """Draw queries piece by piece, as likely as the teacher finds them; return their targets (number, most tokens)."""
    networks = [_for_rows(network) for network in teacher.networks]
    at_once = _AT_ONCE[generator.device.type]
    sizes = [min(at_once, number - first) for first in range(0, number, at_once)]
    return torch.cat([_draw(networks, segmenter, size, most_tokens, generator) for size in sizes])


def _for_rows(network: Network) -> RowNetwork:
    device = network.embedding.device
    arrays = {f"network.{name}": array for name, array in network.weights().items()}
    pieces = torch.arange(len(network.embedding), device=device)
    return RowNetwork(arrays, pieces, len(pieces), torch.float32 if device.type == "cpu" else torch.float16)


@torch.no_grad()
def _draw(
    networks: Sequence[RowNetwork], segmenter: Segmenter, number: int, most_tokens: int, generator: torch.Generator
) -> Tensor:
    going = torch.arange(number, device=generator.device)  # the rows that have not ended
    targets = going.new_full((number, most_tokens), IGNORED)
    drawn, parents = torch.full_like(going, segmenter.begin), torch.zeros_like(going)
    states = [network.start() for network in networks]
    for step in range(most_tokens):
        states = [network.read(state, parents, drawn) for network, state in zip(networks, states, strict=True)]
        logits = (network.logits(state).float() for network, state in zip(networks, states, strict=True))
        drawn = torch.multinomial(mean_probabilities(logits), 1, generator=generator)[:, 0]
        targets[going, step] = drawn
        parents = (drawn != segmenter.end).nonzero()[:, 0]
        going, drawn = going[parents], drawn[parents]
        if not len(going):
            break
    return targets
