"""Whether the arrays of a model file are as they were written."""

from collections.abc import Mapping
from pathlib import Path

from halfword.core.checksums import Span, checksums_of, digest_of
from halfword.core.errors import ModelFileError
from halfword.core.files import open_regular
from halfword.core.model_file import Array, Header, Place


def check_arrays(path: Path, places: Mapping[str, Place]) -> None:
    """Refuse a model file in which an array does not match its checksum; one without a checksum passes."""
    damaged = damaged_arrays(path, places)
    if damaged:
        others = f", nor do {len(damaged) - 1} more" if len(damaged) > 1 else ""
        raise ModelFileError(
            f"{path} is damaged: the array {damaged[0]} does not match its checksum{others}; copy or train it again"
        )


def read_arrays(path: Path, header: Header) -> dict[str, Array]:
    """Read all arrays of a model file into memory; one that is damaged is refused."""
    check_arrays(path, header.places)
    content = path.read_bytes()
    places = header.places.items()
    return {name: Array(place.dtype, content[place.begin : place.end], place.shape) for name, place in places}


def damaged_arrays(path: Path, places: Mapping[str, Place]) -> list[str]:
    """Return the names of the arrays that do not match their checksums, in their order in the file."""
    expected = {name: place.checksum for name, place in places.items() if place.checksum}
    found = _read(path, {name: places[name] for name in expected})
    return [name for name in sorted(expected, key=lambda name: places[name].begin) if found[name] != expected[name]]


def content_digest(path: Path, header: Header) -> str:
    """Return a short name for the content of a model file, the same on every machine.

    It comes from the checksums; a file that has none is read as a whole.
    """
    if header.has_checksums:
        return header.digest
    found = _read(path, header.places)
    return digest_of([header.digest.encode(), *(f"{name}:{found[name]}".encode() for name in sorted(found))])


def _read(path: Path, places: Mapping[str, Place]) -> dict[str, str]:
    spans = {name: Span(place.begin, place.end) for name, place in places.items()}
    try:
        with open_regular(path) as stream:
            return checksums_of(stream.fileno(), spans)
    except OSError as error:
        raise ModelFileError(f"{path} cannot be read ({error.strerror})") from error
