"""Who may ask, and how often."""

import hashlib
import hmac
import ipaddress
import mmap
from pathlib import Path
from time import monotonic
from typing import Any

from halfword.core.errors import OptionError
from halfword.serve.http.reply import refuse, retry_after


class ApiKeys:
    """Keys, one a line of a file. What is kept and compared are digests, all of one length."""

    def __init__(self, path: Path) -> None:
        try:
            lines = path.read_text(encoding="utf-8").split()
        except (OSError, UnicodeDecodeError) as error:
            raise OptionError(f"{path}: the API keys cannot be read ({error})") from error
        if not lines:
            raise OptionError(f"{path}: there is no API key in it; write a key a line")
        self._digests = [hashlib.sha256(line.encode()).digest() for line in lines]

    def check(self, authorization: bytes | None, plain: bytes | None) -> None:
        """Raise unless `Authorization: Bearer KEY` or `X-API-Key: KEY` holds a key."""
        scheme, _, key = (authorization or b"").partition(b" ")
        given = hashlib.sha256(key.strip() if scheme.lower() == b"bearer" else plain or b"").digest()
        # Every key is compared whole, so that the time tells nothing.
        if not sum(hmac.compare_digest(given, digest) for digest in self._digests):
            challenge = [(b"www-authenticate", b"Bearer")]
            raise refuse("unauthorized", "an API key is needed; send it as Authorization: Bearer KEY", challenge)


class RateLimit:
    """So many requests a second of each client, with a second's worth at once; all workers count together.

    For each client one number is kept: when its bucket would be full again (the generic cell rate algorithm). The
    table has a fixed size in shared memory: no number of clients can fill it up, the longest silent gives way.
    """

    SETS, WAYS = 16_384, 4

    def __init__(self, rate: float) -> None:
        self._interval = 1 / rate
        self._burst = max(1.0, rate) * self._interval
        memory = memoryview(mmap.mmap(-1, self.SETS * self.WAYS * 16))
        half = self.SETS * self.WAYS * 8
        self._clients: Any = memory[:half].cast("q")
        self._full: Any = memory[half:].cast("d")

    def check(self, client: str) -> None:
        """Raise when `client` has asked too often."""
        now = monotonic()
        place = self._place_of(hash(client))
        full = max(self._full[place], now)
        if full + self._interval - now > self._burst + 1e-9:
            wait = full + self._interval - now - self._burst
            raise refuse("rate_limited", "you ask too often; wait and ask again", retry_after(wait))
        self._full[place] = full + self._interval

    def _place_of(self, client: int) -> int:
        first = client % self.SETS * self.WAYS
        places = range(first, first + self.WAYS)
        for place in places:
            if self._clients[place] == client:
                return place
        oldest = min(places, key=self._full.__getitem__)
        self._clients[oldest] = client
        self._full[oldest] = 0.0
        return oldest


def client_of(peer: str, forwarded: bytes | None, trusted: tuple[str, ...]) -> str:
    """Return the client's address: the last of X-Forwarded-For that no trusted proxy has, if a trusted one asks.

    >>> client_of("127.0.0.1", b"6.6.6.6, 1.2.3.4", ("127.0.0.1",))
    '1.2.3.4'
    >>> client_of("9.9.9.9", b"1.2.3.4", ("127.0.0.1",))
    '9.9.9.9'
    """
    if peer in trusted and forwarded is not None:
        for hop in reversed(forwarded.decode("latin-1").split(",")):
            if hop.strip() not in trusted:
                return _network_of(hop.strip())
    return _network_of(peer)


def _network_of(address: str) -> str:
    """An IPv6 client owns a /64 at least, so that is what is counted."""
    if ":" not in address:
        return address
    try:
        return str(ipaddress.ip_network((address, 64), strict=False).network_address)
    except ValueError:
        return address
