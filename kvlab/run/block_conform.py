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
from .conform import Difference, Report

ABSENT = "(absent)"


def compare_scenario(scenario: Scenario, file: str) -> Report:
    """Live through one golden; report the first difference of each record.

    A difference of the summary, or of the number of steps, is of record -1.
    Raises: InputError for a scenario without recorded states.
    """
    if scenario.records is None:
        raise InputError(file, "no recorded states", "name a golden")
    differences = []
    for number, recorded, replayed in replay_scenario(scenario):
        for field, want, have in islice(_differ("", recorded, replayed), 1):
            differences.append(Difference(file, number, field, want, have))
    unequal = sum(found.record >= 0 for found in differences)
    records = len(scenario.records)
    return Report(1, records, records - unequal, differences)


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
    for number, recorded in enumerate(scenario.records or []):
        inside = number < len(scenario.raw_ops)
        yield number, recorded, ops.step(number) if inside else ABSENT


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


def _differ(field: str, want: Any, have: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield every leaf in which two records differ: where, expected, got."""
    if isinstance(want, dict) and isinstance(have, dict):
        for key in sorted(want.keys() | have.keys()):
            yield from _differ(
                f"{field}.{key}", want.get(key, ABSENT), have.get(key, ABSENT)
            )
    elif isinstance(want, list) and isinstance(have, list) and len(want) == len(have):
        for at, (a, b) in enumerate(zip(want, have, strict=True)):
            yield from _differ(f"{field}[{at}]", a, b)
    elif want != have or isinstance(want, bool) != isinstance(have, bool):
        yield field[1:], want, have
