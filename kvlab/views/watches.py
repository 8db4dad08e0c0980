"""At which events would one want to stop?

Thirteen named predicates, asked of every event and the state before it while the log is
written; the player jumps from one hit to the next.
Left out: free expressions, which nobody could check.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..record import events as ev
from ..record.events import Event
from ..record.moment import NodeState
from ..record.snapshot import State
from .theme import Words

WATCHES: dict[str, Words] = {
    "unlocked": Words("a lock_ref reaches 0", "某个 lock_ref 归零"),
    "host_only": Words("a node becomes host-only", "节点变为仅在主机"),
    "lost": Words("a prefix is lost for good", "前缀永久丢失"),
    "refused": Words("a request is refused", "请求被拒"),
    "no_backup": Words("a backup is refused", "备份被拒"),
    "back": Words("a prefix comes back from L2", "前缀从 L2 取回"),
    "no_load": Words("a load_back is refused", "取回被拒"),
    "overtaken": Words("a copy in flight is overtaken", "拷贝途中节点变了"),
    "overshoot": Words("an eviction frees too much", "逐出多于所需"),
    "short": Words("an eviction frees too little", "逐出少于所需"),
    "low": Words("L1 falls under 10 % available", "L1 空闲跌破 10 %"),
    "room": Words("L1 has to make room", "L1 需要腾位"),
    "retracted": Words("a request is retracted", "请求被撤回"),
}
"""Every watch by name. `overtaken`: split or dropped before its copy arrived."""


def seen(event: Event, state: State) -> list[str]:
    """Return the watches that the event, about to follow the state, sets off."""
    ask = _ASK.get(type(event))
    return [] if ask is None else ask(event, state)


def _one(name: str, on: bool) -> list[str]:
    return [name] if on else []


def _unlock(e: ev.Unlock, state: State) -> list[str]:
    return _one("unlocked", any(node.lock_ref == 1 for node in state.path(e.node)))


def _split(e: ev.Split, state: State) -> list[str]:
    return _one("overtaken", _moving(state.nodes.get(e.node)))


def _moving(node: NodeState | None) -> bool:
    return node is not None and (node.writing is not None or node.loading is not None)


def _drop(e: ev.EvictHost, state: State) -> list[str]:
    node = state.nodes.get(e.node) or state.orphans.get(e.node)
    return ["lost", *_one("overtaken", _moving(node))]


def _load(e: ev.Load, state: State) -> list[str]:
    return _one("overtaken", e.node not in state.nodes)


def _backup_tried(e: ev.TryBackup, state: State) -> list[str]:
    return _one("no_backup", e.verdict in ("parent_not_backed_up", "host_full"))


def _load_tried(e: ev.LoadBack, state: State) -> list[str]:
    refused = e.verdict not in ("load", "make_room")
    return _one("back", e.verdict == "load") + _one("no_load", refused)


def _evicted(e: ev.Evicted, state: State) -> list[str]:
    return _one("overshoot", e.freed > e.ask) + _one("short", e.freed < e.ask)


def _alloc(e: ev.Alloc, state: State) -> list[str]:
    pool = state.pools[e.tier]
    free = len(pool.free)
    low = (free - len(e.pages)) * 10 < pool.num_pages <= free * 10
    return _one("low", e.tier == "L1" and low)


_ASK: dict[type[Event], Callable[[Any, State], list[str]]] = {
    ev.Unlock: _unlock,
    ev.Demote: lambda e, state: ["host_only"],
    ev.Delete: lambda e, state: ["lost"],
    ev.EvictHost: _drop,
    ev.Split: _split,
    ev.Load: _load,
    ev.Admit: lambda e, state: _one("refused", not e.added),
    ev.TryBackup: _backup_tried,
    ev.LoadBack: _load_tried,
    ev.MakeRoom: lambda e, state: _one("room", e.tier == "L1"),
    ev.Evicted: _evicted,
    ev.Alloc: _alloc,
    ev.Retract: lambda e, state: ["retracted"],
}
