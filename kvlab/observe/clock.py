"""When was a line written?

Logs say it in many ways, some without a year, some without a day. Times come out as
seconds from an origin that is the same within one input: enough for differences.
Left out: time zones between two machines (a wrapper's own clock is used only where the
line has none).
"""

from __future__ import annotations

import calendar
import re

_FULL = re.compile(
    r"(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)[ T]"
    r"(?P<h>\d\d):(?P<m>\d\d):(?P<s>\d\d)(?P<part>[.,]\d{1,9})?"
)
_NO_YEAR = re.compile(
    r"(?<![\d-])(?P<month>\d\d)-(?P<day>\d\d) (?P<h>\d\d):(?P<m>\d\d):(?P<s>\d\d)"
    r"(?P<part>[.,]\d{1,9})?"
)
_SYSLOG = re.compile(
    r"(?P<name>Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) +(?P<day>\d{1,2}) "
    r"(?P<h>\d\d):(?P<m>\d\d):(?P<s>\d\d)(?P<part>[.,]\d{1,9})?"
)
_CLOCK = re.compile(
    r"(?<![\d:])(?P<h>\d\d):(?P<m>\d\d):(?P<s>\d\d)(?P<part>[.,]\d{1,9})?(?![\d:])"
)
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
            if times := [*pattern.finditer(text)]:
                if form != "full" and _CUT.match(text):
                    return None
                seconds = _seconds(times[-1].groupdict())
                return None if seconds is None else self._carry(form, seconds)
        return None

    def _carry(self, form: str, seconds: float) -> float:
        span = {"no_year": YEAR, "clock": DAY}.get(form)
        if span is None:
            return seconds
        back = self._last.get(form, seconds) - seconds
        self._last[form] = seconds
        if back > span / 2:
            self._carried[form] = self._carried.get(form, 0.0) + span
        return seconds + self._carried.get(form, 0.0)


_FORMS = (
    ("full", _FULL),
    ("no_year", _NO_YEAR),
    ("no_year", _SYSLOG),
    ("clock", _CLOCK),
)


def _seconds(parts: dict[str, str]) -> float | None:
    """Return the seconds that a date and time mean; None if there is no such day."""
    month = int(parts["month"]) if "month" in parts else 1
    if "name" in parts:
        month = _MONTHS[parts["name"]]
    year, day = int(parts.get("year", _LEAP)), int(parts.get("day", 1))
    hour, minute, second = int(parts["h"]), int(parts["m"]), int(parts["s"])
    if not (1 <= month <= 12 and hour < 24 and minute < 60 and second <= 60):
        return None
    if not 1 <= day <= calendar.monthrange(max(year, 1), month)[1]:
        return None
    whole = calendar.timegm((year, month, day, hour, minute, second))
    fraction = (parts.get("part") or "").replace(",", ".")
    return whole + (float(fraction) if fraction else 0.0)
