"""How does a run of vLLM's blocks look to the rules that judge real engines?

As run_samples.py does it for SGLang: one sample wherever the state of the scheduler
changed. Times are the run's own clock, None for a run without one.
Left out: the rules (verdict.py).
"""

from __future__ import annotations

from ..errors import TraceError
from ..record import block_events as ev
from ..record.block_metrics import BlockMeter
from ..record.block_snapshot import BlockState
from ..record.events import Arrive, Clock, Decode, Event, Finish, Forward, Sent
from ..record.trace import BlockTrace
from .samples import Place, Recording, Sample, Values

_REPORTS = (Arrive, Finish, ev.Run, ev.Preempt, ev.Defer, ev.Schedule)
_CLOCKED = (Sent, Clock, Forward, Decode)


def record_block_run(trace: BlockTrace, name: str) -> Recording:
    """Return the samples of a run; a place names the event after which it was taken.

    Raises: TraceError where the run does not fold. Cost: O(events).
    """
    recording = Recording("run")
    recording.engines["vllm"] += 1
    recording.marks.add("preemptions printed")
    recording.lines = len(trace)
    track, config = recording.track(""), trace.header.config
    meter = BlockMeter(BlockState.start(config))
    for field, value in (
        ("pool_blocks", config.num_gpu_blocks),
        ("block_size", config.block_size),
        ("max_running_requests", config.max_num_seqs),
    ):
        said = {field: float(value)}
        track.info[field] = Sample(Place(name, 0), None, "start", said)
    evicted = 0
    clocked = any(isinstance(event, _CLOCKED) for event in trace.events)
    for index, event in enumerate(trace.events):
        _apply(meter, event, name, index)
        if isinstance(event, ev.Forget) and event.tier == "L1":
            evicted += len(event.blocks) * config.block_size
        place = Place(name, index)
        time = meter.state.now / 1e9 if clocked else None
        if isinstance(event, _REPORTS):
            values = _values(meter) | {"evicted_total": float(evicted)}
            track.add(Sample(place, time, "step", values))
        if isinstance(event, ev.Preempt):
            track.event(Sample(place, time, "preempted", {"preemptions": 1.0}))
        if isinstance(event, Finish | ev.Preempt | ev.Run):
            track.add_counters(_totals(meter) | {"evicted_total": float(evicted)})
    return recording


def _apply(meter: BlockMeter, event: Event, name: str, index: int) -> None:
    try:
        meter.apply(event)
    except (KeyError, ValueError) as misfit:
        raise TraceError(
            f"{name}:{index}", f"the event does not fit the state ({misfit})",
            "record the run again",
        ) from None  # fmt: skip


def _values(meter: BlockMeter) -> Values:
    read = meter.gauges()
    values: Values = {
        "usage": read.kv_cache_usage,
        "running": float(read.running),
        "queue": float(read.waiting + read.deferred),
    }
    if read.deferred:
        values["deferred"] = float(read.deferred)
    return values | _totals(meter)


def _totals(meter: BlockMeter) -> Values:
    counts = meter.counters
    said = {
        "queries_total": counts.prefix_queries,
        "hits_total": counts.prefix_hits,
        "preemptions_total": counts.preemptions,
        "prompt_total": counts.prompt_tokens,
        "generated_total": counts.generation_tokens,
    }
    if counts.external_queries:
        said["external_queries_total"] = counts.external_queries
        said["external_hits_total"] = counts.external_hits
    return {name: float(value) for name, value in said.items()}
