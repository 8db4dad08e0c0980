"""What would a vLLM server have logged of this run, and Prometheus have scraped?

Both are read off a recorded run on a clock: a stats line every ten seconds, as long as
anything is computed, and an exposition every so many seconds. Each shows the state
before the event that takes the clock past its moment.
Left out: the other histograms (TTFT is there); preemptions in the log, which the
release resets before it looks (block_report.py); how the numbers are written.
Source: vLLM 0.33.0, v1/metrics/loggers.py; v1/core/kv_cache_utils.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

from ..record import events as ev
from ..record.block_metrics import BlockCounters, BlockMeter
from ..record.block_report import (
    RELEASES,
    HitRate,
    exposition,
    label_value,
    start_lines,
    stats_line,
)
from ..record.block_snapshot import BlockState
from ..record.events import Event
from ..record.trace import BlockHeader, BlockTrace
from .meter import Histogram, time_after
from .scrapes import check_number, write_all

INTERVAL = 10 * 10**9
"""Nanoseconds between two lines (VLLM_LOG_STATS_INTERVAL)."""
START = datetime(2026, 1, 1)
TTFT_BUCKETS = (
    0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5,
    10, 20, 40, 80, 160, 640, 2560,
)  # fmt: skip
"""Seconds. Source: vLLM, v1/metrics/loggers.py."""


class Watched:
    """A run after some event: its meter, and the time to each first token."""

    def __init__(self, header: BlockHeader) -> None:
        self.header = header
        self.meter = BlockMeter(BlockState.start(header.config))
        self.ttft = Histogram(TTFT_BUCKETS)

    @property
    def version(self) -> str:
        """The release whose names are used: the run's, or the newest that is known."""
        known = self.header.version
        return known if known in RELEASES else next(reversed(RELEASES))

    def take(self, event: Event) -> None:
        """Move on over one event. Changes: the meter, the histogram.

        Raises: ValueError or KeyError where the event does not fit the state.
        """
        state = self.meter.state
        if isinstance(event, ev.Output):
            self._answered(event.request, state.now)
        elif isinstance(event, ev.Decode):
            for id in state.running:
                if state.requests[id].lacks_one:
                    self._answered(id, event.now)
        self.meter.apply(event)

    def _answered(self, id: str, now: int) -> None:
        """A prompt that lacked one token has its first answer by a decode step."""
        request = self.meter.state.requests[id]
        if not request.outputs:
            self.ttft.add((now - request.arrival) / 1e9)


def moments(trace: BlockTrace, every: int) -> Iterator[tuple[int, Watched]]:
    """Yield (nanoseconds, the run so far) every `every` nanoseconds, and at the end.

    It is one object that moves on. Raises, Cost: as `block_scrapes`.
    """
    watched, moment = Watched(trace.header), 0
    for event in trace.events:
        after = time_after(event)
        while after is not None and after > moment:
            yield moment, watched
            moment += every
        watched.take(event)
    yield moment, watched


# --- metrics


def block_scrapes(trace: BlockTrace, every: int) -> Iterator[tuple[int, str]]:
    """Yield (nanoseconds, exposition) every `every` nanoseconds of the run.

    Raises: ValueError or KeyError where the trace does not fold. Cost: O(events).
    """
    for at, watched in moments(trace, every):
        yield at, _exposed(watched)


def write_block_scrapes(trace: BlockTrace, folder: Path, every: int) -> int:
    """Write each scrape to a file named by its milliseconds; return how many.

    Raises: InputError, before the first, where they are too many (`check_number`).
    """
    check_number(trace, every)
    return write_all(block_scrapes(trace, every), folder)


def _exposed(watched: Watched) -> str:
    config, meter = watched.header.config, watched.meter
    model = watched.header.name or "kvlab"
    text = exposition(
        meter.counters, meter.gauges(), version=watched.version, model=model,
        block_size=config.block_size,
    )  # fmt: skip
    return text + _config_line(watched) + _histogram(watched.ttft, model)


def _config_line(watched: Watched) -> str:
    config = watched.header.config
    return (
        "# TYPE vllm:cache_config_info gauge\n"
        f'vllm:cache_config_info{{block_size="{config.block_size}",engine="0",'
        f'num_gpu_blocks="{config.num_gpu_blocks}"}} 1.0\n'
    )


def _histogram(ttft: Histogram, model: str) -> str:
    name = "vllm:time_to_first_token_seconds"
    labels = f'engine="0",model_name="{label_value(model)}"'
    bounds = [*(f"{float(bound)}" for bound in ttft.bounds), "+Inf"]
    counts = ttft.cumulative()
    lines = [f"# TYPE {name} histogram"]
    for bound, count in zip(bounds, counts, strict=True):
        lines.append(f'{name}_bucket{{{labels},le="{bound}"}} {float(count)}')
    lines.append(f"{name}_count{{{labels}}} {float(counts[-1])}")
    lines.append(f"{name}_sum{{{labels}}} {ttft.total}")
    return "\n".join(lines) + "\n"


# --- the log


def block_log_lines(trace: BlockTrace) -> Iterator[str]:
    """Yield the log of a recorded run on a clock, oldest first.

    Raises: ValueError or KeyError where the trace does not fold. Cost: O(events).
    """
    yield from _start(trace.header)
    before, was_busy = BlockCounters(), False
    local, external = HitRate(), HitRate()
    for at, watched in moments(trace, INTERVAL):
        now = watched.meter.counters.copy()
        grown, before = now.since(before), now
        local.add(grown.admitted, grown.prefix_queries, grown.prefix_hits)
        if grown.external_queries:
            external.add(grown.admitted, grown.external_queries, grown.external_hits)
        busy = bool(grown.prompt_tokens or grown.generation_tokens)
        if at and (busy or was_busy):
            yield _line(at, "loggers.py:271") + stats_line(
                grown, watched.meter.gauges(), INTERVAL / 1e9,
                version=watched.version, hit_rate=local.percent,
                external_rate=external.percent,
            )  # fmt: skip
        was_busy = busy


def _start(header: BlockHeader) -> Iterator[str]:
    config = header.config
    yield _line(0, "utils.py:233") + (
        f"non-default args: {{'max_num_seqs': {config.max_num_seqs}, "
        f"'block_size': {config.block_size}, "
        f"'max_num_batched_tokens': {config.max_num_batched_tokens}}}"
    )
    account = BlockState.start(config).tiers["L1"].account()
    yield _line(0, "kv_cache_utils.py:1154") + start_lines(
        account, config.block_size, config.max_model_len
    )


def _line(nanoseconds: int, place: str) -> str:
    at = START + timedelta(microseconds=nanoseconds // 1000)
    return f"INFO {at:%m-%d %H:%M:%S} [{place}] "
