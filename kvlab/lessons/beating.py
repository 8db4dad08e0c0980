"""Does a learner's order of eviction beat LRU?

`judge` lets both fill the same leaf cache with the same made-up trace. The learner's
key must hit one point more.
Left out: the cache itself (block_caches.py), an engine's tree and its locks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from random import Random
from typing import Any

from ..record.request_trace import TracedRequest
from ..views.theme import Words
from .block_caches import Procedure, count, leaf_cache, leaf_lru
from .kinds import Flaw
from .scenarios.nb12 import made_up

BLOCKS = 300
TRACES = 8
POINT = 0.01


def by(key: Callable[..., Any]) -> Procedure:
    """Return the leaf cache that evicts by this key, smallest first."""
    return lambda requests, capacity: leaf_cache(requests, capacity, key)


@cache
def _given(seed: int) -> tuple[Sequence[TracedRequest], float]:
    """Return a made-up trace, and LRU's hit ratio on it."""
    requests = made_up(seed)
    return requests, count(leaf_lru, requests, BLOCKS).ratio


def judge(function: Callable[..., Any], random: Random) -> Flaw | None:
    """Return what is wrong with a key, None if it beats LRU by a point."""
    requests, lru = _given(random.randrange(TRACES))
    yours = count(by(function), requests, BLOCKS).ratio
    if yours - lru >= POINT:
        return None
    gain = 100 * (yours - lru)
    return Flaw(Words(
        f"{BLOCKS} blocks: LRU hits {lru:.1%}, yours {yours:.1%}, {gain:+.1f} points. "
        "One or more are wanted.",
        f"{BLOCKS} 块：LRU 命中 {lru:.1%}，你的 {yours:.1%}，"
        f"相差 {gain:+.1f} 个百分点，需要至少 +1。"))  # fmt: skip
