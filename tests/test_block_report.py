"""Are a block run's numbers shown as the release in question shows them?"""

from __future__ import annotations

import pytest

from kvlab.errors import ConfigError
from kvlab.record.block_metrics import BlockCounters, BlockGauges
from kvlab.record.block_report import (
    HitRate,
    exposition,
    start_lines,
    stats_line,
)
from kvlab.record.block_tier import BlockAccount

BUSY = BlockGauges(4, 9, 2, 0.987, 1, 2, 0)
QUIET = BlockGauges(0, 0, 0, 0.0, 0, 0, 0)
GROWN = BlockCounters(
    prompt_tokens=20_000, cached_tokens=6_008, generation_tokens=999, preemptions=3
)


def test_the_line_of_0_33_is_the_recorded_one():
    line = stats_line(GROWN, BUSY, 10.0, hit_rate=42.1, external_rate=10.0)
    assert line == (
        "Engine 000: Avg prompt throughput: 1399.2 tokens/s, Avg generation "
        "throughput: 99.9 tokens/s, Running: 4 reqs, Waiting: 11 reqs, Deferred: 2 "
        "reqs, KV fetch: 1 waiting to start, 2 in progress, 0 completed waiting, GPU "
        "KV cache usage: 98.7%, Prefix cache hit rate: 42.1%, External prefix cache "
        "hit rate: 10.0%"
    )


def test_parts_that_are_empty_are_left_out():
    line = stats_line(BlockCounters(), QUIET, 10.0)
    assert line.endswith("Waiting: 0 reqs, GPU KV cache usage: 0.0%")


@pytest.mark.parametrize(
    ("version", "shown"), [("0.8", False), ("0.11", True), ("0.33.0", False)]
)
def test_only_some_releases_print_preemptions(version, shown):
    line = stats_line(GROWN, BUSY, 10.0, version=version)
    assert ("Preemptions: 3" in line) == shown


def test_an_old_release_tells_nothing_of_deferred_requests():
    assert "Deferred" not in stats_line(GROWN, BUSY, 10.0, version="0.8")


def test_a_release_without_a_table_is_refused():
    with pytest.raises(ConfigError, match=r"no log format of vLLM '9'; kvlab has 0.8"):
        stats_line(GROWN, BUSY, 10.0, version="9")


def test_waiting_requests_include_the_deferred():
    text = exposition(GROWN, BUSY)
    assert 'vllm:num_requests_waiting{engine="0",model_name="kvlab"} 11.0\n' in text
    assert 'reason="deferred"} 2.0\n' in text


def test_names_follow_the_release():
    assert "vllm:gpu_cache_usage_perc" in exposition(GROWN, BUSY, version="0.8")
    assert "vllm:kv_cache_usage_perc" in exposition(GROWN, BUSY, version="0.9")


def test_0_8_counts_its_prefix_cache_in_blocks():
    total = BlockCounters(prefix_queries=64, prefix_hits=32)
    assert "gpu_prefix_cache_hits_total" in (text := exposition(total, QUIET,
        version="0.8", block_size=16))  # fmt: skip
    assert 'gpu_prefix_cache_hits_total{engine="0",model_name="kvlab"} 2.0' in text


def test_the_null_block_counts_in_the_line_of_the_start():
    line = start_lines(BlockAccount(0, 0, 999, 999), 16, 4096)
    assert line.startswith("GPU KV cache size: 16,000 tokens")
    assert line.endswith("3.91x")


def test_a_hit_rate_forgets_what_lies_a_thousand_requests_back():
    rate = HitRate()
    rate.add(1, 100, 100)
    rate.add(1000, 100, 0)
    assert rate.percent == 0.0


def test_a_hit_rate_before_anything_was_asked_is_none():
    rate = HitRate()
    rate.add(0, 0, 0)
    assert rate.percent is None
