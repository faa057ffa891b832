"""What a model copies from the session: a pointer beside its network, and how much it counts beside its memory."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from halfword.core.card import PointerCard
from halfword.core.model_file import Array
from halfword.core.progress import Event, Progress
from halfword.data.dataset import Dataset, Split
from halfword.data.sessions import lengths_of
from halfword.search.model import load
from halfword.training.pieces import Pieces

if TYPE_CHECKING:
    from torch import Tensor

    from halfword.training.network.pointer import Pointer, Reading

FEWEST_ROWS = 500  # of the sessions; fewer teach nothing
_JUDGED_ROWS = 12_000  # validation rows whose loss is measured, and which weigh the pointer against the memory
_CLASSES = 32  # of the memory's contexts, as in `mixture`
_PRIOR = 20.0  # tokens of each class that speak for the bias as it was learned
_STEPS = 300


@dataclass(frozen=True, slots=True)
class LearnedPointer:
    """The arrays of a pointer, and what the card says of it."""

    arrays: dict[str, Array]
    card: PointerCard
    judged: "Judged | None"  # None without validation rows


@dataclass(frozen=True, slots=True)
class Judged:
    """A pointer, and validation rows that it was not learned from."""

    pointer: "Pointer"
    reading: "Reading"


def learn_session_pointer(
    arrays: Mapping[str, Array], pieces: Pieces, data: Dataset, device: str | None, progress: Progress
) -> LearnedPointer | None:
    """Learn a pointer beside the network of a model; None where the log has no sessions to learn it from."""
    sessions = data.sessions(Split.TRAIN)
    if sum(length for length in lengths_of(sessions) if length > 1) < FEWEST_ROWS:
        return None
    import torch

    from halfword.training.network.distributed import choose_device
    from halfword.training.network.network import Network
    from halfword.training.network.options import NetworkOptions
    from halfword.training.network.pointer import PointerOptions, draw_windows, learn_pointer, measure, read_windows
    from halfword.training.network.weights import network_sizes, network_weights

    weights, options = network_weights(arrays), PointerOptions()
    network = Network(pieces.size, NetworkOptions(**network_sizes(weights)), torch.Generator())
    network.load_weights(weights)
    network.to(choose_device(device)).eval()
    reading = read_windows(draw_windows(sessions, options.rows, options.seed), network, pieces, progress)
    pointer = learn_pointer(reading, options, progress)
    card = PointerCard(size=options.size, rows=reading.judged_queries())
    judged = None
    if windows := draw_windows(data.sessions(Split.VALID), _JUDGED_ROWS, options.seed):
        progress(Event("measuring what sessions repeat"))
        judged = Judged(pointer, read_windows(windows, network, pieces))
        alone, together = measure(pointer, judged.reading)
        card = PointerCard(
            size=card.size, rows=card.rows, valid_alone=round(alone, 3), valid_context=round(together, 3)
        )
    return LearnedPointer(pointer.arrays(), card, judged)


def weigh_against_memory(path: Path, judged: Judged) -> dict[str, Array]:
    """Return what is added to the score of "nothing" by what the memory knows, fitted to validation rows.

    `path` is a model file with network, memory and the weights of their mixture. Where the memory is sure, less should
    be copied than the network alone would want.
    """
    import torch

    from halfword.search.reference import read_arrays

    model = load(path, parts=("ngram", "network"), cache=False)
    views = [model._engine.view(query) for query in judged.reading.numbers]
    edges = judged.reading.tokens.edges
    sized = list(zip(views, np.diff(edges), strict=True))
    classes, network, memory = (
        np.concatenate([np.asarray(view[part])[:size] for view, size in sized]) for part in range(3)
    )
    shares = read_arrays(path).get("mixture.network_weight", np.full(_CLASSES, 0.5))[classes]
    mixed = shares * network + (1 - shares) * memory
    nothing, right, places = _choices(judged)
    kept = torch.from_numpy(np.log(np.maximum(mixed, 1e-30)))[places]
    which = torch.from_numpy(classes.astype(np.int64))[places]
    bias = torch.zeros(_CLASSES, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.Adam([bias], lr=0.05)
    copies = torch.log1p(-nothing.exp().clamp(max=1 - 1e-9))
    for _ in range(_STEPS):
        optimizer.zero_grad()
        shifted = nothing + bias[which]
        loss = torch.logaddexp(shifted, copies) - torch.logaddexp(shifted + kept, right)
        torch.autograd.backward(loss.sum() + _PRIOR * (bias**2).sum())
        optimizer.step()
    fitted = bias.detach().numpy().astype("<f4")
    return {"pointer.by_class": Array("F32", fitted.tobytes(), fitted.shape)}


def _choices(judged: Judged) -> tuple["Tensor", "Tensor", "Tensor"]:
    """Return for each judged token the logarithms of what nothing and the right pieces get, and its place."""
    import torch

    reading, found = judged.reading, []
    tokens = reading.tokens
    with torch.no_grad():
        for number in range(len(reading.windows)):
            laid = reading.laid([number])
            nothing, right = judged.pointer(tokens.states[laid.places].float(), tokens.pieces[laid.places], laid.rows)
            found.append([each[laid.judged].cpu() for each in (nothing.double(), right.double(), laid.places)])
    columns = [torch.cat(column) for column in zip(*found, strict=True)]
    return columns[0], columns[1], columns[2]
