"""A dataset of plain files: `train`, `valid` and `test.query.txt` (or `.gz`), one query per line, repeats kept."""

import gzip
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

from halfword.core.errors import DatasetError
from halfword.core.scrub import query_of
from halfword.core.text import Profile, normalise_query
from halfword.data.dataset import Dataset, Split, first_line


class TextFolder(Dataset):
    """Plain files with one query per line, normalised as they are read.

    What is learned from is scrubbed as `prepare` does. Test rows are only asked, so they stay as people typed them, and
    a sample of them is the same whatever the rules of scrubbing are.
    """

    def counts(self, split: Split) -> dict[str, int]:
        return dict(Counter(self.rows(split)))

    def rows(self, split: Split) -> list[str]:
        path = text_file(self.path, split)
        if path is None:
            if split is Split.VALID:  # weights can be chosen without validation rows
                return []
            raise DatasetError(f"{self.path} holds no {split}.query.txt (or .gz)")
        rows = self._read(path, normalise_query if split is Split.TEST else query_of)
        if not rows:
            raise DatasetError(f"{path} holds no query; one query per line was expected")
        return rows

    def learnable(self, split: Split) -> dict[str, int]:
        path = text_file(self.path, split)
        return dict(Counter(self._read(path, query_of))) if path else {}

    def _read(self, path: Path, read: Callable[[str, Profile], str]) -> list[str]:
        return [query for line in _lines(path) if (query := read(line, self.profile))]

    def sessions(self, split: Split) -> list[list[str]]:
        rows = self.rows(split)  # the order of the lines is all that is known
        return [] if all(before <= after for before, after in pairwise(rows)) else [rows]  # nobody searches by alphabet

    def about(self) -> dict[str, Any]:
        return {"source": [path.name for split in Split if (path := text_file(self.path, split))]}


def text_file(folder: Path, split: Split) -> Path | None:
    """Return the file of a split in a folder of plain query files; None if there is none."""
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
        raise DatasetError(f"{path} cannot be read ({first_line(error)})") from error
