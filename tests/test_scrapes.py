"""Are a run's metrics and log those of the run, and can their readers read them?"""

from __future__ import annotations

import json
import re

import pytest
from played import golden
from prometheus_client.parser import text_string_to_metric_families

from kvlab.cli import main
from kvlab.config import EngineConfig
from kvlab.lessons.title_collapse import POOL
from kvlab.record.metrics import metrics
from kvlab.record.trace import Header, Trace
from kvlab.rules import Rules
from kvlab.run.accelerators import accelerator
from kvlab.run.cost import Cost
from kvlab.run.engine_log import log_lines
from kvlab.run.generators import ramp, unique
from kvlab.run.meter import Meter
from kvlab.run.model_shapes import model_shape
from kvlab.run.scrapes import scrapes
from kvlab.run.timed_engine import TimedEngine
from kvlab.run.workload import OpenLoop

SECOND = 10**9


@pytest.fixture(scope="module")
def run():
    """A small collapse: an eighth of the title's pool and of its prompts."""
    config = EngineConfig(
        pool_tokens=POOL // 8, host_tokens=POOL, page_size=64,
        write_policy="write_back", chunked_prefill_size=1024,
    )  # fmt: skip
    trace = Trace(Header(name="small", config=config, rules=Rules.v0_5_14()))
    cost = Cost(model_shape("llama-3-70b"), accelerator("h100"), tp=8, link_rate=50e9)
    engine = TimedEngine(config, trace.header.rules, cost, emit=trace)
    arrivals = ramp(0.5, 8.0, 60, seed=1)
    engine.run(OpenLoop(unique(200, arrivals, length=1500, outputs=2000, spread=0.2)))
    assert engine.tallies.retractions > 0
    return trace, engine


def values(text):
    return {
        (sample.name, sample.labels.get("mode", sample.labels.get("le"))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_every_scrape_is_read_by_the_real_client(run):
    for _, text in scrapes(run[0], 10 * SECOND):
        assert values(text)["sglang:max_total_num_tokens", None] == POOL // 8


def test_the_last_scrape_has_the_run_s_sums(run):
    trace, engine = run
    *_, (_, text) = scrapes(trace, 10 * SECOND)
    read, tallies = values(text), engine.tallies
    assert read["sglang:num_retracted_requests_total", None] == tallies.retractions
    assert read["sglang:generation_tokens_total", None] == sum(
        record.outputs for record in tallies.done
    )
    assert read["sglang:prompt_tokens_total", None] == tallies.input_tokens
    computed = read["sglang:realtime_tokens_total", "prefill_compute"]
    assert computed == tallies.computed_tokens
    assert read["sglang:evicted_tokens_total", None] == engine.cache.totals.evicted
    assert read["sglang:time_to_first_token_seconds_count", None] == 200
    total = read["sglang:time_to_first_token_seconds_sum", None]
    assert total == pytest.approx(sum(r.ttft for r in tallies.done) / SECOND)
    assert read["sglang:num_running_reqs", None] == 0


def test_what_was_dropped_while_it_was_loaded_is_counted_when_it_leaves_l1():
    trace = golden("s25")
    meter = Meter(trace.header)
    for event in trace.events:
        meter.take(event)
    assert meter.state.orphans
    assert meter.counts["evicted"] == metrics(trace).evicted_tokens


def test_the_pool_s_terms_sum_in_every_scrape(run):
    for _, text in scrapes(run[0], 5 * SECOND):
        read = values(text)
        names = ("kv_available_tokens", "kv_evictable_tokens", "kv_used_tokens")
        terms = sum(read[f"sglang:{name}", None] for name in names)
        assert terms == read["sglang:max_total_num_tokens", None]


def test_a_histogram_s_buckets_never_fall(run):
    *_, (_, text) = scrapes(run[0], 10 * SECOND)
    name = "sglang:time_to_first_token_seconds_bucket"
    buckets = [v for (n, _), v in values(text).items() if n == name]
    assert buckets == sorted(buckets) and buckets[-1] == 200


def test_scrapes_come_at_equal_times_to_the_end(run):
    trace, engine = run
    moments = [at for at, _ in scrapes(trace, 7 * SECOND)]
    assert moments == [7 * SECOND * i for i in range(len(moments))]
    assert moments[-1] >= engine.now // 10**6


def test_the_log_tells_every_prefill_and_every_40th_decode_step(run):
    trace, engine = run
    lines = list(log_lines(trace))
    kinds = [re.sub(r"^\[[^]]*\] ", "", line).split(",")[0] for line in lines]
    assert kinds.count("Prefill batch") == engine.tallies.prefills
    assert kinds.count("Decode batch") == engine.tallies.decode_steps // 40


def test_the_log_s_cached_and_new_tokens_are_those_of_the_run(run):
    trace, engine = run
    text = "\n".join(log_lines(trace))
    new = sum(map(int, re.findall(r"#new-token: (\d+)", text)))
    assert new == engine.tallies.computed_tokens
    back = sum(map(int, re.findall(r"#retracted_reqs: (\d+)", text)))
    assert back == engine.tallies.retractions


def test_the_log_s_times_never_go_back(run):
    stamps = [line[:21] for line in log_lines(run[0])]
    assert stamps == sorted(stamps)


def test_kvlab_s_own_reader_takes_every_line_of_the_log(run, tmp_path, capsys):
    trace, engine = run
    path = tmp_path / "engine.log"
    path.write_text("\n".join(log_lines(trace)) + "\n")
    assert main(["diagnose", str(path), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)["facts"]
    assert facts["engine"] == "sglang"
    assert facts["pool_tokens"] == POOL // 8
    assert facts["retracted_total"] == engine.tallies.retractions
    assert facts["max_token_usage"] >= 0.97
    assert facts["n_lines_damaged"] in (0, None)
