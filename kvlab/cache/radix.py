"""What does a finished prefix cost, and when does it go? (L1 only.)

The tree's device tokens are either *protected* (lock_ref > 0: a request or a copy
needs them) or *evictable*. Locks count along the path to the root, so a locked node's
ancestors are locked too, and eviction goes leaf by leaf.
Left out: the host tier (hiradix.py) and requests (schedule/checkpoint.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..config import EngineConfig
from ..memory.allocator import PageAllocator
from ..pages import Pages, join
from ..record import events as ev
from ..record.events import Tokens
from ..record.trace import QUIET, Emitter
from ..rules import Rules
from .eviction import EvictionQueue
from .key import whole_pages
from .tree import Node, RadixTree, Walk


class MatchResult(NamedTuple):
    """What a prefix match found.

    `device_len` / `host_len`: tokens in L1, and tokens that follow them in L2 only;
    `last_device`: the deepest node on device; `best`: where a load_back would start;
    `path`: the nodes, first to last.
    """

    device_len: int
    host_len: int
    last_device: Node
    best: Node
    path: list[Node]

    @property
    def pages(self) -> Pages:
        """The device pages of the matched prefix, as the tree holds them now."""
        return join([node.value for node in self.path if node.value is not None])


class Totals:
    """Running sums, in tokens, that a run without a trace can still report."""

    def __init__(self) -> None:
        self.evicted = self.lost = 0
        self.backed_up = self.host_evicted = self.loaded_back = 0
        self.host_peak = 0


class RadixCache:
    """The prefix cache of one device pool.

    `evictable_size` and `protected_size` are tokens. Keys are cut down to whole pages.
    Source: SGLang 0.5.14, mem_cache/radix_cache.py, RadixCache.

    >>> from kvlab.cache.key import as_tokens
    >>> cache = RadixCache(EngineConfig(pool_tokens=8, tree="radix"), Rules.v0_5_14())
    >>> pages = cache.allocator.alloc(3)
    >>> cache.insert(as_tokens([1, 2, 3]), pages), cache.evictable_size
    (0, 3)
    >>> cache.match_prefix(as_tokens([1, 2, 9])).device_len
    2
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

    # --- match and insert

    def match_prefix(self, tokens: Tokens, space: str = "") -> MatchResult:
        """Find the longest cached prefix of the tokens.

        Changes: access times on the path; splits a node that the match leaves inside.
        Never counts a hit. Cost: O(tokens matched).
        """
        walk = self.tree.walk(whole_pages(tokens, self.page_size), space)
        self._note_walk(walk)
        result = self._result(walk)
        self._emit(
            ev.Match, len(tokens), result.device_len, result.host_len,
            result.last_device.id, result.best.id,
        )  # fmt: skip
        return result

    def insert(
        self,
        tokens: Tokens,
        pages: Pages,
        *,
        start: int = 0,
        priority: int = 0,
        chunked: bool = False,
        space: str = "",
    ) -> int:
        """Let the tree own the pages of the tokens; return how many tokens it already
        had on device: the caller still owns those pages, and frees them.

        Shapes: `pages` covers the tokens from `start` on, whole pages only; the caller
        has matched and locked what lies before.
        Changes: the tree, hit counts, evictable_size; the tree owns the other pages.
        """
        key = whole_pages(tokens, self.page_size)
        with self._emit.of(ev.Insert, len(key), priority, chunked):
            walk = self.tree.walk(key, space)
            prefix_len = self._pass_through(walk, pages, start, priority, chunked)
            if walk.length < len(key):
                value = pages[(walk.length - start) // self.page_size :]
                self._grow(walk, key, value, priority, chunked, space)
            self._note_walk(walk)
        return prefix_len

    def _result(self, walk: Walk) -> MatchResult:
        last = walk.path[-1] if walk.path else self.tree.root
        return MatchResult(walk.length, 0, last, last, walk.path)

    def _pass_through(
        self, walk: Walk, pages: Pages, start: int, priority: int, chunked: bool
    ) -> int:
        for node in walk.path:
            self._raise_priority(node, priority)
            self._count_hit(node, chunked)
        return walk.length

    def _grow(
        self,
        walk: Walk,
        key: Tokens,
        value: Pages,
        priority: int,
        chunked: bool,
        space: str,
    ) -> None:
        """Hang what the walk did not find as a new leaf, which counts as a hit."""
        parent = walk.path[-1] if walk.path else self.tree.root
        rest = key[walk.length :]
        value = value[: len(rest) // self.page_size]
        node = self.tree.add(parent, rest, value, priority, space)
        self.evictable_size += len(node.key)
        self.device_leaves.remove(parent)
        self._count_hit(node, chunked)
        self.device_leaves.note(node)

    def _count_hit(self, node: Node, chunked: bool) -> None:
        if chunked and self.rules.chunk_counts_no_hit:
            return
        node.hit_count += 1
        self._emit(ev.Hit, node.id)

    def _raise_priority(self, node: Node, priority: int) -> None:
        if priority > node.priority:
            node.priority = priority
            self._emit(ev.Raise, node.id, priority)

    def _note_walk(self, walk: Walk) -> None:
        """The ends of a walk may be candidates whose key has changed."""
        if walk.path:
            self._note(walk.path[-1])
        if walk.below is not None:
            self._note(walk.below)

    def tree_lines(self) -> Iterator[tuple[int, ...]]:
        """Yield one line per node: first token, tokens before it, its tokens, whether
        it lies on device and on host, hit count."""
        todo = [(self.tree.root, 0)]
        while todo:
            parent, start = todo.pop()
            for node in parent.children.values():
                todo.append((node, start + len(node.key)))
                yield (
                    int(node.key[0]), start, len(node.key), int(not node.evicted),
                    int(node.backed_up), node.hit_count,
                )  # fmt: skip

    # --- locks

    def inc_lock_ref(self, node: Node) -> int:
        """Lock the path from the node to the root; return what evictable gained (<= 0).

        Changes: lock_ref, and moves tokens from evictable to protected.
        Cost: O(nodes on the path).
        """
        here, delta = node, 0
        while here is not self.tree.root:
            if here.lock_ref == 0:
                if here.value is not None:
                    delta -= len(here.key)
                self._withhold(here)
            here.lock_ref += 1
            here = here.above
        self.evictable_size += delta
        self.protected_size -= delta
        if node is not self.tree.root:
            self._emit(ev.Lock, node.id)
        return delta

    def dec_lock_ref(self, node: Node) -> int:
        """Unlock the path from the node to the root; return what evictable gained.

        Changes: lock_ref, and moves tokens from protected to evictable.
        """
        here, delta = node, 0
        while here is not self.tree.root:
            here.lock_ref -= 1
            if here.lock_ref == 0:
                if here.value is not None:
                    delta += len(here.key)
                self._note(here)
            here = here.above
        self.evictable_size += delta
        self.protected_size -= delta
        if node is not self.tree.root:
            self._emit(ev.Unlock, node.id)
        return delta

    def _note(self, node: Node) -> None:
        """The node may have become a candidate, or its key may have changed."""
        self.device_leaves.note(node)

    def _withhold(self, node: Node) -> None:
        """The node got its first lock: no candidate any more."""
        self.device_leaves.remove(node)

    # --- room

    def make_room(self, num_tokens: int) -> bool:
        """Evict, if fewer than `num_tokens` are free, by the release's rule of how
        much to ask for; return whether they are free then.

        Changes: the tree and the free list. Source: mem_cache/common.py.
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
        self._emit(ev.Victim, node.id, len(node.key), key, fate)

    def _delete(self, node: Node) -> int:
        """Evict a leaf that has no copy elsewhere: it leaves the tree."""
        assert node.value is not None, f"{node} has no device pages to free"
        self._victim(node, "delete", self.device_leaves.key(node))
        self._left_device(node)
        self.tree.detach(node)
        self._emit(ev.Delete, node.id)
        self.allocator.free(node.value)
        self.evictable_size -= len(node.key)
        self.totals.evicted += len(node.key)
        self.totals.lost += len(node.key)
        return len(node.key)

    def _left_device(self, node: Node) -> None:
        """The parent has one child less on device, and may be a leaf now."""
        if node.attached:
            node.above.device_children -= 1
            self._note(node.above)


def _is_device_leaf(node: Node) -> bool:
    return node.lock_ref == 0 and node.value is not None and node.device_children == 0
