"""What does an engine do over time?

One turn of SGLang's event loop, again and again:

        copies done, arrivals noted -> a prefill, if anybody may join one
                                    -> else decode steps of the running batch
                                    -> else wait for the next arrival or copy

Prefill goes before decode, so running requests stand still while others prefill. Decode
steps between two moments at which anything can change - somebody arrives, a copy is
done, a request finishes, room must be made - are one jump and one event; `jump=False`
makes the same steps one by one, with the same outcome.
Left out: overlap scheduling (the CPU's work hides behind the GPU's), mixed chunks, and
the network before and after the engine.
Source: SGLang 0.5.14, managers/scheduler.py, event_loop_normal.
"""

from __future__ import annotations

from ..config import EngineConfig
from ..errors import EngineFault
from ..geometry import ceil_page
from ..record import events as ev
from ..record.trace import QUIET, Emitter
from ..rules import Rules
from ..schedule.decode_queue import DecodeReport
from ..schedule.policy import Policy
from ..schedule.request import Request
from .clocked_engine import ClockedEngine
from .clocked_link import NEVER
from .cost import NS, Cost
from .engine import Engine
from .parts import Part
from .samples import Sampler
from .timed_request import TimedRequest
from .timed_scheduler import TimedScheduler, timed
from .workload import Ask


class TimedEngine(ClockedEngine):
    """One SGLang engine on a virtual clock.

    `max_running` and `max_queued` are SGLang's max_running_requests and
    max_queued_requests, None for no bound; a full queue turns newcomers away.
    `policy` is its schedule_policy.

    >>> from kvlab.run.accelerators import accelerator
    >>> from kvlab.run.model_shapes import model_shape
    >>> from kvlab.run.generators import poisson, unique
    >>> from kvlab.run.workload import OpenLoop
    >>> cost = Cost(model_shape("llama-3-8b"), accelerator("h100"))
    >>> engine = TimedEngine(EngineConfig(pool_tokens=9000, tree="radix"),
    ...                      Rules.v0_5_14(), cost)
    >>> engine.run(OpenLoop(unique(3, poisson(4.0), length=2000, outputs=50)))
    >>> [record.outputs for record in engine.tallies.done]
    [50, 50, 50]
    """

    def __init__(
        self,
        config: EngineConfig,
        rules: Rules,
        cost: Cost,
        *,
        emit: Emitter = QUIET,
        policy: Policy = "fcfs",
        max_running: int | None = None,
        max_queued: int | None = None,
        conservativeness: float = 1.0,
        sampler: Sampler | None = None,
        jump: bool = True,
    ) -> None:
        super().__init__(cost, emit)
        self.engine = Engine(config, rules, emit=emit, mode="ledger", link=self.link)
        self.cache = self.engine.cache
        if self.engine.host_cache is not None:
            self.engine.host_cache.controller.bytes_per_token = cost.model.kv_bytes
        self.scheduler = TimedScheduler(
            self.cache,
            config,
            emit,
            policy=policy,
            max_running=max_running,
            conservativeness=conservativeness,
        )
        self.engine.scheduler = self.scheduler
        self._batch = self.scheduler.batch
        self._jump = jump
        self._max_queued = max_queued
        self._sampler = sampler

    def _turn(self) -> bool:
        if self._sampler is not None and self._sampler.next <= self._now_ns:
            self._sampler.look(self._now_ns, self.engine, self.tallies)
        if self.link.has_news:
            self.scheduler.check_events()
        self._take_arrivals()
        if self.scheduler.may_prefill and self._prefill():
            return True
        if self._batch.size:
            self._decode()
            return True
        if self.scheduler.let_leave() and self.scheduler.waiting:
            return True
        return self._wait()

    # --- arrivals

    def _arrive(self, ask: Ask) -> None:
        """Let a request join the queue, or refuse at once what could never run."""
        total = self.cache.allocator.total
        request = TimedRequest(
            ask.id,
            ask.tokens,
            _most_outputs(ask, total, self.cache.page_size),
            ask.at,
            self._batch.steps,
            ask.filler,
            ask.life,
        )
        self.scheduler.arrive(request)
        self._emit(ev.Sent, request.id, ask.at)
        need = self._need(request)
        if need >= total:
            self.scheduler.waiting.pop()
            self._emit(ev.TooLarge, request.id, need, total)
            self._emit(ev.Drop, request.id)
            self.tallies.refuse(request, need, total)
            self._gone(request.id)
            return
        waiting = len(self.scheduler.waiting)
        if self._max_queued is not None and waiting > self._max_queued:
            self._emit(ev.Drop, self.scheduler.waiting.pop().id)
            self.tallies.turn_away(request)
            self._gone(request.id)
            return
        self.tallies.arrived(waiting)

    def _need(self, request: TimedRequest) -> int:
        """Return the left side of its admission test on an empty cache, in tokens."""
        config = self.engine.config
        still = min(request.max_new, config.clip_max_new)
        return len(request.prompt) + still + config.page_size

    # --- prefill

    def _prefill(self) -> bool:
        """Run one prefill; False if nobody was admitted. Changes: the clock, the pools,
        the queues."""
        batch = self.scheduler.form_batch()
        if not batch:
            return False
        begin, middle = self._place(batch)
        running = len(self.scheduler.running)
        self.tallies.prefilled(batch, running, self.scheduler.chunked)
        for request in batch:
            self._book_prefill(request, begin // NS, middle // NS)
        times = (begin // NS, middle // NS - begin // NS, self._now_ns - middle // NS)
        self._emit(ev.Forward, *times)
        for request in batch:
            if request is self.scheduler.chunked:
                request.enter(request.waiting_part, self._now_ns)
            else:
                self._first_token(request)
        self.scheduler.end_step()
        return True

    def _place(self, batch: list[TimedRequest]) -> tuple[int, int]:
        """Give the batch its pages and let the clock run to the prefill's end; return
        when it began, and when its compute would have, had nothing overlapped."""
        self.scheduler.place(batch)
        begin = max(self.now, self.link.waited_until)
        load = max(0, self.link.busy_until("load") - begin)
        compute = self.cost.prefill([(r.extend_len, r.prefix_len) for r in batch])
        self._set(begin + self.cost.overlapped(load, compute))
        return begin, self.now - compute

    def _book_prefill(self, request: TimedRequest, begin: int, middle: int) -> None:
        again = request.ttft is not None
        request.enter(Part.RECOMPUTE if again else Part.LOAD, begin)
        if not again:
            request.enter(Part.PREFILL, middle)

    def _first_token(self, request: TimedRequest) -> None:
        now = self._now_ns
        request.enter(Part.DECODE, now)
        if request.ttft is None:
            request.ttft = now - request.arrival
        if not self.scheduler.first_token(request, request.filler):
            self._done(request)

    # --- decode

    def _decode(self) -> None:
        """Make decode steps up to the next moment at which anything can change."""
        tried_next = self.scheduler.let_leave() and bool(self.scheduler.waiting)
        pages = self.cache.allocator.available // self.cache.page_size
        floor = self._batch.size if self.cache.evictable_size else 0
        kv_tokens = self._batch.kv_tokens + self._batch.size
        size = self._batch.size
        limit = 1 if tried_next else self._limit(kv_tokens)
        steps, begun = self._batch.advance(limit, pages, floor)
        if steps:
            self._close(size, kv_tokens, steps, begun)
        else:
            self._tight_step()

    def _limit(self, kv_tokens: int) -> int:
        """Return the steps to the next finish, arrival or end of a copy."""
        if not self._jump:
            return 1
        steps = self._batch.steps_to_finish()
        moment = self._next_moment
        if moment >= NEVER:
            return steps
        budget = moment - self.now
        return min(steps, self.cost.steps_to(self._batch.size, kv_tokens, budget))

    def _tight_step(self) -> None:
        """One step for which room must be made: evict, or retract until the rest fits.

        The engine asks room for a page a request, whether or not each begins one.
        """
        scheduler, batch = self.scheduler, self._batch
        report = scheduler.prepare_decode()
        if not report.fits:
            self._note_retraction(report)
        if not batch.size:
            return
        self.cache.make_room(batch.size * self.cache.page_size)
        self._set(max(self.now, self.link.waited_until))
        size, kv_tokens = batch.size, batch.kv_tokens + batch.size
        pages = self.cache.allocator.available // self.cache.page_size
        steps, begun = batch.advance(1, pages, 0)
        assert steps == 1, f"{pages} pages do not do for a step of {size} requests"
        self._close(size, kv_tokens, steps, begun, decays=report.fits)

    def _note_retraction(self, report: DecodeReport) -> None:
        """Those sent back wait again; the others sit in the order they were put in."""
        self._batch.reseat(timed(self.scheduler.running))
        back = timed(report.retracted)
        for request in back:
            request.enter(Part.REQUEUE, self._now_ns)
        gone = timed([*report.aborted, *self._turn_back()])
        self.tallies.retracted(back, len(self.scheduler.waiting))
        for request in gone:
            self._done(request, aborted=True)

    def _turn_back(self) -> list[Request]:
        """Drop those sent back for whom the queue has no room; return them."""
        waiting = self.scheduler.waiting
        most = len(waiting) if self._max_queued is None else self._max_queued
        back, waiting[most:] = waiting[most:], []
        for request in back:
            self._emit(ev.Drop, request.id)
        return back

    def _close(
        self,
        size: int,
        kv_tokens: int,
        steps: int,
        begun: list[TimedRequest],
        decays: bool = True,
    ) -> None:
        """Steps were made: pages, clock, ratio; those that are done leave."""
        if begun:
            self.scheduler.begin_pages(begun)
        self._set(self.now + self.cost.decode(size, kv_tokens, steps))
        self._emit(ev.Decode, steps, self._now_ns)
        self.tallies.decoded(steps)
        if decays:
            self.scheduler.decaying.decay(steps)
        for request in self._batch.take_finished():
            self.scheduler.finish(request)
            self._done(request)
        self.scheduler.end_step()

    def _done(self, request: TimedRequest, *, aborted: bool = False) -> None:
        request.enter(request.part, self._now_ns)
        self.tallies.leave(request, self._now_ns, aborted=aborted)
        self._gone(request.id)

    # --- nothing to run

    def _wait(self) -> bool:
        """As always; an idle engine, with no write under way, sets aside as much as it
        did at the start."""
        cache = self.engine.host_cache
        writes = cache is not None and cache.ongoing_writes
        if not self.scheduler.waiting and not writes:
            self.scheduler.decaying.reset()
        return super()._wait()

    def _check_nobody_waits(self) -> None:
        if self.scheduler.waiting:
            first = self.scheduler.waiting[0]
            raise EngineFault(
                f"{len(self.scheduler.waiting)} requests wait for ever behind "
                f"{first.id}, which wants {first.length} tokens; "
                f"{self.cache.allocator.available} are free, "
                f"{self.cache.evictable_size} evictable, and nothing runs; "
                "ask config.check_start what no release starts with"
            )


def _most_outputs(ask: Ask, total: int, page: int) -> int:
    """Return the tokens that a request may produce: those it asks for, as far as an
    empty pool of `total` tokens would admit it; 0 still gives one. What could never be
    admitted keeps all that it asks for.

    Source: SGLang 0.5.14, managers/scheduler.py, init_req_max_new_tokens.
    """
    prompt = len(ask.tokens)
    if prompt + max(page, 2) >= total:
        return ask.max_new
    room = total - max(prompt + 2, ceil_page(prompt, page) + page + 1)
    return max(0, min(ask.max_new, room))
