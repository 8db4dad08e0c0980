"""Which small runs does the course play?

Each is a function that returns a `Workbench` whose trace tells one story.
"""

from __future__ import annotations

from collections.abc import Callable

from ..rules import Rules
from ..run.workbench import Workbench

A = range(100, 112)
B = range(200, 212)
C = range(300, 316)
D = range(400, 416)


def three_fates(write_policy: str = "write_through") -> Workbench:
    """Three leaves fill L1 and are evicted; L2 has room for all but one token.

    A (12 tokens) is inserted and backed up. B (12) is a middle chunk of a prefill,
    which counts no hit, so write_through does not back it up. C (16) is inserted and
    backed up. All are evicted; A is asked for once more; D (16) then wants a place on
    the host, where the coldest must go.

    Source: SGLang 0.5.14, mem_cache/hiradix_cache.py, evict and evict_host.
    """
    bench = Workbench(
        Rules.v0_5_14(),
        "three fates",
        pool_tokens=40,
        host_tokens=41,
        write_policy=write_policy,
    )
    bench.insert(A)
    bench.insert(B, chunked=True)
    bench.insert(C)
    bench.ack_write()
    bench.evict(40)
    bench.match(A)
    bench.insert(D)
    bench.ack_write()
    return bench


SCENARIOS: dict[str, Callable[[], Workbench]] = {"three_fates": three_fates}
"""The runs that the command line knows by name."""
