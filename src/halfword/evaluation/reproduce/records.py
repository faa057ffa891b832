"""Stored results: each says what it was made from, so that a finished one is not made again.

A record is recognised by its content, never by the date of its file. So a report can be moved, and continued on another
machine.
"""

import hashlib
import io
import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from halfword.core.files import whole_file
from halfword.data.dataset import Dataset, Split

FORMAT = 5  # of the layout and the computations; raised when the same recipe gives different figures
_ABOUT = "about"

Arrays = dict[str, NDArray[Any]]


def as_read(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return `content` as it will be when it is read from JSON, so that both can be compared.

    >>> as_read({"parts": ("popular", "ngram")})
    {'parts': ['popular', 'ngram']}
    """
    read: dict[str, Any] = json.loads(json.dumps(content))
    return read


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write JSON, whole or not at all."""
    write_text(path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write a text file, whole or not at all."""
    with whole_file(path) as stream:
        stream.write(text.encode())


def read_json(path: Path) -> dict[str, Any]:
    """Return a record; an empty one if there is none that can be read."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def write_arrays(path: Path, arrays: Arrays, about: Mapping[str, Any]) -> None:
    """Write arrays and their description into one NumPy archive, whole or not at all."""
    described = np.frombuffer(json.dumps(about).encode(), dtype=np.uint8)
    archive = io.BytesIO()
    np.savez_compressed(archive, allow_pickle=False, **{_ABOUT: described}, **arrays)
    with whole_file(path) as stream:
        stream.write(archive.getvalue())


def read_arrays(path: Path) -> tuple[Arrays, dict[str, Any]]:
    """Return arrays and their description; empty ones if there is nothing that can be read."""
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
            about = json.loads(arrays.pop(_ABOUT).tobytes())
    except (OSError, ValueError, KeyError, EOFError, BadZipFile, zlib.error):
        return {}, {}
    return (arrays, about) if isinstance(about, dict) else ({}, {})


def digest_of(path: Path) -> str:
    """Return a digest of the content of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()[:32]


def fingerprint(data: Dataset) -> str:
    """Return a digest of the queries of a dataset in their order; it does not depend on the path."""
    found = hashlib.sha256()
    for split in (Split.TRAIN, Split.VALID):
        for query, count in data.table(split).items():
            found.update(f"{query}\t{count}\n".encode())
        found.update(b"\n")
    for query in data.rows(Split.TEST):
        found.update(f"{query}\n".encode())
    return found.hexdigest()[:32]
