"""What would Prometheus have scraped from this run?

SGLang's names and types, as a text exposition, every so many seconds of the run's own
clock. A scrape shows the state before the event that takes the clock past its moment.
Left out: labels of ranks; histograms other than TTFT; gauges that a real server updates
only when it logs are shown as they are.
Source: SGLang 0.5.14 and 0.5.23, observability/metrics_collector.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from ..errors import InputError
from ..files import replace_file
from ..record.block_report import label_value
from ..record.trace import EventLog, Trace
from ..rule import OLD
from .meter import Histogram, Meter, time_after

_GAUGES = (
    ("num_running_reqs", "The number of running requests."),
    ("num_queue_reqs", "The number of requests in the waiting queue."),
    ("token_usage", "The token usage, 0 to 1."),
    ("num_used_tokens", "The number of used tokens."),
    ("max_total_num_tokens", "The tokens of the KV pool."),
    ("kv_available_tokens", "Free tokens of the KV pool."),
    ("kv_evictable_tokens", "Cached tokens that eviction can free."),
    ("kv_used_tokens", "Tokens that requests hold or lock."),
    ("new_token_ratio", "The share of max_new_tokens that is set aside."),
    ("cache_hit_rate", "The prefix cache hit rate of the last prefill batch."),
    ("hicache_host_used_tokens", "Host tokens in use."),
    ("hicache_host_total_tokens", "Host tokens in all."),
)
_COUNTERS = (
    ("prompt_tokens_total", "prompt", "Prompt tokens."),
    ("generation_tokens_total", "generated", "Tokens generated."),
    ("cached_tokens_total", "cached", "Prompt tokens found in the cache."),
    ("evicted_tokens_total", "evicted", "Tokens evicted from the device."),
    ("load_back_tokens_total", "loaded", "Tokens loaded back from the host."),
    ("num_requests_total", "finished", "Requests done."),
    ("num_retracted_requests_total", "retracted", "Requests retracted."),
    ("num_retracted_input_tokens_total", "retracted_in", "Their prompt tokens."),
    ("num_retracted_output_tokens_total", "retracted_out", "Their output tokens."),
)
_NEWER = (("hicache_backup_tokens_total", "backed_up", "Tokens written to the host."),)

MAX_FILES = 100_000
"""The most scrapes that are written: more, and a folder is of no use."""


def scrapes(trace: Trace, every: int) -> Iterator[tuple[int, str]]:
    """Yield (nanoseconds, exposition) every `every` nanoseconds of the run.

    Raises: ValueError or KeyError where the trace does not fold.
    Cost: O(events).
    """
    meter, moment = Meter(trace.header), 0
    for event in trace.events:
        after = time_after(event)
        while after is not None and after > moment:
            yield moment, exposition(meter)
            moment += every
        meter.take(event)
    yield moment, exposition(meter)


def write_scrapes(trace: Trace, folder: Path, every: int) -> int:
    """Write each scrape to a file named by its milliseconds; return how many.

    Raises: InputError, before the first, where they are more than MAX_FILES.
    """
    check_number(trace, every)
    return write_all(scrapes(trace, every), folder)


def write_all(told: Iterable[tuple[int, str]], folder: Path) -> int:
    """Write all of the scrapes to files of the folder, or none; return how many.

    Raises: InputError as `replace_file`.
    """
    written: list[Path] = []
    try:
        for at, text in told:
            written.append(folder / f"scrape_{at // 10**6:010d}.prom")
            replace_file(written[-1], text.encode())
    except BaseException:
        for path in written:
            path.unlink(missing_ok=True)
        raise
    return len(written)


def check_number(trace: EventLog, every: int) -> None:
    """Raises: InputError where scrapes every so many nanoseconds of the run are more
    than MAX_FILES."""
    told = (time_after(event) for event in reversed(trace.events))
    end = next((time for time in told if time is not None), 0)
    if (files := -(-end // every) + 1) > MAX_FILES:
        enough = -(-end // (MAX_FILES - 1) // 10**6) / 1000
        raise InputError(
            f"--metrics-every {every / 1e9:g}", f"makes {files:,} files of a run of "
            f"{end / 1e9:,.0f} s; {MAX_FILES:,} are the most", f"use {enough:g} or more"
        )  # fmt: skip


def exposition(meter: Meter) -> str:
    """Return the meter as Prometheus text."""
    labels = f'{{model_name="{label_value(meter.header.name or "kvlab")}"}}'
    lines: list[str] = []
    values = _gauges(meter)
    for name, help in _GAUGES:
        lines += _one(name, "gauge", help, labels, values[name])
    newer = () if meter.header.rules.nearest == OLD else _NEWER
    for name, key, help in (*_COUNTERS, *newer):
        lines += _one(name, "counter", help, labels, meter.counts[key])
    lines += _by_mode(meter)
    lines += _histogram(meter.ttft, labels)
    return "\n".join(lines) + "\n"


def _gauges(meter: Meter) -> dict[str, float]:
    account, host = meter.state.account(), meter.state.host_account()
    return {
        "num_running_reqs": len(meter.state.running),
        "num_queue_reqs": len(meter.state.waiting),
        "token_usage": round(meter.usage, 2),
        "num_used_tokens": meter.used,
        "max_total_num_tokens": account.total,
        "kv_available_tokens": account.available,
        "kv_evictable_tokens": account.evictable,
        "kv_used_tokens": meter.used,
        "new_token_ratio": meter.ratio.value,
        "cache_hit_rate": meter.hit_rate,
        "hicache_host_used_tokens": host.total - host.available,
        "hicache_host_total_tokens": host.total,
    }


def _one(name: str, kind: str, help: str, labels: str, value: float) -> list[str]:
    full = f"sglang:{name}"
    return [
        f"# HELP {full} {help}", f"# TYPE {full} {kind}", f"{full}{labels} {value}",
    ]  # fmt: skip


def _by_mode(meter: Meter) -> list[str]:
    name = "sglang:realtime_tokens_total"
    modes = (
        ("prefill_compute", "computed"), ("prefill_cache", "cached"),
        ("decode", "generated"),
    )  # fmt: skip
    head = [f"# HELP {name} Tokens by what was done.", f"# TYPE {name} counter"]
    rows = [f'{name}{{mode="{mode}"}} {meter.counts[key]}' for mode, key in modes]
    return head + rows


def _histogram(histogram: Histogram, labels: str) -> list[str]:
    name = "sglang:time_to_first_token_seconds"
    counts = histogram.cumulative()
    bounds = [*map(str, histogram.bounds), "+Inf"]
    inside = labels[1:-1]
    return [
        f"# HELP {name} Seconds to the first token.",
        f"# TYPE {name} histogram",
        *(
            f'{name}_bucket{{{inside},le="{bound}"}} {count}'
            for bound, count in zip(bounds, counts, strict=True)
        ),
        f"{name}_sum{labels} {histogram.total}",
        f"{name}_count{labels} {counts[-1]}",
    ]
