"""N-grams that were counted on DuckDB or Spark give the memory of n-grams that the engine counts."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from halfword.core.errors import DatasetError, OptionError
from halfword.core.model_file import Array, read_header
from halfword.core.verify import read_arrays
from halfword.data.dataset import Dataset, open_dataset
from halfword.data.options import Engine
from halfword.training.count_options import CountOptions
from halfword.training.counted import Bounds, learn_counted
from halfword.training.ngram import NgramOptions
from halfword.training.ngram_counts import ALL, TRAIN, count_ngrams, learn_from_counts, read_card, read_pieces
from halfword.training.options import ORDER, TrainOptions
from halfword.training.train import train

pytestmark = [pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")]

SMALL = TrainOptions(parts=("popular", "ngram"), background="none", keep_whole=0.0, query_bytes=1e6)
PLACES = ["new york", "new jersey", "york", "são paulo", "東京", "rome", "berlin", "new orleans"]
THINGS = ["hotels", "weather", "news", "map", "times", "weather tomorrow", "cheap hotels"]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """A dataset with counts from 1 to 400, without queries that were typed less than four times."""
    folder = tmp_path_factory.mktemp("log")
    lines = [
        f"{place} {thing}\t{1 + (7 * number) ** 2 % 401}"
        for number, (place, thing) in enumerate((place, thing) for place in PLACES for thing in THINGS)
    ]
    (folder / "log.tsv").write_text("\n".join(["query\tcount", *lines, *(f"{place}\t5" for place in PLACES)]))
    from halfword import prepare

    return prepare(folder / "log.tsv", folder / "data", min_count=4)


@pytest.fixture(scope="module")
def counts(data: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("counts") / "counts"
    count_ngrams(data, folder, CountOptions())
    return folder


def memory_of(model: Path) -> dict[str, Array]:
    parts = ("ngram", "pieces", "ending")
    return {name: array for name, array in read_arrays(model, read_header(model)).items() if name.startswith(parts)}


def test_the_memory_of_all_rows_is_that_of_their_counts(data: Dataset, counts: Path, tmp_path: Path) -> None:
    options, bounds = NgramOptions(order=ORDER), Bounds(tmp_path / "model", 1e9)
    arrays, _, _ = read_pieces(counts)
    expected = learn_counted(data.all_table(), arrays, options, bounds)
    assert learn_from_counts(counts / ALL, options, bounds) == expected


def test_a_model_of_counts_is_the_model_of_the_queries(data: Dataset, counts: Path, tmp_path: Path) -> None:
    options = replace(SMALL, hold_out=True)
    train(data, tmp_path / "queries.halfword", options)
    train(data, tmp_path / "counts.halfword", replace(options, counts=counts))
    assert memory_of(tmp_path / "counts.halfword") == memory_of(tmp_path / "queries.halfword")


def test_what_is_rare_is_not_written(data: Dataset, counts: Path, tmp_path: Path) -> None:
    card = count_ngrams(data, tmp_path / "counts", CountOptions(least_count=30, hold_out=True))
    assert card.times[TRAIN] == read_card(counts).times[TRAIN]
    kept, whole = (parquet.read_table(folder / TRAIN) for folder in (tmp_path / "counts", counts))
    assert kept["count"].to_numpy().sum() == whole["count"].to_numpy().sum()
    windows: dict[str, int] = {row["window"]: row["count"] for row in kept.to_pylist()}
    beginnings = {window[:length] for window in windows for length in range(2, len(window) + 1)}
    often = {text: sum(count for window, count in windows.items() if window.startswith(text)) for text in beginnings}
    assert 0 < min(often.values()) >= 30
    assert not (tmp_path / "counts" / ALL).exists()


@pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java")
def test_spark_counts_as_duckdb_does(data: Dataset, tmp_path: Path) -> None:
    pytest.importorskip("pyspark", reason="pyspark is not installed")
    options = CountOptions(least_count=3, order=3, spark_master="local[2]", hold_out=True)
    for engine in Engine:
        count_ngrams(data, tmp_path / engine, replace(options, engine=engine))
    assert read_card(tmp_path / Engine.SPARK) == read_card(tmp_path / Engine.DUCKDB)
    tables = [parquet.read_table(tmp_path / engine / TRAIN) for engine in Engine]
    assert tables[0].sort_by("window").equals(tables[1].sort_by("window"))


def test_counts_of_the_train_split_alone_hold_the_others_out(data: Dataset, tmp_path: Path) -> None:
    count_ngrams(data, tmp_path / "counts", CountOptions(hold_out=True))
    with pytest.raises(OptionError, match="counts the train split only"):
        train(data, tmp_path / "m.halfword", replace(SMALL, counts=tmp_path / "counts"))


def test_damaged_counts_are_one_line(data: Dataset, counts: Path, tmp_path: Path) -> None:
    options = replace(SMALL, hold_out=True, counts=tmp_path / "counts")
    with pytest.raises(DatasetError, match="holds no n-gram counts"):
        train(data, tmp_path / "m.halfword", options)
    shutil.copytree(counts, tmp_path / "counts")
    parquet.write_table(pa.table({"window": ["Āa"], "count": [1]}), tmp_path / "counts" / TRAIN)
    with pytest.raises(DatasetError, match="damaged"):
        train(data, tmp_path / "m.halfword", options)
    (tmp_path / "counts" / TRAIN).write_bytes(b"no Parquet")
    with pytest.raises(DatasetError, match="cannot be read"):
        train(data, tmp_path / "m.halfword", options)
    (tmp_path / "counts" / "counts.json").write_text(json.dumps({"format": 1}))
    with pytest.raises(DatasetError, match="holds no n-gram counts"):
        train(data, tmp_path / "m.halfword", options)


def test_only_a_prepared_dataset_is_counted(tmp_path: Path) -> None:
    (tmp_path / "train.query.txt").write_text("new york\n")
    with pytest.raises(DatasetError, match="no prepared dataset"):
        count_ngrams(open_dataset(tmp_path), tmp_path / "counts", CountOptions())


def test_counts_and_other_sources_of_pieces_exclude_each_other(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="leave network out"):
        TrainOptions(counts=tmp_path)
    with pytest.raises(OptionError, match="must be 1 or more"):
        CountOptions(least_count=0)
