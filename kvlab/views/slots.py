"""Who holds each page of a pool, and in which state?

The tree, the requests and the free lists each know a part; `runs` puts the parts
together: one run for each stretch of neighbouring pages that look the same, the whole
pool from its first page to its last.
Left out: drawing (pool_map.py, text.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..pages import NO_PAGES, Pages
from ..record.events import Tier
from ..record.moment import NodeState
from ..record.snapshot import State as Engine
from .frame import Focus, Frame, focus, given_up
from .markup import plain
from .theme import State


class Run(NamedTuple):
    """`length` pages from `first` on, alike. `label` names the node or the request;
    `twin` is the state of the copy in the other pool; `hot`: touched by this event;
    `locks`, on L2: its host_lock_ref."""

    first: int
    length: int
    state: State
    label: str = ""
    node: int | None = None
    twin: State | None = None
    hot: bool = False
    locks: int = 0


class _Holder(NamedTuple):
    pages: Pages
    state: State
    label: str = ""
    node: int | None = None
    twin: State | None = None
    locks: int = 0


def runs(frame: Frame, tier: Tier) -> list[Run]:
    """Return the pool's runs, lowest page first. Cost: O(pages + nodes)."""
    pool = frame.state.pools[tier]
    if pool.num_pages == 0:
        return []
    touched = focus(frame)
    holders = [_Holder(NO_PAGES, "held"), *_holders(frame, tier, touched)]
    holders.append(_Holder(pool.free.to_pages(), "available"))
    owner = np.zeros(pool.num_pages, np.int32)
    for number, holder in enumerate(holders):
        owner[_inside(holder.pages, pool.first, pool.num_pages)] = number
    hot = np.zeros(pool.num_pages, bool)
    hot[_inside(touched.pages(tier), pool.first, pool.num_pages)] = True
    return list(_cut(owner, hot, holders, pool.first))


def _inside(pages: Pages, first: int, count: int) -> NDArray[np.int64]:
    """Return the pages as places in the pool; what lies outside is left out."""
    places = pages.astype(np.int64) - first
    return places[(places >= 0) & (places < count)]


def _cut(
    owner: NDArray[np.int32], hot: NDArray[np.bool_], holders: list[_Holder], first: int
) -> Iterator[Run]:
    look = owner * 2 + hot
    starts = np.concatenate(([0], np.flatnonzero(np.diff(look)) + 1))
    lengths = np.diff(np.append(starts, len(look)))
    for start, length in zip(starts.tolist(), lengths.tolist(), strict=True):
        held = holders[owner[start]]
        yield Run(
            first + start, length, held.state, held.label, held.node, held.twin,
            bool(hot[start]), held.locks,
        )  # fmt: skip


def _holders(frame: Frame, tier: Tier, touched: Focus) -> Iterator[_Holder]:
    """Yield who holds what; where two hold the same page, the later one is drawn."""
    state = frame.state
    if tier == "L1":
        yield _Holder(frame.promised, "promised")
        yield from _requests(state)
    orphans = state.orphans.values() if tier == "L1" else ()
    for node in (*orphans, *state.nodes.values()):
        pages = node.pages if tier == "L1" else node.host_pages
        if pages is not None:
            yield _of_node(node, tier, pages)
    yield from _leaving(frame, tier, touched)


def _requests(state: Engine) -> Iterator[_Holder]:
    """Yield what requests hold outside the tree: the rest of their rows."""
    for request in state.requests.values():
        pages = request.row[request.owned_len // state.config.page_size :]
        if len(pages):
            yield _Holder(pages, "held", plain(request.id, 12))


def _of_node(node: NodeState, tier: Tier, pages: Pages) -> _Holder:
    on_l1, on_l2 = l1_state(node), l2_state(node)
    mine, other = (on_l1, on_l2) if tier == "L1" else (on_l2, on_l1)
    copying = node.loading is not None or node.writing is not None
    twin = None if copying else other
    locks = node.host_lock_ref if tier == "L2" else 0
    return _Holder(pages, mine or "available", f"n{node.id}", node.id, twin, locks)


def l1_state(node: NodeState) -> State | None:
    """Return how the node's device copy looks, None if it has none."""
    if node.pages is None:
        return None
    if node.loading is not None:
        return "promised"
    return "used" if node.lock_ref else "evictable"


def l2_state(node: NodeState) -> State | None:
    """Return how the node's host copy looks, None if it has none."""
    if node.host_pages is None:
        return None
    if node.writing is not None:
        return "in_flight"
    return "copy" if node.pages is not None and node.loading is None else "host_only"


def _leaving(frame: Frame, tier: Tier, touched: Focus) -> Iterator[_Holder]:
    """Yield what this event takes away, so that it is seen to go."""
    if touched.gone is not None:
        pages = touched.gone.pages if tier == "L1" else touched.gone.host_pages
        if pages is not None:
            yield _Holder(pages, "lost", f"n{touched.gone.id}", touched.gone.id)
    given = given_up(frame.event)
    if given is not None and given[0] == tier:
        yield _Holder(touched.pages(tier), "left", f"n{given[1]}", given[1])
