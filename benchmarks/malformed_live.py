"""Requests for live changes with something wrong in them, for fuzz_http.py: the key is right, what is asked is not."""

import json
import random
from typing import Any
from urllib.parse import quote

from malformed import TOKENS, damage

KEY = b"secret"
TEXTS = (
    "new york",
    "a",
    "Zebra Café/Bar",
    "東京",
    "x" * 999,
    "x" * 1001,
    " ",
    "%",
    "ann@example.com",
    "\u202e\ufdfa" * 60,
    "\0",
)
VALUES: tuple[Any, ...] = (
    0,
    1,
    -1,
    1e9,
    1e10,
    1e400,
    2**64,
    0.5,
    True,
    None,
    "",
    "1",
    [],
    {},
    [[]] * 50,
    "\ud800",
    float("nan"),
)
NAMES = (
    "typed",
    "weight",
    "boost",
    "allowed",
    "pin",
    "unpin",
    "queries",
    "text",
    "client",
    "prefix",
    "position",
    "other",
)


def live_request(chance: random.Random) -> bytes:
    """Return a request for a live change, whose content, address or bytes are mostly wrong."""
    text = quote(chance.choice(TEXTS), safe="", errors="surrogatepass").encode()
    line, content = chance.choice(
        (
            (b"PUT /queries/%s" % text, _changes(chance)),
            (b"DELETE /queries/%s?beginning=%s" % (text, chance.choice((b"true", b"false", b"", b"1"))), None),
            (b"POST /typed", {"queries": [_typed(chance) for _ in range(chance.choice((0, 1, 3, 101)))]}),
            (b"POST /accepted", {chance.choice(("text", *NAMES)): chance.choice((*TEXTS, *VALUES))}),
            (b"GET /live?after=%s&n=%d" % (text, chance.choice((-1, 0, 1, 1000, 1001, 10**30))), None),
            (
                b"GET /live/journal?file=%s&from=%d&last=%s"
                % (
                    text,
                    chance.choice((0, 1, 16, 10**17, 10**19)),
                    chance.choice((b"", b"00" * 16, b"ff" * 16, b"zz")),
                ),
                None,
            ),
        )
    )
    body = b"" if content is None else json.dumps(content).encode()
    if chance.random() < 0.5:
        body = bytes(damage(bytearray(body or b"{}"), chance, [body, *TOKENS]))
    head = b"%s HTTP/1.1\r\nHost: localhost\r\nX-API-Key: %s\r\n" % (line, KEY)
    head += b"X-Forwarded-For: %s\r\n" % any_client(chance)  # or all would be refused for the wrong keys of some
    raw = bytearray(head + (b"Content-Length: %d\r\n\r\n%s" % (len(body), body)))
    return bytes(damage(raw, chance, TOKENS) if chance.random() < 0.5 else raw)


def any_client(chance: random.Random) -> bytes:
    """Return an address."""
    return b"10.%d.%d.%d" % (chance.randrange(256), chance.randrange(256), chance.randrange(256))


def _changes(chance: random.Random) -> Any:
    fields = {chance.choice(NAMES): chance.choice(VALUES) for _ in range(chance.randrange(4))}
    if chance.random() < 0.3:
        fields["pin"] = {"prefix": chance.choice((*TEXTS, *VALUES)), "position": chance.choice(VALUES)}
    return chance.choice((fields, fields, fields, [fields], "typed", 3))


def _typed(chance: random.Random) -> Any:
    query = {"text": chance.choice(TEXTS), "client": str(chance.randrange(20))}
    if chance.random() < 0.3:
        query[chance.choice(NAMES)] = chance.choice(VALUES)
    return query
