"""Dividing logs into train, valid and test: by dates, by the last part of their time, or by random numbers.

Where some files have times and others have none, those without are learned whole: they go to train. Lists do always.
"""

from collections.abc import Sequence
from typing import Any

import ibis  # type: ignore[import-untyped]
import numpy as np

from halfword.data.dataset import Split
from halfword.data.log_format import LogFile
from halfword.data.options import SplitBy, SplitOptions
from halfword.data.row_files import in_files

DAY = 86_400_000_000  # microseconds
SMALL_LOG = 2000  # rows; of so few the numbers of valid and test are exact, and none is 0
_FEWEST = 10  # rows; of fewer, all are train
_ROUNDS = 60  # of bisection, as many as a number has bits


def split_counts(rows: Any, options: SplitOptions, files: Sequence[LogFile]) -> tuple[Any, SplitBy]:
    """Add the columns train, valid and test to the rows: how much of a row's count goes to each; and say by what."""
    by = options.chosen(files)
    whole = in_files(rows, files, lambda file: file.is_list or (by is not SplitBy.ROWS and not file.holds("time")))
    divided = rows.filter(~whole)
    typed = int(divided["count"].sum().to_pyarrow().as_py() or 0)
    if by is SplitBy.DATES:
        begin, valid, test, end = options.cuts()
        return _by_times(rows, whole, (begin, valid, test, end)), by
    if by is SplitBy.TIME:
        cuts = _last_parts(divided, typed, options)
        if cuts or options.by is SplitBy.TIME or typed < _FEWEST:
            return _by_times(rows, whole, cuts or (None, None, None, None)), by
        # The times are too coarse: more rows than the shares allow have the last of them.
        whole = in_files(rows, files, lambda file: file.is_list or not file.holds("time"))
    return _by_random_numbers(rows, whole, divided, typed, options), SplitBy.ROWS


def _by_times(rows: Any, whole: Any, cuts: tuple[int | None, int | None, int | None, int | None]) -> Any:
    """Divide rows at times: where train, valid and test begin and test ends; None is beyond all times."""
    begin, valid, test, end = cuts
    inside = rows.time.notnull()
    inside = inside if begin is None else inside & (rows.time >= begin)
    inside = inside if end is None else inside & (rows.time < end)
    nothing, everything = ibis.literal(False), ibis.literal(True)
    after_valid = nothing if valid is None else rows.time >= valid
    after_test = nothing if test is None else rows.time >= test
    before_valid, before_test = (everything if cut is None else rows.time < cut for cut in (valid, test))
    parts = {
        Split.TRAIN: whole | (inside & before_valid),
        Split.VALID: ~whole & inside & after_valid & before_test,
        Split.TEST: ~whole & inside & after_test,
    }
    return rows.mutate(**{split: part.ifelse(rows["count"], 0) for split, part in parts.items()})


def _by_random_numbers(rows: Any, whole: Any, divided: Any, typed: int, options: SplitOptions) -> Any:
    """Divide each count by the row's random number: on average by the shares, and never off by one or more."""
    test_share, both_share = options.test_share, options.test_share + options.valid_share
    if typed < SMALL_LOG:
        wanted = _least(typed, test_share), _least(typed, test_share) + _least(typed, options.valid_share)
        test_share, both_share = _exact_shares(divided, wanted)
    count = whole.ifelse(0, rows["count"])
    test = (count * test_share + rows.draw).floor().cast("int64")
    both = (count * both_share + rows.draw).floor().cast("int64")
    return rows.mutate(train=rows["count"] - both, valid=both - test, test=test)


def _least(typed: int, share: float) -> int:
    """Return how many of a few rows a share is: at least one, unless there is no share or hardly any row."""
    return max(round(typed * share), 1) if share > 0 and typed >= _FEWEST else 0


def _exact_shares(rows: Any, wanted: tuple[int, int]) -> list[float]:
    """Return the shares by which the random numbers choose so many rows for test, and for valid and test together."""
    table = rows.select("count", "draw").to_pyarrow()
    counts, draws = table["count"].to_numpy(), table["draw"].to_numpy()

    def highest(most: int) -> float:
        """Return the highest share that still chooses at most so many."""
        low, high = 0.0, 1.0
        for _ in range(_ROUNDS):
            middle = (low + high) / 2
            low, high = (middle, high) if np.floor(counts * middle + draws).sum() <= most else (low, middle)
        return low

    return [(highest(number - 1) + highest(number)) / 2 if number else 0.0 for number in wanted]


def _last_parts(rows: Any, typed: int, options: SplitOptions) -> tuple[None, int, int, None] | None:
    """Return where valid and test begin; None if one of them would hold nothing that its share promises."""
    small = typed < SMALL_LOG
    shares = options.valid_share, options.test_share
    least = [_least(typed, share) if small else int(typed * share) for share in shares]
    most = sum(least) if small else int(typed * sum(shares))
    valid, both = _last(rows, most)
    test, alone = _last(rows, least[1])
    missing = (options.test_share > 0 and not alone) or (options.valid_share > 0 and both <= alone)
    return None if missing else (None, valid, test, None)


def _last(rows: Any, most: int) -> tuple[int, int]:
    """Return the earliest time such that the log holds at most `most` queries from there on, and how many it holds."""
    days = _counts(rows.mutate(unit=(rows.time / DAY).floor().cast("int64")))
    after = 0
    for day in sorted(days, reverse=True):
        if after + days[day] > most:
            of_day = rows.filter((rows.time >= day * DAY) & (rows.time < (day + 1) * DAY))
            times = _counts(of_day.mutate(unit=of_day.time))
            cut = (day + 1) * DAY
            for time in sorted(times, reverse=True):
                if after + times[time] > most:
                    return cut, after
                after += times[time]
                cut = time
        after += days[day]
    return min(days, default=0) * DAY, after  # a log without a usable row has no day


def _counts(rows: Any) -> dict[int, int]:
    table = rows.group_by("unit").agg(number=rows["count"].sum()).to_pyarrow()
    return dict(zip(table["unit"].to_pylist(), table["number"].to_pylist(), strict=True))
