"""From any query log to a dataset folder."""

from halfword.prepare.pipeline import Engine, PrepareOptions, prepare

__all__ = ["Engine", "PrepareOptions", "prepare"]
