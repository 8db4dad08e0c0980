"""When was a line written?

Logs say it in many ways, some without a year, some without a day. Times come out as
seconds from an origin that is the same within one input: enough for differences.
Left out: time zones between two machines (a wrapper's own clock is used only where the
line has none).
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache

_FULL = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[ T]"
    r"(\d\d):(\d\d):(\d\d)([.,]\d{1,9})?"
)
_NO_YEAR = re.compile(
    r"(?<![\d-])(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)"
    r"([.,]\d{1,9})?"
)
_SYSLOG = re.compile(
    r"(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) +(\d{1,2}) "
    r"(\d\d):(\d\d):(\d\d)([.,]\d{1,9})?"
)
_CLOCK = re.compile(r"(?<![\d:])(\d\d):(\d\d):(\d\d)([.,]\d{1,9})?(?![\d:])")
_CUT = re.compile(r"[-:., \d]*(?:[A-Z]{2}\d+ ?)*\]")
"""A header that has lost its bracket, and who knows how much of its date."""
_MONTHS = {name: number for number, name in enumerate(calendar.month_abbr)}
DAY = 86400.0
YEAR = 366 * DAY
_LEAP = 2000
"""The year of a date without one: it has a 29th of February."""


class Clock:
    """Reads the times of one input, which only ever jump back for a reason: a new year
    or a new day where the format leaves it out.

    >>> clock = Clock()
    >>> late = clock.read("INFO 12-31 23:59:50")
    >>> clock.read("INFO 01-01 00:00:10") - late
    20.0
    """

    def __init__(self) -> None:
        self._last: dict[str, float] = {}
        self._carried: dict[str, float] = {}

    def read(self, text: str) -> float | None:
        """Return the last time written in the text; None if there is none.

        Changes: what the clock knows of the day and the year.
        """
        for form, pattern in _FORMS:
            if times := pattern.findall(text):
                if form != "full" and _CUT.match(text):
                    return None
                seconds = _seconds(*_PARTS[form](*times[-1]))
                return None if seconds is None else self._carry(form, seconds)
        return None

    def _carry(self, form: str, seconds: float) -> float:
        if form == "full":
            return seconds
        span = DAY if form == "clock" else YEAR
        kept = "clock" if form == "clock" else "no_year"
        back = self._last.get(kept, seconds) - seconds
        self._last[kept] = seconds
        if back > span / 2:
            self._carried[kept] = self._carried.get(kept, 0.0) + span
        return seconds + self._carried.get(kept, 0.0)


_FORMS = (
    ("full", _FULL),
    ("no_year", _NO_YEAR),
    ("syslog", _SYSLOG),
    ("clock", _CLOCK),
)
_Parts = tuple[int, int, int, str, str, str, str]
_PARTS: dict[str, Callable[..., _Parts]] = {
    "full": lambda y, month, day, *rest: (int(y), int(month), int(day), *rest),
    "no_year": lambda month, day, *rest: (_LEAP, int(month), int(day), *rest),
    "syslog": lambda name, day, *rest: (_LEAP, _MONTHS[name], int(day), *rest),
    "clock": lambda *rest: (_LEAP, 1, 1, *rest),
}
"""Year, month, day, then hour, minute, second and fraction as they are written."""


def _seconds(
    year: int, month: int, day: int, h: str, m: str, s: str, part: str
) -> float | None:
    """Return the seconds that a date and time mean; None if there is no such day."""
    hour, minute, second = int(h), int(m), int(s)
    midnight = _midnight(year, month, day)
    if midnight is None or hour > 23 or minute > 59 or second > 60:
        return None
    whole = midnight + 3600 * hour + 60 * minute + second
    return whole + (float(part.replace(",", ".")) if part else 0.0)


@lru_cache(maxsize=512)
def _midnight(year: int, month: int, day: int) -> int | None:
    try:
        return int(datetime(year, month, day, tzinfo=UTC).timestamp())
    except ValueError:
        return None
