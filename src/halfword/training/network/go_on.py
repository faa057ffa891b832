"""A trained network goes on over the newest rows, which were held out until its best epoch was chosen."""

import math
import time

import numpy as np

from halfword.core.progress import Event, Progress
from halfword.data.query_table import QueryTable
from halfword.training.network.batches import Queries, epoch_rows, make_chunk
from halfword.training.network.step import seeded
from halfword.training.network.train_network import Training

_RATE = 0.1  # share of the training's highest learning rate; with it rows that were never read gain too, on three logs
_TIME = 0.1  # share of the time limit
_CHUNK = 64  # batches that are drawn and sorted together


def mixed(newest: QueryTable, train: QueryTable, seed: int) -> QueryTable:
    """Return the newest rows and about as many of the others, drawn at random, so that these are not forgotten."""
    share = min(newest.total / train.total, 1.0)
    drawn = np.random.default_rng(seed).binomial(np.asarray(train.values(), np.int64), share)
    others = QueryTable.of((query, count) for query, count in zip(train, drawn, strict=True) if count)
    return QueryTable.sum_of([newest, others])


def go_on(training: Training, queries: Queries, progress: Progress) -> None:
    """Read some queries once, in small steps, from the best weights of a training; the network keeps the result."""
    stepper, options, world = training.stepper, training.options, training.stepper.world
    training.network.load_state_dict(training.best_weights)
    training.network.train()
    batch, began = options.batch * world.size, time.monotonic()
    rows = epoch_rows(queries.counts, seeded(stepper.device, options.seed, "newest"))
    steps, number = math.ceil(len(rows) / batch), training.state.steps_in_all
    for first in range(0, steps, _CHUNK):
        progress(Event("reading the newest rows", first, steps))
        part = rows[first * batch : (first + _CHUNK) * batch]
        targets = queries.source.tokens(part, seeded(stepper.device, options.seed, "newest", first))
        chunk = make_chunk(targets, batch, world)
        stepper.load(chunk)
        for position in range(len(chunk)):
            stepper.step(position, number + first + position, _RATE * options.learning_rate)
        late = options.time_limit is not None and time.monotonic() - began > _TIME * 60 * options.time_limit
        if world.sum([float(late)], stepper.device)[0]:  # all processes stop together
            return
