"""On which stages are the claims played?

Small engines of each release, and what a check wants to know of them. Everything is
asked through public calls and read from the trace.
Left out: what is claimed.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any, TypeVar

from ...config import EngineConfig
from ...record import events as ev
from ...record.events import Event
from ...record.trace import Trace
from ...rules import Rules
from ...run.accelerators import accelerator
from ...run.cost import Cost
from ...run.generators import poisson, shared_system
from ...run.model_shapes import model_shape
from ...run.script import AnyOp, DecodeStepOp, NewRequest, RoundOp, Script
from ...run.tallies import Tallies, percentile
from ...run.timed_engine import TimedEngine
from ...run.whole import run_script
from ...run.workbench import Workbench
from ...run.workload import Ask, OpenLoop
from ..title_collapse import SETTINGS, Finding, play

OLD, NEW = Rules.v0_5_14(), Rules.v0_5_23()
SECOND = 10**9

Kind = TypeVar("Kind", bound=Event)


def bench(rules: Rules = OLD, **knobs: Any) -> Workbench:
    """Return an engine of 64 slots, or as the knobs say; by hand, 0.5.14."""
    return Workbench(rules, **{"pool_tokens": 64, "host_tokens": 128} | knobs)


def forced(rules: Rules, ops: list[AnyOp], **knobs: Any) -> Trace:
    """Return the run of a script on an engine that the release would not start."""
    config = EngineConfig.of({"pool_tokens": 64} | knobs)
    script = Script(
        name="", about="", config=config, rules=rules, manual_dma=True, ops=ops
    )
    return run_script(script)


def seen(bench: Workbench, kind: type[Kind]) -> list[Kind]:
    """Return the events of one kind, in order."""
    return [event for event in bench.trace.events if isinstance(event, kind)]


def written(bench: Workbench) -> int:
    """Return how many copies to L2 the run has made."""
    return len(seen(bench, ev.Backup))


def chain_of_two() -> Workbench:
    """Return an engine that has tokens 100 to 131 on L2 only, in nodes of 12 and 20."""
    desk = bench()
    desk.insert(range(100, 112))
    desk.insert(range(100, 132))
    desk.ack_write()
    desk.evict(64)
    return desk


def new(id: str, tokens: Iterable[int], max_new: int) -> NewRequest:
    """Return a request that arrives with the round."""
    return NewRequest(id, list(tokens), max_new=max_new, first_out=900)


def prefill(bench: Workbench, *requests: NewRequest) -> dict[str, Any]:
    """Let the requests arrive and run one prefill round; return its report."""
    return bench.do(RoundOp(list(requests)))


# --- the clock


@cache
def reference_cost(link: float = 50e9) -> Cost:
    """Llama-3-70B on eight H100, with a link of so many bytes a second."""
    return Cost(model_shape("llama-3-70b"), accelerator("h100"), tp=8, link_rate=link)


def serve(
    asks: Iterable[Ask],
    *,
    max_running: int | None = None,
    link: float = 50e9,
    cost: Cost | None = None,
    **knobs: Any,
) -> Tallies:
    """Serve the requests on a clock, by 0.5.23's rules; return what it came to."""
    config = EngineConfig.of({"tree": "radix", "chunked_prefill_size": 8192} | knobs)
    cost = cost or reference_cost(link)
    engine = TimedEngine(config, NEW, cost, max_running=max_running)
    engine.run(OpenLoop(asks))
    return engine.tallies


@cache
def collapse(setting: str, seed: int = 0) -> Finding:
    """Return what the title's ramp came to under a setting of that name."""
    (found,) = (each for each in SETTINGS if each.name == setting)
    return play(found, seed)[0]


def p99(tallies: Tallies) -> float:
    """Return the P99 of TTFT in seconds."""
    ttfts = sorted(r.ttft for r in tallies.done if r.ttft is not None)
    return percentile(ttfts, 0.99) / SECOND


def crowd(steps: int = 0) -> Workbench:
    """Return an engine with two running requests, a and b, and a full L1.

    The rest of L1 is locked, so the next decode step can evict nothing. Both have
    decoded `steps` tokens, `a` one more: so `b` is the one to give way.
    """
    desk = bench(NEW, pool_tokens=192, host_tokens=384)
    prefill(desk, new("a", range(100, 114), 40))
    desk.do(DecodeStepOp(token=901))
    prefill(desk, new("b", range(200, 212), 40))
    for step in range(steps):
        desk.do(DecodeStepOp(token=902 + step))
    desk.ack_write()
    rest = range(5000, 5000 + desk.account().available)
    desk.insert(rest)
    desk.ack_write()
    desk.lock("others", rest)
    return desk


@cache
def tiers(
    share: float,
    host: int,
    *,
    link: float = 50e9,
    rate: float = 1.1,
    pool: int = 65_536,
) -> Tallies:
    """Serve 150 prompts of 8,192 tokens, of which a share is one of 30 prefixes.

    Units: tokens of both pools, bytes a second, requests a second.
    """
    asks = shared_system(
        150, poisson(rate), length=8192, outputs=200, share=share, groups=30
    )
    knobs: dict[str, Any] = {"tree": "hiradix", "host_tokens": host} if host else {}
    return serve(asks, pool_tokens=pool, page_size=64, link=link, **knobs)


def mean(tallies: Tallies) -> float:
    """Return the mean of TTFT in seconds."""
    ttfts = [r.ttft for r in tallies.done if r.ttft is not None]
    return sum(ttfts) / len(ttfts) / SECOND
