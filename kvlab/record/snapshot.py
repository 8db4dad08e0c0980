"""What is the state after an event?

A `State` is rebuilt from changes alone: `state.apply(event)`, one event at a time.
`state.copy()` is cheap: copies share every record until one of them changes it.
Left out: what a state consists of (moment.py); jumping to any step (replay.py); the
laws a state obeys (invariants.py).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace

from ..pages import NO_PAGES, FreeList, Pages, join
from . import events as ev
from .events import Event
from .moment import ROOT, Moment, NodeState, RequestState


@dataclass
class State(Moment):
    """Everything that a run's changes say, after some event.

    >>> from kvlab.config import EngineConfig
    >>> state = State.start(EngineConfig(pool_tokens=8))
    >>> state.apply(ev.Arrive(-1, "r1", 5, 1, 0)); state.waiting
    ['r1']
    """

    edition: int = 0
    _removed: dict[int, NodeState] = field(default_factory=dict)

    def copy(self) -> State:
        """Return an independent state. Changes: the edition, so that both copy a record
        before they write it. Cost: one reference a node, none copied."""
        self.edition += 1
        return dataclasses.replace(
            self,
            pools={tier: pool.copy() for tier, pool in self.pools.items()},
            nodes=self.nodes.copy(),
            orphans=self.orphans.copy(),
            requests=self.requests.copy(),
            waiting=self.waiting.copy(),
            running=self.running.copy(),
            writes=self.writes.copy(),
            loads=self.loads.copy(),
            _removed=self._removed.copy(),
        )

    def apply(self, event: Event) -> None:
        """Move to the state after `event`. Decisions move nothing.

        Changes: this state. Cost: O(1), or the length of the path, the row, the list of
        pages or of requests that the event is about; O(free pages) where a free list is
        sorted, or pages come to rest.
        Raises: ValueError or KeyError for an event that cannot be carried out; what
        else does not fit is fit.py's to say.
        """
        change = _CHANGES.get(type(event))
        if change is not None:
            change(self, event)

    def _own(self, id: int) -> NodeState:
        """Return the node, as this state's own record (copy on first write)."""
        home = self.nodes if id in self.nodes else self.orphans
        node = home[id]
        if node.edition != self.edition:
            node = home[id] = replace(node, edition=self.edition)
        return node

    def _own_request(self, id: str) -> RequestState:
        request = self.requests[id]
        if request.edition != self.edition:
            request = self.requests[id] = replace(request, edition=self.edition)
        return request

    def _alloc(self, e: ev.Alloc) -> None:
        taken = self.pools[e.tier].free.take(len(e.pages))
        if taken is None or taken.tobytes() != e.pages.tobytes():
            raise ValueError(
                f"it takes {len(e.pages)} pages of {e.tier}, {e.pages[:4].tolist()} "
                "first, that do not head the free list"
            )
        self.pools[e.tier].ready -= len(e.pages)

    def _free(self, e: ev.Free) -> None:
        pool = self.pools[e.tier]
        if e.tier == "L2" or self.config.page_size == 1:
            pool.free.put(e.pages)
        elif self.config.need_sort:
            pool.rest(e.pages)
        else:
            pool.free.put_first(e.pages)

    def _sort_free(self, e: ev.SortFree) -> None:
        pool = self.pools[e.tier]
        pages = pool.free.to_pages().copy()
        pages.sort()
        pool.free, pool.ready = FreeList([pages]), len(pages)

    def _touch(self, e: ev.Touch) -> None:
        self._removed.clear()
        time, id = e.time, e.node
        while id != ROOT:
            node = self._own(id)
            node.time = time
            time -= e.step
            id = node.parent

    def _add(self, e: ev.Add) -> None:
        self.nodes[e.node] = NodeState(
            e.node, e.parent, e.space, e.tokens, e.pages, priority=e.priority,
            time=e.time, created=e.created, edition=self.edition,
        )  # fmt: skip
        self.evictable += len(e.tokens)
        self.tree_pages += len(e.pages)

    def _split(self, e: ev.Split) -> None:
        low = self._own(e.node)
        cut = e.at // self.config.page_size
        self.nodes[e.upper] = replace(
            low, id=e.upper, tokens=low.tokens[: e.at], time=e.time, created=e.created,
            pages=None if low.pages is None else low.pages[:cut],
            host_pages=None if low.host_pages is None else low.host_pages[:cut],
        )  # fmt: skip
        low.parent = e.upper
        low.tokens = low.tokens[e.at :]
        low.pages = None if low.pages is None else low.pages[cut:]
        low.host_pages = None if low.host_pages is None else low.host_pages[cut:]

    def _hit(self, e: ev.Hit) -> None:
        self._own(e.node).hit_count += 1

    def _raise(self, e: ev.Raise) -> None:
        self._own(e.node).priority = e.priority

    def _lock(self, e: ev.Lock) -> None:
        id = e.node
        while id != ROOT:
            node = self._own(id)
            if node.lock_ref == 0 and node.pages is not None:
                self.evictable -= len(node.tokens)
                self.protected += len(node.tokens)
            node.lock_ref += 1
            id = node.parent

    def _unlock(self, e: ev.Unlock) -> None:
        id = e.node
        while id != ROOT:
            node = self._own(id)
            node.lock_ref -= 1
            if node.lock_ref == 0 and node.pages is not None:
                self.protected -= len(node.tokens)
                self.evictable += len(node.tokens)
            id = node.parent

    def _host_lock(self, e: ev.HostLock) -> None:
        self._own(e.node).host_lock_ref += 1

    def _host_unlock(self, e: ev.HostUnlock) -> None:
        id, left = e.node, e.tokens
        while left > 0:
            node = self._own(id)
            node.host_lock_ref -= 1
            left -= len(node.tokens)
            id = node.parent

    def _delete(self, e: ev.Delete) -> None:
        node = self.nodes.pop(e.node)
        self.evictable -= len(node.tokens)
        self.tree_pages -= len(node.tokens) // self.config.page_size

    def _demote(self, e: ev.Demote) -> None:
        node = self._own(e.node)
        node.pages = None
        self.evictable -= len(node.tokens)
        self.host_only += len(node.tokens)
        self.tree_pages -= len(node.tokens) // self.config.page_size

    def _to_device(self, node: NodeState, pages: Pages) -> None:
        node.pages = pages
        self.host_only -= len(node.tokens)
        self.tree_pages += len(pages)
        if node.lock_ref:
            self.protected += len(node.tokens)
        else:
            self.evictable += len(node.tokens)

    def _restore(self, e: ev.Restore) -> None:
        self._to_device(self._own(e.node), e.pages)

    def _backup(self, e: ev.Backup) -> None:
        node = self._own(e.node)
        node.host_pages = e.pages
        node.writing = e.node
        self.writes[e.node] = None

    def _backup_done(self, e: ev.BackupDone) -> None:
        del self.writes[e.node]
        for node in self.path(e.node):
            if node.writing != e.node:
                break
            self._own(node.id).writing = None

    def _load(self, e: ev.Load) -> None:
        if e.node not in self.nodes:
            self.orphans[e.node] = self._removed[e.node]
            self.host_only += len(self._removed[e.node].tokens)
        node = self._own(e.node)
        node.loading = e.end
        self._to_device(node, e.pages)
        self.loads[e.end] = None

    def _load_done(self, e: ev.LoadDone) -> None:
        del self.loads[e.node]
        for node in self.path(e.node):
            if node.loading == e.node:
                self._own(node.id).loading = None

    def _evict_host(self, e: ev.EvictHost) -> None:
        node = self.nodes.pop(e.node, None) or self.orphans[e.node]
        self._removed[e.node] = node
        self.host_only -= len(node.tokens)

    def _reclaim(self, e: ev.Reclaim) -> None:
        self._own(e.node).host_pages = None

    # --- requests

    def _arrive(self, e: ev.Arrive) -> None:
        self.requests[e.request] = RequestState(
            e.request, e.prompt_len, e.max_new, e.priority, edition=self.edition
        )
        self.waiting.append(e.request)

    def _row(self, e: ev.Row) -> None:
        request = self._own_request(e.request)
        request.row = join([request.row[: e.start], e.pages])

    def _cached(self, e: ev.Cached) -> None:
        request = self._own_request(e.request)
        request.owned_len, request.inserted_len = e.owned_len, e.inserted_len
        request.node = e.node

    def _start(self, e: ev.Start) -> None:
        request = self._own_request(e.request)
        if request.stage == "waiting":
            self.waiting.remove(e.request)
        request.stage = "chunked" if e.chunked else "running"
        if not e.chunked:
            self.running.append(e.request)
        request.kv_len = e.kv_len

    def _output(self, e: ev.Output) -> None:
        self._own_request(e.request).outputs += 1

    def _grow(self, e: ev.Grow) -> None:
        self._own_request(e.request).kv_len += 1

    def _clear_row(self, id: str, stage: str) -> RequestState:
        request = self._own_request(id)
        if request.stage == "running":
            self.running.remove(id)
        if request.stage == "waiting":
            self.waiting.remove(id)
        request.stage = stage
        request.row, request.node = NO_PAGES, ROOT
        request.owned_len = request.inserted_len = request.kv_len = 0
        return request

    def _batch(self, e: ev.Batch) -> None:
        self.running = list(e.requests)
        for id in e.requests:
            self._own_request(id).stage = "running"

    def _queue(self, e: ev.Queue) -> None:
        self.waiting = list(e.requests)

    def _retract(self, e: ev.Retract) -> None:
        self._clear_row(e.request, "waiting").retracted += 1
        self.waiting.append(e.request)

    def _finish(self, e: ev.Finish) -> None:
        self._clear_row(e.request, "finished")

    def _drop(self, e: ev.Drop) -> None:
        self._clear_row(e.request, "dropped")

    # --- time

    def _sent(self, e: ev.Sent) -> None:
        self._own_request(e.request).sent = e.at

    def _clock(self, e: ev.Clock) -> None:
        self.now = e.now

    def _forward(self, e: ev.Forward) -> None:
        self.now = e.begin + e.load + e.compute

    def _decode(self, e: ev.Decode) -> None:
        self.now = e.now
        for id in self.running:
            request = self._own_request(id)
            request.outputs += e.steps
            request.kv_len += e.steps


_CHANGES: dict[type[Event], Callable[[State, Any], None]] = {
    ev.Alloc: State._alloc,
    ev.Free: State._free,
    ev.SortFree: State._sort_free,
    ev.Touch: State._touch,
    ev.Add: State._add,
    ev.Split: State._split,
    ev.Hit: State._hit,
    ev.Raise: State._raise,
    ev.Lock: State._lock,
    ev.Unlock: State._unlock,
    ev.HostLock: State._host_lock,
    ev.HostUnlock: State._host_unlock,
    ev.Delete: State._delete,
    ev.Demote: State._demote,
    ev.Restore: State._restore,
    ev.Backup: State._backup,
    ev.BackupDone: State._backup_done,
    ev.Load: State._load,
    ev.LoadDone: State._load_done,
    ev.EvictHost: State._evict_host,
    ev.Reclaim: State._reclaim,
    ev.Arrive: State._arrive,
    ev.Row: State._row,
    ev.Cached: State._cached,
    ev.Start: State._start,
    ev.Output: State._output,
    ev.Grow: State._grow,
    ev.Batch: State._batch,
    ev.Queue: State._queue,
    ev.Retract: State._retract,
    ev.Finish: State._finish,
    ev.Drop: State._drop,
    ev.Sent: State._sent,
    ev.Clock: State._clock,
    ev.Forward: State._forward,
    ev.Decode: State._decode,
}
