"""How does a run of kvlab look to the rules that judge real engines?

The run is folded once; wherever an engine would have printed a line or could have been
scraped, one sample is taken. So what the workbench teaches, the tool recognises. A run
also shows what no engine tells: whose pages lie where, and who stood for a copy. One
that drives the cache by hand, without requests, has states and no reports.
Left out: the rules (verdict.py); runs of vLLM (block_run_samples.py).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from ..record import events as ev
from ..record.replay import fold
from ..record.snapshot import State
from ..record.trace import Trace
from .samples import Place, Recording, Sample, Track, Values

_REPORTS = (ev.Start, ev.DecodeRoom, ev.Retract, ev.Admit, ev.Arrive)
_CLOCKED_REPORTS = (ev.Forward, ev.Decode, ev.Retract, ev.Arrive)
_CLOCKED = (ev.Sent, ev.Clock, ev.Forward, ev.Decode)
_COUNTED = (ev.Finish, ev.Retract, ev.Step, ev.Forward)


def record_run(trace: Trace, name: str) -> Recording:
    """Return the samples of a run; a place names the event after which it was taken.

    Times are the run's own clock, None for a run without one.
    Raises: TraceError where the run does not fold. Cost: O(events).
    """
    recording = Recording("run")
    recording.engines[trace.header.engine] += 1
    recording.lines = len(trace)
    clocked = any(isinstance(event, _CLOCKED) for event in trace.events)
    reader = _Reader(trace, name, recording.track(""), clocked)
    for index, event in enumerate(trace.events):
        reader.count(event)
        fold(reader.state, trace.events, index, index + 1)
        reader.report(index, event)
    reader.check_account(len(trace) - 1)
    return recording


class _Reader:
    """Folds one run and reports to one track. `sums` are tokens, but for seconds."""

    def __init__(self, trace: Trace, name: str, track: Track, clocked: bool) -> None:
        self.state = State.start(trace.header.config)
        self.sums: Counter[str] = Counter()
        self.copying: Counter[int] = Counter()
        self._name, self._track, self._clocked = name, track, clocked
        self._reports = _CLOCKED_REPORTS if clocked else _REPORTS
        self._leaked = False
        known = {
            "pool_tokens": self.state.account().total,
            "max_running_requests": trace.header.max_running,
            "chunk_tokens": trace.header.config.chunked_prefill_size,
        }
        for field, value in known.items():
            if value is not None:
                start = self._sample(0, "start", {field: float(value)})
                track.info[field] = start

    def count(self, event: ev.Event) -> None:
        """Take an event's sums, before the state moves. Changes: the sums."""
        counted = _COUNTS.get(type(event))
        if counted is not None:
            counted(self, event)

    def report(self, index: int, event: ev.Event) -> None:
        """Say what an engine would say after the event. Changes: the track."""
        if isinstance(event, ev.Prefill):
            self._track.add(self._sample(index, "prefill", self._prefill(event)))
        elif isinstance(event, self._reports) or self._is_over(event):
            kind = "forward" if isinstance(event, ev.Forward) else "step"
            self._track.add(self._sample(index, kind, self._values()))
        if isinstance(event, ev.Step) and not self.state.requests:
            self._track.event(self._sample(index, "by hand", self._values()))
        if isinstance(event, ev.Retract):
            self._track.event(self._sample(index, "retract", {"retracted": 1.0}))
        if isinstance(event, ev.Compared | ev.Wrong):
            self._contents(index, event)
        if isinstance(event, _COUNTED):
            self._track.add_counters(self._totals())
        if isinstance(event, ev.Clock):
            self._track.add(self._sample(index, "idle", self._values()))
            self.check_account(index)

    def _contents(self, index: int, event: ev.Compared | ev.Wrong) -> None:
        """Note what somebody who sees the bytes found."""
        if isinstance(event, ev.Wrong):
            values = {f"{event.tier} slot": event.slot, "written by event": event.by}
            kind = "wrong slot"
        elif event.wrong:
            values = {"compared": event.slots, "wrong": event.wrong}
            kind = "wrong slots"
        else:
            return
        said = {name: float(value) for name, value in values.items()}
        self._track.event(self._sample(index, kind, said))

    def _is_over(self, event: ev.Event) -> bool:
        """Is a request done, with nobody to take its place in the same turn?"""
        return isinstance(event, ev.Finish) and not self.state.waiting

    def check_account(self, index: int) -> None:
        """Where no request holds anything, see whether the account adds up; say once
        that it does not. Changes: the track."""
        state, account = self.state, self.state.account()
        if self._leaked or not state.requests or not account.held:
            return
        if any(r.stage in _HOLDING for r in state.requests.values()):
            return
        self._leaked = True
        values = {
            "total": account.total, "available": account.available,
            "evictable": account.evictable, "protected": account.protected,
            "session_held": 0, "uncached": 0, "delta": -account.held, "said_leak": 1,
        }  # fmt: skip
        said = {f"account_{name}": float(value) for name, value in values.items()}
        self._track.event(self._sample(index, "account:full", said))

    def _sample(self, index: int, kind: str, values: Values) -> Sample:
        time = self.state.now / 1e9 if self._clocked else None
        return Sample(Place(self._name, index), time, kind, values)

    def _values(self) -> Values:
        """Return what an engine would say of itself now."""
        state, account = self.state, self.state.account()
        held = account.total - account.available - account.evictable
        values: Values = {
            "usage": held / account.total,
            "running": float(len(state.running)),
            "queue": float(len(state.waiting)),
            "kv_available": float(account.available),
            "kv_evictable": float(account.evictable),
            "kv_used": float(held),
            "copying": sum(self.copying.values()) / account.total,
        }
        host = state.host_account()
        if host.total:
            values["l2_fraction"] = 1 - host.available / host.total
        return values

    def _prefill(self, event: ev.Prefill) -> Values:
        """A chunked request that goes on brings nothing from the cache."""
        said = {
            "new_tokens": float(event.extend),
            "cached_tokens": float(self.sums["cached_now"]),
        }
        return self._values() | self._totals() | said

    def _totals(self) -> Values:
        return {f"{name}_total": float(self.sums[name]) for name in _SUMS}


_SUMS = ("backup", "load_back", "evicted", "load_ns", "compute_ns")
_HOLDING = ("running", "chunked", "waiting")


def _size(state: State, node: int) -> int:
    found = state.nodes.get(node) or state.orphans.get(node)
    return len(found.tokens) if found else 0


def _backup(reader: _Reader, event: ev.Backup) -> None:
    tokens = len(event.pages) * reader.state.config.page_size
    reader.sums["backup"] += tokens
    reader.copying[event.node] += tokens


def _load(reader: _Reader, event: ev.Load) -> None:
    tokens = len(event.pages) * reader.state.config.page_size
    reader.sums["load_back"] += tokens
    reader.copying[event.end] += tokens


def _copied(reader: _Reader, event: ev.BackupDone | ev.LoadDone) -> None:
    reader.copying.pop(event.node, None)


def _evict(reader: _Reader, event: ev.Demote | ev.Delete) -> None:
    reader.sums["evicted"] += _size(reader.state, event.node)


def _prefill(reader: _Reader, event: ev.Prefill) -> None:
    request = reader.state.requests.get(event.request)
    fresh = request is None or request.stage == "waiting"
    reader.sums["cached_now"] = fresh * (event.device_hit + event.loaded)


def _forward(reader: _Reader, event: ev.Forward) -> None:
    reader.sums["load_ns"] += event.load
    reader.sums["compute_ns"] += event.compute


_COUNTS: dict[type[ev.Event], Callable[[_Reader, Any], None]] = {
    ev.Backup: _backup,
    ev.BackupDone: _copied,
    ev.Load: _load,
    ev.LoadDone: _copied,
    ev.Demote: _evict,
    ev.Delete: _evict,
    ev.Prefill: _prefill,
    ev.Forward: _forward,
}
