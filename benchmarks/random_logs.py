"""Query logs of every format with anything in them, whole and damaged, for fuzz_logs.py."""

import csv
import gzip
import io
import json
import random
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet

WORDS = ("new york", "weather", "naïve", "東京 天気", "ﷺ", "ไทย", "İstanbul", "straße", "e\u0301", "😀\u200d😀")
ODD = (
    "\0",
    "\x1b]0;x\x07",
    "\x85",
    "\u2028",
    "\u202e",
    "\u200b",
    "\x1c",
    "\x0b",
    "\x0c",
    "\ufeff",
    "\u2581",
    *"\"'\\\t",
)
PERSONAL = ("joe@example.com", "joe%40example.com", "+1 (212) 555-0199", "078-05-1120", "4111 1111 1111 1111", "::1")
# Repeated, each of these has made a pattern or a parser slow somewhere.
REPEATED = ("1", "a", "@", "a.", "1-", " ", "a@", "1 ", "\u0301", "\u200d", "ﷺ", "http://", "%40", '"', "[", '{"a":')
HEADERS = {
    "query": (*("query", "Query", "search_term", "q") * 5, "nothing known"),
    "user": ("AnonID", "user_id", "user"),
    "time": ("QueryTime", "timestamp", "date"),
    "count": ("count", "freq"),
}
COUNTS = {"1": 50, "7": 20, str(2**53 - 1): 2, "0": 0.5, "-1": 0.5, "1e3": 0.5, "9" * 30: 0.5}
LONGEST_CELL = 300_000  # characters
BOMB_BYTES = 100 << 20  # unpacked
ORDERED = (
    (b"user\tquery\n", b"7\tnew york\n"),
    (b"time\tquery\n", b"2006-03-01 07:17:12\tnew york\n"),
    (b"user\ttime\tquery\n", b"7\t2006-03-01 07:17:12\tnew york\n"),
    (b"", b'{"query": "new york", "user": "7"}\n'),
)
CODECS = {"utf-8": 20, "utf-8-sig": 3, "utf-16": 1, "latin-1": 1, "cp1252": 1, "utf-7": 1, "utf-32-le": 1}
TOKENS = (
    *(
        b"\0",
        b"\xff\xfe",
        b"\r",
        b"\r\n",
        b"\n\n\n",
        b'"',
        b'""',
        b"\t" * 50,
        b"," * 5000,
        b"\xed\xa0\x80",
        b"[" * 50_000,
    ),
    *(b'{"query": ' * 20_000, b"PAR1", b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd", b"9" * 5000, b"1e999", b"NaN"),
)

Row = dict[str, Any]


def random_query(chance: random.Random) -> str:
    """Return what somebody may have typed, or what only an enemy would."""
    kind = chance.random()
    if kind < 0.6:
        return " ".join(chance.choices(WORDS, k=chance.randint(1, 4)))
    if kind < 0.75:
        return "".join(chance.choices([*WORDS, *ODD], k=chance.randint(1, 8)))
    if kind < 0.85:
        return f"{chance.choice(WORDS)} {chance.choice(PERSONAL)} {chance.choice(ODD)}"
    if kind < 0.999:
        return "".join(chr(chance.choice((chance.randrange(0xD800), 0x1F600))) for _ in range(chance.randint(0, 30)))
    long = (chance.choice(REPEATED) * LONGEST_CELL)[: chance.choice((500, 40_000, LONGEST_CELL))]
    return chance.choice(("", "a", "@")) + long + chance.choice(("", "@", "x"))


def random_time(chance: random.Random, year: int) -> str:
    """Return a time, written somehow."""
    moment = datetime(year, 1, 1, tzinfo=UTC) + timedelta(seconds=chance.randint(0, 10**7))
    seconds = int(moment.timestamp())
    ways = {f"{moment:%Y-%m-%d %H:%M:%S}": 60, moment.isoformat(): 10, str(seconds): 10, f"{seconds}000": 5}
    return drawn(
        ways | {f"{seconds}.5": 5, "soon": 0.5, "": 0.5, "1" * 19: 0.5, f"{year}-12-31T24:00:00-23:59": 0.5}, chance
    )


def drawn(weights: Mapping[str, float], chance: random.Random) -> str:
    """Draw a key by its weight."""
    return chance.choices(list(weights), list(weights.values()))[0]


def random_rows(chance: random.Random) -> list[Row]:
    """Return rows with some of the columns, each under one of its names."""
    names = {field: chance.choice(known) for field, known in HEADERS.items()}
    year = chance.choice((1, 1969, 2006, 2006, 2026, 9999))
    makers: dict[str, Callable[[], str]] = {
        "query": lambda: random_query(chance),
        "user": lambda: chance.choice(("1", "2", "", "x" * 1000, "\0")),
        "time": lambda: random_time(chance, year),
        "count": lambda: drawn(COUNTS, chance),
    }
    optional = [field for field in ("user", "time", "count") if chance.random() < 0.4]
    fields = chance.sample(["query", *optional], k=len(optional) + 1)
    number = chance.choice((0, 1, 5, 50, 50, 50, 400, 400, 400))
    return [{names[field]: makers[field]() for field in fields} for _ in range(number)]


def as_table(rows: list[Row], chance: random.Random, delimiter: str) -> str:
    """Write rows with a delimiter, mostly with quotes where they are needed."""
    stream, end = io.StringIO(), chance.choice(("\n", "\n", "\n", "\r\n", "\r"))
    writer = csv.writer(
        stream,
        delimiter=delimiter,
        quoting=csv.QUOTE_MINIMAL if chance.random() < 0.8 else csv.QUOTE_ALL,
        lineterminator=end,
    )
    if rows and chance.random() < 0.97:
        writer.writerow(rows[0])
    writer.writerows(row.values() for row in rows)
    return stream.getvalue()


def as_json(rows: list[Row], chance: random.Random) -> str:
    """Write JSON lines; some values are of other types than text."""
    odd: tuple[Any, ...] = (None, True, 1, 1.5, 10**400, [], {"a": [1]}, "\ud800", "")
    changed = [row | ({chance.choice(list(row)): chance.choice(odd)} if chance.random() < 0.02 else {}) for row in rows]
    ascii_only = chance.random() < 0.5
    lines = (json.dumps(row, ensure_ascii=ascii_only or "\ud800" in row.values()) for row in changed)
    return "".join(f"{line}\n" for line in lines)


def as_plain(rows: list[Row], chance: random.Random) -> str:
    """Write one query per line."""
    return "\n".join(str(next(iter(row.values()))) for row in rows)


def as_parquet(rows: list[Row], chance: random.Random) -> bytes:
    """Write a Parquet file; columns may have any type that their values allow."""
    sink = pa.BufferOutputStream()
    columns = {name: _typed(pa.array([row[name] for row in rows]), chance) for name in (rows[0] if rows else ["query"])}
    parquet.write_table(pa.table(columns), sink, row_group_size=chance.choice((10, 100, 10_000)))
    return sink.getvalue().to_pybytes()


def _typed(column: Any, chance: random.Random) -> Any:
    kinds = (
        pa.large_string(),
        pa.binary(),
        pa.int64(),
        pa.float64(),
        pa.timestamp("ns"),
        pa.date32(),
        pa.list_(pa.string()),
    )
    try:
        column = column if chance.random() < 0.5 else column.cast(chance.choice(kinds))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return column
    return column.dictionary_encode() if chance.random() < 0.2 and not pa.types.is_list(column.type) else column


def damaged(raw: bytes, chance: random.Random) -> bytes:
    """Return bytes with one to six things wrong."""
    changed = bytearray(raw)
    for _ in range(chance.randint(1, 6)):
        place, kind = chance.randrange(len(changed) + 1), chance.randrange(5)
        if kind == 0 and place < len(changed):
            changed[place] = chance.randrange(256)
        elif kind == 1:
            del changed[place : place + chance.choice((1, 8, 1000))]
        elif kind == 2:
            changed[place:place] = chance.choice(TOKENS)
        elif kind == 3:
            changed[place:place] = changed[place : place + 200] * chance.choice((2, 100))
        elif chance.random() < 0.2:
            changed[place:] = chance.randbytes(chance.choice((100, 10_000)))
    return bytes(changed)


def bomb(chance: random.Random) -> bytes:
    """Return much that packs into little: many rows, one endless line, or nothing but line ends."""
    unit = chance.choice((b"\0", b"a", b"\n", b"new york\n", b'"', b"a,b\n", b"\t", b"[", b'{"query": "new york"}\n'))
    header = chance.choice((b"", b"query\n", b"query,count\n"))
    if chance.random() < 0.3:  # so many rows of one user, or of one moment, have to be sorted together
        header, unit = chance.choice(ORDERED)
    size = chance.choice((1 << 20, 20 << 20, BOMB_BYTES))
    return header + unit * (size // len(unit))


def content(chance: random.Random) -> tuple[str, bytes]:
    """Return the suffix and the bytes of a log before it is packed."""
    kind, rows = chance.random(), random_rows(chance)
    suffix = chance.choice((".csv", ".tsv", ".jsonl", ".parquet", ".txt"))
    if kind < 0.01:
        return suffix, bomb(chance)
    if kind < 0.03:
        return suffix, chance.randbytes(chance.choice((10, 1000, 10**6)))
    raw = as_parquet(rows, chance) if suffix == ".parquet" else as_text(suffix, rows, chance)
    return suffix if kind < 0.95 else chance.choice((".csv", ".json", ".txt", "", ".parquet")), raw


def as_text(suffix: str, rows: list[Row], chance: random.Random) -> bytes:
    """Write rows in the format that the suffix stands for, in any encoding."""
    if suffix == ".csv":
        text = as_table(rows, chance, chance.choice(",,;|"))
    elif suffix == ".tsv":
        text = as_table(rows, chance, "\t")
    else:
        text = as_json(rows, chance) if suffix == ".jsonl" else as_plain(rows, chance)
    return text.encode(drawn(CODECS, chance), "replace")


def packed(suffix: str, raw: bytes, chance: random.Random) -> tuple[str, bytes]:
    """Return a log packed in one of the ways that are read, or in a wrong one."""
    way = chance.random()
    if way < 0.7:
        return suffix, raw
    if way < 0.85:
        half = len(raw) // 2
        parts = [raw] if chance.random() < 0.7 else [raw[:half], raw[half:]]  # a file of several members
        return f"{suffix}.gz", b"".join(gzip.compress(part, 1) for part in parts)
    if way < 0.95:
        return f"{suffix}.zst", pa.compress(raw, codec="zstd", asbytes=True)
    return suffix + chance.choice((".gz", ".zst", ".zip", "")), chance.choice((raw, gzip.compress(raw, 1)))


def write_log(folder: Path, chance: random.Random) -> int:
    """Write one to three files and return how many bytes they have unpacked."""
    folder.mkdir()
    size = 0
    for number in range(chance.choice((1,) * 9 + (2, 3))):
        suffix, raw = content(chance)
        raw = damaged(raw, chance) if chance.random() < 0.3 else raw
        name, data = packed(suffix, raw, chance)
        data = damaged(data, chance) if chance.random() < 0.05 else data
        (folder / f"{number}{name}").write_bytes(data)
        size += len(raw)
    return size
