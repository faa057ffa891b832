"""What went into a dataset, what was dropped and why, and what is left."""

from dataclasses import asdict, dataclass
from typing import Any

from halfword.data.dataset import Split
from halfword.data.rows import Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitSize:
    """How much a split holds."""

    rows: int
    distinct: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Funnel:
    """What went in, what was dropped and why, and what is left."""

    read: int  # rows of the log
    broken: dict[str, int]  # rows that could not be read, by reason
    too_short: int
    too_long: int
    typed: int  # what the other rows stand for: each for one query, or for its count
    repeats: int  # the same query by the same user right after itself
    blocked: int
    outside: int  # before or after the dates
    rare: int  # fewer than min_users or min_count, of what is learned
    splits: dict[Split, SplitSize]
    seen: float | None  # share of test that occurs in train

    def dropped(self) -> dict[str, int]:
        """Return what was dropped by reason, in the order in which it was."""
        later = {
            Problem.LONG.value: self.too_long,
            "repeated": self.repeats,
            "blocked": self.blocked,
            "outside the dates": self.outside,
            "rare": self.rare,
        }
        return {**self.broken, Problem.SHORT.value: self.too_short} | {name: n for name, n in later.items() if n}

    def as_dict(self) -> dict[str, Any]:
        """Return the funnel as JSON knows it."""
        return asdict(self)
