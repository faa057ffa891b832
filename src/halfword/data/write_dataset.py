"""Writing a dataset folder, whole or not at all; `dataset.py` explains what is in it."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from halfword.core.errors import DatasetError, require
from halfword.core.files import check_output_folder, whole_folder
from halfword.data.dataset import ABOUT, FORMAT, QUERIES, SESSIONS, read_about

if TYPE_CHECKING:
    import pyarrow as pa


def write_dataset(
    path: Path,
    batches: Iterable["pa.RecordBatch"],
    about: dict[str, Any],
    numbers: Sequence[str] = ("count",),
    sessions: Iterable["pa.RecordBatch"] | None = None,
    texts: Sequence[str] = (),
) -> None:
    """Write a prepared folder, whole or not at all, from batches of split, query and columns of numbers and of texts.

    `sessions`, if they are kept, are batches of split, starts and query (a number).
    """
    pa, parquet = require("pyarrow", "prepare"), require("pyarrow.parquet", "prepare")
    columns = {"split": pa.string(), "query": pa.string(), **dict.fromkeys(numbers, pa.int64())}
    schema = pa.schema({**columns, **dict.fromkeys(texts, pa.string())})
    check_dataset_output(path)
    with whole_folder(path) as folder:
        with parquet.ParquetWriter(folder / QUERIES, schema, compression="zstd") as writer:
            for batch in batches:
                writer.write_batch(batch.cast(schema))
        if sessions is not None:
            session_columns = pa.schema({"split": pa.string(), "starts": pa.bool_(), "query": pa.int32()})
            with parquet.ParquetWriter(folder / SESSIONS, session_columns, compression="zstd") as writer:
                for batch in sessions:
                    writer.write_batch(batch.cast(session_columns))
        text = json.dumps({"format": FORMAT, **about}, indent=2, ensure_ascii=False)
        (folder / ABOUT).write_text(text + "\n", encoding="utf-8")


def check_dataset_output(path: Path) -> None:
    """Refuse a `path` at which lies something else than an empty folder or a prepared one."""
    check_output_folder(path, _is_prepared, "dataset")


def _is_prepared(folder: Path) -> bool:
    if not {child.name for child in folder.iterdir()} <= {ABOUT, QUERIES, SESSIONS}:
        return False
    try:
        return "format" in read_about(folder)
    except DatasetError:
        return False
