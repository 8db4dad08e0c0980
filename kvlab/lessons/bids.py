"""What does a learner's admission test run against?

`crowded` is an engine in which one request has finished, some run and one asks to be
let in; `judge` asks the learner's function at every admission test of many such
engines, whose pools differ by one slot, and compares with what the engine said.
Left out: input and chunk budgets, host hits.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from ..record import events as ev
from ..rules import Rules
from ..run.script import DecodeStepOp, NewRequest, RequestOp, RoundOp
from ..run.workbench import Workbench
from ..views.theme import Words
from .kinds import Flaw

POOLS = range(20, 60)


def crowded(random: Random, pool: int, ratio: float = 0.5) -> Workbench:
    """Return the run: what it asks for is drawn, `pool` is the slots of L1."""
    bench = Workbench(
        Rules.v0_5_14(), "a crowded pool", pool_tokens=pool, host_tokens=400,
        write_policy="write_back", new_token_ratio=ratio,
    )  # fmt: skip
    bench.do(RequestOp(list(range(900, 900 + random.randint(3, 8))), out=[1, 2]))
    running = random.randint(2, 3)
    prompt, max_new = random.randint(4, 7), 2 * random.randint(3, 5)
    bench.do(RoundOp([
        NewRequest(f"r{i}", list(range(100 * i, 100 * i + prompt)), max_new)
        for i in range(1, running + 1)
    ]))  # fmt: skip
    bench.do(DecodeStepOp())
    last = NewRequest("r9", list(range(950, 950 + random.randint(5, 9))),
                      random.randint(3, 6))  # fmt: skip
    bench.do(RoundOp([last]))
    return bench


def asked(bench: Workbench, request: str = "r9") -> tuple[int, ev.Admit]:
    """Return the last test of the request, and the moment after it."""
    found = [
        (at, event)
        for at, event in enumerate(bench.trace.events, 1)
        if isinstance(event, ev.Admit) and event.request == request
    ]
    return found[-1]


def judge(function: Callable[..., Any], random: Random) -> Flaw | None:
    """Return the first test in which the function and the engine differ.

    Raises: what the function raises.
    """
    seed = random.random()
    for pool in POOLS:
        bench = crowded(Random(seed), pool)
        for at, event in enumerate(bench.trace.events, 1):
            if isinstance(event, ev.Admit) and (flaw := _differs(function, event)):
                return Flaw(flaw, bench.trace, at)
    return None


def _differs(function: Callable[..., Any], event: ev.Admit) -> Words | None:
    said = function(
        event.extend, event.max_new, event.page, event.available, event.evictable,
        event.promised,
    )  # fmt: skip
    if bool(said) == event.added:
        return None
    need = event.extend + event.max_new + event.page
    room = event.available + event.evictable - event.promised
    terms = (
        f"extend {event.extend}, max_new {event.max_new}, page {event.page}, available "
        f"{event.available}, evictable {event.evictable}, promised {event.promised}"
    )
    return Words(
        f"{terms}: need {need}, room {room:g}; the engine "
        f"{'admits' if event.added else 'refuses'} it.",
        f"{terms}：需求 {need}，余量 {room:g}；"
        f"引擎{'准入' if event.added else '拒绝'}。",
    )
