"""What `prepare` can be told; each default has its home here. Needs no extra."""

import codecs
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from halfword.core.errors import OptionError
from halfword.core.fields import option
from halfword.core.filters import categories_named
from halfword.core.text import DEFAULT, PAPER, SHORTEST_QUERY, Profile, profile_named
from halfword.data.times import check_format, microseconds

if TYPE_CHECKING:
    from halfword.data.log_format import LogFile

END_OF_TIME = 2**62
# The paper's test ends on 2006-06-01, as AOL's log itself does. No end is set here: `aol-shaped` holds two new queries
# typed within two minutes after that midnight, and its known 29,101 test rows count them (with the end: 29,099).
PAPER_DATES = ("2006-03-01", "2006-05-18", "2006-05-25")


class SplitBy(StrEnum):
    """What decides on which side of a split a row falls."""

    DATES = "dates"
    TIME = "time"
    ROWS = "rows"


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitOptions:
    """Where train ends and valid and test begin."""

    # None: by dates if they are given, else by time if the log has times, else by rows
    by: SplitBy | None = option(None, "By dates, time or rows.", "split", rare=True)
    dates: tuple[str, str, str] | None = option(None, "Dates on which train, valid and test begin.", rare=True)
    until: str | None = option(None, "First date after test; left out, the end of the log.", rare=True)
    valid_share: float = option(0.05, "Part of the log that becomes valid.", rare=True)
    test_share: float = option(0.05, "Part of the log that becomes test.", rare=True)

    def __post_init__(self) -> None:
        if self.dates is None and (self.by is SplitBy.DATES or self.until is not None):
            raise OptionError("a split by dates needs three: on which train, valid and test begin")
        if self.dates is not None:
            if self.by not in (None, SplitBy.DATES):
                raise OptionError(f"dates are given, but the split is by {self.by}; leave one of them out")
            self.cuts()
        if not (self.valid_share >= 0 and self.test_share >= 0 and self.valid_share + self.test_share < 1):
            raise OptionError(
                f"the shares of valid and test must be 0 or more and leave something to train, "
                f"got {self.valid_share} and {self.test_share}"
            )

    def cuts(self) -> list[int]:
        """Return where train, valid and test begin and where test ends, in microseconds since 1970."""
        dates = [*(self.dates or ()), *([self.until] if self.until else [])]
        cuts = [cut for date in dates if (cut := microseconds(date)) is not None]
        if len(cuts) < len(dates):
            wrong = next(date for date in dates if microseconds(date) is None)
            raise OptionError(f"{wrong!r} is not a date such as 2006-03-01")
        if any(early > late for early, late in pairwise(cuts)):
            raise OptionError(f"the dates must rise from train over valid and test to the end, got {', '.join(dates)}")
        return cuts if self.until else [*cuts, END_OF_TIME]

    def chosen(self, files: "Sequence[LogFile]") -> SplitBy:
        """Return what the logs are to be split by, or say why they cannot be."""
        has_times = any(file.holds("time") for file in files)
        by = self.by or (SplitBy.DATES if self.dates else SplitBy.TIME if has_times else SplitBy.ROWS)
        if by is not SplitBy.ROWS and not has_times:
            raise OptionError(f"a split by {by} needs times and {files[0].path.name} has none; use --split rows")
        return by


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnNames:
    """The columns as the caller names them: by header, or by number from 1; None is guessed."""

    query: str | None = option(None, "Name or number of the column of queries.", "query-column")
    user: str | None = option(None, "The same for users.", "user-column")
    time: str | None = option(None, "The same for times.", "time-column")
    count: str | None = option(None, "The same for counts.", "count-column")

    def asked(self) -> dict[str, str]:
        return {field: name for field, name in asdict(self).items() if name is not None}


def weights_of(given: Mapping[str, float] | Iterable[str] | str) -> dict[str, float]:
    """Return how much each file counts, from numbers by name or texts such as `products.tsv=0.2`."""
    if not isinstance(given, Mapping):
        pairs = (text.rpartition("=") for text in ([given] if isinstance(given, str) else given))
        given = {name: _number_in(number) for name, _, number in pairs}
    for name, weight in given.items():
        if not name or isinstance(weight, bool) or not isinstance(weight, (int, float)) or not 0.001 <= weight <= 1000:
            raise OptionError(f"a weight is a file and a number from 0.001 to 1000, as in list.tsv=0.2; got {given}")
    return {str(name): float(weight) for name, weight in given.items()}


def _checked_encoding(name: str) -> str:
    """Return the usual name of an encoding, or say that there is none."""
    try:
        return codecs.lookup(name).name
    except LookupError:
        raise OptionError(f"encoding {name!r} is unknown; name one such as latin-1, cp1252 or utf-16-le") from None


def _number_in(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


class Engine(StrEnum):
    """What runs the pipeline."""

    DUCKDB = "duckdb"
    SPARK = "spark"


@dataclass(frozen=True, slots=True, kw_only=True)
class PrepareOptions:
    """What becomes of a log."""

    profile: Profile = option(DEFAULT, "default, or paper for the paper's protocol.", rare=True, parse=profile_named)
    columns: ColumnNames = field(default_factory=ColumnNames)
    split: SplitOptions = field(default_factory=SplitOptions)
    # What a row of a file counts; the other files have 1.
    weights: Mapping[str, float] | None = option(None, "FILE=NUMBER: what its rows count.", "weight", parse=weights_of)
    lists: tuple[str, ...] = option((), "FILE is a list, not a log: learn all of it.", "list", rare=True)
    encoding: str | None = option(None, "Of text that is not UTF-8, such as latin-1.", rare=True)
    time_format: str | None = option(None, "Of times, such as %d/%m/%Y %H:%M.", rare=True)
    min_users: int = option(1, "Learn what so many people typed.")
    min_count: int = option(1, "Learn what was typed so often.")
    # A character of Chinese, Japanese or Korean says as much as two letters, and counts so.
    min_length: int = option(SHORTEST_QUERY, "Leave out queries of fewer characters.", rare=True)
    max_length: int = option(500, "Leave out queries of more characters.", rare=True)  # they are pasted texts
    # A file as `core.rules` describes it.
    blocklist: Path | None = option(None, "Rules, one per line: what is left out.")
    removed: Path | None = option(None, "Queries that are left out, or a journal.", rare=True)
    block: tuple[str, ...] = option((), "Leave out this kind of harm, such as slurs.", commas=True, rare=True)
    keep_repeats: bool = option(False, "Keep what a user typed just before, too.", rare=True)
    no_sessions: bool = option(False, "Do not keep who searched what after what.", rare=True)
    session_gap: float = option(30.0, "Minutes without a query after which a new session begins.", rare=True)
    engine: Engine = option(Engine.DUCKDB, "duckdb or spark.")
    spark_master: str = option("local[*]", "Where Spark runs.", rare=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "block", categories_named(self.block))
        if self.encoding is not None:
            object.__setattr__(self, "encoding", _checked_encoding(self.encoding))
        if self.time_format is not None:
            check_format(self.time_format)
        if self.weights is not None:
            object.__setattr__(self, "weights", weights_of(self.weights))
        for name in ("min_users", "min_count", "min_length"):
            if getattr(self, name) < 1:
                raise OptionError(f"{name} must be 1 or more, got {getattr(self, name)}")
        if not self.session_gap > 0:
            raise OptionError(f"session_gap must be more than 0 minutes, got {self.session_gap}")
        if self.max_length < self.min_length:
            raise OptionError(f"max_length must be {self.min_length} or more, got {self.max_length}")
        if self.profile.name == PAPER.name and self.split.dates is None and self.split.by is None:
            object.__setattr__(self, "split", replace(self.split, dates=PAPER_DATES))

    @property
    def leaves_out_rare(self) -> bool:
        """Whether queries that few people typed are left out."""
        return self.min_users > 1 or self.min_count > 1
