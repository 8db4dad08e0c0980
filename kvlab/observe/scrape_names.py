"""Under which names do engines export what the rules ask for?

One row a role: our name, the metrics that say it (the first one present wins), which
labels must hold, and whether it is a gauge or a lifetime counter. Names are
without the prefix `sglang:` or `vllm:` and without `_total`.
Left out: reading the text (scrape.py).
"""

from __future__ import annotations

from typing import NamedTuple


class Role(NamedTuple):
    """One thing that metrics say. `where` are label values that must hold; `scale`
    multiplies; `counter` names come out with `_total`."""

    name: str
    metrics: tuple[str, ...]
    counter: bool = False
    where: tuple[tuple[str, str], ...] = ()
    scale: float = 1.0


def _gauge(name: str, *metrics: str, **where: str) -> Role:
    return Role(name, metrics or (name,), False, tuple(where.items()))


def _counter(name: str, *metrics: str, **where: str) -> Role:
    return Role(f"{name}_total", metrics or (name,), True, tuple(where.items()))


SGLANG = (
    _gauge("usage_kv", "token_usage"),
    _gauge("usage_full", "full_token_usage"),
    _gauge("usage_swa", "swa_token_usage"),
    _gauge("usage_mamba", "mamba_usage"),
    _gauge("tokens", "num_used_tokens"),
    _gauge("running", "num_running_reqs", "num_requests_running"),
    _gauge("queue", "num_queue_reqs", "num_requests_waiting"),
    _gauge("grammar_queue", "num_grammar_queue_reqs"),
    _gauge(
        "bootstrap", "num_prefill_bootstrap_queue_reqs",
        "num_prefill_prealloc_queue_reqs",
    ),
    _gauge(
        "inflight", "num_prefill_inflight_queue_reqs", "num_prefill_infight_queue_reqs"
    ),
    _gauge("prealloc", "num_decode_prealloc_queue_reqs"),
    _gauge("transfer", "num_decode_transfer_queue_reqs"),
    _gauge("pool_tokens", "max_total_num_tokens"),
    _gauge("kv_available", "kv_available_tokens"),
    _gauge("kv_evictable", "kv_evictable_tokens"),
    _gauge("kv_used", "kv_used_tokens"),
    _gauge("new_token_ratio"),
    _gauge(
        "max_running_requests", "max_running_requests_under_SLO", "max_running_requests"
    ),
    _gauge("sessions", "num_streaming_sessions"),
    _gauge("session_held", "streaming_session_held_tokens"),
    _gauge("retracted_gauge", "num_retracted_reqs"),
    _gauge("gen_tps", "gen_throughput"),
    _gauge("l2_used", "hicache_host_used_tokens"),
    _gauge("l2_size", "hicache_host_total_tokens"),
    _counter("retracted", "num_retracted_requests"),
    _counter("computed", "realtime_tokens", mode="prefill_compute"),
    _counter("cached", "realtime_tokens", mode="prefill_cache"),
    _counter("decoded", "realtime_tokens", mode="decode"),
    _counter("cached_any", "cached_tokens"),
    _counter("host_cached", "cached_tokens", cache_source="host"),
    _counter("prompt", "prompt_tokens"),
    _counter("generated", "generation_tokens"),
    _counter("backup", "hicache_backup_tokens"),
    _counter("load_back", "load_back_tokens"),
    _counter("load_seconds", "load_back_duration_seconds_sum"),
    _counter("loads", "load_back_duration_seconds_count"),
    _counter("loaded_bytes", "load_back_bytes"),
    _counter("ttft_seconds", "time_to_first_token_seconds_sum"),
    _counter("ttfts", "time_to_first_token_seconds_count"),
    _counter("evicted", "evicted_tokens"),
    _counter("dropped", "hicache_dropped_tokens", reason="host_pressure"),
    _counter(
        "dropped_unbacked", "hicache_dropped_tokens",
        reason="write_through_unbacked_eviction",
    ),
)  # fmt: skip

VLLM = (
    _gauge("usage", "kv_cache_usage_perc", "gpu_cache_usage_perc"),
    _gauge("usage_cpu", "cpu_cache_usage_perc"),
    _gauge("running", "num_requests_running"),
    _gauge("queue", "num_requests_waiting"),
    _gauge("swapped", "num_requests_swapped"),
    _gauge("deferred", "num_requests_waiting_by_reason", reason="deferred"),
    _gauge("hit_rate_logged", "gpu_prefix_cache_hit_rate"),
    _gauge("l2_pinned", "kv_offload_cpu_cache_usage_perc"),
    _counter("preemptions", "num_preemptions"),
    _counter("queries", "prefix_cache_queries", "gpu_prefix_cache_queries"),
    _counter("hits", "prefix_cache_hits", "gpu_prefix_cache_hits"),
    _counter("external_queries", "external_prefix_cache_queries"),
    _counter("external_hits", "external_prefix_cache_hits"),
    _counter("prompt", "prompt_tokens"),
    _counter("generated", "generation_tokens"),
    _counter("store_bytes", "kv_offload_store_bytes"),
    _counter("load_bytes", "kv_offload_load_bytes"),
    _counter("l2_refusals", "kv_offload_allocation_failure"),
)

LMCACHE = (
    _counter("external_queries", "num_lookup_tokens", "num_requested_tokens"),
    _counter("external_hits", "num_lookup_hits", "num_hit_tokens"),
)

ROLES = {"sglang": SGLANG, "vllm": VLLM, "lmcache": LMCACHE}
TTFT = "time_to_first_token_seconds"
CONFIG = "cache_config_info"
"""vLLM's pool as labels of a gauge that is always 1."""
