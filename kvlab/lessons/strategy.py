"""What does a learner's eviction strategy run in?

`judge` lets an engine evict all leaves of random histories by slru and sorts them by
the learner's key: the orders must be the same.
Left out: leaves that hang below each other.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any, NamedTuple

from ..record import events as ev
from ..views.theme import Words
from .kinds import Flaw
from .questions import moment, state_at
from .scenarios.nb04 import history
from .victims import is_victim


class Leaf(NamedTuple):
    """A leaf as the exercise shows it. `last_access` and `created` are a clock's."""

    node: int
    tokens: int
    hits: int
    last_access: int
    created: int


def judge(function: Callable[..., Any], random: Random) -> Flaw | None:
    """Return what is wrong with a key, None if nothing was found."""
    for _ in range(8):
        trace = history(random, "slru")[0].trace
        start = moment(trace, lambda e: isinstance(e, ev.Evict))
        leaves = [
            Leaf(n.id, len(n.tokens), n.hit_count, n.time, n.created)
            for n in state_at(trace, start).nodes.values()
        ]
        engine = [e.node for e in trace.events if isinstance(e, ev.Victim)]
        yours = [leaf.node for leaf in sorted(leaves, key=function)]
        for number, (theirs, mine) in enumerate(zip(engine, yours, strict=True), 1):
            if mine != theirs:
                return Flaw(Words(
                    f"victim {number}: the engine takes n{theirs}, yours n{mine}.",
                    f"第 {number} 个：引擎取 n{theirs}，你的是 n{mine}。"),
                    trace, moment(trace, partial(is_victim, theirs)))  # fmt: skip
    return None
