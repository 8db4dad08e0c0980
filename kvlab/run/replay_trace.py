"""What does a request trace come to on this engine?

Serves a trace's requests one by one and returns the figures that `kvlab replay`
prints. The clock runs while the engine works, and stands while token arrays are made.
Left out: arrivals and outputs, which need a clock of the engine's own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..config import EngineConfig
from ..record.metrics import tree_digest
from ..record.request_trace import TracedRequest, check_prompts, prompts_of
from ..record.trace import QUIET, Header, Trace
from ..rules import Rules
from .engine import Engine
from .serial import SerialReplay
from .stopwatch import Stopwatch

Figures = dict[str, Any]


def replay_trace(
    requests: Sequence[TracedRequest],
    config: EngineConfig,
    rules: Rules,
    *,
    unit: bool = False,
    engine_room: bool = False,
    record: bool = False,
    name: str = "",
    seed: int = 0,
    progress: Callable[[int], object] = lambda _: None,
) -> tuple[Figures, Trace | None]:
    """Serve the requests in order; return the figures and, with `record`, the trace.

    `unit` makes each hash id one token; `progress` is told how many more were served.
    Raises: OutOfPool, before the first is served, if a prompt is larger than the pool.
    """
    trace = None
    if record:
        trace = Trace(Header(name=name, config=config, rules=rules, seed=seed))
    emit = QUIET if trace is None else trace
    engine = Engine(config, rules, emit=emit, mode="ledger")
    check_prompts(requests, engine.cache.allocator.total, config.page_size, unit=unit)
    replay = SerialReplay(engine, emit, unit=unit, engine_room=engine_room)
    watch = Stopwatch()
    for batch in watch.batches(prompts_of(requests, unit=unit)):
        replay.serve_all(batch)
        progress(len(batch))
    watch.pause()
    figures = _figures(replay, 0 if trace is None else len(trace))
    return figures | watch.speed(len(requests)), trace


def _figures(replay: SerialReplay, events: int) -> Figures:
    """Return the sums of a serial replay, in tokens, under their public names."""
    sums, engine = replay.sums, replay.engine
    totals = engine.cache.totals
    hit = sums.device_hit_tokens + sums.loaded_back_tokens
    return {
        "requests": sums.requests,
        "input_tokens": sums.input_tokens,
        "output_tokens": 0,
        "device_hit_tokens": sums.device_hit_tokens,
        "host_hit_tokens": sums.host_hit_tokens,
        "loaded_back_tokens": sums.loaded_back_tokens,
        "computed_tokens": sums.computed_tokens,
        "hit_rate": hit / sums.input_tokens if sums.input_tokens else None,
        "evicted_tokens": totals.evicted,
        "backed_up_tokens": totals.backed_up,
        "host_evicted_tokens": totals.host_evicted,
        "lost_tokens": totals.lost,
        "retractions": 0,
        "preemptions": 0,
        "peak_running": min(1, sums.requests),
        "peak_waiting": min(1, sums.requests),
        "l2_peak_usage": totals.host_peak / engine.host_total
        if engine.host_total
        else 0.0,
        "ttft_s": None,
        "events": events,
        "tree_sha256": tree_digest(engine.cache.tree_lines()),
    }
