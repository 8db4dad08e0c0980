"""What does a request trace come to on an engine that has a clock?

Requests arrive at their times, wait, run and leave; the figures are those that
`kvlab replay --timing model` prints. The stopwatch runs while the engine works, and
stands while token arrays are made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any

from ..config import EngineConfig
from ..record.metrics import tree_digest
from ..record.request_trace import TracedRequest
from ..record.trace import QUIET, Header, Trace
from ..rules import Rules
from ..schedule.policy import Policy
from .cost import Cost
from .parts import Part
from .stopwatch import Stopwatch
from .tallies import seconds
from .timed_engine import TimedEngine
from .workload import OpenLoop, TraceAsks, TurnLoop, Workload

Figures = dict[str, Any]


def replay_timed(
    requests: Sequence[TracedRequest],
    config: EngineConfig,
    rules: Rules,
    cost: Cost,
    *,
    unit: bool = False,
    outputs: bool = True,
    record: bool = False,
    name: str = "",
    seed: int = 0,
    users: int | None = None,
    policy: Policy = "fcfs",
    max_running: int | None = None,
    progress: Callable[[int], object] = lambda _: None,
) -> tuple[Figures, Trace | None]:
    """Serve the trace; return the figures and, with `record`, the recorded run.

    Without `outputs` each request asks for one token. `users` make it a closed
    loop: arrival times do not count. `progress` is told how many more requests have
    left.
    """
    trace = None
    if record:
        header = Header(
            name=name, config=config, rules=rules, seed=seed, max_running=max_running
        )
        trace = Trace(header)
    engine = TimedEngine(
        config,
        rules,
        cost,
        emit=QUIET if trace is None else trace,
        policy=policy,
        max_running=max_running,
    )
    watch = Stopwatch()
    pool = engine.cache.allocator.total
    asks = TraceAsks(requests, unit=unit, outputs=outputs, most=pool)
    engine.run(workload_of(asks, watch, users), progress)
    watch.pause()
    figures = figures_of(engine) | {"events": 0 if trace is None else len(trace)}
    return figures | watch.speed(len(requests)), trace


def workload_of(asks: TraceAsks, watch: Stopwatch, users: int | None) -> Workload:
    """Return the trace as a loop, closed if it is of `users`. Later turns and all of a
    closed loop are made when they are sent, while the watch runs; others before, while
    it stands."""
    if users is not None:
        return asks.of_users(users)
    if asks.has_turns:
        return TurnLoop(asks.requests, asks.ask)
    return OpenLoop(chain.from_iterable(watch.batches(asks.in_order())))


def figures_of(engine: TimedEngine) -> Figures:
    """Return what a finished run came to, under the public names.

    Units: tokens, requests, seconds; shares are 0 to 1.
    """
    tallies, totals = engine.tallies, engine.cache.totals
    hit = tallies.device_hit_tokens + totals.loaded_back
    host_total = engine.engine.host_total
    records = tallies.done
    return {
        "requests": tallies.left,
        "input_tokens": tallies.input_tokens,
        "output_tokens": sum(record.outputs for record in records),
        "device_hit_tokens": tallies.device_hit_tokens,
        "host_hit_tokens": tallies.host_hit_tokens,
        "loaded_back_tokens": totals.loaded_back,
        "computed_tokens": tallies.computed_tokens,
        "recomputed_tokens": tallies.recomputed_tokens,
        "hit_rate": hit / tallies.input_tokens if tallies.input_tokens else None,
        "evicted_tokens": totals.evicted,
        "backed_up_tokens": totals.backed_up,
        "host_evicted_tokens": totals.host_evicted,
        "lost_tokens": totals.lost,
        "retractions": tallies.retractions,
        "preemptions": 0,
        "refused": [(r.id, r.need, r.total) for r in tallies.refused],
        "peak_running": tallies.peak_running,
        "peak_waiting": tallies.peak_waiting,
        "l2_peak_usage": totals.host_peak / host_total if host_total else 0.0,
        "ttft_s": seconds(r.ttft for r in records if r.ttft is not None),
        "e2e_s": seconds(record.end - record.arrival for record in records),
        "parts_s": {
            part: _mean(record.part(part) for record in records) for part in Part
        },
        "virtual_s": engine.now / 1e15,
        "decode_steps": tallies.decode_steps,
        "jumps": tallies.jumps,
        "prefills": tallies.prefills,
        "tree_sha256": tree_digest(engine.cache.tree_lines()),
    }


def _mean(nanoseconds: Iterator[int]) -> float:
    values = list(nanoseconds)
    return sum(values) / len(values) / 1e9 if values else 0.0
