"""A pointer over the earlier queries of a session: what may be copied from them, learned with the network frozen.

The network reads every query by itself. `state` is its last hidden layer before a piece. A piece of an earlier query is
offered with the key W_k · state; the present state asks with W_q · state. "Nothing" is one more choice. So

    scores  = (W_q · state) · (W_k · state_j) / √size + bias[age of the query]      for each earlier piece j
    nothing = w · state + b
    p(piece) = α_nothing · p_network(piece) + Σ_j α_j [piece_j = piece],      α = softmax(nothing, scores)

Without earlier queries that is the network's own probability.
"""

import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from halfword.core.context import MOST_QUERIES
from halfword.core.model_file import Array
from halfword.core.progress import Event, Progress, quiet
from halfword.data.sessions import CONTEXT, lengths_of
from halfword.training.network.batches import make_chunk
from halfword.training.network.network import IGNORED, Network, token_losses
from halfword.training.pieces import Pieces

_NEVER = -1e30  # a score
_READ_AT_ONCE = 512  # queries
_ALIKE = 2.0  # what the likeness of two states counts before anything is learned
_MOST_TOKENS = 40  # of a query; the rest is not offered (`EarlierQuery` in engine/lm/pointer.h)
_LOOKED_AT = 20_000  # states whose principal directions it begins with


@dataclass(frozen=True, slots=True, kw_only=True)
class PointerOptions:
    """How the pointer is learned; chosen on aol-1m's validation rows (docs/research/context.md)."""

    size: int = 64  # numbers of a key
    rows: int = 40_000  # of sessions that are read, at most
    epochs: int = 4
    rate: float = 1e-2  # falls to 0
    windows: int = 16  # of a step
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Tokens:
    """What the frozen network makes of some queries; the tokens of a query lie one after the other."""

    states: Tensor  # (tokens, hidden): before each piece
    pieces: Tensor  # (tokens): the piece, or the end
    losses: Tensor  # (tokens): of the network alone, in nats
    edges: NDArray[np.int64]  # (queries + 1): where the tokens of each query begin


@dataclass(frozen=True, slots=True)
class Window:
    """Consecutive rows of one session; the first `unjudged` rows are only looked at."""

    queries: tuple[str, ...]
    unjudged: int


class Pointer(nn.Module):
    """What is learned."""

    def __init__(self, states: Tensor, size: int) -> None:
        super().__init__()
        # It begins as a continuous cache: states that are alike, in their principal directions, find each other.
        directions = torch.linalg.eigh(states.T @ states)[1][:, -size:].T
        first = directions * math.sqrt(_ALIKE * math.sqrt(len(directions)))
        self.query = nn.Parameter(first.clone())
        self.key = nn.Parameter(first.clone())
        self.nothing = nn.Parameter(states.new_zeros(states.shape[1]))
        self.nothing_bias = nn.Parameter(states.new_tensor(_ALIKE * float((states**2).sum(1).mean())))
        self.age = nn.Parameter(states.new_zeros(CONTEXT))

    def forward(self, states: Tensor, pieces: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Return the logarithms of what "nothing" gets, and of what all earlier pieces get that are the right one.

        `states` (windows, tokens, hidden), `pieces` and `rows` (windows, tokens); where there is no token, row is -1.
        """
        query, key = states @ self.query.T, states @ self.key.T
        ages = rows[:, :, None] - rows[:, None] - 1
        visible = (ages >= 0) & (ages < CONTEXT) & (rows[:, None] >= 0)
        scores = query @ key.mT / math.sqrt(len(self.query)) + self.age[ages.clamp(0, CONTEXT - 1)]
        scores = scores.masked_fill(~visible, _NEVER)
        nothing = states @ self.nothing + self.nothing_bias
        total = torch.logaddexp(scores.logsumexp(2), nothing)
        right = pieces[:, :, None] == pieces[:, None]
        return nothing - total, scores.masked_fill(~right, _NEVER).logsumexp(2) - total

    def arrays(self) -> dict[str, Array]:
        """Return what was learned, as arrays for a model file; an older query is as the oldest that was learned."""
        ages = torch.cat([self.age, self.age[-1:].expand(MOST_QUERIES - CONTEXT)])
        named = {"query": self.query, "key": self.key, "nothing": self.nothing, "age": ages}
        named["nothing_bias"] = self.nothing_bias[None]
        values = {name: value.detach().float().cpu().numpy().astype("<f4") for name, value in named.items()}
        return {f"pointer.{name}": Array("F32", value.tobytes(), value.shape) for name, value in values.items()}


def draw_windows(sessions: Sequence[Sequence[str]], rows: int, seed: int) -> list[Window]:
    """Cut sessions into windows, and draw some of them that have about `rows` rows."""
    numbers, firsts, sizes = array("Q"), array("Q"), array("B")  # of windows: session, first judged row, rows
    for number, length in enumerate(lengths_of(sessions)):
        for first in range(0, length, CONTEXT):
            before = min(first, CONTEXT)
            size = before + min(length - first, CONTEXT)
            if size > max(before, 1):
                numbers.append(number)
                firsts.append(first)
                sizes.append(size)
    order = np.random.default_rng(seed).permutation(len(sizes))
    ends = np.cumsum(np.asarray(sizes, np.int64)[order])
    taken = order[: int(np.searchsorted(ends, rows)) + 1].tolist()
    return [_window(sessions[numbers[place]], firsts[place]) for place in taken]


def _window(session: Sequence[str], first: int) -> Window:
    before = min(first, CONTEXT)
    return Window(tuple(session[first - before : first + CONTEXT]), max(before, 1))


@dataclass(frozen=True, slots=True)
class Reading:
    """Windows, and what the network makes of their queries."""

    windows: list[Window]
    numbers: dict[str, int]  # of the queries
    tokens: Tokens

    def laid(self, numbers: Sequence[int]) -> "Laid":
        """Lay the tokens of some windows side by side."""
        windows = [self.windows[number] for number in numbers]
        edges = self.tokens.edges
        spans = [[edges[self.numbers[query] : self.numbers[query] + 2] for query in each.queries] for each in windows]
        most = max(sum(int(last - first) for first, last in span) for span in spans)
        places, rows = np.zeros((len(windows), most), np.int64), np.full((len(windows), most), -1)
        for number, span in enumerate(spans):
            filled = np.concatenate([np.arange(first, last) for first, last in span])
            places[number, : len(filled)] = filled
            rows[number, : len(filled)] = np.repeat(np.arange(len(span)), [last - first for first, last in span])
        judged = rows >= np.array([[window.unjudged] for window in windows])
        device = self.tokens.states.device
        return Laid(*(torch.from_numpy(array).to(device) for array in (places, rows, judged)))

    def judged_queries(self) -> int:
        """Return how many rows are judged."""
        return sum(len(window.queries) - window.unjudged for window in self.windows)


@dataclass(frozen=True, slots=True)
class Laid:
    """Some windows, their tokens side by side."""

    places: Tensor  # (windows, tokens): of the token among all; 0 where there is none
    rows: Tensor  # (windows, tokens): the number of its query in the window; -1 where there is none
    judged: Tensor  # (windows, tokens)


def read_windows(windows: list[Window], network: Network, pieces: Pieces, progress: Progress = quiet) -> Reading:
    """Let the network read every query of some windows, each query once and by itself."""
    queries = list(dict.fromkeys(query for window in windows for query in window.queries))
    cut = [[*cut, pieces.end] for cut in pieces.segment(queries)]
    return Reading(
        windows,
        {query: number for number, query in enumerate(queries)},
        _read_tokens(network, cut, pieces.begin, progress),
    )


@torch.no_grad()
def _read_tokens(network: Network, queries: Sequence[Sequence[int]], begin: int, progress: Progress) -> Tokens:
    """Let the network read queries, given as pieces with the end."""
    device = network.embedding.device
    lengths = np.fromiter((min(len(query), _MOST_TOKENS) for query in queries), np.int64, len(queries))
    edges = np.concatenate([[0], np.cumsum(lengths)])
    order = np.argsort(-lengths, kind="stable")
    states = torch.empty(edges[-1], network.projection.shape[1], dtype=torch.float16, device=device)
    pieces = torch.empty(edges[-1], dtype=torch.int64, device=device)
    losses = torch.empty(edges[-1], device=device)
    for first in range(0, len(order), _READ_AT_ONCE):
        progress(Event("reading sessions", first, len(order)))
        part = order[first : first + _READ_AT_ONCE]
        targets = np.full((len(part), lengths[part[0]]), IGNORED)
        for row, number in enumerate(part):
            targets[row, : lengths[number]] = queries[number][: lengths[number]]
        (batch,) = make_chunk(torch.from_numpy(targets).to(device), len(part)).batches(begin)
        read = network.states(batch, torch.Generator(device))
        steps = enumerate(batch.active)
        places = torch.from_numpy(np.concatenate([edges[part[:running]] + step for step, running in steps])).to(device)
        states[places] = read.half()
        pieces[places] = batch.targets
        losses[places] = token_losses(network.output(read), batch.targets)
    return Tokens(states, pieces, losses, edges)


def learn_pointer(reading: Reading, options: PointerOptions, progress: Progress = quiet) -> Pointer:
    """Learn a pointer from windows of sessions."""
    pointer = Pointer(reading.tokens.states[:_LOOKED_AT].float(), options.size)
    optimizer = torch.optim.Adam(pointer.parameters(), lr=options.rate)
    batches = math.ceil(len(reading.windows) / options.windows)
    generator = np.random.default_rng(options.seed)
    for epoch in range(options.epochs):
        order = generator.permutation(len(reading.windows))
        for number, part in enumerate(np.array_split(order, batches)):
            step = epoch * batches + number
            progress(Event("learning what sessions repeat", step, options.epochs * batches))
            for group in optimizer.param_groups:
                group["lr"] = options.rate * (1 - step / (options.epochs * batches))
            optimizer.zero_grad()
            torch.autograd.backward(_losses(pointer, reading, part.tolist()).mean())
            optimizer.step()
    return pointer


def _losses(pointer: Pointer, reading: Reading, windows: Sequence[int]) -> Tensor:
    """Return the loss of each judged token of some windows."""
    laid, tokens = reading.laid(windows), reading.tokens
    nothing, right = pointer(tokens.states[laid.places].float(), tokens.pieces[laid.places], laid.rows)
    return -torch.logaddexp(nothing - tokens.losses[laid.places], right)[laid.judged]


@torch.no_grad()
def measure(pointer: Pointer, reading: Reading) -> tuple[float, float]:
    """Return nats per judged query: of the network alone, and with the pointer."""
    alone = together = 0.0
    for number in range(len(reading.windows)):
        laid = reading.laid([number])
        alone += float(reading.tokens.losses[laid.places][laid.judged].sum())
        together += float(_losses(pointer, reading, [number]).sum())
    queries = max(reading.judged_queries(), 1)
    return alone / queries, together / queries
