"""What does it cost to evict one leaf, and how does that grow with the leaves?

    python tests/benchmarks/eviction.py

Fills a tree with leaves of one token each, then evicts some one by one: first in a
row, then each after a touch of another leaf, as a running engine does. The real engines
build a heap over all leaves in every call: 50-220 ms at 100,000 leaves.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable

from kvlab.cache.key import as_tokens
from kvlab.cache.radix import RadixCache
from kvlab.cli.parser import Help, Parser
from kvlab.config import EngineConfig
from kvlab.rules import Rules

SIZES = (1_000, 10_000, 100_000)
VICTIMS = 500


def main() -> None:
    """Print microseconds a victim at every size, and the growth from first to last."""
    costs = {}
    for size in SIZES:
        in_a_row = microseconds(grown(size), lambda cache, dice: None)
        costs[size] = microseconds(grown(size), touch)
        print(
            f"{size:,} evictable leaves: {in_a_row:.1f} us a victim in a row, "
            f"{costs[size]:.1f} us with a touch before each"
        )
    growth = costs[SIZES[-1]] / costs[SIZES[0]]
    print(f"{SIZES[-1] // SIZES[0]} times the leaves cost {growth:.1f} times as much")


def grown(size: int) -> RadixCache:
    """Return a cache of so many leaves. Its heap is settled: one victim has gone."""
    config = EngineConfig(pool_tokens=size + 1, tree="radix")
    cache = RadixCache(config, Rules.v0_5_14())
    for token in range(size + 1):
        cache.insert(as_tokens([token]), cache.allocator.alloc(1))
    cache.evict(1)
    return cache


def touch(cache: RadixCache, dice: random.Random) -> None:
    cache.match_prefix(as_tokens([dice.randrange(len(cache.device_leaves))]))


def microseconds(
    cache: RadixCache, before: Callable[[RadixCache, random.Random], None]
) -> float:
    """Return what a victim costs on average; what happens before it is not timed."""
    dice, spent = random.Random(0), 0.0
    for _ in range(VICTIMS):
        before(cache, dice)
        begin = time.perf_counter()
        cache.evict(1)
        spent += time.perf_counter() - begin
    return spent / VICTIMS * 1e6


if __name__ == "__main__":
    Parser(description=__doc__, formatter_class=Help).parse_args()
    main()
