"""How many rows went into a dataset, how many were left out for which reason, and how many remain."""

from dataclasses import asdict, dataclass, field
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
    """How many rows were read, left out for each reason, and kept."""

    read: int  # rows of the log
    broken: dict[str, int]  # rows that could not be read, by reason
    too_short: int
    personal: int  # rows of which nothing is left without what may be personal
    too_long: int
    typed: int  # queries that the usable rows stand for: one each, or as many as the count column says
    repeats: int  # the same query by the same user right after itself
    blocked: int
    outside: int  # before the first date or after the last
    rare: int  # in train or valid, with fewer users or a lower count than asked for
    splits: dict[Split, SplitSize]
    seen: float | None  # share of the test rows whose query occurs in train; None without test rows
    files: list[str] = field(default_factory=list)  # how each file was read, and why so

    @property
    def weighted(self) -> int:
        """How many rows the weights of the files have added, or taken away if it is below 0."""
        dropped = self.repeats + self.blocked + self.outside + self.rare
        return sum(size.rows for size in self.splits.values()) - (self.typed - dropped)

    def dropped(self) -> dict[str, int]:
        """Return how many were left out for each reason, in the order of the steps."""
        later = {
            Problem.PERSONAL.value: self.personal,
            Problem.LONG.value: self.too_long,
            "repeated": self.repeats,
            "blocked": self.blocked,
            "outside the dates": self.outside,
            "rare": self.rare,
        }
        return {**self.broken, Problem.SHORT.value: self.too_short} | {name: n for name, n in later.items() if n}

    def as_dict(self) -> dict[str, Any]:
        """Return the funnel as values that JSON can hold."""
        return asdict(self)
