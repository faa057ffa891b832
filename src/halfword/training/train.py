"""A dataset becomes a model file: each part that was asked for is learned from the train split."""

import struct
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from halfword.core.card import Card, MemoryCard, NetworkCard, PartsCard, PiecesCard, PopularCard
from halfword.core.errors import ModelFileError, OptionError, require
from halfword.core.filters import SHIPPED, read_blocklist
from halfword.core.model_file import Array, check_model_output, read_header, write_model
from halfword.core.policy import DEFAULT_POLICY, Policy
from halfword.core.progress import Event, Progress, quiet
from halfword.core.scratch import scratch_folder
from halfword.core.version import __version__
from halfword.data.dataset import Dataset, Split
from halfword.search.model import import_engine, open_model_file
from halfword.training.misspellings import WithoutMisspellings
from halfword.training.network.options import checkpoint_path
from halfword.training.options import TrainOptions
from halfword.training.spellings import learn_spellings

_LARGEST_COUNT = 2**32 - 1
_ORDER = 6  # 8 ranks no better on aol-1m's valid split, and costs time at every step
_COUNT_POWER = 0.75  # found on aol-1m's valid split (docs/blend.md)


def train(data: Dataset, output: Path, options: TrainOptions, progress: Progress = quiet) -> Card:
    """Learn from the train split of `data`, write the model file `output` and return its card."""
    if options.drop_misspellings:
        data, options = WithoutMisspellings.of(data), replace(options, drop_misspellings=False)
    if options.best:
        from halfword.training.train_best import train_best

        return train_best(data, output, options, progress)
    check_model_output(output)
    if "popular" in options.parts or len(options.parts) > 1:
        import_engine()  # a missing engine should be known now, not after hours
    learned = _learn_pieces(data, output, options, progress)
    if not learned.writes:
        return _card(data, options, learned.parts)
    arrays, parts = _with_counts(data, learned, options, progress)
    card = _card(data, options, parts)
    arrays, policy, features = _fitted(arrays, card, data, output, options, progress)
    progress(Event("writing the model"))
    write_model(output, arrays, card, policy=policy, features=features)
    checkpoint_path(output).unlink(missing_ok=True)
    return card


def _card(data: Dataset, options: TrainOptions, parts: PartsCard) -> Card:
    return Card(
        halfword=__version__,
        date=datetime.now(UTC).date().isoformat(),
        profile=data.profile.name,
        parts=parts,
        data=data.about(),
        note=options.note,
        licence=options.licence,
    )


def _with_counts(
    data: Dataset, learned: "Learned", options: TrainOptions, progress: Progress
) -> tuple[dict[str, Array], PartsCard]:
    """Return the arrays of the model with those parts that are made of how often each query was typed."""
    arrays, parts = _stored(learned.arrays, options.compact), learned.parts
    counts = data.counts(Split.TRAIN) if {"popular", "ngram"} & set(options.parts) else {}
    if "ngram" in options.parts:
        progress(Event("learning the n-gram memory"))
        arrays |= _memory_arrays(counts, learned, options)
        parts = replace(parts, ngram=MemoryCard(megabytes=_megabytes(arrays, "ngram")))
    if "popular" in options.parts:
        progress(Event("indexing the train split"))
        arrays |= popular_arrays(counts)
        if len(options.parts) > 1:  # else nobody asks them
            arrays |= learn_spellings(list(counts), read_blocklist(SHIPPED, profile=data.profile).blocks)
            arrays |= known_words(counts)
        parts = replace(parts, popular=PopularCard(queries=len(counts), rows=sum(counts.values())))
    return arrays, parts


@dataclass(frozen=True, slots=True)
class Learned:
    """What goes into the model file so far, what cuts queries into pieces, and whether this process writes the file."""

    arrays: dict[str, Array]
    parts: PartsCard
    segment: Callable[[list[str]], list[list[int]]] | None
    writes: bool


def _learn_pieces(data: Dataset, output: Path, options: TrainOptions, progress: Progress) -> Learned:
    """Learn the pieces and, if it is wanted, the network; or take both over from another model file."""
    if options.base is not None:
        return _taken_over(options.base, options)
    if "network" in options.parts:
        return _learn_network(data, output, options, progress)
    if "ngram" not in options.parts:
        return Learned({}, PartsCard(), None, True)
    for module in ("numpy", "sentencepiece"):
        require(module, "train")
    from halfword.training.segment import piece_arrays, train_segmenter

    progress(Event("learning the pieces"))
    segmenter = train_segmenter(data.counts(Split.TRAIN), options.network.segment)
    parts = PartsCard(pieces=PiecesCard(segmentation=str(segmenter.kind), size=segmenter.size))
    return Learned(piece_arrays(segmenter), parts, segmenter.encode, True)


def _taken_over(base: Path, options: TrainOptions) -> Learned:
    header = read_header(base)
    if not header.holds("pieces"):
        raise ModelFileError(f"{base} has no pieces to take over; name a model file with a network or a memory")
    parts = {"pieces", *({"network"} & set(options.parts))}
    if not all(header.holds(part) for part in parts):
        raise ModelFileError(f"{base} has no network to take over; leave network out of --parts, or --base")
    content = base.read_bytes()
    arrays = {
        name: Array(place.dtype, content[place.begin : place.end], place.shape)
        for name, place in header.places.items()
        if name.partition(".")[0] in parts
    }
    segment = import_engine().Segmenter(open_model_file(base, header)).segment_batch
    known = header.card.parts
    network = (known.network or NetworkCard()) if "network" in parts else None
    card = PartsCard(pieces=known.pieces or PiecesCard(), network=network)
    return Learned(arrays, card, segment, True)


def _stored(arrays: Mapping[str, Array], compact: bool) -> dict[str, Array]:
    """Return the network's arrays in the forms in which they are kept."""
    if not any(name.startswith("network.") for name in arrays):
        return dict(arrays)
    from halfword.training.network.weights import in_8_bits, without_unused

    return in_8_bits(arrays) if compact else without_unused(arrays)


def _memory_arrays(counts: Mapping[str, int], learned: Learned, options: TrainOptions) -> dict[str, Array]:
    from halfword.training.companions import learn_companions
    from halfword.training.kneser_ney import Corpus
    from halfword.training.ngram import NgramOptions, learn_ngram

    assert learned.segment is not None
    room, words = options.memory_size, {}
    if "popular" in options.parts:  # else nobody asks them
        words = learn_companions(counts, None if room is None else room / 4)
    if room is not None:
        room -= sum(len(array.data) for array in words.values()) / 1e6
    special = struct.unpack("<4I", learned.arrays["pieces.special"].data)
    # Popularity knows how often a query was typed; the memory does better if the most typed do not swamp it.
    weights = (max(1, round(count**_COUNT_POWER)) for count in counts.values())
    pairs = zip(learned.segment(list(counts)), weights, strict=True)
    size = len(learned.arrays["pieces.kind"].data)
    corpus = Corpus.of(pairs, vocabulary=size, begin=special[2], end=special[3])
    return words | learn_ngram(corpus, NgramOptions(order=_ORDER, megabytes=room))


def _megabytes(arrays: Mapping[str, Array], part: str) -> float:
    return round(sum(len(array.data) for name, array in arrays.items() if name.startswith(f"{part}.")) / 1e6, 2)


def _fitted(
    arrays: dict[str, Array],
    card: Card,
    data: Dataset,
    output: Path,
    options: TrainOptions,
    progress: Progress,
) -> tuple[dict[str, Array], Policy, tuple[str, ...]]:
    """Return the arrays with what joins the parts, fitted on the validation split with the model as it is so far."""
    parts = set(options.parts)
    ranked = "popular" in parts and len(parts) > 1
    if not ranked and not {"ngram", "network"} <= parts:
        return arrays, DEFAULT_POLICY, ()
    from halfword.training.mixture import bounds, fit_mixture
    from halfword.training.ranker import RankerWeights, fit_ranker

    rows, policy = data.rows(Split.VALID), DEFAULT_POLICY
    features: tuple[str, ...] = ()
    with scratch_folder(output) as folder:
        path = folder / "unfitted.halfword"
        if {"ngram", "network"} <= parts:
            progress(Event("weighing network and memory"))
            arrays = arrays | bounds()
            write_model(path, arrays, card)
            arrays = arrays | fit_mixture(path, rows)
        if ranked:
            progress(Event("fitting the ranker"))
            features = tuple(import_engine().feature_names())
            write_model(path, arrays | RankerWeights.read().arrays(), card, features=features)
            weights, policy = fit_ranker(path, rows)
            arrays = arrays | weights
    return arrays, policy, features


def _learn_network(data: Dataset, output: Path, options: TrainOptions, progress: Progress) -> Learned:
    for module in ("numpy", "torch", "sentencepiece", "safetensors"):
        require(module, "train")
    from halfword.training.network.learn_network import learn_network
    from halfword.training.network.train_network import RunOptions

    run = RunOptions(device=options.device, resume=options.resume)
    learned = learn_network(data, output, options.network, run, progress)
    return Learned(learned.arrays, learned.parts, learned.segmenter.encode, learned.writes)


def known_words(queries: Iterable[str]) -> dict[str, Array]:
    """Return which words occur in the queries, as an array for a model file."""
    words = sorted({word for query in queries for word in query.split()})
    return {"words.filter": Array("U64", import_engine().word_filter(words))}


def popular_arrays(counts: dict[str, int]) -> dict[str, Array]:
    """Return the popularity index of `counts`, as arrays for a model file."""
    too_large = next((query for query, count in counts.items() if count > _LARGEST_COUNT), None)
    if too_large is not None:
        raise OptionError(f"the count of {too_large!r} is {counts[too_large]}; scale the counts below 2^32")
    arrays = import_engine().popular_arrays(list(counts.items()))
    return {name: Array(dtype, data) for name, (dtype, data) in arrays.items()}
