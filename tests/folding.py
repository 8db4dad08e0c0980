"""Is the state folded from a trace the live engine's? Used by several tests."""

from __future__ import annotations

from typing import Any

import numpy as np

from kvlab.cache.tree import Node
from kvlab.pages import Pages
from kvlab.record.moment import NodeState
from kvlab.record.snapshot import State
from kvlab.record.trace import EventLog
from kvlab.run.engine import Engine


class Folded:
    """The state that a run folds to, as far as its trace has grown."""

    def __init__(self, trace: EventLog, start: Any) -> None:
        self._trace, self._state, self._done = trace, start, 0

    def now(self) -> Any:
        """Return the state after all events so far."""
        for event in self._trace.events[self._done :]:
            self._state.apply(event)
        self._done = len(self._trace)
        return self._state


def differences(state: State, engine: Engine) -> list[str]:
    """Return what the folded state says otherwise than the live engine."""
    cache, host = engine.cache, engine.host_cache
    found = []

    def check(what: str, folded: object, live: object) -> None:
        if folded != live:
            found.append(f"{what}: folded {folded}, live {live}")

    nodes = {node.id: node for node in cache.tree.nodes()}
    check("nodes", sorted(state.nodes), sorted(nodes))
    for id in state.nodes.keys() & nodes.keys():
        node, folded = nodes[id], state.nodes[id]
        check(f"node {id}", _facts(folded), (
            node.above.id, _space(node), node.key.tolist(), _listed(node.value),
            _listed(node.host_value), node.lock_ref, node.host_lock_ref,
            node.hit_count, node.priority, node.last_access, node.created,
            node.writing, node.loading,
        ))  # fmt: skip
    check("evictable", state.evictable, cache.evictable_size)
    check("protected", state.protected, cache.protected_size)
    free = {tier: pool.free.to_pages().tolist() for tier, pool in state.pools.items()}
    check("L1 free", free["L1"], cache.allocator.free_pages().tolist())
    if host:
        check("L2 free", free["L2"], host.host.free_pages().tolist())
        check("writes", list(state.writes), list(host.ongoing_writes))
        check("loads", list(state.loads), list(host.ongoing_loads))
    scheduler = engine.scheduler
    check("waiting", state.waiting, [r.id for r in scheduler.waiting])
    check("running", state.running, [r.id for r in scheduler.running])
    live = [*scheduler.running, *filter(None, [scheduler.chunked])]
    for request in [*live, *scheduler.waiting]:
        arrived = state.requests[request.id]
        check(
            f"request {request.id}",
            (arrived.prompt_len, arrived.max_new, arrived.priority),
            (len(request.prompt), request.max_new, request.priority),
        )
    for request in live:
        folded_request = state.requests[request.id]
        row = scheduler.rows.pages(request.row, 0, request.kv_len)
        check(
            f"request {request.id}",
            (
                folded_request.row.tolist(), folded_request.kv_len,
                folded_request.owned_len, folded_request.inserted_len,
                folded_request.outputs, folded_request.node,
            ),
            (
                row.tolist(), request.kv_len, request.owned_len,
                request.inserted_len, request.num_outputs, request.node.id,
            ),
        )  # fmt: skip
    return found


def _facts(node: NodeState) -> tuple[object, ...]:
    return (
        node.parent, node.space, node.tokens.tolist(), _listed(node.pages),
        _listed(node.host_pages), node.lock_ref, node.host_lock_ref, node.hit_count,
        node.priority, node.time, node.created, node.writing, node.loading,
    )  # fmt: skip


def _space(node: Node) -> str:
    """Return the namespace under which the node's path hangs below the root."""
    while node.above.parent is not None:
        node = node.above
    named = isinstance(node.branch, tuple) and isinstance(node.branch[0], str)
    return node.branch[0] if named else ""


def _listed(pages: Pages | None) -> list[int] | None:
    return None if pages is None else np.asarray(pages).tolist()
