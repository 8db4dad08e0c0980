"""Which engine does a golden come from, and who compares it?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ..errors import InputError
from .block_conform import compare_scenario
from .block_script import is_scenario, read_scenario
from .conform import conform
from .differences import Report, failed
from .json_file import read_json

_ENDINGS = (".json", ".json.gz")


def conform_goldens(
    paths: list[Path], *, say: Callable[[Path], None] = lambda _: None
) -> Report:
    """Replay every golden in the files and directories, of either engine, and compare.

    `say` is told every file before it is replayed.
    Raises: InputError for a file that is no golden, or when there is none at all.
    """
    reports = []
    for path in _goldens(paths):
        say(path)
        data = read_json(path)
        if is_scenario(data):
            reports.append(compare_scenario(read_scenario(str(path), data), str(path)))
        else:
            _check_whole(str(path), data)
            reports.append(conform(path))
    return Report(
        len(reports),
        sum(report.records for report in reports),
        sum(report.equal for report in reports),
        [found for report in reports for found in report.differences],
    )


def _check_whole(file: str, data: Any) -> None:
    """Refuse a golden whose end is missing: only an assertion ends a recording early.

    Raises: InputError with both counts.
    """
    parts = data if isinstance(data, dict) else {}
    records, ops = parts.get("records"), parts.get("ops")
    if not (isinstance(records, list) and isinstance(ops, list)):
        return
    last = records[-1] if records and isinstance(records[-1], dict) else {}
    if len(records) < len(ops) and not failed(last.get("result")):
        raise InputError(
            file,
            f"{len(records)} records of {len(ops)} ops, and no assertion in the last",
            "fetch the golden again",
        )


def _goldens(paths: list[Path]) -> Iterator[Path]:
    for path in paths:
        if not path.is_dir():
            yield path
            continue
        inside = [p for p in sorted(path.rglob("*")) if p.name.endswith(_ENDINGS)]
        if not inside:
            raise InputError(str(path), "no goldens here", "name a .json or .json.gz")
        yield from inside
