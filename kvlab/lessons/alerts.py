"""Does a learner's alert wake somebody for the ceiling, and for nothing else?

`judge` reads runs that the notebook does not show as a scraper would, every ten
seconds, and asks the rule each time. It must fire in the runs that L1 limits, and in no
other: the five kinds that are sealed, and the ceiling once more with a high hit rate,
so that no rule on the hit rate will do.
Left out: how long an alert must hold, who is woken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from ..views.theme import Words
from .kinds import Flaw
from .scenarios.nb11 import KINDS, Reading, ceiling_that_hits, readings

HELD_OUT = 2
"""The seed of the runs that no cell shows."""

HITS = Words("the ceiling, with a high hit rate", "L1 到顶，命中率高")
SICK = (KINDS["ceiling"], HITS)


def held_out() -> Iterator[tuple[Words, tuple[Reading, ...]]]:
    """Yield the runs that no cell shows: what is the matter, and the readings."""
    for kind, words in KINDS.items():
        yield words, readings(kind, HELD_OUT)
    yield HITS, ceiling_that_hits(HELD_OUT)


def judge(function: Callable[..., Any], random: Random) -> Flaw | None:
    """Return which run a rule gets wrong, None if it gets all of them right."""
    for what, found in held_out():
        fired = [now for now in found if function(now)]
        if bool(fired) == (what in SICK):
            continue
        if not fired:
            return Flaw(Words(
                f"It sleeps through a run that L1 limits ({what.en}).",
                f"“{what.zh}”那次运行里它没有响。"))  # fmt: skip
        first = fired[0]
        told = (
            f"usage {first.usage:.2f}, queue {first.queue:.0f}, running "
            f"{first.running:.0f}, retracted {first.retracted:.0f}"
        )
        return Flaw(Words(
            f"A false alarm in {what.en!r}, {len(fired)} times, first at "
            f"{first.time:.0f} s: {told}.",
            f"“{what.zh}”那次误报 {len(fired)} 次，首次在 {first.time:.0f} s："
            f"{told}。"))  # fmt: skip
    return None
