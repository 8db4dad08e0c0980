"""Is kvlab equal to the real engine, record by record?

A golden holds the states that a real engine was in after every op of a script. This
replays the script and compares every field of every record; the first difference of
each record is reported, none is skipped silently. One field is left out on purpose:
`delta` of a lock and an unlock, where the release does not tell what evictable gained
(rule `lock_tells_evictable`): its sign is a convention of the call, not a state.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from ..cache.tree import Node
from ..errors import EngineFault, InputError
from ..memory.allocator import PageAllocator
from ..memory.pool import SEED, KVPool, fingerprints
from ..pages import Pages, join, slots_of
from ..record.trace import QUIET, Emitter
from ..rules import Rules
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


def conform(path: Path) -> Report:
    """Replay one golden and compare.

    Raises: InputError for a file that is no golden.
    """
    script = read_script(path)
    if script.records is None:
        raise InputError(str(path), "no recorded states", "name a golden")
    differences = compare(script, str(path))
    records = len(script.records)
    unequal = sum(found.record >= 0 for found in differences)
    return Report(1, records, records - unequal, differences)


def compare(script: Script, file: str, emit: Emitter = QUIET) -> list[Difference]:
    """Replay one golden; return the first difference of each record that differs."""
    runner = ScriptRunner(script, emit, eager=True)
    return [
        Difference(file, record, *found)
        for record, expected, got in replay(runner, script)
        if (found := first_difference(script.rules, expected, got))
    ]


def replay(runner: ScriptRunner, script: Script) -> Iterator[tuple[int, Any, Any]]:
    """Yield (number, recorded, replayed) for the start, as -1, and for every record.

    Changes: the engine; one op is carried out before each record is yielded.
    """
    device, host = runner.engine.cache.allocator.total, runner.engine.host_total
    totals = {"pool_total": device, "host_total": host}
    got: dict[str, Any] = {key: totals[key] for key in script.totals}
    got["state"] = recorded_state(runner)
    yield -1, script.totals | {"state": script.initial}, got
    for number, expected in enumerate(script.records or []):
        yield number, expected, replay_op(runner, script, number)


def replay_op(runner: ScriptRunner, script: Script, number: int) -> dict[str, Any]:
    """Carry out op `number` and return its record: result and state."""
    op = script.ops[number]
    try:
        result = runner.step(number, op)
    except EngineFault as fault:
        result = {"assertion": str(fault)}
    name = op.__struct_config__.tag
    return {"i": number, "op": name, "result": result, "state": recorded_state(runner)}


def first_difference(
    rules: Rules, expected: Any, got: Any
) -> tuple[str, Any, Any] | None:
    """Return the first field in which two records differ, as recorded and as replayed;
    None if they are equal."""
    if not rules.lock_tells_evictable:
        expected, got = _without_delta(expected), _without_delta(got)
    if _encoded(expected) == _encoded(got):
        return None
    return next(_differ("", expected, got), None)


def _without_delta(record: Any) -> Any:
    """Return the record without the one field that is not compared (see above)."""
    result = record.get("result")
    if record.get("op") not in ("lock", "unlock") or not isinstance(result, dict):
        return record
    kept = {key: value for key, value in result.items() if key != "delta"}
    return record | {"result": kept}


def _encoded(record: Any) -> bytes:
    """Return bytes that are equal only where all fields are (but 1 and 1.0 are not)."""
    return msgspec.json.encode(record, order="sorted")


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
    elif isinstance(want, list) and isinstance(have, list) and len(want) == len(have):
        for i, (a, b) in enumerate(zip(want, have, strict=True)):
            yield from _differ(f"{field}[{i}]", a, b)
    elif want != have or isinstance(want, bool) != isinstance(have, bool):
        yield field[1:], want, have


ABSENT = "(absent)"


# --- the state, in the words of the recordings


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
        "len": len(node.key),
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
