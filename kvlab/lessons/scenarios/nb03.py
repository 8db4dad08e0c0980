"""Which runs does notebook 03, "Free" in vLLM, play?

A request that ends in a pool of ten blocks, its twin that comes after it, and one that
needs all the room; and a crowd with and without a watermark.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple

from ...record.trace import BlockTrace
from ...run.block_script import RequestSpec
from ...run.workbench import Workbench
from ..stages import Blocks

SMALL: dict[str, Any] = {"num_gpu_blocks": 11, "block_size": 4}
"""Ten usable blocks of four tokens; block 0 is the null block."""
PROMPT = 10


def free_is_not_empty(**knobs: Any) -> Blocks:
    """a (10 tokens in, 2 out) ends at step 1; b, the same prompt, comes at step 3; c
    (34 tokens) at step 6, and needs nine of the ten blocks. `knobs` change the
    engine's.

    Source: vLLM 0.33.0, v1/core/block_pool.py, free_blocks, touch, get_new_blocks.
    """
    specs = (
        RequestSpec("a", list(range(PROMPT)), out=2),
        RequestSpec("b", list(range(PROMPT)), out=2, arrival=3),
        RequestSpec("c", list(range(100, 134)), out=2, arrival=6),
    )
    engine = Blocks(*specs, called="free is not empty", **(SMALL | knobs))
    engine.run()
    return engine


def crowd(**knobs: Any) -> Blocks:
    """Four requests for ten blocks, all there at once; `knobs` change the engine's.

    Source: vLLM 0.33.0, v1/core/kv_cache_manager.py, allocate_slots, watermark_blocks.
    """
    sizes = (("a", 4, 4), ("b", 12, 11), ("c", 20, 4), ("d", 4, 3))
    specs = [
        RequestSpec(id, list(range(1000 * at, 1000 * at + prompt)), out=out)
        for at, (id, prompt, out) in enumerate(sizes, 1)
    ]
    engine = Blocks(*specs, called="crowd", **(SMALL | knobs))
    engine.run()
    return engine


class Dump(NamedTuple):
    """A pool under way: its run, the moment, and each block as (ref_cnt, has a hash).

    The first is the null block.
    """

    trace: BlockTrace
    step: int
    blocks: tuple[tuple[int, bool], ...]


def some_dump(random: Random) -> Dump:
    """Return a pool at random in which blocks are held, cached, shared and blank."""
    size = random.randint(8, 12)
    first = [1000 + token for token in range(size)]
    specs = [
        RequestSpec("a", first, out=2),
        RequestSpec("b", first, out=12, arrival=3),
        RequestSpec("c", first, out=12, arrival=4),
        RequestSpec("d", list(range(random.randint(5, 8))), out=2, arrival=4),
    ]
    engine = Blocks(*specs, called="a dump", **SMALL)
    for _ in range(7):
        engine.step()
    tier = engine.state.tiers["L1"]
    blocks = [
        (tier.ref_cnt.get(block, 0), block in tier.names)
        for block in range(tier.num_blocks)
    ]
    return Dump(engine.trace, len(engine.trace), tuple(blocks))


class Leaving(NamedTuple):
    """Two requests of two full blocks and a part each, in a pool of six: whose blocks
    came free first, and whose prompt was asked for once more (or nobody's)."""

    first: str
    again: str


HELD = {"a": (1, 2, 3), "b": (4, 5, 6)}
"""The blocks of each, in the order of the prompt; the last is partly filled."""


def some_leaving(random: Random) -> tuple[Blocks, Leaving]:
    """Return a run in which at last one request takes all six blocks."""
    leaving = Leaving(random.choice("ab"), random.choice(("a", "b", "nobody")))
    prompts = {id: list(range(at, at + 10)) for id, at in (("a", 0), ("b", 100))}
    specs = [
        RequestSpec(id, prompt, out=1 if id == leaving.first else 2)
        for id, prompt in prompts.items()
    ]
    if leaving.again in prompts:
        specs.append(RequestSpec("again", prompts[leaving.again], out=1, arrival=3))
    specs.append(RequestSpec("c", list(range(200, 224)), out=1, arrival=5))
    engine = Blocks(*specs, called="who leaves", num_gpu_blocks=7)
    engine.run()
    return engine, leaving


SCENARIOS: dict[str, Callable[..., Workbench]] = {}
BLOCK_PICTURES = (("03-train.svg", free_is_not_empty, 1, "pool"),)
