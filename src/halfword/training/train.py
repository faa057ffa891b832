"""A dataset becomes a model file.

Each part is learned from the train split, and what joins the parts is fitted on the validation split. Then the parts
are learned again from all rows, and the fitted weights stay; with `hold_out` the first parts are kept instead.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from halfword.core.card import BackgroundCard, Card, MemoryCard, PartsCard, PopularCard
from halfword.core.errors import OptionError, OutputError
from halfword.core.filters import SHIPPED, Blocklist, read_blocklist
from halfword.core.model_file import Array, check_model_output, write_model
from halfword.core.policy import DEFAULT_POLICY, Policy
from halfword.core.progress import Event, Progress, named, quiet
from halfword.core.scratch import scratch_folder
from halfword.core.version import __version__
from halfword.data.dataset import Dataset, Split
from halfword.data.query_table import QueryTable
from halfword.data.sessions import TypedRow
from halfword.search.model import import_engine, load
from halfword.training.displays import learn_displays
from halfword.training.folding import LARGEST_COUNT, fold_queries
from halfword.training.foundation import Learned, bounds, learn_all, learn_pieces, memory_options
from halfword.training.held_out import check_sources, learned_card
from halfword.training.live import WithLive
from halfword.training.misspellings import WithoutMisspellings, write_left_out
from halfword.training.network.options import checkpoint_path
from halfword.training.options import NO_BACKGROUND, TrainOptions
from halfword.training.popular import popular_of

if TYPE_CHECKING:  # it needs NumPy
    from halfword.training.session_pointer import LearnedPointer


_NAMED = 5  # queries that are not learned or not suggested


def train(data: Dataset, output: Path, options: TrainOptions, progress: Progress = quiet) -> Card:
    """Learn from `data`, write the model file `output` and return its card."""
    from halfword.training.small_site import is_small_site  # it needs NumPy

    if options.drops_misspellings(is_small_site(data.table(Split.TRAIN))):
        data = WithoutMisspellings.of(data, _typed_by_others(options))
        if left_out := data.left_out():
            progress(Event("leaving out likely typing mistakes", detail=f"such as {', '.join([*left_out][:_NAMED])}"))
    options = replace(options, drop_misspellings=False, keep_misspellings=True)
    if options.live is not None or options.removed is not None:
        data = WithLive.of(data, options.removed, options.live, learns=not options.hold_out)
        options = replace(options, live=None, removed=None)
    if options.best:
        from halfword.training.train_best import train_best

        return train_best(data, output, options, progress)
    check_model_output(output)
    if options.hold_out:
        check_sources(data, options)
    if "popular" in options.parts or len(options.parts) > 1:
        import_engine()  # a missing engine should be known now, not after hours
    learned = learn_pieces(data, output, options, progress)
    if not learned.writes:
        return _card(data, options, learned)
    pointer = _pointer(learned, data, options, progress)
    if pointer is not None:
        parts = replace(learned.parts, pointer=pointer.card)
        learned = replace(learned, arrays={**learned.arrays, **pointer.arrays}, parts=parts)
    made = _Made({}, learned.parts)
    if options.hold_out or len(options.parts) > 1:  # else there is nothing to fit
        made = _held_out(data, output, learned, pointer, options, progress)
    if not options.hold_out:
        made = replace(made, arrays={})  # they are learned again, and need not be in memory twice
        made = _with_all_rows(made, data, output, learned, options, named("all rows", progress))
    card = replace(_card(data, options, replace(learned, parts=made.parts)), learned=learned_card(data, options))
    if isinstance(data, WithLive) and not options.hold_out:
        card = replace(card, live=data.card())
    progress(Event("writing the model"))
    _write(output, made, card)
    write_left_out(output, data.left_out())
    checkpoint_path(output).unlink(missing_ok=True)
    return card


def _write(output: Path, made: "_Made", card: Card) -> None:
    """Write the model file; if this is killed, the next training removes what was written."""
    with scratch_folder(output) as folder:
        path = folder / output.name
        write_model(path, {**made.arrays, **made.fitted}, card, policy=made.policy, features=made.features)
        check_model_output(output)
        _put_in_place(path, output)


def _put_in_place(made: Path, output: Path) -> None:
    try:
        made.replace(output)
    except OSError as error:
        raise OutputError(f"{output}: cannot be written ({error.strerror}); nothing was changed") from error


def _typed_by_others(options: TrainOptions) -> Mapping[str, int]:
    """Return how often the people of the background type each word."""
    if options.background == NO_BACKGROUND:
        return {}
    from halfword.training.background import Background

    return Background.open(options.background).word_counts()


def _strangers(learned: Learned, options: TrainOptions) -> Sequence[str]:
    """Return what the people of the background type, also where the log does not stand on it: they are strangers."""
    if learned.background is not None:
        return learned.background.queries()
    if options.background == NO_BACKGROUND:
        return []
    from halfword.training.background import Background

    return Background.open(options.background).queries()


@dataclass(frozen=True, slots=True)
class _Made:
    """The parts of a model, and what joins them."""

    arrays: dict[str, Array]
    parts: PartsCard
    fitted: dict[str, Array] = field(default_factory=dict)
    policy: Policy = DEFAULT_POLICY
    features: tuple[str, ...] = ()


def _pointer(learned: Learned, data: Dataset, options: TrainOptions, progress: Progress) -> "LearnedPointer | None":
    """Learn what the network copies from sessions, where there are any; a network alone needs no PyTorch otherwise."""
    if "network" not in options.parts or options.no_copying or find_spec("torch") is None:
        return None
    from halfword.training.session_pointer import learn_session_pointer

    assert learned.pieces is not None
    return learn_session_pointer(learned.arrays, learned.pieces, data, options.device, progress)


def _held_out(
    data: Dataset,
    output: Path,
    learned: Learned,
    pointer: "LearnedPointer | None",
    options: TrainOptions,
    progress: Progress,
) -> _Made:
    """Learn the parts from the train split alone, and fit what joins them on the validation split."""
    table, stays = data.table(Split.TRAIN), options.hold_out
    arrays, parts = _with_counts(table, data, output, learned, options, progress, stays=stays)
    card = _card(data, options, replace(learned, parts=parts))
    joined, policy, features = _fitted(arrays, card, data, output, pointer, learned, options, progress)
    fitted = {name: array for name, array in joined.items() if name not in arrays}
    return _Made(arrays, parts, fitted, policy, features)


def _with_all_rows(
    made: _Made, data: Dataset, output: Path, learned: Learned, options: TrainOptions, progress: Progress
) -> _Made:
    """Learn the parts again, from all rows; what joins them stays as it was fitted to rows that they did not know."""
    progress(Event("counting"))
    table = data.all_table()
    learned = learn_all(learned, table, output, options)
    arrays, parts = _with_counts(table, data, output, learned, options, progress, stays=True)
    return replace(made, arrays=arrays, parts=parts)


def _card(data: Dataset, options: TrainOptions, learned: Learned) -> Card:
    background = None
    if learned.background is not None:
        path, known = learned.background.path, learned.background.header.card
        background = BackgroundCard(name=path.name, date=known.date, note=known.note, licence=known.licence)
    return Card(
        halfword=__version__,
        date=datetime.now(UTC).date().isoformat(),
        profile=data.profile.name,
        parts=learned.parts,
        data=data.about() | _never_suggested(data),
        background=background,
        note=options.note,
        licence=options.licence,
    )


def _never_suggested(data: Dataset) -> dict[str, str]:
    """Return, for the card of a small site, how many of its queries the rules that ship block, the most frequent first.

    Whoever owns the site misses each; in a larger log there are too many to judge.
    """
    from halfword.training.small_site import is_small_site  # it needs NumPy

    if not is_small_site(data.table(Split.TRAIN)):
        return {}
    blocklist = read_blocklist(SHIPPED, profile=data.profile)
    hidden = [query for query in data.all_table() if blocklist.blocks(query)]
    return {"never_suggested": f"{len(hidden):,}, such as {', '.join(hidden[:_NAMED])}"} if hidden else {}


def _with_counts(
    table: QueryTable,
    data: Dataset,
    output: Path,
    learned: Learned,
    options: TrainOptions,
    progress: Progress,
    *,
    stays: bool,
) -> tuple[dict[str, Array], PartsCard]:
    """Return the arrays of the model with those parts that are made of how often each query was typed.

    Where they are only there to fit weights to, and do not stay in the model, they hold what is never suggested, too:
    to find it takes long.
    """
    arrays, parts = _stored(learned.arrays, options.compact), learned.parts
    asked = "popular" in options.parts and len(options.parts) > 1  # else nobody asks for words
    if "ngram" in options.parts:
        companions = _companion_arrays(table, learned, options, progress) if asked else {}
        progress(Event("learning the n-gram memory"))
        arrays |= companions | _memory_arrays(table, output, learned, options, _size(companions))
        parts = replace(parts, ngram=_memory_card(_megabytes(arrays, "ngram"), learned))
    if "popular" in options.parts:
        progress(Event("indexing the queries"))
        often = table.at_least(options.least_count)
        arrays |= popular_of(often) | learn_displays(often, data.written_forms())
        if asked:
            progress(Event("learning the words"))
            blocklist = read_blocklist(SHIPPED, profile=data.profile) if stays else Blocklist([])
            arrays |= _word_arrays(table, often, blocklist, learned, options)
        parts = replace(parts, popular=PopularCard(queries=len(often), rows=often.total))
    return arrays, parts


def _word_arrays(
    table: QueryTable, often: QueryTable, blocklist: Blocklist, learned: Learned, options: TrainOptions
) -> dict[str, Array]:
    """Return what is known of the words of a table, and of its queries that are kept."""
    from halfword.training.endings import learn_endings
    from halfword.training.from_table import (
        WordColumns,
        spellings_of,
        word_counts_of,
        word_forms_of,
        word_list_of,
        word_tree_of,
    )
    from halfword.training.other_order import FEWEST, learn_order
    from halfword.training.pinyin import learn_pinyin
    from halfword.training.small_site import has_words_enough, is_small_site
    from halfword.training.word_tree import others_tree

    words = WordColumns.of(table)
    kept = words if often is table else WordColumns.of(often)
    standing = None if has_words_enough(table) else learned.standing
    known = standing.background.words() if standing is not None else set()
    small = is_small_site(table)
    return (
        spellings_of(often, kept, blocklist)
        | word_list_of(words, known, options.least_count, unspaced=small)
        | word_counts_of(words, options.least_count)
        | word_forms_of(kept)
        | word_tree_of(words, known, options.least_count, options.tree_room(len(table)))
        | others_tree(learned.background.word_counts() if learned.background is not None else {})
        | learn_order(often, fewest=1 if small else FEWEST)
        | (learn_endings(often) if small else {})
        | learn_pinyin(often)
    )


def _companion_arrays(
    table: QueryTable, learned: Learned, options: TrainOptions, progress: Progress
) -> dict[str, Array]:
    """Return which words co-occur."""
    from halfword.training.companions import read_companions
    from halfword.training.from_table import WordColumns, companions_of

    progress(Event("learning which words co-occur"))
    known = read_companions(learned.standing.background.arrays if learned.standing is not None else {})
    room = options.companion_room(len(table))
    return companions_of(table, WordColumns.of(table), room, known, options.least_count)


def _size(arrays: Mapping[str, Array]) -> float:
    """Return the megabytes of some arrays."""
    return sum(len(array.data) for array in arrays.values()) / 1e6


def _stored(arrays: Mapping[str, Array], compact: bool) -> dict[str, Array]:
    """Return the network's arrays in the forms in which they are kept."""
    if not any(name.startswith("network.") for name in arrays):
        return dict(arrays)
    from halfword.training.network.weights import in_8_bits, without_unused

    return in_8_bits(arrays) if compact else without_unused(arrays)


def _memory_card(megabytes: float, learned: Learned) -> MemoryCard:
    if learned.standing is None:
        return MemoryCard(megabytes=megabytes)
    share = learned.standing.share
    return MemoryCard(megabytes=megabytes, background_weights=share.weights, background_fading=share.fading)


def _memory_arrays(
    table: QueryTable, output: Path, learned: Learned, options: TrainOptions, taken: float
) -> dict[str, Array]:
    """Return the n-gram memory; if its size was asked for, `taken` megabytes of it are used already."""
    from halfword.training.counted import learn_counted
    from halfword.training.memory import memory_arrays

    if learned.standing is not None:
        return memory_arrays(learned.standing.memory)
    if options.memory_size is not None:
        options = replace(options, memory_size=options.memory_size - taken)
    if learned.counts is not None:
        from halfword.training.ngram_counts import learn_from_counts

        return learn_from_counts(learned.counts, memory_options(options, len(table)), bounds(output, options))
    pieces = {name: array for name, array in learned.arrays.items() if name.startswith("pieces.")}
    return learn_counted(table, pieces, memory_options(options, len(table)), bounds(output, options))


def _megabytes(arrays: Mapping[str, Array], part: str) -> float:
    return round(sum(len(array.data) for name, array in arrays.items() if name.startswith(f"{part}.")) / 1e6, 2)


def _fitted(
    arrays: dict[str, Array],
    card: Card,
    data: Dataset,
    output: Path,
    pointer: "LearnedPointer | None",
    learned: Learned,
    options: TrainOptions,
    progress: Progress,
) -> tuple[dict[str, Array], Policy, tuple[str, ...]]:
    """Return the arrays with what joins the parts, fitted on the validation split with the model as it is so far."""
    parts = set(options.parts)
    ranked = "popular" in parts and len(parts) > 1
    if not ranked and not {"ngram", "network"} <= parts:
        return arrays, DEFAULT_POLICY, ()
    rows = data.typed_rows(Split.VALID)
    with scratch_folder(output) as folder:
        path = folder / "unfitted.halfword"
        if {"ngram", "network"} <= parts:
            progress(Event("weighing network and memory"))
            arrays = _weighed(arrays, card, path, rows, pointer)
        if not ranked:
            return arrays, DEFAULT_POLICY, ()

        def learn_again(table: QueryTable) -> dict[str, Array]:
            again = learn_all(learned, table, output, options)
            return _with_counts(table, data, output, again, options, quiet, stays=False)[0]

        return _ranked(arrays, card, path, data, _strangers(learned, options), learn_again, progress)


def _weighed(
    arrays: dict[str, Array], card: Card, path: Path, rows: Sequence[TypedRow], pointer: "LearnedPointer | None"
) -> dict[str, Array]:
    """Return the arrays with how much network, memory and copying weigh beside each other."""
    from halfword.training.mixture import bounds, fit_mixture

    arrays = arrays | bounds()
    write_model(path, arrays, card)
    arrays = arrays | fit_mixture(path, rows)
    if pointer is not None and pointer.judged is not None:
        from halfword.training.session_pointer import weigh_against_memory

        write_model(path, arrays, card)
        arrays = arrays | weigh_against_memory(path, pointer.judged)
    return arrays


def _ranked(
    arrays: dict[str, Array],
    card: Card,
    path: Path,
    data: Dataset,
    strangers: Sequence[str],
    learn_again: Callable[[QueryTable], dict[str, Array]],
    progress: Progress,
) -> tuple[dict[str, Array], Policy, tuple[str, ...]]:
    """Return the arrays with channel, ranker and belief in corrections, the policy, and the ranker's features."""
    from halfword.training.channel import learn_channel
    from halfword.training.correcting import prior_arrays
    from halfword.training.mistyped import keep_back, learn_belief, read_right
    from halfword.training.network_reading import fit_network_reading
    from halfword.training.ranker import fit_ranker, prior_of
    from halfword.training.showing import for_log
    from halfword.training.small_site import is_small_site

    progress(Event("learning typing mistakes"))
    channel = learn_channel(data)
    arrays = arrays | channel.arrays()
    features = tuple(import_engine().feature_names())
    table = data.table(Split.TRAIN)
    prior = prior_of(table)
    unfitted = arrays | prior.arrays()

    def write_unfitted(policy: Policy) -> Path:
        write_model(path, unfitted, card, policy=policy, features=features)
        return path

    progress(Event("fitting the ranker"))
    rows, policy = data.typed_rows(Split.VALID), DEFAULT_POLICY
    if card.parts.network is not None and card.parts.ngram is not None:
        policy = fit_network_reading(write_unfitted, policy, rows)
    weights, policy = fit_ranker(write_unfitted(policy), rows, prior, small_site=is_small_site(table))
    policy = for_log(policy, table)
    arrays = arrays | weights
    progress(Event("fitting the belief in corrections"))
    thorough = replace(policy, corrected_least_odds=-100.0, corrected_most_completed=100.0)
    right = []
    if is_small_site(table):
        for rest, asked in keep_back(table):
            known = arrays | learn_again(QueryTable.of(rest)) | prior_arrays()
            write_model(path, known, card, policy=thorough, features=features)
            right.append(read_right(load(path, cache=False), asked))
    write_model(path, arrays | prior_arrays(), card, policy=thorough, features=features)
    return arrays | learn_belief(path, data, channel, strangers, right), policy, features


def popular_arrays(counts: dict[str, int]) -> dict[str, Array]:
    """Return the popularity index of `counts`, as arrays for a model file."""
    too_large = next((query for query, count in counts.items() if count > LARGEST_COUNT), None)
    if too_large is not None:
        raise OptionError(f"the count of {too_large!r} is {counts[too_large]}; scale the counts below 2^32")
    arrays = import_engine().popular_arrays(list(counts.items()))
    return {name: Array(dtype, data) for name, (dtype, data) in arrays.items()} | fold_queries(counts)
