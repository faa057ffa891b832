"""What a journal tells about what people search: new queries, rising ones, and those that nobody chooses."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice

from halfword.core.errors import OptionError
from halfword.core.live_state import DAYS_APART, Removed, Summed, day_of, growth

MOST_DAYS = DAYS_APART // 2


@dataclass(frozen=True, slots=True)
class Row:
    """A query of the report."""

    text: str
    typed: int  # times in the last days; for those that nobody chose, since the journal was begun
    before: int  # times in as many days before them
    accepted: int


@dataclass(frozen=True, slots=True)
class Report:
    """The queries that stand out, the first of each list first."""

    typed: int  # different queries
    removed: int
    new: list[Row]
    rising: list[Row]
    never_accepted: list[Row]  # empty if no suggestion was ever reported as chosen


def report_of(summed: Summed, known: Callable[[str], bool], *, days: int = 7, most: int = 20) -> Report:
    """Return what stands out in the days up to the last change; `known` tells which queries the model has in its log.

    What is removed is left out. A query is new if the model does not know it and nobody typed it before these days. It
    rises if it was typed more often than in as many days before.
    """
    if not 1 <= days <= MOST_DAYS:
        raise OptionError(f"days must lie between 1 and {MOST_DAYS}, got {days}")
    recent, before, earlier = _by_age(summed, days)
    removed = Removed(summed.removed, summed.beginnings)
    total = recent + before + earlier

    def row(text: str, typed: float) -> Row:
        return Row(text, round(typed), round(before[text]), summed.accepted[text])

    def first(texts: list[str], by: Callable[[str], float]) -> list[str]:
        kept = (text for text in sorted(texts, key=lambda text: (-by(text), text)) if not removed.removes(text))
        return list(islice(kept, most))

    new = [text for text in recent if not before[text] and not earlier[text] and not known(text)]
    rising = [text for text in recent if recent[text] > before[text] > 0]
    unwanted = [text for text in total if not summed.accepted[text]] if summed.accepted else []
    return Report(
        typed=len(total),
        removed=len(summed.removed) + len(summed.beginnings),
        new=[row(text, recent[text]) for text in first(new, recent.__getitem__)],
        rising=[row(text, recent[text]) for text in first(rising, lambda text: recent[text] - before[text])],
        never_accepted=[row(text, total[text]) for text in first(unwanted, total.__getitem__)],
    )


def _by_age(summed: Summed, days: int) -> tuple[Counter[str], Counter[str], Counter[str]]:
    """Return how often queries were typed in the last days, in as many before, and earlier, without decay."""
    ages: tuple[Counter[str], Counter[str], Counter[str]] = (Counter(), Counter(), Counter())
    today = day_of(summed.time)
    for stretch in summed.stretches:
        factor = growth(summed.about, stretch.time)
        counts = ages[min((today - day_of(stretch.time)) // days, 2)]
        for text, number in stretch.counts.items():
            counts[text] += number / factor  # type: ignore[assignment]
    return ages
