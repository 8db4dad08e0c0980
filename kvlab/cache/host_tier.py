"""What lies on the host, and what goes when the host is full?

A node may have a copy on the device, on the host, or on both. The host evicts nodes
that live there alone, leaf by leaf, and those are lost; with rule `reclaims_duplicates`
it first gives up copies of what the device holds as well. A path lock keeps a node on
both tiers; a *host lock* keeps one host copy, for a load that reads from it.

Left out: how copies come to be there (demotion.py) and return (hiradix.py); L3; bytes
(memory/), which follow the pages.
"""

from __future__ import annotations

from ..config import EngineConfig
from ..errors import EngineFault
from ..memory.allocator import PageAllocator
from ..memory.pool import KVPool
from ..memory.transfer import HandTransfer, InstantTransfer
from ..pages import Pages
from ..record import events as ev
from ..record.trace import QUIET, Emitter
from ..rules import Rules
from .controller import HiCacheController
from .duplicates import Duplicates
from .eviction import EvictionQueue
from .radix import MatchResult, RadixCache
from .tree import Node, Walk


class HostTier(RadixCache):
    """A prefix cache whose nodes may have a copy on the host.

    `ongoing_writes`, `ongoing_loads`: node id -> node, copies to the host and from it
    that are registered and not yet acknowledged.
    Source: SGLang 0.5.14, mem_cache/hiradix_cache.py, HiRadixCache; 0.5.23,
    mem_cache/unified_cache/unified_tree_core.py.
    """

    has_host = True

    def __init__(
        self,
        config: EngineConfig,
        rules: Rules,
        emit: Emitter = QUIET,
        *,
        device_pool: KVPool | None = None,
        host_pool: KVPool | None = None,
        link: HandTransfer | None = None,
    ) -> None:
        super().__init__(config, rules, emit)
        self.host = PageAllocator(
            "L2", config.host_pages, 0, page_size=config.page_size, emit=emit
        )
        ledger = KVPool(0, config.page_size, "ledger")
        self.controller = HiCacheController(
            self.allocator,
            self.host,
            device_pool or ledger,
            host_pool or ledger,
            link or InstantTransfer(),
        )
        self.host_leaves = EvictionQueue(config.eviction_policy, _is_host_leaf)
        self.ongoing_writes: dict[int, Node] = {}
        self.ongoing_loads: dict[int, Node] = {}
        self._held: dict[int, int] = {}
        self._threshold = config.backup_threshold
        self._write_back = config.write_policy == "write_back"
        self._duplicates: Duplicates | None = None
        if rules.reclaims_duplicates and self._write_back:
            self._duplicates = Duplicates()

    # --- match and insert

    def _result(self, walk: Walk) -> MatchResult:
        last = best = walk.path[-1] if walk.path else self.tree.root
        host_len = 0
        while last.value is None and last is not self.tree.root:
            host_len += last.size
            last = last.above
        if self.rules.best_match_is_backed_up:
            while best.host_value is None and best is not self.tree.root:
                best = best.above
        return MatchResult(walk.length - host_len, host_len, last, best, walk.path)

    def _pass_through(
        self, walk: Walk, pages: Pages, start: int, priority: int, counted: int
    ) -> tuple[int, int]:
        if walk.below is not None or (walk.path and walk.path[-1].value is None):
            self._note_walk(walk)  # for the host may evict, to take a node that is hit
        self._raise_below(walk, priority)
        double = known = end = 0
        for node in walk.path:
            self._raise_priority(node, priority)
            size = node.size
            begin, end = end, end + size
            restored = node.value is None
            if restored:
                cut = (begin - start) // self.page_size, (end - start) // self.page_size
                self._restore(node, pages[slice(*cut)])
            else:
                double = end
            if not restored or self.rules.restore_counts_hit:
                known += size
                if end > counted:
                    self._count_hit(node)
        return double, known

    def _raise_below(self, walk: Walk, priority: int) -> None:
        if walk.below is not None and self.rules.split_raises_both:
            self._raise_priority(walk.below, priority)

    def _restore(self, node: Node, pages: Pages) -> None:
        """A host-only node takes the freshly computed pages of an insert."""
        self._to_device(node, pages)
        self._emit(ev.Restore, node.id, pages)
        self._note(node)
        self._note_double(node)

    def _to_device(self, node: Node, pages: Pages) -> None:
        node.value = pages
        self.host_leaves.remove(node)
        if node.attached:
            node.above.device_children += 1
            self.device_leaves.remove(node.above)
        if node.lock_ref:
            self.protected_size += node.size
        else:
            self.evictable_size += node.size

    def _note_walk(self, walk: Walk) -> None:
        """The deepest node on device may be a leaf, though host-only nodes follow."""
        super()._note_walk(walk)
        if walk.below is not None:
            self._note_double(walk.path[-1])
        if walk.path and walk.path[-1].value is None:
            for node in reversed(walk.path):
                if node.value is not None:
                    self._note(node)
                    break

    def _note(self, node: Node) -> None:
        """A node with a device copy can only be a candidate there."""
        leaves = self.host_leaves if node.value is None else self.device_leaves
        leaves.note(node)

    def _note_double(self, node: Node) -> None:
        """The node may have settled copies on both tiers now."""
        if self._duplicates is not None:
            self._duplicates.note(node)

    def _withhold(self, node: Node) -> None:
        leaves = self.host_leaves if node.value is None else self.device_leaves
        leaves.remove(node)

    # --- host locks

    def inc_host_lock_ref(self, node: Node) -> int:
        """Keep the node's host copy; return the tokens that the lock covers, which is
        what `dec_host_lock_ref` must be told.

        Changes: host_lock_ref of this node alone. A split later passes it on to both
        halves.
        """
        assert node.host_value is not None, f"{node} has no host copy to keep"
        node.host_lock_ref += 1
        self.host_leaves.note(node)
        self._emit(ev.HostLock, node.id)
        return node.size

    def dec_host_lock_ref(self, node: Node, covered: int) -> None:
        """Undo a host lock that covers so many tokens up to the node's end: where the
        node was split meanwhile, they reach into the nodes above it. 0 is no lock."""
        if not covered:
            return
        here, left = node, covered
        while left > 0:
            here.host_lock_ref -= 1
            self.host_leaves.note(here)
            left -= here.size
            here = here.above
        self._emit(ev.HostUnlock, node.id, covered)

    # --- eviction

    def evict_host(self, num_tokens: int) -> int:
        """Drop host-only leaves, coldest first, until at least `num_tokens` are free
        or none is left; return how many were freed. Dropped nodes are lost for good.

        Under write_back copies of device nodes go first (`reclaims_duplicates`).
        Changes: the tree and the host free list.
        Raises: EngineFault where 0.5.14's own assertion fails (rule
        `load_protects_source`).
        """
        freed = 0
        with self._emit.of(ev.Evict, "L2", num_tokens, self.host_leaves.policy):
            if self._duplicates is not None:
                freed = self._reclaim(self._duplicates, num_tokens)
            while freed < num_tokens and (node := self.host_leaves.pop()):
                freed += self._drop(node)
            self._emit(ev.Evicted, "L2", num_tokens, freed)
        return freed

    def _drop(self, node: Node) -> int:
        self._victim(node, "evict_host", self.host_leaves.key(node))
        if not node.attached:
            self.host.free(_host_pages(node))
            self.host_leaves.note(node)
            raise EngineFault(
                f"n{node.id} was dropped while it was being loaded; set "
                "load_protects_source, as 0.5.23 does"
            )
        return self._lose(node)

    def _lose(self, node: Node) -> int:
        """A host-only node without children leaves the tree for good."""
        self.tree.detach(node)
        self._withhold(node)
        self._emit(ev.EvictHost, node.id)
        self.host.free(_host_pages(node))
        node.above.host_children -= 1
        self._note(node.above)
        self.totals.host_evicted += node.size
        self.totals.lost += node.size
        return node.size

    def _reclaim(self, duplicates: Duplicates, num_tokens: int) -> int:
        """Give up host copies of device nodes, leaves of the device last: those can be
        demoted for nothing soon."""
        freed = 0
        for spare_leaves in (True, False):
            if freed >= num_tokens:
                break
            for node in duplicates.walk():
                held = node.host_lock_ref or node.writing or node.loading
                if not held and not (spare_leaves and node in self.device_leaves):
                    freed += self._reclaim_one(node, spare_leaves)
                if freed >= num_tokens:
                    break
        return freed

    def _reclaim_one(self, node: Node, spare_leaves: bool) -> int:
        self._victim(node, "reclaim", (int(not spare_leaves),))
        pages, node.host_value = _host_pages(node), None
        node.above.host_children -= 1
        self._emit(ev.Reclaim, node.id)
        self.host.free(pages)
        self.totals.host_evicted += node.size
        return node.size


def _host_pages(node: Node) -> Pages:
    assert node.host_value is not None, f"{node} has no host copy to give up"
    return node.host_value


def _is_host_leaf(node: Node) -> bool:
    return (
        node.value is None
        and node.lock_ref == 0
        and node.host_lock_ref == 0
        and node.host_children == 0
    )
