"""Which numbers does each event move, and by how much?

The player's state is columns of integers: the account, nodes, requests, pages. A patch
adds one number to one row of a column, or to a run of rows; taken away again, the state
is as before. So whoever plays a run both ways needs no cache rule: it adds and
subtracts. `Patches` folds a run and writes the patches of every event.
Left out: how they are kept (patch_list.py), the columns (columns.py), the bytes
(streams.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..pages import Pages
from ..record import events as ev
from ..record.events import Event, Tier
from ..record.moment import ROOT
from ..record.replay import fold
from ..record.snapshot import State
from ..record.trace import Trace
from .columns import (
    ABSENT,
    ACCOUNT,
    AT,
    BATCH,
    COLUMNS,
    DELTAS,
    FREE,
    LOOSE,
    MOVING,
    PATH,
    PRESENT,
    STAGES,
    owner_of_node,
    owner_of_request,
)
from .painting import Painting, Turns
from .patch_list import PatchList


class Patches(PatchList):
    """The patches of a run that is folded once, event by event."""

    def __init__(self, trace: Trace) -> None:
        self.state = State.start(trace.header.config)
        pools = self.state.pools.items()
        turns = {t: Turns(pool.first + pool.num_pages) for t, pool in pools}
        paintings = {f"owner{t[1]}": Painting(turns[t]) for t in turns}
        super().__init__(COLUMNS, DELTAS, list(turns.values()), paintings)
        self.pages = {tier: paintings[f"owner{tier[1]}"] for tier in turns}
        self.copies = self.coming = 0  # tokens of L2 that L1 has, that L1 waits for
        self._page = trace.header.config.page_size
        self._turn = 0
        self._events = trace.events
        self._told = [0] * len(ACCOUNT)
        self._account()

    def step(self, index: int) -> int:
        """Add the patches of the next event; return how many they are.

        Changes: this record and its state. Raises: FoldError as `fold`.
        """
        event = self._events[index]
        before = len(self.column)
        if isinstance(event, ev.Change):
            write = _PATCHES.get(type(event))
            if write is not None:
                write(self, event)
            self.fold(index)
            self._account()
        return len(self.column) - before

    def fold(self, index: int) -> None:
        """Fold the event alone. Raises: FoldError as `record.replay.fold`."""
        fold(self.state, self._events, index, index + 1)

    def _account(self) -> None:
        state, page = self.state, self._page
        now = [
            len(state.pools["L1"].free) * page, state.evictable, state.protected,
            state.host_only + self.coming, len(state.pools["L2"].free) * page,
            self.copies,
        ]  # fmt: skip
        if now != self._told:
            for row, value in enumerate(now):
                if value != self._told[row]:
                    self._add(AT["account"], row, value - self._told[row])
            self._told = now

    # --- changes of the pools and of the tree

    def _alloc(self, e: ev.Alloc) -> None:
        self.pages[e.tier].turns.hand_out(e.pages)
        self._let_go(e.tier, e.pages, LOOSE)

    def _let_go(self, tier: Tier, pages: Pages, owner: int) -> None:
        self._clear(f"owner{tier[1]}", pages, owner)

    def _free(self, e: ev.Free) -> None:
        self._let_go(e.tier, e.pages, FREE)

    def _new(self, node: int) -> None:
        """Refuse a number that no count of nodes can have come to: the player keeps a
        row for every number up to the highest."""
        if not 0 < node <= len(self._events):
            raise ValueError(f"node {node} is new, in {len(self._events)} events")

    def _add_node(self, e: ev.Add) -> None:
        self._new(e.node)
        start = 0
        if e.parent != ROOT:
            start = self._now.get((AT["start"], e.parent), 0)
            start += self._now.get((AT["len"], e.parent), 0)
        for name, value in (
            ("parent", e.parent), ("start", start), ("len", len(e.tokens)),
            ("priority", e.priority), ("l1", PRESENT), ("life", 1),
        ):  # fmt: skip
            self._set(name, e.node, value)
        self._paint("owner1", e.pages, owner_of_node(e.node), start // self._page)

    def _split(self, e: ev.Split) -> None:
        self._new(e.upper)
        low, now = self.state.node(e.node), self._now
        for name in (
            "parent", "start", "host_lock", "hits", "priority", "l1", "l2", "life",
        ):  # fmt: skip
            self._set(name, e.upper, now.get((AT[name], e.node), 0))
        self._set("lock", e.upper, low.lock_ref)
        self._set("len", e.upper, e.at)
        self._more("start", e.node, e.at)
        self._more("len", e.node, -e.at)
        self._set("parent", e.node, e.upper)
        cut = e.at // self._page
        if low.pages is not None:
            self._paint("owner1", low.pages[:cut], owner_of_node(e.upper))
        if self._has_host(e.node) and low.host_pages is not None:
            self._paint("owner2", low.host_pages[:cut], owner_of_node(e.upper))

    def _has_host(self, node: int) -> bool:
        return self._now.get((AT["l2"], node), ABSENT) != ABSENT

    def _hit(self, e: ev.Hit) -> None:
        self._more("hits", e.node, 1)

    def _raise(self, e: ev.Raise) -> None:
        self._set("priority", e.node, e.priority)

    def _lock(self, e: ev.Lock) -> None:
        self._lock_path(e.node, 1)

    def _unlock(self, e: ev.Unlock) -> None:
        self._lock_path(e.node, -1)

    def _lock_path(self, node: int, delta: int) -> None:
        if node != ROOT:
            self._add(PATH, node, delta)

    def _host_lock(self, e: ev.HostLock) -> None:
        self._more("host_lock", e.node, 1)

    def _host_unlock(self, e: ev.HostUnlock) -> None:
        left = e.tokens
        for node in self.state.path(e.node):
            if left <= 0:
                break
            self._more("host_lock", node.id, -1)
            left -= len(node.tokens)

    def _delete(self, e: ev.Delete) -> None:
        self._leave_device(e.node)
        self._set("life", e.node, 0)

    def _demote(self, e: ev.Demote) -> None:
        self._leave_device(e.node)

    def _leave_device(self, id: int) -> None:
        node = self.state.node(id)
        self._twice(id, -len(node.tokens))
        self._set("l1", id, ABSENT)
        if node.pages is not None:
            self._let_go("L1", node.pages, LOOSE)

    def _twice(self, id: int, tokens: int) -> None:
        """Count tokens for which both tiers have room: on L1 they may still be due."""
        if self._has_host(id):
            if self._now.get((AT["l1"], id)) == MOVING:
                self.coming += tokens
            else:
                self.copies += tokens

    def _to_device(self, id: int, pages: Pages, now: int) -> None:
        start = self._now.get((AT["start"], id), 0)
        self._set("l1", id, now)
        self._paint("owner1", pages, owner_of_node(id), start // self._page)
        self._twice(id, len(pages) * self._page)

    def _restore(self, e: ev.Restore) -> None:
        self._to_device(e.node, e.pages, PRESENT)

    def _load(self, e: ev.Load) -> None:
        if e.node not in self.state.nodes:
            self._set("life", e.node, 2)
        self._to_device(e.node, e.pages, MOVING)

    def _load_done(self, e: ev.LoadDone) -> None:
        for node in self.state.path(e.node):
            if node.loading == e.node and node.pages is not None:
                self._twice(node.id, -len(node.tokens))
                self._set("l1", node.id, PRESENT)
                self._twice(node.id, len(node.tokens))

    def _backup(self, e: ev.Backup) -> None:
        start = self._now.get((AT["start"], e.node), 0)
        self._set("l2", e.node, MOVING)
        self._paint("owner2", e.pages, owner_of_node(e.node), start // self._page)
        if self.state.node(e.node).pages is not None:
            self._twice(e.node, len(e.pages) * self._page)

    def _backup_done(self, e: ev.BackupDone) -> None:
        for node in self.state.path(e.node):
            if node.writing != e.node:
                break
            if self._has_host(node.id):
                self._set("l2", node.id, PRESENT)

    def _evict_host(self, e: ev.EvictHost) -> None:
        node = self.state.node(e.node)
        self._set("l2", e.node, ABSENT)
        if e.node in self.state.nodes:
            self._set("life", e.node, 0)
        if node.host_pages is not None:
            self._let_go("L2", node.host_pages, LOOSE)

    def _reclaim(self, e: ev.Reclaim) -> None:
        node = self.state.node(e.node)
        if node.pages is not None:
            self._twice(e.node, -len(node.tokens))
        self._set("l2", e.node, ABSENT)
        if node.host_pages is not None:
            self._let_go("L2", node.host_pages, LOOSE)

    # --- changes of requests

    def _arrive(self, e: ev.Arrive) -> None:
        place = self.place_of(e.request)
        self._forget(e.request, place)
        for name in ("outputs", "retracted"):
            self._set(name, place, 0)
        self._set("prompt", place, e.prompt_len)
        self._set("max_new", place, e.max_new)
        self._join(place, "waiting")

    def _join(self, place: int, stage: str) -> None:
        self._turn += 1
        self._set("stage", place, STAGES.index(stage))
        self._set("place", place, self._turn)

    def _row(self, e: ev.Row) -> None:
        self.pages["L1"].turns.know(e.pages)
        owner = owner_of_request(self.place_of(e.request))
        owners = self.pages["L1"].owners
        old = self.state.requests[e.request].row[e.start :]
        self._let_go("L1", old[owners[old] == owner], LOOSE)
        mine = owners[e.pages] == LOOSE
        for first, end in _stretches(mine):
            self._paint("owner1", e.pages[first:end], owner, e.start + first)

    def _cached(self, e: ev.Cached) -> None:
        place = self.place_of(e.request)
        self._set("owned", place, e.owned_len)
        self._set("locks", place, e.node)

    def _start(self, e: ev.Start) -> None:
        place = self.place_of(e.request)
        if e.chunked:
            self._set("stage", place, STAGES.index("chunked"))
        else:
            self._join(place, "running")
        self._set("kv", place, e.kv_len)

    def _output(self, e: ev.Output) -> None:
        self._more("outputs", self.place_of(e.request), 1)

    def _grow(self, e: ev.Grow) -> None:
        self._more("kv", self.place_of(e.request), 1)

    def _batch(self, e: ev.Batch | ev.Queue) -> None:
        stage = "running" if isinstance(e, ev.Batch) else "waiting"
        for request in e.requests:
            self._join(self.place_of(request), stage)

    def _decode(self, e: ev.Decode) -> None:
        self._add(BATCH, 0, e.steps)
        for request in self.state.running:
            place = self.place_of(request)
            for name in ("kv", "outputs"):
                key = (AT[name], place)
                self._now[key] = self._now.get(key, 0) + e.steps

    def _forget(self, request: str, place: int) -> None:
        """The request's row is empty: what it held outside the tree is nobody's."""
        known = self.state.requests.get(request)
        if known is not None and len(known.row):
            owners = self.pages["L1"].owners
            mine = known.row[owners[known.row] == owner_of_request(place)]
            self._let_go("L1", mine, LOOSE)
        for name in ("kv", "owned", "locks"):
            self._set(name, place, 0)

    def _retract(self, e: ev.Retract) -> None:
        place = self.place_of(e.request)
        self._forget(e.request, place)
        self._more("retracted", place, 1)
        self._join(place, "waiting")

    def _end(self, e: ev.Finish | ev.Drop) -> None:
        place = self.place_of(e.request)
        self._forget(e.request, place)
        stage = "finished" if isinstance(e, ev.Finish) else "dropped"
        self._set("stage", place, STAGES.index(stage))


def _stretches(flags: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return the stretches of True, as first and end."""
    edges = np.flatnonzero(np.diff(flags.astype(np.int8), prepend=0, append=0))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))


_PATCHES: dict[type[Event], Callable[[Patches, Any], None]] = {
    ev.Alloc: Patches._alloc,
    ev.Free: Patches._free,
    ev.Add: Patches._add_node,
    ev.Split: Patches._split,
    ev.Hit: Patches._hit,
    ev.Raise: Patches._raise,
    ev.Lock: Patches._lock,
    ev.Unlock: Patches._unlock,
    ev.HostLock: Patches._host_lock,
    ev.HostUnlock: Patches._host_unlock,
    ev.Delete: Patches._delete,
    ev.Demote: Patches._demote,
    ev.Restore: Patches._restore,
    ev.Load: Patches._load,
    ev.LoadDone: Patches._load_done,
    ev.Backup: Patches._backup,
    ev.BackupDone: Patches._backup_done,
    ev.EvictHost: Patches._evict_host,
    ev.Reclaim: Patches._reclaim,
    ev.Arrive: Patches._arrive,
    ev.Row: Patches._row,
    ev.Cached: Patches._cached,
    ev.Start: Patches._start,
    ev.Output: Patches._output,
    ev.Grow: Patches._grow,
    ev.Batch: Patches._batch,
    ev.Queue: Patches._batch,
    ev.Retract: Patches._retract,
    ev.Finish: Patches._end,
    ev.Drop: Patches._end,
    ev.Decode: Patches._decode,
}
