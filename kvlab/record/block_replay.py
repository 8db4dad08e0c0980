"""What was the state of a vLLM run after event n, for any n, without waiting?

A `BlockReplay` keeps keyframes as seek.py says: a keyframe is arrays of numbers;
requests that are done never change again and are shared by all.
Left out: checks of hand-made events beyond what the fold itself notices.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .block_snapshot import BlockRequestState, BlockState
from .block_tier import BlockTier
from .events import Event, Tier
from .seek import FoldError, Seeker, check_step
from .trace import BlockTrace

Numbers = NDArray[np.int64]

_OVER = ("finished", "dropped")


def fold_blocks(state: BlockState, events: list[Event], first: int, end: int) -> None:
    """Apply events first .. end-1 of the list.

    Changes: the state; after an error it is of no more use.
    Raises: FoldError for an event that does not fit the state before it.
    """
    for index in range(first, end):
        try:
            state.apply(events[index])
        except KeyError as unknown:
            problem = f"it names {unknown.args[0]!r}, which is not there"
            raise FoldError(index, events[index], problem) from None
        except ValueError as misplaced:
            raise FoldError(index, events[index], str(misplaced)) from None


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


class BlockReplay(Seeker[BlockState]):
    """A block run that can be entered at any step.

    `fault` is the error of the first event that does not fold, else None; the steps up
    to it can be shown. Cost: O(events) to make; a keyframe keeps five numbers a block.

    >>> from kvlab.block_config import BlockConfig
    >>> from kvlab.record.events import Arrive
    >>> from kvlab.record.trace import BlockHeader
    >>> trace = BlockTrace(BlockHeader(config=BlockConfig()))
    >>> _ = trace(Arrive, "r1", 5, 1, 0)
    >>> replay = BlockReplay(trace)
    >>> replay.at(0).waiting, replay.at(1).waiting
    ([], ['r1'])
    """

    def __init__(self, trace: BlockTrace) -> None:
        self.trace = trace
        super().__init__(trace.events, BlockState.start(trace.header.config))

    def _fold(self, state: BlockState, first: int, end: int) -> None:
        fold_blocks(state, self.trace.events, first, end)

    def _pack(self, state: BlockState) -> Callable[[], BlockState]:
        return _Keyframe.of(state).state

    def _stretch(self, state: BlockState) -> int:
        return sum(tier.num_blocks for tier in state.tiers.values()) // 4


class _PackedTier(NamedTuple):
    """A pool as arrays: the queue, and owners and names as pairs of columns."""

    num_blocks: int
    free: Numbers
    owned: Numbers
    owners: Numbers
    named: Numbers
    names: Numbers

    @classmethod
    def of(cls, tier: BlockTier) -> _PackedTier:
        lists = (
            tier.free, tier.ref_cnt, tier.ref_cnt.values(), tier.names,
            tier.names.values(),
        )  # fmt: skip
        return cls(
            tier.num_blocks,
            *(np.fromiter(numbers, np.int64, len(numbers)) for numbers in lists),
        )

    def tier(self) -> BlockTier:
        return BlockTier(
            self.num_blocks,
            OrderedDict.fromkeys(self.free.tolist()),
            dict(zip(self.owned.tolist(), self.owners.tolist(), strict=True)),
            dict(zip(self.named.tolist(), self.names.tolist(), strict=True)),
        )


class _Keyframe(NamedTuple):
    """A state whose pools are packed; `rest` has all else, its requests its own."""

    rest: BlockState
    tiers: dict[Tier, _PackedTier]

    @classmethod
    def of(cls, state: BlockState) -> _Keyframe:
        tiers = {name: _PackedTier.of(tier) for name, tier in state.tiers.items()}
        return cls(_without_pools(state), tiers)

    def state(self) -> BlockState:
        state = _without_pools(self.rest)
        state.tiers = {name: packed.tier() for name, packed in self.tiers.items()}
        return state


def _without_pools(state: BlockState) -> BlockState:
    """Return an independent copy of a state but for its pools."""
    return replace(
        state,
        tiers={},
        requests={id: _kept(request) for id, request in state.requests.items()},
        waiting=state.waiting[:],
        deferred=state.deferred[:],
        running=state.running[:],
        stores={job: (l1[:], l2[:]) for job, (l1, l2) in state.stores.items()},
        loads={id: (l1[:], l2[:]) for id, (l1, l2) in state.loads.items()},
        pins={id: blocks[:] for id, blocks in state.pins.items()},
        chunks=state.chunks.copy(),
    )


def _kept(request: BlockRequestState) -> BlockRequestState:
    """Return the request, its own copy unless it can never change again."""
    if request.stage in _OVER:
        return request
    own = copy(request)
    own.blocks = request.blocks[:]
    return own
