"""Halfword finishes half-typed search queries."""

from halfword.core.errors import HalfwordError
from halfword.core.options import SearchOptions
from halfword.core.version import __version__
from halfword.search.model import Answer, Completer, Completion, Model, load

__all__ = [
    "Answer",
    "Completer",
    "Completion",
    "HalfwordError",
    "Model",
    "SearchOptions",
    "__version__",
    "load",
]
