"""Is kvlab equal to the real vLLM, record by record?

A golden holds what a real engine did in a scenario; this lives through the scenario
again and compares every field of every record, and the summary.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..record.trace import QUIET, Emitter
from .block_ops import BlockOps, ChunkOps
from .block_runner import BlockRunner, totals
from .block_script import Scenario

MISSING = "(no record)"


def replay_scenario(
    scenario: Scenario, emit: Emitter = QUIET
) -> Iterator[tuple[int, Any, Any]]:
    """Yield (number, recorded, replayed) for every record; the summary is -1."""
    recorded = scenario.records or []
    if scenario.mode != "sched":
        ops = ChunkOps(scenario) if scenario.mode == "cpu" else BlockOps(scenario, emit)
        for number, expected in enumerate(recorded):
            yield number, expected, ops.step(number)
        return
    runner, records = BlockRunner(scenario, emit), []
    for number, expected in enumerate(recorded):
        got = MISSING if runner.is_over else runner.step()
        records.append(got)
        yield number, expected, got
    if scenario.summary is not None:
        over = {"over": True} if runner.is_over else {"over": False}
        sums = totals(
            [r for r in records if isinstance(r, dict)],
            external=scenario.config.l2 is not None,
        )
        yield -1, scenario.summary | {"over": True}, runner.summary() | sums | over
