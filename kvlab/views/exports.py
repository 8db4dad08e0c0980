"""In which forms does a run leave kvlab for other tools?

Chrome trace JSON (Perfetto opens it) with a flow from every cause to its effect, and
the account of every step as CSV.
Left out: kvlab's own format (record/trace_file.py), pages (page.py), pictures
(export.py).
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np

from ..record.events import Decision, Event
from ..record.replay import states
from ..record.trace import Trace, check_run
from .cards import kind_of

COLUMNS = (
    "event", "kind", "protected", "held", "evictable", "available", "total",
    "host_only", "host_copies", "host_available", "host_total",
)  # fmt: skip


def perfetto(trace: Trace) -> Iterator[str]:
    """Yield the run as Chrome trace JSON, event by event. Units: 1 event = 1 us.

    Decisions lie on one track, changes on another; a flow joins cause and effect.
    """
    yield '{"displayTimeUnit":"ms","traceEvents":[\n'
    for track, name in ((1, "decisions"), (2, "changes")):
        said = {"name": "thread_name", "ph": "M", "pid": 1, "tid": track}
        yield json.dumps({**said, "args": {"name": name}}) + ",\n"
    for index, event in enumerate(trace.events):
        place = {"pid": 1, "tid": _track(event)}
        slice_ = {"name": kind_of(event), "ph": "X", "ts": index, "dur": 1, **place}
        yield json.dumps({**slice_, "args": _fields(event)}) + ",\n"
        if event.cause >= 0:
            cause = trace.events[event.cause]
            flow = {"name": "cause", "cat": "cause", "id": index}
            source = {**flow, "ph": "s", "ts": event.cause, "tid": _track(cause)}
            yield json.dumps({**source, "pid": 1}) + ",\n"
            end = {**flow, "ph": "f", "bp": "e", "ts": index, **place}
            yield json.dumps(end) + ",\n"
    last = {"name": "end", "ph": "i", "ts": len(trace), "pid": 1, "tid": 1, "s": "g"}
    yield json.dumps(last) + "\n]}\n"


def _track(event: Event) -> int:
    return 1 if isinstance(event, Decision) else 2


def _fields(event: Event) -> dict[str, object]:
    fields = msgspec.structs.asdict(event)
    return {
        name: f"{len(value)} numbers" if isinstance(value, np.ndarray) else value
        for name, value in fields.items()
    }


def accounts(trace: Trace) -> Iterator[dict[str, Any]]:
    """Yield both accounts after every event, by name: rows for a table elsewhere.

    Units: tokens; `event` counts from 1, as in the player.
    Raises: TraceError where the run does not fold, ConfigError for what is no run.
    Cost: O(events).
    """
    check_run(trace, "accounts")
    for index, event, state in states(trace):
        now, host = state.account(), state.host_account()
        cells = (
            index + 1, kind_of(event), now.protected, now.held, now.evictable,
            now.available, now.total, *host,
        )  # fmt: skip
        yield dict(zip(COLUMNS, cells, strict=True))


def account_csv(trace: Trace) -> Iterator[str]:
    """Yield the accounts after every event as lines of CSV, names first.

    Raises: TraceError where the run does not fold.
    """
    yield _line(*COLUMNS)
    for row in accounts(trace):
        yield _line(*row.values())


def _line(*cells: object) -> str:
    line = io.StringIO()
    csv.writer(line).writerow([cell(value) for value in cells])
    return line.getvalue()


def cell(value: object) -> object:
    """Return a cell that no spreadsheet takes for a formula.

    >>> cell("=1+1"), cell(-3)
    ("'=1+1", -3)
    """
    if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r"):
        return "'" + value
    return value
