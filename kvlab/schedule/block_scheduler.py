"""How does vLLM divide a step's tokens among requests?

One turn, in this order: running requests, first to last, each as many tokens as it
lacks; where blocks run out, the last admitted gives up its own. Then, if nobody had
to, waiting requests, until the first that does not fit: nobody overtakes it.
Left out: speculative decoding, encoders, LoRA slots; time.
Source: vLLM 0.33.0, v1/core/sched/scheduler.py and async_scheduler.py.
"""

from __future__ import annotations

from ..blocks.kv_cache_manager import Demand
from ..record import block_events as ev
from .block_lives import BlockLives
from .block_queue import BlockQueue
from .block_request import BlockRequest, Status
from .turn import Found, Turn


class BlockScheduler(BlockLives):
    """The queues of one vLLM engine, and the turn that moves requests."""

    # --- the turn

    def schedule(self) -> Turn:
        """Decide the next step. Changes: the queues, the pools, `computed`."""
        turn = Turn(self.config.max_num_batched_tokens, self._cap())
        for request in list(self.running):
            is_due = turn.budget and request.status is Status.RUNNING
            if is_due and not self._serve(request, turn):
                break
        while not turn.preempted and turn.budget and self._has_seat():
            queue = self._next_queue()
            if queue is None or not self._admit(queue, turn):
                break
        self.deferred.put_first(turn.skipped)
        self.waiting.put_first(turn.retried)
        self._plan_copies(turn)
        self._advance(turn)
        return turn

    def _serve(self, request: BlockRequest, turn: Turn) -> bool:
        """Give a running request the tokens it lacks, at others' cost if need be;
        False if nobody behind it may be served.

        A connector may load into blocks as soon as they are free, so a victim that is
        in a step under way keeps its own: then nobody is preempted.
        """
        tokens = self._lacking(request, turn)
        if tokens <= 0:
            return True
        while not self._allocate(request, tokens):
            victim = self._pick_victim()
            if victim.steps_in_flight and self.connector:
                return self._stop(request, "in_flight")
            self._emit(ev.PickVictim, victim.id, request.id, victim.computed)
            self._preempt(victim, turn)
            if victim is request:
                return True
        self._give(request, tokens, turn)
        return True

    def _admit(self, queue: BlockQueue, turn: Turn) -> bool:
        """Try the first of a queue; False if nobody behind it may be tried."""
        request = queue.first
        if not self._is_ready(request):
            turn.skipped.append(queue.pop())
            return True
        found = self._find(request)
        if found is None:
            return self._ask_again(queue, turn)
        known = request.computed + self._tokens_of(found)
        tokens = 0 if found.external else turn.clip(request.length - known)
        if not found.external and self._may_not_cut(request.length - known, turn):
            return self._stop(request, "no_chunk")
        if not self._allocate_first(request, tokens, found, turn):
            return self._stop(request, "no_blocks")
        queue.pop()
        self._begin(request, found, known)
        if found.external:
            self._defer(request, turn)
        else:
            self._run(request, tokens, turn)
        return True

    # --- running requests

    def _cap(self) -> int:
        """Return the most tokens of one request in this turn; 0 for no such limit."""
        requests = len(self.running) + len(self.waiting) + len(self.deferred)
        return 0 if requests == 1 else self.config.long_prefill_token_threshold

    def _lacking(self, request: BlockRequest, turn: Turn) -> int:
        """Return the tokens to compute now; none for a request that waits for its
        last output, known to come."""
        ahead = request.in_flight
        end = request.prompt_len + request.max_new
        if ahead and request.computed + 2 - ahead >= end:
            return 0
        tokens = turn.clip(request.length + ahead - request.computed)
        return min(tokens, self.config.max_model_len - 1 - request.computed)

    def _allocate(self, request: BlockRequest, tokens: int) -> bool:
        demand = Demand(
            request.id, request.length, request.computed, tokens, request.names
        )
        return self.manager.allocate_slots(demand) is not None

    def _pick_victim(self) -> BlockRequest:
        """Return who is the first to give up its blocks."""
        if self.config.policy == "priority":
            return max(self.running, key=lambda r: (r.priority, r.arrival))
        return self.running[-1]

    def _preempt(self, victim: BlockRequest, turn: Turn) -> None:
        self.running.remove(victim)
        turn.take_back(victim)
        turn.preempted[victim] = victim.computed
        self.manager.free(victim.id)
        victim.status, victim.computed = Status.PREEMPTED, 0
        victim.preemptions += 1
        self.waiting.put_first([victim])
        self._emit(ev.Preempt, victim.id)

    # --- waiting requests

    def _has_seat(self) -> bool:
        return len(self.running) < self.config.max_num_seqs

    def _next_queue(self) -> BlockQueue | None:
        """Return the queue whose first request is tried next: whoever holds blocks
        comes before all others, whatever their priority."""
        return self.deferred or self.waiting or None

    def _is_ready(self, request: BlockRequest) -> bool:
        """Has the request's load come, if it waits for one? Then take note of it."""
        if request.status is not Status.LOADING:
            return True
        if request.id not in self.loaded:
            return False
        self.loaded.remove(request.id)
        self.manager.register(request.id, request.names, request.computed)
        if not request.computed:
            self.manager.free(request.id)
        if request.computed == request.length:
            request.computed -= 1
            self._emit(ev.Compute, request.id, request.computed)
        request.status = Status.WAITING if request.is_fresh else Status.PREEMPTED
        self._emit(ev.Loaded, request.id)
        return True

    def _find(self, request: BlockRequest) -> Found | None:
        """Look the request up; None if the connector cannot tell yet."""
        if request.computed:
            return Found([], 0, False)
        hits, external = list[int](), 0
        reads = self.config.enable_caching and not request.skip_reading
        if reads:
            hits = self.manager.lookup(request.names, request.length)
        local = len(hits) * self.config.block_size
        if self.connector and not request.skip_reading:
            answer = self.connector.matched(
                request.id, request.names, request.length, local
            )
            if answer is None:
                return None
            external = answer
        asked = request.length if reads else 0
        remote = external if self.connector else None
        self._emit(ev.Lookup, request.id, asked, local, remote)
        return Found(hits, external, True)

    def _ask_again(self, queue: BlockQueue, turn: Turn) -> bool:
        request = queue.pop()
        turn.retried.append(request)
        self.retrying.add(request.id)
        self._emit(ev.Defer, request.id, "retry")
        return True

    def _tokens_of(self, found: Found) -> int:
        return len(found.hits) * self.config.block_size + found.external

    def _may_not_cut(self, tokens: int, turn: Turn) -> bool:
        """Would a prompt be cut that must not be?"""
        wanted = min(tokens, turn.cap or tokens)
        return not self.config.enable_chunked_prefill and wanted > turn.budget

    def _allocate_first(
        self, request: BlockRequest, tokens: int, found: Found, turn: Turn
    ) -> bool:
        demand = Demand(
            request.id, request.length, request.computed, tokens, request.names,
            found.hits, found.external,
            reserved=self._promised(turn) if found.external else 0,
            behind_running=bool(self.running),
            whole_must_fit=self.config.scheduler_reserve_full_isl,
            unfilled=bool(found.external),
        )  # fmt: skip
        return self.manager.allocate_slots(demand) is not None

    def _promised(self, turn: Turn) -> int:
        """Return the blocks that requests under way still need for what they know."""
        under_way = [
            request
            for request in (*self.running, *self.deferred, *turn.skipped)
            if request.computed < request.length
        ]
        longest, needed = self.config.max_model_len, self.manager.blocks_needed
        needs = (needed(r.id, min(r.length, longest)) for r in under_way)
        return sum(max(need, 0) for need in needs)

    def _begin(self, request: BlockRequest, found: Found, known: int) -> None:
        """The request has its blocks: tell the connector, count the lookup."""
        local = len(found.hits) * self.config.block_size
        if self.connector:
            table = self.manager.tables[request.id]
            self.connector.started(request.id, table, local)
        if found.asked and self.config.enable_caching and not request.skip_reading:
            self.prefix.count(request.length, local, fresh=request.is_fresh)
        if found.asked and self.connector:
            beyond = request.length - local
            self.external.count(beyond, found.external, fresh=request.is_fresh)
        if known != request.computed:
            request.computed = known
            self._emit(ev.Compute, request.id, known)

    def _run(self, request: BlockRequest, tokens: int, turn: Turn) -> None:
        (turn.fresh if request.is_fresh else turn.resumed).append(request)
        request.status = Status.RUNNING
        self.running.append(request)
        self.retrying.discard(request.id)
        self._emit(ev.Run, request.id)
        self._give(request, tokens, turn)

    def _give(self, request: BlockRequest, tokens: int, turn: Turn) -> None:
        turn.give(request, tokens)
        self._emit(ev.Schedule, request.id, tokens, turn.budget)

    def _defer(self, request: BlockRequest, turn: Turn) -> None:
        request.status = Status.LOADING
        self.retrying.discard(request.id)
        turn.skipped.append(request)
        self._emit(ev.Defer, request.id, "loading")

    def _stop(self, request: BlockRequest, why: str) -> bool:
        self._emit(ev.Stop, request.id, why)
        return False

    # --- the end of the turn

    def _plan_copies(self, turn: Turn) -> None:
        if self.connector is None:
            return
        turns = dict.fromkeys(turn.fresh, 0) | dict.fromkeys(turn.resumed, 1)
        scheduled = [
            self._computed(request, request.computed + tokens, turns.get(request, 2))
            for request, tokens in turn.tokens.items()
        ]
        preempted = [request.id for request in turn.preempted]
        turn.copies = self.connector.plan(scheduled, preempted)

    def _advance(self, turn: Turn) -> None:
        """Count the scheduled tokens as computed; see who gets an output."""
        self.num_steps += bool(turn.tokens)
        for request, tokens in turn.tokens.items():
            request.computed += tokens
            request.steps_in_flight += self.config.async_scheduling
            self._emit(ev.Compute, request.id, request.computed)
            if request.computed >= request.length + request.in_flight:
                turn.sampling.append(request)
                request.in_flight += self.config.async_scheduling
