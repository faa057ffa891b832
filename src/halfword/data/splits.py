"""Dividing a log into train, valid and test: by dates, by the last part of its time, or by random numbers."""

from collections.abc import Sequence
from typing import Any

from halfword.data.dataset import Split
from halfword.data.log_format import LogFile
from halfword.data.options import SplitBy, SplitOptions

DAY = 86_400_000_000  # microseconds


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
    return min(days, default=0) * DAY  # a log without a usable row has no day


def _counts(rows: Any) -> dict[int, int]:
    table = rows.group_by("unit").agg(number=rows["count"].sum()).to_pyarrow()
    return dict(zip(table["unit"].to_pylist(), table["number"].to_pylist(), strict=True))
