"""How does a run of kvlab look to the rules that judge real engines?

The run is folded once; wherever an engine would have printed a line or could have been
scraped, one sample is taken. So what the workbench teaches, the tool recognises.
Left out: time (a run's events have none), the rules (verdict.py).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from ..record import events as ev
from ..record.replay import fold
from ..record.snapshot import State
from ..record.trace import Trace
from .samples import Place, Recording, Sample, Values

_REPORTS = (ev.Start, ev.DecodeRoom, ev.Retract, ev.Finish, ev.Admit, ev.Arrive)


def record_run(trace: Trace, name: str) -> Recording:
    """Return the samples of a run; a place names the event after which it was taken.

    Raises: TraceError where the run does not fold. Cost: O(events).
    """
    recording = Recording("run")
    recording.engines[trace.header.engine] += 1
    track = recording.track("")
    state, sums = State.start(trace.header.config), Counter[str]()
    for index, event in enumerate(trace.events):
        count = _COUNTS.get(type(event))
        if count is not None:
            count(sums, state, event)
        fold(state, trace.events, index, index + 1)
        place = Place(name, index)
        if isinstance(event, ev.Prefill):
            track.add(Sample(place, None, "prefill", _prefill(state, event)))
        elif isinstance(event, _REPORTS):
            track.add(Sample(place, None, "step", _state(state)))
        if isinstance(event, ev.Retract):
            track.event(Sample(place, None, "retract", {"retracted": 1.0}))
        if isinstance(event, ev.Finish | ev.Retract | ev.Step):
            track.add_counters({f"{name}_total": float(sums[name]) for name in _SUMS})
    total = float(state.account().total)
    track.info["pool_tokens"] = Sample(
        Place(name, 0), None, "start", {"pool_tokens": total}
    )
    recording.lines = len(trace)
    return recording


def _state(state: State) -> Values:
    """Return what an engine would say of itself now."""
    account, host = state.account(), state.host_account()
    held = account.total - account.available - account.evictable
    values: Values = {
        "usage": held / account.total,
        "running": float(len(state.running)),
        "queue": float(len(state.waiting)),
        "kv_available": float(account.available),
        "kv_evictable": float(account.evictable),
        "kv_used": float(held),
    }
    if host.total:
        values["l2_fraction"] = 1 - host.available / host.total
    return values


def _prefill(state: State, event: ev.Prefill) -> Values:
    said = {
        "new_tokens": float(event.extend),
        "cached_tokens": float(event.device_hit + event.loaded),
    }
    return _state(state) | said


_SUMS = ("backup", "load_back", "evicted")


def _size(state: State, node: int) -> int:
    found = state.nodes.get(node) or state.orphans.get(node)
    return len(found.tokens) if found else 0


def _backup(sums: Counter[str], state: State, event: ev.Backup) -> None:
    sums["backup"] += len(event.pages) * state.config.page_size


def _load(sums: Counter[str], state: State, event: ev.Load) -> None:
    sums["load_back"] += len(event.pages) * state.config.page_size


def _evict(sums: Counter[str], state: State, event: ev.Demote | ev.Delete) -> None:
    sums["evicted"] += _size(state, event.node)


_COUNTS: dict[type[ev.Event], Callable[[Counter[str], State, Any], None]] = {
    ev.Backup: _backup,
    ev.Load: _load,
    ev.Demote: _evict,
    ev.Delete: _evict,
}
