"""Which numbers does each event of a block run move, and by how much?

As patches.py does for the tree: the player's state is columns of integers, a patch sets
one row of one column, and taken back the state is as before. The free queue is a column
too: `rank` orders the free blocks, smaller is nearer the head, and 0 is not in the
queue; whoever joins the head gets a smaller rank than all, whoever joins the tail a
larger one. So the browser sorts, and knows no rule of the queue. Block tables lie one
after the other in `table`, each request's at its `base`.
Left out: how patches travel (streams.py), drawing (player/blocks.js).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..record import block_events as be
from ..record import events as ev
from ..record.block_names import names_in
from ..record.block_replay import fold_blocks
from ..record.block_snapshot import BlockState
from ..record.events import Event
from ..record.trace import BlockTrace

BLOCK_COLUMNS: tuple[str, ...] = (
    "account", "ref1", "name1", "rank1", "ref2", "name2", "rank2", "table",
    "stage", "status", "place", "kv", "outputs", "prompt", "max_new", "retracted",
    "held",
)  # fmt: skip
BLOCK_ACCOUNT = ("free", "evictable", "used", "l2_cached", "l2_free")
"""Rows of the column `account`, in blocks."""

STATUS = ("", "waiting", "running", "preempted", "loading", "ready", "finished",
          "dropped")  # fmt: skip
WAITS, RUNS, DONE, LEFT = 1, 3, 4, 5
"""What `stage` says: in which lane of the queue a request stands."""

_LANES = {"running": RUNS, "finished": DONE, "dropped": LEFT}
_AT = {name: number for number, name in enumerate(BLOCK_COLUMNS)}


class BlockPatches:
    """A block run folded once: for each patch its column, row and value afterwards.

    `requests` numbers the requests by arrival, `names` the contents by their first
    registration, from 1 on. `table` holds as much for each request as it ever held.
    """

    def __init__(self, trace: BlockTrace) -> None:
        self.state = BlockState.start(trace.header.config)
        self.requests: dict[str, int] = {}
        self.names: dict[int, int] = {}
        self.column: list[int] = []
        self.row: list[int] = []
        self.value: list[int] = []
        self.most_held: list[int] = []
        self._events = trace.events
        self._now: dict[tuple[int, int], int] = {}
        self._first = self._last = 0
        self._places = 0
        self._evictable = {"L1": 0, "L2": 0}
        for tier, pool in self.state.tiers.items():
            for block in pool.free:
                self.set(f"rank{tier[1]}", block, block)
            self._last = max(self._last, pool.num_blocks)
        self._account()

    def step(self, index: int) -> int:
        """Add the patches of the next event; return how many they are.

        Changes: this record and its state. Raises: FoldError as `fold_blocks`.
        """
        event, before = self._events[index], len(self.column)
        write = _PATCHES.get(type(event))
        if write is not None:
            write(self, event)
        fold_blocks(self.state, self._events, index, index + 1)
        if isinstance(event, ev.Change):
            self._account()
            if (id := getattr(event, "request", None)) is not None:
                self._request(id)
        return len(self.column) - before

    def set(self, name: str, row: int, value: int) -> None:
        """Write a patch, if the row holds something else."""
        column = _AT[name]
        if self._now.get((column, row), 0) != value:
            self._now[column, row] = value
            self.column.append(column)
            self.row.append(row)
            self.value.append(value)

    def place_of(self, request: str) -> int:
        """Return the request's number, counted by first mention."""
        place = self.requests.setdefault(request, len(self.requests))
        if place == len(self.most_held):
            self.most_held.append(0)
        return place

    def name_of(self, name: int) -> int:
        """Return the content's number, from 1 on."""
        return self.names.setdefault(name, len(self.names) + 1)

    # --- pools

    def _take(self, e: be.Take) -> None:
        for block in e.blocks.tolist():
            self._leave(e.tier, block)
            self.set(f"ref{e.tier[1]}", block, 1)

    def _share(self, e: be.Share) -> None:
        for block in e.blocks.tolist():
            self._leave(e.tier, block)
            ref = self._now.get((_AT[f"ref{e.tier[1]}"], block), 0)
            self.set(f"ref{e.tier[1]}", block, ref + 1)

    def _leave(self, tier: str, block: int) -> None:
        """Take the block out of the free queue, if it stands there."""
        if self._now.get((_AT[f"rank{tier[1]}"], block), 0):
            self.set(f"rank{tier[1]}", block, 0)
            self._evictable[tier] -= self._is_named(tier, block)

    def _is_named(self, tier: str, block: int) -> bool:
        return bool(self._now.get((_AT[f"name{tier[1]}"], block), 0))

    def _is_free(self, tier: str, block: int) -> bool:
        return bool(self._now.get((_AT[f"rank{tier[1]}"], block), 0))

    def _release(self, e: be.Release) -> None:
        blank = []
        for block in e.blocks.tolist():
            ref = self._now.get((_AT[f"ref{e.tier[1]}"], block), 0) - 1
            self.set(f"ref{e.tier[1]}", block, ref)
            if ref:
                continue
            if self._is_named(e.tier, block):
                self._last += 1
                self._evictable[e.tier] += 1
                self.set(f"rank{e.tier[1]}", block, self._last)
            else:
                blank.append(block)
        for block in reversed(blank):
            self._first -= 1
            self.set(f"rank{e.tier[1]}", block, self._first)

    def _register(self, e: be.Register) -> None:
        for block, name in zip(e.blocks.tolist(), names_in(e.names), strict=True):
            if self._is_free(e.tier, block) and not self._is_named(e.tier, block):
                self._evictable[e.tier] += 1
            self.set(f"name{e.tier[1]}", block, self.name_of(name))

    def _forget(self, e: be.Forget) -> None:
        for block in e.blocks.tolist():
            self._evictable[e.tier] -= self._is_free(e.tier, block)
            self.set(f"name{e.tier[1]}", block, 0)

    def _account(self) -> None:
        l1, l2 = self.state.tiers["L1"], self.state.tiers["L2"]
        free, total = len(l1.free), max(l1.num_blocks - 1, 0)
        values = (free, self._evictable["L1"], total - free, len(l2.names),
                  len(l2.free))  # fmt: skip
        for row, value in enumerate(values):
            self.set("account", row, value)

    # --- requests

    def _arrive(self, e: ev.Arrive) -> None:
        place = self.place_of(e.request)
        self.set("prompt", place, e.prompt_len)
        self.set("max_new", place, e.max_new)
        if self.state.config.policy == "priority":
            self.set("place", place, e.priority * 10**6 + len(self.state.requests))
        else:
            self._queue(e.request)

    def _hold(self, e: be.Hold) -> None:
        """Table rows are counted from the request's base, which log.py adds."""
        place, state = self.place_of(e.request), self.state.requests[e.request]
        first = len(state.blocks)
        for at, block in enumerate(e.blocks.tolist(), first):
            self.column.append(_AT["table"])
            self.row.append(-1 - (place << 24 | at))
            self.value.append(block)
        self.most_held[place] = max(self.most_held[place], first + len(e.blocks))

    def _preempt(self, e: be.Preempt) -> None:
        self._queue(e.request, first=True)

    def _run(self, e: be.Run) -> None:
        self._places += 1
        self.set("place", self.place_of(e.request), self._places)

    def _defer(self, e: be.Defer) -> None:
        self._queue(e.request)

    def _queue(self, id: str, *, first: bool = False) -> None:
        """Give the request a place behind all others, or before them; under the
        priority policy, the one by its rank."""
        self._places += 1
        place = -self._places if first else self._places
        if self.state.config.policy == "priority" and id in self.state.requests:
            priority, number = self.state.requests[id].rank
            place = priority * 10**6 + number
        self.set("place", self.place_of(id), place)

    def _request(self, id: str) -> None:
        """Write what the state says of the request now."""
        request, place = self.state.requests[id], self.place_of(id)
        lane = _LANES.get(request.stage, WAITS)
        self.set("stage", place, lane)
        self.set("status", place, STATUS.index(request.stage))
        self.set("kv", place, request.computed)
        self.set("outputs", place, request.outputs)
        self.set("retracted", place, request.preemptions)
        self.set("held", place, len(request.blocks))

    def _decode(self, e: ev.Decode) -> None:
        for id in self.state.running:
            request = self.state.requests[id]
            if request.lacks_one:
                self.set("kv", self.place_of(id), request.computed + e.steps)
                self.set("outputs", self.place_of(id), request.outputs + e.steps)


_PATCHES: dict[type[Event], Callable[[BlockPatches, Any], None]] = {
    be.Take: BlockPatches._take,
    be.Share: BlockPatches._share,
    be.Release: BlockPatches._release,
    be.Register: BlockPatches._register,
    be.Forget: BlockPatches._forget,
    be.Hold: BlockPatches._hold,
    be.Preempt: BlockPatches._preempt,
    be.Run: BlockPatches._run,
    be.Defer: BlockPatches._defer,
    ev.Arrive: BlockPatches._arrive,
    ev.Decode: BlockPatches._decode,
}
