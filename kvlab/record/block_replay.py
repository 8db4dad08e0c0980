"""What was the state of a vLLM run after event n?

Left out: entering a long run anywhere (the player does, by patches), and checks of
hand-made events beyond what the fold itself notices.
"""

from __future__ import annotations

from collections.abc import Iterator

from .block_snapshot import BlockState
from .events import Event
from .folding import check_step, fold_events
from .trace import BlockTrace


def fold_blocks(state: BlockState, events: list[Event], first: int, end: int) -> None:
    """Apply events first .. end-1 of the list.

    Changes: the state; after an error it is of no more use.
    Raises: FoldError for an event that does not fit the state before it.
    """
    fold_events(state, events, first, end)


def block_state_at(trace: BlockTrace, step: int) -> BlockState:
    """Return the state after the first `step` events; 0 is the start.

    Raises: TraceError if the run has no such step, FoldError as `fold_blocks`.
    Cost: O(step).
    """
    check_step(step, len(trace))
    state = BlockState.start(trace.header.config)
    fold_blocks(state, trace.events, 0, step)
    return state


def block_states(trace: BlockTrace) -> Iterator[tuple[int, Event, BlockState]]:
    """Yield (index, event, state after it), from the first event on.

    The state is one object that moves on: copy it to keep it.
    Raises: FoldError as `fold_blocks`.
    """
    state = BlockState.start(trace.header.config)
    for index, event in enumerate(trace.events):
        fold_blocks(state, trace.events, index, index + 1)
        yield index, event, state
