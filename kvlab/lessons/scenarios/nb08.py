"""Which run does notebook 08, The way back, play?

A chain on L2 that is wanted on L1, first without room for all of it, then with.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any, NamedTuple

from ...record import events as ev
from ...record.trace import Trace
from ...rules import Rules
from ...run.script import NewRequest, RoundOp
from ...run.workbench import Workbench
from ..questions import moment

P = range(100, 118)
P1, P2, P3 = range(100, 106), range(106, 113), range(113, 118)
S = range(200, 204)
R = range(300, 308)


def half_a_chain(**knobs: Any) -> Workbench:
    """A prompt of 18 lies with 6 tokens on L1 and 12 on L2, in two nodes; L1 has 6 free
    slots, S (4) can be evicted, R (8) is locked. The 12 are wanted; then R is let go,
    and a request comes for the prompt and one token more.

    P is inserted, copied, and cut by two matches; its last two nodes are evicted. S and
    R are middle chunks, which count no hit and have no copy. `knobs` change the
    engine's.

    Source: SGLang 0.5.14, mem_cache/hiradix_cache.py, load_back.
    """
    bench = Workbench(
        Rules.v0_5_14(),
        name="half a chain",
        **{"pool_tokens": 24, "host_tokens": 48, **knobs},
    )
    bench.insert(P)
    bench.ack_write()
    bench.match(P1)
    bench.match([*P1, *P2])
    bench.evict(len(P2) + len(P3))
    bench.insert(S, chunked=True)
    bench.insert(R, chunked=True)
    bench.ack_write()
    bench.lock("r", R)
    bench.load_back(P)
    bench.unlock("r")
    bench.do(RoundOp([NewRequest("q", [*P, 900], max_new=2, first_out=901)]))
    bench.ack_load()
    return bench


def loaded_at_first(trace: Trace) -> int:
    """Return how many tokens the run's first load_back brought."""
    start = moment(trace, lambda e: isinstance(e, ev.LoadBack))
    end = moment(trace, lambda e: isinstance(e, ev.Step), start)
    loads = [e for e in trace.events[start:end] if isinstance(e, ev.Load)]
    return sum(len(e.pages) for e in loads)


class Sizes(NamedTuple):
    """Tokens of the chain's three nodes, how many of the last a prompt shares, and how
    many of its own follow."""

    a: int
    b: int
    c: int
    x: int
    own: int


def some_sizes(random: Random) -> Sizes:
    """Return sizes at random; what is wanted from L2 is 9 or less, or 12 or more."""
    b, x = random.choice(((4, 3), (5, 4), (3, 5), (9, 4), (11, 6), (8, 7)))
    c = x + random.randint(2, 4)
    return Sizes(random.randint(6, 11), b, c, x, random.randint(2, 5))


def asked_for(sizes: Sizes) -> Workbench:
    """Return the run in which a prompt finds its prefix on both tiers and is served."""
    a, b, c, x, own = sizes
    bench = Workbench(
        Rules.v0_5_14(), name="asked for", pool_tokens=96, host_tokens=128,
    )  # fmt: skip
    whole = range(1000, 1000 + a + b + c)
    behind(bench, whole, (a, b, c))
    prompt = [*whole[: a + b + x], *range(9000, 9000 + own)]
    bench.do(RoundOp([NewRequest("q", prompt, max_new=2, first_out=901)]))
    return bench


def behind(bench: Workbench, whole: range, sizes: Sequence[int]) -> None:
    """Put a chain of such sizes into the engine: its first node stays on L1, the others
    are on L2 alone. Changes: the engine and its trace."""
    bench.insert(whole)
    bench.ack_write()
    at = 0
    for size in sizes[:-1]:
        at += size
        bench.match(whole[:at])
    bench.evict(sum(sizes[1:]))


def checked(tokens: int, quota: int | None = None) -> Workbench:
    """Return an engine in which so many tokens behind 6 on L1 are wanted, with room for
    them, and a quota where one is given."""
    bench = Workbench(
        Rules.v0_5_14(), name="checked", pool_tokens=64, host_tokens=128,
    )  # fmt: skip
    whole = range(1000, 1006 + tokens)
    behind(bench, whole, (6, tokens))
    bench.load_back(whole, quota)
    return bench


SCENARIOS: dict[str, Callable[..., Workbench]] = {"half_a_chain": half_a_chain}
PICTURES = (("08-half.svg", "half_a_chain", "load_back", "pool"),)
