"""Which run does notebook 01, Bytes and ceiling, play?

Requests of one length that all arrive at once; and the bytes of a real pool.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple

from ...capacity import GIB, Capacity, Deployment, capacity
from ...model_table import known_shape
from ...rules import Rules
from ...run.script import NewRequest, RoundOp
from ...run.workbench import Workbench

SHORT, LONG = 12, 28


def seats(prompt: int = SHORT, *, max_new: int = 4, **knobs: Any) -> Workbench:
    """Eight requests arrive at an empty pool; who fits runs, the others wait.

    Each needs `prompt` slots now and `max_new` later. `knobs` change the engine's.
    """
    bench = Workbench(
        Rules.v0_5_23(), name="seats", **{"pool_tokens": 96, "tree": "radix", **knobs}
    )
    bench.do(RoundOp([
        NewRequest(f"r{i}", list(range(1000 * i, 1000 * i + prompt)), max_new=max_new)
        for i in range(1, 9)
    ]))  # fmt: skip
    return bench


PLAIN = (
    "llama-3-8b", "llama-3-70b", "llama-2-7b", "qwen2.5-72b", "qwen3-30b-a3b",
    "mixtral-8x7b", "llama-3.2-1b", "qwen2.5-7b",
)  # fmt: skip
"""Models whose layers all keep K and V of every token."""


class Plan(NamedTuple):
    """A deployment: GiB left for KV on each GPU, GPUs, tokens of a sequence."""

    model: str
    gib: int
    tp: int
    context: int


def some_plan(random: Random) -> Plan:
    """Return a plan at random whose KV heads can be split among its GPUs."""
    model = random.choice(("llama-3-8b", "llama-3-70b", "qwen2.5-72b"))
    return Plan(
        model, random.choice((40, 60, 100)), random.choice((2, 4, 8)),
        1024 * random.choice((16, 32, 64, 128)),
    )  # fmt: skip


def fits(plan: Plan) -> Capacity:
    """Return what a deployment has room for."""
    deployment = Deployment(tp=plan.tp, kv_memory=plan.gib * GIB, context=plan.context)
    return capacity(known_shape(plan.model), deployment)


SCENARIOS: dict[str, Callable[..., Workbench]] = {"seats": seats}
PICTURES = (("01-full.svg", "seats", "", "pool"),)
