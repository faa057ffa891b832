"""Any completer × a dataset → a report: how often, how high and how early the query that was typed is offered."""

import inspect
import random
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeGuard, runtime_checkable

from halfword.core import metrics
from halfword.core.card import Card
from halfword.core.context import MOST_QUERIES
from halfword.core.errors import DatasetError, OptionError
from halfword.core.fields import option
from halfword.core.options import DEFAULTS, Invent, Order, SearchOptions, Typos
from halfword.core.progress import Event, Progress, quiet
from halfword.core.text import SHORTEST_QUERY
from halfword.data.dataset import Dataset, Split
from halfword.data.digest import split_digest
from halfword.data.sessions import TypedRow
from halfword.evaluation.context import by_kind
from halfword.evaluation.report import Measured, Report, contexts_of, make_report
from halfword.search.model import Completer, Completion

_CHUNK = 2048
_TELL_EVERY = 256  # queries


@runtime_checkable
class BatchCompleter(Protocol):
    """A completer that takes many prefixes at once, on all cores."""

    def complete_batch(self, prefixes: Sequence[str], options: SearchOptions) -> list[list[Completion]]: ...


class ContextCompleter(Protocol):
    """A batch completer that takes one context for each prefix."""

    def complete_batch(
        self, prefixes: Sequence[str], options: SearchOptions, *, contexts: Sequence[Sequence[str]]
    ) -> Sequence[list[Completion]]: ...


def takes_contexts(completer: object) -> TypeGuard[ContextCompleter]:
    """Tell whether a completer can be given the earlier queries of sessions."""
    complete_batch = getattr(completer, "complete_batch", None)
    return complete_batch is not None and "contexts" in inspect.signature(complete_batch).parameters


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluateOptions:
    """Which test rows are measured, and how."""

    sample: int | None = option(None, "Measure only so many rows, drawn at random.")
    seed: int = option(0, "Draws another sample.")
    # The first rows of the sample; None: all.
    walk: int | None = option(None, "Rows asked at every prefix (MRL, keystrokes); 0 for none.")
    context: int = option(0, "Earlier queries of the session that are sent along; 0 for none.")
    paper: bool = option(False, "Repeat the accident of the paper's code.")  # `SearchOptions.echo`
    count: int = DEFAULTS.count  # completions asked for
    # By default as users ask; 0 and freely measure the ranking of everything that was found.
    min_probability: float | None = option(None, "As for complete; 0 counts the unlikely too.")
    invent: Invent = option(DEFAULTS.invent, "As for complete: never, careful or freely.")
    typos: Typos = option(DEFAULTS.typos, "As for complete: auto or off.", rare=True)
    order: Order = option(DEFAULTS.order, "As for complete: any or as typed.", rare=True)

    def __post_init__(self) -> None:
        if self.sample is not None and self.sample < 1:
            raise OptionError(f"sample must be 1 or more, got {self.sample}")
        if self.walk is not None and self.walk < 0:
            raise OptionError(f"walk must be 0 or more, got {self.walk}")
        if not 0 <= self.context <= MOST_QUERIES:
            raise OptionError(f"context must lie between 0 and {MOST_QUERIES}, got {self.context}")
        self.search_options()  # which checks the count

    def search_options(self) -> SearchOptions:
        """Return what the completer is asked with."""
        return SearchOptions(
            count=self.count,
            echo=self.paper,
            min_probability=self.min_probability,
            invent=self.invent,
            typos=self.typos,
            order=self.order,
        )


def evaluate(
    completer: Completer,
    data: Dataset,
    options: EvaluateOptions | None = None,
    progress: Progress = quiet,
) -> Report:
    """Measure `completer` on the test split of `data`."""
    options = options or EvaluateOptions()
    check_unlearned(completer, data)
    rows = sample_typed_rows(data, options)
    asker = Asker(completer, options.search_options(), progress)
    known = data.table(Split.TRAIN).keys()
    measured = measure_rows(asker, rows, known, options.walk)
    found, walked = [measured[row] for row in rows], [measured[row] for row in rows[: options.walk]]
    report = make_report(found, walked, options.count, asker.asked / asker.seconds)
    if not options.context:
        return report
    alone = measure(asker, [row.query for row in rows], known, walk=0)
    return replace(report, context=by_kind(rows, [alone[row.query] for row in rows], found))


def check_unlearned(completer: Completer, data: Dataset) -> None:
    """Refuse to judge a model by rows that it has learned."""
    card = getattr(completer, "card", None)
    learned = card.learned if isinstance(card, Card) else None
    if learned is not None and learned.has_learned(split_digest(data.table(Split.TEST))):
        raise DatasetError(
            f"the model has learned the test rows of {data.path}, which would flatter it; "
            f"make a model to measure with: halfword train --hold-out"
        )


def measure(
    asker: "Asker", rows: Sequence[str], known: Collection[str], walk: int | None = None
) -> dict[str, Measured]:
    """Do as `measure_rows` for queries without a context."""
    measured = measure_rows(asker, [TypedRow(query) for query in rows], known, walk)
    return {row.query: each for row, each in measured.items()}


def measure_rows(
    asker: "Asker", rows: Sequence[TypedRow], known: Collection[str], walk: int | None = None
) -> dict[TypedRow, Measured]:
    """Ask each query at its hashed prefix, and those of the first `walk` rows (None: all) at every prefix.

    A row that occurs again is asked only once: its prefix length depends on its text alone.
    """
    measured = {row: Measured.of(row, known) for row in rows}
    _measure_ranks(asker, list(measured.values()))
    _measure_walks(asker, [measured[row] for row in dict.fromkeys(rows[:walk])])
    return measured


def sample_rows(data: Dataset, options: EvaluateOptions) -> list[str]:
    """Return the queries of the test rows to measure."""
    return [row.query for row in sample_typed_rows(data, options)]


def sample_typed_rows(data: Dataset, options: EvaluateOptions) -> list[TypedRow]:
    """Return the test rows to measure: those long enough, or a sample of them."""
    typed = _rows_with_context(data, options.context) if options.context else map(TypedRow, data.rows(Split.TEST))
    rows = [row for row in typed if len(row.query) >= SHORTEST_QUERY]
    if not rows:
        raise DatasetError(f"{data.path} has no test query of {SHORTEST_QUERY} characters and more")
    if options.sample is None:
        return list(rows)
    if options.sample > len(rows):
        raise OptionError(f"sample must be at most {len(rows)}, the rows of the test split, got {options.sample}")
    return random.Random(options.seed).sample(rows, options.sample)


def _rows_with_context(data: Dataset, size: int) -> list[TypedRow]:
    rows = data.typed_rows(Split.TEST, size)
    if not any(row.context for row in rows):
        raise DatasetError(
            f"{data.path} holds no sessions; prepare a log that has users or times, without --no-sessions"
        )
    return list(rows)


class Asker:
    """Asks the completer in chunks, and counts and times its answers."""

    def __init__(self, completer: Completer, options: SearchOptions, progress: Progress, at_once: int = _CHUNK) -> None:
        self._completer = completer
        self._options = options
        self._at_once = at_once
        self.progress = progress
        self.asked = 0
        self.seconds = 0.0

    def texts(self, prefixes: Sequence[str], contexts: Sequence[Sequence[str]] = ()) -> Iterator[list[str]]:
        """Yield the texts offered for each prefix."""
        for start in range(0, len(prefixes), self._at_once):
            chunk = prefixes[start : start + self._at_once]
            begun = time.perf_counter()
            answers = self._complete(chunk, contexts[start : start + self._at_once])
            self.seconds += time.perf_counter() - begun
            self.asked += len(chunk)
            for answer in answers:
                yield [completion.text for completion in answer]

    def _complete(self, prefixes: Sequence[str], contexts: Sequence[Sequence[str]]) -> Sequence[list[Completion]]:
        if any(contexts):
            return self._with_contexts(prefixes, contexts)
        if isinstance(self._completer, BatchCompleter):
            return self._completer.complete_batch(prefixes, self._options)
        return [self._completer.complete(prefix, self._options) for prefix in prefixes]

    def _with_contexts(self, prefixes: Sequence[str], contexts: Sequence[Sequence[str]]) -> Sequence[list[Completion]]:
        if not takes_contexts(self._completer):
            raise OptionError(f"{type(self._completer).__name__} takes no context; leave the option context out")
        return self._completer.complete_batch(prefixes, self._options, contexts=contexts)


def _measure_ranks(asker: Asker, queries: list[Measured]) -> None:
    prefixes = [item.query[: item.prefix_length] for item in queries]
    for done, (item, texts) in enumerate(zip(queries, asker.texts(prefixes, contexts_of(queries)), strict=True)):
        item.rank = metrics.rank(item.query, texts)
        item.partial_rank = metrics.partial_rank(item.query, texts)
        if done % _TELL_EVERY == 0:
            asker.progress(Event("ranks", done, len(queries)))


def _measure_walks(asker: Asker, queries: list[Measured]) -> None:
    """Shorten every query from its end while it is still offered, then type it from its beginning until it is."""
    alive = queries
    for removed in range(1, 1 + max((metrics.longest_recoverable(item.query) for item in queries), default=0)):
        asker.progress(Event("recoverable length", len(queries) - len(alive), len(queries)))
        alive = [item for item in alive if metrics.longest_recoverable(item.query) >= removed]
        alive = list(_still_recovered(asker, alive, removed))
    waiting = queries
    for typed in range(1, max((len(item.query) for item in queries), default=0)):
        asker.progress(Event("keystrokes", len(queries) - len(waiting), len(queries)))
        waiting = list(_still_typing(asker, [item for item in waiting if len(item.query) > typed], typed))


def _still_recovered(asker: Asker, queries: list[Measured], removed: int) -> Iterator[Measured]:
    prefixes = [item.query[:-removed] for item in queries]
    for item, texts in zip(queries, asker.texts(prefixes, contexts_of(queries)), strict=True):
        whole = item.recovered == removed - 1 and item.query in texts
        part = item.partly_recovered == removed - 1 and metrics.partial_rank(item.query, texts) is not None
        if whole:
            item.recovered = removed
        if part:
            item.partly_recovered = removed
        if whole or part:
            yield item


def _still_typing(asker: Asker, queries: list[Measured], typed: int) -> Iterator[Measured]:
    prefixes = [item.query[:typed] for item in queries]
    for item, texts in zip(queries, asker.texts(prefixes, contexts_of(queries)), strict=True):
        if item.query in texts:
            item.typed = typed
        else:
            yield item
