"""Which leaf goes next?

A strategy gives every node a key; the smallest goes first. The queue keeps a heap over
all candidates across calls: a node whose candidacy or key may have changed is noted,
and looked at once before the next victim is chosen, however often it was noted. So a
victim costs O(log n), where the real engines build a heap over all leaves in every
call; the order is the same.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heapify, heappop, heappush

from .tree import Node

Key = tuple[int, ...]

STRATEGIES: dict[str, Callable[[Node], Key]] = {
    "lru": lambda node: (node.last_access,),
    "lfu": lambda node: (node.hit_count, node.last_access),
    "fifo": lambda node: (node.created,),
    "mru": lambda node: (-node.last_access,),
    "filo": lambda node: (-node.created,),
    "priority": lambda node: (node.priority, node.last_access),
    "slru": lambda node: (int(node.hit_count >= 2), node.last_access),
}
"""The keys of SGLang's strategies. A strategy of one's own: set `key` of an engine's
`cache.device_leaves` and `host_cache.host_leaves` before anything is cached.
Source: SGLang 0.5.14, mem_cache/evict_policy.py."""


class EvictionQueue:
    """The candidate leaves of one tier, coldest first.

    `is_leaf` says whether a node is a candidate now. Call `note` whenever that or the
    node's key may have changed. Ties go to the earlier access, then the older node.

    >>> from kvlab.cache.key import as_tokens
    >>> a, b = Node(1, None, as_tokens([1])), Node(2, None, as_tokens([2]))
    >>> a.last_access, b.last_access = 5, 3
    >>> leaves = EvictionQueue("lru", lambda node: node.lock_ref == 0)
    >>> leaves.note(a); leaves.note(b)
    >>> leaves.pop().id
    2
    """

    def __init__(self, policy: str, is_leaf: Callable[[Node], bool]) -> None:
        self.policy = policy
        self.key = STRATEGIES[policy]
        self._is_leaf = is_leaf
        self._members: set[Node] = set()
        self._noted: set[Node] = set()
        self._heap: list[tuple[Key, int, int, Node]] = []

    def __len__(self) -> int:
        self._settle()
        return len(self._members)

    def __contains__(self, node: Node) -> bool:
        self._settle()
        return node in self._members

    def note(self, node: Node) -> None:
        """Look at the node again before the next choice. Cost: O(1)."""
        self._noted.add(node)

    def remove(self, node: Node) -> None:
        """The node is no candidate now, whatever else it is. Cost: O(1)."""
        self._members.discard(node)
        self._noted.discard(node)

    def pop(self) -> Node | None:
        """Take out the coldest candidate; None when there is none.

        Changes: the node is no candidate until it is noted again.
        Cost: O(log n) for each node noted since the last call.
        """
        self._settle()
        while self._heap:
            key, _, _, node = heappop(self._heap)
            if node in self._members and key == self.key(node):
                self._members.remove(node)
                return node
        return None

    def in_order(self) -> list[Node]:
        """Return all candidates, coldest first, and evict none. Cost: O(n log n)."""
        self._settle()
        return sorted(self._members, key=lambda n: (self.key(n), n.last_access, n.id))

    def _settle(self) -> None:
        for node in self._noted:
            if self._is_leaf(node):
                self._members.add(node)
                heappush(self._heap, (self.key(node), node.last_access, node.id, node))
            else:
                self._members.discard(node)
        self._noted.clear()
        if len(self._heap) > 64 + 4 * len(self._members):
            self._heap = [
                (self.key(node), node.last_access, node.id, node)
                for node in self._members
            ]
            heapify(self._heap)
