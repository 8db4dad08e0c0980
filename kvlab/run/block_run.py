"""Which run does a script of vLLM come to?

A scenario is lived through once, with every event kept; a golden carries its scenario.
Left out: comparing with what was recorded (block_conform.py).
"""

from __future__ import annotations

from pathlib import Path

from ..errors import InputError
from ..record.trace import BlockHeader, BlockTrace
from ..record.trace_file import engine_of, read_block_trace
from .block_ops import BlockOps
from .block_runner import BlockRunner
from .block_script import Scenario, is_scenario, read_scenario
from .json_file import read_json


def run_scenario(scenario: Scenario) -> BlockTrace:
    """Live through the scenario and return its trace.

    Raises: InputError for a scenario of the CPU pool alone, which has no L1 to show.
    """
    trace = BlockTrace(BlockHeader(name=scenario.name, config=scenario.config))
    if scenario.mode == "cpu":
        raise InputError(
            scenario.name or "the scenario", "is of the CPU pool alone",
            "give one of mode sched or kv",
        )  # fmt: skip
    if scenario.mode == "kv":
        engine = BlockOps(scenario, trace)
        for number in range(len(scenario.ops)):
            engine.step(number)
        return trace
    runner = BlockRunner(scenario, trace)
    while not runner.is_over:
        runner.step()
    return trace


def load_blocks(path: Path) -> BlockTrace | None:
    """Return the run of vLLM in the file, a scenario being run first; None if the file
    holds something else.

    Raises: InputError or TraceError with file, place and remedy.
    """
    if not path.is_file():
        return None
    if not path.name.endswith((".json", ".json.gz")):
        return read_block_trace(path) if engine_of(path) == "vllm" else None
    data = read_json(path)
    return run_scenario(read_scenario(str(path), data)) if is_scenario(data) else None
