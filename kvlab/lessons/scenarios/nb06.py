"""Which run does notebook 06, When does L2 get its first byte, play?

Six ops that are the same under every write policy.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple

from ...config import EngineConfig, WritePolicy
from ...record.trace import Trace
from ...rules import Rules
from ...run.script import AnyOp, EvictOp, InsertOp, Script
from ...run.whole import run_script
from ...run.workbench import Workbench

A = range(100, 112)
B = range(200, 210)
LONG_B = range(200, 218)


def first_byte(**knobs: Any) -> Workbench:
    """A prompt comes twice, a long one in two chunks; then both must leave L1.

    A (12 tokens) is inserted, its copy acknowledged, and inserted again. B (10) is a
    middle chunk; the last chunk makes it 18. In the end L1 is asked for all it has.
    `knobs` change the engine's.

    Source: SGLang 0.5.14, mem_cache/hiradix_cache.py, _inc_hit_count, write_backup.
    """
    bench = Workbench(
        Rules.v0_5_14(),
        name="first byte",
        **{"pool_tokens": 40, "host_tokens": 48, **knobs},
    )
    bench.insert(A)
    bench.ack_write()
    bench.insert(A)
    bench.ack_write()
    bench.insert(B, chunked=True)
    bench.insert(LONG_B)
    bench.ack_write()
    bench.evict(40)
    return bench


class Sizes(NamedTuple):
    """Tokens of A, of B's first chunk and of the rest of B."""

    a: int
    b: int
    rest: int


def some_sizes(random: Random) -> Sizes:
    """Return sizes at random, no two alike."""
    return Sizes(*random.sample(range(5, 20), 3))


MOMENTS = ("a", "again", "chunk", "rest", "evict")
"""The moments at which `counted` is read."""


def counted(sizes: Sizes, policy: WritePolicy) -> tuple[Workbench, list[int]]:
    """Return the same story with these sizes, and its length after each of MOMENTS."""
    bench = Workbench(
        Rules.v0_5_14(), name="counted", pool_tokens=96, host_tokens=100,
        write_policy=policy,
    )  # fmt: skip
    a, b = range(1000, 1000 + sizes.a), range(2000, 2000 + sizes.b)
    ends = []
    for tokens, chunked in (
        (a, False), (a, False), (b, True), (range(2000, b.stop + sizes.rest), False),
    ):  # fmt: skip
        bench.insert(tokens, chunked=chunked)
        bench.ack_write()
        ends.append(len(bench.trace))
    bench.evict(96)
    return bench, [*ends, len(bench.trace)]


def short_of_l2(sizes: list[int], host: int) -> Trace:
    """Return a run in which prompts grow under an L2 too small for some of them.

    Each size is a node that hangs below the one before. The release would refuse an L2
    smaller than L1 at its start; a script plays it.
    """
    ops: list[AnyOp] = []
    end = 100
    for size in sizes:
        end += size
        ops.append(InsertOp(list(range(100, end))))
    ops.append(EvictOp(1))
    config = EngineConfig(pool_tokens=2 * sum(sizes) + 64, host_tokens=host)
    return run_script(
        Script(name="short of L2", about="", config=config, rules=Rules.v0_5_14(),
               manual_dma=True, ops=ops)
    )  # fmt: skip


SCENARIOS: dict[str, Callable[..., Workbench]] = {"first_byte": first_byte}
PICTURES = (("06-under-way.svg", "first_byte", "ack_write", "pool"),)
