"""How is a run folded, and what is said of the event that does not fit?

Left out: what a state is (moment.py, block_snapshot.py); any step of a run, and
which events fit (replay.py, fit.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, SupportsIndex, TypeVar

from ..errors import TraceError
from .events import Event


class FoldError(TraceError):
    """An event that does not fit the state before it: `index` is its number, `problem`
    says why."""

    def __init__(self, index: int, event: Event, problem: str) -> None:
        self.index, self.event, self.problem = index, event, problem
        super().__init__(
            f"event {index} ({type(event).__name__})",
            f"does not fit the state before it: {problem}",
            f"steps up to {index} can be shown; record the run again",
        )


class Folds(Protocol):
    """A state that events move on."""

    def apply(self, event: Event) -> None: ...


S = TypeVar("S", bound=Folds)


def fold_events(
    state: S,
    events: list[Event],
    first: int,
    end: int,
    misfit: Callable[[S, Event], str | None] | None = None,
) -> None:
    """Apply events first .. end-1 of the list; `misfit` says why one cannot follow.

    Changes: the state; after an error it is of no more use.
    Raises: FoldError for an event that does not fit the state before it.
    """
    for index in range(first, end):
        event, problem = events[index], None
        try:
            if misfit is None or (problem := misfit(state, event)) is None:
                state.apply(event)
        except KeyError as unknown:
            problem = f"it names {unknown.args[0]!r}, which is not there"
        except ValueError as misplaced:
            problem = str(misplaced)
        if problem is not None:
            raise FoldError(index, event, problem)


def check_step(step: int, size: int) -> None:
    """Raises: TraceError for a step that a run of so many events does not have."""
    if not is_among(step, 0, size):
        raise TraceError(f"step {step!r:.40}", "is not in the run", f"use 0 to {size}")


def is_among(value: object, first: int, last: int) -> bool:
    """Return whether somebody's value is a whole number of that range.

    >>> is_among(3, 0, 9), is_among(3.0, 0, 9), is_among("3", 0, 9)
    (True, False, False)
    """
    return isinstance(value, SupportsIndex) and first <= int(value) <= last
