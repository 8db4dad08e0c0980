"""Which run does notebook 07, Demote or delete, play?

Three leaves that eviction meets in three ways.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...rules import Rules
from ...run.workbench import Workbench

A = range(100, 112)
B = range(200, 212)
C = range(300, 316)
D = range(400, 416)


def three_fates(again: bool = True, **knobs: Any) -> Workbench:
    """Three leaves fill L1 and are evicted; L2 has room for all but one token.

    A (12 tokens) is inserted and backed up. B (12) is a middle chunk of a prefill,
    which counts no hit, so write_through does not back it up. C (16) is inserted and
    backed up. All are evicted; A is asked for once more; D (16) then wants a place on
    the host, where the coldest must go. Without `again` nobody asks for A a second
    time. `knobs` change the engine's.

    Source: SGLang 0.5.14, mem_cache/hiradix_cache.py, evict and evict_host.
    """
    bench = Workbench(
        Rules.v0_5_14(),
        name="three fates",
        **{"pool_tokens": 40, "host_tokens": 41, **knobs},
    )
    bench.insert(A)
    bench.insert(B, chunked=True)
    bench.insert(C)
    bench.ack_write()
    bench.evict(40)
    if again:
        bench.match(A)
    bench.insert(D)
    bench.ack_write()
    return bench


SCENARIOS: dict[str, Callable[..., Workbench]] = {"three_fates": three_fates}
PICTURES = (("07-before.svg", "three_fates", "evict", "pool"),)
