"""What is the state of a block engine after an event?

A `BlockState` is rebuilt from changes alone, like `State` for SGLang (snapshot.py):
`state.apply(event)`, one event at a time.
Left out: one pool (block_tier.py); folding a run (block_replay.py); its laws
(block_invariants.py).
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from ..block_config import BlockConfig
from . import block_events as ev
from .block_names import names_in
from .block_tier import BlockTier
from .chunk_state import ChunkState
from .events import (
    Arrive,
    Clock,
    Decode,
    Drop,
    Event,
    Finish,
    Forward,
    Output,
    Sent,
    Tier,
)  # fmt: skip


@dataclass(slots=True)
class BlockRequestState:
    """One request.

    `stage`: waiting, running, preempted, loading, ready (loaded, not yet admitted),
    finished or dropped. `number` counts arrivals. Units: lengths in tokens; `arrival`
    nanoseconds.
    """

    id: str
    number: int
    prompt_len: int
    max_new: int
    priority: int
    stage: str = "waiting"
    blocks: list[int] = field(default_factory=list)
    computed: int = 0
    outputs: int = 0
    preemptions: int = 0
    arrival: int = 0

    @property
    def lacks_one(self) -> bool:
        """Would one more computed token give an output? So a decode step finds it."""
        return self.computed + 1 == self.prompt_len + self.outputs

    @property
    def rank(self) -> tuple[int, int]:
        """The place under the priority policy: smallest first."""
        return (self.priority, self.number)


@dataclass
class BlockState:
    """Everything that a run's changes say, after some event.

    `stores` and `loads` are copies under way, as (L1 blocks, L2 blocks); `pins` the
    L2 blocks that were found for requests that could not yet be admitted; `retrying`
    waiting requests that were passed over since the connector could not tell.
    Units: `now` in nanoseconds, 0 in a run without a clock.

    >>> state = BlockState.start(BlockConfig(num_gpu_blocks=5))
    >>> state.tiers["L1"].account()
    BlockAccount(used=0, evictable=0, blank=4, total=4)
    """

    config: BlockConfig
    tiers: dict[Tier, BlockTier]
    requests: dict[str, BlockRequestState] = field(default_factory=dict)
    waiting: list[str] = field(default_factory=list)
    deferred: list[str] = field(default_factory=list)
    running: list[str] = field(default_factory=list)
    stores: dict[int, tuple[list[int], list[int]]] = field(default_factory=dict)
    loads: dict[str, tuple[list[int], list[int]]] = field(default_factory=dict)
    pins: dict[str, list[int]] = field(default_factory=dict)
    retrying: set[str] = field(default_factory=set)
    now: int = 0
    chunks: ChunkState = field(default_factory=ChunkState)

    @classmethod
    def start(cls, config: BlockConfig) -> BlockState:
        """Return the state before the first event."""
        l2 = config.l2.num_cpu_blocks if config.l2 else 1
        tiers: dict[Tier, BlockTier] = {
            "L1": BlockTier.start(config.num_gpu_blocks),
            "L2": BlockTier.start(l2),
        }
        return cls(config, tiers)

    def copy(self) -> BlockState:
        """Return an independent state. Cost: O(blocks + requests)."""
        return deepcopy(self)

    def apply(self, event: Event) -> None:
        """Move to the state after `event`. Decisions move nothing.

        Changes: this state. Cost: O(blocks named), O(requests) for a
        request's move or a decode step.
        Raises: ValueError or KeyError for an event that cannot be carried out.
        """
        change = _CHANGES.get(type(event))
        if change is not None:
            change(self, event)

    # --- pools

    def _take(self, e: ev.Take) -> None:
        self.tiers[e.tier].take(e.blocks.tolist())

    def _forget(self, e: ev.Forget) -> None:
        for block in e.blocks.tolist():
            del self.tiers[e.tier].names[block]

    def _register(self, e: ev.Register) -> None:
        self.tiers[e.tier].names.update(
            zip(e.blocks.tolist(), names_in(e.names), strict=True)
        )

    def _share(self, e: ev.Share) -> None:
        self.tiers[e.tier].share(e.blocks.tolist())

    def _release(self, e: ev.Release) -> None:
        self.tiers[e.tier].release(e.blocks.tolist())

    # --- requests

    def _arrive(self, e: Arrive) -> None:
        self.requests[e.request] = BlockRequestState(
            e.request, len(self.requests), e.prompt_len, e.max_new, e.priority
        )
        self._queue(self.waiting, e.request)

    def _hold(self, e: ev.Hold) -> None:
        self.requests[e.request].blocks += e.blocks.tolist()

    def _vacate(self, e: ev.Vacate) -> None:
        self.requests[e.request].blocks = []

    def _compute(self, e: ev.Compute) -> None:
        self.requests[e.request].computed = e.length

    def _run(self, e: ev.Run) -> None:
        self._leave(e.request)
        self.requests[e.request].stage = "running"
        self.running.append(e.request)

    def _preempt(self, e: ev.Preempt) -> None:
        request = self.requests[e.request]
        self._leave(e.request)
        request.stage, request.computed = "preempted", 0
        request.preemptions += 1
        self._queue(self.waiting, e.request, first=True)

    def _defer(self, e: ev.Defer) -> None:
        if e.why == "retry":
            self.retrying.add(e.request)
            return
        self.requests[e.request].stage = "loading"
        if e.request not in self.deferred:
            self._leave(e.request)
            self._queue(self.deferred, e.request)

    def _loaded(self, e: ev.Loaded) -> None:
        self.requests[e.request].stage = "ready"

    def _output(self, e: Output) -> None:
        self.requests[e.request].outputs += 1

    def _finish(self, e: Finish) -> None:
        self._leave(e.request)
        self.requests[e.request].stage = "finished"

    def _drop(self, e: Drop) -> None:
        self._leave(e.request)
        self.requests[e.request].stage = "dropped"

    def _leave(self, id: str) -> None:
        """Take the request out of the list it stands in, if it stands in one."""
        self.retrying.discard(id)
        for place in (self.running, self.waiting, self.deferred):
            if id in place:
                place.remove(id)

    def _queue(self, queue: list[str], id: str, *, first: bool = False) -> None:
        if self.config.policy == "priority":
            insort(queue, id, key=lambda other: self.requests[other].rank)
        else:
            queue.insert(0 if first else len(queue), id)

    # --- copies

    def _pin(self, e: ev.Pin) -> None:
        if len(e.blocks):
            self.pins[e.request] = e.blocks.tolist()
        else:
            del self.pins[e.request]

    def _copy_out(self, e: ev.CopyOut) -> None:
        l1, l2 = self.stores.setdefault(e.job, ([], []))
        l1 += e.l1.tolist()
        l2 += e.l2.tolist()

    def _copied_out(self, e: ev.CopiedOut) -> None:
        del self.stores[e.job]

    def _copy_in(self, e: ev.CopyIn) -> None:
        self.pins.pop(e.request, None)
        self.loads[e.request] = (e.l1.tolist(), e.l2.tolist())

    def _copied_in(self, e: ev.CopiedIn) -> None:
        del self.loads[e.request]

    def _chunk_hold(self, e: ev.ChunkHold) -> None:
        self.chunks.hold(e)

    def _chunk_move(self, e: ev.ChunkMove) -> None:
        self.chunks.move(e)

    def _chunk_aim(self, e: ev.ChunkAim) -> None:
        self.chunks.aim(e)

    # --- time

    def _sent(self, e: Sent) -> None:
        self.requests[e.request].arrival = e.at

    def _clock(self, e: Clock) -> None:
        self.now = e.now

    def _forward(self, e: Forward) -> None:
        self.now = e.begin + e.load + e.compute

    def _decode(self, e: Decode) -> None:
        self.now = e.now
        for id in self.running:
            request = self.requests[id]
            if request.lacks_one:
                request.computed += e.steps
                request.outputs += e.steps


_CHANGES: dict[type[Event], Callable[[BlockState, Any], None]] = {
    ev.Take: BlockState._take,
    ev.Forget: BlockState._forget,
    ev.Register: BlockState._register,
    ev.Share: BlockState._share,
    ev.Release: BlockState._release,
    ev.Hold: BlockState._hold,
    ev.Vacate: BlockState._vacate,
    ev.Compute: BlockState._compute,
    ev.Run: BlockState._run,
    ev.Preempt: BlockState._preempt,
    ev.Defer: BlockState._defer,
    ev.Loaded: BlockState._loaded,
    ev.Pin: BlockState._pin,
    ev.CopyOut: BlockState._copy_out,
    ev.CopiedOut: BlockState._copied_out,
    ev.CopyIn: BlockState._copy_in,
    ev.CopiedIn: BlockState._copied_in,
    Arrive: BlockState._arrive,
    Output: BlockState._output,
    Finish: BlockState._finish,
    ev.ChunkHold: BlockState._chunk_hold,
    ev.ChunkMove: BlockState._chunk_move,
    ev.ChunkAim: BlockState._chunk_aim,
    Drop: BlockState._drop,
    Sent: BlockState._sent,
    Clock: BlockState._clock,
    Forward: BlockState._forward,
    Decode: BlockState._decode,
}
