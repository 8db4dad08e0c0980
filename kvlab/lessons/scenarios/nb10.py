"""Which runs does notebook 10, When even decode does not fit, play?

Three requests fill L1 while a fourth waits, in SGLang and in vLLM; both engines on a
clock under too much load; a request that is preempted before its first token.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from random import Random
from typing import Any, Literal, NamedTuple

from ...block_config import BlockConfig
from ...cache.key import as_tokens
from ...config import EngineConfig
from ...record import block_events as be
from ...record import events as ev
from ...record.block_replay import block_states
from ...record.trace import BlockHeader, BlockTrace, Trace
from ...rules import Rules
from ...run.accelerators import accelerator
from ...run.block_script import RequestSpec
from ...run.block_timed_engine import TimedBlockEngine
from ...run.cost import Cost
from ...run.generators import poisson, unique
from ...run.model_shapes import model_shape
from ...run.script import DecodeStepOp, NewRequest, RoundOp
from ...run.tallies import Record, Tallies
from ...run.timed_engine import TimedEngine
from ...run.workbench import Workbench
from ...run.workload import Ask, OpenLoop
from ..stages import Blocks

SIZES = {"a": 30, "b": 46, "c": 14}
"""Prompts of the three that run, in the order in which they came."""
LATE, MAX_NEW, POOL, BLOCK = 20, 5, 100, 4
"""The prompt that waits; outputs of each; slots of L1; tokens of a block."""


def prompt_of(id: str) -> list[int]:
    """Return the prompt of a request of this story; no two begin alike."""
    start = 1000 * ("a", "b", "c", "late").index(id)
    return list(range(start, start + SIZES.get(id, LATE)))


def retract(**knobs: Any) -> Workbench:
    """SGLang: a, b and c fill L1 with their outputs; then decode lacks a slot.

    The ratio stands near its floor, as it does after a long decode. The run goes on
    until everybody is done. `knobs` change the engine's.

    Source: SGLang 0.5.23, managers/schedule_batch.py, retract_decode.
    """
    settings: dict[str, Any] = {
        "rules": Rules.v0_5_23(), "name": "retract", "pool_tokens": POOL,
        "tree": "radix", "new_token_ratio": 0.1,
    }  # fmt: skip
    bench = Workbench(**{**settings, **knobs})
    for id in (*SIZES, "late"):
        bench.do(RoundOp([NewRequest(id, prompt_of(id), max_new=MAX_NEW)]))
        bench.ack_write()
    while bench.state.running:
        bench.do(DecodeStepOp())
        bench.ack_write()
        if bench.state.waiting:
            bench.do(RoundOp([]))
            bench.ack_load()
    return bench


def preempt(**knobs: Any) -> Blocks:
    """vLLM: the same requests, all but late there at once; `knobs` change the engine's.

    Source: vLLM 0.33.0, v1/core/sched/scheduler.py, schedule, _preempt_request.
    """
    specs = [
        RequestSpec(id, prompt_of(id), out=MAX_NEW, arrival=int(id == "late"))
        for id in (*SIZES, "late")
    ]
    settings = {"num_gpu_blocks": POOL // BLOCK + 1, "block_size": BLOCK}
    engine = Blocks(*specs, called="preempt", **(settings | knobs))
    engine.run()
    return engine


# --- on a clock


@cache
def served(engine: Literal["sglang", "vllm"]) -> Tallies:
    """Serve 60 prompts of 300 tokens, 400 outputs each, in a pool of 4,000 tokens."""
    asks = OpenLoop(unique(60, poisson(6.0), length=300, outputs=400))
    if engine == "sglang":
        config = EngineConfig(pool_tokens=4000, tree="radix", chunked_prefill_size=1024)
        timed: Any = TimedEngine(config, Rules.v0_5_23(), _cost())
    else:
        blocks = BlockConfig(
            num_gpu_blocks=251, max_num_batched_tokens=1024, hash_algo="chain64"
        )
        timed = TimedBlockEngine(blocks, _cost())
    timed.run(asks)
    tallies: Tallies = timed.tallies
    return tallies


def _cost() -> Cost:
    return Cost(model_shape("llama-3-70b"), accelerator("h100"), tp=8)


class Clocked(NamedTuple):
    """What a clock read of one request, in nanoseconds, and what it was booked as."""

    arrived: int
    admitted: int
    preempted: int
    again: int
    first: int
    record: Record
    trace: BlockTrace


def preempted_in_prefill(random: Random) -> Clocked:
    """Return a vLLM run whose `young` is preempted before its first token: it is
    computed in small pieces while `old` writes on."""
    config = BlockConfig(
        num_gpu_blocks=17, block_size=4, max_num_batched_tokens=20, max_num_seqs=8,
        long_prefill_token_threshold=4, max_model_len=64, hash_algo="chain64",
    )  # fmt: skip
    trace = BlockTrace(BlockHeader(name="preempted in prefill", config=config))
    engine = TimedBlockEngine(config, _cost(), emit=trace)
    late = random.randint(1, 9) * 1_000_000
    old = as_tokens(range(random.randint(18, 20)))
    young = as_tokens(range(100, 100 + random.randint(38, 40)))
    engine.run(OpenLoop([Ask("old", 0, old, 36), Ask("young", late, young, 3)]))
    record = next(r for r in engine.tallies.done if r.id == "young")
    return _clocked(record, trace)


def _clocked(record: Record, trace: BlockTrace) -> Clocked:
    runs: list[int] = []
    preempted = first = None
    for index, event, state in block_states(trace):
        match event:
            case be.Run(request="young"):
                runs.append(_begin(trace, index))
            case be.Preempt(request="young"):
                preempted = state.now if preempted is None else preempted
    first = record.arrival + (record.ttft or 0)
    assert preempted is not None and len(runs) == 2, "young was preempted once"
    return Clocked(record.arrival, runs[0], preempted, runs[1], first, record, trace)


def _begin(trace: BlockTrace, index: int) -> int:
    """Return when the step of that event began to compute."""
    forward = next(e for e in trace.events[index:] if isinstance(e, ev.Forward))
    return forward.begin


# --- who gives way


class Full(NamedTuple):
    """Four requests when decode lacks a slot: (id, priority, prompt, outputs) in the
    order of their coming, and the run of each engine."""

    told: tuple[tuple[str, int, int, int], ...]
    sglang: Trace
    vllm: BlockTrace


def some_full(random: Random, policy: str) -> Full:
    """Return four requests at random; vLLM serves them under that policy."""
    prompts = random.sample(range(8, 28), 4)
    arrivals = sorted(random.choices(range(3), k=4))
    priorities = random.sample(range(1, 9), 4)
    ids = [f"r{number}" for number in range(1, 5)]
    desk = _crowded(dict(zip(ids, zip(prompts, arrivals, strict=True), strict=True)))
    specs = [
        RequestSpec(id, _tokens(at, size), out=16, arrival=arrival, priority=priority)
        for at, (id, size, arrival, priority) in enumerate(
            zip(ids, prompts, arrivals, priorities, strict=True)
        )
    ]
    outputs = [desk.state.requests[id].outputs for id in ids]
    told = tuple(zip(ids, priorities, prompts, outputs, strict=True))
    desk.do(DecodeStepOp())
    return Full(told, desk.trace, _filled(specs, policy).trace)


def _tokens(at: int, size: int) -> list[int]:
    return list(range(1000 * at, 1000 * at + size))


def _crowded(asks: dict[str, tuple[int, int]]) -> Workbench:
    """Return SGLang after four rounds, the rest of its L1 locked."""
    desk = Workbench(
        Rules.v0_5_23(), name="who gives way", pool_tokens=256, tree="radix"
    )
    for now in range(4):
        arrived = [
            NewRequest(id, _tokens(at, size), max_new=16)
            for at, (id, (size, arrival)) in enumerate(asks.items())
            if arrival == now
        ]
        if arrived:
            desk.do(RoundOp(arrived))
        desk.do(DecodeStepOp())
    rest = _tokens(9, desk.account().available)
    desk.insert(rest)
    desk.lock("others", rest)
    return desk


def _filled(specs: list[RequestSpec], policy: str) -> Blocks:
    """Return vLLM, run to its first preemption in a pool that the four fill."""
    roomy = Blocks(*specs, num_gpu_blocks=99, policy=policy)
    used = [roomy.step()["after_schedule"]["used"] for _ in range(12)]
    step = next(at for at in range(5, 12) if used[at] > used[at - 1])
    engine = Blocks(
        *specs, num_gpu_blocks=used[step - 1] + 1, policy=policy,
        called="who gives way",
    )  # fmt: skip
    while not engine.step()["preempted"]:
        pass
    return engine


SCENARIOS: dict[str, Callable[..., Workbench]] = {"retract": retract}
BLOCK_PICTURES = (("10-full.svg", preempt, 3, "queue"),)
