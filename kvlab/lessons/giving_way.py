"""What does a learner's choice of victims run in?

`judge` fills vLLM pools at random, lets the function choose who is preempted, gives
their blocks back in the pool itself and counts what came free and what is lost.
Left out: what of the freed blocks is hit again before somebody takes them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from random import Random
from typing import Any, NamedTuple

from ..run.block_script import RequestSpec
from ..views.theme import Words
from .kinds import Flaw
from .stages import Blocks

SYSTEM = 8
"""Tokens of the prompt that some requests share with one that is never chosen."""


class Running(NamedTuple):
    """A running request, in the order of admission, as the exercise shows it.

    `own` blocks it alone holds: they come free. The others stay where they are, for
    their other holder, and are found again. `recompute` tokens lie in its own blocks.
    """

    id: str
    prompt: int
    outputs: int
    own: int
    recompute: int


def full(random: Random) -> tuple[Blocks, list[Running]]:
    """Return an engine under way and those of its requests that may be chosen."""
    system = list(range(9000, 9000 + SYSTEM))
    specs = [RequestSpec("keeper", [*system, 1], out=99)]
    for at, id in enumerate(random.sample(("p", "q", "r", "s", "t"), 5), 1):
        shared = system if random.random() < 0.4 else []
        own = [1000 * at + token for token in range(random.randint(5, 30))]
        specs.append(RequestSpec(id, [*shared, *own], out=99, arrival=at))
    engine = Blocks(*specs, num_gpu_blocks=99, called="who gives way")
    for _ in range(random.randint(7, 12)):
        engine.step()
    return engine, [_seen(engine, id) for id in engine.state.running[1:]]


def _seen(engine: Blocks, id: str) -> Running:
    request, tier = engine.state.requests[id], engine.state.tiers["L1"]
    own = sum(tier.ref_cnt[block] == 1 for block in request.blocks)
    kept = len(request.blocks) - own
    size = engine.trace.header.config.block_size
    return Running(
        id, request.prompt_len, request.outputs, own, request.computed - kept * size
    )


def least(running: Sequence[Running], need: int) -> int:
    """Return the fewest tokens that must be recomputed for `need` blocks."""
    return min(
        sum(request.recompute for request in group)
        for size in range(1, len(running) + 1)
        for group in combinations(running, size)
        if sum(request.own for request in group) >= need
    )


def judge(function: Callable[..., Any], random: Random) -> Flaw | None:
    """Return what is wrong with a choice, None if nothing was found."""
    for _ in range(12):
        engine, running = full(random)
        need = random.randint(1, sum(request.own for request in running) - 3)
        chosen = [str(id) for id in function(list(running), need) or ()]
        at = len(engine.trace)
        pool, known = engine.runner.manager.pool, {each.id: each for each in running}
        if not set(chosen) <= known.keys() or len(set(chosen)) < len(chosen):
            return Flaw(Words(
                f"Return ids of running requests, each once; yours: {chosen}.",
                f"应返回运行中请求的 id，各一次；你的是 {chosen}。"))  # fmt: skip
        before = pool.num_free
        for id in chosen:
            engine.runner.manager.free(id)
        freed = pool.num_free - before
        lost, best = sum(known[id].recompute for id in chosen), least(running, need)
        if freed < need:
            return Flaw(Words(
                f"{need} blocks are needed, {chosen} free {freed}.",
                f"需要 {need} 块，{chosen} 只腾出 {freed} 块。"),
                engine.trace, at)  # fmt: skip
        if lost > best:
            return Flaw(Words(
                f"{need} blocks are needed: {chosen} cost {lost} tokens of recompute, "
                f"{best} would do. Running: {running}",
                f"需要 {need} 块：{chosen} 要重算 {lost} 个 token，最少只要 {best} 个。"
                f"运行中：{running}"), engine.trace, at)  # fmt: skip
    return None
