"""What does a picture of one moment of a block run need to know?

A `BlockFrame` is one step: the event that has just happened, the state before and after
it. `touched` are the blocks of L1 that the event names.
Left out: how anything looks; runs of the tree (frame.py).
"""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import TraceError
from ..pages import Pages, as_pages
from ..record import block_events as be
from ..record.block_replay import block_state_at, fold_blocks
from ..record.block_snapshot import BlockState
from ..record.events import Event
from ..record.trace import BlockHeader, BlockTrace


@dataclass(frozen=True, slots=True)
class BlockFrame:
    """The moment after the first `step` events; `event` is None at step 0."""

    header: BlockHeader
    step: int
    event: Event | None
    before: BlockState
    state: BlockState

    @property
    def touched(self) -> frozenset[int]:
        """The blocks of L1 that the event names."""
        match self.event:
            case be.Take() | be.Forget() | be.Register() | be.Share() | be.Release():
                if self.event.tier == "L1":
                    return frozenset(self.event.blocks.tolist())
            case None:
                return frozenset()
        return frozenset(named_blocks(self.event, self.before)[0].tolist())


NAMING = (be.Hold, be.Pin, be.CopyOut, be.CopyIn, be.CopiedOut, be.CopiedIn)
"""Events that name blocks and leave them as they are."""


def named_blocks(event: Event, before: BlockState) -> tuple[Pages, Pages]:
    """Return the blocks of L1 and of L2 that an event of `NAMING` is about.

    Raises: KeyError for the end of a copy that never began.
    """
    none = as_pages(())
    match event:
        case be.Hold():
            return event.blocks, none
        case be.Pin():
            return none, event.blocks
        case be.CopyOut() | be.CopyIn():
            return event.l1, event.l2
        case be.CopiedOut():
            l1, l2 = before.stores[event.job]
        case be.CopiedIn():
            l1, l2 = before.loads[event.request]
        case _:
            return none, none
    return as_pages(l1), as_pages(l2)


def block_frame_at(trace: BlockTrace, step: int) -> BlockFrame:
    """Return the moment after the first `step` events.

    Raises: TraceError if the run has no such step, or does not fold up to it.
    Cost: O(step).
    """
    if not 0 <= step <= len(trace):
        raise TraceError(f"step {step}", "is not in the run", f"use 0 to {len(trace)}")
    before = block_state_at(trace, max(step - 1, 0))
    if step == 0:
        return BlockFrame(trace.header, 0, None, before, before)
    state = before.copy()
    fold_blocks(state, trace.events, step - 1, step)
    return BlockFrame(trace.header, step, trace.events[step - 1], before, state)
