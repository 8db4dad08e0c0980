"""Whose slots of L2 does the engine read or free, taking them for those of a dropped
node?

0.5.14 may drop a node that it is about to load (rule `load_protects_source`), and then
goes on with slots that were freed, and perhaps given to another since.
Left out: who is next (next_victims.py), how the player says it (player/card.js).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ..pages import NO_PAGES, Pages
from ..record import events as ev
from ..record.events import Event
from ..record.moment import ROOT
from ..record.snapshot import State
from ..record.trace import Trace
from .frame import Frame
from .next_victims import dropped
from .player_words import UI_WORDS
from .sentences import is_freed_twice
from .text import slot_ranges
from .theme import Lang, num

Note = tuple[int, str, int, str]
"""A node (ROOT: nobody), what becomes of its slots, how many, and which."""


def amiss(trace: Trace, frame: Frame, lang: Lang = "en") -> list[str]:
    """Return what the frame's event gets wrong, as lines: that its node is dropped
    while it is to be loaded, and whose slots are taken for its own.

    Cost: O(step), where the frame has an event.
    """
    event, state, events = frame.event, frame.before, trace.events
    if event is None:
        return []
    left: dict[int, int] = {}
    for number, gone in enumerate(events[: frame.index], 1):
        if isinstance(gone, ev.EvictHost):
            left.setdefault(gone.node, number)
    read = misread(event, state, events, left)
    early = [(*note, "") for note in dropped(state, events, frame.index, left)]
    return [_line(*note, lang) for note in [*early, *mistaken(event, state, read)]]


def _line(node: int, why: str, number: int, slots: str, lang: Lang) -> str:
    said = UI_WORDS[f"kept_{why}"].to(lang).format(n=num(number), s=slots)
    return said if node == ROOT else f"n{node} {said}"


def misread(
    event: Event, state: State, events: Sequence[Event], left: Mapping[int, int]
) -> Pages:
    """Return the pages of L2 that a load reads although its node has lost them, in
    token order; none otherwise. `state` is the one before it, `left` the number of the
    event that dropped each node: the one behind it freed its pages."""
    if not isinstance(event, ev.Load) or event.node in state.nodes:
        return NO_PAGES
    freed = events[left[event.node]]
    assert isinstance(freed, ev.Free), f"n{event.node} was dropped, then {freed}"
    return freed.pages


def mistaken(event: Event, state: State, read: Pages) -> list[Note]:
    """Return who has the slots by now that the event reads (`read`) or frees a second
    time. Cost: O(nodes) for such an event."""
    if len(read):
        return list(_owners(read, state, "read", "stale"))
    if isinstance(event, ev.Free) and is_freed_twice(event, state):
        return list(_owners(event.pages, state, "robbed", "twice"))
    return []


def _owners(pages: Pages, state: State, owned: str, free: str) -> Iterator[Note]:
    page = state.config.page_size
    held = [(n.id, owned, n.host_pages) for n in state.nodes.values()]
    for node, why, theirs in [*held, (ROOT, free, state.pools["L2"].free.to_pages())]:
        if theirs is not None:
            mine = pages[np.isin(pages, theirs)]
            if len(mine):
                yield node, why, len(mine) * page, slot_ranges(mine, page)
