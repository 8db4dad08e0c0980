"""How do prefixes share a tree?

A node holds the tokens that follow its parent's. A walk goes down while tokens agree;
where they part inside a node, the node is *split* there, even by a mere match. A
logical clock, read once more at every use, orders accesses.

        before                      after a walk of 1 2 7
        [1 2 3 4]                   [1 2]   upper: a new node, newer than the rest
                                      |
                                    [3 4]   the old node, its locks and times kept

Left out: whose slots a node holds and what that costs (radix.py, hiradix.py).
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

from ..geometry import floor_page
from ..pages import NO_PAGES, Pages
from ..record import events as ev
from ..record.events import Tokens
from ..record.trace import QUIET, Emitter
from .key import branch, common_prefix


class Node:
    """A stretch of a prefix and where its KV lies.

    `key` are its own tokens, `size` of them, `value` its device pages, `host_value` its
    host pages (None: no copy there). `device_children` and `host_children` count the
    children with a copy on that tier. `branch` is what the parent files it under;
    `attached` is False once the node has left the tree.
    `writing` / `loading` name the copy in flight that the node waits for.
    `lock_ref` counts who needs the device copy, `host_lock_ref` who the host copy.
    """

    __slots__ = (
        "attached", "branch", "children", "created", "device_children", "hit_count",
        "host_children", "host_lock_ref", "host_value", "id", "key", "last_access",
        "loading", "lock_ref", "parent", "priority", "size", "value", "writing",
    )  # fmt: skip

    def __init__(self, id: int, parent: Node | None, key: Tokens) -> None:
        self.id = id
        self.parent = parent
        self.key = key
        self.size = len(key)
        self.branch: Hashable = None
        self.children: dict[Hashable, Node] = {}
        self.value: Pages | None = None
        self.host_value: Pages | None = None
        self.lock_ref = 0
        self.host_lock_ref = 0
        self.hit_count = 0
        self.priority = 0
        self.last_access = 0
        self.created = 0
        self.device_children = 0
        self.host_children = 0
        self.attached = True
        self.writing: int | None = None
        self.loading: int | None = None

    @property
    def evicted(self) -> bool:
        """True when the node has no device copy."""
        return self.value is None

    @property
    def backed_up(self) -> bool:
        """True from the moment host pages are assigned. (SGLang: `backuped`.)"""
        return self.host_value is not None

    @property
    def above(self) -> Node:
        """The parent of a node that is not the root."""
        assert self.parent is not None, "the root has no parent"
        return self.parent

    def __repr__(self) -> str:
        return f"<node {self.id}: {self.size} tokens, lock {self.lock_ref}>"


class Walk(NamedTuple):
    """Where a key led: the nodes that match it, first to last; the tokens that they
    hold; and the node that the walk split off below, if it ended inside one."""

    path: list[Node]
    length: int
    below: Node | None


class RadixTree:
    """Nodes, the clock, and the walk.

    `stamp_each` gives every node of a walk a time of its own (HiRadix); otherwise one
    stamp serves the whole path. `keep_creation`: an upper half inherits its creation
    time. Source: SGLang 0.5.14, mem_cache/{radix,hiradix}_cache.py.

    >>> from kvlab.cache.key import as_tokens
    >>> tree = RadixTree()
    >>> _ = tree.add(tree.root, as_tokens([1, 2, 3]), as_tokens([7, 8, 9]), 0)
    >>> path, length, below = tree.walk(as_tokens([1, 2, 5]))
    >>> length, path[0].value.tolist(), below.value.tolist()
    (2, [7, 8], [9])
    """

    def __init__(
        self,
        page_size: int = 1,
        *,
        stamp_each: bool = False,
        keep_creation: bool = False,
        emit: Emitter = QUIET,
    ) -> None:
        self.page_size = page_size
        self.clock = 0
        self.root = Node(0, None, NO_PAGES)
        self.root.lock_ref = 1
        self._step = int(stamp_each)
        self._keep_creation = keep_creation
        self._last_id = 0
        self._emit = emit

    def walk(self, key: Tokens, space: str = "", known: Node | None = None) -> Walk:
        """Follow the key (whole pages) down and stamp the nodes on the way.

        `known` is a node whose path agrees with the key as far as both go, which an
        earlier walk has told the caller: its tokens are not compared again.
        Changes: access times; splits a node that the key leaves half-way.
        Cost: O(tokens matched beyond `known` + nodes on the path).
        """
        path, at = self._path_to(known)
        while at > len(key):
            at -= path.pop().size
        node, below = path[-1] if path else self.root, None
        while at < len(key):
            child = node.children.get(self._branch(node, key, at, space))
            if child is None:
                break
            path.append(child)
            length = child.size
            agreed = common_prefix(child.key, key[at : at + length])
            if agreed < length:
                agreed = floor_page(agreed, self.page_size)
                self._stamp(path)
                path[-1], below = self._split(child, agreed), child
                return Walk(path, at + agreed, below)
            at += length
            node = child
        if path:
            self._stamp(path)
        return Walk(path, at, below)

    def walk_to(self, node: Node) -> Walk:
        """Walk down to a node of the tree. Changes: access times on the path."""
        path, length = self._path_to(node)
        if path:
            self._stamp(path)
        return Walk(path, length, None)

    def add(
        self, parent: Node, key: Tokens, value: Pages, priority: int, space: str = ""
    ) -> Node:
        """Hang a new leaf with device pages under `parent`. Changes: the tree."""
        node = self._new_node(parent, key)
        node.branch = self._branch(parent, key, 0, space)
        node.priority = priority
        node.value = value
        parent.children[node.branch] = node
        parent.device_children += 1
        self._emit(
            ev.Add, node.id, parent.id, space, key, value, priority,
            node.last_access, node.created,
        )  # fmt: skip
        return node

    def detach(self, node: Node) -> None:
        """Take a childless node out of the tree. Changes: its parent's children."""
        del node.above.children[node.branch]
        node.attached = False

    def nodes(self) -> list[Node]:
        """Return all nodes but the root, parents before children."""
        found, todo = list[Node](), [self.root]
        while todo:
            children = todo.pop().children.values()
            found.extend(children)
            todo.extend(children)
        return found

    def _path_to(self, node: Node | None) -> tuple[list[Node], int]:
        """Return the nodes down to this one, and their tokens; none, if one of them
        has left the tree."""
        path: list[Node] = []
        length = 0
        while node is not None and node is not self.root:
            if not node.attached:
                return [], 0
            path.append(node)
            length += node.size
            node = node.parent
        path.reverse()
        return path, length

    def _stamp(self, path: list[Node]) -> None:
        if self._step:
            for node in path:
                self.clock += 1
                node.last_access = self.clock
        else:
            self.clock += 1
            for node in path:
                node.last_access = self.clock
        self._emit(ev.Touch, path[-1].id, self.clock, self._step)

    def _branch(self, parent: Node, key: Tokens, at: int, space: str) -> Hashable:
        page = branch(key, at, self.page_size)
        return (space, page) if space and parent is self.root else page

    def _new_node(self, parent: Node, key: Tokens) -> Node:
        self._last_id += 1
        node = Node(self._last_id, parent, key)
        node.last_access = self.clock + 1
        node.created = self.clock = self.clock + 2
        return node

    def _split(self, node: Node, at: int) -> Node:
        """Cut `node` after `at` tokens and return the new upper half."""
        upper = self._new_node(node.above, node.key[:at])
        upper.lock_ref, upper.hit_count = node.lock_ref, node.hit_count
        upper.host_lock_ref = node.host_lock_ref
        upper.priority, upper.branch = node.priority, node.branch
        upper.writing, upper.loading = node.writing, node.loading
        if self._keep_creation:
            upper.created = node.created
        cut = at // self.page_size
        if node.value is not None:
            upper.value, node.value = node.value[:cut], node.value[cut:]
            upper.device_children = 1
        if node.host_value is not None:
            upper.host_value, node.host_value = (
                node.host_value[:cut],
                node.host_value[cut:],
            )
            upper.host_children = 1
        upper.above.children[upper.branch] = upper
        node.key, node.parent = node.key[at:], upper
        node.size -= at
        node.branch = branch(node.key, 0, self.page_size)
        upper.children[node.branch] = node
        self._emit(ev.Split, node.id, upper.id, at, upper.last_access, upper.created)
        return upper
