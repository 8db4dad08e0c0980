"""Who would an eviction take next, and who may not go?

From the state before a victim goes: the leaves that could follow it, coldest first, as
if it were gone, so its parent may be among them; and the leaves that a lock spares. At
an end that freed too little: what keeps the leaves that are left. Of a node that was
dropped while it was to be loaded: that it was.
Left out: what becomes of a victim (phrases.py), the rule itself (why_cache.py).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from ..record import events as ev
from ..record.events import Event
from ..record.moment import ROOT, NodeState
from ..record.snapshot import State
from .terms import key_text

MOST = 2
"""Leaves that are named of each sort."""

KEPT = 4
"""Leaves that are named where an eviction freed too little."""

Key = tuple[int, ...]

_KEYS: dict[str, Callable[[NodeState], Key]] = {
    "lru": lambda node: (node.time,),
    "lfu": lambda node: (node.hit_count, node.time),
    "fifo": lambda node: (node.created,),
    "mru": lambda node: (-node.time,),
    "filo": lambda node: (-node.created,),
    "priority": lambda node: (node.priority, node.time),
    "slru": lambda node: (int(node.hit_count >= 2), node.time),
}
"""The keys of SGLang's strategies, of a recorded node."""


class Line(NamedTuple):
    """Nodes with their keys as a card shows them: `then` would follow, coldest first;
    `spared` are colder than the victim, and locked."""

    then: list[tuple[int, str]]
    spared: list[tuple[int, str]]


def line_behind(state: State, victim: ev.Victim) -> Line | None:
    """Return who stands in line behind a victim; None where no key orders them.

    `state` is the one before it. Cost: O(nodes).
    """
    here = state.nodes.get(victim.node)
    if here is None or victim.fate == "reclaim":
        return None
    leaves = _leaves(
        state, here, on_host=here.pages is None, goes=victim.fate != "stays"
    )
    key = _KEYS[state.config.eviction_policy]
    ranked = sorted(leaves, key=lambda node: (key(node), node.time, node.id))
    shown = [(node.id, key_text(key(node))) for node in ranked if not _locked(node)]
    spared = [n for n in ranked if _locked(n) and key(n) < key(here)]
    return Line(shown[:MOST], [(n.id, key_text(key(n))) for n in spared[:MOST]])


def kept(state: State, end: ev.Evicted) -> list[tuple[int, str, int]]:
    """Return the leaves of the tier that an eviction which freed too little left there,
    each with what keeps it (writing, loading, reading, locked, both) and its locks.

    The root stands last with "more" and how many are not named, and alone with
    "nothing" if nothing is left there.
    """
    on_host = end.tier == "L2"
    tops = [
        node
        for node in state.nodes.values()
        if (node.host_pages if on_host else node.pages) is not None and node.id != ROOT
    ]
    parents = {node.parent for node in tops}
    leaves = [node for node in tops if node.id not in parents]
    found = [(n.id, _keeper(n, on_host), n.lock_ref) for n in leaves]
    held = [one for one in found if one[1]]
    more = len(held) - KEPT
    rest = [(0, "more", more)] if more > 0 else []
    return [*held[:KEPT], *rest] if tops else [(0, "nothing", 0)]


def dropped(
    state: State, events: Sequence[Event], index: int, left: Mapping[int, int]
) -> list[tuple[int, str, int]]:
    """Return what is amiss with the node of event `index`: it is wanted by a load that
    is a cause of its going, or is an orphan; with the number of the load, or of the
    event that dropped it, which `left` holds. `state` is the one before.

    Cost: O(causes of the event).
    """
    event = events[index]
    node = getattr(event, "node", ROOT)
    if isinstance(event, ev.Victim) and node in state.nodes:
        at, cause = index, event.cause
        while 0 <= cause < at:
            load = events[cause]
            if isinstance(load, ev.LoadBack) and node in map(
                _id, state.path(load.node)
            ):
                return [(node, "wanted", cause + 1)]
            at, cause = cause, load.cause
    coming = isinstance(event, ev.Load) and node not in state.nodes
    if node in left and (coming or node in state.orphans):
        return [(node, "orphan", left[node])]
    return []


def _id(node: NodeState) -> int:
    return node.id


def _keeper(node: NodeState, on_host: bool) -> str:
    if node.writing is not None:
        return "writing"
    if node.loading is not None:
        return "loading"
    if on_host and node.host_lock_ref:
        return "reading"
    if node.lock_ref:
        return "locked"
    return "both" if on_host and node.pages is not None else ""


def _locked(node: NodeState) -> bool:
    return node.lock_ref > 0 or node.host_lock_ref > 0


def _leaves(
    state: State, victim: NodeState, on_host: bool, goes: bool
) -> list[NodeState]:
    """Return the leaves of the tier but the victim: nodes that only L2 has, or nodes on
    L1, with none of their children on the tier too."""
    kids: Counter[int] = Counter()
    for node in state.nodes.values():
        pages = node.host_pages if on_host else node.pages
        if pages is not None and not (goes and node.id == victim.id):
            kids[node.parent] += 1
    return [
        node
        for node in state.nodes.values()
        if node.id not in (victim.id, ROOT)
        and not kids[node.id]
        and (node.host_pages if on_host else node.pages) is not None
        and not (on_host and node.pages is not None)
    ]
