"""Does every decision of vLLM's side tell the numbers that were there?

Each field of each decision of every recorded golden, against the state before it, the
scenario, and what the real engine did; never against the code that tells it. What can
be found is known from the tokens themselves, not from hashes.
Left out: whether anything is told too often or not at all (test_block_told.py).
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pytest
from block_retold import BlockRun, retold_blocks
from test_block_goldens import GOLDENS, name

from kvlab.record import block_events as ev
from kvlab.record.block_names import names_in
from kvlab.record.block_snapshot import BlockRequestState, BlockState
from kvlab.record.events import Decision, Event, Output, Tier
from kvlab.run import block_script as sc

CHUNKS = (ev.ChunkHold, ev.ChunkMove, ev.ChunkAim, ev.Offer)
Numbers = dict[str, Any]
Content = tuple[str | None, tuple[int, ...]]
"""What a full block holds: its salt, and all tokens down to its end."""


class Contents:
    """Which contents lie in which block of a tier, the first that came first."""

    def __init__(self) -> None:
        self.of: dict[int, Content] = {}

    def find(self, content: Content) -> int | None:
        return next((b for b, other in self.of.items() if other == content), None)


class Witness:
    """What the decisions of one run must say, asked in the order of the run."""

    def __init__(self, run: BlockRun) -> None:
        self.run, self.config = run, run.scenario.config
        self.size = self.config.block_size
        self.specs = {spec.id: spec for spec in run.scenario.requests}
        self.tokens: dict[str, list[int]] = {}
        self.salts: dict[str, str | None] = {}
        self.here: dict[Tier, Contents] = {"L1": Contents(), "L2": Contents()}
        self.coming: dict[int, Content] = {}
        self.named: dict[int, Content] = {}
        self.chunked = self.config.l2 and self.config.l2.connector == "offloading"
        self.room = self.config.l2.num_cpu_blocks - 1 if self.chunked else 0
        self.begin(0)

    def begin(self, number: int) -> None:
        """A step begins."""
        self.number = number
        self.budget = self.config.max_num_batched_tokens
        self.given: dict[str, int] = {}
        self.preempted: dict[str, int] = {}
        self.found: dict[str, tuple[list[int], int]] = {}
        self.turn: str | None = None
        self.passed = set[str]()
        self.jobs = list[Numbers]()
        if self.chunked:
            self.jobs = list(self.run.scenario.records[number]["l2_store"].values())

    # --- what is known besides the state

    def note(self, event: Event, state: BlockState) -> None:
        """Follow a change that the state before it does not say."""
        if self.chunked and not isinstance(event, CHUNKS):
            self.room = self.config.l2.num_cpu_blocks - 1 - len(state.chunks.refs)
        match event:
            case ev.Arrive():
                self.arrived(event.request)
            case ev.Defer(why="retry"):
                self.passed.add(event.request)
            case Output():
                self.tokens[event.request].append(event.token)
            case ev.Register():
                self.registered(event, state)
            case ev.Forget():
                for block in event.blocks.tolist():
                    del self.here[event.tier].of[block]
            case ev.CopyOut() if not self.chunked:
                for l1, l2 in zip(event.l1.tolist(), event.l2.tolist(), strict=True):
                    self.coming[l2] = self.here["L1"].of[l1]
            case ev.Schedule():
                self.budget -= event.tokens
                self.given[event.request] = event.tokens
            case ev.PickVictim():
                self.budget += self.given.pop(event.victim, 0)
                self.preempted[event.victim] = event.computed

    def arrived(self, id: str) -> None:
        spec = self.specs.get(id) or self.run.scenario.ops[self.number]
        self.tokens[id] = list(getattr(spec, "prompt", None) or spec.tokens)
        self.salts[id] = spec.cache_salt

    def registered(self, event: ev.Register, state: BlockState) -> None:
        of = self.here[event.tier].of
        names = names_in(event.names)
        for block, hash in zip(event.blocks.tolist(), names, strict=True):
            of.pop(block, None)
            if event.tier == "L2":
                chunk = self.named[hash] if self.chunked else self.coming.pop(block)
                of[block] = chunk
                continue
            holder = next(r for r in state.requests.values() if block in r.blocks)
            of[block] = self.content(holder.id, holder.blocks.index(block))
            self.named[hash] = of[block]

    def content(self, id: str, at: int) -> Content:
        return self.salts[id], tuple(self.tokens[id][: (at + 1) * self.size])

    def hits(self, id: str) -> tuple[list[int], int]:
        """Return the blocks of L1 that the request finds, and how many of L2 follow;
        its last token is always computed."""
        most = (len(self.tokens[id]) - 1) // self.size
        local = list[int]()
        while len(local) < most:
            block = self.here["L1"].find(self.content(id, len(local)))
            if block is None:
                break
            local.append(block)
        beyond = 0
        most = len(self.tokens[id]) // self.size if self.chunked else most
        while len(local) + beyond < most:
            if self.here["L2"].find(self.content(id, len(local) + beyond)) is None:
                break
            beyond += 1
        return local, beyond

    def reads(self, id: str) -> bool:
        return self.config.enable_caching and not self.specs[id].skip_read

    # --- decisions

    def numbers(self, event: Decision, state: BlockState) -> Numbers:
        """Return the fields that a decision must have after this state."""
        find = getattr(self, f"of_{type(event).__name__.lower()}")
        numbers: Numbers = find(event, state)
        return numbers

    def of_lookup(self, event: ev.Lookup, state: BlockState) -> Numbers:
        request = event.request
        assert request == self.next_of(state)
        local, beyond = self.hits(request) if self.reads(request) else ([], 0)
        self.found[request] = local, beyond
        return {
            "asked": len(self.tokens[request]) * self.reads(request),
            "local": len(local) * self.size,
            "remote": None if self.config.l2 is None else beyond * self.size,
        }

    def of_slots(self, event: ev.Slots, state: BlockState) -> Numbers:
        request, free = state.requests[event.request], len(state.tiers["L1"].free)
        whole, need, kept, reserved = self.demand(request, state)
        full = whole is not None and whole + kept > free
        if full:
            need, reserved = whole, 0
        return {
            "line": "full_sequence" if full else "this_step", "need": need,
            "watermark": kept, "reserved": reserved, "free": free,
            "fits": need + kept <= free - reserved,
        }  # fmt: skip

    def demand(
        self, request: BlockRequestState, state: BlockState
    ) -> tuple[int | None, int, int, int]:
        """Return the blocks that the whole request needs, if that is asked; those of
        this step, the watermark, and what others were promised."""
        config, length = self.config, len(self.tokens[request.id])
        if self.run.scenario.mode == "kv":
            return self.op_demand(request, state)
        if request.id in state.running:
            end = request.computed + self.lacking(request, state)
            return None, self.blocks(end) - len(request.blocks), 0, 0
        self.check_lookup(request)
        hits, beyond = self.found.get(request.id, ([], 0))
        known = request.computed + (len(hits) + beyond) * self.size
        own = sum(b in state.tiers["L1"].free for b in hits) - len(hits)
        end = known if beyond else known + self.clip(length - known, state)
        held = len(request.blocks) - own
        whole = max(self.blocks(length) - held, 0)
        return (
            whole if config.scheduler_reserve_full_isl else None,
            max(self.blocks(end) - held, 0),
            self.watermark * bool(state.running),
            self.promised(state) if beyond else 0,
        )

    def check_lookup(self, request: BlockRequestState) -> None:
        """Who has nothing computed is looked up first, and nobody else."""
        assert (request.id in self.found) == (request.computed == 0)

    def op_demand(
        self, request: BlockRequestState, state: BlockState
    ) -> tuple[int | None, int, int, int]:
        op = self.run.scenario.ops[self.number]
        assert isinstance(op, sc.AllocOp)
        hits, _ = self.hits(op.id) if op.use_hit else ([], 0)
        own = sum(b in state.tiers["L1"].free for b in hits) - len(hits)
        end = request.computed + len(hits) * self.size + op.external + op.n
        held = len(request.blocks) - own
        admits = op.has_scheduled and request.id not in state.running
        whole = max(self.blocks(len(self.tokens[op.id])) - held, 0)
        need = max(self.blocks(end) - held, 0)
        kept = self.watermark * admits
        return whole if op.full_fit else None, need, kept, op.reserved

    @property
    def watermark(self) -> int:
        return int(self.config.watermark * self.config.num_gpu_blocks)

    def blocks(self, tokens: int) -> int:
        return -(-min(tokens, self.config.max_model_len) // self.size)

    def clip(self, tokens: int, state: BlockState) -> int:
        """Return how many of the tokens this step may compute at once."""
        alone = len(state.running) + len(state.waiting) + len(state.deferred) == 1
        cap = 0 if alone else self.config.long_prefill_token_threshold
        return min(tokens, cap or tokens, self.budget)

    def lacking(self, request: BlockRequestState, state: BlockState) -> int:
        """Return the tokens that a running request computes now: of those under way
        one is not known yet. Whoever is preempted for it does not change that."""
        if self.turn != request.id:
            known, computed = len(self.tokens[request.id]), request.computed
            length = max(known, computed + 1)
            tokens = self.clip(length - computed, state)
            left = self.config.max_model_len - 1 - computed
            self.turn, self.wanted = request.id, min(tokens, left)
        return self.wanted

    def promised(self, state: BlockState) -> int:
        """Return the blocks that those under way still need for what they know."""
        under_way = [state.requests[id] for id in (*state.running, *state.deferred)]
        needs = [
            self.blocks(len(self.tokens[r.id])) - len(r.blocks)
            for r in under_way
            if r.computed < len(self.tokens[r.id])
        ]
        return sum(max(need, 0) for need in needs)

    def of_schedule(self, event: ev.Schedule, state: BlockState) -> Numbers:
        request = state.requests[event.request]
        tokens = self.lacking(request, state)
        self.turn = None
        return {"tokens": tokens, "left": self.budget - tokens}

    def of_stop(self, event: ev.Stop, state: BlockState) -> Numbers:
        if event.why == "in_flight":
            return {"request": self.turn}
        self.check_lookup(state.requests[event.request])
        cuts = self.config.enable_chunked_prefill
        assert event.why == "no_blocks" or not cuts
        return {"request": self.next_of(state)}

    def of_offer(self, event: ev.Offer, state: BlockState) -> Numbers:
        """What is taken is the real engine's next store of this step; what is refused
        finds no room."""
        if event.took:
            return {"chunks": len(self.jobs.pop(0)["l1"]), "free": self.room}
        assert event.chunks > self.room
        return {"free": self.room}

    def of_pickvictim(self, event: ev.PickVictim, state: BlockState) -> Numbers:
        running = [state.requests[id] for id in state.running]
        last = running[-1]
        if self.config.policy == "priority":
            last = max(running, key=lambda r: r.rank)
        return {"victim": last.id, "request": self.turn, "computed": last.computed}

    def next_of(self, state: BlockState) -> str:
        """Return who is tried next: who waits for its load, or whose connector could
        not tell in this step, is passed over."""
        deferred = [state.requests[id] for id in state.deferred]
        ready = [request.id for request in deferred if request.stage != "loading"]
        return next(id for id in (*ready, *state.waiting) if id not in self.passed)

    # --- what the real engine did, and what was asked of it

    def step(self, number: int) -> Numbers:
        scenario = self.run.scenario
        if scenario.mode == "sched":
            return {"number": number, "op": "step", "text": ""}
        op = scenario.raw_ops[number]
        text = op.get("req" if scenario.mode == "cpu" else "id", "")
        return {"number": number, "op": op["op"], "text": text}

    def check_step(self) -> None:
        """The tokens given and the victims are those of the recording."""
        assert self.run.scenario.records is not None
        record = self.run.scenario.records[self.number]
        assert self.given == record["scheduled"]
        assert list(self.preempted) == record["preempted"]
        assert list(self.preempted.values()) == record["preempted_computed"]
        assert self.jobs == []


def check(event: Event, numbers: Numbers) -> None:
    for field, value in numbers.items():
        assert getattr(event, field) == value, f"{event}: {field} is {value}"


@pytest.mark.parametrize("path", GOLDENS, ids=name)
def test_every_decision_tells_what_was_there(path):
    run = retold_blocks(path)
    witness, state = Witness(run), BlockState.start(run.scenario.config)
    for number, (step, events) in enumerate(run.steps):
        check(step, witness.step(number))
        witness.begin(number)
        for event in events if run.scenario.mode != "cpu" else []:
            if isinstance(event, Decision):
                check(event, witness.numbers(event, state))
            witness.note(event, state)
            state.apply(event)
        if run.scenario.mode == "sched":
            witness.check_step()


@pytest.mark.parametrize("path", GOLDENS, ids=name)
def test_every_output_is_what_the_real_engine_sampled(path):
    """In its order; what was sampled last may never have been applied."""
    run, sampled, told = retold_blocks(path), defaultdict(list), defaultdict(list)
    if run.scenario.mode != "sched":
        return
    for record, (_, events) in zip(run.scenario.records, run.steps, strict=True):
        for id, token in record["sampled"].items():
            sampled[id].append(token)
        for event in events:
            if isinstance(event, Output):
                told[event.request].append(event.token)
    assert told
    for id, tokens in told.items():
        assert tokens == sampled[id][: len(tokens)]
