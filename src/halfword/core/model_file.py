"""The one file that holds a model.

A model file is a safetensors file: eight bytes with the length of a JSON header, the header, then the arrays one after
the other. What Halfword adds:

- `__metadata__` holds `halfword`, the version of this layout; `card`, a JSON text that says what the model learned
  from, when, how, and how good it is; `policy`, the numbers of `core/policy.py` as JSON; `features`, the names of
  what the ranker looks at, separated by spaces (empty where there is no ranker); `checksums`, a JSON text with the
  CRC-32 of each array by name, eight hexadecimal digits; and `digest`, sixteen hexadecimal digits: BLAKE2b of the eight
  bytes and the header, with zeros in the place of the digest itself. Files that were written before there were
  checksums have neither of the two;
- every array begins at a multiple of eight bytes, so that the engine reads it where it lies in the mapped file. Larger
  element types come first, and each array is filled up to a multiple of eight by an array of zeros named `padding.N`.

Arrays by part (all little-endian; V pieces, E the embedding's width, H the hidden width):

- `popular.*`: the popularity index, explained in `engine/store/popular.h`, and its order by letters, in `spellings.py`;
  `popular.folded.*` and `words.folded.*`: queries and words by their keys, explained in `training/folding.py`;
- `pieces.special` U32 (4): the kind of segmentation (0 char, 1 bpe, 2 unigram), then the ids of the unknown, begin and
  end pieces; `pieces.text` U8: the texts of all pieces one after the other, as SentencePiece spells them (`▁` for a
  space); `pieces.begin` U32 (V + 1): where each text begins, and where the last one ends; `pieces.score` F32 (V);
  `pieces.kind` U8 (V): SentencePiece's numbers (1 normal, 2 unknown, 3 control, 4 user-defined, 5 unused, 6 byte);
- `network.embedding` F32 (V, E), also the output layer's weights; `network.output_bias` F32 (V);
  `network.projection` F32 (E, H) and `network.projection_bias` F32 (E);
  for each layer L from 0: `network.layerL.input` F32 (3H, E, or H above layer 0), `network.layerL.recurrent` F32
  (3H, H), or (3H, S) behind `network.layerL.summary` F32 (S, H), `network.layerL.norm_scale` and
  `network.layerL.norm_bias` F32 (3H); the 3H outputs are the forget gate, the output gate and the candidate. Every
  matrix is (outputs, inputs);
- beside a matrix `network.NAME`, or instead of it, there may be `network.NAME.int8` I8 of its shape and
  `network.NAME.scale` F32 (outputs): weight ≈ int8 × scale of its output;
- `ngram.*`: the n-gram memory, explained in `ngram.py`, and words that were typed together, in `companions.py`;
  `mixture.network_weight` F32 (32): the network's weight beside the memory, by classes of contexts; `mixture.bounds`
  F32 (3): the backoffs that divide them; `ending.cost` F32 (V) (`ending.py`);
- `ranker.*` F32: the weights of the ranker (`engine/rank/ranker.h`, `training/ranker.py`), `ranker.session.*` those of
  requests with a context; `words.filter` and
  `words.background` U64: which words occur in training queries and in the background (`engine/store/word_filter.h`);
  `words.endings` U8: how the words of a small site are inflected (`training/endings.py`);
  `words.counts` U32: how often the log's words were typed, and at the end of queries (`engine/store/word_counts.h`);
  `display.query.*`, `display.word.*`: the written forms of those that differ from them (`engine/store/displays.h`);
  `lexicon.*`: all of them, sorted (`engine/store/sorted_texts.h`); `words.tree.*`: those with which typing mistakes are
  corrected, and `words.others.*`: those of the background, if there is one (`engine/store/word_tree.h`).
"""

import json
import math
import mmap
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from halfword.core.card import Card
from halfword.core.checksums import blank_digest, checksum, digest_of, is_sealed_by, sealed
from halfword.core.errors import ModelFileError, OptionError
from halfword.core.files import check_output_file, open_regular, whole_file
from halfword.core.policy import DEFAULT_POLICY, Policy

FORMAT = 3
FORGET_BIAS = 1.0  # added to the forget gate of every layer
NORM_EPSILON = 1e-5  # added to the variance in layer normalisation
_ITEM_SIZE = {"U64": 8, "F32": 4, "U32": 4, "U16": 2, "I8": 1, "U8": 1}
_ALIGNMENT = 8
PADDING = "padding."  # how the names of the arrays between the others begin
_LONGEST_HEADER = 4_000_000  # bytes; a model's own is a few thousand, and reading it must not take long


@dataclass(frozen=True, slots=True)
class Array:
    """An array as bytes, with its element type as safetensors names it; without a shape it has one dimension."""

    dtype: str
    data: bytes
    shape: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """Where an array lies: its element type, its shape, and its bytes counted from the start of the file."""

    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int
    checksum: str = ""  # empty in files that were written without


@dataclass(frozen=True, slots=True)
class Header:
    """What a model file says of itself."""

    card: Card
    places: dict[str, Place]
    policy: Policy = DEFAULT_POLICY
    features: tuple[str, ...] = ()
    digest: str = ""  # of the header; where there are checksums, it changes with every byte of the file

    @property
    def has_checksums(self) -> bool:
        """Tell whether damage to the arrays can be found."""
        return all(place.checksum for place in self.places.values())

    def holds(self, part: str) -> bool:
        """Tell whether the file has arrays of `part`, such as popular."""
        return any(name.startswith(f"{part}.") for name in self.places)


def check_model_output(path: Path) -> None:
    """Refuse a `path` at which no model file can appear, or at which something else lies: it would be lost."""
    check_output_file(path, is_model_file, "model file")


def is_model_file(path: Path) -> bool:
    """Tell whether a file is a model file of any version, even a damaged one."""
    try:
        with path.open("rb") as stream:
            length = int.from_bytes(stream.read(8), "little")
            header = json.loads(stream.read(length)) if length <= _LONGEST_HEADER else None
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(header, dict) and "halfword" in (header.get("__metadata__") or {})


def write_model(
    path: Path,
    arrays: Mapping[str, Array],
    card: Card,
    *,
    policy: Policy = DEFAULT_POLICY,
    features: Sequence[str] = (),
) -> None:
    """Write a model file, whole or not at all; only a model file is replaced."""
    check_model_output(path)
    layout = list(_padded(arrays))
    encoded = _encoded(layout, card, policy, features)
    with whole_file(path) as stream:
        stream.write(sealed(struct.pack("<Q", len(encoded)) + encoded))
        for _, array in layout:
            stream.write(array.data)


def file_size(arrays: Mapping[str, Array], card: Card, policy: Policy, features: Sequence[str]) -> int:
    """Return how many bytes `write_model` would write."""
    layout = list(_padded(arrays))
    return 8 + len(_encoded(layout, card, policy, features)) + sum(len(array.data) for _, array in layout)


def _encoded(layout: list[tuple[str, Array]], card: Card, policy: Policy, features: Sequence[str]) -> bytes:
    """Return the header of a model file, without its length."""
    metadata = {
        "halfword": str(FORMAT),
        **blank_digest(),
        "checksums": json.dumps({name: checksum(array.data) for name, array in layout}),
        "card": json.dumps(card.to_json(), ensure_ascii=False),
        "policy": json.dumps(policy.to_json()),
        "features": " ".join(features),
    }
    header: dict[str, Any] = {"__metadata__": metadata}
    offset = 0
    for name, array in layout:
        size = len(array.data)
        shape = array.shape or (size // _ITEM_SIZE[array.dtype],)
        header[name] = {"dtype": array.dtype, "shape": list(shape), "data_offsets": [offset, offset + size]}
        offset += size
    encoded = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    return encoded + b" " * (-len(encoded) % _ALIGNMENT)


def _padded(arrays: Mapping[str, Array]) -> Iterator[tuple[str, Array]]:
    ordered = sorted(arrays.items(), key=lambda item: (-_ITEM_SIZE[item[1].dtype], item[0]))
    for number, (name, array) in enumerate(ordered):
        yield name, array
        missing = -len(array.data) % _ALIGNMENT
        if missing:
            yield f"{PADDING}{number}", Array("U8", bytes(missing))


def read_header(path: Path) -> Header:
    """Read and check the header of a model file; the arrays stay where they are."""
    try:
        with open_regular(path) as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
            return _parse(path, mapped)
    except FileNotFoundError:
        raise ModelFileError(f"{path} does not exist; make a model with: halfword train data/ -o {path}") from None
    except IsADirectoryError:
        raise ModelFileError(f"{path} is a folder, a model is a file") from None
    except OSError as error:
        raise ModelFileError(f"{path} cannot be read ({error.strerror})") from error
    except ValueError as error:  # an empty file cannot be mapped
        raise _foreign(path, "it is empty") from error


def _parse(path: Path, mapped: mmap.mmap) -> Header:
    size = len(mapped)
    length = int.from_bytes(mapped[:8], "little")
    if size < 8 or length > _LONGEST_HEADER or not mapped[8:9] == b"{":
        raise _foreign(path, "it does not begin like one")
    if 8 + length > size:
        raise _damaged(path, f"its header of {length} bytes is cut off")
    try:
        header = json.loads(mapped[8 : 8 + length])
    except (ValueError, RecursionError):
        raise _damaged(path, "its header is not JSON") from None
    metadata = _metadata_of(path, header)
    digest, checksums = _checksums_of(path, metadata, mapped[: 8 + length])
    card, policy = _json_object(path, metadata, "card"), _json_object(path, metadata, "policy")
    places = {
        name: _place_of(path, name, entry, 8 + length, size, checksums.get(name, "")) for name, entry in header.items()
    }
    if checksums and size != max(place.end for place in places.values()):
        raise _damaged(path, "there are bytes behind its last array")
    try:
        features = tuple(metadata.get("features", "").split())
        return Header(Card.from_json(card), places, Policy.from_json(policy), features, digest)
    except OptionError as error:
        raise _damaged(path, f"in its card, {error}") from None
    except ModelFileError as error:
        raise _damaged(path, str(error)) from None


def _metadata_of(path: Path, header: dict[str, Any]) -> dict[str, str]:
    """Take the metadata out of the header, and refuse files of other programs and versions."""
    metadata = header.pop("__metadata__", None)
    if not isinstance(metadata, dict) or "halfword" not in metadata:
        raise _foreign(path, "it is a safetensors file of another program")
    if metadata["halfword"] != str(FORMAT):
        found = metadata["halfword"]
        raise ModelFileError(
            f"{path}: format {found}, this build reads {FORMAT}; make it anew with: halfword train DATA -o {path}"
        )
    if not all(isinstance(value, str) for value in metadata.values()):
        raise _damaged(path, "its metadata are not texts")
    return metadata


def _checksums_of(path: Path, metadata: Mapping[str, str], header: bytes) -> tuple[str, dict[str, str]]:
    """Return the digest of the header and the checksums of the arrays, of which old files have none."""
    if "digest" not in metadata and "checksums" not in metadata:
        return digest_of([header]), {}
    if not is_sealed_by(metadata.get("digest"), header):
        raise _damaged(path, "its header does not match its digest")
    return metadata["digest"], _json_object(path, metadata, "checksums")


def _json_object(path: Path, metadata: Mapping[str, str], name: str) -> dict[str, Any]:
    try:
        value = json.loads(metadata[name])
    except (KeyError, ValueError, RecursionError):
        raise _damaged(path, f"its {name} is not JSON") from None
    if not isinstance(value, dict):
        raise _damaged(path, f"its {name} is not a JSON object")
    return value


def _place_of(path: Path, name: str, entry: Any, start: int, size: int, checksum: str) -> Place:
    match entry:
        case {"dtype": str(dtype), "shape": list(shape), "data_offsets": [int(begin), int(end)]}:
            sizes_fit = len(shape) <= 8 and all(isinstance(length, int) and 0 <= length <= size for length in shape)
            if dtype in _ITEM_SIZE and sizes_fit and end - begin == math.prod(shape) * _ITEM_SIZE[dtype] and begin >= 0:
                if start + end > size:
                    raise _damaged(path, f"the array {name} is cut off")
                return Place(dtype, tuple(shape), start + begin, start + end, checksum)
    raise _damaged(path, f"the entry of the array {name} makes no sense")


def _foreign(path: Path, reason: str) -> ModelFileError:
    return ModelFileError(f"{path} is not a model file: {reason}; make one with: halfword train data/ -o my.halfword")


def _damaged(path: Path, reason: str) -> ModelFileError:
    return ModelFileError(f"{path} is damaged: {reason}; copy or train it again")
