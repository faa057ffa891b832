"""Halfword finishes half-typed search queries."""

from halfword.core.errors import HalfwordError
from halfword.core.version import __version__
from halfword.search.model import Blend, Completer, Completion, Neural, Popular, SearchOptions, load

__all__ = [
    "Blend",
    "Completer",
    "Completion",
    "HalfwordError",
    "Neural",
    "Popular",
    "SearchOptions",
    "__version__",
    "load",
]
