"""Which run does notebook 04, Eviction on demand, play?

A full pool of cache, and one slot that is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any, NamedTuple

from ...config import EvictionPolicy
from ...rules import Rules
from ...run.workbench import Workbench

A = range(100, 112)
B = range(200, 207)
C = range(300, 311)
D = range(400, 406)
LONG_D = range(400, 410)
LEAVES = {"A": A, "B": B, "C": C, "D": D}


def one_missing(**knobs: Any) -> Workbench:
    """Four prefixes fill L1; somebody wants one slot, and then twelve.

    A (12 tokens) is hit twice, B (7) is the coldest, C (11) the newest; below D (6)
    hangs a child of 4. There is no L2. `knobs` change the engine's.

    Source: SGLang 0.5.23, mem_cache/unified_radix_cache.py, evict_for_alloc; 0.5.14,
    mem_cache/common.py.
    """
    bench = Workbench(
        Rules.named(knobs.pop("rules", "0.5.23")),
        name="one missing",
        **{"pool_tokens": 40, "tree": "radix", **knobs},
    )
    bench.insert(B)
    bench.insert(A)
    bench.insert(A)
    bench.insert(D)
    bench.insert(LONG_D)
    bench.insert(C)
    bench.insert(range(500, 501))
    bench.insert(range(600, 612))
    return bench


class Wish(NamedTuple):
    """Sizes of the leaves, coldest first, free slots, and how many are asked for."""

    sizes: tuple[int, ...]
    free: int
    need: int


def some_wish(random: Random) -> Wish:
    """Return a wish at random that falls inside a leaf, not on its edge."""
    sizes = tuple(random.sample(range(6, 17), 4))
    free = random.randint(2, 5)
    missing = sizes[0] + random.randint(2, sizes[1] - 2)
    return Wish(sizes, free, free + missing)


def granted(wish: Wish, rules: str) -> Workbench:
    """Return the run in which the wish comes true."""
    bench = Workbench(
        Rules.named(rules), name="a wish", tree="radix",
        pool_tokens=sum(wish.sizes) + wish.free,
    )  # fmt: skip
    for number, size in enumerate(wish.sizes):
        bench.insert(range(1000 * number, 1000 * number + size))
    bench.insert(range(9000, 9000 + wish.need))
    return bench


NAMES = "ABCDE"


def history(random: Random, policy: EvictionPolicy) -> tuple[Workbench, list[str]]:
    """Return an engine after a random history of five leaves, all of them evicted in
    the end, and what happened, in words."""
    bench = Workbench(
        Rules.v0_5_23(), name="a history", tree="radix", pool_tokens=96,
        eviction_policy=policy,
    )  # fmt: skip
    starts = {name: 1000 * number for number, name in enumerate(NAMES, 1)}
    sizes = {name: random.randint(3, 9) for name in NAMES}
    told: list[str] = []
    for name in random.sample(NAMES, len(NAMES)):
        seen = [word.lstrip("+") for word in told]
        told += [f"+{name}", random.choice([*seen, name])]
    for name in (word.lstrip("+") for word in told):
        bench.insert(range(starts[name], starts[name] + sizes[name]))
    bench.evict(96)
    return bench, told


def ranked(told: Sequence[str], policy: EvictionPolicy) -> list[str]:
    """Return the leaves of such a history in the order in which a policy lets them go.

    >>> ranked(["+B", "B", "+A"], "lru"), ranked(["+B", "B", "+A"], "lfu")
    (['B', 'A'], ['A', 'B'])
    """
    names = [word.lstrip("+") for word in told]
    last = {name: at for at, name in enumerate(names)}
    keys: dict[EvictionPolicy, Callable[[str], Any]] = {
        "lru": last.__getitem__,
        "lfu": lambda name: (names.count(name), last[name]),
        "fifo": names.index,
    }
    return sorted(last, key=keys[policy])


SCENARIOS: dict[str, Callable[..., Workbench]] = {"one_missing": one_missing}
PICTURES = (("04-full.svg", "one_missing", "insert", "pool", 7),)
