"""Is kvlab equal to the real vLLM, record by record?

A golden holds what a real engine did in a scenario; this lives through the scenario
again and compares every field of every record, and the summary.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from ..errors import InputError
from ..record.trace import QUIET, Emitter
from .block_ops import BlockOps, ChunkOps, Record
from .block_runner import BlockRunner, totals
from .block_script import Scenario
from .differences import ABSENT, Difference, Report, differences


def compare_scenario(scenario: Scenario, file: str) -> Report:
    """Live through one golden; report the first difference of each record.

    A difference of the summary, or of the number of steps, is of record -1.
    Raises: InputError for a scenario without recorded states.
    """
    if scenario.records is None:
        raise InputError(file, "no recorded states", "name a golden")
    found = [
        Difference(file, number, *first)
        for number, recorded, replayed in replay_scenario(scenario)
        for first in islice(differences(recorded, replayed), 1)
    ]
    unequal = sum(one.record >= 0 for one in found)
    records = len(scenario.records)
    return Report(1, records, records - unequal, found)


def replay_scenario(
    scenario: Scenario, emit: Emitter = QUIET
) -> Iterator[tuple[int, Any, Any]]:
    """Yield (number, recorded, replayed) for every record; the summary is -1."""
    if scenario.mode == "sched":
        yield from _replay_steps(scenario, emit)
        return
    ops = (
        ChunkOps(scenario, emit) if scenario.mode == "cpu" else BlockOps(scenario, emit)
    )
    recorded, wanted = scenario.records or [], len(scenario.raw_ops)
    for number, record in enumerate(recorded):
        yield number, record, ops.step(number) if number < wanted else ABSENT
    if len(recorded) < wanted:
        yield -1, {"records": len(recorded)}, {"records": wanted}


def _replay_steps(scenario: Scenario, emit: Emitter) -> Iterator[tuple[int, Any, Any]]:
    runner, records = BlockRunner(scenario, emit), list[Record]()
    for number, recorded in enumerate(scenario.records or []):
        if runner.is_over:
            yield number, recorded, ABSENT
            continue
        records.append(runner.step())
        yield number, recorded, records[-1]
    if not runner.is_over:
        yield -1, {"steps": len(records)}, {"steps": "more"}
    if scenario.summary is not None:
        external = scenario.config.l2 is not None
        summary = runner.summary() | totals(records, external=external)
        yield -1, scenario.summary, summary
