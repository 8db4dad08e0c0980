"""Does a meter count from the trace what the real engine reported at every step?"""

from __future__ import annotations

from collections import Counter

import pytest
from test_block_goldens import GOLDENS, load, name

from kvlab.block_config import BlockConfig, L2Config
from kvlab.record import block_events as ev
from kvlab.record.block_metrics import BlockCounters, BlockMeter
from kvlab.record.block_snapshot import BlockState
from kvlab.record.events import Arrive, Drop, Output
from kvlab.record.trace import BlockHeader, BlockTrace
from kvlab.run.block_runner import BlockRunner

RUNS = [path for path in GOLDENS if load(path).mode == "sched"]


@pytest.mark.parametrize("path", RUNS, ids=name)
def test_a_meter_says_what_the_real_engine_reported(path):
    scenario = load(path)
    trace = BlockTrace(BlockHeader(config=scenario.config))
    runner = BlockRunner(scenario, trace)
    meter, metered = BlockMeter(BlockState.start(scenario.config)), 0
    before = BlockCounters()
    for record in scenario.records:
        runner.step()
        for event in trace.events[metered:]:
            meter.apply(event)
        metered = len(trace)
        if "prefix" not in record:
            continue
        now = meter.gauges()
        assert now[:4] == tuple(record["stats"].values())
        grown, before = meter.counters.since(before), meter.counters.copy()
        said = record["prefix"]
        assert (grown.prefix_queries, grown.prefix_hits) == (
            said["queries"], said["hits"],
        )  # fmt: skip
        assert (grown.preempted_queries, grown.preempted_hits) == (
            said["preempted_queries"], said["preempted_hits"],
        )  # fmt: skip
        if record.get("external"):
            assert now[4:] == tuple(record["kv_fetch"].values())
            assert (grown.external_queries, grown.external_hits) == (
                record["external"]["queries"], record["external"]["hits"],
            )  # fmt: skip
    assert meter.counters.preemptions == scenario.summary["total_preemptions"]
    assert meter.counters.finished == scenario.summary["finished"]


CALM = [
    path
    for path in RUNS
    if name(path).startswith("t")
    and load(path).summary["total_preemptions"] == 0
    and not load(path).config.async_scheduling
    and all(request.bad_load is None for request in load(path).requests)
]


@pytest.mark.parametrize("path", CALM, ids=name)
def test_prompt_tokens_are_cached_or_computed_before_the_first_output(path):
    scenario = load(path)
    trace = BlockTrace(BlockHeader(config=scenario.config))
    runner = BlockRunner(scenario, trace)
    meter = BlockMeter(BlockState.start(scenario.config))
    answered, computed = set(), Counter()
    for record in scenario.records:
        runner.step()
        new = {id: n for id, n in record["scheduled"].items() if id not in answered}
        computed.update(new)
        answered.update(record["sampled"])
    for event in trace.events:
        meter.apply(event)
    counted = meter.counters.prompt_tokens - meter.counters.cached_tokens
    assert counted == sum(computed[id] for id in answered)


def test_what_was_found_before_the_last_lookup_is_not_counted():
    """A load was lost and looked up anew; as vLLM 0.33.0 fills its prefill_stats."""
    meter = BlockMeter(BlockState.start(BlockConfig()))
    for event in (
        Arrive(-1, "a", 9, 1, 0), ev.Lookup(-1, "a", 9, 0, 8),
        ev.Defer(-1, "a", "loading"), ev.Loaded(-1, "a"),
        ev.Lookup(-1, "a", 9, 4, 0), ev.Run(-1, "a"), Output(-1, "a", 5),
    ):  # fmt: skip
        meter.apply(event)
    assert (meter.counters.prompt_tokens, meter.counters.cached_tokens) == (9, 4)


def test_who_leaves_before_its_load_begins_waits_for_none():
    l2 = L2Config(num_cpu_blocks=9, connector="offloading")
    meter = BlockMeter(BlockState.start(BlockConfig(l2=l2)))
    meter.apply(Arrive(-1, "a", 9, 1, 0))
    meter.apply(ev.Lookup(-1, "a", 9, 0, 8))
    assert meter.gauges().waiting_to_start == 1
    meter.apply(Drop(-1, "a"))
    assert meter.gauges().waiting_to_start == 0
