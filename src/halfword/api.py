"""What a notebook calls: prepare, train and evaluate, with paths as text and options by name."""

from pathlib import Path
from typing import Any

from halfword.core.fields import changed
from halfword.core.progress import Progress, quiet
from halfword.data.dataset import Dataset, open_dataset
from halfword.data.options import PrepareOptions
from halfword.data.prepare import prepare_dataset
from halfword.evaluation.evaluate import EvaluateOptions
from halfword.evaluation.evaluate import evaluate as measure
from halfword.evaluation.report import Report
from halfword.search.model import Completer, Model, load
from halfword.training.options import TrainOptions, with_preset
from halfword.training.train import train as learn


def prepare(
    logs: Any,
    output: str | Path | None = None,
    options: PrepareOptions | None = None,
    *,
    progress: Progress = quiet,
    **fields: Any,
) -> Dataset:
    """Make a dataset of a query log: a path, several paths, or a pandas, polars or Arrow table.

    Paths may be files, folders and patterns. `fields` are those of `PrepareOptions`, `SplitOptions` and `ColumnNames`,
    as in `query="search_term", min_users=5, test_share=0.1`. Without `output` the dataset lies in a temporary folder
    that goes with the object.
    """
    return prepare_dataset(logs, output, options, progress, fields)


def train(
    data: Dataset | str | Path,
    output: str | Path,
    options: TrainOptions | None = None,
    *,
    preset: str | None = None,
    progress: Progress = quiet,
    **fields: Any,
) -> Model:
    """Learn from a dataset, write the model file `output` and return the model.

    `fields` are those of `TrainOptions`, `NetworkTraining`, `SegmentOptions` and `NetworkOptions`, as in
    `parts=("popular", "ngram"), memory_size=50`. `preset` chooses the network: default, fast, paper, teacher, taught,
    or best, which trains five teachers first.
    """
    chosen = options or TrainOptions()
    chosen = changed(chosen if preset is None else with_preset(chosen, preset), fields)
    learn(_opened(data), Path(output), chosen, progress)
    return load(output)


def evaluate(
    model: Completer | str | Path,
    data: Dataset | str | Path,
    options: EvaluateOptions | None = None,
    *,
    progress: Progress = quiet,
    **fields: Any,
) -> Report:
    """Measure how well a model, or anything else that completes, finishes the test queries of a dataset.

    `fields` are those of `EvaluateOptions`, as in `sample=5000`.
    """
    completer = load(model) if isinstance(model, (str, Path)) else model
    chosen = changed(options or EvaluateOptions(), fields)
    return measure(completer, _opened(data), chosen, progress)


def _opened(data: Dataset | str | Path) -> Dataset:
    return data if isinstance(data, Dataset) else open_dataset(data)
