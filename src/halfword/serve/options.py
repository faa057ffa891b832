"""What `halfword serve` can be told; each default has its home here."""

import re
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from halfword.core.errors import OptionError
from halfword.core.filters import SHIPPED
from halfword.core.options import MOST_COMPLETIONS

_HAS_PORT = re.compile(r"^[^:]*:\d*$|\]:\d*$")
_LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a request may ask for at the most."""

    longest_prefix: int = 200  # characters
    most_completions: int = 100
    most_prefixes: int = 100  # in one batch
    largest_body: int = 65_536  # bytes

    def __post_init__(self) -> None:
        _check("longest prefix", self.longest_prefix, 1, 10_000)
        # A blocklist asks for more than this, to fill the gaps it makes.
        _check("most completions", self.most_completions, 1, MOST_COMPLETIONS // 2)
        _check("most prefixes", self.most_prefixes, 1, 10_000)
        _check("largest body", self.largest_body, 1, 2**30)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions:
    """Where to listen, what to serve and whom to refuse."""

    model: Path
    host: str = "127.0.0.1"
    port: int = 8080  # 0: any that is free
    workers: int = 1
    limits: Limits = field(default_factory=Limits)
    connections: int = 2048  # open at once, in each worker; above that the one silent for longest is closed
    queue: int = 128  # requests that may wait, in each worker
    deadline_ms: float = 50.0  # a request's, its time in the queue included
    cache: int = 4096  # answers kept, in each worker; 0 keeps none
    cache_mib: int = 16  # of memory that these answers may take, in each worker
    copy_mib: int = 1024  # files up to this size are copied to memory, where nobody can change them; 0: none
    max_age: int = 60  # seconds for which a browser or a CDN may keep an answer
    rate_limit: float | None = None  # requests a second, of each client
    allowed_hosts: tuple[
        str, ...
    ] = ()  # names by which it may be asked; none: any, but on loopback its own only; *: any
    trusted_proxies: tuple[str, ...] = ()  # addresses, or ranges like 10.0.0.0/8, whose X-Forwarded-For is believed
    allowed_origins: tuple[str, ...] = ()  # pages of these origins may ask; "*" for all
    api_key_file: Path | None = None
    blocklist: Path | None = None  # besides the shipped one
    unfiltered: bool = False  # leave the shipped blocklist out
    pad: bool = False  # pad every answer, not only those that ask for it
    public_url: str | None = None  # what browsers call this server, where a proxy stands before it
    log_requests: bool = False
    log_queries: bool = False

    def __post_init__(self) -> None:
        _check("port", self.port, 0, 65_535)
        _check("workers", self.workers, 1, 1024)
        _check("connections", self.connections, 1, 60_000)
        _check("queue", self.queue, 0, 1_000_000)
        _check("deadline", self.deadline_ms, 1, 3_600_000)
        _check("cache", self.cache, 0, 10_000_000)
        _check("cache-mib", self.cache_mib, 0, 1_000_000)
        _check("copy-mib", self.copy_mib, 0, 1_000_000_000)
        _check("max-age", self.max_age, 0, 31_536_000)
        if self.rate_limit is not None:
            _check("rate-limit", self.rate_limit, 0.01, 1_000_000)
        for host in self.allowed_hosts:
            if "/" in host or _HAS_PORT.search(host):
                raise OptionError(f"allowed-hosts must be names like search.example without a port, got {host!r}")
        for origin in self.allowed_origins:
            if origin != "*" and not _is_origin(origin):
                raise OptionError(f"allow-origin must be * or like https://example.com, got {origin!r}")
        if self.public_url is not None and not _is_base(self.public_url):
            raise OptionError(f"public-url must be like https://example.com/path, got {self.public_url!r}")

    @property
    def hosts(self) -> frozenset[str]:
        """The names in the header Host that are answered; none: any."""
        if "*" in self.allowed_hosts or not (self.allowed_hosts or _is_loopback(self.host)):
            return frozenset()
        public = [] if self.public_url is None else [urlsplit(self.public_url).hostname or ""]
        return frozenset([*self.allowed_hosts, *public, self.host, *_LOOPBACK_NAMES])

    @property
    def files(self) -> tuple[Path, ...]:
        """What answers depend on: the model, then the blocklists."""
        return (self.model, *self.blocklists)

    @property
    def blocklists(self) -> tuple[Path, ...]:
        """The files whose phrases are not offered."""
        shipped = () if self.unfiltered else (SHIPPED,)
        return shipped if self.blocklist is None else (*shipped, self.blocklist)


def _check(name: str, value: float, lowest: float, highest: float) -> None:
    if not lowest <= value <= highest:
        raise OptionError(f"{name} must lie between {lowest} and {highest}, got {value}")


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _is_origin(text: str) -> bool:
    parts = urlsplit(text)
    return parts.scheme in ("http", "https") and text == f"{parts.scheme}://{parts.netloc}" and bool(parts.netloc)


def _is_base(text: str) -> bool:
    parts = urlsplit(text)
    return parts.scheme in ("http", "https") and bool(parts.netloc) and not parts.query and not parts.fragment
