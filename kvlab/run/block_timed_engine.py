"""What does a vLLM engine do over time?

One turn of its loop, again and again:

        copies done, arrivals noted -> a step: running requests, then waiting ones;
                                       prefill chunks and decode tokens side by side
                                    -> else wait for the next arrival or copy

So nobody who runs stands still while others prefill, but each such step takes longer.
Decode steps in which nobody can be admitted, preempted or finished are one jump and one
event; `jump=False` makes the same steps one by one, with the same outcome.
Left out: asynchronous scheduling (the CPU's work is in the step's overhead); the
network before and after the engine.
Source: vLLM 0.33.0, v1/engine/core.py, step.
"""

from __future__ import annotations

from ..block_config import BlockConfig
from ..blocks.connector import Copies
from ..blocks.kv_cache_manager import KVCacheManager
from ..blocks.offload import CpuOffload
from ..errors import ConfigError, EngineFault
from ..record.events import Decode, Drop, Forward, Sent, TooLarge
from ..record.trace import QUIET, Emitter
from ..schedule.turn import Turn
from .block_samples import BlockSampler
from .block_timed_request import TimedBlockRequest
from .block_timed_scheduler import TimedBlockScheduler, clocked, timed
from .clocked_engine import ClockedEngine
from .clocked_link import NEVER
from .cost import NS, Cost
from .parts import Part
from .tallies import Refused
from .workload import Ask


class TimedBlockEngine(ClockedEngine):
    """One vLLM engine on a virtual clock.

    `stored_blocks` were copied to L2; `l2_peak` is the most that it held at once.
    Raises: ConfigError for an L2 behind another connector than the simple one.

    >>> from kvlab.run.accelerators import accelerator
    >>> from kvlab.run.model_shapes import model_shape
    >>> from kvlab.run.generators import poisson, unique
    >>> from kvlab.run.workload import OpenLoop
    >>> cost = Cost(model_shape("llama-3-8b"), accelerator("h100"))
    >>> config = BlockConfig(num_gpu_blocks=601, hash_algo="chain64")
    >>> engine = TimedBlockEngine(config, cost)
    >>> engine.run(OpenLoop(unique(3, poisson(4.0), length=2000, outputs=50)))
    >>> [record.outputs for record in engine.tallies.done]
    [50, 50, 50]
    """

    def __init__(
        self,
        config: BlockConfig,
        cost: Cost,
        *,
        emit: Emitter = QUIET,
        sampler: BlockSampler | None = None,
        jump: bool = True,
    ) -> None:
        super().__init__(cost, emit)
        self.config = config
        self.manager = KVCacheManager(config, emit)
        self.offload: CpuOffload | None = None
        if config.l2 is not None:
            if config.l2.connector != "simple":
                raise ConfigError("the clock knows the simple connector; name no other")
            self.offload = CpuOffload(config, self.manager.pool, emit)
        self.scheduler = TimedBlockScheduler(
            self.manager, config, self._run_step, emit, self.offload
        )
        self.stored_blocks = self.l2_peak = 0
        self._block_bytes = config.block_size * cost.model.kv_bytes
        self._loading: dict[int, str] = {}
        self._num_loads = 0
        self._jump = jump and not (config.l2 and config.l2.lazy)
        self._calm = self._rests = False
        self._sampler = sampler

    def _turn(self) -> bool:
        if self._sampler is not None and self._sampler.next <= self._now_ns:
            self._sampler.look(self._now_ns, self)
        self._note_copies()
        self._take_arrivals()
        if self._calm and self._decode():
            return True
        if self._is_idle:
            return self._wait()
        turn = self.scheduler.schedule()
        self._book_loading(turn)
        if turn.tokens or turn.preempted:
            self._close(turn)
            return True
        self._calm, self._rests = False, True
        return self._wait()

    @property
    def _is_idle(self) -> bool:
        """Has nobody anything to do? One more turn lets the connector finish."""
        return self._rests and not (self._num_waiting or self.scheduler.running)

    # --- arrivals and copies

    def _arrive(self, ask: Ask) -> None:
        """Let a request join the queue, or refuse at once what could never run."""
        request = TimedBlockRequest(ask, self.config.max_model_len)
        self._calm = self._rests = False
        self.scheduler.arrive(request)
        self._emit(Sent, request.id, ask.at)
        need, most = request.prompt_len + 1, self.config.max_model_len
        if need > most:
            self.scheduler.waiting.remove(request)
            self._emit(TooLarge, request.id, need, most)
            self._emit(Drop, request.id)
            self.tallies.refused.append(Refused(request.id, need, most))
            self.tallies.input_tokens += request.prompt_len
            self._gone(request.id)
            return
        self.tallies.arrived(self._num_waiting)

    @property
    def _num_waiting(self) -> int:
        return len(self.scheduler.waiting) + len(self.scheduler.deferred)

    def _note_copies(self) -> None:
        if self.offload is None:
            return
        self.link.poll()
        loads = [self._loading.pop(tag) for tag in self.link.collect("load")]
        stores = self.link.collect("write")
        if loads or stores:
            self._calm = False
            self.scheduler.copied(loads, stores)
            self.l2_peak = max(self.l2_peak, self.offload.l2.num_findable)

    def _submit(self, copies: Copies) -> None:
        """Begin a step's copies; a flush makes the step wait for all under way."""
        for id, pairs in copies.loads.items():
            self._num_loads += 1
            self._loading[self._num_loads] = id
            size = len(pairs.l1) * self._block_bytes
            self.link.submit("load", self._num_loads, size, _nothing)
        for job, pairs in copies.stores.items():
            size = len(pairs.l1) * self._block_bytes
            self.link.submit("write", job, size, _nothing)
            self.stored_blocks += len(pairs.l1)
        if copies.flush:
            self.link.complete("load")
            self.link.complete("write")

    # --- a step

    def _run_step(self, turn: Turn) -> int:
        """Let the clock run to the end of the step; return it, in nanoseconds."""
        for victim in timed(list(turn.preempted)):
            victim.enter(victim.waiting_part, self._now_ns)
        if turn.copies is not None:
            self._submit(turn.copies)
        if not turn.tokens:
            return self._now_ns
        parts, batch, kv_tokens = list[tuple[int, int]](), 0, 0
        for request, tokens in turn.tokens.items():
            if tokens == 1 and clocked(request).lacks_one and request.num_outputs:
                batch, kv_tokens = batch + 1, kv_tokens + request.length
                continue
            parts.append((tokens, request.computed))
            self.tallies.computed_tokens += tokens
            if request.preemptions:
                self.tallies.recomputed_tokens += tokens
        begin = max(self.now, self.link.waited_until)
        self._book_begin(turn, begin // NS)
        self._set(begin + self.cost.mixed(parts, batch, kv_tokens))
        self._count(parts, batch)
        if parts:
            self._emit(Forward, begin // NS, 0, self._now_ns - begin // NS)
        return self._now_ns

    def _count(self, parts: list[tuple[int, int]], batch: int) -> None:
        self.tallies.prefills += bool(parts)
        if batch:
            self.tallies.decoded(1)
        self.tallies.peak_running = max(
            self.tallies.peak_running, len(self.scheduler.running)
        )
        self.tallies.peak_waiting = max(self.tallies.peak_waiting, self._num_waiting)

    def _book_loading(self, turn: Turn) -> None:
        """Who began to load is from now on in another stage."""
        for request in timed(turn.skipped):
            if request.part is Part.QUEUE and request.id in self._loading.values():
                request.enter(Part.LOAD, self._now_ns)
        self.tallies.retractions += len(turn.preempted)

    def _book_begin(self, turn: Turn, begin: int) -> None:
        for request in timed(turn.fresh):
            request.enter(Part.PREFILL, begin)
        for request in timed(turn.resumed):
            request.enter(Part.RECOMPUTE, begin)

    def _close(self, turn: Turn) -> None:
        """The step was made: outputs are counted, those that are done leave."""
        now = self._now_ns
        for request in timed(turn.sampling):
            if request.part is not Part.DECODE:
                request.enter(Part.DECODE, now)
            if request.ttft is None:
                request.ttft = now - request.at
        done = self.scheduler.update(turn, {r.id: 0 for r in turn.sampling})
        for request in timed(done):
            self._leave(request)
        moved = turn.fresh or turn.resumed or turn.preempted or turn.skipped or done
        self._calm = not (moved or self._is_owed(turn)) and self.scheduler.is_steady
        self._calm &= self._jump

    def _is_owed(self, turn: Turn) -> bool:
        """Did a prefill keep from others what a decode step gives them: its tokens from
        who waits, its blocks from the connector?"""
        has_prefilled = sum(turn.tokens.values()) > len(self.scheduler.running)
        return has_prefilled and bool(self._num_waiting or self.offload)

    def _leave(self, request: TimedBlockRequest) -> None:
        self.tallies.input_tokens += request.prompt_len
        self.tallies.done.append(request.record(self._now_ns))
        self._gone(request.id)

    # --- many steps

    def _decode(self) -> bool:
        """Make decode steps up to the next moment at which anything can change, but for
        the last step of a request; False if there is none."""
        running = timed(self.scheduler.running)
        self._calm = False
        if not running:
            return False
        most = min(
            min(r.remaining, self.config.max_model_len - r.length) for r in running
        )
        kv_tokens = sum(request.length for request in running)
        moment = self._next_moment
        if moment < NEVER:
            budget = moment - self.now
            most = min(most, self.cost.steps_to(len(running), kv_tokens, budget) + 1)
        steps = self.scheduler.run_on(most - 1)
        if not steps:
            return False
        self._set(self.now + self.cost.decode(len(running), kv_tokens, steps))
        self._emit(Decode, steps, self._now_ns)
        self.tallies.decoded(steps)
        return True

    def _check_nobody_waits(self) -> None:
        if self._num_waiting:
            pool = self.manager.pool
            first = next(iter((*self.scheduler.deferred, *self.scheduler.waiting)))
            raise EngineFault(
                f"{self._num_waiting} requests wait for ever behind {first.id}, which "
                f"has {first.length} tokens; {pool.num_free} blocks of "
                f"{self.config.block_size} are free, and nothing runs; ask "
                "config.check_start what no release starts with"
            )


def _nothing() -> None:
    """The blocks of a ledger hold no bytes: nothing is moved."""
