"""Reading and writing a dataset folder.

A prepared folder holds two files, or three:

- `queries.parquet`: the columns split (train, valid or test), query and count, sorted by split, falling count, query;
- `sessions.parquet`, if the log has users or times: the columns split, starts (whether a session begins here) and query
  (its number: 0 for the first of its split in `queries.parquet`), one row for each time that a query was typed;
- `dataset.json`: `format` (the version of this layout), `profile`, source files, options, what was dropped and why.

A folder of plain `train`, `valid` and `test.query.txt` (or `.gz`), one query per line, repeats kept, is read as well.
"""

import gzip
import json
import os
import shutil
import weakref
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from halfword.core.errors import DatasetError, OptionError, require
from halfword.core.progress import Progress, quiet
from halfword.core.scrub import query_of
from halfword.core.text import DEFAULT, PROFILES, Profile, normalise_query
from halfword.data.sessions import CONTEXT, TypedRow, with_context

if TYPE_CHECKING:
    from halfword.data.options import PrepareOptions

FORMAT = 1
QUERIES = "queries.parquet"
SESSIONS = "sessions.parquet"
ABOUT = "dataset.json"


class Split(StrEnum):
    """The part of a dataset that is learned from, chosen by, or measured on."""

    TRAIN = "train"
    VALID = "valid"
    TEST = "test"


@dataclass(frozen=True, slots=True, repr=False)
class Dataset(ABC):
    """Queries by split, wherever they lie.

    >>> data = Dataset.from_counts({f"song number {number}": 20 for number in range(1, 6)})
    >>> data
    Dataset(train 90 rows, 5 queries; valid 5 rows, 5 queries; test 5 rows, 5 queries)
    >>> data.counts(Split.TRAIN)["song number 1"]
    18
    """

    path: Path
    profile: Profile

    @staticmethod
    def open(path: str | Path) -> "Dataset":
        """Open a prepared folder or a folder of plain query files."""
        return open_dataset(path)

    @staticmethod
    def from_frame(
        frame: Any,
        output: str | Path | None = None,
        options: "PrepareOptions | None" = None,
        *,
        progress: Progress = quiet,
        **fields: Any,
    ) -> "Dataset":
        """Prepare the rows of a pandas, polars or Arrow table, a query each.

        `query`, `user`, `time` and `count` name its columns; what is left out is guessed from their names. Other fields
        are those of `PrepareOptions`. Without `output` the dataset lies in a temporary folder that goes with the
        object.
        """
        from halfword.data.prepare import prepare_dataset
        from halfword.data.tables import is_table

        if not is_table(frame):
            raise OptionError(f"a pandas, polars or Arrow table was expected, got {type(frame).__name__}")
        return prepare_dataset(frame, output, options, progress, fields)

    @staticmethod
    def from_counts(
        counts: Mapping[str, int] | Iterable[tuple[str, int]],
        output: str | Path | None = None,
        options: "PrepareOptions | None" = None,
        *,
        progress: Progress = quiet,
        **fields: Any,
    ) -> "Dataset":
        """Prepare queries of which it is known how often each was typed; otherwise like `from_frame`."""
        from halfword.data.prepare import prepare_dataset
        from halfword.data.tables import table_of_counts

        return prepare_dataset(table_of_counts(counts), output, options, progress, fields)

    @abstractmethod
    def counts(self, split: Split) -> dict[str, int]:
        """Return how often each query was typed."""

    @abstractmethod
    def rows(self, split: Split) -> list[str]:
        """Return every query as often as it was typed, in the order in which it is stored."""

    def sessions(self, split: Split) -> list[list[str]]:
        """Return the sessions of a split, each the queries of one person in their order; none if they are not known.

        Where they are known, every row of the split is in one of them.
        """
        return []

    def typed_rows(self, split: Split, size: int = CONTEXT) -> list[TypedRow]:
        """Return every row with at most `size` queries before it in its session; without any if none is known."""
        return list(with_context(self.sessions(split), size)) or [TypedRow(query) for query in self.rows(split)]

    @abstractmethod
    def about(self) -> dict[str, Any]:
        """Return what is known of the data's origin, for the card of a model that learns from it."""

    def __repr__(self) -> str:
        return f"Dataset({str(self.path)!r})"


def open_dataset(path: str | Path) -> Dataset:
    """Open a prepared folder or a folder of plain query files."""
    path = Path(path)
    if not path.exists():
        raise DatasetError(f"{path} does not exist; make it with: halfword prepare LOG -o {path}")
    if not path.is_dir():
        raise DatasetError(f"{path} is a file, a dataset is a folder; make one with: halfword prepare {path} -o data/")
    if (path / ABOUT).exists():
        return PreparedFolder(path, _profile_of(path))
    if any(_text_file(path, split) for split in Split):
        return TextFolder(path, DEFAULT)
    raise DatasetError(f"{path} holds neither {ABOUT} nor train.query.txt; make a dataset with: halfword prepare")


class PreparedFolder(Dataset):
    """What `halfword prepare` wrote."""

    def counts(self, split: Split) -> dict[str, int]:
        table = self._read(split)
        return dict(zip(table["query"].to_pylist(), table["count"].to_pylist(), strict=True))

    def rows(self, split: Split) -> list[str]:
        return [query for query, count in self.counts(split).items() for _ in range(count)]

    def sessions(self, split: Split) -> list[list[str]]:
        if not (self.path / SESSIONS).exists():
            return []
        table, texts = self._read_columns(SESSIONS, ["starts", "query"], split), self._read(split)["query"].to_pylist()
        sessions: list[list[str]] = []
        for starts, number in zip(table["starts"].to_pylist(), table["query"].to_pylist(), strict=True):
            if starts or not sessions:
                sessions.append([])
            sessions[-1].append(texts[number])
        return sessions

    def about(self) -> dict[str, Any]:
        return read_about(self.path)

    def __repr__(self) -> str:
        return f"Dataset({str(self.path)!r}, {self._sizes()})"

    def _sizes(self) -> str:
        try:
            splits = self.about()["rows"]["splits"].items()
            return "; ".join(f"{name} {size['rows']:,} rows, {size['distinct']:,} queries" for name, size in splits)
        except (DatasetError, KeyError, AttributeError, TypeError):  # it may have been removed, or be no funnel
            return "sizes unknown"

    def _read(self, split: Split) -> Any:
        table = self._read_columns(QUERIES, ["query", "count"], split)
        if not table.num_rows:
            path = self.path / QUERIES
            raise DatasetError(f"{path} holds no {split} queries; prepare a larger log or change its splits")
        return table

    def _read_columns(self, name: str, columns: list[str], split: Split) -> Any:
        pa, parquet = require("pyarrow", "prepare"), require("pyarrow.parquet", "prepare")
        path = self.path / name
        try:
            return parquet.read_table(path, columns=columns, filters=[("split", "==", str(split))])
        except (OSError, pa.ArrowInvalid, pa.ArrowKeyError) as error:
            raise DatasetError(f"{path} cannot be read ({_first_line(error)}); run `halfword prepare` again") from error


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


class TextFolder(Dataset):
    """Plain files with one query per line, normalised as they are read.

    What is learned from is scrubbed as `prepare` does. Test rows are only asked, so they stay as people typed them, and
    a sample of them is the same whatever the rules of scrubbing are.
    """

    def counts(self, split: Split) -> dict[str, int]:
        return dict(Counter(self.rows(split)))

    def rows(self, split: Split) -> list[str]:
        path = _text_file(self.path, split)
        if path is None:
            raise DatasetError(f"{self.path} holds no {split}.query.txt (or .gz)")
        read = normalise_query if split is Split.TEST else query_of
        rows = [query for line in _lines(path) if (query := read(line, self.profile))]
        if not rows:
            raise DatasetError(f"{path} holds no query; one query per line was expected")
        return rows

    def sessions(self, split: Split) -> list[list[str]]:
        rows = self.rows(split)  # the order of the lines is all that is known
        return [] if all(before <= after for before, after in pairwise(rows)) else [rows]  # nobody searches by alphabet

    def about(self) -> dict[str, Any]:
        return {"source": [path.name for split in Split if (path := _text_file(self.path, split))]}


def _text_file(folder: Path, split: Split) -> Path | None:
    candidates = (folder / f"{split}.query.txt", folder / f"{split}.query.txt.gz")
    return next((path for path in candidates if path.exists()), None)


def _lines(path: Path) -> list[str]:
    try:
        raw = path.read_bytes()
        return (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8").split("\n")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise DatasetError(f"{path}, line {line}: not UTF-8; pass the raw log to `halfword prepare`") from error
    except (OSError, EOFError, ValueError) as error:
        raise DatasetError(f"{path} cannot be read ({_first_line(error)})") from error


def _profile_of(folder: Path) -> Profile:
    about = read_about(folder)
    if about.get("format") != FORMAT:
        found = about.get("format")
        raise DatasetError(f"{folder / ABOUT}: format {found}, this build reads {FORMAT}; run `halfword prepare` again")
    if about.get("profile") not in PROFILES:
        raise DatasetError(f"{folder / ABOUT}: unknown profile {about.get('profile')!r}; run `halfword prepare` again")
    return PROFILES[about["profile"]]


def read_about(folder: Path) -> dict[str, Any]:
    """Return the description in a prepared folder."""
    path = folder / ABOUT
    try:
        about = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DatasetError(f"{path} cannot be read ({_first_line(error)}); run `halfword prepare` again") from error
    if not isinstance(about, dict):
        raise DatasetError(f"{path} is not a description of a dataset; run `halfword prepare` again")
    return about


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0]
