"""How is any step of a long run reached without going through all before it?

The run is folded once, and a keyframe is kept every few thousand events; any state is
the nearest keyframe, or the last state asked for, moved forward.
Left out: what a state is, and what a keyframe of it keeps (replay.py, block_replay.py).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from ..errors import TraceError
from .events import Event

STRETCH = 4096
"""Fewest events from one keyframe to the next."""


class FoldError(TraceError):
    """An event that does not fit the state before it. `index` is its number."""

    def __init__(self, index: int, event: Event, problem: str) -> None:
        self.index = index
        super().__init__(
            f"event {index} ({type(event).__name__})",
            f"does not fit the state before it: {problem}",
            f"steps up to {index} can be shown; record the run again",
        )


class Folds(Protocol):
    """A state that events move on."""

    def apply(self, event: Event) -> None: ...


S = TypeVar("S", bound=Folds)


class Seeker(ABC, Generic[S]):
    """A run that can be entered at any step.

    `fault` is the error of the first event that does not fold, else None; the steps up
    to it can be shown. Cost: O(events) to make, and what the keyframes keep.
    """

    def __init__(self, events: list[Event], start: S) -> None:
        self.fault: FoldError | None = None
        self._events = events
        self._now, self._step = start, 0
        self._steps: list[int] = []
        self._keyframes: list[Callable[[], S]] = []
        try:
            self._fold_all()
        except FoldError as fault:
            self.fault = fault

    def __len__(self) -> int:
        return len(self._events)

    def at(self, step: int) -> S:
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
            self._now, self._step = self._keyframes[near](), self._steps[near]
        for event in self._events[self._step : step]:
            self._now.apply(event)
        self._step = step
        return self._copy(self._now)

    def _fold_all(self) -> None:
        """Move from the start to the end, leaving keyframes behind."""
        while True:
            self._steps.append(self._step)
            self._keyframes.append(self._pack(self._now))
            if self._step == len(self):
                return
            stretch = max(STRETCH, self._stretch(self._now))
            first, self._step = self._step, min(self._step + stretch, len(self))
            self._fold(self._now, first, self._step)

    @abstractmethod
    def _fold(self, state: S, first: int, end: int) -> None:
        """Apply events first .. end-1. Raises: FoldError for one that does not fit."""

    @abstractmethod
    def _pack(self, state: S) -> Callable[[], S]:
        """Return a keyframe of the state: called, it gives a new one each time."""

    @abstractmethod
    def _stretch(self, state: S) -> int:
        """Return how many events a keyframe of this size is worth."""

    def _copy(self, state: S) -> S:
        """Return an independent copy of the state."""
        return self._pack(state)()


def check_step(step: int, size: int) -> None:
    """Raises: TraceError for a step that a run of so many events does not have."""
    if not 0 <= step <= size:
        raise TraceError(f"step {step}", "is not in the run", f"use 0 to {size}")
