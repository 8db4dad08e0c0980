"""Which numbers does each event of a block run move, and by how much?

As patches.py does for the tree: the player's state is columns of integers, a patch sets
one row of one column or a stroke of blocks, and taken back the state is as before. Two
columns cover blocks and have another beside them: `ref` the block's `seat` in the free
queue, `named` the number of its `name`. The head of the queue has the highest seat: who
joins the head gets a higher one than all, who joins the tail a lower one. So the
browser sorts, and knows no rule of the queue; and seats rise along a block table, which
is given back last block first, so one stroke tells them. A block table is a chain of
`parts`: `table` holds the number of a request's last one.
Left out: how patches travel (streams.py), drawing (player/blocks.js).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..pages import Pages
from ..record import block_events as be
from ..record import events as ev
from ..record.block_names import names_in
from ..record.block_replay import fold_blocks
from ..record.block_snapshot import BlockState
from ..record.events import Event, Tier
from ..record.trace import BlockTrace
from .block_frame import NAMING, named_blocks
from .painting import Painting, Turns, spans
from .patch_list import PatchList

BLOCK_COLUMNS: tuple[str, ...] = (
    "account", "ref1", "seat1", "named1", "name1", "ref2", "seat2", "named2", "name2",
    "stage", "status", "place", "kv", "outputs", "prompt", "max_new", "retracted",
    "held", "table",
)  # fmt: skip
BLOCK_ACCOUNT = ("free", "evictable", "used", "l2_evictable", "l2_free")
"""Rows of the column `account`, in blocks."""

STATUS = ("", "waiting", "running", "preempted", "loading", "ready", "finished",
          "dropped")  # fmt: skip
WAITS, RUNS, DONE, LEFT = 1, 3, 4, 5
"""What `stage` says: in which lane of the queue a request stands."""

_LANES = {"running": RUNS, "finished": DONE, "dropped": LEFT}


class _Tier:
    """One pool as it is painted: `tail` and `head` are the next seats of its queue."""

    def __init__(self, number: str, num_blocks: int, released: int) -> None:
        self.ref, self.named = f"ref{number}", f"named{number}"
        self.turns = Turns(num_blocks, "block")
        self.owners, self.names = Painting(self.turns), Painting(self.turns)
        self.tail = released
        self.head = released + 1
        self.evictable = 0

    def resting(self, blocks: Pages) -> int:
        """Return how many of the blocks nobody owns, but have a name."""
        idle = self.owners.owners[blocks] == 0
        return int(np.count_nonzero(idle & (self.names.owners[blocks] != 0)))


class BlockPatches(PatchList):
    """The patches of a block run that is folded once, event by event.

    `names` numbers the contents by their first registration, from 1 on. `parts` are
    stretches of block tables: first turn, size, and how far back the part before it
    lies, 0 for none. `marks` are stretches of blocks that an event names and does not
    move: event, tier, first turn, size.
    """

    def __init__(self, trace: BlockTrace) -> None:
        self.state = BlockState.start(trace.header.config)
        self._tiers = {
            name: _Tier(name[1], tier.num_blocks, _released(trace, name))
            for name, tier in self.state.tiers.items()
        }
        tiers = self._tiers.values()
        paintings = {tier.ref: tier.owners for tier in tiers}
        paintings |= {tier.named: tier.names for tier in tiers}
        super().__init__(BLOCK_COLUMNS, (), [tier.turns for tier in tiers], paintings)
        self.names: dict[int, int] = {}
        self.parts: tuple[list[int], list[int], list[int]] = ([], [], [])
        self.marks: tuple[list[int], ...] = ([], [], [], [])
        self._events = trace.events
        self._places = 0
        for name, tier in self._tiers.items():
            queue = np.array([*self.state.tiers[name].free][::-1], np.int32)
            tier.turns.hand_out(queue)
            self._join_head(tier, queue)
        self._account()

    def step(self, index: int) -> int:
        """Add the patches of the next event; return how many they are.

        Changes: this record and its state. Raises: FoldError as `fold_blocks`,
        ValueError for a block that its pool does not have, or that is named twice.
        """
        event, before = self._events[index], len(self.column)
        write = _PATCHES.get(type(event))
        if write is not None:
            write(self, event)
        if isinstance(event, NAMING):
            for tier, blocks in enumerate(named_blocks(event, self.state), 1):
                self._mark(index, tier, blocks)
        self.fold(index)
        if isinstance(event, ev.Change):
            self._account()
            if (id := getattr(event, "request", None)) is not None:
                self._request(id)
        return len(self.column) - before

    def fold(self, index: int) -> None:
        """Fold the event alone. Raises: FoldError as `fold_blocks`."""
        fold_blocks(self.state, self._events, index, index + 1)

    def _mark(self, index: int, tier: int, blocks: Pages) -> None:
        turns = self.turns[tier - 1].of(blocks)
        for start, end in spans(turns):
            mark = (index, tier, int(turns[start]), end - start)
            for column, value in zip(self.marks, mark, strict=True):
                column.append(value)

    # --- pools

    def _pool(
        self, e: be.Take | be.Forget | be.Register | be.Share | be.Release
    ) -> None:
        """Paint the blocks of a pool, and count those that can be evicted."""
        tier, blocks = self._tiers[e.tier], e.blocks
        tier.turns.know(blocks)
        if len(set(blocks.tolist())) < len(blocks):
            raise ValueError("it names a block twice")
        before = tier.resting(blocks)
        match e:
            case be.Take():
                self._own(tier, blocks, 1)
                tier.turns.hand_out(blocks)
            case be.Share():
                self._own(tier, blocks, 1)
            case be.Release():
                self._release(tier, blocks)
            case be.Register():
                self._register(tier, blocks, [*names_in(e.names)])
            case be.Forget():
                self._clear(tier.named, blocks, 0)
        tier.evictable += tier.resting(blocks) - before

    def _own(self, tier: _Tier, blocks: Pages, more: int) -> Pages:
        """Give each block one owner more or less, and no seat; return those that nobody
        owns then, which are not yet painted."""
        owners = tier.owners.owners[blocks] + more
        for count in np.unique(owners).tolist():
            if count:
                self._clear(tier.ref, blocks[owners == count], count)
        idle: Pages = blocks[owners == 0]
        return idle

    def _release(self, tier: _Tier, blocks: Pages) -> None:
        idle = self._own(tier, blocks, -1)[::-1]
        named = tier.names.owners[idle] != 0
        kept = idle[named]
        tier.tail -= len(kept)
        self._paint(tier.ref, kept, 0, tier.tail + 1)
        self._join_head(tier, idle[~named])

    def _join_head(self, tier: _Tier, blocks: Pages) -> None:
        """Seat the blocks before all others, the last one first."""
        self._paint(tier.ref, blocks, 0, tier.head)
        tier.head += len(blocks)

    def _register(self, tier: _Tier, blocks: Pages, names: list[int]) -> None:
        known = self.names
        if any(name.bit_length() > 64 for name in names):
            raise ValueError(f"it names a content by {max(map(abs, names))}, no hash")
        numbers = [known.setdefault(name, len(known) + 1) for name in names]
        cuts = np.flatnonzero(np.diff(numbers) != 1) + 1
        for start, end in zip([0, *cuts], [*cuts, len(numbers)], strict=True):
            self._paint(tier.named, blocks[start:end], 1, numbers[start] - 1)

    def _account(self) -> None:
        l1, l2 = self.state.tiers["L1"], self.state.tiers["L2"]
        free, total = len(l1.free), max(l1.num_blocks - 1, 0)
        values = (free, self._tiers["L1"].evictable, total - free,
                  self._tiers["L2"].evictable, len(l2.free))  # fmt: skip
        for row, value in enumerate(values):
            self._set("account", row, value)

    # --- requests

    def _arrive(self, e: ev.Arrive) -> None:
        place = self.place_of(e.request)
        self._set("table", place, 0)
        self._set("prompt", place, e.prompt_len)
        self._set("max_new", place, e.max_new)
        if self.state.config.policy == "priority":
            self._set("place", place, e.priority * 10**6 + len(self.state.requests))
        else:
            self._queue(e.request)

    def _hold(self, e: be.Hold) -> None:
        place, turns = self.place_of(e.request), self._tiers["L1"].turns.of(e.blocks)
        for start, end in spans(turns):
            before, number = self._get("table", place), len(self.parts[0]) + 1
            part = (int(turns[start]), end - start, before and number - before)
            for column, value in zip(self.parts, part, strict=True):
                column.append(value)
            self._set("table", place, number)

    def _vacate(self, e: be.Vacate) -> None:
        self._set("table", self.place_of(e.request), 0)

    def _preempt(self, e: be.Preempt) -> None:
        self._queue(e.request, first=True)

    def _run(self, e: be.Run) -> None:
        self._places += 1
        self._set("place", self.place_of(e.request), self._places)

    def _defer(self, e: be.Defer) -> None:
        if e.why == "loading" and e.request not in self.state.deferred:
            self._queue(e.request)

    def _queue(self, id: str, *, first: bool = False) -> None:
        """Give the request a place behind all others, or before them; under the
        priority policy, the one by its rank."""
        self._places += 1
        place = -self._places if first else self._places
        if self.state.config.policy == "priority" and id in self.state.requests:
            priority, number = self.state.requests[id].rank
            place = priority * 10**6 + number
        self._set("place", self.place_of(id), place)

    def _request(self, id: str) -> None:
        """Write what the state says of the request now."""
        request, place = self.state.requests[id], self.place_of(id)
        lane = _LANES.get(request.stage, WAITS)
        self._set("stage", place, lane)
        self._set("status", place, STATUS.index(request.stage))
        self._set("kv", place, request.computed)
        self._set("outputs", place, request.outputs)
        self._set("retracted", place, request.preemptions)
        self._set("held", place, len(request.blocks))

    def _decode(self, e: ev.Decode) -> None:
        """All that run go on at once; who lacks more than one token is put back."""
        self._add(self.batch, 0, e.steps)
        for id in self.state.running:
            place, request = self.place_of(id), self.state.requests[id]
            for name in ("kv", "outputs"):
                self._now[self.at[name], place] = self._get(name, place) + e.steps
            if not request.lacks_one:
                self._set("kv", place, request.computed)
                self._set("outputs", place, request.outputs)


def _released(trace: BlockTrace, tier: Tier) -> int:
    """Return how many blocks the run gives back: no more join the tail of the queue."""
    return sum(
        len(event.blocks)
        for event in trace.events
        if isinstance(event, be.Release) and event.tier == tier
    )


_PATCHES: dict[type[Event], Callable[[BlockPatches, Any], None]] = {
    be.Take: BlockPatches._pool,
    be.Share: BlockPatches._pool,
    be.Release: BlockPatches._pool,
    be.Register: BlockPatches._pool,
    be.Forget: BlockPatches._pool,
    be.Hold: BlockPatches._hold,
    be.Vacate: BlockPatches._vacate,
    be.Preempt: BlockPatches._preempt,
    be.Run: BlockPatches._run,
    be.Defer: BlockPatches._defer,
    ev.Arrive: BlockPatches._arrive,
    ev.Decode: BlockPatches._decode,
}
