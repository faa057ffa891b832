"""N-gram counts of a log that is too large for one machine: counted on a cluster, pruned there, and read here.

`count_ngrams` writes a folder:

- `pieces.halfword`: the pieces into which queries were cut, learned here from the most typed queries;
- `train.parquet`, and `all.parquet` unless only the train split is asked for: the columns window and count
  (`data/windows.py`), without n-grams that occur too rarely;
- `counts.json`: the order, the least count, and of how many n-grams the adjusted counts are 1, 2, 3 and 4, rare ones
  included: the discounts of Kneser-Ney come from these.

`learn_from_counts` makes the memory of such a folder. What was cut hands its whole count down to its suffix, as a
pruned n-gram does (`kneser_ney.py`), so the memory is the one that the engine makes of all queries with the same least
count. Only the costs of ending, which speed up the search, are worked out from fewer pairs.
"""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from halfword.core.card import Card, PartsCard, PiecesCard
from halfword.core.errors import DatasetError, OptionError, require
from halfword.core.files import check_output_folder, whole_folder
from halfword.core.model_file import Array, read_header, write_model
from halfword.core.progress import Event, Progress, quiet
from halfword.core.scratch import room_checked, scratch_folder
from halfword.core.verify import read_arrays
from halfword.data.dataset import QUERIES, Dataset, PreparedFolder, Split, first_line
from halfword.search.model import import_engine, open_model_file
from halfword.training.count_options import CountOptions
from halfword.training.counted import COUNT_POWER, Bounds, counted_arrays, counter_of
from halfword.training.known_words import shared_words
from halfword.training.ngram import NgramOptions
from halfword.training.pieces import Pieces
from halfword.training.segment import Segmenter, SegmentOptions, piece_arrays, train_segmenter

FORMAT = 1
TRAIN, ALL = "train.parquet", "all.parquet"
_PIECES, _ABOUT = "pieces.halfword", "counts.json"
_FILES = {TRAIN, ALL, _PIECES, _ABOUT}
_BATCH = 1 << 20  # windows that are read at a time
_MOST_QUERIES = 5_000_000  # that pieces are learned from, the most typed ones


@dataclass(frozen=True, slots=True)
class CountsCard:
    """What is known of counts."""

    order: int
    least_count: int
    times: dict[str, list[list[int]]]  # by file
    windows: dict[str, int]
    format: int = FORMAT


def count_ngrams(data: Dataset, output: Path, options: CountOptions, progress: Progress = quiet) -> CountsCard:
    """Count the n-grams of a dataset and write the folder `output`, whole or not at all."""
    for module in ("ibis", "pyarrow"):
        require(module, "prepare")
    from halfword.data.backends import connected

    if not isinstance(data, PreparedFolder):
        raise DatasetError(f"{data.path} is no prepared dataset; make one with: halfword prepare")
    check_output_folder(output, _is_ours, "folder of counts")
    progress(Event("learning the pieces"))
    segmenter = _segmenter(data, options)
    with (
        room_checked(output),
        scratch_folder(output) as folder,
        whole_folder(output) as made,
        connected(options.engine, folder, options.spark_master) as connection,
    ):
        parts = PartsCard(pieces=PiecesCard(segmentation=str(segmenter.kind), size=segmenter.size))
        write_model(made / _PIECES, piece_arrays(segmenter), Card(parts=parts))
        times: dict[str, list[list[int]]] = {}
        windows: dict[str, int] = {}
        queries = connection.read_parquet(data.path / QUERIES)
        for name in (TRAIN,) if options.hold_out else (TRAIN, ALL):
            progress(Event(f"counting n-grams of {'the train split' if name == TRAIN else 'all rows'}"))
            weighted = _weighted(_learned(queries, data, name))
            times[name], windows[name] = _count(connection, weighted, made / name, folder, segmenter, options)
        card = CountsCard(options.order, options.least_count, times, windows)
        (made / _ABOUT).write_text(json.dumps(asdict(card), indent=1) + "\n", encoding="utf-8")
    return card


def _segmenter(data: PreparedFolder, options: CountOptions) -> Segmenter:
    """Learn the pieces from the most typed queries."""
    table = data.most_typed(Split.TRAIN, _MOST_QUERIES)
    return train_segmenter(shared_words(table, options.least_count), SegmentOptions())


def _learned(queries: Any, data: PreparedFolder, name: str) -> Any:
    """Return the queries that are learned, and how often each was typed."""
    if name == TRAIN:
        return queries.filter(queries.split == str(Split.TRAIN)).select("query", "count")
    every = queries.select("query", number=queries[data.learnable_column()])
    summed = every.group_by("query").agg(count=every.number.sum())
    return summed.filter(summed["count"] > 0)


def _weighted(queries: Any) -> Any:
    """Return how much each query counts, as `weights_of` does."""
    power = queries["count"].cast("float64").pow(COUNT_POWER).round().cast("int64")
    return queries.select("query", weight=(power < 1).ifelse(1, power))


def _count(
    connection: Any, queries: Any, path: Path, folder: Path, segmenter: Segmenter, options: CountOptions
) -> tuple[list[list[int]], int]:
    """Write the windows of queries; returns how many n-grams have small adjusted counts, and how many windows stay."""
    from halfword.data.backends import sorted_batches
    from halfword.data.windows import adjusted_times, count_windows, cut_rare, letters, windows_of

    begin, end = letters([segmenter.begin]), letters([segmenter.end])

    def cut(query: str) -> list[str]:
        return windows_of(begin + letters(segmenter.cut(query)) + end, options.order)

    windows = connection.create_table(f"windows_{path.stem}", count_windows(queries, cut))
    times = adjusted_times(windows, options.order, begin)
    kept = cut_rare(windows, options.order, options.least_count) if options.least_count > 1 else windows
    batches = sorted_batches(kept, ["window"], folder / f"sorted-{path.name}")
    pa, parquet = require("pyarrow", "prepare"), require("pyarrow.parquet", "prepare")
    schema, number = pa.schema({"window": pa.string(), "count": pa.int64()}), 0
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        for batch in batches:
            writer.write_batch(batch.cast(schema))
            number += batch.num_rows
    if not number:
        raise DatasetError("there is no query to learn n-grams from")
    return times, number


def _is_ours(folder: Path) -> bool:
    names = {child.name for child in folder.iterdir()}
    return _ABOUT in names and names <= _FILES


def read_card(folder: Path) -> CountsCard:
    """Return what is known of the counts in a folder."""
    path = folder / _ABOUT
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return CountsCard(**{each.name: found[each.name] for each in fields(CountsCard)})
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise DatasetError(f"{folder} holds no n-gram counts; make them with: halfword count") from error


def read_pieces(folder: Path) -> tuple[dict[str, Array], PartsCard, Pieces]:
    """Return the pieces into which queries were cut, and what is known of them."""
    read_card(folder)  # which says what is missing
    path = folder / _PIECES
    header = read_header(path)
    arrays = read_arrays(path, header)
    return (
        arrays,
        header.card.parts,
        Pieces.of(arrays, import_engine().Segmenter(open_model_file(path, header)).segment_batch),
    )


def learn_from_counts(path: Path, options: NgramOptions, bounds: Bounds) -> dict[str, Array]:
    """Return the memory of the counts in a file of such a folder, as arrays for a model file."""
    card, (_, _, pieces) = read_card(path.parent), read_pieces(path.parent)
    if path.name not in card.times:
        raise OptionError(f"{path.parent} counts the train split only; add --hold-out, or count again without it")
    if options.order != card.order:
        raise OptionError(f"{path.parent} has n-grams of {card.order} pieces, not {options.order}; count again")
    with scratch_folder(bounds.output) as folder, room_checked(bounds.output):
        counter = counter_of(pieces.size, pieces.begin, pieces.end, options, folder, bounds.memory)
        for windows, lengths, counts in _batches(path):
            try:
                counter.add_windows(windows, lengths, counts)
            except ValueError as error:
                raise DatasetError(f"{path} is damaged ({error}); count again") from error
        return counted_arrays(counter.finish(), pieces.begin, pieces.end, options, card.times[path.name])


def _batches(path: Path) -> Iterator[tuple[Any, Any, Any]]:
    """Yield windows: their pieces one after the other, how many each has, and how often it occurs."""
    from halfword.data.windows import pieces_in

    pa, parquet = require("pyarrow", "prepare"), require("pyarrow.parquet", "prepare")
    compute = require("pyarrow.compute", "prepare")
    try:
        with parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(_BATCH, columns=["window", "count"]):
                lengths = compute.utf8_length(batch["window"]).to_numpy().astype(np.uint32)
                counts = batch["count"].to_numpy().astype(np.uint64)
                yield pieces_in("".join(batch["window"].to_pylist())), lengths, counts
    except (OSError, pa.ArrowException) as error:
        raise DatasetError(f"{path} cannot be read ({first_line(error)}); count again") from error
