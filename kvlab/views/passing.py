"""What does a moment show that its state alone does not tell?

Slots that L1 has handed out for a load and that no node has yet are promised: that
they are for a load says the decision before them. Slots that an eviction freed beyond
what it was asked for are outlined. Both follow from events that have happened.
Left out: how they look (slots.py, pool_map.py); the same in the browser (player/run.js,
player/rings.js).
"""

from __future__ import annotations

from collections.abc import Sequence

from ..pages import NO_PAGES, Pages, join
from ..record import events as ev
from ..record.events import Decision, Event


def promised(events: Sequence[Event], step: int) -> Pages:
    """Return the pages of L1 that were handed out for a load and are no node's after
    `step` events: its nodes take them in turn.

    Cost: O(nodes of the load).
    """
    taken = 0
    for at in range(step - 1, -1, -1):
        event = events[at]
        if isinstance(event, ev.Load):
            taken += len(event.pages)
        elif isinstance(event, ev.Alloc) and event.tier == "L1":
            return event.pages[taken:] if _for_a_load(events, at) else NO_PAGES
        elif not isinstance(event, ev.Unlock):
            break
    return NO_PAGES


def _for_a_load(events: Sequence[Event], alloc: int) -> bool:
    """Is the decision before it, under the same cause, one to load?"""
    cause = events[alloc].cause
    for at in range(alloc - 1, cause, -1):
        if isinstance(events[at], Decision) and events[at].cause == cause:
            return isinstance(events[at], ev.LoadBack)
    return False


def overshoot(events: Sequence[Event], step: int, page_size: int) -> Pages:
    """Return the pages that the eviction which the last event ends freed beyond what
    was asked, because leaves go whole: the last that were freed.

    Cost: O(events of the eviction).
    """
    end = events[step - 1] if step else None
    if not isinstance(end, ev.Evicted):
        return NO_PAGES
    over = (end.freed - end.ask) // page_size
    found: list[Pages] = []
    for at in range(step - 2, end.cause, -1):
        event = events[at]
        if over <= 0:
            break
        if isinstance(event, ev.Free) and event.tier == end.tier:
            found.append(event.pages[-over:])
            over -= len(found[-1])
    return join(found)
