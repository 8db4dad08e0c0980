"""Does every decision about requests tell the numbers that were there? (SGLang.)

Each field of each decision of every recorded golden, against the state before it, the
script, and what the real engine answered; never against the code that tells it.
Left out: whether anything is told too often or not at all (test_told.py); the tree and
the copies (test_told_cache.py).
"""

from __future__ import annotations

from typing import Any

import pytest
from played import RECORDED
from retold import (
    Numbers,
    Run,
    Told,
    Witness,
    check_numbers,
    length_of,
    method_of,
    name,
    retold,
)
from test_told_cache import CacheWitness

from kvlab.geometry import ceil_page, floor_page
from kvlab.record import events as ev
from kvlab.record.snapshot import State
from kvlab.run import script as sc

STEPS_AHEAD = 20
"""Tokens that a retraction sees to for each who stays."""


class ScheduleWitness(Witness):
    """What admissions, prefills, decode steps and retractions must say."""

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.room = 0
        self.found: dict[str, Told] = {}

    def tries(self, told: Told) -> list[dict[str, Any]]:
        """Return what the real engine said of the round's tries, its start first."""
        answer = self.answer(told)
        if "start" in answer:
            return [answer["start"], *answer["tried"]]
        budget = {
            "rem_total": answer["rem_total_before"],
            "rem_input": self.config.max_prefill_tokens,
            "rem_chunk": self.config.chunked_prefill_size,
        }
        return [budget, {"r": answer["admit"], "added": answer["admitted"], **answer}]

    def of_candidate(self, told: Told, event: ev.Candidate, state: State) -> Numbers:
        match = told.before[-1].event
        account = state.account()
        self.room = account.available + account.evictable
        self.found[event.request] = told
        length = length_of(state, event.request)
        return {"extend": length - match.device, "host_hit": match.host}

    def of_admit(self, told: Told, event: ev.Admit, state: State) -> Numbers:
        tries, account = self.tries(told), state.account()
        at = sum(isinstance(o.event, ev.Candidate) for o in told.cause.before)
        at += tries[1]["r"] == "chunked_continue"
        spent, said = tries[at], tries[at + 1]
        candidate, request = told.cause.event, state.requests[event.request]
        to_come = min(
            max(request.max_new - request.outputs, 0), self.config.clip_max_new
        )
        promised = self.room - spent["rem_total"]
        line, asked = self.line(told, said, to_come, promised)
        match = told.cause.before[-1].event
        return {
            "request": candidate.request, "line": line,
            "extend": said.get("extend", candidate.extend - loaded(told.cause)),
            "max_new": to_come, "page": self.page,
            "available": account.available, "evictable": account.evictable,
            "promised": pytest.approx(promised, abs=1e-6),
            "rem_input": spent["rem_input"], "rem_chunk": spent["rem_chunk"],
            "device_hit": match.device, "host_hit": match.host,
            "verdict": said["r"], "added": said["added"], "asked": asked,
        }  # fmt: skip

    def line(
        self, told: Told, said: Numbers, to_come: int, promised: float
    ) -> tuple[str, int | None]:
        """Return which test decided, and what it asked of the input budget."""
        candidate = told.cause.event
        if said["added"]:
            return "admitted", None
        if said["r"] == "NO_TOKEN":
            need = candidate.extend + to_come + self.page
            at_once = need >= self.room - promised and self.rules.tests_before_lock
            return "room" if at_once else "room_after_lock", None
        if self.config.chunked_prefill_size is not None:
            return "chunk_budget", None
        kept = any(isinstance(o.event, ev.LoadBack) for o in told.cause.said)
        promise = loaded(told.cause) if kept else candidate.host_hit
        return "input_budget", ceil_page(candidate.extend - promise, self.page)

    def of_closeround(self, told: Told, _: ev.CloseRound, state: State) -> Numbers:
        tried = sum(isinstance(o.event, ev.Candidate) for o in told.before)
        spent = self.tries(told)[-1]
        budget = {name: spent[name] for name in ("rem_input", "rem_chunk")}
        return {"request": state.waiting[tried], **budget}

    def of_chunk(self, told: Told, _: ev.Chunk, state: State) -> Numbers:
        said = self.tries(told)[1]
        assert said["r"] == "chunked_continue"
        names = ("extend", "unfinished", "rem_chunk")
        return {"request": said["id"], **{name: said[name] for name in names}}

    def of_prefill(self, told: Told, event: ev.Prefill, state: State) -> Numbers:
        found, request = self.found[event.request], state.requests[event.request]
        match = found.before[-1].event
        behind_hit = request.kv_len - match.device if request.kv_len else loaded(found)
        start = next(o.event for o in told.behind if isinstance(o.event, ev.Start))
        return {
            "request": start.request, "device_hit": match.device,
            "host_hit": match.host, "loaded": behind_hit,
            "extend": start.kv_len - match.device - behind_hit,
        }  # fmt: skip

    def of_makeroom(self, told: Told, event: ev.MakeRoom, state: State) -> Numbers:
        available = state.account().available
        assert event.need in self.needs(told, state), f"needs {self.needs(told, state)}"
        assert event.need > available
        ask = event.need - (0 if self.rules.evict_whole_need else available)
        return {"tier": "L1", "available": available, "ask": ask}

    def needs(self, told: Told, state: State) -> set[int]:
        """Return what may be needed here: that of what follows; for a moment after a
        retraction also what it sees to for all who stay."""
        op, rest = self.run.op(told), told.behind
        if isinstance(op, sc.InsertOp):
            return {floor_page(len(op.tokens), self.page)}
        kinds = [type(other.event) for other in rest]
        seats = [o.event.extend for o in rest if isinstance(o.event, ev.Prefill)]
        if seats and ev.Grow not in kinds[: kinds.index(ev.Prefill)]:
            slack = len(seats) * self.page if self.page > 1 else 0
            return {sum(seats) + slack}
        if kinds and kinds[0] is ev.DecodeRoom:
            return {rest[0].event.need, STEPS_AHEAD * len(state.running)}
        if ev.Batch in kinds:
            return {STEPS_AHEAD * len(state.running), self.decode_need(state)}
        return {self.page}

    def decode_need(self, state: State) -> int:
        ends = [state.requests[id].kv_len % self.page for id in state.running]
        return ends.count(0) * self.page

    # --- decode

    def of_output(self, told: Told, event: ev.Output, state: State) -> Numbers:
        """A request that was sent back gets again what its first prefill said."""
        op, count = self.run.op(told), state.requests[event.request].outputs
        match op:
            case sc.DecodeOp() | sc.DecodeStepOp():
                token = op.token
            case sc.RequestOp():
                token = op.out[count]
            case sc.RequestStartOp():
                token = op.first_out
            case sc.RoundOp():
                token = self.first_out(event.request, told)
        return {"token": token}

    def first_out(self, request: str, told: Told) -> int:
        """Return what the round that brought the request gave it to say."""
        number = told.causes()[-1].event.number
        rounds = [
            op for op in self.run.script.ops[: number + 1] if isinstance(op, sc.RoundOp)
        ]
        return [new.first_out for op in rounds for new in op.new if new.id == request][
            -1
        ]

    def of_decoderoom(self, told: Told, event: ev.DecodeRoom, state: State) -> Numbers:
        need, available = self.decode_need(state), state.account().available
        if not any(isinstance(o.event, ev.DecodeRoom) for o in told.before):
            assert need == self.answer(told)["need"]
        return {
            "batch": len(state.running), "need": need, "available": available,
            "fits": need <= available,
        }  # fmt: skip

    def of_pickretract(
        self, told: Told, event: ev.PickRetract, state: State
    ) -> Numbers:
        running = [state.requests[id] for id in reversed(state.running)]
        victim = min(running, key=lambda r: (r.outputs, -r.prompt_len))
        return {
            "request": victim.id, "outputs": victim.outputs,
            "prompt_len": victim.prompt_len, "survivors": len(running) - 1,
        }  # fmt: skip

    def of_ratio(self, told: Told, _: ev.Ratio, state: State) -> Numbers:
        said = self.answer(told)
        return {"before": said["ratio_before"], "after": said["ratio_after"]}


def loaded(candidate: Told) -> int:
    """Return the tokens that came back to L1 for a candidate, in whole pages."""
    loads = [o.event for o in candidate.said if isinstance(o.event, ev.LoadBack)]
    came = any(isinstance(o.event, ev.Load) for o in candidate.said)
    return loads[-1].tokens if came else 0


@pytest.mark.parametrize("path", RECORDED, ids=name)
def test_every_decision_about_requests_tells_what_was_there(path):
    run = retold(path)
    check_numbers(run, ScheduleWitness(run))


def test_every_decision_of_an_engine_without_a_clock_has_a_witness():
    """But for what is sent together, and for what a model of the bytes sees."""
    elsewhere = {ev.SendWrites, ev.TooLarge, ev.Compared, ev.Wrong}
    for kind in set(ev.DECISIONS) - elsewhere:
        witnesses = [CacheWitness, ScheduleWitness]
        assert sum(hasattr(w, method_of(kind)) for w in witnesses) == 1, kind
