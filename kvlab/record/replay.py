"""What was the state after event n, for any n, without waiting?

A `Replay` folds the run once and keeps a keyframe every few thousand events; any state
is the nearest keyframe, or the last state asked for, moved forward. A keyframe shares
the records of nodes and requests that did not change since the one before.
Left out: what the states look like (views/).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from operator import attrgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .events import Event
from .fit import misfit
from .folding import FoldError, check_step, fold_events
from .snapshot import State
from .trace import Trace

STRETCH = 4096
"""Fewest events from one keyframe to the next."""

_ID = attrgetter("id")


def fold(state: State, events: list[Event], first: int, end: int) -> None:
    """Apply events first .. end-1 of the list, checking each.

    Changes: the state; after an error it is of no more use.
    Raises: FoldError for an event that does not fit the state before it.
    """
    fold_events(state, events, first, end, misfit)


def state_at(trace: Trace, step: int) -> State:
    """Return the state after the first `step` events, for those who need only one.

    Raises: TraceError if the run has no such step, FoldError as `fold`.
    Cost: O(step).
    """
    check_step(step, len(trace))
    state = State.start(trace.header.config)
    fold(state, trace.events, 0, step)
    return state


def states(trace: Trace) -> Iterator[tuple[int, Event, State]]:
    """Yield (index, event, state after it), from the first event on.

    The state is one object that moves on: copy it to keep it.
    Raises: FoldError as `fold`. Cost: O(events), one fold.
    """
    state = State.start(trace.header.config)
    for index, event in enumerate(trace.events):
        fold(state, trace.events, index, index + 1)
        yield index, event, state


class Replay:
    """A run that can be entered at any step.

    `fault` is the error of the first event that does not fold, else None; the steps
    up to it can be shown. Cost: O(events) to make; a keyframe keeps one reference
    for each node and request, and the records that changed since the one before.

    >>> from kvlab.config import EngineConfig
    >>> from kvlab.record.trace import Header
    >>> from kvlab.rules import Rules
    >>> from kvlab.record.events import Arrive
    >>> trace = Trace(Header(config=EngineConfig(pool_tokens=8),
    ...                      rules=Rules.v0_5_14()))
    >>> _ = trace(Arrive, "r1", 5, 1, 0)
    >>> replay = Replay(trace)
    >>> replay.at(0).waiting, replay.at(1).waiting
    ([], ['r1'])
    """

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.fault: FoldError | None = None
        self._now, self._step = State.start(trace.header.config), 0
        self._steps: list[int] = []
        self._keyframes: list[_Keyframe] = []
        try:
            self._fold_all()
        except FoldError as fault:
            self.fault = fault

    def __len__(self) -> int:
        return len(self.trace)

    def at(self, step: int) -> State:
        """Return the state after the first `step` events; 0 is the start.

        The state is the caller's own: changing it changes nothing here.
        Raises: TraceError if the run has no such step, `fault` if it lies behind the
        event that does not fold. Cost: a stretch of events at most, and a copy.
        """
        check_step(step, len(self))
        if self.fault is not None and step > self.fault.index:
            raise self.fault
        near = bisect_right(self._steps, step) - 1
        if not self._steps[near] <= self._step <= step:
            self._now, self._step = self._keyframes[near].state(), self._steps[near]
        for event in self.trace.events[self._step : step]:
            self._now.apply(event)
        self._step = step
        return self._now.copy()

    def _fold_all(self) -> None:
        """Move from the start to the end, leaving keyframes behind."""
        while True:
            self._steps.append(self._step)
            self._keyframes.append(_Keyframe.of(self._now))
            if self._step == len(self):
                return
            stretch = max(STRETCH, len(self._now.nodes) // 16)
            first, self._step = self._step, min(self._step + stretch, len(self))
            fold(self._now, self.trace.events, first, self._step)


class _Keyframe(NamedTuple):
    """A state without its two large tables, and their records in order.

    The records lie in numpy arrays of objects because Python's garbage collector
    walks every list that it finds, again and again, and these are long.
    """

    rest: State
    nodes: NDArray[np.object_]
    requests: NDArray[np.object_]

    @classmethod
    def of(cls, state: State) -> _Keyframe:
        rest = state.copy()
        nodes = np.fromiter(rest.nodes.values(), object, len(rest.nodes))
        requests = np.fromiter(rest.requests.values(), object, len(rest.requests))
        rest.nodes, rest.requests = {}, {}
        return cls(rest, nodes, requests)

    def state(self) -> State:
        state = self.rest.copy()
        nodes, requests = self.nodes.tolist(), self.requests.tolist()
        state.nodes = dict(zip(map(_ID, nodes), nodes, strict=True))
        state.requests = dict(zip(map(_ID, requests), requests, strict=True))
        return state
