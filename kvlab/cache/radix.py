"""How is a prefix found, and how does a finished one get in? (L1 only.)

A match finds the longest known prefix. An insert hands the pages of a whole sequence to
the tree: what is known already is double and goes back to the pool, the rest becomes a
new leaf. Each insert that passes a node counts as a hit; a match never does.
Left out: what a prefix costs (device_tier.py), the host (host_tier.py), and requests
(schedule/checkpoint.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from typing import NamedTuple

from ..pages import Pages, join
from ..record import events as ev
from ..record.events import Tokens
from .device_tier import DeviceTier
from .key import whole_pages
from .tree import Node, Walk


class MatchResult(NamedTuple):
    """What a prefix match found.

    `device_len` / `host_len`: tokens in L1, and tokens that follow them in L2 only;
    `last_device`: the deepest node on device; `best`: where a load_back would end;
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


class InsertResult(NamedTuple):
    """What an insert found, and where its key ends now.

    `prefix_len`: tokens that the tree knew already; `double_len`: the end of those that
    lay on device before, whose own pages are spare; `last`: the key's deepest node.
    """

    prefix_len: int
    double_len: int
    last: Node


class RadixCache(DeviceTier):
    """The prefix cache of one device pool.

    Keys are cut down to whole pages.
    Source: SGLang 0.5.14, mem_cache/radix_cache.py, RadixCache.

    >>> from kvlab.cache.key import as_tokens
    >>> from kvlab.config import EngineConfig
    >>> from kvlab.rules import Rules
    >>> cache = RadixCache(EngineConfig(pool_tokens=8, tree="radix"), Rules.v0_5_14())
    >>> pages = cache.allocator.alloc(3)
    >>> cache.insert(as_tokens([1, 2, 3]), pages).prefix_len, cache.evictable_size
    (0, 3)
    >>> cache.match_prefix(as_tokens([1, 2, 9])).device_len
    2
    """

    def match_prefix(
        self, tokens: Tokens, space: str = "", known: Node | None = None
    ) -> MatchResult:
        """Find the longest cached prefix of the tokens; the path down to `known`, if
        the caller gives one, is taken to agree with them.

        Changes: access times on the path; splits a node that the match leaves inside.
        Never counts a hit. Cost: O(tokens matched).
        """
        walk = self.tree.walk(whole_pages(tokens, self.page_size), space, known)
        return self._matched(walk, len(tokens))

    def match_inserted(self, last: Node) -> MatchResult:
        """Match what an insert has just put down to the node `last`: no token need be
        compared. Changes: access times on the path. Cost: O(nodes on the path).
        """
        walk = self.tree.walk_to(last)
        return self._matched(walk, walk.length)

    def insert(
        self,
        tokens: Tokens,
        pages: Pages,
        *,
        start: int = 0,
        owned: int = 0,
        priority: int = 0,
        chunked: bool = False,
        inserted_len: int = 0,
        space: str = "",
        known: Node | None = None,
    ) -> InsertResult:
        """Let the tree own the pages of the tokens; return what it knew already.

        Shapes: `pages` covers the tokens from `start` on, whole pages only; the caller
        has matched and locked what lies before. The tree owns the pages of the first
        `owned` tokens; what is double beyond them is freed.
        Units: tokens; `inserted_len` is what the same request inserted before; `known`
        as in `match_prefix`.
        Changes: the tree, hit counts, evictable_size, the free list.
        """
        key = whole_pages(tokens, self.page_size)
        if self.rules.request_counts_once:
            counted = inserted_len
        else:
            counted = len(key) if chunked else 0
        with self._emit.of(ev.Insert, len(key), priority, chunked, counted):
            walk = self.tree.walk(key, space, known)
            double, had = self._pass_through(walk, pages, start, priority, counted)
            last = walk.path[-1] if walk.path else self.tree.root
            if walk.length < len(key):
                value = pages[(walk.length - start) // self.page_size :]
                last = self._grow(
                    last, walk.length, key, value, priority, counted, space
                )
            self._note_walk(walk)
            if double > owned:
                self._free_double(walk, pages, start, owned, double)
        return InsertResult(had, double, last)

    def cut_prompt(self, tokens: Tokens, priority: int) -> None:
        """Cut the tree at the end of a cached prompt and raise the prompt's path to
        the priority, so that what follows may be evicted without it; count no hit.

        Changes: the tree, access times and priorities on the path.
        """
        key = whole_pages(tokens, self.page_size)
        with self._emit.of(ev.CutPrompt, len(key), priority):
            walk = self.tree.walk(key)
            self._raise_below(walk, priority)
            for node in walk.path:
                self._raise_priority(node, priority)
            self._note_walk(walk)

    def _matched(self, walk: Walk, asked: int) -> MatchResult:
        """Say what a walk found that was `asked` for so many tokens."""
        self._note_walk(walk)
        result = self._result(walk)
        self._emit(
            ev.Match, asked, result.device_len, result.host_len,
            result.last_device.id, result.best.id,
        )  # fmt: skip
        return result

    def _result(self, walk: Walk) -> MatchResult:
        last = walk.path[-1] if walk.path else self.tree.root
        return MatchResult(walk.length, 0, last, last, walk.path)

    def _pass_through(
        self, walk: Walk, pages: Pages, start: int, priority: int, counted: int
    ) -> tuple[int, int]:
        """Tell the walk's nodes that an insert passes; return its double tokens (on
        device before, so that the insert's own pages are spare) and its known ones.

        Nodes that end within the first `counted` tokens count no hit.
        """
        end = 0
        for node in walk.path:
            self._raise_priority(node, priority)
            end += node.size
            if end > counted:
                self._count_hit(node)
        return walk.length, walk.length

    def _grow(
        self,
        parent: Node,
        at: int,
        key: Tokens,
        value: Pages,
        priority: int,
        counted: int,
        space: str,
    ) -> Node:
        """Hang what is new from token `at` on as a new leaf, which counts as a hit."""
        rest = key[at:]
        value = value[: len(rest) // self.page_size]
        node = self.tree.add(parent, rest, value, priority, space)
        self.evictable_size += node.size
        self.device_leaves.remove(parent)
        if len(key) > counted:
            self._count_hit(node)
        self.device_leaves.note(node)
        return node

    def _free_double(
        self, walk: Walk, pages: Pages, start: int, owned: int, double: int
    ) -> None:
        """Free the insert's own pages of tokens `owned` .. `double` - 1, in one call
        or node by node (rule `freed_pages_sorted`: only page numbers depend on it)."""
        ends = [double]
        if self.page_size > 1 and not self.rules.freed_pages_sorted:
            ends = list(accumulate(node.size for node in walk.path))
        at = owned
        for end in ends:
            if at < end <= double:
                first, last = at - start, end - start
                self.allocator.free(
                    pages[first // self.page_size : last // self.page_size]
                )
                at = end

    def _count_hit(self, node: Node) -> None:
        node.hit_count += 1
        self._emit(ev.Hit, node.id)

    def _raise_below(self, walk: Walk, priority: int) -> None:
        """What the walk split off below is not raised in a tree without a host."""

    def _raise_priority(self, node: Node, priority: int) -> None:
        if priority > node.priority:
            node.priority = priority
            self._emit(ev.Raise, node.id, priority)

    def _note_walk(self, walk: Walk) -> None:
        """The ends of a walk may be candidates whose key has changed; the one below may
        have left the tree, where a backup on the way needed its host pages."""
        if walk.path:
            self._note(walk.path[-1])
        if walk.below is not None and walk.below.attached:
            self._note(walk.below)

    def tree_lines(self) -> Iterator[tuple[int, ...]]:
        """Yield one line per node: first token, tokens before it, its tokens, whether
        it lies on device and on host, hit count."""
        todo = [(self.tree.root, 0)]
        while todo:
            parent, start = todo.pop()
            for node in parent.children.values():
                todo.append((node, start + node.size))
                yield (
                    int(node.key[0]), start, node.size, int(not node.evicted),
                    int(node.backed_up), node.hit_count,
                )  # fmt: skip
