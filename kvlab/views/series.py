"""How did both accounts go, from the first event to the last?

One column a term, one row a step, step 0 included: the numbers under every picture over
time. Left out: the pictures (timeline.py, timeline_svg.py).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..record.events import Change, Decision
from ..record.replay import states
from ..record.snapshot import State as Engine
from ..record.trace import Trace
from .grades import Grade, grade_of
from .theme import State

L1_TERMS: tuple[State, ...] = ("used", "held", "evictable", "available")
L2_TERMS: tuple[State, ...] = ("host_only", "copy", "available")

Counts = NDArray[np.int64]


class Series(NamedTuple):
    """Both accounts at every step.

    Shapes: `l1` (steps, 4) and `l2` (steps, 3), columns as in `L1_TERMS`, `L2_TERMS`;
    every row sums to the pool. Units: tokens. `decisions`, `refusals` and `losses` are
    steps: of decisions, and of all events of a grade (grades.py).
    """

    l1: Counts
    l2: Counts
    decisions: list[int]
    refusals: list[int]
    losses: list[int]


def series(trace: Trace) -> Series:
    """Return both accounts of the run. Cost: O(events), one fold.

    Raises: TraceError with the index of an event that does not fold.
    """
    rows = [_row(Engine.start(trace.header.config))]
    graded: dict[Grade, list[int]] = {"": [], "refusal": [], "loss": []}
    for index, event, state in states(trace):
        rows.append(_row(state) if isinstance(event, Change) else rows[-1])
        graded[grade_of(event, state)].append(index + 1)
    table = np.array(rows, np.int64)
    steps = enumerate(trace.events, 1)
    decisions = [step for step, event in steps if isinstance(event, Decision)]
    refusals, losses = graded["refusal"], graded["loss"]
    return Series(table[:, :4], table[:, 4:], decisions, refusals, losses)


def _row(state: Engine) -> tuple[int, ...]:
    device, host = state.account(), state.host_account()
    return (
        device.protected, device.held, device.evictable, device.available,
        host.host_only, host.copies, host.available,
    )  # fmt: skip


def thinned(steps: int, most: int) -> list[int]:
    """Return at most `most` steps of 0 .. steps-1, evenly, the first and last kept.

    >>> thinned(11, 3)
    [0, 5, 10]
    """
    if steps <= most:
        return list(range(steps))
    return [round(at * (steps - 1) / (most - 1)) for at in range(most)]
