"""Does a learner's alert wake somebody for the ceiling, and for nothing else?

`judge` reads runs that the notebook does not show as a scraper would, every ten
seconds, and asks the rule each time. It must fire in the run that L1 limits, and in no
other.
Left out: how long an alert must hold, who is woken.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from ..views.theme import Words
from .kinds import Flaw
from .scenarios.nb11 import KINDS, Reading, readings

HELD_OUT = 2
"""The seed of the runs that no cell shows."""

SICK = "ceiling"


def times_fired(rule: Callable[..., Any], kind: str, seed: int) -> list[Reading]:
    """Return the readings at which the rule fires."""
    return [now for now in readings(kind, seed) if rule(now)]


def judge(function: Callable[..., Any], random: Random) -> Flaw | None:
    """Return which run a rule gets wrong, None if it gets all of them right."""
    for kind in KINDS:
        fired = times_fired(function, kind, HELD_OUT)
        if bool(fired) == (kind == SICK):
            continue
        if not fired:
            return Flaw(Words(
                f"It sleeps through the run that L1 limits ({KINDS[kind].en}).",
                f"“{KINDS[kind].zh}”那次运行里它没有响。"))  # fmt: skip
        first = fired[0]
        told = (
            f"usage {first.usage:.2f}, queue {first.queue:.0f}, running "
            f"{first.running:.0f}, retracted {first.retracted:.0f}"
        )
        return Flaw(Words(
            f"A false alarm in {KINDS[kind].en!r}, {len(fired)} times, first at "
            f"{first.time:.0f} s: {told}.",
            f"“{KINDS[kind].zh}”那次误报 {len(fired)} 次，首次在 {first.time:.0f} s："
            f"{told}。"))  # fmt: skip
    return None
