"""Which run does notebook 00, Thirty seconds, play?

Five requests fill L1; the sixth waits while L2 is empty.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...rules import Rules
from ...run.script import DecodeStepOp, NewRequest, RoundOp
from ...run.workbench import Workbench

ROUNDS = (("r1", "r2", "r3"), ("r4",), ("r5",), ("r6", "r7"))


def thirty_seconds(prompt: int = 4, max_new: int = 2, **knobs: Any) -> Workbench:
    """L1 has 24 slots, L2 48 that nobody uses: write_back writes when it evicts.

    Five requests of `prompt` tokens are admitted and run. r6 and r7 arrive: r6 wants
    4 + 2 + 1 slots where 4 are left. At the next decode step one of the five has to
    give way, and L2 gets its first bytes; then the others finish and all get in.
    `knobs` change the engine's.
    """
    bench = Workbench(
        Rules.v0_5_14(),
        name="thirty seconds",
        **{"pool_tokens": 24, "host_tokens": 48, "write_policy": "write_back", **knobs},
    )
    for names in ROUNDS:
        bench.do(RoundOp([_request(name, prompt, max_new) for name in names]))
    bench.do(DecodeStepOp())
    bench.do(RoundOp())
    bench.do(DecodeStepOp())
    bench.do(RoundOp())
    return bench


def _request(name: str, prompt: int, max_new: int) -> NewRequest:
    start = 100 * int(name[1:])
    return NewRequest(name, list(range(start, start + prompt)), max_new=max_new)


SCENARIOS: dict[str, Callable[..., Workbench]] = {"thirty_seconds": thirty_seconds}
