"""What does a request trace come to on a vLLM engine that has a clock?

The figures are those of `kvlab replay --timing model --engine vllm`, under the names
that both engines share. The stopwatch runs while the engine works, and stands while
token arrays are made.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean
from typing import Any

from ..block_config import BlockConfig
from ..record.request_trace import TracedRequest
from ..record.trace import QUIET, BlockHeader, BlockTrace
from .block_serial import queue_digest
from .block_timed_engine import TimedBlockEngine
from .cost import Cost
from .parts import Part
from .stopwatch import Stopwatch
from .tallies import seconds
from .timed_replay import workload_of
from .workload import TraceAsks

Figures = dict[str, Any]


def replay_blocks_timed(
    requests: Sequence[TracedRequest],
    config: BlockConfig,
    cost: Cost,
    *,
    unit: bool = False,
    outputs: bool = True,
    record: bool = False,
    name: str = "",
    seed: int = 0,
    users: int | None = None,
    progress: Callable[[int], object] = lambda _: None,
) -> tuple[Figures, BlockTrace | None]:
    """Serve the trace; return the figures and, with `record`, the recorded run.

    Without `outputs` each request asks for one token. `users` make it a closed
    loop: arrival times do not count. `progress` is told how many more requests have
    left.
    """
    trace = None
    if record:
        trace = BlockTrace(BlockHeader(name=name, config=config, seed=seed))
    engine = TimedBlockEngine(config, cost, emit=QUIET if trace is None else trace)
    watch = Stopwatch()
    most = config.usable_tokens
    asks = TraceAsks(requests, unit=unit, outputs=outputs, most=most)
    engine.run(workload_of(asks, watch, users), progress)
    watch.pause()
    figures = block_figures_of(engine) | {"events": 0 if trace is None else len(trace)}
    return figures | watch.speed(len(requests)), trace


def block_figures_of(engine: TimedBlockEngine) -> Figures:
    """Return what a finished run came to, under the names that both engines share.

    Units: tokens, requests, seconds; shares are 0 to 1.
    """
    tallies, scheduler = engine.tallies, engine.scheduler
    hit = scheduler.local_tokens + scheduler.external_tokens
    asked, records = tallies.input_tokens, tallies.done
    parts = {p: [record.part(p) for record in records] for p in Part}
    return {
        "requests": tallies.left,
        "input_tokens": asked,
        "output_tokens": sum(record.outputs for record in records),
        "device_hit_tokens": scheduler.local_tokens,
        "host_hit_tokens": scheduler.external_tokens,
        "loaded_back_tokens": scheduler.loaded_tokens,
        "computed_tokens": tallies.computed_tokens,
        "recomputed_tokens": tallies.recomputed_tokens,
        "hit_rate": hit / asked if asked else None,
        **_pool_figures(engine),
        "retractions": 0,
        "preemptions": tallies.retractions,
        "refused": [(r.id, r.need, r.total) for r in tallies.refused],
        "peak_running": tallies.peak_running,
        "peak_waiting": tallies.peak_waiting,
        "ttft_s": seconds(r.ttft for r in records if r.ttft is not None),
        "e2e_s": seconds(record.end - record.arrival for record in records),
        "parts_s": {p: fmean(spent or [0]) / 1e9 for p, spent in parts.items()},
        "virtual_s": engine.now / 1e15,
        "decode_steps": tallies.decode_steps,
        "jumps": tallies.jumps,
        "prefills": tallies.prefills,
        "queue_sha256": queue_digest(engine.manager.pool, engine.scheduler.first_token),
    }


def _pool_figures(engine: TimedBlockEngine) -> Figures:
    size, l2 = engine.config.block_size, engine.offload and engine.offload.l2
    evicted = engine.manager.pool.num_evicted * size
    return {
        "evicted_tokens": evicted,
        "backed_up_tokens": engine.stored_blocks * size,
        "host_evicted_tokens": l2.num_evicted * size if l2 else 0,
        "lost_tokens": None if l2 else evicted,
        "l2_peak_usage": engine.l2_peak / (l2.num_blocks - 1) if l2 else 0.0,
    }
