"""Which lines between scrapes are somebody's own, and when do they say it was?

A loop that fetches /metrics writes the date before each page, or curl its headers, or
the machine its clock. None of these is damage, and the time of one is the page's.
Left out: the pages themselves (scrape.py).
"""

from __future__ import annotations

import re

from .clock import Clock

_EPOCH = re.compile(r"[^\w{]*(1\d{9})(\d{3})?(\.\d+)?[^\w{]*")
_METRIC = re.compile(r"[a-zA-Z_:][\w:]*(?:\{|$| [-+\d.eENaInf]+$)")


class Marks:
    """Reads what stands between scrapes.

    >>> Marks().time("=== 1773480063 ===")
    1773480063.0
    """

    def __init__(self) -> None:
        self._clock = Clock()

    def time(self, text: str) -> float | None:
        """Return the time that the line says; None if it says none."""
        if found := _EPOCH.fullmatch(text):
            return float(found[1]) + (int(found[2]) / 1000 if found[2] else 0.0)
        return self._clock.read(text)


def is_metric(text: str) -> bool:
    """Say whether the line is, or was, one of a page of metrics.

    >>> is_metric('up{job="a'), is_metric("Sat Mar 14 09:21:03 UTC 2026")
    (True, False)
    """
    return _METRIC.match(text) is not None
