"""What does a cached prefix cost on the device, and when does it go? (L1.)

The tree's device tokens are either *protected* (lock_ref > 0: a request or a copy
needs them) or *evictable*. Locks count along the path to the root, so a locked node's
ancestors are locked too, and eviction goes leaf by leaf.
Left out: how prefixes get into the tree (radix.py); the host (host_tier.py).
"""

from __future__ import annotations

from ..config import EngineConfig
from ..memory.allocator import PageAllocator
from ..pages import Pages, join
from ..record import events as ev
from ..record.trace import QUIET, Emitter
from ..rules import Rules
from .eviction import EvictionQueue
from .tree import Node, RadixTree


class Totals:
    """Running sums, in tokens, that a run without a trace can still report."""

    def __init__(self) -> None:
        self.evicted = self.lost = 0
        self.backed_up = self.host_evicted = self.loaded_back = 0
        self.host_peak = 0


class DeviceTier:
    """A tree whose nodes hold pages of one device pool, and what they cost it.

    `evictable_size` and `protected_size` are tokens.
    Source: SGLang 0.5.14, mem_cache/radix_cache.py, RadixCache.
    """

    has_host = False

    def __init__(
        self, config: EngineConfig, rules: Rules, emit: Emitter = QUIET
    ) -> None:
        self.config = config
        self.rules = rules
        self.page_size = config.page_size
        self.allocator = PageAllocator(
            "L1",
            config.device_pages,
            1,
            page_size=config.page_size,
            need_sort=config.need_sort,
            paged=config.page_size > 1,
            sort_freed=rules.freed_pages_sorted,
            emit=emit,
        )
        self.tree = RadixTree(
            config.page_size,
            stamp_each=self.has_host,
            keep_creation=rules.split_keeps_creation,
            emit=emit,
        )
        self.evictable_size = 0
        self.protected_size = 0
        self.totals = Totals()
        self.device_leaves = EvictionQueue(config.eviction_policy, _is_device_leaf)
        self._emit = emit

    def prefix_pages(self, node: Node) -> Pages:
        """Return the device pages of the prefix that ends with a node of L1."""
        parts = list[Pages]()
        while (above := node.parent) is not None:
            assert node.value is not None, f"{node} of a prefix has left the device"
            parts.append(node.value)
            node = above
        return join(parts[::-1])

    # --- locks

    def inc_lock_ref(self, node: Node) -> int:
        """Lock the path from the node to the root; return what evictable gained (<= 0).

        Changes: lock_ref, and moves tokens from evictable to protected.
        Cost: O(nodes on the path).
        """
        here, delta = node, 0
        while (above := here.parent) is not None:
            if here.lock_ref == 0:
                if here.value is not None:
                    delta -= here.size
                self._withhold(here)
            here.lock_ref += 1
            here = above
        self.evictable_size += delta
        self.protected_size -= delta
        if node is not self.tree.root:
            self._emit(ev.Lock, node.id)
        return delta

    def dec_lock_ref(self, node: Node) -> int:
        """Unlock the path from the node to the root; return what evictable gained.

        Changes: lock_ref, and moves tokens from protected to evictable.
        Cost: O(nodes on the path).
        """
        here, delta = node, 0
        while (above := here.parent) is not None:
            here.lock_ref -= 1
            if here.lock_ref == 0:
                if here.value is not None:
                    delta += here.size
                self._note(here)
            here = above
        self.evictable_size += delta
        self.protected_size -= delta
        if node is not self.tree.root:
            self._emit(ev.Unlock, node.id)
        return delta

    def move_lock_ref(self, old: Node, new: Node) -> None:
        """Unlock the path of `old` and lock that of `new`. Where the new one goes
        through the old, as a request's does that has grown, that part stays as it is.

        Changes: as `dec_lock_ref` and `inc_lock_ref`. Cost: O(nodes between the two);
        of both paths, where they part.
        """
        between, here = list[Node](), new
        while here is not old and here.parent is not None:
            between.append(here)
            here = here.parent
        if here is not old:
            self.dec_lock_ref(old)
            self.inc_lock_ref(new)
            return
        for node in between:
            if node.lock_ref == 0:
                self._withhold(node)
                if node.value is not None:
                    self.evictable_size -= node.size
                    self.protected_size += node.size
            node.lock_ref += 1
        if old is not self.tree.root:
            self._emit(ev.Unlock, old.id)
        if new is not self.tree.root:
            self._emit(ev.Lock, new.id)

    def _note(self, node: Node) -> None:
        """The node may have become a candidate, or its key may have changed."""
        self.device_leaves.note(node)

    def _withhold(self, node: Node) -> None:
        """The node got its first lock, or left the tree: no candidate any more."""
        self.device_leaves.remove(node)

    # --- room

    def make_room(self, num_tokens: int) -> bool:
        """Evict, if fewer than `num_tokens` are free, by the release's rule of how
        much to ask for; return whether they are free then.

        Changes: the tree and the free list.
        Source: SGLang 0.5.14, mem_cache/common.py, evict_from_tree_cache; 0.5.23,
        mem_cache/allocator/base.py, evict_to_free_tokens.
        """
        available = self.allocator.available
        if available < num_tokens:
            whole = self.rules.evict_whole_need
            ask = num_tokens if whole else num_tokens - available
            with self._emit.of(ev.MakeRoom, "L1", num_tokens, available, ask):
                self.evict(ask)
        return self.allocator.available >= num_tokens

    def evict(self, num_tokens: int) -> int:
        """Free device pages, coldest leaf first, until at least `num_tokens` are free
        or no leaf is left; return how many were freed: leaves go whole.

        Changes: the tree, evictable_size, the free list.
        Cost: O(log leaves) a victim.
        """
        freed = 0
        with self._emit.of(ev.Evict, "L1", num_tokens, self.device_leaves.policy):
            while freed < num_tokens and (node := self.device_leaves.pop()):
                freed += self._delete(node)
            self._emit(ev.Evicted, "L1", num_tokens, freed)
        return freed

    def _victim(self, node: Node, fate: str, key: tuple[int, ...]) -> None:
        self._emit(ev.Victim, node.id, node.size, key, fate)

    def _delete(self, node: Node, fate: str = "delete") -> int:
        """Evict a leaf that has no copy elsewhere: it leaves the tree."""
        assert node.value is not None, f"{node} has no device pages to free"
        self._victim(node, fate, self.device_leaves.key(node))
        self._left_device(node)
        self.tree.detach(node)
        self._withhold(node)
        self._emit(ev.Delete, node.id)
        self.allocator.free(node.value)
        self.evictable_size -= node.size
        self.totals.evicted += node.size
        self.totals.lost += node.size
        return node.size

    def _left_device(self, node: Node) -> None:
        """The parent has one child less on device, and may be a leaf now."""
        if node.attached:
            parent = node.above
            parent.device_children -= 1
            self._note(parent)


def _is_device_leaf(node: Node) -> bool:
    return node.lock_ref == 0 and node.value is not None and node.device_children == 0
