"""Dividing a log into train, valid and test: by dates, by the last part of its time, or by random numbers."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import Any

from halfword.core.errors import OptionError
from halfword.data.dataset import Split
from halfword.data.log_columns import microseconds
from halfword.data.log_format import LogFile

END_OF_TIME = 2**62
DAY = 86_400_000_000  # microseconds
# The paper's test ends on 2006-06-01, as AOL's log itself does, so no end is set here: a log in AOL's format may go on
# for some minutes after that midnight, and these rows are test as well.
PAPER_DATES = ("2006-03-01", "2006-05-18", "2006-05-25")


class SplitBy(StrEnum):
    """What decides to which split a row goes."""

    DATES = "dates"
    TIME = "time"
    ROWS = "rows"


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitOptions:
    """Where train ends and valid and test begin."""

    by: SplitBy | None = None  # None: dates where given, else time where the log has it, else rows
    dates: tuple[str, str, str] | None = None  # on which train, valid and test begin
    until: str | None = None  # the first date after test; None: the end of the log
    valid_share: float = 0.05
    test_share: float = 0.05

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

    def chosen(self, files: Sequence[LogFile]) -> SplitBy:
        """Return what the log is split by; an error if it lacks the times for that."""
        has_times = files[0].holds("time")
        by = self.by or (SplitBy.DATES if self.dates else SplitBy.TIME if has_times else SplitBy.ROWS)
        if by is not SplitBy.ROWS and not has_times:
            raise OptionError(f"a split by {by} needs times and {files[0].path.name} has none; use --split rows")
        return by


def split_counts(rows: Any, typed: int, options: SplitOptions, files: Sequence[LogFile]) -> Any:
    """Add the columns train, valid and test to the rows: how much of a row's count goes to each split."""
    by = options.chosen(files)
    if by is SplitBy.ROWS:
        return _by_random_numbers(rows, options)
    if by is SplitBy.DATES:
        begin, valid, test, end = options.cuts()
        rows = rows.mutate(inside=(rows.time >= begin) & (rows.time < end))
    else:
        valid = _last(rows, int(typed * (options.valid_share + options.test_share)))
        test = _last(rows, int(typed * options.test_share))
        rows = rows.mutate(inside=rows.time.notnull())
    parts = {
        Split.TRAIN: rows.inside & (rows.time < valid),
        Split.VALID: rows.inside & (rows.time >= valid) & (rows.time < test),
        Split.TEST: rows.inside & (rows.time >= test),
    }
    return rows.mutate(**{split: part.ifelse(rows["count"], 0) for split, part in parts.items()})


def _by_random_numbers(rows: Any, options: SplitOptions) -> Any:
    """Divide each count by the row's random number: on average by the shares, and never off by one or more."""
    test = (rows["count"] * options.test_share + rows.draw).floor().cast("int64")
    both = (rows["count"] * (options.test_share + options.valid_share) + rows.draw).floor().cast("int64")
    return rows.mutate(train=rows["count"] - both, valid=both - test, test=test)


def _last(rows: Any, most: int) -> int:
    """Return the earliest time such that the log holds at most `most` queries from there on."""
    days = _counts(rows.mutate(unit=(rows.time / DAY).floor().cast("int64")))
    after = 0
    for day in sorted(days, reverse=True):
        if after + days[day] > most:
            of_day = rows.filter((rows.time >= day * DAY) & (rows.time < (day + 1) * DAY))
            times = _counts(of_day.mutate(unit=of_day.time))
            cut = (day + 1) * DAY
            for time in sorted(times, reverse=True):
                after += times[time]
                if after > most:
                    return cut
                cut = time
        after += days[day]
    return min(days) * DAY


def _counts(rows: Any) -> dict[int, int]:
    table = rows.group_by("unit").agg(number=rows["count"].sum()).to_pyarrow()
    return dict(zip(table["unit"].to_pylist(), table["number"].to_pylist(), strict=True))
