"""Which runs does notebook 05, Who said no?, play?

In SGLang, five requests of which the last waits beside 37 free slots; in vLLM, eight
requests against each of the three lines.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...block_config import BlockConfig
from ...record import block_events as be
from ...rules import Rules
from ...run.block_run import run_scenario
from ...run.block_script import RequestSpec, Scenario
from ...run.script import DecodeStepOp, NewRequest, RoundOp
from ...run.workbench import Workbench

PROMPT = 8


def who_said_no(**knobs: Any) -> Workbench:
    """r1, r2, r3 run, each with 9 or 8 tokens still to come; r4 and r5 arrive.

    L1 has 64 slots of which 37 are available then, L2 128 that nobody uses. 0.7 of
    what running requests may still write is promised to them.
    """
    settings: dict[str, Any] = {
        "rules": Rules.v0_5_14(), "name": "who said no", "pool_tokens": 64,
        "host_tokens": 128, "write_policy": "write_back", "new_token_ratio": 0.7,
    }  # fmt: skip
    bench = Workbench(**{**settings, **knobs})
    bench.do(RoundOp([_request(1, 10), _request(2, 10)]))
    bench.do(RoundOp([_request(3, 10)]))
    bench.do(DecodeStepOp())
    bench.do(RoundOp([_request(4, 6), _request(5, 6)]))
    return bench


def _request(number: int, max_new: int) -> NewRequest:
    tokens = range(100 * number, 100 * number + PROMPT)
    return NewRequest(f"r{number}", list(tokens), max_new=max_new)


def three_lines(**knobs: Any) -> dict[str, Any]:
    """Run eight requests of 16 tokens for one step of vLLM's scheduler.

    Return how many got in, and which of the three lines kept the next one out: blocks,
    seats (max_num_seqs) or tokens (max_num_batched_tokens).
    """
    settings = {"num_gpu_blocks": 64, "block_size": 4, **knobs}
    config = BlockConfig.of(settings)
    scenario = Scenario(
        name="three lines", mode="sched", config=config, max_steps=1,
        requests=[
            RequestSpec(f"r{i}", list(range(100 * i, 100 * i + 16)), 4)
            for i in range(1, 9)
        ],
    )  # fmt: skip
    events = run_scenario(scenario).events
    into = [event for event in events if isinstance(event, be.Schedule)]
    if any(isinstance(event, be.Stop) for event in events):
        line = "blocks"
    elif len(into) == config.max_num_seqs:
        line = "seats"
    else:
        line = "tokens" if len(into) < 8 else "nobody"
    return {"in": len(into), "line": line}


SCENARIOS: dict[str, Callable[..., Workbench]] = {"who_said_no": who_said_no}
PICTURES = (("05-before.svg", "who_said_no", "round", "pool", 3),)
