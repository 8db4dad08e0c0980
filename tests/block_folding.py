"""Is the state folded from a block trace the live engine's? Used by several tests."""

from __future__ import annotations

from kvlab.blocks.block_pool import BlockPool
from kvlab.blocks.chunk_offload import ChunkOffload
from kvlab.blocks.chunk_pool import ChunkPool
from kvlab.blocks.hashing import short_name
from kvlab.blocks.offload import CpuOffload
from kvlab.record.block_snapshot import BlockState
from kvlab.record.block_tier import BlockTier
from kvlab.record.chunk_state import PLACES
from kvlab.run.block_ops import BlockOps
from kvlab.run.block_runner import BlockRunner
from kvlab.schedule.block_request import BlockRequest, Status


def block_differences(state: BlockState, engine: BlockRunner | BlockOps) -> list[str]:
    """Return what the folded state says otherwise than the live engine."""
    found = _pool("L1", state.tiers["L1"], engine.manager.pool)
    for id, request in engine.requests.items():
        folded = state.requests[id]
        live = (
            engine.manager.tables.get(id, []), request.computed, request.num_outputs,
            request.preemptions, request.prompt_len, request.max_new, request.priority,
        )  # fmt: skip
        said = (
            folded.blocks, folded.computed, folded.outputs, folded.preemptions,
            folded.prompt_len, folded.max_new, folded.priority,
        )  # fmt: skip
        if said != live:
            found.append(f"request {id}: folded {said}, live {live}")
    if isinstance(engine, BlockRunner):
        found += _queues(state, engine)
        if engine.offload:
            found += _pool("L2", state.tiers["L2"], engine.offload.l2)
            found += _copies(state, engine.offload)
    return found


def _pool(tier: str, folded: BlockTier, live: BlockPool) -> list[str]:
    names = {b: short_name(n) for b, n in enumerate(live.block_hash) if n is not None}
    refs = {b: ref for b, ref in enumerate(live.ref_cnt) if ref}
    pairs = [
        ("free queue", list(folded.free), live.free_queue()),
        ("ref_cnt", folded.ref_cnt, refs),
        ("names", folded.names, names),
    ]
    return [f"{tier} {what}: folded {a}, live {b}" for what, a, b in pairs if a != b]


def _queues(state: BlockState, engine: BlockRunner) -> list[str]:
    scheduler = engine.scheduler
    pairs = [
        ("running", state.running, scheduler.running),
        ("waiting", state.waiting, scheduler.waiting),
        ("deferred", state.deferred, scheduler.deferred),
    ]
    if state.retrying != scheduler.retrying:
        return [f"retrying: folded {state.retrying}, live {scheduler.retrying}"]
    found = [
        f"{what}: folded {folded}, live {ids}"
        for what, folded, live in pairs
        if folded != (ids := [request.id for request in live])
    ]
    for id, request in engine.requests.items():
        if state.requests[id].stage not in _stages(request):
            found.append(f"{id}: folded {state.requests[id].stage}, live {request}")
    return found


def _stages(request: BlockRequest) -> tuple[str, ...]:
    return {
        Status.WAITING: ("waiting", "ready"),
        Status.PREEMPTED: ("preempted", "ready"),
        Status.LOADING: ("loading",),
        Status.RUNNING: ("running",),
        Status.FINISHED: ("finished", "dropped"),
    }[request.status]


def _copies(state: BlockState, offload: CpuOffload | ChunkOffload) -> list[str]:
    loads = {id: tuple(pairs) for id, pairs in offload.loads.items()}
    chunked = isinstance(offload, ChunkOffload)
    jobs = dict(offload.stores)
    if not chunked:
        jobs[offload._number] = offload._next
    stores = {n: _sorted(job.pairs) for n, job in jobs.items() if job.pairs.l1}
    told = {number: _sorted(pairs) for number, pairs in state.stores.items()}
    pairs = [
        ("stores", told, stores),
        ("pins", state.pins, {} if chunked else offload.pending),
        ("loads", state.loads, loads),
    ]
    found = [f"{what}: folded {a}, live {b}" for what, a, b in pairs if a != b]
    return found + (chunk_differences(state, offload.pool) if chunked else [])


def _sorted(copies: tuple[list[int], list[int]]) -> list[tuple[int, int]]:
    """Return the pairs of a store, which is put together from the last step's end."""
    return sorted(zip(*copies, strict=True))


def chunk_differences(state: BlockState, pool: ChunkPool) -> list[str]:
    """Return what the folded state says otherwise than the live CPU pool."""
    folded, lists = state.chunks, pool.lists
    pairs = [("refs", folded.refs, pool.refs),
             ("target", folded.target_t1, lists.target_t1)]  # fmt: skip
    for place in PLACES:
        pairs.append((place, list(folded.orders[place]), list(getattr(lists, place))))
    return [f"{what}: folded {a}, live {b}" for what, a, b in pairs if a != b]
