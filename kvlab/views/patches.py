"""Which numbers does each event move, and by how much?

The player's state is columns of integers: the account, nodes, requests, pages. A patch
adds one number to one row of a column, or to a run of rows; taken away again, the state
is as before. So whoever plays a run both ways needs no cache rule: it adds and
subtracts. `Patches` folds a run and writes the patches of every event. Columns of
`DELTAS` are written as what is added, the others as what the row is afterwards, because
that takes fewer bytes; the reader subtracts once, on opening.
`columns_of` is the same state straight from a snapshot, for the test.
Left out: how patches travel (streams.py), what the columns look like (player/).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..pages import Pages
from ..record import events as ev
from ..record.events import Event, Tier
from ..record.replay import fold
from ..record.snapshot import ROOT, NodeState, State
from ..record.trace import Trace

COLUMNS: tuple[str, ...] = (
    "account",
    "parent", "start", "len", "lock", "hits", "priority", "l1", "l2", "life",
    "stage", "place", "kv", "outputs", "owned", "locks", "prompt", "max_new",
    "retracted", "owner1", "shift1", "owner2", "shift2",
)  # fmt: skip
PATH = len(COLUMNS)
"""The patch that adds to `lock` of a node and of all its ancestors."""

BATCH = PATH + 1
"""The patch that adds to `kv` and `outputs` of every running request."""

DELTAS = ("account", "lock", "hits", "kv", "outputs", "retracted")
PAGES = ("owner1", "owner2")
"""Columns whose patches cover `count` rows and move the `shift` beside them."""

KEEP, RESET, ONWARD, PLACE = 0, 1, 2, 3
"""What a page patch does to `shift`: nothing; back to 0; the run goes on where the last
patch of the column ended; or its first page gets position `PLACE` less than said."""

ACCOUNT = ("available", "evictable", "used", "host_only", "host_available", "copies")
"""Rows of the column `account`, in tokens."""

ABSENT, PRESENT, MOVING = 0, 1, 2
"""What `l1` and `l2` say: no copy, a copy, a copy on its way there."""

FREE, LOOSE = 0, 1
"""Owners of a page that is nobody's: free, or taken and not yet (or no more) owned."""

STAGES = ("", "waiting", "chunked", "running", "finished", "dropped")

_MOST = 2**31 - 1
"""Columns are 32 bits wide in the browser."""

_AT = {name: number for number, name in enumerate(COLUMNS)}
_OWNER: dict[Tier, int] = {"L1": _AT["owner1"], "L2": _AT["owner2"]}


def owner_of_node(node: int) -> int:
    """Return the owner number of a node: even, 2 and up."""
    return 2 + 2 * node


def owner_of_request(place: int) -> int:
    """Return the owner number of the request in that place of the list: odd."""
    return 3 + 2 * place


class Patches:
    """A run folded once. `column` names the column of each patch, in order; `first`,
    `value`, `count`, `position` are lists for each column, in the same order."""

    def __init__(self, trace: Trace) -> None:
        self.state = State.start(trace.header.config)
        self.requests: dict[str, int] = {}
        self.column: list[int] = []
        columns = range(BATCH + 1)
        self.first: list[list[int]] = [[] for _ in columns]
        self.value: list[list[int]] = [[] for _ in columns]
        self.count: list[list[int]] = [[] for _ in columns]
        self.position: list[list[int]] = [[] for _ in columns]
        self.copies = 0
        self._page = trace.header.config.page_size
        self._now: dict[tuple[int, int], int] = {}
        self._turn = 0
        self._pages = {
            column: np.zeros(pool.first + pool.num_pages, np.int32)
            for tier, pool in self.state.pools.items()
            for column in (_OWNER[tier], _OWNER[tier] + 1)
        }
        self._next = {column: -1 for column in _OWNER.values()}
        self._events = trace.events
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
            fold(self.state, self._events, index, index + 1)
            self._account()
        return len(self.column) - before

    def place_of(self, request: str) -> int:
        """Return the request's place in the list of all requests named so far."""
        return self.requests.setdefault(request, len(self.requests))

    # --- the two ways to add

    def _set(self, name: str, row: int, value: int) -> None:
        column = _AT[name]
        delta = value - self._now.get((column, row), 0)
        if delta:
            self._now[column, row] = value
            self._add(column, row, delta if name in DELTAS else value)

    def _more(self, name: str, row: int, delta: int) -> None:
        self._set(name, row, self._now.get((_AT[name], row), 0) + delta)

    def _add(self, column: int, row: int, value: int) -> None:
        if not -_MOST < value < _MOST:
            raise ValueError(f"{value} is more than the player counts ({_MOST})")
        self.column.append(column)
        self.first[column].append(row)
        self.value[column].append(value)

    def _paint(
        self, tier: Tier, pages: Pages, owner: int, position: int | None = None
    ) -> None:
        """Give pages an owner; `position` is that of the first on its path, in pages.

        `shift` is a page's position less its number, so one number for a whole run;
        0 for a page without owner. A patch covers pages that were alike before.
        """
        column, size = _OWNER[tier], len(pages)
        if size == 0:
            return
        self._know(tier, pages)
        owners, shifts = self._pages[column], self._pages[column + 1]
        old, moved = owners[pages], shifts[pages]
        starts, lengths = [0], [size]
        if size > 1:
            breaks = np.diff(pages) != 1
            for was in (old, moved):
                breaks |= np.diff(was) != 0
            cuts = np.flatnonzero(breaks) + 1
            starts = [0, *cuts.tolist()]
            lengths = np.diff([*starts, size]).tolist()
        for start, length in zip(starts, lengths, strict=True):
            first = int(pages[start])
            code = self._code(column, owner, start, position)
            if int(old[start]) == owner and code == KEEP:
                continue
            self._next[column] = -1 if position is None else position + start + length
            self._add(column, first, owner)
            self.count[column].append(length)
            self.position[column].append(code)
            if code != KEEP:
                shift = 0 if position is None else position + start - first
                shifts[first : first + length] = shift
        owners[pages] = owner

    def _know(self, tier: Tier, pages: Pages) -> None:
        """Refuse pages that the tier does not have."""
        if len(pages) and (most := int(pages.max())) >= len(self._pages[_OWNER[tier]]):
            raise ValueError(f"it names page {most} of {tier}, which has none such")

    def _code(self, column: int, owner: int, start: int, position: int | None) -> int:
        if position is None:
            return RESET if owner in (FREE, LOOSE) else KEEP
        at = position + start
        return ONWARD if at == self._next[column] else PLACE + at

    def _account(self) -> None:
        now, host = self.state.account(), self.state.host_account()
        for row, value in enumerate(
            (
                now.available, now.evictable, now.protected,
                host.host_only, host.available, self.copies,
            )
        ):  # fmt: skip
            self._set("account", row, value)

    # --- changes of the pools and of the tree

    def _alloc(self, e: ev.Alloc) -> None:
        self._paint(e.tier, e.pages, LOOSE)

    def _free(self, e: ev.Free) -> None:
        self._paint(e.tier, e.pages, FREE)

    def _node(self, id: int) -> NodeState:
        return self.state.nodes[id] if id in self.state.nodes else self._orphan(id)

    def _orphan(self, id: int) -> NodeState:
        return self.state.orphans[id]

    def _new(self, node: int) -> None:
        """Refuse a number that no count of nodes can have come to: the player keeps a
        row for every number up to the highest."""
        if not 0 < node <= len(self._events):
            raise ValueError(f"node {node} is new, in {len(self._events)} events")

    def _add_node(self, e: ev.Add) -> None:
        self._new(e.node)
        start = 0
        if e.parent != ROOT:
            start = self._now.get((_AT["start"], e.parent), 0)
            start += self._now.get((_AT["len"], e.parent), 0)
        for name, value in (
            ("parent", e.parent), ("start", start), ("len", len(e.tokens)),
            ("priority", e.priority), ("l1", PRESENT), ("life", 1),
        ):  # fmt: skip
            self._set(name, e.node, value)
        self._paint("L1", e.pages, owner_of_node(e.node), start // self._page)

    def _split(self, e: ev.Split) -> None:
        self._new(e.upper)
        low, now = self._node(e.node), self._now
        for name in ("parent", "start", "hits", "priority", "l1", "l2", "life"):
            self._set(name, e.upper, now.get((_AT[name], e.node), 0))
        self._set("lock", e.upper, low.lock_ref)
        self._set("len", e.upper, e.at)
        self._more("start", e.node, e.at)
        self._more("len", e.node, -e.at)
        self._set("parent", e.node, e.upper)
        cut = e.at // self._page
        if low.pages is not None:
            self._paint("L1", low.pages[:cut], owner_of_node(e.upper))
        if self._has_host(e.node) and low.host_pages is not None:
            self._paint("L2", low.host_pages[:cut], owner_of_node(e.upper))

    def _has_host(self, node: int) -> bool:
        return self._now.get((_AT["l2"], node), ABSENT) != ABSENT

    def _hit(self, e: ev.Hit) -> None:
        self._more("hits", e.node, 1)

    def _raise(self, e: ev.Raise) -> None:
        self._set("priority", e.node, e.priority)

    def _lock(self, e: ev.Lock) -> None:
        self._lock_path(e.node, 1)

    def _unlock(self, e: ev.Unlock) -> None:
        self._lock_path(e.node, -1)

    def _lock_path(self, node: int, delta: int) -> None:
        if node == ROOT:
            return
        self._add(PATH, node, delta)
        for above in self.state.path(node):
            key = (_AT["lock"], above.id)
            self._now[key] = self._now.get(key, 0) + delta

    def _delete(self, e: ev.Delete) -> None:
        self._leave_device(e.node)
        self._set("life", e.node, 0)

    def _demote(self, e: ev.Demote) -> None:
        self._leave_device(e.node)

    def _leave_device(self, id: int) -> None:
        node = self._node(id)
        self._set("l1", id, ABSENT)
        if node.pages is not None:
            self._paint("L1", node.pages, LOOSE)
        if self._has_host(id):
            self.copies -= len(node.tokens)

    def _to_device(self, id: int, pages: Pages, now: int) -> None:
        start = self._now.get((_AT["start"], id), 0)
        self._set("l1", id, now)
        self._paint("L1", pages, owner_of_node(id), start // self._page)
        if self._has_host(id):
            self.copies += len(pages) * self._page

    def _restore(self, e: ev.Restore) -> None:
        self._to_device(e.node, e.pages, PRESENT)

    def _load(self, e: ev.Load) -> None:
        if e.node not in self.state.nodes:
            self._set("life", e.node, 2)
        self._to_device(e.node, e.pages, MOVING)

    def _load_done(self, e: ev.LoadDone) -> None:
        for node in self.state.path(e.node):
            if node.loading == e.node:
                self._set("l1", node.id, PRESENT)

    def _backup(self, e: ev.Backup) -> None:
        start = self._now.get((_AT["start"], e.node), 0)
        self._set("l2", e.node, MOVING)
        self._paint("L2", e.pages, owner_of_node(e.node), start // self._page)
        if self._node(e.node).pages is not None:
            self.copies += len(e.pages) * self._page

    def _backup_done(self, e: ev.BackupDone) -> None:
        for node in self.state.path(e.node):
            if node.writing != e.node:
                break
            if self._has_host(node.id):
                self._set("l2", node.id, PRESENT)

    def _evict_host(self, e: ev.EvictHost) -> None:
        node = self._node(e.node)
        self._set("l2", e.node, ABSENT)
        if e.node in self.state.nodes:
            self._set("life", e.node, 0)
        if node.host_pages is not None:
            self._paint("L2", node.host_pages, LOOSE)

    def _reclaim(self, e: ev.Reclaim) -> None:
        node = self._node(e.node)
        self._set("l2", e.node, ABSENT)
        if node.host_pages is not None:
            self._paint("L2", node.host_pages, LOOSE)
        if node.pages is not None:
            self.copies -= len(node.tokens)

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
        self._know("L1", e.pages)
        owner = owner_of_request(self.place_of(e.request))
        owners = self._pages[_OWNER["L1"]]
        old = self.state.requests[e.request].row[e.start :]
        self._paint("L1", old[owners[old] == owner], LOOSE)
        mine = owners[e.pages] == LOOSE
        for first, end in _stretches(mine):
            self._paint("L1", e.pages[first:end], owner, e.start + first)

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

    def _batch(self, e: ev.Batch) -> None:
        for request in e.requests:
            self._turn += 1
            self._set("place", self.place_of(request), self._turn)

    def _decode(self, e: ev.Decode) -> None:
        self._add(BATCH, 0, e.steps)
        for request in self.state.running:
            place = self.place_of(request)
            for name in ("kv", "outputs"):
                key = (_AT[name], place)
                self._now[key] = self._now.get(key, 0) + e.steps

    def _forget(self, request: str, place: int) -> None:
        """The request's row is empty: what it held outside the tree is nobody's."""
        known = self.state.requests.get(request)
        if known is not None and len(known.row):
            owners = self._pages[_OWNER["L1"]]
            mine = known.row[owners[known.row] == owner_of_request(place)]
            self._paint("L1", mine, LOOSE)
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
    ev.Retract: Patches._retract,
    ev.Finish: Patches._end,
    ev.Drop: Patches._end,
    ev.Decode: Patches._decode,
}


def columns_of(state: State, requests: dict[str, int]) -> dict[str, dict[int, int]]:
    """Return the columns of a state, zeros left out. Cost: O(pages + nodes).

    What a node or request leaves behind when it goes is not told: rows of the dead,
    and shifts of pages without owner, are left out.
    """
    found: dict[str, dict[int, int]] = {name: {} for name in COLUMNS}
    page = state.config.page_size
    for node in (*state.nodes.values(), *state.orphans.values()):
        orphan = node.id not in state.nodes
        for name, value in _node_rows(state, node, orphan):
            found[name][node.id] = value
    for id, place in requests.items():
        if (request := state.requests.get(id)) is None:
            continue
        found["stage"][place] = STAGES.index(request.stage)
        found["kv"][place], found["outputs"][place] = request.kv_len, request.outputs
        found["owned"][place], found["locks"][place] = request.owned_len, request.node
        found["prompt"][place] = request.prompt_len
        found["max_new"][place] = request.max_new
        found["retracted"][place] = request.retracted
    for tier, pool in state.pools.items():
        owners, shifts = found[f"owner{tier[1]}"], found[f"shift{tier[1]}"]
        free = set(pool.free.to_pages().tolist())
        for pages, owner, position in _holders(state, requests, tier, page):
            for at, place in enumerate(pages.tolist()):
                if place not in free:
                    owners[place], shifts[place] = owner, position + at - place
    return {
        name: {row: value for row, value in rows.items() if value}
        for name, rows in found.items()
    }


def _node_rows(
    state: State, node: NodeState, orphan: bool
) -> tuple[tuple[str, int], ...]:
    def copy(pages: Pages | None, moving: int | None) -> int:
        if pages is None:
            return ABSENT
        return PRESENT if moving is None else MOVING

    return (
        ("parent", node.parent), ("start", state.start_of(node.id)),
        ("len", len(node.tokens)), ("lock", node.lock_ref), ("hits", node.hit_count),
        ("priority", node.priority), ("l1", copy(node.pages, node.loading)),
        ("l2", ABSENT if orphan else copy(node.host_pages, node.writing)),
        ("life", 2 if orphan else 1),
    )  # fmt: skip


def _holders(
    state: State, requests: dict[str, int], tier: Tier, page: int
) -> list[tuple[Pages, int, int]]:
    """Return who owns which pages, and the position of the first on its path."""
    held: list[tuple[Pages, int, int]] = []
    if tier == "L1":
        for id, request in state.requests.items():
            cut = request.owned_len // page
            held.append((request.row[cut:], owner_of_request(requests[id]), cut))
    for node in (*state.nodes.values(), *state.orphans.values()):
        pages = node.pages if tier == "L1" else node.host_pages
        if tier == "L2" and node.id not in state.nodes:
            pages = None
        if pages is not None:
            start = state.start_of(node.id) // page
            held.append((pages, owner_of_node(node.id), start))
    return held
