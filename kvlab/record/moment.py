"""What is there at one moment of a run, and what does it add up to?

Nodes, requests, free lists and copies in flight, as plain records, and the questions
that they answer: both accounts, a path, the children of every node.
Left out: how events move them (snapshot.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, Self

import msgspec
from msgspec import Struct

from ..config import EngineConfig
from ..pages import NO_PAGES, FreeList, Pages
from .events import Tier, Tokens

ROOT = 0


class NodeState(Struct, gc=False):
    """One tree node. `tokens` is its own part of the key, not the whole path.

    `pages` / `host_pages` are None where the node has no copy on that tier; `lock_ref`
    and `host_lock_ref` count who needs each; `writing` and `loading` name the node
    whose acknowledgement a copy in flight waits for.
    """

    id: int
    parent: int
    space: str
    tokens: Tokens
    pages: Pages | None
    host_pages: Pages | None = None
    lock_ref: int = 0
    host_lock_ref: int = 0
    hit_count: int = 0
    priority: int = 0
    time: int = 0
    created: int = 0
    writing: int | None = None
    loading: int | None = None
    edition: int = 0


class RequestState(Struct, gc=False):
    """One request. `stage`: waiting, running, chunked, finished or dropped.

    Units: lengths in tokens; `row` in pages. Of the row, the tree owns `owned_len`.
    `sent` in nanoseconds, 0 in a run without a clock.
    """

    id: str
    prompt_len: int
    max_new: int
    priority: int
    stage: str = "waiting"
    row: Pages = msgspec.field(default_factory=lambda: NO_PAGES)
    owned_len: int = 0
    inserted_len: int = 0
    kv_len: int = 0
    outputs: int = 0
    retracted: int = 0
    node: int = ROOT
    sent: int = 0
    edition: int = 0


class Account(NamedTuple):
    """The device pool, in tokens: five terms that sum to `total`.

    `held` is what requests hold outside the tree (decode tokens, partial pages, a
    running chunk). `session_held` is always 0: kvlab has no streaming sessions.
    """

    available: int
    evictable: int
    protected: int
    held: int
    session_held: int
    total: int


class HostAccount(NamedTuple):
    """The host pool, in tokens: host-only, copies of L1, free, total."""

    host_only: int
    copies: int
    available: int
    total: int


@dataclass(slots=True)
class Pool:
    """One tier's free list and the pages that exist.

    The first `ready` free pages are at hand; the others rest (need_sort).
    """

    num_pages: int
    first: int
    free: FreeList
    ready: int = 0

    def copy(self) -> Pool:
        """Return an independent pool. Cost: O(parts of the free list)."""
        return Pool(self.num_pages, self.first, self.free.copy(), self.ready)

    def rest(self, pages: Pages) -> None:
        """Put pages before those that rest. Cost: O(free pages)."""
        free = self.free.to_pages()
        self.free = FreeList([free[: self.ready], pages, free[self.ready :]])


@dataclass
class Moment:
    """Everything there is at one moment.

    `orphans` are nodes that were dropped from the tree and loaded all the same;
    `writes` and `loads` name the copies in flight, oldest first. The sums follow from
    the nodes.
    Units: `now` in nanoseconds, 0 in a run without a clock; `tree_pages` device pages
    that the tree holds; the other sums tokens.

    >>> Moment.start(EngineConfig(pool_tokens=8)).account().available
    8
    """

    config: EngineConfig
    pools: dict[Tier, Pool]
    nodes: dict[int, NodeState] = field(default_factory=dict)
    orphans: dict[int, NodeState] = field(default_factory=dict)
    requests: dict[str, RequestState] = field(default_factory=dict)
    waiting: list[str] = field(default_factory=list)
    running: list[str] = field(default_factory=list)
    writes: dict[int, None] = field(default_factory=dict)
    loads: dict[int, None] = field(default_factory=dict)
    evictable: int = 0
    protected: int = 0
    host_only: int = 0
    tree_pages: int = 0
    now: int = 0

    @classmethod
    def start(cls, config: EngineConfig) -> Self:
        """Return the state before the first event: everything free.

        Device pages start at 1, since page 0 is padding; host pages start at 0.
        """
        device, host = config.device_pages, config.host_pages
        return cls(
            config,
            {
                "L1": Pool(device, 1, FreeList.of_range(1, device + 1), device),
                "L2": Pool(host, 0, FreeList.of_range(0, host)),
            },
        )

    def account(self) -> Account:
        """Return the device account. `held` is what the other terms leave."""
        page = self.config.page_size
        total = self.pools["L1"].num_pages * page
        available = len(self.pools["L1"].free) * page
        held = total - available - self.evictable - self.protected
        return Account(available, self.evictable, self.protected, held, 0, total)

    def host_account(self) -> HostAccount:
        """Return the host account; copies are host slots whose node is also on L1."""
        page = self.config.page_size
        pool = self.pools["L2"]
        used = (pool.num_pages - len(pool.free)) * page
        return HostAccount(
            self.host_only,
            used - self.host_only,
            len(pool.free) * page,
            pool.num_pages * page,
        )

    def node(self, id: int) -> NodeState:
        """Return the node, in the tree or an orphan. Raises: KeyError for neither."""
        return self.nodes.get(id) or self.orphans[id]

    def path(self, node: int) -> Iterator[NodeState]:
        """Yield the node and its ancestors, deepest first, without the root."""
        while (state := self.nodes.get(node) or self.orphans.get(node)) is not None:
            yield state
            node = state.parent

    def start_of(self, node: int) -> int:
        """Return how many tokens lie before the node on its path."""
        _, *above = self.path(node)
        return sum(len(ancestor.tokens) for ancestor in above)

    def children(self) -> dict[int, list[NodeState]]:
        """Return every node's children, in order of their first token."""
        children: dict[int, list[NodeState]] = {ROOT: []}
        for node in self.nodes.values():
            children.setdefault(node.parent, []).append(node)
        for group in children.values():
            group.sort(key=lambda node: (node.space, int(node.tokens[0])))
        return children
