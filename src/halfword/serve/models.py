"""The model in service: loaded and checked beside the old one, then swapped."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path
from typing import Protocol

from halfword.core.checksums import digest_of
from halfword.core.errors import HalfwordError, ModelFileError
from halfword.core.filters import Blocklist, read_blocklist
from halfword.core.model_file import read_header
from halfword.core.options import DEFAULTS, SearchOptions
from halfword.core.printable import printable
from halfword.core.text import Profile, profile_named
from halfword.core.verify import content_digest
from halfword.search.filtered import Filtered
from halfword.search.live import Live
from halfword.search.model import Answer, load
from halfword.serve.http.cache import Cache
from halfword.serve.options import ServeOptions
from halfword.serve.snapshot import Snapshot, Stamp, stamp_of, take

_TRIALS = ("", "a", "new yo", "한")
_FOLDERS = re.compile(r"(?<![\w.])/[^\s'\"]*/")


class Answerer(Protocol):
    """What can be served: a model, or one that is filtered."""

    def complete(self, prefix: str, options: SearchOptions = DEFAULTS, *, context: Sequence[str] = ()) -> Answer:
        """Return the likeliest completions of `prefix`, best first."""
        ...


@dataclass(frozen=True, slots=True)
class Served:
    """Everything that an answer depends on. A request takes it once, so that no answer mixes two of them."""

    completer: Answerer  # which leaves out what is blocked
    profile: Profile
    version: str  # as answers name it
    etag: bytes
    cache: Cache
    rules: Blocklist | None = None
    live: Live | None = None

    @property
    def tag(self) -> bytes:
        """What changes when answers do."""
        return self.etag if self.live is None else b'%s-%d"' % (self.etag[:-1], self.live.number)


class Models:
    """Holds what is in service, and why newer files are not."""

    def __init__(self, options: ServeOptions, warn: Callable[[str], None] = lambda text: None) -> None:
        self._options = options
        self._warn = warn  # of what is wrong with live changes, and does not stop them
        self._stamp: Stamp = ()
        self.snapshot = self.take()
        self.current = self.load(self.snapshot)
        self.failure: str | None = None  # why the newest files are not in service

    def stamp(self) -> Stamp:
        """Return what changes when the files change."""
        return stamp_of(self._options.files)

    def changed(self) -> bool:
        """Tell whether the files differ from those last taken."""
        return self.stamp() != self._stamp

    def take(self) -> Snapshot:
        """Copy the files as they are now."""
        self._stamp = self.stamp()
        return take(self._options.files, self._options.copy_mib * 2**20)

    def load(self, snapshot: Snapshot, *, verify: bool = True) -> Served:
        """Load and check files; raises a HalfwordError that names them if they cannot go into service.

        Checksums are compared if the options and the caller want it: they need not be when another process has done so.
        """
        try:
            return self._load(snapshot, verify=verify and self._options.verify)
        except HalfwordError as error:
            raise type(error)(snapshot.named(str(error))) from error

    def put(self, snapshot: Snapshot, served: Served) -> None:
        """Put files that were loaded into service."""
        old, self.snapshot = self.snapshot, snapshot
        self.current, self.failure = served, None
        old.close()

    def reload(self) -> bool:
        """Load the files as they are now; only when all is well do they go into service."""
        try:
            snapshot = self.take()
            self.put(snapshot, self.load(snapshot))
        except Exception as error:  # whatever is wrong with the new files, the old ones serve on
            self.failure = str(error) or type(error).__name__
            return False
        return True

    @property
    def public_failure(self) -> str | None:
        """The failure without the folders in which files lie: the whole world may read it."""
        text = self.failure
        for file in self._options.files:
            text = text and text.replace(printable(str(file)), printable(file.name))  # as errors write names
        return text and _FOLDERS.sub("", text)

    def _load(self, snapshot: Snapshot, *, verify: bool) -> Served:
        path, *blocklists = snapshot.paths
        model = load(path, verify=verify)
        profile = profile_named(str(model.card.profile))
        _try(path, model, replace(self._options.search, deadline_ms=1000.0))
        rules = read_blocklist(*blocklists, profile=profile, allow=self._options.allow)
        completer = Filtered(model, rules) if blocklists else model
        live = None
        if self._options.live is not None:
            live = Live(model, self._options.live, writes=self._options.follow is None, warn=self._warn)
        digest = fingerprint(path, *blocklists, settings=self._options.settings)
        version, etag = f"{self._options.model.stem}@{digest}", f'W/"{digest}"'.encode()
        cache = Cache(self._options.cache, self._options.cache_mib * 2**20)
        return Served(completer, profile, version, etag, cache, rules, live)


def _try(model: Path, completer: Answerer, options: SearchOptions) -> None:
    """Complete a few prefixes: a file whose layout is right may still hold nonsense."""
    try:
        for prefix in _TRIALS:
            for completion in completer.complete(prefix, options):
                completion.text.encode()
                if not isfinite(completion.score):
                    raise ModelFileError(f"{model} gives {prefix!r} a score that is no number; copy or train it again")
    except HalfwordError:
        raise
    except Exception as error:
        raise ModelFileError(f"{model} does not complete ({error}); copy or train it again") from error


def fingerprint(model: Path, *blocklists: Path, settings: str = "") -> str:
    """Return a name for what answers depend on, the same on every machine."""
    parts = [content_digest(model, read_header(model)).encode(), *(path.read_bytes() for path in blocklists)]
    return digest_of([*parts, settings.encode()] if settings else parts)
