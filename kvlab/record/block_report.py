"""How would a vLLM server show these numbers: in its log, and to Prometheus?

Releases differ in what they print and in what they call it. Rates need seconds, which
a trace without a clock does not have: the caller gives them.
Left out: histograms; time stamps and process tags in front of a line.
Source: vLLM 0.8 to 0.33.0, v1/metrics/loggers.py, as the project's tables say.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from ..errors import ConfigError
from .block_metrics import BlockCounters, BlockGauges
from .block_tier import BlockAccount

WINDOW = 1000
"""Admitted requests over which a logged hit rate goes, about."""


class Release(NamedTuple):
    """What a release prints and how it names the pool's gauges and counters."""

    deferred: bool
    kv_fetch: bool
    preemptions: bool
    external: bool
    usage: str
    prefix: str


RELEASES = {
    "0.8": Release(
        False, False, False, False, "gpu_cache_usage_perc", "gpu_prefix_cache"
    ),
    "0.9": Release(False, False, False, False, "kv_cache_usage_perc", "prefix_cache"),
    "0.11": Release(True, False, True, True, "kv_cache_usage_perc", "prefix_cache"),
    "0.33.0": Release(True, True, False, True, "kv_cache_usage_perc", "prefix_cache"),
}
"""0.33.0 has code for Preemptions in its line, but resets the count before it looks."""


class HitRate:
    """A hit rate over the last thousand or so admitted requests.

    >>> rate = HitRate(); rate.add(1, 100, 25); rate.percent
    25.0
    """

    def __init__(self) -> None:
        self._parts: deque[tuple[int, int, int]] = deque()

    def add(self, requests: int, queries: int, hits: int) -> None:
        """Add one report; drop the oldest while more than `WINDOW` requests are left.

        Changes: the window. A report without requests is passed over.
        """
        if not requests:
            return
        self._parts.append((requests, queries, hits))
        while len(self._parts) > 1 and sum(r for r, _, _ in self._parts) > WINDOW:
            self._parts.popleft()

    @property
    def percent(self) -> float | None:
        """The rate, 0 to 100; None before anything was asked."""
        queries = sum(part[1] for part in self._parts)
        hits = sum(part[2] for part in self._parts)
        return 100.0 * hits / queries if queries else None


def release(version: str) -> Release:
    """Return what a release shows. Raises: ConfigError for one that is not known."""
    if version not in RELEASES:
        known = ", ".join(RELEASES)
        raise ConfigError(f"no log format of vLLM {version!r}; kvlab has {known}")
    return RELEASES[version]


def stats_line(
    grown: BlockCounters,
    now: BlockGauges,
    seconds: float,
    *,
    version: str = "0.33.0",
    hit_rate: float | None = None,
    external_rate: float | None = None,
) -> str:
    """Return the stats line of an interval of so many seconds.

    Units: rates in percent. The prompt throughput counts computed tokens only.
    Raises: ConfigError for an unknown release.
    """
    shown = release(version)
    computed = grown.prompt_tokens - grown.cached_tokens
    parts = [
        f"Avg prompt throughput: {computed / seconds:.1f} tokens/s",
        f"Avg generation throughput: {grown.generation_tokens / seconds:.1f} tokens/s",
        f"Running: {now.running} reqs",
        f"Waiting: {now.waiting + now.deferred} reqs",
    ]
    if shown.deferred and now.deferred:
        parts.append(f"Deferred: {now.deferred} reqs")
    if shown.kv_fetch and any(now[4:]):
        parts.append(
            f"KV fetch: {now.waiting_to_start} waiting to start, {now.in_progress} in "
            f"progress, {now.completed_waiting} completed waiting"
        )
    if shown.preemptions and grown.preemptions:
        parts.append(f"Preemptions: {grown.preemptions}")
    parts.append(f"GPU KV cache usage: {100 * now.kv_cache_usage:.1f}%")
    if hit_rate is not None:
        parts.append(f"Prefix cache hit rate: {hit_rate:.1f}%")
    if shown.external and external_rate is not None:
        parts.append(f"External prefix cache hit rate: {external_rate:.1f}%")
    return "Engine 000: " + ", ".join(parts)


def exposition(
    total: BlockCounters,
    now: BlockGauges,
    *,
    version: str = "0.33.0",
    model: str = "kvlab",
    block_size: int = 16,
) -> str:
    """Return what a scrape of /metrics would read, in Prometheus' text format.

    Units: tokens; 0.8 counts its prefix cache in blocks of `block_size`.
    Raises: ConfigError for an unknown release.
    """
    shown = release(version)
    labels = f'{{engine="0",model_name="{label_value(model)}"}}'
    lines = [
        f"# TYPE vllm:{name} {kind}\nvllm:{name}{labels} {float(value)}\n"
        for name, kind, value in _samples(total, now, shown, block_size)
    ]
    if shown.kv_fetch:
        lines.append("# TYPE vllm:num_requests_waiting_by_reason gauge\n")
        for reason, count in (("capacity", now.waiting), ("deferred", now.deferred)):
            extra = labels[:-1] + f',reason="{reason}"}}'
            lines.append(f"vllm:num_requests_waiting_by_reason{extra} {float(count)}\n")
    return "".join(lines)


def label_value(text: str) -> str:
    """Return a text as it stands between the quotes of a label.

    >>> print(label_value('a "b"'))
    a \\"b\\"
    """
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def start_lines(account: BlockAccount, block_size: int, max_model_len: int) -> str:
    """Return what the engine says of its pool when it starts: the null block counts.

    >>> start_lines(BlockAccount(0, 0, 999, 999), 16, 4096)
    'GPU KV cache size: 16,000 tokens, Maximum concurrency for 4,096 tokens per \
request: 3.91x'
    """
    blocks = account.total + 1
    sequences = blocks / -(-max_model_len // block_size)
    return (
        f"GPU KV cache size: {int(sequences * max_model_len):,} tokens, Maximum "
        f"concurrency for {max_model_len:,} tokens per request: {sequences:.2f}x"
    )


def _samples(
    total: BlockCounters, now: BlockGauges, shown: Release, block_size: int
) -> Iterator[tuple[str, str, float]]:
    unit = block_size if shown.prefix.startswith("gpu_") else 1
    yield "num_requests_running", "gauge", now.running
    yield "num_requests_waiting", "gauge", now.waiting + now.deferred
    yield shown.usage, "gauge", now.kv_cache_usage
    yield f"{shown.prefix}_queries_total", "counter", total.prefix_queries // unit
    yield f"{shown.prefix}_hits_total", "counter", total.prefix_hits // unit
    if shown.external:
        yield "external_prefix_cache_queries_total", "counter", total.external_queries
        yield "external_prefix_cache_hits_total", "counter", total.external_hits
    yield "num_preemptions_total", "counter", total.preemptions
    yield "prompt_tokens_total", "counter", total.prompt_tokens
    yield "generation_tokens_total", "counter", total.generation_tokens
    yield "request_success_total", "counter", total.finished
