"""When did requests wait, and did that last?

A queue that comes and goes within seconds is how an engine works; one that stays for
minutes is not, whether or not it has drained by the end of the input. A *spell* is a
stretch of reports in which, with few exceptions, somebody waits.
Left out: what a spell means beside a full or an empty pool (signs.py, rules_*.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from statistics import fmean
from typing import NamedTuple

from .samples import Sample

LASTING_S = 120.0
"""Seconds from which a spell has lasted, where the reports have a clock."""
LASTING_REPORTS = 10
"""Reports from which it has, where they have none."""
_GAP = -4
"""Weight of a report without a queue against one with: four fifths must have one."""


class Row(NamedTuple):
    """One report with both usage and queue."""

    sample: Sample
    usage: float
    queue: float
    running: float | None


class Spell(NamedTuple):
    """Reports `start` to `stop` of the input, `stop` left out, in which requests wait.

    `open`: it reaches the end of the input, so nobody knows whether it drained.
    """

    rows: list[Row]
    start: int
    stop: int
    open: bool

    @property
    def queue_max(self) -> float:
        """The longest queue inside."""
        return max((row.queue for row in self.rows), default=0.0)

    @property
    def seconds(self) -> float | None:
        """How long it took; None where the reports have no clock."""
        times = [row.sample.time for row in self.rows]
        if not times or times[0] is None or times[-1] is None:
            return None
        return max(0.0, times[-1] - times[0])

    @property
    def lasted(self) -> bool:
        """It was no passing one: minutes, or many reports, with two or more waiting."""
        if not self.rows or fmean(row.queue for row in self.rows) < 2:
            return False
        seconds = self.seconds
        if seconds is None:
            return len(self.rows) >= LASTING_REPORTS
        return seconds >= LASTING_S and len(self.rows) >= 3


def longest(rows: Sequence[Row]) -> Spell:
    """Return the spell with most waiting reports; an empty one if nobody ever waits.

    Cost: O(reports).

    >>> sample = None
    >>> queues = [0, 1, 0, 3, 4, 5, 6, 7, 8, 0, 8, 7, 6, 9, 9]
    >>> found = longest([Row(sample, 0.5, queue, None) for queue in queues])
    >>> found.start, found.stop, found.open
    (3, 15, True)
    """
    best, start, stop, total, begun = 0, 0, 0, 0, 0
    for at, row in enumerate(rows):
        if total <= 0:
            total, begun = 0, at
        total += 1 if row.queue > 0 else _GAP
        if total > best:
            best, start, stop = total, begun, at + 1
    return Spell(list(rows[start:stop]), start, stop, 0 < stop == len(rows))


def last(rows: Sequence[Row]) -> Spell:
    """Return the spell that the input ends in; an empty one if it ends in none."""
    weights = [1 if row.queue > 0 else _GAP for row in reversed(rows)]
    sums = list(accumulate(weights))
    best = max(sums, default=0)
    length = sums.index(best) + 1 if best > 0 else 0
    start = len(rows) - length
    return Spell(list(rows[start:]) if length else [], start, len(rows), length > 0)
