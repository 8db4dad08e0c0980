"""Is kvlab equal to the real engine, record by record?

A golden holds the states that a real engine was in after every op of a script. This
replays the script and compares every field of every record; the first difference of
each record is reported, none is skipped silently. One field is left out on purpose:
`delta` of a lock and an unlock, where the release does not tell what evictable gained
(rule `lock_tells_evictable`): its sign is a convention of the call, not a state.
Left out: the state in the recordings' words (recorded_state.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from ..errors import EngineFault, InputError
from ..record.trace import QUIET, Emitter
from ..rules import Rules
from .differences import Difference, Found, Report, differences, failed
from .recorded_state import recorded_state
from .runner import ScriptRunner
from .script import Script, read_script


def conform(path: Path) -> Report:
    """Replay one golden and compare.

    Raises: InputError for a file that is no golden.
    """
    script = read_script(path)
    if script.records is None:
        raise InputError(str(path), "no recorded states", "name a golden")
    found = compare(script, str(path))
    records = len(script.records)
    unequal = sum(one.record >= 0 for one in found)
    return Report(1, records, records - unequal, found)


def compare(script: Script, file: str, emit: Emitter = QUIET) -> list[Difference]:
    """Replay one golden; return the first difference of each record that differs."""
    runner = ScriptRunner(script, emit, eager=True)
    return [
        Difference(file, record, *found)
        for record, expected, got in replay(runner, script)
        if (found := first_difference(script.rules, expected, got))
    ]


def replay(runner: ScriptRunner, script: Script) -> Iterator[tuple[int, Any, Any]]:
    """Yield (number, recorded, replayed) for the start, as -1, and for every record.

    Changes: the engine; one op is carried out before each record is yielded.
    """
    device, host = runner.engine.cache.allocator.total, runner.engine.host_total
    totals = {"pool_total": device, "host_total": host}
    got: dict[str, Any] = {key: totals[key] for key in script.totals}
    got["state"] = recorded_state(runner)
    yield -1, script.totals | {"state": script.initial}, got
    for number, expected in enumerate(script.records or []):
        yield number, expected, replay_op(runner, script, number)


def replay_op(runner: ScriptRunner, script: Script, number: int) -> dict[str, Any]:
    """Carry out op `number` and return its record: result and state."""
    op = script.ops[number]
    try:
        result = runner.step(number, op)
    except EngineFault as fault:
        result = {"assertion": str(fault)}
    name = op.__struct_config__.tag
    return {"i": number, "op": name, "result": result, "state": recorded_state(runner)}


def first_difference(rules: Rules, expected: Any, got: Any) -> Found | None:
    """Return the first field in which two records differ, as recorded and as replayed;
    None if they are equal. Of two ops that failed only that is compared."""
    if not isinstance(expected, dict):
        return "", expected, got
    if not rules.lock_tells_evictable:
        expected, got = _without_delta(expected), _without_delta(got)
    if _encoded(expected) == _encoded(got):
        return None
    results = expected.get("result"), got.get("result")
    raised = [failed(result) for result in results]
    if any(raised) and not all(raised):
        return "result", *results
    if all(raised):
        expected = expected | {"result": results[1]}
    return next(differences(expected, got), None)


def _without_delta(record: dict[str, Any]) -> dict[str, Any]:
    """Return the record without the one field that is not compared (see above)."""
    result = record.get("result")
    if record.get("op") not in ("lock", "unlock") or not isinstance(result, dict):
        return record
    kept = {key: value for key, value in result.items() if key != "delta"}
    return record | {"result": kept}


def _encoded(record: Any) -> bytes:
    """Return bytes that are equal only where all fields are (1 and 1.0 are not)."""
    return msgspec.json.encode(record, order="sorted")
