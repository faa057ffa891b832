"""Text in other encodings than UTF-8: recognised by a byte order mark, or named by the caller."""

import codecs
from pathlib import Path

import pyarrow as pa

from halfword.core.errors import LogError

UTF8_MARK = codecs.BOM_UTF8
_MARKS = {  # the longer ones first, because one begins like another
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_PLAIN = {"utf-8", "utf-8-sig", "ascii"}  # read without conversion
_ZEROS = 0.2  # share of bytes; in UTF-16, every second byte of a Western text is zero


def encoding_of(path: Path, sample: bytes, asked: str | None) -> str | None:
    """Return the encoding of a file: that of its byte order mark, else the one asked for; None for UTF-8."""
    marked = next((name for mark, name in _MARKS.items() if sample.startswith(mark)), None)
    if marked or asked or sample.startswith(UTF8_MARK):
        return marked or (asked if asked not in _PLAIN and not sample.startswith(UTF8_MARK) else None)
    if sample.count(0) > _ZEROS * len(sample):
        order = "le" if sample[1::2].count(0) > sample[::2].count(0) else "be"
        raise LogError(f"{path} looks like UTF-16 without a byte order mark; read it with: --encoding utf-16-{order}")
    return None


def as_utf8(sample: bytes, encoding: str | None) -> bytes:
    """Return the beginning of a file in UTF-8, without a byte order mark; its last character may be cut."""
    if encoding is not None:
        sample = codecs.getincrementaldecoder(encoding)("replace").decode(sample).encode("utf-8", "replace")
    return sample.removeprefix(UTF8_MARK)


def stream_as_utf8(stream: pa.NativeFile, encoding: str | None) -> pa.NativeFile:
    """Return a stream of bytes in UTF-8."""
    return stream if encoding is None else pa.transcoding_input_stream(stream, encoding, "utf-8")
