"""What was the state of a vLLM run after event n, for any n, without waiting?

A `BlockReplay` folds a run once and keeps a keyframe every few thousand events, as
replay.py does for the tree. A keyframe is arrays of numbers; requests that are done
never change again and are shared by all.
Left out: checks of hand-made events beyond what the fold itself notices.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from operator import attrgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import TraceError
from .block_snapshot import BlockRequestState, BlockState
from .block_tier import BlockTier
from .events import Event, Tier
from .replay import STRETCH, FoldError
from .trace import BlockTrace

Numbers = NDArray[np.int64]

_STEP = attrgetter("step")
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
    _check_step(step, len(trace))
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


class BlockReplay:
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
        self.fault: FoldError | None = None
        self._now = BlockState.start(trace.header.config)
        self._step = 0
        self._keyframes: list[_Keyframe] = []
        try:
            self._fold_all()
        except FoldError as fault:
            self.fault = fault

    def __len__(self) -> int:
        return len(self.trace)

    def at(self, step: int) -> BlockState:
        """Return the state after the first `step` events; 0 is the start.

        The state is the caller's own: changing it changes nothing here.
        Raises: TraceError if the run has no such step, `fault` if it lies behind the
        event that does not fold. Cost: a stretch of events at most (4096, or one for
        every 4 blocks), and a copy.
        """
        _check_step(step, len(self))
        if self.fault is not None and step > self.fault.index:
            raise self.fault
        keyframe = self._keyframes[bisect_right(self._keyframes, step, key=_STEP) - 1]
        if not keyframe.step <= self._step <= step:
            self._now, self._step = keyframe.state(), keyframe.step
        for event in self.trace.events[self._step : step]:
            self._now.apply(event)
        self._step = step
        return _Keyframe.of(step, self._now).state()

    def _fold_all(self) -> None:
        """Move from the start to the end, leaving keyframes behind."""
        end = len(self)
        blocks = sum(tier.num_blocks for tier in self._now.tiers.values())
        stretch = max(STRETCH, blocks // 4)
        while True:
            self._keyframes.append(_Keyframe.of(self._step, self._now))
            if self._step == end:
                return
            first, self._step = self._step, min(self._step + stretch, end)
            fold_blocks(self._now, self.trace.events, first, self._step)


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

    step: int
    rest: BlockState
    tiers: dict[Tier, _PackedTier]

    @classmethod
    def of(cls, step: int, state: BlockState) -> _Keyframe:
        tiers = {name: _PackedTier.of(tier) for name, tier in state.tiers.items()}
        return cls(step, _without_pools(state), tiers)

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


def _check_step(step: int, size: int) -> None:
    if not 0 <= step <= size:
        raise TraceError(f"step {step}", "is not in the run", f"use 0 to {size}")
