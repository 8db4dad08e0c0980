"""What would a vLLM server have counted during a run?

A `BlockMeter` follows the events: counters grow, gauges are read off the state. Names
are vLLM's own. Left out: times, which only a run on a clock has
(run/block_telemetry.py), and how a server shows the numbers (block_report.py).
Source: vLLM 0.33.0, v1/metrics/loggers.py and v1/metrics/stats.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from . import block_events as ev
from .block_snapshot import BlockState
from .events import Arrive, Decode, Drop, Event, Finish, Output
from .folding import fold_events
from .trace import BlockTrace


class BlockGauges(NamedTuple):
    """What stands at one moment. Units: requests; `kv_cache_usage` 0 to 1.

    `waiting` leaves out those that are `deferred`; vLLM's gauge num_requests_waiting
    is the sum. The last three are requests by the stage of their load.
    """

    running: int
    waiting: int
    deferred: int
    kv_cache_usage: float
    waiting_to_start: int
    in_progress: int
    completed_waiting: int


def gauges(state: BlockState) -> BlockGauges:
    """Read the gauges off a state between two steps. Cost: O(deferred).

    The offloading connector pins nothing for who waits to start: `BlockMeter.gauges`.
    """
    pool = state.tiers["L1"]
    usable = pool.num_blocks - 1
    loads = [id for id in state.deferred if id in state.loads]
    aside = len(state.deferred) + len(state.retrying)
    there = [state.requests[id] for id in state.deferred if id not in state.loads]
    come = [r.stage == "loading" or (r.stage == "ready" and r.computed) for r in there]
    return BlockGauges(
        running=len(state.running),
        waiting=len(state.waiting) + len(state.deferred) - aside,
        deferred=aside,
        kv_cache_usage=1.0 - len(pool.free) / usable if usable else 0.0,
        waiting_to_start=len(state.pins),
        in_progress=len(loads),
        completed_waiting=sum(map(bool, come)),
    )


@dataclass
class BlockCounters:
    """What grows during a run. Units: tokens, but for the last four.

    Prefix and external counts leave out requests that were preempted before;
    `preempted_*` are theirs. `prompt_tokens` are counted with the first output,
    `cached_tokens` are those of them that were found, be it by a load that failed.
    """

    prefix_queries: int = 0
    prefix_hits: int = 0
    preempted_queries: int = 0
    preempted_hits: int = 0
    external_queries: int = 0
    external_hits: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    generation_tokens: int = 0
    arrived: int = 0
    admitted: int = 0
    preemptions: int = 0
    finished: int = 0

    def since(self, before: BlockCounters) -> BlockCounters:
        """Return how much each counter grew."""
        grown = {name: getattr(self, name) - getattr(before, name) for name in _NAMES}
        return BlockCounters(**grown)

    def copy(self) -> BlockCounters:
        """Return the counts of this moment."""
        return replace(self)


_NAMES = tuple(BlockCounters.__dataclass_fields__)


class BlockMeter:
    """The counters and the state after the events so far.

    >>> from kvlab.block_config import BlockConfig
    >>> meter = BlockMeter(BlockState.start(BlockConfig()))
    >>> meter.apply(Arrive(-1, "a", 5, 1, 0))
    >>> meter.counters.arrived, meter.gauges().waiting
    (1, 1)
    """

    def __init__(self, state: BlockState) -> None:
        self.state = state
        self.counters = BlockCounters()
        self.peak_running = self.peak_waiting = 0
        self._found: dict[str, ev.Lookup] = {}
        self._cached: dict[str, int] = {}

    def apply(self, event: Event) -> None:
        """Move on by one event. Changes: the counters, the state.

        Raises: ValueError or KeyError where the event does not fit the state.
        """
        count = _COUNTS.get(type(event))
        if count is not None:
            count(self, event)
        self.state.apply(event)
        self.peak_running = max(self.peak_running, len(self.state.running))
        queue = len(self.state.waiting) + len(self.state.deferred)
        self.peak_waiting = max(self.peak_waiting, queue)

    def gauges(self) -> BlockGauges:
        """Read the gauges between two steps. Cost: O(waiting)."""
        read, l2 = gauges(self.state), self.state.config.l2
        if l2 is None or l2.connector == "simple":
            return read
        wanted = sum(bool(found.remote) for found in self._found.values())
        return read._replace(waiting_to_start=wanted)

    # --- one event each, before the state moves

    def _arrive(self, e: Arrive) -> None:
        self.counters.arrived += 1

    def _lookup(self, e: ev.Lookup) -> None:
        self._found[e.request] = e

    def _run(self, e: ev.Run) -> None:
        self._admit(e.request)

    def _defer(self, e: ev.Defer) -> None:
        if e.why == "loading":
            self._admit(e.request)

    def _admit(self, id: str) -> None:
        """The request got its blocks: its last lookup counts, once."""
        found = self._found.pop(id, None)
        if found is None:
            return
        request, counts = self.state.requests[id], self.counters
        remote = found.remote or 0
        if not request.preemptions or id not in self._cached:
            self._cached[id] = found.local + remote
        counts.admitted += 1
        length = request.prompt_len + request.outputs
        if request.preemptions:
            counts.preempted_queries += found.asked
            counts.preempted_hits += found.local
            return
        counts.prefix_queries += found.asked
        counts.prefix_hits += found.local
        if found.remote is not None:
            counts.external_queries += length - found.local
            counts.external_hits += remote

    def _output(self, e: Output) -> None:
        self._generated(e.request, 1)

    def _decode(self, e: Decode) -> None:
        for id in self.state.running:
            if self.state.requests[id].lacks_one:
                self._generated(id, e.steps)

    def _generated(self, id: str, tokens: int) -> None:
        self.counters.generation_tokens += tokens
        request = self.state.requests[id]
        if request.outputs == 0:
            cached = self._cached.get(id, 0)
            self.counters.prompt_tokens += request.prompt_len
            self.counters.cached_tokens += min(cached, request.prompt_len)

    def _preempt(self, e: ev.Preempt) -> None:
        self.counters.preemptions += 1

    def _finish(self, e: Finish) -> None:
        self.counters.finished += 1

    def _drop(self, e: Drop) -> None:
        self._found.pop(e.request, None)


def meter(trace: BlockTrace) -> BlockMeter:
    """Return the meter at the end of the run.

    Raises: FoldError for an event that does not fit the state. Cost: O(events).
    """
    end = BlockMeter(BlockState.start(trace.header.config))
    fold_events(end, trace.events, 0, len(trace))
    return end


_COUNTS: dict[type[Event], Callable[[BlockMeter, Any], None]] = {
    Arrive: BlockMeter._arrive,
    ev.Lookup: BlockMeter._lookup,
    ev.Run: BlockMeter._run,
    ev.Defer: BlockMeter._defer,
    Output: BlockMeter._output,
    Decode: BlockMeter._decode,
    ev.Preempt: BlockMeter._preempt,
    Finish: BlockMeter._finish,
    Drop: BlockMeter._drop,
}
