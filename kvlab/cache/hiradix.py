"""How does an evicted prefix come home? (L2 to L1.)

A chain of host-only nodes is loaded as a whole or not at all: from the deepest device
node down to the best match, ancestor first, into one allocation. What comes back counts
as L1 tokens like any other, so it may have to evict others first.

        device    device    host only   host only
        [ n1 ] -- [ n2 ] -- [   n3   ] -- [ n4 ]
                  ancestor  `------ chain -----'
                  (locked)                end

While others are evicted, the path is locked from the ancestor up, or from the end up
(rule `load_protects_source`): else the host may drop what is about to be loaded.
"""

from __future__ import annotations

from ..pages import NO_PAGES, Pages, join
from ..record import events as ev
from .controller import MAX_LOAD_BATCHES
from .demotion import DemotingCache
from .tree import Node


class HiRadixCache(DemotingCache):
    """The prefix cache of a device pool with a host pool behind it: HiCache.

    Source: SGLang 0.5.14, mem_cache/hiradix_cache.py, HiRadixCache; 0.5.23,
    mem_cache/unified_radix_cache.py, UnifiedRadixCache.
    """

    def init_load_back(self, best: Node, quota: int | None = None) -> Pages:
        """Bring the host-only chain that ends at `best` back, or nothing of it; return
        its new device pages, in key order.

        Changes: as `load_back`.
        """
        if best.value is not None or best is self.tree.root:
            return NO_PAGES
        pages = self.load_back(best, quota)
        return NO_PAGES if pages is None else pages

    def load_back(self, end: Node, quota: int | None = None) -> Pages | None:
        """Give every evicted node down to `end` device pages, ancestor first, from one
        allocation; None, if they are too few, over quota, or find no room.

        The path is locked until the load is acknowledged; host copies are kept.
        Changes: both accounts, locks; evicts to make room.
        """
        chain: list[Node] = []
        ancestor = end
        while ancestor.value is None and ancestor is not self.tree.root:
            chain.insert(0, ancestor)
            ancestor = ancestor.above
        protect = self.rules.load_protects_source
        covered = self.inc_host_lock_ref(end) if protect else 0
        locked = end if protect else ancestor
        delta = self.inc_lock_ref(locked)
        pages = self._load_pages(chain, quota, delta)
        self.dec_lock_ref(locked)
        if pages is None:
            self.dec_host_lock_ref(end, covered)
            return None
        self.ongoing_loads[end.id] = end
        self._held[end.id] = covered
        self._commit(chain, end, pages)
        self.inc_lock_ref(end)
        return pages

    def _commit(self, chain: list[Node], end: Node, pages: Pages) -> None:
        """Hand the pages to the nodes of the chain, ancestor first."""
        at = 0
        for node in chain:
            size = node.size // self.page_size
            self._to_device(node, pages[at : at + size])
            node.loading = end.id
            self._emit(ev.Load, node.id, end.id, pages[at : at + size])
            at += size
        self.totals.loaded_back += at * self.page_size

    def _load_pages(
        self, chain: list[Node], quota: int | None, delta: int
    ) -> Pages | None:
        tokens = sum(node.size for node in chain)
        end = chain[-1].id
        if tokens < self.config.load_threshold:
            self._say_load(end, tokens, quota, delta, "below_threshold")
            return None
        if quota is not None and tokens > quota + delta:
            self._say_load(end, tokens, quota, delta, "over_quota")
            return None
        host_pages = join([n.host_value for n in chain if n.host_value is not None])
        available = self.allocator.available
        whole = self.rules.load_evicts_whole_need
        if available < tokens:
            terms = self._load_terms(end, tokens, quota, delta, "make_room")
            with self._emit.of(*terms):
                self.evict(tokens if whole else tokens - available)
        else:
            self._say_load(end, tokens, quota, delta, "load")
        pages = None
        if whole or self.allocator.available >= tokens:  # else no page is asked for
            pages = self.controller.load(end, host_pages)
        if pages is None:
            self._say_load(end, tokens, quota, delta, "no_device_memory")
        return pages

    def _load_terms(
        self, end: int, tokens: int, quota: int | None, delta: int, verdict: str
    ) -> tuple[type[ev.Event], ...]:
        return (
            ev.LoadBack, end, tokens, self.config.load_threshold, quota, delta,
            self.allocator.available, verdict,
        )  # type: ignore[return-value]  # fmt: skip

    def _say_load(
        self, end: int, tokens: int, quota: int | None, delta: int, verdict: str
    ) -> None:
        self._emit(*self._load_terms(end, tokens, quota, delta, verdict))

    def start_loading(self) -> None:
        """Submit the queued loads as one batch. The engine would fail an assertion if
        a fourth batch began; kvlab waits for the oldest, as the recordings do."""
        if not self.controller.has_queued:
            return
        if self.controller.batches_in_flight >= MAX_LOAD_BATCHES:
            self.controller.link.complete("load", 1)
            self.loading_check()
        self.controller.start_loading()

    def loading_check(self) -> int:
        """Take note of loads that are done; return how many. Changes: locks."""
        done = self.controller.acked_loads()
        for id in done:
            node = self.ongoing_loads.pop(id)
            self._emit(ev.LoadDone, id)
            here = node
            while (above := here.parent) is not None:
                if here.loading == id:
                    here.loading = None
                    self._note_double(here)
                here = above
            self.dec_lock_ref(node)
            self.dec_host_lock_ref(node, self._held.pop(id))
        return len(done)

    def check_events(self) -> None:
        """Submit writes that wait, then take note of every copy that is done (SGLang:
        check_hicache_events)."""
        self.flush_writes()
        self.writing_check()
        self.loading_check()

    # --- what the scheduler does around a load

    def hold(self, node: Node) -> int:
        """Keep a matched node and its host copy while room is made for it, where the
        release does; return what `let_go` must be told. Changes: locks."""
        if not self.rules.load_protects_source:
            return 0
        covered = self.inc_host_lock_ref(node)
        self.inc_lock_ref(node)
        return covered

    def let_go(self, node: Node, covered: int) -> None:
        """Undo `hold`. Changes: locks."""
        if covered:
            self.dec_lock_ref(node)
            self.dec_host_lock_ref(node, covered)
