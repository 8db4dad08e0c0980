"""Which run does notebook 02, Three states, five terms, play?

One request lives, another finds its prompt in the tree; every slot moves once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...rules import Rules
from ...run.script import DecodeOp, RequestFinishOp, RequestStartOp
from ...run.workbench import Workbench

PROMPT = list(range(100, 106))
STEPS = 3


def one_life(**knobs: Any) -> Workbench:
    """r1 brings 6 tokens, answers for three decode steps, finishes; r2 brings the same
    6 and 2 more, and finishes. L1 has 24 slots, there is no L2.
    """
    settings: dict[str, Any] = {
        "rules": Rules.v0_5_14(), "name": "one life", "pool_tokens": 24,
        "tree": "radix",
    }  # fmt: skip
    bench = Workbench(**{**settings, **knobs})
    bench.do(RequestStartOp("r1", PROMPT, max_new=8))
    for step in range(STEPS):
        bench.do(DecodeOp("r1", token=7 + step))
    bench.do(RequestFinishOp("r1"))
    bench.do(RequestStartOp("r2", [*PROMPT, 1, 2], max_new=4))
    bench.do(RequestFinishOp("r2"))
    return bench


SCENARIOS: dict[str, Callable[..., Workbench]] = {"one_life": one_life}
PICTURES = (("02-before.svg", "one_life", "decode", "pool"),)
