"""The rows of a log file as they stand: cells of text by field, and the rows that cannot be split into cells."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet

from halfword.core.errors import LogError
from halfword.data.encodings import UTF8_MARK, stream_as_utf8
from halfword.data.log_columns import Column, as_time
from halfword.data.log_csv import csv_rows
from halfword.data.log_format import Format, LogFile
from halfword.data.log_json import split_json
from halfword.data.nested import column_at
from halfword.data.rows import MOST_ROWS, Later, Rows, decoded, wrong_width

BLOCK_BYTES = 8 << 20
LONGEST_LINE = 16 << 20  # bytes; a line, and what is found in it, takes twenty times as much memory
BATCH_ROWS = 1 << 16
_TAB, _NEWLINE = 9, 10
_WRITTEN = np.ones(256, np.uint8)  # 0 for bytes that are white space
_WRITTEN[np.frombuffer(b" \t\n\r\x0b\x0c", np.uint8)] = 0


def rows_of(file: LogFile, position: Callable[[int], None]) -> Iterator[Later]:
    """Return the rows of a file in portions, and tell `position` how many bytes of it have been read."""
    if file.format is Format.PARQUET:
        return _parquet_rows(file, position)
    if file.format is Format.CSV:
        return _csv_rows(file, position)
    split = _split_tabs if file.format is Format.TAB else split_json
    return (partial(split, file, block, line) for block, line in _blocks(file, position))


def _blocks(file: LogFile, position: Callable[[int], None]) -> Iterator[tuple[bytes, int]]:
    """Yield whole lines, many at a time, with the number of the first; no block is longer than the longest line."""
    line, rest = 1, b""
    with pa.OSFile(str(file.path), "rb") as raw, _unpacked(raw, file) as stream:
        while chunk := bytes(stream.read(BLOCK_BYTES)):
            position(raw.tell())
            if line == 1 and not rest:
                chunk = chunk.removeprefix(UTF8_MARK)
            first, end = chunk.find(b"\n") + 1, chunk.rfind(b"\n") + 1
            if len(rest) + (first or len(chunk)) > LONGEST_LINE:
                raise LogError(
                    f"{file.path}, line {line}: more than {LONGEST_LINE >> 20} MB long; is this a text file?"
                )
            alone = first if len(rest) + end > LONGEST_LINE else 0
            blocks = (rest + chunk[:alone], chunk[alone:end]) if alone else (rest + chunk[:end] if end else b"",)
            rest = chunk[end:] if end else rest + chunk
            for part in (part for block in blocks for part in _parts(block)):
                yield part, line
                line += part.count(b"\n")
        if rest:
            yield rest + b"\n", line


def _parts(block: bytes) -> Iterator[bytes]:
    """Cut a block of whole lines into parts of at most MOST_ROWS lines."""
    if block.count(b"\n") <= MOST_ROWS:
        yield from [block] if block else []
        return
    ends = np.flatnonzero(np.frombuffer(block, np.uint8) == _NEWLINE)[MOST_ROWS - 1 :: MOST_ROWS] + 1
    yield from (block[begin:end] for begin, end in pairwise([0, *ends.tolist(), len(block)]) if begin < end)


def _csv_rows(file: LogFile, position: Callable[[int], None]) -> Iterator[Later]:
    with pa.OSFile(str(file.path), "rb") as raw, _unpacked(raw, file) as stream:
        for portion in csv_rows(file, stream, BLOCK_BYTES):
            position(raw.tell())
            yield portion


def _unpacked(raw: pa.NativeFile, file: LogFile) -> pa.NativeFile:
    unpacked = pa.CompressedInputStream(raw, cast(Any, file.compression)) if file.compression else raw
    return stream_as_utf8(unpacked, file.encoding)


def _split_tabs(file: LogFile, block: bytes, first_line: int) -> Rows:
    """Split a block into cells without copying it: a cell is the text between two separators, and keeps the second."""
    data = np.frombuffer(block, np.uint8)
    offsets = np.append(np.int32(0), np.flatnonzero((data == _TAB) | (data == _NEWLINE)).astype(np.int32) + np.int32(1))
    number = len(offsets) - 1
    cells = pa.Array.from_buffers(pa.binary(), number, [None, pa.py_buffer(offsets.data), pa.py_buffer(block)])
    last_cells = np.flatnonzero(data[offsets[1:] - 1] == _NEWLINE)
    widths = np.diff(last_cells, prepend=-1)
    starts = last_cells - widths + 1
    good = widths == len(file.names)
    if file.header and first_line == 1:
        good[0], widths[0] = False, len(file.names)
    rows = Rows(lines=pa.array(np.flatnonzero(good) + first_line))
    columns = {name: cells.take(pa.array(starts[good] + place)) for name, place in file.columns.items()}
    wrong = np.flatnonzero(widths != len(file.names))
    if len(wrong):
        written = np.cumsum(_WRITTEN[data], dtype=np.int32)  # bytes up to each that are not white space
        ends = offsets[last_cells[wrong] + 1] - 1  # of the line end, which is white space itself
        begins = offsets[starts[wrong]]
        empty = written[ends] - written[begins] + _WRITTEN[data[begins]] == 0
        rows.empty = wrong[empty] + first_line
        rows.broken = [wrong_width(int(row) + first_line, int(widths[row])) for row in wrong[~empty]]
    return decoded(rows, columns)


def _parquet_rows(file: LogFile, position: Callable[[int], None]) -> Iterator[Later]:
    names = {name: file.names[place] for name, place in file.columns.items()}
    size = file.path.stat().st_size
    with parquet.ParquetFile(file.path) as table:
        line = 1
        for batch in table.iter_batches(batch_size=BATCH_ROWS, columns=list(names.values())):
            yield partial(_parquet_portion, file, names, batch, line)
            line += batch.num_rows
            position(size * (line - 1) // table.metadata.num_rows)


def _parquet_portion(file: LogFile, names: dict[str, str], batch: pa.RecordBatch, first_line: int) -> Rows:
    rows = Rows(lines=pa.array(np.arange(first_line, first_line + batch.num_rows)))
    for name, column in names.items():
        values: Column = column_at(batch, column)
        try:
            cells = as_time(values) if name == "time" else values.cast(pa.string())
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            raise LogError(
                f"{file.path}: column {column!r} holds {values.type}, not a {name}; name another column"
            ) from None
        try:
            cells.validate(full=True)
        except pa.ArrowInvalid:
            raise LogError(f"{file.path}: column {column!r} holds text that is not UTF-8; write it again") from None
        rows.cells[name] = cells
    return rows
