"""How does a prefix survive eviction? (L1 to L2.)

A node may have a copy on the device, on the host, or on both. `write_back` makes the
host copy when the node is evicted; `write_through` when an insert has passed often
enough, the first time included. Then eviction is one of three fates:

        backed up         -> demote:  the device copy goes, the node stays
        not, write_back   -> back up, then demote
        not, write_through-> delete:  the node is lost

Left out: the way back (hiradix.py); L3; bytes (memory/), which follow the pages.
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
from .eviction import EvictionQueue
from .radix import MatchResult, RadixCache
from .tree import Node, Walk


class HostTier(RadixCache):
    """A prefix cache whose nodes may have a copy on the host.

    `ongoing_writes`: node id -> node, registered and not yet acknowledged.
    Source: SGLang 0.5.14, mem_cache/hiradix_cache.py, HiRadixCache.
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
        self.ongoing_writes: dict[int, Node] = {}
        self.host_leaves = EvictionQueue(config.eviction_policy, _is_host_leaf)
        self._write_back = config.write_policy == "write_back"

    # --- match and insert

    def _result(self, walk: Walk) -> MatchResult:
        last = best = walk.path[-1] if walk.path else self.tree.root
        host_len = 0
        while last.value is None and last is not self.tree.root:
            host_len += len(last.key)
            last = last.above
        if self.rules.best_match_is_backed_up:
            while not best.backed_up and best is not self.tree.root:
                best = best.above
        return MatchResult(walk.length - host_len, host_len, last, best, walk.path)

    def _pass_through(
        self, walk: Walk, pages: Pages, start: int, priority: int, chunked: bool
    ) -> int:
        self._note_walk(walk)
        if walk.below is not None and self.rules.split_raises_both:
            self._raise_priority(walk.below, priority)
        prefix_len, at = 0, -start
        for node in walk.path:
            self._raise_priority(node, priority)
            end = at + len(node.key)
            restored = node.value is None
            if restored:
                self._restore(node, pages[at // self.page_size : end // self.page_size])
            if not restored or self.rules.restore_counts_hit:
                self._count_hit(node, chunked)
                prefix_len += len(node.key)
            at = end
        return prefix_len

    def _restore(self, node: Node, pages: Pages) -> None:
        """A host-only node takes the freshly computed pages of an insert."""
        self._to_device(node, pages)
        self._emit(ev.Restore, node.id, pages)
        self._note(node)

    def _to_device(self, node: Node, pages: Pages) -> None:
        node.value = pages
        if node.attached:
            node.above.device_children += 1
            self.device_leaves.remove(node.above)
        if node.lock_ref:
            self.protected_size += len(node.key)
        else:
            self.evictable_size += len(node.key)

    def _count_hit(self, node: Node, chunked: bool) -> None:
        if self._write_back or (chunked and self.rules.chunk_counts_no_hit):
            return
        super()._count_hit(node, chunked)
        if not node.backed_up and node.hit_count >= self.config.backup_threshold:
            self.write_backup(node)

    def _note_walk(self, walk: Walk) -> None:
        """The deepest node on device may be a leaf, though host-only nodes follow."""
        super()._note_walk(walk)
        for node in reversed(walk.path):
            if node.value is not None:
                self._note(node)
                break

    def _note(self, node: Node) -> None:
        super()._note(node)
        self.host_leaves.note(node)

    def _withhold(self, node: Node) -> None:
        super()._withhold(node)
        self.host_leaves.remove(node)

    # --- device to host

    def write_backup(self, node: Node) -> int:
        """Begin to write the node to the host; return its tokens, 0 if refused.

        Refused while its parent has no host copy (so that host copies form a chain
        from the root), and when the host finds no room. The path stays locked until
        the copy is acknowledged.
        Changes: the host pool, possibly the tree (evict_host), locks.
        """
        parent = node.above
        if (
            self.rules.backup_needs_parent
            and parent is not self.tree.root
            and not parent.backed_up
        ):
            self._say_backup(node, "parent_not_backed_up")
            return 0
        if not self._write(node):
            return 0
        self.inc_lock_ref(node)
        return len(node.key)

    def _write(self, node: Node) -> bool:
        assert node.value is not None, f"{node} has nothing to write"
        pages = None
        if self.host.available >= len(node.key):
            self._say_backup(node, "write")
        else:
            whole = self.rules.host_evicts_whole_need
            ask = len(node.key) - (0 if whole else self.host.available)
            with self._emit.of(*self._backup_terms(node, "make_room")):
                self.evict_host(ask)
        pages = self.controller.write(node.id, node.value)
        if pages is None:
            self._say_backup(node, "host_full")
            return False
        node.host_value = pages
        node.writing = node.id
        node.above.host_children += 1
        self.host_leaves.remove(node.above)
        self.ongoing_writes[node.id] = node
        self.totals.backed_up += len(node.key)
        used = self.host.total - self.host.available
        self.totals.host_peak = max(self.totals.host_peak, used)
        self._emit(ev.Backup, node.id, pages)
        return True

    def _backup_terms(self, node: Node, verdict: str) -> tuple[type[ev.Event], ...]:
        return (
            ev.TryBackup, node.id, len(node.key), node.hit_count,
            self.config.backup_threshold, self.host.available, verdict,
        )  # type: ignore[return-value]  # fmt: skip

    def _say_backup(self, node: Node, verdict: str) -> None:
        self._emit(*self._backup_terms(node, verdict))

    def writing_check(self) -> int:
        """Take note of writes that are done; return how many.

        Changes: `ongoing_writes`; under write_through* unlocks their paths.
        """
        done = self.controller.acked_writes()
        for id in done:
            node = self.ongoing_writes.pop(id)
            here = node
            while here.writing == id:
                here.writing = None
                here = here.above
            self._emit(ev.BackupDone, id)
            if not self._write_back:
                self.dec_lock_ref(node)
        return len(done)

    # --- eviction

    def evict(self, num_tokens: int) -> int:
        """Free device pages, coldest leaf first, until at least `num_tokens` are free
        or no leaf is left; return how many were freed.

        Under write_back, victims written in this call keep their pages until its end
        (rule `written_back_waits`), and one that the host cannot take stays.
        Changes: the tree, both free lists, the accounts.
        """
        freed = 0
        written: list[Node] = []
        stuck: list[Node] = []
        with self._emit.of(ev.Evict, "L1", num_tokens, self.device_leaves.policy):
            while freed < num_tokens and (node := self.device_leaves.pop()):
                if node.backed_up:
                    self._victim(node, "demote", self.device_leaves.key(node))
                    self._left_device(node)
                    freed += self._demote(node)
                elif not self._write_back:
                    freed += self._delete(node)
                elif self._write_victim(node):
                    written.append(node)
                    freed += len(node.key)
                else:
                    stuck.append(node)
            self._demote_written(written)
            for node in stuck:
                self.device_leaves.note(node)
            self._emit(ev.Evicted, "L1", num_tokens, freed)
        return freed

    def _write_victim(self, node: Node) -> bool:
        """Write a victim of write_back; for its parent it counts as gone at once."""
        self._victim(node, "backup", self.device_leaves.key(node))
        if not self._write(node):
            self._victim(node, "stays", self.device_leaves.key(node))
            return False
        self._left_device(node)
        return True

    def _demote_written(self, nodes: list[Node]) -> None:
        """Wait for every write, then free the victims' device pages."""
        if nodes:
            self.controller.link.complete("write")
            self.writing_check()
        for node in nodes:
            self._demote(node)

    def _demote(self, node: Node) -> int:
        """Give up the device copy of a backed-up node; it stays in the tree."""
        assert node.value is not None, f"{node} has no device copy to give up"
        pages, node.value = node.value, None
        self._emit(ev.Demote, node.id)
        self.allocator.free(pages)
        self.evictable_size -= len(node.key)
        self.totals.evicted += len(node.key)
        self._note(node)
        return len(node.key)

    def evict_host(self, num_tokens: int) -> int:
        """Drop host-only leaves, coldest first, until at least `num_tokens` are free
        or none is left; return how many were freed. Dropped nodes are lost for good.

        Changes: the tree and the host free list.
        Raises: EngineFault where 0.5.14's own assertion fails (rule
        `loading_nodes_unprotected`).
        """
        freed = 0
        with self._emit.of(ev.Evict, "L2", num_tokens, self.host_leaves.policy):
            while freed < num_tokens and (node := self.host_leaves.pop()):
                freed += self._drop(node)
            self._emit(ev.Evicted, "L2", num_tokens, freed)
        return freed

    def _drop(self, node: Node) -> int:
        assert node.host_value is not None, f"{node} has no host copy to drop"
        self._victim(node, "evict_host", self.host_leaves.key(node))
        if not node.attached:
            self.host.free(node.host_value)
            self.host_leaves.note(node)
            raise EngineFault(f"node {node.id} was dropped while it was being loaded")
        self.tree.detach(node)
        self._emit(ev.EvictHost, node.id)
        self.host.free(node.host_value)
        node.above.host_children -= 1
        self._note(node.above)
        self.totals.host_evicted += len(node.key)
        self.totals.lost += len(node.key)
        return len(node.key)


def _is_host_leaf(node: Node) -> bool:
    return (
        node.value is None
        and node.host_value is not None
        and node.lock_ref == 0
        and node.host_children == 0
    )
