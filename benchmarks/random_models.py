"""Models of every kind with random weights, whole and damaged, for fuzz.py and threads.py."""

import itertools
import random
import re
import struct
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from tests.toy import PIECES, Toy, write_toy

from halfword.core.checksums import sealed
from halfword.core.model_file import Array, Place, read_header, write_model
from halfword.core.policy import DEFAULT_POLICY, LIMITS, Policy
from halfword.search.model import PARTS, import_engine
from halfword.training.ngram import NgramOptions

KINDS = [parts for size in (1, 2, 3) for parts in itertools.combinations(PARTS, size)]
ALPHABETS = (
    "abcd ",
    "a",
    "abcd é한국😀 ",
    ("http://", "www.", "a", "bb", "cab", " ", "-", ".com", "é"),
    "".join(map(chr, range(1, 0x250))),
    "".join(map(chr, range(0xD700, 0xE100))),
)
MANY_PIECES = (*PIECES, *map("".join, itertools.product("efghijklmnopqrstu", repeat=3)))  # too many for 16 bits
# Each piece begins and ends like all others, up to the longest that is allowed: the most work for whoever cuts a text.
LONG_PIECES = tuple(
    letter * length
    for letter in "a▁"
    for length in (1, 2, 3, 50, 80, *range(100, 256, 5), 256)
    if length * len(letter.encode()) <= 256
)
FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, 1e-45, 1e-30, 1e12, 3e38, -3e38, float("inf"), float("-inf"), float("nan"))
WHOLE_NUMBERS = (0, 1, 2, 63, 64, 0x7FFFFFFF, 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF)
FORMATS = {"U64": "<Q", "F32": "<f", "U32": "<I", "U16": "<H", "I8": "<b", "U8": "<B"}


def random_text(chance: random.Random, longest: int = 40) -> str:
    """Return arbitrary characters, including lone surrogates."""
    length = chance.choice([0, 1, 2, 5, 8, 12, longest])
    return "".join(chance.choices(chance.choice(ALPHABETS), k=min(length, longest)))


def random_toy(chance: random.Random, parts: tuple[str, ...]) -> Toy:
    """Draw the shape of a model with these parts."""
    many = chance.random() < 0.02
    pieces = MANY_PIECES if many else tuple(chance.sample(PIECES, chance.randint(1, len(PIECES))))
    if chance.random() < 0.05:
        pieces = LONG_PIECES
    counts = _random_counts(chance, fewest=1 if "ngram" in parts else 0)
    return Toy(
        parts=parts,
        segmentation=chance.choice(["char", "bpe", "unigram"]),
        hidden=chance.choice([1, 12] if many else [1, 12, 40]),
        layers=chance.randint(1, 2),
        summary=chance.choice([0, 0, 1, 5, 150]),
        pieces=pieces,
        spread=chance.choice([0.1, 2.0, 30.0]),
        seed=chance.randrange(1000),
        counts=counts,
        memory=NgramOptions(order=chance.randint(2, 8), megabytes=chance.choice([None, None, 1e-6, 0.002, 0.01])),
        words=chance.random() < 0.7,
        spellings=chance.random() < 0.7,
        arrays=_random_arrays(chance),
        policy=_random_policy(chance),
        mistakes=chance.random() < 0.7,
        order=chance.choice([0, 1, 5, 64]),
        pinyin=_random_pinyin(chance, counts),
        endings=chance.choice(
            [(), (("", "s"), ("s", "")), (("a", "é"), ("", "한"), ("c", ""), ("a-", "-"), ("-", "é-"))]
        ),
        ending=chance.choice([0.0, 5.0, 100.0]),
        pointer=chance.choice([0, 1, 5, 64]),
    )


def _random_counts(chance: random.Random, fewest: int) -> dict[str, int]:
    """Return queries and counts; often exactly as many as fill the last bucket of the index."""
    number = chance.choice([fewest, 1, 16, 32, chance.randint(fewest, 300)])
    drawn = (random_text(chance, 60).encode("utf-8", "ignore").decode() for _ in range(number))
    most = chance.choice([3, 2**32 - 1])
    return {query: chance.randint(1, most) for query in dict.fromkeys([*drawn, *["ab"] * fewest])}


def _random_pinyin(chance: random.Random, counts: dict[str, int]) -> dict[str, list[str]]:
    """Return what is typed for every character of some queries, often of none."""
    share = chance.choice([0.0, 0.3, 1.0])
    chosen = (query for query in counts if chance.random() < share)
    return {query: [chance.choice(["a", "ba", "cab", letter]) for letter in query] for query in chosen}


def _random_arrays(chance: random.Random) -> dict[str, list[float]]:
    """Return weights of the ranker and of the mixture that are allowed, but unusual."""
    arrays: dict[str, list[float]] = {}
    if chance.random() < 0.5:
        arrays["mixture.network_weight"] = [chance.choice([0.0, 1.0, chance.random()]) for _ in range(32)]
    if chance.random() < 0.5:
        share = [0.0, 0.999, chance.random()]
        factor = [0.0, 2.0, 9e5]
        arrays["ranker.mixture"] = [
            chance.choice(share), chance.choice(factor), chance.random(), chance.choice([1e-30, 1.0, 9e5]),
            chance.choice(share), chance.choice(share),
        ]  # fmt: skip
    if chance.random() < 0.3:
        arrays["ranker.none"] = [chance.choice([0.0, 9e5, -9e5]) for _ in range(import_engine().PREFIX_FEATURES + 1)]
    return arrays


def _random_policy(chance: random.Random) -> Policy:
    """Return the default policy with some numbers at their limits."""
    names = chance.sample(sorted(LIMITS), chance.choice([0, 0, 1, 3]))
    return replace(DEFAULT_POLICY, **{name: float(chance.choice(LIMITS[name])) for name in names})


def random_model(path: Path, chance: random.Random, parts: tuple[str, ...]) -> None:
    """Write a model with these parts."""
    write_toy(path, random_toy(chance, parts))


def damage(path: Path, chance: random.Random) -> None:
    """Damage a model file in one or two ways."""
    for harm in chance.choices(HARMS, k=chance.randint(1, 2)):
        harm(path, chance)


def _overwrite_bytes(path: Path, chance: random.Random) -> None:
    """Overwrite some bytes, most often inside one array, or cut the file short."""
    content = bytearray(path.read_bytes())
    place = _any_place(path, chance)
    for _ in range(chance.randint(1, 30)):
        begin, end = (place.begin, place.end) if chance.random() < 0.9 else (0, len(content))
        content[chance.randrange(begin, end)] = chance.choice([0, 255, chance.randrange(256)])
    path.write_bytes(_with_digest(content if chance.random() < 0.9 else content[: chance.randrange(len(content))]))


def _with_digest(content: bytearray) -> bytes:
    """Write the digest of the header anew, as somebody would who damages a file on purpose."""
    length = 8 + int.from_bytes(content[:8], "little")
    blank = re.sub(rb'"digest":"[^"]{16}"', b'"digest":"%s"' % (b"0" * 16), bytes(content[:length]), count=1)
    return sealed(blank) + content[length:]


def _overwrite_numbers(path: Path, chance: random.Random) -> None:
    """Write unexpected numbers into one array."""
    content = bytearray(path.read_bytes())
    place = _any_place(path, chance)
    layout = FORMATS[place.dtype]
    size = struct.calcsize(layout)
    for _ in range(chance.choice([1, 3, (place.end - place.begin) // size])):
        number = chance.choice(FLOATS) if layout == "<f" else chance.choice(WHOLE_NUMBERS) & (2 ** (8 * size) - 1)
        signed = number - 256 if layout == "<b" and number > 127 else number
        struct.pack_into(layout, content, chance.randrange(place.begin, place.end - size + 1, size), signed)
    path.write_bytes(content)


def _any_place(path: Path, chance: random.Random) -> Place:
    """Choose a part, then one of its arrays, so that small arrays are chosen as often as large ones."""
    places = {name: place for name, place in read_header(path).places.items() if place.end > place.begin}
    part = chance.choice(sorted({name.partition(".")[0] for name in places} - {"padding"}))
    return places[chance.choice([name for name in sorted(places) if name.startswith(f"{part}.")])]


def _rewrite_array(path: Path, chance: random.Random) -> None:
    """Write the model again with one array of another length, of another type, or missing."""
    header, arrays = read_header(path), _arrays_of(path)
    name = chance.choice(sorted(arrays))
    dtype, data = arrays[name].dtype, arrays[name].data
    way = chance.choice(["length", "length", "type", "missing"])
    if way == "length":
        arrays[name] = Array(dtype, data[: 8 * chance.randint(0, len(data) // 8)] + bytes(8 * chance.randint(0, 2)))
    elif way == "type":
        arrays[name] = Array(chance.choice(sorted(FORMATS)), data + bytes(-len(data) % 8))
    else:
        del arrays[name]
    write_model(path, arrays, header.card, policy=header.policy, features=header.features)


def _exchange_part(path: Path, chance: random.Random) -> None:
    """Write the model again with one part of another model, which may have other pieces."""
    header, arrays = read_header(path), _arrays_of(path)
    other = path.with_name("other.halfword")
    random_model(other, chance, PARTS)
    part = chance.choice(sorted({name.partition(".")[0] for name in arrays}))
    arrays = {name: array for name, array in arrays.items() if not name.startswith(f"{part}.")}
    arrays |= {name: array for name, array in _arrays_of(other).items() if name.startswith(f"{part}.")}
    write_model(path, arrays, header.card, policy=header.policy, features=header.features)


def _swell_header(path: Path, chance: random.Random) -> None:
    """Make the header long, deep, or full of long numbers, as somebody would who wants to keep its reader busy."""
    content = path.read_bytes()
    length = int.from_bytes(content[:8], "little")
    header, rest = content[8 : 8 + length].rstrip(), content[8 + length :]
    size = chance.choice((*(1000, 100_000) * 10, 3_900_000, 50_000_000))
    header = chance.choice(
        (
            header + b" " * size,
            header[:-1] + b',"x":' + b"[" * size + b"]" * size + b"}",
            header[:-1] + b',"x":' + b"9" * size + b"}",
            re.sub(rb'"shape":\[\d+', b'"shape":[' + b"9" * min(size, 100_000), header, count=chance.choice((1, 0))),
            header[:-1] + b"".join(b',"%d":0' % number for number in range(size // 10)) + b"}",
        )
    )
    header += b" " * (-len(header) % 8)
    path.write_bytes(_with_digest(bytearray(len(header).to_bytes(8, "little") + header + rest)))


def _lengthen_piece(path: Path, chance: random.Random) -> None:
    """Write the model again with one piece of very many characters."""
    header, arrays = read_header(path), _arrays_of(path)
    if not {"pieces.text", "pieces.begin"} <= arrays.keys() or len(arrays["pieces.begin"].data) < 8:
        return
    more, begins = chance.choice((253, 1000, 46_000, 1_000_000)), arrays["pieces.begin"]
    arrays["pieces.text"] = Array("U8", arrays["pieces.text"].data + b"a" * more)
    last = int.from_bytes(begins.data[-4:], "little") + more
    arrays["pieces.begin"] = Array(begins.dtype, begins.data[:-4] + (last % 2**32).to_bytes(4, "little"))
    write_model(path, arrays, header.card, policy=header.policy, features=header.features)


def _arrays_of(path: Path) -> dict[str, Array]:
    header, content = read_header(path), path.read_bytes()
    return {
        name: Array(place.dtype, content[place.begin : place.end])
        for name, place in header.places.items()
        if not name.startswith("padding")
    }


HARMS: tuple[Callable[[Path, random.Random], None], ...] = (
    _overwrite_bytes,
    _overwrite_numbers,
    _overwrite_numbers,
    _rewrite_array,
    _exchange_part,
    _swell_header,
    _lengthen_piece,
)
