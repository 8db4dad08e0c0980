"""How does a whole vLLM engine live through a scenario, step by step?

The model is a stand-in: a request whose prompt is computed gets its next token, known
beforehand. Copies between the tiers take a fixed number of steps. With asynchronous
scheduling a step's outputs are applied after the next step was scheduled.
Left out: time.
"""

from __future__ import annotations

from collections import deque

from ..block_config import BlockConfig
from ..blocks.block_pool import BlockPool
from ..blocks.chunk_offload import ChunkOffload
from ..blocks.connector import Copies, Pairs
from ..blocks.hashing import Extras
from ..blocks.kv_cache_manager import KVCacheManager
from ..blocks.offload import CpuOffload
from ..record.events import Step
from ..record.trace import QUIET, Emitter
from ..schedule.block_request import BlockRequest, Status
from ..schedule.block_scheduler import BlockScheduler
from ..schedule.turn import Turn
from .block_ops import Record, blocks_state, pool_state
from .block_script import RequestSpec, Scenario
from .block_worker import Worker

IDLE_STEPS = 3
"""Steps without any progress after which a run ends."""

_FLAGGED = (Status.PREEMPTED, Status.LOADING)


class BlockRunner:
    """One vLLM engine that lives through one scenario.

    >>> spec = RequestSpec("a", [1, 2, 3], out=2)
    >>> runner = BlockRunner(Scenario(name="", mode="sched", requests=[spec]))
    >>> [runner.step()["sampled"] for _ in range(2)], runner.is_over
    ([{'a': 1000000}, {'a': 1000001}], True)
    """

    def __init__(self, scenario: Scenario, emit: Emitter = QUIET) -> None:
        config = scenario.config
        self.scenario = scenario
        self.manager = KVCacheManager(config, emit)
        self.offload = _connector(config, self.manager.pool, emit)
        self.scheduler = BlockScheduler(self.manager, config, emit, self.offload)
        latencies = config.l2 and (config.l2.load_latency, config.l2.store_latency)
        self.worker = Worker(*(latencies or (0, 0)))
        self.requests: dict[str, BlockRequest] = {}
        self.number = 0
        self.finish_step: dict[str, int] = {}
        self._left_at = -2
        self._pending = deque(
            sorted(enumerate(scenario.requests), key=lambda pair: pair[1].arrival)
        )
        self._sampled: dict[str, int] = {}
        self._flying: deque[tuple[Turn, dict[str, int]]] = deque()
        self._bad_loads = {
            spec.id: spec.bad_load
            for spec in scenario.requests
            if spec.bad_load is not None
        }
        self._idle = 0
        self._emit = emit

    @property
    def is_over(self) -> bool:
        """Is everything done, or nothing left that could move?"""
        if self.number >= self.scenario.max_steps:
            return True
        if self._idle >= IDLE_STEPS and not self._pending:
            return True
        return not (self._pending or self._live() or self._copying or self._flying)

    @property
    def _copying(self) -> bool:
        """May the connector still have something to do: copies, or a last look?"""
        under_way = self.worker.loads or self.worker.stores
        just_now = self._left_at == self.number - 1
        return self.offload is not None and bool(under_way or just_now)

    def step(self) -> Record:
        """Live through one engine step and return its record."""
        with self._emit.of(Step, self.number, "step", ""):
            record = self._step()
        self.number += 1
        return record

    # --- one step

    def _step(self) -> Record:
        scheduler, before = self.scheduler, set(self.scheduler.running)
        added, aborted = self._arrivals(), self._aborts()
        turn = scheduler.schedule()
        record: Record = {
            "step": self.number,
            "added": added,
            "scheduled": {r.id: tokens for r, tokens in turn.tokens.items()},
            "total_scheduled": sum(turn.tokens.values()),
            "preempted": [r.id for r in turn.preempted],
            "preempted_computed": list(turn.preempted.values()),
            "admitted": [r.id for r in scheduler.running if r not in before],
            "after_schedule": self.snapshot(),
        }
        if aborted:
            record["aborted"] = aborted
        record["sampled"] = outputs = self._sample(turn)
        done = self._copies(turn)
        finished, applied = self._apply(turn, outputs)
        record |= self._copy_records(turn, done, self._settle(*done))
        record["finished"] = finished
        if applied:
            record |= self._reports()
        record["after_update"] = self.snapshot()
        moved = turn.tokens or finished or added or aborted or self._copying
        self._idle = 0 if moved else self._idle + 1
        return record

    def _arrivals(self) -> list[str]:
        added = []
        while self._pending and self._pending[0][1].arrival <= self.number:
            position, spec = self._pending.popleft()
            self.requests[spec.id] = request = _request(position, spec)
            self.scheduler.arrive(request)
            added.append(spec.id)
        return added

    def _aborts(self) -> list[str]:
        """Let those go whose clients leave now."""
        left = [
            self.requests[spec.id]
            for spec in self.scenario.requests
            if spec.abort == self.number and spec.id in self.requests
        ]
        left = [request for request in left if request.status is not Status.FINISHED]
        for request in left:
            self.scheduler.abort(request)
            self._left_at = self.number
        return [request.id for request in left]

    def _sample(self, turn: Turn) -> dict[str, int]:
        """Return the outputs that the model gives for the turn."""
        outputs = {}
        for request in turn.sampling:
            count = self._sampled.get(request.id, 0)
            self._sampled[request.id] = count + 1
            outputs[request.id] = self._token(request.id, count)
        return outputs

    def _token(self, id: str, count: int) -> int:
        position, spec = next(
            (i, spec) for i, spec in enumerate(self.scenario.requests) if spec.id == id
        )
        if count < len(spec.out_tokens):
            return spec.out_tokens[count]
        return 1_000_000 + 10_000 * position + count

    def _copies(self, turn: Turn) -> tuple[list[str], list[int]]:
        if turn.copies is None:
            return [], []
        self.worker.submit(turn.copies, self.number)
        return self.worker.done(self.number)

    def _apply(self, turn: Turn, outputs: dict[str, int]) -> tuple[list[str], bool]:
        """Apply the outputs that are due; say who finished, and whether any were."""
        flying = self._flying
        if turn.tokens or not self.scenario.config.async_scheduling:
            flying.append((turn, outputs))
        keep = int(self.scenario.config.async_scheduling and bool(turn.tokens))
        finished, applied = list[str](), len(flying) > keep
        while len(flying) > keep:
            finished += [r.id for r in self.scheduler.update(*flying.popleft())]
        self.finish_step |= dict.fromkeys(finished, self.number)
        if finished:
            self._left_at = self.number
        return finished, applied

    def _settle(self, loads: list[str], stores: list[int]) -> list[str]:
        """Report the copies that are done; return the loads of which blocks are bad."""
        if self.offload is None:
            return []
        failed = [id for id in loads if self._breaks(id)]
        for id in failed:
            table = self.manager.tables[id]
            first = self.offload.loads[id].l1[self._bad_loads.pop(id)]
            self.scheduler.load_failed(id, table.index(first))
            if self.requests[id].status is Status.FINISHED:
                self._left_at = self.number
        self.scheduler.copied(loads, stores)
        return failed

    def _breaks(self, id: str) -> bool:
        """Is the load the first of a request whose first load is to break off?"""
        assert self.offload is not None, "there is no connector"
        good, all_blocks = self._bad_loads.get(id), self.offload.loads[id].l1
        waits = self.requests[id].status is Status.LOADING
        return waits and good is not None and good < len(all_blocks)

    # --- records

    def snapshot(self) -> Record:
        """Return the engine's state as the recordings write it."""
        scheduler, pool = self.scheduler, self.manager.pool
        live = self._live()
        state: Record = {
            "running": [r.id for r in scheduler.running],
            "waiting": [r.id for r in (*scheduler.deferred, *scheduler.waiting)],
            **pool_state(pool),
            "computed": {r.id: r.computed for r in live},
            "status": {r.id: str(r.status) for r in live if r.status in _FLAGGED},
        }
        if self.scenario.record_blocks:
            tables = self.manager.tables
            held = {r.id: list(tables[r.id]) for r in live if r.id in tables}
            state |= blocks_state(pool) | {"blocks": held}
        if self.offload:
            l2 = pool_state(self.offload.l2)
            del l2["evictable"]
            state["l2"] = l2 | {"cached": self.offload.l2.num_findable}
            if isinstance(self.offload, ChunkOffload):
                state["l2"] |= _orders(self.offload)
        return state

    def summary(self) -> Record:
        """Return what the run came to, except what `totals` sums over its records."""
        preemptions = {r.id: r.preemptions for r in self.requests.values()}
        summary: Record = {
            "steps": self.number,
            "finished": len(self.finish_step),
            "unfinished": sorted(r.id for r in self._live()),
            "finish_step": self.finish_step,
            "num_preemptions": {id: n for id, n in preemptions.items() if n},
            "total_preemptions": sum(preemptions.values()),
        }
        hashes = {
            r.id: [name.hex() for name in r.names] for r in self.requests.values()
        }
        summary["block_hashes"] = hashes if self.scenario.record_blocks else None
        return summary

    def _live(self) -> list[BlockRequest]:
        return [r for r in self.requests.values() if r.status is not Status.FINISHED]

    def _copy_records(
        self, turn: Turn, done: tuple[list[str], list[int]], failed: list[str]
    ) -> Record:
        copies = turn.copies
        if copies is None:
            return {}
        loads = copies.loads.values()
        return {
            "l2_load": {
                "reqs": sorted(copies.loads),
                "gpu": [block for pairs in loads for block in pairs.l1],
                "cpu": [block for pairs in loads for block in pairs.l2],
            },
            **self._store_records(copies),
            "l2_done": {"recv": done[0], "stores": len(done[1])}
            | ({"failed": failed} if failed else {}),
        }

    def _store_records(self, copies: Copies) -> Record:
        """Return the stores: the simple connector's only one, or all by number."""
        if isinstance(self.offload, ChunkOffload):
            stores = {str(n): pairs._asdict() for n, pairs in copies.stores.items()}
            return {"l2_store": stores, "l2_flush": sorted(copies.flushed)}
        one = next(iter(copies.stores.values()), Pairs([], []))
        return {"l2_store": {"gpu": one.l1, "cpu": one.l2}}

    def _reports(self) -> Record:
        """Return what the scheduler reports after it has applied outputs."""
        scheduler = self.scheduler
        aside = len(scheduler.deferred) + len(scheduler.retrying)
        reports: Record = {
            "prefix": scheduler.prefix.report(),
            "stats": {
                "running": len(scheduler.running),
                "waiting": len(scheduler.waiting) - len(scheduler.retrying),
                "deferred": aside,
                "kv_cache_usage": self.manager.pool.usage,
            },
        }
        if self.offload:
            external = scheduler.external.report()
            del external["preempted_requests"]
            reports["external"] = external
            reports["kv_fetch"] = self._fetches()
        return reports

    def _fetches(self) -> dict[str, int]:
        """Return how many requests wait for a load to begin, to end, or for their
        turn after it; who lost all of a load is looked up anew and has none."""
        assert self.offload is not None, "there is no connector"
        scheduler, loads = self.scheduler, self.offload.loads
        there = [r for r in scheduler.deferred if r.id not in loads]
        return {
            "waiting_to_start": len(self.offload.pending),
            "in_progress": len(scheduler.deferred) - len(there),
            "completed_waiting": sum(
                bool(r.computed or r.id in scheduler.loaded) for r in there
            ),
        }


def totals(records: list[Record], *, external: bool) -> Record:
    """Return the sums over a run's records that its summary has."""
    reports = [record["prefix"] for record in records if "prefix" in record]
    names = reports[0] if reports else ()
    beyond = [record["external"] for record in records if "external" in record]
    return {
        "prefix": {name: sum(report[name] for report in reports) for name in names},
        "external": {
            name: sum(report[name] for report in beyond) for name in ("queries", "hits")
        }
        if external
        else None,
        "max_usage": max((r["after_schedule"]["usage"] for r in records), default=0.0),
    }


def _connector(
    config: BlockConfig, l1: BlockPool, emit: Emitter
) -> CpuOffload | ChunkOffload | None:
    if config.l2 is None:
        return None
    kind = CpuOffload if config.l2.connector == "simple" else ChunkOffload
    return kind(config, l1, emit)


def _orders(offload: ChunkOffload) -> Record:
    """Return the policy's orders: the blocks of what is here, names of what went."""
    lists, places = offload.pool.lists, offload.places
    return {
        "t1": [places[key] for key in lists.t1],
        "t2": [places[key] for key in lists.t2],
        "b1": list(lists.b1),
        "b2": list(lists.b2),
        "target_t1": lists.target_t1,
    }


def _request(position: int, spec: RequestSpec) -> BlockRequest:
    return BlockRequest(
        spec.id, list(spec.prompt), spec.out, spec.priority,
        spec.arrival + position * 1e-6, Extras(cache_salt=spec.cache_salt),
        spec.skip_read, spec.stop,
    )  # fmt: skip
