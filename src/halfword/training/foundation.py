"""What the parts of a model are built on: its pieces, its network, and the background that it stands on."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from halfword.core.card import NetworkCard, PartsCard, PiecesCard
from halfword.core.errors import ModelFileError, require
from halfword.core.model_file import Array, read_header
from halfword.core.progress import Event, Progress
from halfword.core.verify import read_arrays
from halfword.data.dataset import Dataset, Split
from halfword.search.model import import_engine, open_model_file
from halfword.training.options import ORDER, TrainOptions

if TYPE_CHECKING:  # they need NumPy, which a popularity index does not
    from halfword.training.background import Background, Standing
    from halfword.training.counted import Bounds
    from halfword.training.ngram import NgramOptions
    from halfword.training.pieces import Pieces


@dataclass(frozen=True, slots=True)
class Learned:
    """What goes into the model file so far, and whether this process writes the file."""

    arrays: dict[str, Array]
    parts: PartsCard
    pieces: "Pieces | None"  # what cuts queries
    writes: bool
    standing: "Standing | None" = None  # on the memory of the background, if there is one
    background: "Background | None" = None  # whose words count
    newest: dict[str, Array] = field(default_factory=dict)  # the network after it has read all rows
    counts: Path | None = None  # n-grams that were counted before


def learn_pieces(data: Dataset, output: Path, options: TrainOptions, progress: Progress) -> Learned:
    """Learn the pieces and, if it is wanted, the network; or take both over from another model file."""
    if not {"ngram", "network"} & set(options.parts):
        return Learned({}, PartsCard(), None, True)
    for module in ("numpy", "sentencepiece"):
        require(module, "train")
    if options.counts is not None:
        return _counted_before(options.counts)
    if options.base is not None:
        return _taken_over(data, output, options.base, options)
    standing = _standing(data, output, options, progress)
    known = standing.background if standing is not None else None
    if "network" in options.parts:
        return replace(_learn_network(data, output, options, progress, standing), background=known)
    if known is not None:
        card = PartsCard(pieces=known.header.card.parts.pieces)
        return Learned(known.part("pieces"), card, known.pieces, True, standing, known)
    progress(Event("learning the pieces"))
    return _own_pieces(data.table(Split.TRAIN), options)


def learn_all(learned: Learned, counts: Mapping[str, int], output: Path, options: TrainOptions) -> Learned:
    """Return what was learned, from the counts of all rows; what was fitted to validation rows stays as it is."""
    if learned.counts is not None:
        from halfword.training.ngram_counts import ALL

        return replace(learned, counts=learned.counts.with_name(ALL))
    if learned.standing is not None:
        from halfword.training.background import stand_again

        memory = memory_options(options, len(counts))
        learned = replace(learned, standing=stand_again(learned.standing, counts, memory, bounds(output, options)))
    elif "network" not in options.parts and options.base is None and learned.pieces is not None:
        return _own_pieces(counts, options)  # without a network nothing depends on the old pieces
    return replace(learned, arrays={**learned.arrays, **learned.newest})


def _counted_before(folder: Path) -> Learned:
    """Take pieces and n-grams over from counts."""
    from halfword.training.ngram_counts import TRAIN, read_pieces

    arrays, card, pieces = read_pieces(folder)
    return Learned(arrays, card, pieces, True, counts=folder / TRAIN)


def _own_pieces(counts: Mapping[str, int], options: TrainOptions) -> Learned:
    from halfword.training.known_words import shared_words
    from halfword.training.pieces import Pieces
    from halfword.training.segment import piece_arrays, train_segmenter

    segmenter = train_segmenter(shared_words(counts, options.least_count), options.network.segment)
    parts = PartsCard(pieces=PiecesCard(segmentation=str(segmenter.kind), size=segmenter.size))
    arrays = piece_arrays(segmenter)
    return Learned(arrays, parts, Pieces.of(arrays, segmenter.encode), True)


def _standing(data: Dataset, output: Path, options: TrainOptions, progress: Progress) -> "Standing | None":
    """Put the log on its background, if it has one and the validation rows speak for it."""
    if not options.stands:
        return None
    from halfword.training.background import Background, choose

    progress(Event("comparing the log with its background"))
    background = Background.open(options.background)
    counts, rows = data.table(Split.TRAIN), data.rows(Split.VALID)
    memory = memory_options(options, len(counts))
    standing = choose(background, counts, rows, memory, options.network.segment, bounds(output, options))
    if standing is None:
        progress(Event("standing alone", detail="the background does not help with the validation rows"))
    return standing


def _taken_over(data: Dataset, output: Path, base: Path, options: TrainOptions) -> Learned:
    """Take pieces and network over; of a background without the same pieces only the words count."""
    from halfword.training.background import Background, stand_on
    from halfword.training.pieces import Pieces

    header = read_header(base)
    if not header.holds("pieces"):
        raise ModelFileError(f"{base} has no pieces to take over; name a model file with a network or a memory")
    parts = {"pieces", *({"network"} & set(options.parts))}
    if not all(header.holds(part) for part in parts):
        raise ModelFileError(f"{base} has no network to take over; leave network out of --parts, or --base")
    kept = {*parts, *({"pointer"} if "network" in parts and not options.no_copying else ())}
    arrays = {name: array for name, array in read_arrays(base, header).items() if name.partition(".")[0] in kept}
    arrays.pop("pointer.by_class", None)  # which was fitted beside another memory
    segment = import_engine().Segmenter(open_model_file(base, header)).segment_batch
    known = header.card.parts
    network = (known.network or NetworkCard()) if "network" in parts else None
    pointer = known.pointer if "pointer.key" in arrays else None
    card = PartsCard(pieces=known.pieces or PiecesCard(), network=network, pointer=pointer)
    standing, counting = None, None
    if options.stands:
        background, rows = Background.open(options.background), data.rows(Split.VALID)
        if background.has_pieces_of(arrays):
            counts = data.table(Split.TRAIN)
            memory = memory_options(options, len(counts))
            standing = stand_on(background, counts, rows, memory, bounds(output, options))
        if standing is not None or background.knows(rows):
            counting = background
    return Learned(arrays, card, Pieces.of(arrays, segment), True, standing, counting)


def _learn_network(
    data: Dataset, output: Path, options: TrainOptions, progress: Progress, standing: "Standing | None"
) -> Learned:
    for module in ("numpy", "torch", "sentencepiece", "safetensors"):
        require(module, "train")
    from halfword.training.network.learn_network import LearnOptions, learn_network
    from halfword.training.network.train_network import RunOptions
    from halfword.training.pieces import Pieces

    run = RunOptions(device=options.device, resume=options.resume)
    background = standing.background if standing is not None else None
    what = LearnOptions(network=options.network, least_count=options.least_count, hold_out=options.hold_out)
    learned = learn_network(data, output, what, run, progress, background)
    pieces = Pieces.of(learned.arrays, learned.segmenter.encode)
    return Learned(learned.arrays, learned.parts, pieces, learned.writes, standing, newest=learned.newest)


def memory_options(options: TrainOptions, queries: int) -> "NgramOptions":
    """Return how the memory of so many distinct queries is learned."""
    from halfword.training.ngram import NgramOptions

    return NgramOptions(order=ORDER, megabytes=options.memory_room(queries), least_count=options.least_count)


def bounds(output: Path, options: TrainOptions) -> "Bounds":
    """Return what counting n-grams may take."""
    from halfword.training.counted import Bounds

    return Bounds(output, options.memory_bytes)
