"""Who may ask, by which name, and how often."""

import hashlib
import hmac
import ipaddress
import mmap
import re
from collections.abc import Collection
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network, ip_address
from pathlib import Path
from time import monotonic
from typing import Any

from halfword.core.errors import OptionError
from halfword.serve.http.reply import refuse, retry_after

_PORT = re.compile(rb"\.?(?::\d+)?$")  # and the dot that may end a full name


class ApiKeys:
    """Keys, one a line of a file. What is kept and compared are digests, all of one length."""

    def __init__(self, path: Path) -> None:
        self._digests = [hashlib.sha256(line.encode()).digest() for line in _keys_of(path)]

    def check(self, authorization: bytes | None, plain: bytes | None) -> None:
        """Raise unless `Authorization: Bearer KEY` or `X-API-Key: KEY` holds a key."""
        scheme, _, key = (authorization or b"").partition(b" ")
        given = hashlib.sha256(key.strip() if scheme.lower() == b"bearer" else plain or b"").digest()
        # Every key is compared whole, so that the time tells nothing.
        if not sum(hmac.compare_digest(given, digest) for digest in self._digests):
            challenge = [(b"www-authenticate", b"Bearer")]
            problem = "an API key is needed" if authorization is None and plain is None else "this API key is not known"
            raise refuse(
                "unauthorized", f"{problem}; send one as X-API-Key: KEY or Authorization: Bearer KEY", challenge
            )


def first_key(path: Path) -> str:
    """Return the key with which this server asks another one."""
    return _keys_of(path)[0]


def _keys_of(path: Path) -> list[str]:
    try:
        lines = path.read_text(encoding="utf-8").split()
    except (OSError, UnicodeDecodeError) as error:
        raise OptionError(f"{path}: the API keys cannot be read ({error})") from error
    if not lines:
        raise OptionError(f"{path}: there is no API key in it; write a key a line")
    return lines


class AllowedHosts:
    """Refuses requests that were sent to another name than this server has.

    A page of another site can let its own name stand for this server's address (DNS rebinding), and its visitors'
    browsers would then ask a server that only they can reach. But the request still says which name was asked.
    """

    def __init__(self, names: Collection[str]) -> None:
        self._names = frozenset(name.lower().encode() for name in names)

    def check(self, host: bytes | None) -> None:
        """Raise unless `host` is allowed; a request without it does not come from a browser."""
        if self._names and host is not None and _PORT.sub(b"", host).lower() not in self._names:
            raise refuse("wrong_host", "this server does not answer to that host name; see --allowed-hosts")


class RateLimit:
    """So many requests a second of each client, with some at once; all workers count together.

    For each client one number is kept: when its bucket would be full again (the generic cell rate algorithm). The
    table has a fixed size in shared memory: no number of clients can fill it up, the longest silent gives way.
    """

    SETS, WAYS = 16_384, 4

    def __init__(self, rate: float, at_once: float | None = None) -> None:
        self._interval = 1 / rate
        self._burst = max(1.0, rate if at_once is None else at_once) * self._interval
        memory = memoryview(mmap.mmap(-1, self.SETS * self.WAYS * 16))
        half = self.SETS * self.WAYS * 8
        self._clients: Any = memory[:half].cast("q")
        self._full: Any = memory[half:].cast("d")

    def check(self, client: str) -> None:
        """Raise when `client` has been counted too often."""
        now = monotonic()
        wait = max(self._full[self._place_of(hash(client))], now) + self._interval - now - self._burst
        if wait > 1e-9:
            raise refuse(
                "rate_limited", "you ask too often, or sent too many wrong keys; wait and ask again", retry_after(wait)
            )

    def count(self, client: str) -> None:
        """Count a request of `client`."""
        place = self._place_of(hash(client))
        self._full[place] = max(self._full[place], monotonic()) + self._interval

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


class Clients:
    """Tells which client a request comes from, also behind proxies.

    A trusted proxy adds the address of whoever asked it at the end of X-Forwarded-For. What stands before that was
    sent by the client, who can invent it. So the list is read from its end, as far as the addresses are trusted.
    """

    def __init__(self, trusted_proxies: tuple[str, ...]) -> None:
        self._trusted = [ip_network(proxy) for proxy in trusted_proxies]
        self._trusts = lru_cache(maxsize=1024)(self._is_trusted)

    def name(self, peer: str, forwarded: bytes | None) -> str:
        """Return what a client is counted by: its address, or the first half of it in IPv6.

        >>> clients = Clients(("127.0.0.1", "10.0.0.0/8"))
        >>> clients.name("127.0.0.1", b"6.6.6.6, 1.2.3.4, 10.0.0.7")
        '1.2.3.4'
        >>> clients.name("9.9.9.9", b"1.2.3.4")
        '9.9.9.9'
        """
        if self._trusted and forwarded is not None and self._trusts(peer):
            for hop in reversed(forwarded.decode("latin-1").split(",")):
                address = _without_port(hop.strip())
                if not self._trusts(address):
                    return _network_of(address)
        return _network_of(peer)

    def _is_trusted(self, address: str) -> bool:
        try:
            parsed = ip_address(address)
        except ValueError:
            return False
        mapped = getattr(parsed, "ipv4_mapped", None)  # how a server that listens on :: sees an IPv4 address
        return any((mapped or parsed) in network for network in self._trusted)


def ip_network(text: str) -> IPv4Network | IPv6Network:
    """Return the network of an address or of a range such as 10.0.0.0/8."""
    try:
        return ipaddress.ip_network(text)
    except ValueError as error:
        raise OptionError(f"trusted-proxies must be addresses like 10.0.0.1 or 10.0.0.0/8, got {text!r}") from error


def _without_port(address: str) -> str:
    """Some proxies write 1.2.3.4:5678 or [2001:db8::1]:5678.

    >>> [_without_port(text) for text in ("1.2.3.4:5678", "[2001:db8::1]:5678", "2001:db8::1")]
    ['1.2.3.4', '2001:db8::1', '2001:db8::1']
    """
    if address.startswith("["):
        return address[1:].partition("]")[0]
    return address.partition(":")[0] if address.count(":") == 1 else address


def _network_of(address: str) -> str:
    """An IPv6 client owns a /64 at least, so that is what is counted."""
    if ":" not in address:
        return address
    try:
        parsed = ipaddress.IPv6Address(address)
    except ValueError:
        return address
    return str(parsed.ipv4_mapped or ipaddress.ip_network((address, 64), strict=False).network_address)
