"""What does a picture of one moment need to know?

A `Frame` is one step of a run: the event that has just happened, and the state before
and after it. `focus` says which nodes, pages and requests that event touches.
Left out: how anything looks.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from ..pages import NO_PAGES, Pages, join
from ..record import events as ev
from ..record.events import Event, Tier
from ..record.folding import check_step
from ..record.moment import ROOT, NodeState
from ..record.replay import Replay, fold, state_at
from ..record.snapshot import State
from ..record.trace import Header, Trace
from .passing import overshoot, promised


@dataclass(frozen=True, slots=True)
class Frame:
    """The moment after the first `step` events; `event` is the last of them.

    At step 0 nothing has happened: `event` is None and `before` is `state`. `promised`:
    pages of L1 that were handed out for a load; `over`: what an eviction freed beyond
    what was asked (passing.py).
    """

    header: Header
    step: int
    event: Event | None
    before: State
    state: State
    promised: Pages = field(default_factory=lambda: NO_PAGES)
    over: Pages = field(default_factory=lambda: NO_PAGES)

    @property
    def index(self) -> int:
        """The event's place in the trace, -1 at step 0."""
        return self.step - 1


def frame_at(trace: Trace, step: int) -> Frame:
    """Return the moment after the first `step` events.

    Raises: TraceError if the run has no such step, or does not fold up to it.
    Cost: O(step); a `Replay` is quicker where many moments are wanted.
    """
    check_step(step, len(trace))
    return next_frame(trace, step, state_at(trace, max(step - 1, 0)))


def frame_of(replay: Replay, step: int) -> Frame:
    """Return the same out of a replay, which moves on from where it is."""
    check_step(step, len(replay.trace))
    before = replay.at(max(step - 1, 0))
    return next_frame(replay.trace, step, before)


def next_frame(trace: Trace, step: int, before: State) -> Frame:
    """Return the moment after `step` events, given the state one event earlier.

    Raises: TraceError if the run ends before, or the event does not fold.
    """
    check_step(step, len(trace))
    if step == 0:
        return Frame(trace.header, 0, None, before, before)
    event = trace.events[step - 1]
    state = before
    if isinstance(event, ev.Change):
        state = before.copy()
        fold(state, trace.events, step - 1, step)
    over = overshoot(trace.events, step, trace.header.config.page_size)
    coming = promised(trace.events, step)
    return Frame(trace.header, step, event, before, state, coming, over)


class Focus(NamedTuple):
    """What an event touches. `gone` left the tree in it; `lost`: with no copy left."""

    nodes: frozenset[int] = frozenset()
    l1: Pages = NO_PAGES
    l2: Pages = NO_PAGES
    request: str | None = None
    gone: NodeState | None = None

    def pages(self, tier: Tier) -> Pages:
        """Return the touched pages of a tier."""
        return self.l1 if tier == "L1" else self.l2


def focus(frame: Frame) -> Focus:
    """Return what the frame's event touches."""
    event = frame.event
    if event is None:
        return Focus()
    nodes = frozenset(_nodes(frame, event))
    request = getattr(event, "request", None)
    if isinstance(event, ev.Alloc | ev.Free):
        l1, l2 = (
            (event.pages, NO_PAGES) if event.tier == "L1" else (NO_PAGES, event.pages)
        )
        return Focus(nodes, l1, l2, request)
    if isinstance(event, ev.Row):
        return Focus(nodes, event.pages, NO_PAGES, request)
    if isinstance(event, ev.Demote):
        return Focus(nodes, _pages(frame.before, [event.node], "L1"))
    if isinstance(event, ev.Reclaim):
        return Focus(nodes, l2=_pages(frame.before, [event.node], "L2"))
    gone = None
    if isinstance(event, ev.Delete | ev.EvictHost):
        gone = frame.before.nodes.get(event.node)
    states = [frame.state, frame.before] if gone else [frame.state]
    l1 = join([_pages(state, nodes, "L1") for state in states])
    l2 = join([_pages(state, nodes, "L2") for state in states])
    return Focus(nodes, l1, l2, request, gone)


def given_up(event: Event | None) -> tuple[Tier, int] | None:
    """Return the copy that a node gives up in the event while the other one stays."""
    match event:
        case ev.Demote():
            return "L1", event.node
        case ev.Reclaim():
            return "L2", event.node
    return None


def node_of(state: State, id: int) -> NodeState | None:
    """Return the node, in the tree or dropped while it was being loaded."""
    return state.nodes.get(id) or state.orphans.get(id)


def _pages(state: State, nodes: frozenset[int] | list[int], tier: Tier) -> Pages:
    found = [node for id in nodes if (node := node_of(state, id))]
    lists = [node.pages if tier == "L1" else node.host_pages for node in found]
    return join([pages for pages in lists if pages is not None])


def _nodes(frame: Frame, event: Event) -> list[int]:
    """Return the nodes that the event names or walks."""
    nodes: Iterable[NodeState] = ()
    match event:
        case ev.Touch() | ev.Lock() | ev.Unlock():
            nodes = frame.state.path(event.node)
        case ev.Match():
            ends = (event.last_device, event.best)
            nodes = [node for end in ends for node in frame.state.path(end)]
        case ev.LoadBack():
            nodes = [n for n in frame.state.path(event.node) if n.pages is None]
        case ev.BackupDone():
            known = frame.before.nodes.values()
            nodes = [node for node in known if node.writing == event.node]
        case ev.LoadDone():
            path = frame.before.path(event.node)
            coming = [node for node in path if node.loading == event.node]
            nodes = [node for node in coming if node.pages is not None]
        case ev.SendWrites():
            return list(event.nodes)
        case _:
            named = (getattr(event, "node", ROOT), getattr(event, "upper", ROOT))
            return [id for id in named if id != ROOT]
    return [node.id for node in nodes]
