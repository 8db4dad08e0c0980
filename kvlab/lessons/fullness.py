"""What does a learner's usage of a block pool run in?

`judge` shows the function every block of random pools under way, the null block among
them, and asks for what the engine reports as `kv_cache_usage_perc`.
Left out: the scrape (observe/expositions.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from numbers import Real
from random import Random
from typing import Any, NamedTuple

from ..record.trace import BlockTrace
from ..run.block_script import RequestSpec
from ..views.theme import Words
from .kinds import Flaw
from .stages import Blocks


class Block(NamedTuple):
    """A block as the exercise shows it; the null block has ref_cnt 0."""

    id: int
    ref_cnt: int
    has_hash: bool
    is_null: bool


def pools(random: Random) -> Iterator[tuple[list[Block], float, BlockTrace, int]]:
    """Yield blocks, the engine's usage, the run and the moment: first a pool of the
    null block alone, then random ones after each step."""
    alone = Blocks(num_gpu_blocks=1, called="a null block")
    yield _blocks(alone), alone.runner.manager.pool.usage, alone.trace, 0
    specs = [
        RequestSpec(id, [random.randint(0, 1)] * random.randint(5, 20), out=4,
                    arrival=random.randint(0, 6))
        for id in "abcd"
    ]  # fmt: skip
    engine = Blocks(*specs, num_gpu_blocks=random.randint(12, 24), called="a pool")
    while not engine.runner.is_over:
        engine.step()
        usage = engine.runner.manager.pool.usage
        yield _blocks(engine), usage, engine.trace, len(engine.trace)


def _blocks(engine: Blocks) -> list[Block]:
    tier = engine.state.tiers["L1"]
    return [
        Block(id, tier.ref_cnt.get(id, 0), id in tier.names, id == 0)
        for id in range(tier.num_blocks)
    ]


def judge(function: Callable[..., Any], random: Random) -> Flaw | None:
    """Return what is wrong with a usage, None if nothing was found."""
    for blocks, usage, trace, step in pools(random):
        said = function(blocks)
        if isinstance(said, Real) and math.isclose(said, usage, abs_tol=1e-9):
            continue
        held = sum(block.ref_cnt > 0 for block in blocks)
        return Flaw(Words(
            f"{len(blocks)} blocks with the null block, {held} of them held: "
            f"the engine reports {usage:.4f}, yours {said!r}.",
            f"连 null block 共 {len(blocks)} 块，{held} 块被持有："
            f"引擎报告 {usage:.4f}，你的是 {said!r}。"), trace, step)  # fmt: skip
    return None
