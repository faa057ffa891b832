"""Reading a time, as people and programs write it."""

import re
from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1)
# A number of seconds, milliseconds, microseconds or nanoseconds since 1970: how many digits it has tells which.
_SINCE_1970 = re.compile(r"(\d{9,11})(\.\d+)?|(\d{12,14})|(\d{15,17})|(1\d{18})")


def microseconds(text: str) -> int | None:
    """Return the microseconds since 1970 of an ISO date and time or of a number of seconds; None for anything else.

    >>> microseconds("1970-01-01 00:00:02")
    2000000
    """
    text = text.strip()
    if number := _SINCE_1970.fullmatch(text):
        seconds, fraction, milliseconds, exact, nanoseconds = number.groups()
        if seconds:
            return int(seconds) * 1_000_000 + int((fraction or ".")[1:7].ljust(6, "0"))
        if nanoseconds:
            return int(nanoseconds) // 1000
        return int(milliseconds) * 1000 if milliseconds else int(exact)
    try:
        time = datetime.fromisoformat(text)
        naive = time.astimezone(UTC).replace(tzinfo=None) if time.tzinfo else time
    except (ValueError, OverflowError):
        return None
    return (naive - _EPOCH) // timedelta(microseconds=1)
