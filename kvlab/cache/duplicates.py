"""Which nodes have a copy on both tiers, and which of them gives its host copy up?

Under write_back a host copy of what L1 holds as well is a luxury: the next eviction can
write it again. The list is in the order in which nodes came to have two settled copies.
It is not kept up to date when they lose one: such an entry is stale, and keeps its
place in case the node gets its copy back, until a walk over the list meets it.

        place     1      2      3      4
        node     [n4]   [n2]   [n9]   [n7]
                  |      stale  |      leaf of L1: about to be demoted for free,
                  freed         freed  so it is spared until nothing else is left

Left out: who asks for host room (host_tier.py).
"""

from __future__ import annotations

from collections.abc import Iterator

from .tree import Node


class Duplicates:
    """The list of doubled nodes, oldest first.

    Source: SGLang 0.5.23, mem_cache/unified_cache/unified_tree_core.py,
    _update_duplicate_tracking and _reclaim_full_host_duplicates.

    >>> from kvlab.cache.key import as_tokens
    >>> node, double = Node(1, None, as_tokens([5])), Duplicates()
    >>> node.value = node.host_value = as_tokens([3])
    >>> double.note(node); [node.id for node in double.walk()]
    [1]
    """

    def __init__(self) -> None:
        self._nodes: dict[int, Node] = {}

    def note(self, node: Node) -> None:
        """Look at the node: it joins the list's end, or keeps its place, if it has two
        copies and none is in flight; else it leaves. Changes: the list."""
        in_flight = node.writing is not None or node.loading is not None
        if has_two_copies(node) and not in_flight:
            self._nodes.setdefault(node.id, node)
        else:
            self._nodes.pop(node.id, None)

    def walk(self) -> Iterator[Node]:
        """Yield the nodes that still have two copies, oldest first.

        Changes: when the walk ends, stale entries that it passed leave the list, and
        nodes that lost a copy while they were out.
        """
        stale: list[int] = []
        try:
            for node in self._nodes.values():
                try:
                    if has_two_copies(node):
                        yield node
                finally:
                    if not has_two_copies(node):
                        stale.append(node.id)
        finally:
            for id in stale:
                del self._nodes[id]


def has_two_copies(node: Node) -> bool:
    """True for a node of the tree that lies on the device and on the host."""
    return node.attached and node.value is not None and node.host_value is not None
