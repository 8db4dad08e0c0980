"""Are a block run's metrics and log the run's, and can their readers read them?"""

from __future__ import annotations

import json
import re
from functools import cache

import msgspec
import pytest
from prometheus_client.parser import text_string_to_metric_families

from kvlab.block_config import BlockConfig
from kvlab.cli import main
from kvlab.observe.diagnose import diagnose
from kvlab.record.trace import BlockHeader, BlockTrace
from kvlab.record.trace_file import write_trace
from kvlab.run.accelerators import accelerator
from kvlab.run.block_telemetry import (
    block_log_lines,
    block_scrapes,
    write_block_scrapes,
)
from kvlab.run.block_timed_engine import TimedBlockEngine
from kvlab.run.cost import Cost
from kvlab.run.generators import poisson, ramp, unique
from kvlab.run.model_shapes import model_shape
from kvlab.run.workload import OpenLoop

EVERY = 10 * 10**9
PRINTS_PREEMPTIONS = "0.11"


@cache
def run_of(kind):
    """Return a recorded run and its engine: a pool that is too small, one that is not.

    The run's name holds quotes, which a label must not end at.
    """
    blocks, asks = {
        "overloaded": (
            900, unique(160, ramp(0.5, 8.0, 60, 1), length=1500, outputs=2000),
        ),
        "healthy": (4000, unique(60, poisson(0.6, 1), length=2048, outputs=300)),
    }[kind]  # fmt: skip
    config = BlockConfig(
        num_gpu_blocks=blocks, block_size=64, max_model_len=(blocks - 1) * 64,
        max_num_batched_tokens=2048, hash_algo="chain64",
    )  # fmt: skip
    trace = BlockTrace(BlockHeader(name=f'{kind} "run"', config=config))
    cost = Cost(model_shape("llama-3-70b"), accelerator("h100"), tp=8)
    engine = TimedBlockEngine(config, cost, emit=trace)
    engine.run(OpenLoop(asks))
    return trace, engine


def as_release(trace, version):
    """Return the same run as another release would have told it."""
    header = msgspec.structs.replace(trace.header, version=version)
    other = BlockTrace(header)
    other.events.extend(trace.events)
    return other


def values(text):
    return {
        (sample.name, sample.labels.get("le")): (sample.value, sample.labels)
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def verdict_of(trace, form, folder):
    if form == "run":
        path = folder / "run.jsonl.gz"
        write_trace(trace, path)
    elif form == "log":
        path = folder / "server.log"
        path.write_text("\n".join(block_log_lines(trace)) + "\n")
    else:
        path = folder
        write_block_scrapes(trace, folder, EVERY)
    return diagnose([path])


def test_every_scrape_is_read_by_the_real_client():
    trace, _ = run_of("overloaded")
    for _, text in block_scrapes(trace, EVERY):
        _, labels = values(text)["vllm:kv_cache_usage_perc", None]
        assert labels["model_name"] == 'overloaded "run"'


def test_the_last_scrape_has_the_run_s_sums():
    trace, engine = run_of("overloaded")
    *_, (_, text) = block_scrapes(trace, EVERY)
    read, done = values(text), engine.tallies.done
    assert engine.tallies.retractions > 0
    for name, want in {
        "num_preemptions_total": engine.tallies.retractions,
        "generation_tokens_total": sum(record.outputs for record in done),
        "prompt_tokens_total": engine.tallies.input_tokens,
        "request_success_total": len(done),
    }.items():
        assert read[f"vllm:{name}", None][0] == want, name


def test_the_histogram_holds_every_first_token_and_its_time():
    trace, engine = run_of("overloaded")
    *_, (_, text) = block_scrapes(trace, EVERY)
    read, done = values(text), engine.tallies.done
    name = "vllm:time_to_first_token_seconds"
    assert read[f"{name}_count", None][0] == len(done)
    want = sum(record.ttft for record in done) / 1e9
    assert read[f"{name}_sum", None][0] == pytest.approx(want)


def test_a_stats_line_tells_what_its_ten_seconds_made():
    trace, engine = run_of("overloaded")
    rates = [
        float(found[1])
        for line in block_log_lines(trace)
        if (found := re.search(r"generation throughput: ([\d.]+) tokens/s", line))
    ]
    made = sum(record.outputs for record in engine.tallies.done)
    assert 10 * sum(rates) == pytest.approx(made, rel=1e-3)


def test_an_engine_that_rests_prints_no_line():
    trace, engine = run_of("healthy")
    *_, last = block_log_lines(trace)
    told = sum("Avg prompt throughput" in line for line in block_log_lines(trace))
    assert "Running: 0 reqs" in last
    assert told <= engine.now / 1e15 / 10 + 2


@pytest.mark.parametrize("form", ["run", "log", "metrics"])
@pytest.mark.parametrize(
    ("kind", "verdict"), [("overloaded", "l1_bound"), ("healthy", "healthy")]
)
def test_run_log_and_metrics_have_one_verdict(kind, verdict, form, tmp_path):
    trace = as_release(run_of(kind)[0], PRINTS_PREEMPTIONS)
    assert verdict_of(trace, form, tmp_path).verdict == verdict


def test_a_log_of_0_33_lacks_the_sign_that_decides(tmp_path):
    found = verdict_of(run_of("overloaded")[0], "log", tmp_path)
    assert found.verdict == "not_enough_evidence"
    assert "this release's log does not print preemptions" in found.reasons


def test_a_replay_writes_both(tmp_path):
    rows = [
        {"timestamp": 400 * i, "input_length": 512, "output_length": 300,
         "hash_ids": [i]}
        for i in range(8)
    ]  # fmt: skip
    trace, folder = tmp_path / "trace.jsonl", tmp_path / "metrics"
    trace.write_text("".join(json.dumps(row) + "\n" for row in rows))
    folder.mkdir()
    assert main([
        "replay", str(trace), "--engine", "vllm", "--timing", "model",
        "--concurrency", "open", "--output-tokens", "trace", "--model", "llama-3-8b",
        "--page-size", "16", "--pool-tokens", "65536", "--metrics-every", "1",
        "--metrics-dir", str(folder), "--engine-log", str(tmp_path / "server.log"),
    ]) == 0  # fmt: skip
    last = sorted(folder.iterdir())[-1].read_text()
    assert values(last)["vllm:request_success_total", None][0] == 8
    assert "Engine 000: Avg prompt throughput" in (tmp_path / "server.log").read_text()
