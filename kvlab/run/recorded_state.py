"""In which words do the recordings tell an SGLang engine's state?

Nodes sorted by path, the four parts of the account, the order of the victims to come,
and whether contents and sums are right. Left out: reading such a state back; what
kvlab's own traces hold (record/moment.py).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..cache.tree import Node
from ..memory.allocator import PageAllocator
from ..memory.pool import SEED, KVPool, fingerprints
from ..pages import Pages, join, slots_of
from .engine import Engine
from .runner import ScriptRunner


class _Placed(NamedTuple):
    """A node, the tokens down to its end, and what its slots must hold."""

    node: Node
    path: list[int]
    prints: NDArray[np.int64]


def recorded_state(runner: ScriptRunner) -> dict[str, Any]:
    """Return the engine's state as the recordings write it."""
    engine = runner.engine
    cache, host = engine.cache, engine.host_cache
    placed = sorted(_placed(cache.tree.root), key=lambda node: node.path)
    where = {id(node): i for i, (node, _, _) in enumerate(placed)}
    config, page = engine.config, engine.config.page_size
    pins = engine.rules.load_protects_source and config.write_policy == "write_back"
    device_pages = [node.value for node, _, _ in placed]
    host_pages = [node.host_value for node, _, _ in placed]
    prints = [prints for _, _, prints in placed]
    state: dict[str, Any] = {
        "dev_avail": cache.allocator.available,
        "evictable": cache.evictable_size,
        "protected": cache.protected_size,
        "held": _held(engine, device_pages),
        "host_avail": engine.host_available,
        "nodes": [_node(n, path, runner, pins) for n, path, _ in placed],
        "tree_dev": len(_joined(device_pages)) * page,
        "tree_host": len(_joined(host_pages)) * page,
        "evict_order": [where.get(id(n), -1) for n in cache.device_leaves.in_order()],
        "data_ok": _right(engine.device_pool, device_pages, prints)
        and _right(engine.host_pool, host_pages, prints),
    }
    account = (state["evictable"] + state["protected"], state["tree_dev"])
    state["sum_ok"] = account[0] == account[1] and _adds_up(
        cache.allocator, device_pages, state["held"]
    )
    if host:
        order = host.host_leaves.in_order()
        state["host_evict_order"] = [where.get(id(n), -1) for n in order]
        state["writes"] = len(host.ongoing_writes)
        state["loads"] = len(host.ongoing_loads)
        state["sum_ok"] = state["sum_ok"] and _adds_up(host.host, host_pages, 0)
    return state


def _placed(root: Node) -> Iterator[_Placed]:
    """Yield every node but the root, level by level, as children are filed."""
    todo: deque[_Placed] = deque([_Placed(root, [], np.array([SEED]))])
    while todo:
        parent, path, before = todo.popleft()
        for node in parent.children.values():
            prints = _prints(node.key.tobytes(), before.item(-1))
            todo.append(_Placed(node, path + node.key.tolist(), prints))
            yield todo[-1]


@lru_cache(maxsize=4096)
def _prints(key: bytes, before: int) -> NDArray[np.int64]:
    """The same stretches of prefix come again in record after record."""
    return fingerprints(np.frombuffer(key, np.int32), before)


def _joined(copies: list[Pages | None]) -> Pages:
    return join([pages for pages in copies if pages is not None])


def _node(
    node: Node, path: list[int], runner: ScriptRunner, pins: bool
) -> dict[str, Any]:
    """Return a node's record; `pins`: a load pins the host copies that it reads."""
    page = runner.engine.config.page_size
    record: dict[str, Any] = {
        "path": path,
        "len": node.size,
        "lock": node.lock_ref,
        "dev": node.value is not None,
        "host": node.host_value is not None,
        "hit": node.hit_count,
    }
    if runner.dump_slots:
        record["slots"] = _slots(node.value, page)
        record["host_slots"] = _slots(node.host_value, page)
    if node.writing is not None:
        record["wpend"] = True
    if pins and node.loading is not None:
        record["lpend"] = True
    if node.host_lock_ref:
        record["host_ref"] = node.host_lock_ref
    if node.priority:
        record["prio"] = node.priority
    return record


def _slots(pages: Pages | None, page: int) -> list[int] | None:
    return None if pages is None else slots_of(pages, page).tolist()


def _held(engine: Engine, tree: list[Pages | None]) -> int:
    """Return the tokens of the pages in live rows that the tree does not own."""
    scheduler = engine.scheduler
    live = [*scheduler.running, *([scheduler.chunked] if scheduler.chunked else [])]
    rows = [
        scheduler.rows.pages(request.row, 0, request.kv_len)
        for request in live
        if request.row is not None
    ]
    return len(np.setdiff1d(join(rows), _joined(tree))) * engine.config.page_size


def _right(
    pool: KVPool, copies: list[Pages | None], prints: list[NDArray[np.int64]]
) -> bool:
    """Does every copy on a tier hold what its prefix says?"""
    wanted = [p for pages, p in zip(copies, prints, strict=True) if pages is not None]
    found = pool.read(_joined(copies))
    return not wanted or bool(np.array_equal(found, np.concatenate(wanted)))


def _adds_up(pool: PageAllocator, copies: list[Pages | None], held: int) -> bool:
    """Is every page of a tier free, in the tree or held, and none in two places?"""
    pages = np.concatenate((pool.free_pages(), _joined(copies)))
    once = len(np.unique(pages)) == len(pages)
    return once and len(pages) * pool.page_size + held == pool.total
