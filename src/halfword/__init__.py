"""Halfword finishes half-typed search queries."""

__version__ = "0.1.0"

from halfword.complete import Blend, Completer, Completion, Neural, Popular, SearchOptions, load
from halfword.errors import HalfwordError

__all__ = ["Blend", "Completer", "Completion", "HalfwordError", "Neural", "Popular", "SearchOptions", "load"]
