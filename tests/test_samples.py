"""Does a run of kvlab look to the rules as an engine would?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from test_block_goldens import load

from kvlab.cli import main
from kvlab.config import EngineConfig
from kvlab.observe.block_run_samples import record_block_run
from kvlab.observe.diagnose import diagnose_run
from kvlab.observe.run_samples import record_run
from kvlab.observe.samples import Growth, Place, Recording, Sample, Track
from kvlab.record.block_metrics import meter
from kvlab.record.metrics import metrics
from kvlab.record.request_trace import TracedRequest
from kvlab.record.trace import BlockHeader, BlockTrace, Header, Trace
from kvlab.record.trace_file import write_trace
from kvlab.rules import Rules
from kvlab.run.accelerators import accelerator
from kvlab.run.block_runner import BlockRunner
from kvlab.run.cost import Cost
from kvlab.run.generators import poisson, unique
from kvlab.run.model_shapes import model_shape
from kvlab.run.replay_trace import replay_trace
from kvlab.run.timed_engine import TimedEngine
from kvlab.run.workload import OpenLoop

GOLDENS = Path(__file__).parent / "goldens" / "vllm"


@pytest.fixture(scope="module")
def chunked():
    """One prompt of 40 tokens in chunks of 16, on a clock."""
    config = EngineConfig(pool_tokens=99, tree="radix", chunked_prefill_size=16)
    trace = Trace(Header(config=config, rules=Rules.v0_5_14()))
    cost = Cost(model_shape("llama-3-8b"), accelerator("h100"))
    engine = TimedEngine(config, trace.header.rules, cost, emit=trace)
    engine.run(OpenLoop(unique(1, poisson(1.0), length=40, outputs=3)))
    return trace


@pytest.fixture(scope="module")
def serial():
    """Nine requests one after the other, without a clock."""
    requests = [TracedRequest(n, 512, 1, (n,)) for n in range(9)]
    config = EngineConfig(pool_tokens=2000, tree="radix")
    return replay_trace(requests, config, Rules.v0_5_14(), record=True)[1]


@pytest.fixture(scope="module")
def blocks():
    """What the real engine did with a pool too small for its requests."""
    scenario = load(GOLDENS / "r01_tight_fcfs.json.gz")
    trace = BlockTrace(BlockHeader(config=scenario.config))
    runner = BlockRunner(scenario, trace)
    while not runner.is_over:
        runner.step()
    return trace


def test_a_run_reports_the_sums_that_its_metrics_report(sample):
    track = record_run(sample, "run").track("")
    whole = metrics(sample)
    assert track.sums["retracted"] == whole.retractions
    assert track.high("queue") == whole.peak_waiting
    assert track.high("running") == whole.peak_running


def test_a_place_in_a_run_is_the_event(sample):
    track = record_run(sample, "run").track("")
    for kept in track.samples:
        assert 0 <= kept.place.line < len(sample)


def test_usage_leaves_out_what_could_be_evicted(sample):
    track = record_run(sample, "run").track("")
    for kept in track.samples:
        values = kept.values
        used = values["kv_used"] / (
            values["kv_used"] + values["kv_available"] + values["kv_evictable"]
        )
        assert values["usage"] == pytest.approx(used)


def test_a_saved_run_is_diagnosed_by_the_command(capsys, sample, tmp_path):
    path = tmp_path / "run.jsonl.gz"
    write_trace(sample, path)
    assert main(["diagnose", str(path), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["kind"], told["engine"]) == ("run", "sglang")
    assert told["facts"]["pool_tokens"] == 24
    assert told["facts"]["retracted_total"] == 1


def test_a_run_without_time_has_no_window(sample):
    assert diagnose_run(sample, "run").facts["window_s"] is None


def test_a_run_driven_by_hand_says_what_it_does_and_what_to_bring(capsys):
    assert main(["diagnose", "three_fates", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["cause"] == "no_samples"
    assert "44 tokens backed up to L2" in told["reasons"][1]
    assert told["facts"]["evicted_tokens_growth"] == 40
    assert any("kvlab replay" in step for step in told["next"])


def test_a_chunk_that_goes_on_brings_no_hits(chunked):
    track = record_run(chunked, "run").track("")
    assert track.sums["cached_tokens"] == 0
    assert track.sums["new_tokens"] == 40


def test_a_run_without_sharing_is_not_told_to_look_for_a_larger_pool(serial):
    assert diagnose_run(serial, "run").cause != "request_exceeds_pool"


# --- runs of vLLM


def test_a_block_run_reports_the_sums_that_its_meter_reports(blocks):
    track, whole = record_block_run(blocks, "run").track(""), meter(blocks)
    assert track.sums["preemptions"] == whole.counters.preemptions > 0
    assert track.high("queue") == whole.peak_waiting
    assert track.high("running") == whole.peak_running
    assert track.last("hits_total") == whole.counters.prefix_hits


def test_a_saved_block_run_is_diagnosed_by_the_command(capsys, blocks, tmp_path):
    path = tmp_path / "blocks.jsonl"
    write_trace(blocks, path)
    assert main(["diagnose", str(path), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["kind"], told["engine"]) == ("run", "vllm")
    assert told["facts"]["preemptions_total"] == meter(blocks).counters.preemptions
    assert told["verdict"] == "l1_bound"


def test_a_damaged_block_run_is_one_line(capsys, blocks, tmp_path):
    path = tmp_path / "blocks.jsonl"
    write_trace(blocks, path)
    path.write_text(path.read_text()[:-40])
    assert main(["diagnose", str(path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


# --- tracks


def test_growth_counts_a_reset_from_zero():
    growth = Growth(10, 10)
    for value in (15, 3, 4):
        growth.read(value)
    assert growth.grown == 9


def test_events_of_no_scheduler_go_to_the_only_one():
    recording = Recording("log")
    place = Place("a", 1)
    recording.track("").event(Sample(place, None, "lookup", {"lookup_tokens": 5.0}))
    recording.track("engine 0").add(Sample(place, None, "stats", {"queue": 0.0}))
    recording.settle()
    (track,) = recording.tracks.values()
    assert (track.name, track.sums["lookup_tokens"]) == ("engine 0", 5)


def test_schedulers_beyond_the_limit_are_one():
    recording = Recording("log")
    for number in range(400):
        recording.track(f"engine {number}")
    assert len(recording.tracks) <= 257
    assert recording.notes


def test_thinning_keeps_the_order():
    track = Track("")
    for line in range(10_000):
        track.add(Sample(Place("a", line), None, "stats", {"queue": 1.0}))
    lines = [kept.place.line for kept in track.samples]
    assert lines == sorted(lines)
    assert lines[0] == 0
    assert lines[-1] > 9_900
