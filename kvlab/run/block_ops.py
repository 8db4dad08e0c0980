"""How do the block manager and the CPU pool answer a script, op by op?

Results and states are in the words of the recorded goldens, modes `kv` and `cpu`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..blocks.block_pool import BlockPool
from ..blocks.chunk_pool import ChunkPool
from ..blocks.hashing import Extras, Hasher
from ..blocks.kv_cache_manager import Demand, KVCacheManager
from ..record import block_events as ev
from ..record.chunk_state import Key
from ..record.events import Arrive, Output, Step
from ..record.trace import QUIET, Emitter
from ..schedule.block_request import BlockRequest, Status
from ..schedule.prefix_stats import PrefixStats
from . import block_script as sc
from . import block_sense as sense

Record = dict[str, Any]


def pool_state(pool: BlockPool) -> Record:
    """Return the account of a pool as the recordings write it. Cost: O(blocks)."""
    return {
        "free": pool.num_free,
        "evictable": pool.num_evictable,
        "used": pool.num_blocks - 1 - pool.num_free,
        "usage": pool.usage,
    }


def blocks_state(pool: BlockPool) -> Record:
    """Return the free queue, and who owns how many times. Cost: O(blocks)."""
    hashed = pool.block_hash
    return {
        "free_queue": [[b, int(hashed[b] is not None)] for b in pool.free_queue()],
        "ref": {str(b): ref for b, ref in enumerate(pool.ref_cnt) if ref > 0},
    }


class BlockOps:
    """A block manager that carries out a script of mode `kv`.

    Raises: InputError, here or in a step, for operations that make no sense.
    """

    def __init__(self, scenario: sc.Scenario, emit: Emitter = QUIET) -> None:
        config = scenario.config
        sense.check_block_ops(scenario)
        self.scenario = scenario
        self.manager = KVCacheManager(config, emit)
        self.hasher = Hasher(config.hash_algo, config.block_size)
        self.requests: dict[str, BlockRequest] = {}
        self.stats = PrefixStats()
        self._hits: dict[str, list[int]] = {}
        self._here = ""
        self._emit = emit

    def step(self, number: int) -> Record:
        """Carry out op `number` and return its record: result and state."""
        op, raw = self.scenario.ops[number], self.scenario.raw_ops[number]
        self._here = f"{self.scenario.where}: ops[{number}]"
        kept = {k: v for k, v in raw.items() if k != "tokens" or raw["op"] != "new"}
        with self._emit.of(Step, number, raw["op"], getattr(op, "id", "")):
            result = _OPS[type(op)](self, op)
        return {"op": kept, "result": result} | self._state()

    def _state(self) -> Record:
        pool = self.manager.pool
        return {
            **pool_state(pool),
            **blocks_state(pool),
            "hashed": [b for b, name in enumerate(pool.block_hash) if name is not None],
            "blocks": {id: list(table) for id, table in self.manager.tables.items()},
            "computed": {id: r.computed for id, r in self.requests.items()},
        }

    def _new(self, op: sc.NewOp) -> Record:
        request = BlockRequest(
            op.id, list(op.tokens), op.out, extras=Extras(cache_salt=op.cache_salt),
            skip_reading=op.skip_read,
        )  # fmt: skip
        self.requests[op.id] = request
        self._emit(Arrive, op.id, request.prompt_len, op.out, 0)
        self._name(request)
        return {"hashes": [name.hex() for name in request.names]}

    def _lookup(self, op: sc.LookupOp) -> Record:
        request = self.requests[op.id]
        hits: list[int] = []
        if self._reads(request):
            hits = self.manager.lookup(request.names, request.length)
        self._hits[op.id] = hits
        return {"blocks": hits, "tokens": len(hits) * self.manager.block_size}

    def _alloc(self, op: sc.AllocOp) -> list[int] | None:
        request = self.requests[op.id]
        hits = self._hits.get(op.id, []) if op.use_hit else []
        holds = op.id in self.manager.tables
        sense.check_alloc(self._here, op, found=len(hits), holds=holds)
        demand = Demand(
            op.id, request.length, request.computed, op.n, request.names, hits,
            op.external, op.reserved,
            behind_running=op.has_scheduled and request.status is not Status.RUNNING,
            whole_must_fit=op.full_fit, unfilled=op.delay_cache,
        )  # fmt: skip
        new = self.manager.allocate_slots(demand)
        if new is None:
            return None
        if op.use_hit:
            self._hits.pop(op.id, None)
            if self._reads(request):
                local = len(hits) * self.manager.block_size
                self.stats.count(request.length, local, fresh=request.is_fresh)
        found = len(hits) * self.manager.block_size + op.external
        request.computed += found + op.n
        self._emit(ev.Compute, op.id, request.computed)
        if request.status is not Status.RUNNING:
            request.status = Status.RUNNING
            self._emit(ev.Run, op.id)
        return new

    def _append(self, op: sc.AppendOp) -> None:
        request = self.requests[op.id]
        for token in op.tokens:
            request.tokens.append(token)
            self._emit(Output, op.id, token)
        self._name(request)

    def _cache_blocks(self, op: sc.CacheBlocksOp) -> None:
        size = self.manager.block_size
        held = len(self.manager.tables.get(op.id, ())) * size
        sense.check_cached(self._here, op.id, op.n // size * size, held)
        self.manager.register(op.id, self.requests[op.id].names, op.n)

    def _free(self, op: sc.FreeOp) -> None:
        self.manager.free(op.id)

    def _preempt(self, op: sc.PreemptOp) -> None:
        request = self.requests[op.id]
        self.manager.free(op.id)
        request.computed, request.status = 0, Status.PREEMPTED
        request.preemptions += 1
        self._emit(ev.Preempt, op.id)

    def _reset(self, op: sc.ResetOp) -> bool:
        return self.manager.pool.reset()

    def _evict(self, op: sc.EvictOp) -> None:
        self.manager.pool.forget(op.blocks)

    def _stats(self, op: sc.StatsOp) -> Record:
        return self.stats.report()

    def _reads(self, request: BlockRequest) -> bool:
        """Is the request looked up at all? One that is not counts in no hit rate."""
        return self.manager.config.enable_caching and not request.skip_reading

    def _name(self, request: BlockRequest) -> None:
        if self.manager.config.enable_caching:
            named = self.hasher.extend(request.names, request.tokens, request.extras)
            request.names.extend(named)


_OPS: dict[type[sc.BlockOp], Callable[[BlockOps, Any], Any]] = {
    sc.NewOp: BlockOps._new,
    sc.LookupOp: BlockOps._lookup,
    sc.AllocOp: BlockOps._alloc,
    sc.AppendOp: BlockOps._append,
    sc.CacheBlocksOp: BlockOps._cache_blocks,
    sc.FreeOp: BlockOps._free,
    sc.PreemptOp: BlockOps._preempt,
    sc.ResetOp: BlockOps._reset,
    sc.EvictOp: BlockOps._evict,
    sc.StatsOp: BlockOps._stats,
}


class ChunkOps:
    """A CPU pool that carries out a script of mode `cpu`.

    Raises: InputError, here or in a step, for operations that make no sense.
    """

    def __init__(self, scenario: sc.Scenario, emit: Emitter = QUIET) -> None:
        assert scenario.chunks is not None, "a cpu scenario has chunks"
        chunks = scenario.chunks
        sense.check_chunk_ops(scenario)
        self.scenario = scenario
        self.pool = ChunkPool(
            chunks.num_chunks, chunks.policy, chunks.store_threshold, emit
        )
        self._emit = emit

    def step(self, number: int) -> Record:
        """Carry out op `number` and return its record: result and state."""
        raw, op = self.scenario.raw_ops[number], self.scenario.chunk_ops[number]
        sense.check_chunks(f"{self.scenario.where}: ops[{number}]", self.pool, op)
        with self._emit.of(Step, number, raw["op"], raw.get("req", "")):
            result = self._carry_out(op)
        return {"op": raw, "result": result, "state": self._state()}

    def _carry_out(self, op: sc.ChunkOp) -> Any:
        pool, positions = self.pool, _positions(op)
        match op.op:
            case "lookup":
                return [answer.value for answer in pool.lookup(op.keys)]
            case "store":
                done = pool.store(op.req, positions)
                return None if done is None else done._asdict()
            case "store_done":
                pool.store_done(op.keys, ok=op.ok)
            case "load":
                pool.load(op.req, positions)
            case "load_done":
                pool.load_done(op.keys)
            case "touch":
                pool.touch(list(positions))
            case "finish":
                pool.finish(op.req)
            case _:
                pool.reset()
        return None

    def _state(self) -> Record:
        pool, lists = self.pool, self.pool.lists
        state: Record = {
            "evictable": pool.evictable,
            "write_pending": pool.write_pending,
            "free": pool.free,
        }
        if pool.policy == "lru":
            return state | {"lru_order": list(lists.t1)}
        orders = {name: list(getattr(lists, name)) for name in ("t1", "t2", "b1", "b2")}
        return state | orders | {"target_t1": lists.target_t1}


def _positions(op: sc.ChunkOp) -> dict[Key, int]:
    """Return each key's place in the request: as said, or the number, or in order."""
    if op.pos is not None:
        return dict(zip(op.keys, op.pos, strict=True))
    return {key: key if isinstance(key, int) else at for at, key in enumerate(op.keys)}
