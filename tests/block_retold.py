"""A recorded run of vLLM, step by step. Used by the tests of what a run tells."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

from test_block_goldens import load, started

from kvlab.record.events import Event, Step
from kvlab.record.trace import BlockHeader, BlockTrace
from kvlab.run.block_script import Scenario


class BlockRun(NamedTuple):
    """A golden, and each step with what was said within it."""

    scenario: Scenario
    steps: list[tuple[Step, list[Event]]]


@cache
def retold_blocks(path: Path) -> BlockRun:
    """Play a golden and return all that it told."""
    scenario = load(path)
    trace = BlockTrace(BlockHeader(config=scenario.config))
    engine, records = started(scenario, trace)
    for number in range(records):
        engine.step() if scenario.mode == "sched" else engine.step(number)
    steps: list[tuple[Step, list[Event]]] = []
    for event in trace.events:
        if isinstance(event, Step):
            steps.append((event, []))
        else:
            steps[-1][1].append(event)
    return BlockRun(scenario, steps)
