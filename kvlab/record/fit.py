"""Can this event follow this state?

An engine's own events always fit; those of a damaged or hand-made run may not. What is
checked here keeps the fold from going wrong without a sound: a node that is already
there, a path that would become a ring, counters that would drift.
Left out: what the fold itself notices (unknown names, pages that are not free).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import events as ev
from .events import Event
from .moment import ROOT
from .snapshot import State


def misfit(state: State, event: Event) -> str | None:
    """Return why the event cannot follow the state; None if nothing speaks against it.

    Raises: KeyError if it names a node or a request that the state does not have.

    >>> from kvlab.config import EngineConfig
    >>> state = State.start(EngineConfig(pool_tokens=8))
    >>> state.apply(ev.Arrive(-1, "r1", 5, 1, 0))
    >>> misfit(state, ev.Arrive(-1, "r1", 5, 1, 0))
    'request r1 is waiting already'
    """
    check = _CHECKS.get(type(event))
    return None if check is None else check(state, event)


def _fresh(state: State, id: int) -> str | None:
    if id == ROOT or id in state.nodes or id in state.orphans:
        return f"node {id} exists already"
    return None


def _covers(state: State, num_pages: int, node: int, num_tokens: int) -> str | None:
    if num_pages * state.config.page_size == num_tokens:
        return None
    return (
        f"node {node} has {num_tokens} tokens and gets {num_pages} pages "
        f"of {state.config.page_size}"
    )


def _add(state: State, e: ev.Add) -> str | None:
    if e.parent != ROOT:
        state.node(e.parent)
    if len(e.tokens) == 0:
        return f"node {e.node} has no tokens"
    return _fresh(state, e.node) or _covers(state, len(e.pages), e.node, len(e.tokens))


def _split(state: State, e: ev.Split) -> str | None:
    size = len(state.node(e.node).tokens)
    if not 0 < e.at < size or e.at % state.config.page_size:
        return (
            f"node {e.node} of {size} tokens cannot be split at {e.at} "
            f"(pages of {state.config.page_size})"
        )
    return _fresh(state, e.upper)


def _unlock(state: State, e: ev.Unlock) -> str | None:
    """An ancestor has at least the locks of a descendant, so one look is enough."""
    if e.node != ROOT and state.node(e.node).lock_ref < 1:
        return f"node {e.node} is not locked"
    return None


def _host_lock(state: State, e: ev.HostLock) -> str | None:
    if state.node(e.node).host_pages is None:
        return f"node {e.node} has no host copy to lock"
    return None


def _host_unlock(state: State, e: ev.HostUnlock) -> str | None:
    left = e.tokens
    for node in state.path(e.node):
        if left <= 0:
            break
        if node.host_lock_ref < 1:
            return f"node {node.id} is not host-locked"
        left -= len(node.tokens)
    if left == 0:
        return None
    return f"a host lock of {e.tokens} tokens does not begin at a node's edge"


def _off_device(state: State, e: ev.Delete | ev.Demote) -> str | None:
    node = state.node(e.node)
    if node.pages is None:
        return f"node {e.node} is not on the device"
    return f"node {e.node} is locked" if node.lock_ref else None


def _to_device(state: State, e: ev.Restore | ev.Load) -> str | None:
    if isinstance(e, ev.Load) and e.node not in state.nodes:
        return None  # a node that the host dropped while it was loaded (fault)
    node = state.node(e.node)
    if node.pages is not None:
        return f"node {e.node} is on the device already"
    return _covers(state, len(e.pages), e.node, len(node.tokens))


def _backup(state: State, e: ev.Backup) -> str | None:
    node = state.node(e.node)
    if node.host_pages is not None:
        return f"node {e.node} has a host copy already"
    return _covers(state, len(e.pages), e.node, len(node.tokens))


def _evict_host(state: State, e: ev.EvictHost) -> str | None:
    node = state.node(e.node)
    if node.pages is not None:
        return f"node {e.node} is on the device"
    return f"node {e.node} is host-locked" if node.host_lock_ref else None


def _reclaim(state: State, e: ev.Reclaim) -> str | None:
    node = state.node(e.node)
    if node.pages is None or node.host_pages is None:
        return f"node {e.node} has no second copy to give up"
    return f"node {e.node} is host-locked" if node.host_lock_ref else None


def _arrive(state: State, e: ev.Arrive) -> str | None:
    before = state.requests.get(e.request)
    if before is None or before.stage in ("finished", "dropped"):
        return None
    return f"request {e.request} is {before.stage} already"


def _row(state: State, e: ev.Row) -> str | None:
    size = len(state.requests[e.request].row)
    if not 0 <= e.start <= size:
        return f"the row of {e.request} has {size} pages, none at {e.start}"
    return None


_CHECKS: dict[type[Event], Callable[[State, Any], str | None]] = {
    ev.Add: _add,
    ev.Split: _split,
    ev.Unlock: _unlock,
    ev.HostLock: _host_lock,
    ev.HostUnlock: _host_unlock,
    ev.Delete: _off_device,
    ev.Demote: _off_device,
    ev.Restore: _to_device,
    ev.Load: _to_device,
    ev.Backup: _backup,
    ev.EvictHost: _evict_host,
    ev.Reclaim: _reclaim,
    ev.Arrive: _arrive,
    ev.Row: _row,
}
