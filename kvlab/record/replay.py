"""What was the state after event n, for any n, without waiting?

A `Replay` keeps keyframes as seek.py says; one shares the records of nodes and
requests that did not change since the one before.
Left out: what the states look like (views/).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .events import Change, Decision, Event, Step
from .fit import misfit
from .seek import FoldError, Seeker, check_step
from .snapshot import State
from .trace import Trace

_ID = attrgetter("id")


def fold(state: State, events: list[Event], first: int, end: int) -> None:
    """Apply events first .. end-1 of the list, checking each.

    Changes: the state; after an error it is of no more use.
    Raises: FoldError for an event that does not fit the state before it.
    """
    for index in range(first, end):
        event = events[index]
        try:
            if (problem := misfit(state, event)) is None:
                state.apply(event)
        except KeyError as unknown:
            problem = f"it names {unknown.args[0]!r}, which is not there"
        except ValueError as misplaced:
            problem = str(misplaced)
        if problem is not None:
            raise FoldError(index, event, problem)


def state_at(trace: Trace, step: int) -> State:
    """Return the state after the first `step` events, for those who need only one.

    Raises: TraceError as `Replay.at`. Cost: O(step).
    """
    check_step(step, len(trace))
    state = State.start(trace.header.config)
    fold(state, trace.events, 0, step)
    return state


class Replay(Seeker[State]):
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
        super().__init__(trace.events, State.start(trace.header.config))

    def states(self, first: int = 0) -> Iterator[tuple[int, Event, State]]:
        """Yield (index, event, state after it) from event `first` on.

        The state is one object that moves on: copy it to keep it.
        Raises: TraceError as `at`.
        """
        state = self.at(first)
        for index in range(first, len(self)):
            fold(state, self.trace.events, index, index + 1)
            yield index, self.trace.events[index], state

    def find(
        self, kinds: type[Event] | tuple[type[Event], ...], after: int = -1
    ) -> int | None:
        """Return the first event of the kinds behind index `after`; None if none.

        Bases serve as kinds: `Decision`, `Change`. Cost: O(events passed over).
        """
        behind = range(after + 1, len(self))
        return next(
            (i for i in behind if isinstance(self.trace.events[i], kinds)), None
        )

    def find_back(
        self, kinds: type[Event] | tuple[type[Event], ...], before: int
    ) -> int | None:
        """Return the last event of the kinds before index `before`; None if none."""
        ahead = range(min(before, len(self)) - 1, -1, -1)
        return next((i for i in ahead if isinstance(self.trace.events[i], kinds)), None)

    def next_decision(self, index: int) -> int | None:
        """Return the next decision behind event `index`, -1 being the start."""
        return self.find(Decision, index)

    def previous_decision(self, index: int) -> int | None:
        """Return the last decision before event `index`."""
        return self.find_back(Decision, index)

    def of_kind(self, *kinds: type[Event]) -> list[int]:
        """Return the indexes of all events of the kinds. Cost: O(events)."""
        return [i for i, e in enumerate(self.trace.events) if isinstance(e, kinds)]

    def rests(self) -> list[int]:
        """Return the steps between operations, where all laws hold: before each
        `Step` event, and at the end. Cost: O(events)."""
        return [*self.of_kind(Step), len(self)]

    def changes_of(
        self, node: int | None = None, request: str | None = None
    ) -> list[int]:
        """Return the changes that name the node or the request. A lock or a touch of
        a deeper node is not among them. Cost: O(events)."""
        return [
            i
            for i, e in enumerate(self.trace.events)
            if isinstance(e, Change) and _names(e, node, request)
        ]

    def _fold(self, state: State, first: int, end: int) -> None:
        fold(state, self.trace.events, first, end)

    def _pack(self, state: State) -> Callable[[], State]:
        return _Keyframe.of(state).state

    def _copy(self, state: State) -> State:
        return state.copy()

    def _stretch(self, state: State) -> int:
        return len(state.nodes) // 16


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


def _names(event: Change, node: int | None, request: str | None) -> bool:
    if request is not None and getattr(event, "request", None) == request:
        return True
    if node is None:
        return False
    return any(
        getattr(event, name, None) == node for name in ("node", "upper", "parent")
    )
