"""Reading a time, as people and programs write it."""

import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from halfword.core.errors import OptionError

_EPOCH = datetime(1970, 1, 1)
# A number of seconds, milliseconds, microseconds or nanoseconds since 1970: how many digits it has tells which.
_SINCE_1970 = re.compile(r"(\d{9,11})(\.\d+)?|(\d{12,14})|(\d{15,17})|(1\d{18})")
# Dates that are written in one order only. With slashes or hyphens the day may come first or the month: only other
# dates of the same log can tell.
_DATES = tuple(
    re.compile(
        date
        + r"(?:[,T: ] ?(?P<hour>\d{1,2})(?P<rest>:\d\d(?::\d\d(?:[.,]\d{1,6})?)?)(?: ?(?P<zone>Z|[+-]\d\d:?\d\d))?)?"
    )
    for date in (
        r"(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?P<year>\d{4})",
        r"(?P<year>\d{4})[/.](?P<month>\d{1,2})[/.](?P<day>\d{1,2})",
        r"(?P<day>\d{1,2})/(?P<month>[A-Z][a-z]{2})/(?P<year>\d{4})",
    )
)
_EITHER_ORDER = re.compile(
    r"(?P<one>\d{1,2})(?P<sign>[-/])(?P<other>\d{1,2})(?P=sign)\d{4}"
    r"(?P<between> ?)(?P<rest>(?:\d{1,2}:\d\d(?::\d\d)?)?)"
)
_MOST_MONTHS = 12
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def microseconds(text: str, time_format: str | None = None) -> int | None:
    """Return the microseconds since 1970 of a date and time or of a number of seconds; None for anything else.

    >>> microseconds("1970-01-01 00:00:02")
    2000000
    >>> microseconds("01.01.1970 0:01") == microseconds("01/Jan/1970:00:01:00 +0000") == 60_000_000
    True
    >>> microseconds("2/1/1970", "%d/%m/%Y") == microseconds("1970-01-02")
    True
    """
    text = text.strip()
    try:
        if time_format is not None:
            return _since_1970(datetime.strptime(text, time_format))
        if number := _SINCE_1970.fullmatch(text):
            return _scaled(number)
        return _since_1970(datetime.fromisoformat(_iso(text)))
    except (ValueError, OverflowError):
        return None


def format_of(texts: Iterable[str]) -> str | None:
    """Return how dates are written of which either the day or the month comes first, if some tell which.

    >>> format_of(["01-09-2024 09:06", "", "17-09-2024 10:30"]), format_of(["1/31/2024", "2/1/2024"])
    ('%d-%m-%Y %H:%M', '%m/%d/%Y')
    >>> format_of(["01-09-2024", "02-09-2024"]), format_of(["13-09-2024", "09-13-2024"]), format_of(["2024-09-13"])
    (None, None, None)
    """
    given = [_EITHER_ORDER.fullmatch(text.strip()) for text in texts if text.strip()]
    found = [each for each in given if each is not None]
    written = {(each["sign"], each["rest"].count(":"), len(each["between"])) for each in found}
    if len(found) < len(given) or len(written) != 1:
        return None
    ((sign, colons, between),) = written
    day_first, month_first = (any(int(each[place]) > _MOST_MONTHS for each in found) for place in ("one", "other"))
    if day_first == month_first:
        return None
    time = " " * between + ("%H:%M:%S" if colons > 1 else "%H:%M" if colons else "")
    return sign.join(("%d", "%m", "%Y") if day_first else ("%m", "%d", "%Y")) + time


def check_format(time_format: str) -> None:
    """Refuse a format of times that does not tell the day."""
    midnight = datetime(2006, 3, 1, tzinfo=UTC)
    if microseconds(midnight.strftime(time_format), time_format) != _since_1970(midnight):
        raise OptionError(f"time_format {time_format!r} does not tell the day; write it such as %d/%m/%Y %H:%M:%S")


def _scaled(number: re.Match[str]) -> int:
    seconds, fraction, milliseconds, exact, nanoseconds = number.groups()
    if seconds:
        return int(seconds) * 1_000_000 + int((fraction or ".")[1:7].ljust(6, "0"))
    if nanoseconds:
        return int(nanoseconds) // 1000
    return int(milliseconds) * 1000 if milliseconds else int(exact)


def _iso(text: str) -> str:
    """Return a date that is written in another order as ISO 8601 has it; anything else as it is."""
    for pattern in _DATES:
        if found := pattern.fullmatch(text):
            month = found["month"] if found["month"].isdigit() else str(_MONTHS.index(found["month"]) + 1)
            time = f"T{found['hour']:0>2}{found['rest']}{found['zone'] or ''}" if found["hour"] else ""
            return f"{found['year']}-{month:0>2}-{found['day']:0>2}{time}"
    return text


def _since_1970(time: datetime) -> int:
    naive = time.astimezone(UTC).replace(tzinfo=None) if time.tzinfo else time
    return (naive - _EPOCH) // timedelta(microseconds=1)
