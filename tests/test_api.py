"""The library without the command line: prepare, train and evaluate as a notebook does."""

import gc
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import pytest

import halfword
from halfword import Dataset, Event, HalfwordError, PrepareOptions, Split, Stopped
from halfword.core.errors import LogError, OptionError
from tests.conftest import COUNTS

pa = pytest.importorskip("pyarrow")
pytest.importorskip("ibis")

WORDS = ("new york", "weather", "song lyrics", "cheap flights", "dog food", "garden chairs")
ROWS = [f"{word} {number % 9 + 1}" for number in range(400) for word in WORDS]
EVERYTHING_IS_TRAIN: dict[str, Any] = {"valid_share": 0.0, "test_share": 0.0}


class ArrowOnly:
    """A table of a library that we do not know, but that speaks Arrow, as polars does."""

    def __init__(self, table: Any) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


def write_log(folder: Path) -> Path:
    path = folder / "log.txt"
    path.write_text("\n".join(ROWS) + "\n")
    return path


def in_this_thread(work: Callable[[], None]) -> None:
    work()


def in_another_thread(work: Callable[[], None]) -> None:
    with ThreadPoolExecutor(1) as pool:
        pool.submit(work).result()


@pytest.mark.parametrize("run", [in_this_thread, in_another_thread])
def test_a_notebook_prepares_trains_completes_and_evaluates(
    run: Callable[[Callable[[], None]], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("sentencepiece")
    monkeypatch.setattr(signal, "signal", lambda *handler: pytest.fail("a signal handler was set"))
    stages: list[str] = []

    def notebook() -> None:
        data = halfword.prepare(str(write_log(tmp_path)), valid_share=0.1, test_share=0.1)
        output = str(tmp_path / "my.halfword")
        tell = lambda event: stages.append(event.stage)  # noqa: E731
        model = halfword.train(data, output, parts=("popular", "ngram"), size=60, hold_out=True, progress=tell)
        assert model.complete("new yo", count=3)[0].text.startswith("new york")
        report = halfword.evaluate(model, data, sample=50)
        assert report.rows["all"] == 50
        assert "mrr" in repr(report)
        assert halfword.evaluate(output, str(data.path), sample=50).metrics == report.metrics

    run(notebook)
    assert {"learning the pieces", "learning the n-gram memory", "writing the model"} <= set(stages)


def test_several_logs_are_one_dataset(tmp_path: Path) -> None:
    logs = [tmp_path / "a.txt", tmp_path / "b.txt"]
    for log in logs:
        log.write_text("weather\n")
    assert halfword.prepare(map(str, logs), **EVERYTHING_IS_TRAIN).counts(Split.TRAIN) == {"weather": 2}


def test_a_dataset_without_a_folder_of_its_own_goes_with_the_object(tmp_path: Path) -> None:
    data = halfword.prepare(write_log(tmp_path))
    folder = data.path
    assert folder.exists()
    if os.fork() == 0:  # a child's copy of the object is not the object
        del data
        gc.collect()
        os._exit(0)
    os.wait()
    assert folder.exists()
    del data
    gc.collect()
    assert not folder.parent.exists()


def test_a_failed_preparation_leaves_nothing_in_the_temporary_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "scratch"))
    (tmp_path / "scratch").mkdir()
    with pytest.raises(LogError, match="nothing is left"):
        halfword.prepare(write_log(tmp_path), min_count=10_000)
    assert list((tmp_path / "scratch").iterdir()) == []


def test_a_dataset_with_a_folder_stays(tmp_path: Path) -> None:
    data = halfword.prepare(write_log(tmp_path), str(tmp_path / "data"))
    assert Dataset.open(str(tmp_path / "data")).counts(Split.TEST) == data.counts(Split.TEST)
    assert repr(data).startswith(f"Dataset({str(tmp_path / 'data')!r}, train ")


def frames() -> list[Any]:
    times = [f"2024-01-{day:02} 10:00:00" for day in range(1, 21)]
    table = pa.table({"who": [1, 2] * 10, "what": [f"New  York {day}" for day in range(1, 21)], "when": times})
    found = [table, ArrowOnly(table), table.to_batches()[0]]
    views = pa.table([table["who"], table["what"].cast(pa.string_view()), table["when"]], names=table.column_names)
    found.append(ArrowOnly(views))
    return found


@pytest.mark.parametrize("frame", frames(), ids=["arrow", "stream", "batch", "views"])
def test_a_table_is_prepared_as_a_log_is(frame: Any) -> None:
    data = Dataset.from_frame(frame, query="what", user="who", time="when", valid_share=0.1, test_share=0.1)
    assert data.counts(Split.TEST) == {"new york 19": 1, "new york 20": 1}
    assert repr(data) == "Dataset(train 16 rows, 16 queries; valid 2 rows, 2 queries; test 2 rows, 2 queries)"
    assert halfword.prepare(frame, query="what", user="who", time="when").about()["source"] == ["table.parquet"]


def test_a_pandas_frame_is_prepared() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {
            "q": pandas.Categorical(["New York", "weather", None, "weather"] * 10),
            "at": pandas.date_range("2024-01-01", periods=40).as_unit("ns"),
            "odd": [{"a": object}] * 40,  # what no log has does not matter
        }
    ).drop(columns="odd")
    frame["n"] = [2.0, 3.0, None, 1.0] * 10
    frame = frame[frame["q"].notna()]
    data = Dataset.from_frame(frame, query="q", time="at", count="n", **EVERYTHING_IS_TRAIN)
    assert data.counts(Split.TRAIN) == {"weather": 40, "new york": 20}


def test_counts_are_split_as_a_log_with_counts_is() -> None:
    data = Dataset.from_counts(COUNTS, valid_share=0.2, test_share=0.2)
    total = dict.fromkeys(COUNTS, 0)
    for split in Split:
        for query, count in data.counts(split).items():
            total[query] += count
    assert total == COUNTS
    pairs = [("new york", 1), ("new york", 2), ("news", 1)]
    assert Dataset.from_counts(pairs, **EVERYTHING_IS_TRAIN).counts(Split.TRAIN) == {"new york": 3, "news": 1}


@pytest.mark.parametrize(
    ("make", "line"),
    [
        (lambda: Dataset.from_counts(cast(Any, {"news": "many"})), "the counts cannot be read"),
        (
            lambda: Dataset.from_counts({"news": 0}),
            "the table, line 1: expected a count of 1 or more, found '0'",
        ),
        (lambda: Dataset.from_counts(cast(Any, [1])), "the counts cannot be read"),
        (lambda: Dataset.from_frame([1, 2]), "a pandas, polars or Arrow table was expected, got list"),
        (lambda: Dataset.from_frame(pa.array([1])), "the table cannot be read"),
        (lambda: Dataset.from_frame(pa.table({"x": ["news"], "y": [1]})), "none of the columns x, y is known"),
        (lambda: Dataset.from_frame(pa.table({"q": ["news"]}), query="x"), "the table has no column 'x'"),
        (lambda: halfword.prepare(5), "a log must be a path, several paths or a table, got int"),
        (lambda: halfword.prepare("no.txt"), "no.txt does not exist"),
        (lambda: halfword.prepare("no.txt", colour="red"), "unknown option colour; the options are: profile"),
        (lambda: halfword.prepare("no.txt", profile="nobody"), "profile 'nobody' is unknown"),
        (lambda: halfword.prepare("no.txt", engine="steam"), "engine must be one of duckdb, spark, got 'steam'"),
        (lambda: halfword.prepare("no.txt", min_count="5"), "min_count must be a whole number, got '5'"),
        (lambda: halfword.train("no", "m.halfword", parts="popular"), "parts must be a list, got 'popular'"),
        (lambda: halfword.train("no", "m.halfword", preset="huge"), "preset 'huge' is unknown"),
        (lambda: halfword.train("no", "m.halfword"), "no does not exist; make it with: halfword prepare"),
        (lambda: halfword.evaluate(halfword.load(), "no", sampel=5), "unknown option sampel"),
    ],
)
def test_what_is_asked_wrongly_is_one_line(make: Callable[[], object], line: str) -> None:
    with pytest.raises(HalfwordError) as caught:
        make()
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)


def test_options_and_fields_go_together(tmp_path: Path) -> None:
    options = PrepareOptions(min_count=2)
    log = tmp_path / "log.txt"
    log.write_text("weather\nweather\nnews\n")
    assert halfword.prepare(log, options=options, **EVERYTHING_IS_TRAIN).counts(Split.TRAIN) == {"weather": 2}
    with pytest.raises(OptionError, match="needs users"):
        halfword.prepare(log, options=options, min_users=2)


def test_a_progress_function_ends_the_work(tmp_path: Path) -> None:
    def progress(event: Event) -> None:
        raise Stopped("enough")

    with pytest.raises(Stopped, match="enough"):
        halfword.prepare(write_log(tmp_path), tmp_path / "data", progress=progress)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["log.txt"]


LIGHT = """
import sys, halfword
assert "train" in dir(halfword)
halfword.load().complete("new yo")
heavy = {"numpy", "pyarrow", "ibis", "torch", "pandas"} & set(sys.modules)
assert not heavy, heavy
assert callable(halfword.prepare) and callable(halfword.train) and callable(halfword.evaluate)
heavy = {"numpy", "pyarrow", "ibis", "torch", "pandas"} & set(sys.modules)
assert not heavy, heavy
try:
    halfword.nothing
except AttributeError as error:
    print(error)
"""


def test_importing_and_completing_need_no_extra() -> None:
    done = subprocess.run([sys.executable, "-c", LIGHT], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("module 'halfword' has no attribute 'nothing'\n", "")


def test_every_public_name_is_there() -> None:
    assert all(getattr(halfword, name) is not None for name in halfword.__all__)
