"""Which moments of a run do the tests look at? Used by several."""

from __future__ import annotations

from kvlab.record import events as ev
from kvlab.record.events import Event
from kvlab.record.replay import state_at
from kvlab.record.trace import Trace
from kvlab.views.frame import Frame, frame_at


def step_of(trace: Trace, kind: type[Event], number: int = 0) -> int:
    """Return the step after the event of that kind and number, from 0."""
    return [i for i, e in enumerate(trace.events, 1) if isinstance(e, kind)][number]


def at(trace: Trace, kind: type[Event], number: int = 0) -> Frame:
    """Return the moment after it."""
    return frame_at(trace, step_of(trace, kind, number))


def about(trace: Trace, event: Event) -> Frame:
    """Return the moment of an event at the end of the run."""
    state = state_at(trace, len(trace))
    return Frame(trace.header, 1, event, state, state)


def rests(trace: Trace) -> list[int]:
    """Return the steps between operations: before each `Step`, and at the end."""
    events = enumerate(trace.events)
    return [*(i for i, e in events if isinstance(e, ev.Step)), len(trace)]
