"""Does the pool fill, and when would it be full?

A pool that is not full yet and fills steadily looks healthy until the minute in which
it is not. Only a rise that takes half the input or more, and that ends with it, is
drawn on: one that levels off says nothing of what comes.
Left out: what it means beside a queue (rules_queue.py, rules_input.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .spells import Row

_LEVEL = 0.005
"""A fall of usage that is no end of a climb: half the last digit that SGLang prints."""


class Climb(NamedTuple):
    """Usage that rises to the very end; `full_in` seconds after it, it would be 1."""

    first: float
    last: float
    seconds: float
    full_in: float


def climb(rows: Sequence[Row]) -> Climb | None:
    """Return the rise at whose pace the pool is full before twice its time has gone by;
    None where there is none. Cost: O(reports)."""
    timed = [row for row in rows if row.sample.time is not None]
    start = len(timed) - 1
    while start > 0 and timed[start - 1].usage <= timed[start].usage + _LEVEL:
        start -= 1
    if len(timed) - start < max(3, 0.5 * len(timed)):
        return None
    first, last = timed[start], timed[-1]
    seconds = (last.sample.time or 0.0) - (first.sample.time or 0.0)
    rise = last.usage - first.usage
    if seconds <= 0 or rise <= 2 * _LEVEL or last.usage >= 1:
        return None
    late = timed[-1 - max(1, (len(timed) - start) // 3)]
    since = (last.sample.time or 0.0) - (late.sample.time or 0.0)
    still = last.usage - late.usage
    if still <= 0 or still < 0.5 * rise * since / seconds:
        return None  # it has levelled off
    full_in = (1 - last.usage) * seconds / rise
    return None if full_in > 2 * seconds else Climb(
        first.usage, last.usage, seconds, full_in
    )  # fmt: skip
