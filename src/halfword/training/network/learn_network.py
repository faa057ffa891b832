"""The network part of a model: from the counts of a dataset to pieces and weights."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from halfword.core.card import NetworkCard, PartsCard, PiecesCard
from halfword.core.errors import ModelFileError
from halfword.core.model_file import Array
from halfword.core.progress import Event, Progress
from halfword.data.dataset import Dataset, Split
from halfword.data.query_table import QueryTable
from halfword.training.known_words import shared_words
from halfword.training.network.batches import Queries, TokenSource, best_tokens, read_queries
from halfword.training.network.checkpoint import (
    State,
    check_same,
    describe,
    fingerprint,
    named,
    read_checkpoint,
)
from halfword.training.network.distributed import World, choose_device, join_world
from halfword.training.network.go_on import go_on, mixed
from halfword.training.network.loss_plot import write_loss_plot
from halfword.training.network.network import Network
from halfword.training.network.options import NetworkOptions, NetworkTraining, checkpoint_path
from halfword.training.network.sample import sampled_tokens
from halfword.training.network.step import Stepper, seeded
from halfword.training.network.teacher import Teacher, read_teacher
from halfword.training.network.train_network import RunOptions, Training
from halfword.training.network.weights import Weights, network_arrays, network_sizes, network_weights
from halfword.training.segment import Segmenter, piece_arrays, train_segmenter

if TYPE_CHECKING:
    from halfword.training.background import Background


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnOptions:
    """How a network is trained, and on what."""

    network: NetworkTraining
    least_count: int = 1  # a word that occurs less often teaches no pieces
    hold_out: bool = True  # valid and test are not learned


@dataclass(frozen=True, slots=True)
class LearnedNetwork:
    """The arrays for the model file, and whether this process is the one that writes it."""

    arrays: dict[str, Array]
    newest: dict[str, Array]  # the network's arrays after it has read all rows; none if they are held out
    parts: PartsCard
    segmenter: Segmenter
    writes: bool


def learn_network(
    data: Dataset,
    output: Path,
    what: LearnOptions,
    run: RunOptions,
    progress: Progress,
    background: "Background | None" = None,
) -> LearnedNetwork:
    """Train a network, or resume a training that was stopped, and return the best epoch.

    With a background it has that model's pieces, and starts from its network if that has the same shape.
    """
    options = what.network
    started = time.monotonic()
    device = choose_device(run.device)
    with join_world(device) as world:
        progress(Event("reading the train and valid splits"))
        train, valid = data.table(Split.TRAIN), data.table(Split.VALID)
        first = _first_weights(background, options.network)
        rows = train.total
        options = (options.tuned(rows) if first else options).fitted(rows, world.size)
        described = describe(options, what.least_count)
        state, arrays = _start(output, run, State(described, fingerprint(train, valid)))
        segmenter = (
            _segmenter(shared_words(train, what.least_count), arrays, options, world, device, progress)
            if background is None
            else background.segmenter()
        )
        progress(Event(f"segmenting {len(train):,} queries"))
        queries = [_queries(table, segmenter, options, device) for table in (train, valid)]
        teacher = read_teacher(options.teachers, segmenter, device)
        stepper = make_stepper(segmenter, options, world, device, teacher)
        if first:
            stepper.network.load_weights(first)
        _restore(stepper, arrays, state)
        state.seconds += time.monotonic() - started
        training = Training(stepper, queries[0], queries[1], state, output, segmenter.model, run)
        if arrays:
            training.best_weights = named("best.", arrays)
        training.run(progress)
        if world.rank == 0:
            write_loss_plot(output.with_name(f"{output.name}.loss.svg"), state.history)
        result = _result(training, segmenter, world)
        return result if what.hold_out else _with_newest(result, training, data, train, progress)


def _with_newest(
    held_out: LearnedNetwork, training: Training, data: Dataset, train: QueryTable, progress: Progress
) -> LearnedNetwork:
    """Let a network that was trained go on over the rows that were held out."""
    newest = QueryTable.sum_of(data.learnable_table(split) for split in (Split.VALID, Split.TEST))
    if not newest:
        return held_out
    read = mixed(newest, train, training.options.seed)
    go_on(training, _queries(read, held_out.segmenter, training.options, training.stepper.device), progress)
    card = held_out.parts.network
    assert card is not None
    parts = replace(held_out.parts, network=replace(card, newest_rows=newest.total))
    return replace(held_out, newest=network_arrays(training.network.weights()), parts=parts)


def _first_weights(background: "Background | None", wanted: NetworkOptions) -> Weights:
    """Return the weights of the background's network; none if it has another shape than is wanted."""
    weights = network_weights(background.arrays) if background is not None else {}
    if not weights:
        return {}
    return weights if network_sizes(weights) == wanted.sizes() else {}


def make_stepper(
    segmenter: Segmenter,
    options: NetworkTraining,
    world: World,
    device: torch.device,
    teacher: Teacher | None = None,
) -> Stepper:
    """Make a new network and the stepper that trains it fastest on `device`."""
    network = Network(segmenter.size, options.network, seeded(torch.device("cpu"), options.seed, "weights")).to(device)
    if device.type == "cuda" and find_spec("triton"):
        from halfword.training.network.graph_step import GraphStepper

        return GraphStepper(network, options, segmenter.begin, world, teacher)
    return Stepper(network, options, segmenter.begin, world, teacher)


def _start(output: Path, run: RunOptions, fresh: State) -> tuple[State, dict[str, Tensor]]:
    path = checkpoint_path(output)
    if run.resume:
        state, arrays = read_checkpoint(path)
        check_same(path, state.options, fresh.options, "options")
        check_same(path, state.data, fresh.data, "data")
        state.options = fresh.options  # with the new time limit
        return state, arrays
    if path.exists():
        raise ModelFileError(f"{path} is left from a training that was stopped; go on with --resume, or delete it")
    return fresh, {}


def _segmenter(
    counts: Mapping[str, int],
    arrays: dict[str, Tensor],
    options: NetworkTraining,
    world: World,
    device: torch.device,
    progress: Progress,
) -> Segmenter:
    if arrays:
        return Segmenter(arrays["segmenter"].numpy().tobytes())
    progress(Event(f"learning {options.segment.kind} pieces"))
    model = train_segmenter(counts, options.segment).model if world.rank == 0 else b""
    return Segmenter(world.from_first(model, device))


def _queries(table: QueryTable, segmenter: Segmenter, options: NetworkTraining, device: torch.device) -> Queries:
    source: TokenSource
    if options.samples:
        source = sampled_tokens(table.queries, segmenter, options.most_tokens, options.alpha, device)
    else:
        source = best_tokens(table.queries, segmenter, options.most_tokens, device)
    return read_queries(table, source, segmenter.begin, device)


def _restore(stepper: Stepper, arrays: dict[str, Tensor], state: State) -> None:
    if arrays:
        stepper.network.load_state_dict(named("now.", arrays))
        stepper.restore(arrays, state.steps_in_all)


def _result(training: Training, segmenter: Segmenter, world: World) -> LearnedNetwork:
    state, options = training.state, training.options
    training.network.load_state_dict(training.best_weights)
    arrays = {**piece_arrays(segmenter), **network_arrays(training.network.weights())}
    network = NetworkCard(
        embedding_size=options.network.embedding_size,
        hidden_size=options.network.hidden_size,
        layers=options.network.layers,
        options=state.options,
        data=state.data,
        best=state.best,
        epochs=state.epoch,
        minutes=round(state.seconds / 60, 2),
    )
    pieces = PiecesCard(segmentation=str(segmenter.kind), size=segmenter.size)
    return LearnedNetwork(arrays, {}, PartsCard(pieces=pieces, network=network), segmenter, world.rank == 0)
