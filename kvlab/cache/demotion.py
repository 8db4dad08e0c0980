"""How does a prefix survive eviction? (L1 to L2.)

`write_back` makes the host copy when the node is evicted; `write_through` when an
insert has passed often enough, the first time included. Then eviction is one of these:

        backed up         -> demote:  the device copy goes, the node stays
        not, write_through-> delete:  the node is lost
        not, write_back   -> back up, then demote
             host is full -> stays, or is dropped (rule `unwritable_victim_stays`)

A write is submitted at once, or with all others of its step as one transfer (rule
`writes_share_ack`). Left out: what goes when the host is full (host_tier.py); the way
back (hiradix.py).
"""

from __future__ import annotations

from ..record import events as ev
from .host_tier import HostTier
from .tree import Node


class DemotingCache(HostTier):
    """A two-tier cache that copies nodes to the host before they leave the device.

    Source: SGLang 0.5.14, mem_cache/hiradix_cache.py, write_backup, evict; 0.5.23,
    mem_cache/unified_radix_cache.py.
    """

    def _count_hit(self, node: Node) -> None:
        if self._write_back:
            return
        node.hit_count += 1
        self._emit(ev.Hit, node.id)
        if node.host_value is None and node.hit_count >= self._threshold:
            self.write_backup(node)

    # --- device to host

    def write_backup(self, node: Node) -> int:
        """Begin to write the node to the host; return its tokens, 0 if refused.

        Host copies form a chain from the root: while an ancestor has none, the node is
        refused, or the ancestors are written first, until one finds no room (rule
        `backup_needs_parent`). Each path stays locked until its copy is acknowledged.
        Changes: the host pool, possibly the tree (evict_host), locks.
        """
        chain = [node]
        while not (above := chain[0].above).backed_up and above is not self.tree.root:
            chain.insert(0, above)
        if len(chain) == 1:
            return self._write_locked(node)
        if self.rules.backup_needs_parent:
            self._emit(*self._backup_terms(node, "parent_not_backed_up"))
            return 0
        with self._emit.of(*self._backup_terms(node, "ancestors_first")):
            for target in chain:
                written = self._write_locked(target)
                if not written:
                    break
        return written

    def _write_locked(self, node: Node) -> int:
        if not self._write(node):
            return 0
        self.inc_lock_ref(node)
        return node.size

    def _write(self, node: Node) -> bool:
        assert node.value is not None, f"{node} has nothing to write"
        free, size, parent = self.host.available, node.size, node.above
        if free >= size:
            self._emit(*self._backup_terms(node, "write"))
        else:
            whole = self.rules.host_evicts_whole_need
            with self._emit.of(*self._backup_terms(node, "make_room")):
                self.evict_host(size - (0 if whole else free))
        pages = self.controller.write(node.id, node.value)
        if pages is None:
            self._emit(*self._backup_terms(node, "host_full"))
            return False
        node.host_value = pages
        node.writing = node.id
        parent.host_children += 1
        self.host_leaves.remove(parent)
        self.ongoing_writes[node.id] = node
        self.totals.backed_up += size
        used = self.host.total - self.host.available
        self.totals.host_peak = max(self.totals.host_peak, used)
        self._emit(ev.Backup, node.id, pages)
        if not self.rules.writes_share_ack:
            self.controller.start_writing()
        return True

    def _backup_terms(self, node: Node, verdict: str) -> tuple[type[ev.Event], ...]:
        return (
            ev.TryBackup, node.id, node.size, node.hit_count,
            self._threshold, self.host.available, verdict,
        )  # type: ignore[return-value]  # fmt: skip

    def flush_writes(self) -> None:
        """Submit the writes that wait as one transfer, said if it is more than one;
        none wait where every write is submitted at once. Changes: the write stream."""
        nodes = self.controller.start_writing()
        if len(nodes) > 1:
            self._emit(ev.SendWrites, tuple(nodes))

    def writing_check(self) -> int:
        """Take note of writes that are done; return how many.

        Changes: `ongoing_writes`; under write_through* unlocks their paths.
        """
        done = self.controller.acked_writes()
        for id in done:
            node = self.ongoing_writes.pop(id)
            written = [here := node]
            while here.above.writing == id:
                written.insert(0, here := here.above)
            self._emit(ev.BackupDone, id)
            for here in written:
                here.writing = None
                self._note_double(here)
            if not self._write_back:
                self.dec_lock_ref(node)
        return len(done)

    def _finish_writes(self) -> None:
        """Wait for every write of write_back, as its eviction does."""
        self.flush_writes()
        self.controller.link.complete("write")
        self.writing_check()

    # --- eviction

    def evict(self, num_tokens: int) -> int:
        """Free device pages, coldest leaf first, until at least `num_tokens` are free
        or no leaf is left; return how many were freed.

        Under write_back, victims written in this call keep their pages until its end
        (rule `written_back_waits`), and one that the host cannot take stays or is
        dropped (rule `unwritable_victim_stays`).
        Changes: the tree, both free lists, the accounts.
        """
        freed = 0
        waiting: dict[Node, None] = {}
        stuck: dict[Node, None] = {}
        with self._emit.of(ev.Evict, "L1", num_tokens, self.device_leaves.policy):
            while freed < num_tokens and (node := self.device_leaves.pop()):
                if node in waiting or node in stuck:
                    continue  # a leaf again, since the host dropped what hung below
                if node.backed_up:
                    self._victim(node, "demote", self.device_leaves.key(node))
                    self._left_device(node)
                    freed += self._demote(node)
                elif self._write_back:
                    freed += self._write_victim(node, waiting, stuck)
                else:
                    freed += self._delete(node)
            if waiting:
                self._finish_writes()
            for node in waiting:
                self._demote(node)
            for node in stuck:
                self.device_leaves.note(node)
            self._emit(ev.Evicted, "L1", num_tokens, freed)
        return freed

    def _write_victim(
        self, node: Node, waiting: dict[Node, None], stuck: dict[Node, None]
    ) -> int:
        """Write a victim of write_back and free it, now or later; return the tokens
        that count as freed. For its parent it counts as gone at once."""
        self._victim(node, "backup", self.device_leaves.key(node))
        if self._write(node):
            self._left_device(node)
            if self.rules.written_back_waits:
                waiting[node] = None
                return node.size
            self._finish_writes()
            return self._demote(node)
        # the host gave up all that it could: what still hangs below is needed
        if not self.rules.unwritable_victim_stays and not node.children:
            return self._delete(node, "drop")
        self._victim(node, "stays", self.device_leaves.key(node))
        stuck[node] = None
        return 0

    def _demote(self, node: Node) -> int:
        """Give up the device copy of a backed-up node; it stays in the tree."""
        assert node.value is not None, f"{node} has no device copy to give up"
        pages, node.value = node.value, None
        size = node.size
        self.device_leaves.remove(node)  # a leaf again, if the host dropped its child
        self._emit(ev.Demote, node.id)
        self.allocator.free(pages)
        self.evictable_size -= size
        self.totals.evicted += size
        self._note(node)
        return size
