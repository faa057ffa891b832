"""Logs, tables and counts become datasets: every way in ends in the one pipeline."""

import os
import shutil
import tempfile
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from halfword.core.errors import LogError, OptionError, require
from halfword.core.fields import changed
from halfword.core.progress import Progress
from halfword.data.dataset import Dataset, PreparedFolder, open_dataset
from halfword.data.options import PrepareOptions
from halfword.data.tables import is_table, write_table


class TemporaryFolder(PreparedFolder):
    """A prepared folder that is removed together with the last reference to this object, or when Python exits."""

    def remove_with_me(self, folder: Path) -> None:
        """Remove `folder`, which holds the dataset, when this object is gone."""
        weakref.finalize(self, _remove, folder, os.getpid())

    def __repr__(self) -> str:
        return f"Dataset({self._sizes()})"


def _remove(folder: Path, owner: int) -> None:
    if os.getpid() == owner:  # a forked process has only a copy of the object
        shutil.rmtree(folder, ignore_errors=True)


def prepare_dataset(
    logs: Any,
    output: str | Path | None,
    options: PrepareOptions | None,
    progress: Progress,
    fields: Mapping[str, Any],
) -> Dataset:
    """Make a dataset of a path, several paths or a table, with some `fields` of the options changed by name."""
    for module in ("pyarrow", "ibis"):
        require(module, "prepare")
    chosen = _options(options, fields)
    if not is_table(logs):
        return _prepare(_paths(logs), output, chosen, progress)
    with tempfile.TemporaryDirectory(prefix="halfword-") as folder:
        table = write_table(Path(folder), logs, chosen.columns)
        with _errors_name_the_table(table):
            return _prepare([table], output, chosen, progress)


def _options(options: PrepareOptions | None, fields: Mapping[str, Any]) -> PrepareOptions:
    return changed(options or PrepareOptions(), fields)


def _paths(logs: Any) -> list[str | Path]:
    if isinstance(logs, (str, Path)):
        return [logs]
    paths = list(logs) if isinstance(logs, Iterable) else [logs]
    wrong = next((path for path in paths if not isinstance(path, (str, Path))), None)
    if wrong is not None:
        raise OptionError(f"a log must be a path, several paths or a table, got {type(wrong).__name__}")
    return paths


def _prepare(
    logs: Sequence[str | Path], output: str | Path | None, options: PrepareOptions, progress: Progress
) -> Dataset:
    from halfword.data.pipeline import prepare

    if output is not None:
        prepare(logs, Path(output), options, progress)
        return open_dataset(output)
    folder = Path(tempfile.mkdtemp(prefix="halfword-"))
    try:
        prepare(logs, folder / "data", options, progress)
        opened = open_dataset(folder / "data")
        data = TemporaryFolder(opened.path, opened.profile)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    data.remove_with_me(folder)
    return data


@contextmanager
def _errors_name_the_table(path: Path) -> Iterator[None]:
    """Say "the table" where an error names the file that the table was written to."""
    try:
        yield
    except LogError as error:
        raise LogError(str(error).replace(str(path), "the table")) from None
