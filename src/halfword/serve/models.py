"""The model in service: loaded and checked beside the old one, then swapped."""

import hashlib
import os
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from threading import Lock

from halfword.core.errors import HalfwordError, ModelFileError
from halfword.core.filters import read_blocklist
from halfword.core.options import SearchOptions
from halfword.core.text import Profile, profile_named
from halfword.search.filtered import Filtered
from halfword.search.model import Completer, load
from halfword.serve.http.cache import Cache
from halfword.serve.options import ServeOptions

Stamp = tuple[tuple[int, int, int] | None, ...]
_TRIALS = ("", "a", "new yo", "한")
_BLOCKS, _BLOCK_SIZE = 64, 4096


@dataclass(frozen=True, slots=True)
class Served:
    """Everything that an answer depends on. A request takes it once, so that no answer mixes two of them."""

    completer: Completer  # which leaves out what is blocked
    profile: Profile
    version: str  # as answers name it
    etag: bytes
    cache: Cache


class Models:
    """Holds what is in service, and replaces it when its files change."""

    def __init__(self, options: ServeOptions) -> None:
        self._options = options
        self._model = options.model
        self._blocklists = options.blocklists
        self._lock = Lock()  # reloads come from a signal and from the watch at once
        self._stamp = self.stamp()
        self.current = self._load()
        self.failure: str | None = None  # why the newest files are not in service

    def stamp(self) -> Stamp:
        """Return what changes when the files change."""
        return tuple(_stamp_of(path) for path in self._paths())

    def changed(self) -> bool:
        """Tell whether the files differ from those last tried."""
        return self.stamp() != self._stamp

    def reload(self) -> bool:
        """Load and check the files; only when all is well do they go into service."""
        with self._lock:
            self._stamp = self.stamp()
            try:
                fresh = self._load()
            except Exception as error:  # whatever is wrong with the new files, the old model serves on
                self.failure = str(error) or type(error).__name__
                return False
            self.current, self.failure = fresh, None
            return True

    def _load(self) -> Served:
        model = load(self._model)
        profile = profile_named(str(model.card.profile))
        _try(self._model, model)
        completer = Filtered(model, read_blocklist(*self._blocklists, profile=profile)) if self._blocklists else model
        digest = fingerprint(*self._paths())
        version, etag = f"{self._model.stem}@{digest}", f'W/"{digest}"'.encode()
        return Served(completer, profile, version, etag, Cache(self._options.cache, self._options.cache_mib * 2**20))

    def _paths(self) -> list[Path]:
        return [self._model, *self._blocklists]


def _try(model: Path, completer: Completer) -> None:
    """Complete a few prefixes: a file whose layout is right may still hold nonsense."""
    try:
        for prefix in _TRIALS:
            for completion in completer.complete(prefix, SearchOptions(deadline_ms=1000)):
                completion.text.encode()
                if not isfinite(completion.score):
                    raise ModelFileError(f"{model} gives {prefix!r} a score that is no number; copy or train it again")
    except HalfwordError:
        raise
    except Exception as error:
        raise ModelFileError(f"{model} does not complete ({error}); copy or train it again") from error


def fingerprint(*paths: Path) -> str:
    """Return a name for the content of files, the same on every machine.

    Reads the beginning and 64 places of each, so that a model of gigabytes starts as fast as a small one.
    """
    digest = hashlib.blake2b(digest_size=6)
    for path in paths:
        with path.open("rb") as stream:
            size = os.fstat(stream.fileno()).st_size
            digest.update(f"{size}:".encode())
            digest.update(stream.read(_BLOCKS * _BLOCK_SIZE))
            for block in range(_BLOCKS):
                stream.seek(size * block // _BLOCKS)
                digest.update(stream.read(_BLOCK_SIZE))
    return digest.hexdigest()


def _stamp_of(path: Path) -> tuple[int, int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns
