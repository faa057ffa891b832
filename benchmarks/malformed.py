"""Malformed HTTP for fuzz_http.py: valid requests with bytes flipped, cut, repeated, inserted or swapped."""

import random
from collections.abc import Sequence

BODY = b'{"prefixes": ["new yo", "wea"], "n": 3}'
SUGGEST = b'{"suggest": {"a": {"prefix": "new", "completion": {"field": "q", "size": 3}}}}'
SEEDS = [
    b'GET /complete?q=new+yo&n=10 HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\nIf-None-Match: W/"0"\r\n\r\n',
    b"GET /suggest?q=%E2%82%AC&pad=000 HTTP/1.1\r\nHost: localhost\r\nConnection: keep-alive\r\n\r\n",
    b"HEAD /docs HTTP/1.0\r\n\r\n",
    b"OPTIONS /complete HTTP/1.1\r\nHost: localhost\r\nOrigin: http://x\r\n\r\n",
    b"POST /complete HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n%s"
    % (len(BODY), BODY),
    b"POST /a/_search HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s" % (len(SUGGEST), SUGGEST),
    b"POST /complete HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n"
    % (len(BODY), BODY),
    b"GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: x\r\n\r\n",
]
TOKENS = [b"\r\n", b"\n", b"\0", b"\xff", b"%", b"%zz", b"%00", b"..", b"//", b":", b"; ", b"Content-Length: 9\r\n"]
TOKENS += [
    b"Transfer-Encoding: chunked\r\n",
    b"HTTP/1.1",
    b"HTTP/2.0",
    b"\xed\xa0\x80",
    b"9" * 30,
    b"a" * 5000,
    b"[" * 2000,
    b"%EF%B7%BA" * 60,  # a character that normalisation makes eighteen of
    b"%CC%81" * 150,  # accents upon accents
    "\u202e\ufdfa".encode() * 50,
]


def damaged(chance: random.Random) -> bytes:
    """Return a request, or several, with one to eight things wrong."""
    return bytes(damage(bytearray(b"".join(chance.choices(SEEDS, k=chance.choice((1, 1, 1, 2, 5))))), chance, SEEDS))


def damage(raw: bytearray, chance: random.Random, others: Sequence[bytes]) -> bytearray:
    """Do one to eight things to some bytes; pieces of `others` are mixed in."""
    for _ in range(chance.randint(1, 8)):
        at = chance.randrange(len(raw) + 1)
        kind = chance.randrange(5)
        if kind == 0 and at < len(raw):
            raw[at] = chance.randrange(256)
        elif kind == 1:
            del raw[at : at + chance.choice((1, 2, 8, 64))]
        elif kind == 2:
            raw[at:at] = chance.choice(TOKENS)
        elif kind == 3:
            raw[at:at] = raw[at : at + 40] * chance.randint(1, 50)
        else:
            other = chance.choice(others) or b"{"
            raw[at:at] = other[chance.randrange(len(other)) :][:60]
    return raw
