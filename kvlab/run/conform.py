"""Is kvlab equal to the real engine, record by record?

A golden holds the states that a real engine was in after every op of a script. This
replays the script and compares every field of every record; the first difference of
each record is reported, none is skipped silently.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Struct

from ..cache.tree import Node
from ..errors import EngineFault, InputError
from ..memory.pool import KVPool, fingerprints
from ..pages import Pages, slots_of
from ..record.trace import QUIET, Emitter
from .engine import Engine
from .runner import ScriptRunner
from .script import Script, read_script

RAISED = ("assertion", "runtime_error", "exception")


class Difference(Struct, frozen=True):
    """One field that differs. `record` is -1 for the state before the first op."""

    file: str
    record: int
    field: str
    expected: Any
    got: Any


class Report(Struct, frozen=True):
    """What was compared: of `records` in `files` files, `equal` agree in all fields."""

    files: int
    records: int
    equal: int
    differences: list[Difference]


def conform(
    paths: list[Path], *, say: Callable[[Path], None] = lambda _: None
) -> Report:
    """Replay every golden in the files and directories, and compare.

    `say` is told every file before it is replayed.
    Raises: InputError for a file that is no golden, or when there is none at all.
    """
    files = list(_goldens(paths))
    records, differences = 0, list[Difference]()
    for path in files:
        say(path)
        script = read_script(path)
        if script.records is None:
            raise InputError(str(path), "no recorded states", "name a golden")
        found = compare(script, str(path))
        records += len(script.records)
        differences += found
    return Report(len(files), records, records - len(differences), differences)


def compare(script: Script, file: str, emit: Emitter = QUIET) -> list[Difference]:
    """Replay one golden; return the first difference of each record that differs."""
    runner = ScriptRunner(script, emit, eager=True)
    differences: list[Difference] = []

    def check(record: int, expected: Any, got: Any) -> None:
        for field, want, have in _differ("", expected, got):
            differences.append(Difference(file, record, field, want, have))
            return

    if script.initial is not None:
        check(-1, {"state": script.initial}, {"state": recorded_state(runner)})
    for number, expected in enumerate(script.records or []):
        got = replay_op(runner, script, number)
        check(number, {key: expected.get(key) for key in got}, got)
    return differences


def replay_op(runner: ScriptRunner, script: Script, number: int) -> dict[str, Any]:
    """Carry out op `number` and return its record: result and state."""
    try:
        result = runner.step(number, script.ops[number])
    except EngineFault as fault:
        result = {"assertion": str(fault)}
    return {"i": number, "result": result, "state": recorded_state(runner)}


def _goldens(paths: list[Path]) -> Iterator[Path]:
    for path in paths:
        inside = [p for p in sorted(path.rglob("*")) if p.name.endswith(_ENDINGS)]
        if path.is_dir() and not inside:
            raise InputError(str(path), "no goldens here", "name a .json or .json.gz")
        yield from inside if path.is_dir() else [path]


_ENDINGS = (".json", ".json.gz")


def _differ(field: str, want: Any, have: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield every leaf in which two records differ: where, expected, got."""
    if isinstance(want, dict) and isinstance(have, dict):
        raised = [key for key in RAISED if key in want or key in have]
        if raised and field == ".result":
            if any(key in want for key in raised) != any(key in have for key in raised):
                yield field[1:], want, have
            return
        for key in sorted(want.keys() | have.keys()):
            yield from _differ(
                f"{field}.{key}", want.get(key, ABSENT), have.get(key, ABSENT)
            )
    elif _numbers(want) and _numbers(have) and want == have:
        return
    elif isinstance(want, list) and isinstance(have, list) and len(want) == len(have):
        for i, (a, b) in enumerate(zip(want, have, strict=True)):
            yield from _differ(f"{field}[{i}]", a, b)
    elif want != have or isinstance(want, bool) != isinstance(have, bool):
        yield field[1:], want, have


def _numbers(value: Any) -> bool:
    return isinstance(value, list) and all(type(item) is int for item in value)


ABSENT = "(absent)"


# --- the state, in the words of the recordings


def recorded_state(runner: ScriptRunner) -> dict[str, Any]:
    """Return the engine's state as the recordings write it."""
    engine = runner.engine
    cache, host = engine.cache, engine.host_cache
    nodes = sorted(_with_paths(cache.tree.root), key=lambda pair: pair[1])
    where = {id(node): i for i, (node, _) in enumerate(nodes)}
    page = engine.config.page_size
    tree_dev = sum(len(n.value) for n, _ in nodes if n.value is not None) * page
    tree_host = sum(len(n.host_value) for n, _ in nodes if n.host_value is not None)
    state: dict[str, Any] = {
        "dev_avail": cache.allocator.available,
        "evictable": cache.evictable_size,
        "protected": cache.protected_size,
        "held": _held(engine),
        "host_avail": engine.host_available,
        "nodes": [_node(n, path, page, runner.dump_slots) for n, path in nodes],
        "tree_dev": tree_dev,
        "tree_host": tree_host * page,
        "evict_order": [where.get(id(n), -1) for n in cache.device_leaves.in_order()],
        "data_ok": all(_right(engine, node, path) for node, path in nodes),
    }
    if host:
        state["host_evict_order"] = [
            where.get(id(n), -1) for n in host.host_leaves.in_order()
        ]
        state["writes"] = len(host.ongoing_writes)
        state["loads"] = len(host.ongoing_loads)
    state["sum_ok"] = _sums(engine, state, [node for node, _ in nodes])
    return state


def _with_paths(root: Node) -> Iterator[tuple[Node, list[int]]]:
    todo: list[tuple[Node, list[int]]] = [(root, [])]
    while todo:
        node, path = todo.pop(0)
        for child in node.children.values():
            pair = (child, path + child.key.tolist())
            todo.append(pair)
            yield pair


def _node(node: Node, path: list[int], page: int, slots: bool) -> dict[str, Any]:
    record: dict[str, Any] = {
        "path": path,
        "len": len(node.key),
        "lock": node.lock_ref,
        "dev": node.value is not None,
        "host": node.host_value is not None,
        "hit": node.hit_count,
    }
    if slots:
        record["slots"] = _slots(node.value, page)
        record["host_slots"] = _slots(node.host_value, page)
    if node.writing is not None:
        record["wpend"] = True
    if node.priority:
        record["prio"] = node.priority
    return record


def _slots(pages: Pages | None, page: int) -> list[int] | None:
    return None if pages is None else slots_of(pages, page).tolist()


def _held(engine: Engine) -> int:
    """Return the tokens of the pages in live rows that the tree does not own."""
    scheduler = engine.scheduler
    owned = {
        page
        for node in engine.cache.tree.nodes()
        if node.value is not None
        for page in node.value.tolist()
    }
    live = [*scheduler.running, *([scheduler.chunked] if scheduler.chunked else [])]
    held: set[int] = set()
    for request in live:
        if request.row is not None:
            row = scheduler.rows.pages(request.row, 0, request.kv_len)
            held |= set(row.tolist()) - owned
    return len(held) * engine.config.page_size


def _right(engine: Engine, node: Node, path: list[int]) -> bool:
    """Do the node's copies hold what its prefix says?"""
    wanted = fingerprints(np.array(path, np.int32))[-len(node.key) :]

    def holds(pool: KVPool, pages: Pages | None) -> bool:
        return pages is None or bool(np.array_equal(pool.read(pages), wanted))

    return holds(engine.device_pool, node.value) and holds(
        engine.host_pool, node.host_value
    )


def _sums(engine: Engine, state: dict[str, Any], nodes: list[Node]) -> bool:
    """Do both accounts add up, with no page in two places?"""
    cache, host = engine.cache, engine.host_cache
    device_terms = ("dev_avail", "evictable", "protected", "held")
    device = sum(state[term] for term in device_terms) == cache.allocator.total
    tree = state["tree_dev"] == state["evictable"] + state["protected"]
    once = _once([cache.allocator.free_pages(), *(n.value for n in nodes)])
    if host is None:
        return device and tree and once
    return (
        device
        and tree
        and once
        and state["host_avail"] + state["tree_host"] == host.host.total
        and _once([host.host.free_pages(), *(n.host_value for n in nodes)])
    )


def _once(lists: Sequence[Pages | None]) -> bool:
    pages = np.concatenate([pages for pages in lists if pages is not None])
    return len(np.unique(pages)) == len(pages)
