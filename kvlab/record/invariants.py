"""Which laws does every sound state obey?

A law is a function of a state: None where it holds, else one sentence with the numbers.
Laws of `ALWAYS` hold after every event. Those of `AT_REST` hold between operations
only, since within one a page may be in hand, on its way from one owner to the next.
A release whose rules promise more obeys more: `laws_of` adds what its book says.
Left out: laws about an event (fit.py) and about contents (memory/pool.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ..pages import NO_PAGES, Pages, join
from ..rules import Rules
from .events import Tier
from .moment import ROOT, NodeState
from .snapshot import State

Law = Callable[[State], str | None]

_TIERS: tuple[Tier, ...] = ("L1", "L2")


def broken(
    state: State, *, at_rest: bool = True, rules: Rules | None = None
) -> list[str]:
    """Return what is wrong with the state: one sentence a broken law, none if sound.

    `at_rest` is False for a state inside an operation; `rules` are those of the run's
    header (None: what all releases obey). Cost: O(pages + nodes).

    >>> from kvlab.config import EngineConfig
    >>> broken(State.start(EngineConfig(pool_tokens=8)))
    []
    """
    laws = (LAWS if at_rest else ALWAYS) + laws_of(rules)
    return [sentence for law in laws if (sentence := law(state)) is not None]


def laws_of(rules: Rules | None) -> tuple[Law, ...]:
    """Return the laws that a rule book adds; they hold after every event."""
    if rules is None:
        return ()
    return LOADS_ARE_SAFE if rules.load_protects_source else NO_HOST_LOCKS


# --- pages


def free_pages_are_sound(state: State) -> str | None:
    """A free list holds pages of its pool, each once (allocator/, free_pages)."""
    for tier in _TIERS:
        pool = state.pools[tier]
        pages = pool.free.to_pages()
        last = pool.first + pool.num_pages - 1
        outside = pages[(pages < pool.first) | (pages > last)]
        if len(outside):
            return f"{tier} has free {_some(outside)}; its pages end at {last}"
        if len(twice := _repeated(pages)):
            return f"{tier} has {_some(twice)} free twice"
    return None


def pages_have_one_owner(state: State) -> str | None:
    """A page is free, or one node's; never both, never two nodes' (radix_cache.py)."""
    for tier in _TIERS:
        free, tree = state.pools[tier].free.to_pages(), _tree_pages(state, tier)
        if len(both := np.intersect1d(free, tree)):
            return f"{tier} has {_some(both)} free and in the tree at once"
        if len(twice := _repeated(tree)):
            return f"{tier} has {_some(twice)} in two nodes at once"
    return None


def no_page_is_lost(state: State) -> str | None:
    """At rest a page is free, in the tree or in a row beyond what the tree owns."""
    for tier in _TIERS:
        pool = state.pools[tier]
        parts = [pool.free.to_pages(), _tree_pages(state, tier), _held(state, tier)]
        if len(twice := _repeated(join(parts))):
            return f"{tier} has {_some(twice)} with two owners (free, tree, rows)"
        free, tree, held = map(len, parts)
        if free + tree + held != pool.num_pages:
            return (
                f"{free} free + {tree} in the tree + {held} in rows are not the "
                f"{pool.num_pages} pages of {tier}"
            )
    return None


# --- accounts


def counters_match_the_tree(state: State) -> str | None:
    """evictable and protected are the tree's device tokens, by lock_ref == 0 or > 0
    (inc_lock_ref, dec_lock_ref); host_only and tree_pages are recounted too."""
    evictable = protected = host_only = pages = 0
    for node in state.nodes.values():
        size = len(node.tokens)
        if node.pages is None:
            host_only += size
            continue
        pages += len(node.pages)
        if node.lock_ref:
            protected += size
        else:
            evictable += size
    said = (state.evictable, state.protected, state.host_only, state.tree_pages)
    found = (evictable, protected, host_only, pages)
    names = ("evictable", "protected", "host_only", "tree_pages")
    wrong = [
        f"{name} is {a}, the tree has {b}"
        for name, a, b in zip(names, said, found, strict=True)
        if a != b
    ]
    return "; ".join(wrong) or None


def rows_explain_what_is_held(state: State) -> str | None:
    """total = available + evictable + protected + held, where held is what rows of
    requests hold beyond the tree (decode tokens, partial pages, a running chunk)."""
    account = state.account()
    rows = len(_held(state, "L1")) * state.config.page_size
    if account.held == rows:
        return None
    return (
        f"{account.total} total - {account.available} available - "
        f"{account.evictable} evictable - {account.protected} protected leave "
        f"{account.held} held, the rows hold {rows}"
    )


# --- the tree


def every_node_is_in_the_tree(state: State) -> str | None:
    """Nodes hang on nodes; whoever left holds nothing. 0.5.14 breaks this: evict_host
    may drop a node that load_back is loading (not `load_protects_source`)."""
    for node in state.nodes.values():
        if node.parent != ROOT and node.parent not in state.nodes:
            return f"node {node.id} hangs on node {node.parent}, which left the tree"
    for node in state.orphans.values():
        if node.pages is not None:
            size = len(node.tokens)
            return f"node {node.id} left the tree with {size} tokens on the device"
    return None


def locks_grow_towards_the_root(state: State) -> str | None:
    """inc_lock_ref walks node -> root: lock_ref is >= 0 and <= the parent's."""
    for node in state.nodes.values():
        if node.lock_ref < 0:
            return f"node {node.id} has lock_ref {node.lock_ref}"
        parent = state.nodes.get(node.parent)
        if parent is not None and node.lock_ref > parent.lock_ref:
            return (
                f"node {node.id} has lock_ref {node.lock_ref}, "
                f"its parent {parent.id} only {parent.lock_ref}"
            )
    return None


def device_copies_reach_the_root(state: State) -> str | None:
    """A node on the device has its parent there: leaves are evicted first (evict)."""
    for node, parent in _with_parent(state):
        if node.pages is not None and parent.pages is None:
            return f"node {node.id} is on the device, its parent {parent.id} is not"
    return None


def every_node_has_a_copy(state: State) -> str | None:
    """A node without a device copy is backed up, else evict deletes it (evict)."""
    for node in state.nodes.values():
        if node.pages is None and node.host_pages is None:
            return f"node {node.id} has a copy neither on the device nor on the host"
    return None


def host_copies_reach_the_root(state: State) -> str | None:
    """Under write_through* a backed-up node's parent is backed up (write_backup)."""
    if state.config.write_policy == "write_back":
        return None
    for node, parent in _with_parent(state):
        if node.host_pages is not None and parent.host_pages is None:
            return f"node {node.id} is backed up, its parent {parent.id} is not"
    return None


def copies_in_flight_are_locked(state: State) -> str | None:
    """What is being written (but for write_back) or loaded is locked until the
    acknowledgement (write_backup, load_back)."""
    write_back = state.config.write_policy == "write_back"
    for node in state.nodes.values():
        if node.lock_ref == 0 and node.loading is not None:
            return f"node {node.id} is being loaded and not locked"
        if node.lock_ref == 0 and node.writing is not None and not write_back:
            return f"node {node.id} is being written and not locked"
    return None


def host_locks_keep_a_copy(state: State) -> str | None:
    """A host lock is held on a host copy, and counted from 0 (inc_host_lock_ref)."""
    for node in state.nodes.values():
        if node.host_lock_ref < 0:
            return f"node {node.id} has host_lock_ref {node.host_lock_ref}"
        if node.host_lock_ref and node.host_pages is None:
            return f"node {node.id} is host-locked without a host copy"
    return None


# --- what only some releases promise


def loads_keep_their_source(state: State) -> str | None:
    """What is being loaded keeps its host copy, and the node at which the load ends is
    host-locked (load_back, rule `load_protects_source`)."""
    for node in state.nodes.values():
        if node.loading is not None and node.host_pages is None:
            return f"node {node.id} lost the host copy that it is loaded from"
    for id in state.loads:
        if id in state.nodes and state.nodes[id].host_lock_ref == 0:
            return f"the load that ends at node {id} holds no host lock there"
    return None


def nobody_locks_the_host(state: State) -> str | None:
    """0.5.14 has a host lock count, and nobody who raises it."""
    for node in state.nodes.values():
        if node.host_lock_ref:
            return f"node {node.id} has host_lock_ref {node.host_lock_ref}"
    return None


LOADS_ARE_SAFE: tuple[Law, ...] = (loads_keep_their_source,)
NO_HOST_LOCKS: tuple[Law, ...] = (nobody_locks_the_host,)

ALWAYS: tuple[Law, ...] = (
    free_pages_are_sound,
    pages_have_one_owner,
    counters_match_the_tree,
    every_node_is_in_the_tree,
    locks_grow_towards_the_root,
    every_node_has_a_copy,
    host_copies_reach_the_root,
    host_locks_keep_a_copy,
)
"""Laws that hold after every event."""

AT_REST: tuple[Law, ...] = (
    no_page_is_lost,
    rows_explain_what_is_held,
    device_copies_reach_the_root,
    copies_in_flight_are_locked,
)
"""Laws that hold before and after an operation, not within it."""

LAWS = ALWAYS + AT_REST


def _with_parent(state: State) -> Iterator[tuple[NodeState, NodeState]]:
    for node in state.nodes.values():
        parent = state.nodes.get(node.parent)
        if parent is not None:
            yield node, parent


def _tree_pages(state: State, tier: Tier) -> Pages:
    copies = [n.pages if tier == "L1" else n.host_pages for n in state.nodes.values()]
    return join([pages for pages in copies if pages is not None])


def _held(state: State, tier: Tier) -> Pages:
    """Return the pages of rows beyond what the tree owns; the host has none."""
    if tier == "L2":
        return NO_PAGES
    page = state.config.page_size
    return join([r.row[r.owned_len // page :] for r in state.requests.values()])


def _repeated(pages: Pages) -> Pages:
    values, counts = np.unique(pages, return_counts=True)
    repeated: Pages = values[counts > 1]
    return repeated


def _some(pages: Pages) -> str:
    """Return how many pages there are, and the first few."""
    more = ", ..." if len(pages) > 4 else ""
    noun = "page" if len(pages) == 1 else "pages"
    return f"{len(pages)} {noun} ({', '.join(map(str, pages[:4].tolist()))}{more})"
