"""What `halfword serve` can be told; each default has its home here."""

import re
from dataclasses import dataclass, field, replace
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from halfword.core.errors import OptionError
from halfword.core.fields import option
from halfword.core.filters import FilterOptions
from halfword.core.options import MOST_COMPLETIONS, SearchOptions

_HAS_PORT = re.compile(r"^[^:]*:\d*$|\]:\d*$")
_LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a request may ask for at the most."""

    longest_prefix: int = option(200, "Characters of a prefix.", "max-prefix", rare=True)
    most_completions: int = option(100, "Completions of a request.", "max-count", rare=True)
    most_prefixes: int = option(100, "Prefixes that a batch may have.", "max-batch", rare=True)
    largest_body: int = option(65_536, "Bytes that a body may have.", "max-body", rare=True)

    def __post_init__(self) -> None:
        _check("longest prefix", self.longest_prefix, 1, 10_000)
        # A blocklist asks for more than this, to fill the gaps it makes.
        _check("most completions", self.most_completions, 1, MOST_COMPLETIONS // 2)
        _check("most prefixes", self.most_prefixes, 1, 10_000)
        _check("largest body", self.largest_body, 1, 2**30)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions(FilterOptions):
    """Where to listen, what to serve and whom to refuse."""

    model: Path
    verify: bool = True  # compare the model with its checksums before it goes into service
    host: str = option("127.0.0.1", "0.0.0.0 lets others in.")
    port: int = option(8080, "Of HTTP; 0 for any free one.", short="-p")
    workers: int = option(1, "One per core.", short="-w")
    # Above that the one silent for longest is closed.
    connections: int = option(2048, "Connections open at once, per worker.", rare=True)
    queue: int = option(128, "Requests that may wait, per worker; more get 503.", rare=True)
    # The time in the queue is included.
    deadline_ms: float = option(50.0, "Milliseconds for a search.", "deadline")
    cache: int = option(4096, "Answers kept, per worker.", rare=True)  # 0 keeps none
    cache_mib: int = option(16, "MiB of memory for these answers, per worker.", rare=True)
    max_age: int = option(60, "Seconds for which browsers and a CDN may keep an answer.", rare=True)
    limits: Limits = field(default_factory=Limits)
    search: SearchOptions = field(default_factory=SearchOptions)  # where a request chooses nothing else
    # Where nobody can change them while they serve.
    copy_mib: int = option(1024, "MiB up to which a file is copied to memory, not to disk; 0: no copies.", rare=True)
    rate_limit: float | None = option(None, "Requests per second of each client.")
    # None given: any, but on loopback its own only.
    allowed_hosts: tuple[str, ...] = option(
        (), "Name by which it may be asked, * for any; on loopback its own only.", rare=True
    )
    trusted_proxies: tuple[str, ...] = option(
        (),
        "Address or range of a proxy whose X-Forwarded-For is believed; may be repeated.",
        "trusted-proxy",
        rare=True,
    )
    allowed_origins: tuple[str, ...] = option((), "Let pages of this origin ask; * for all.", "allow-origin")
    api_key_file: Path | None = option(None, "Keys, one per line; a request brings one.")
    live: Path | None = option(None, "A file of live changes.", rare=True)
    live_key_file: Path | None = option(None, "Keys for live changes.", rare=True)
    # So many different ones must type a new query on one day before it is learned.
    live_clients: int = option(5, "Clients that make a query known.", rare=True)
    follow: str | None = option(None, "Follow the live changes of this server.", rare=True)
    follow_key_file: Path | None = option(None, "Its key; else one for live changes.", rare=True)
    live_accepted: bool = option(False, "Let pages tell which suggestions are chosen.", rare=True)
    pad: bool = option(False, "Hide the length of every answer.", rare=True)
    public_url: str | None = option(None, "What browsers call this server, behind a proxy.", rare=True)
    log_requests: bool = option(False, "Log every request.", rare=True)
    log_queries: bool = option(False, "Log every request with what was typed.", rare=True)

    def __post_init__(self) -> None:
        FilterOptions.__post_init__(self)
        if self.log_queries:
            object.__setattr__(self, "log_requests", True)  # with what was typed
        _check("port", self.port, 0, 65_535)
        _check("live-clients", self.live_clients, 1, 100)
        if self.live is not None and self.live_key_file is None and self.api_key_file is None:
            raise OptionError("live changes need a key; name a file of keys with --live-key-file")
        if self.follow is not None:
            if self.live is None:
                raise OptionError("what is followed is kept in a file; name one with --live")
            if not _is_base(self.follow) or "@" in self.follow:
                raise OptionError(f"follow must be like https://example.com:8080, got {self.follow!r}")
        if self.live_key_file is not None and self.live is None:
            raise OptionError("keys for live changes are given, but no journal; name one with --live")
        if self.live_accepted and self.live is None:
            raise OptionError("what is chosen is counted in a file of live changes; name one with --live")
        _check("workers", self.workers, 1, 1024)
        _check("connections", self.connections, 1, 60_000)
        _check("queue", self.queue, 0, 1_000_000)
        _check("deadline", self.deadline_ms, 1, 3_600_000)
        _check("cache", self.cache, 0, 10_000_000)
        _check("cache-mib", self.cache_mib, 0, 1_000_000)
        _check("copy-mib", self.copy_mib, 0, 1_000_000_000)
        _check("max-age", self.max_age, 0, 31_536_000)
        count = min(self.search.count, self.limits.most_completions)
        object.__setattr__(self, "search", replace(self.search, count=count))
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
    def settings(self) -> str:
        """What answers depend on besides the files; empty by default."""
        plain = SearchOptions()
        chosen = [(name, getattr(self.search, name)) for name in SearchOptions.__slots__]
        changed = [f"{name}={value}" for name, value in chosen if value != getattr(plain, name)]
        return ",".join([*([self.partly_allowed] if self.partly_allowed else []), *changed])

    @property
    def files(self) -> tuple[Path, ...]:
        """What answers depend on: the model, then the blocklists."""
        return (self.model, *self.blocklists)


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
