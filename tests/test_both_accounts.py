"""Are both engines' accounts in one figure, each term what the engine says?"""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from kvlab.block_config import BlockConfig
from kvlab.config import EngineConfig
from kvlab.record.block_replay import block_states
from kvlab.record.trace import BlockHeader, BlockTrace, Header, Trace
from kvlab.rules import Rules
from kvlab.run.accelerators import accelerator
from kvlab.run.block_timed_engine import TimedBlockEngine
from kvlab.run.cost import Cost
from kvlab.run.generators import poisson, shared_system
from kvlab.run.model_shapes import model_shape
from kvlab.run.timed_engine import TimedEngine
from kvlab.run.workbench import Workbench
from kvlab.run.workload import OpenLoop
from kvlab.views.both_accounts import both_accounts, both_accounts_text
from kvlab.views.readings import readings

COST = Cost(model_shape("llama-3-8b"), accelerator("a100"))


def crowd():
    return OpenLoop(
        shared_system(
            20, poisson(30.0, seed=3), length=500, outputs=250, share=0.4, groups=3,
            spread=0.6,
        )
    )  # fmt: skip


@pytest.fixture(scope="module")
def tree():
    config = EngineConfig(pool_tokens=4000, page_size=16, tree="radix")
    trace = Trace(Header(config=config, rules=Rules.v0_5_14()))
    TimedEngine(config, Rules.v0_5_14(), COST, emit=trace).run(crowd())
    return trace


@pytest.fixture(scope="module")
def blocks():
    config = BlockConfig(num_gpu_blocks=251, max_model_len=4000, hash_algo="chain64")
    trace = BlockTrace(BlockHeader(config=config))
    TimedBlockEngine(config, COST, emit=trace).run(crowd())
    return trace


def test_the_terms_of_every_reading_add_up_to_the_pool(tree, blocks):
    for run in (readings(tree), readings(blocks)):
        for moment in run.moments:
            terms = (moment.used, moment.held, moment.evictable, moment.available)
            assert sum(terms) == run.total == 4000


def test_a_block_reading_is_the_account_of_the_state_at_that_moment(blocks):
    accounts = {}
    for _, _, state in block_states(blocks):
        accounts.setdefault(state.now / 1e9, set()).add(
            (state.tiers["L1"].account().used * 16, len(state.running))
        )
    for moment in readings(blocks, most=30).moments:
        assert (moment.used, moment.running) in accounts[moment.at]


def test_usage_is_the_gauge_with_the_null_block_left_out(blocks):
    last = readings(blocks).moments[-1]
    assert last.usage == 1 - (last.evictable + last.available) / (251 - 1) / 16


def test_readings_are_about_as_many_as_were_asked_for(blocks):
    assert 20 <= len(readings(blocks, most=25).moments) <= 28


def test_both_last_moments_are_on_one_axis(tree, blocks):
    runs = [readings(tree), readings(blocks)]
    picture = str(both_accounts(runs))
    ElementTree.fromstring(picture)
    ends = [run.moments[-1].at for run in runs]
    assert max(ends) > 0
    assert picture.count("url(#kv-evictable)") >= 3


def test_two_runs_of_one_engine_are_told_apart_by_name(blocks, tree):
    one, two = (readings(blocks)._replace(name=name) for name in ("before", "a<b\n"))
    drawn = ElementTree.fromstring(both_accounts([one, two, readings(tree)]))
    titles = [text.text for text in drawn.iter() if text.get("font-size") == "13"]
    assert titles == ["vLLM 0.33.0 · before", r"vLLM 0.33.0 · a<b\n", "SGLang 0.5.14"]
    assert "vLLM 0.33.0 · before, " in both_accounts_text([one, two])


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_each_panel_has_its_engines_word_and_the_others(tree, blocks, lang):
    told = str(both_accounts([readings(tree), readings(blocks)], lang))
    shown = set(re.findall(r">([^<>]+)</text>", told))
    own = {"protected / used", "held", "free, with a hash", "free, without a hash"}
    assert own | {"evictable", "available", "used"} <= shown
    assert any("vLLM" in text and "free, with a hash" in text for text in shown)
    assert any("SGLang" in text and "evictable" in text for text in shown)


def test_the_text_counts_who_gave_way(tree, blocks):
    told = both_accounts_text([readings(tree), readings(blocks)])
    heads = [line for line in told.splitlines() if "usage " in line + " "]
    assert any(line.endswith("retracted") for line in heads)
    assert any(line.endswith("preempted") for line in heads)
    last = told.splitlines()[-1].split()
    assert int(last[-1]) == readings(blocks).moments[-1].given_up > 0


def test_without_a_clock_operations_are_counted():
    bench = Workbench(pool_tokens=40, host_tokens=41)
    bench.insert(range(12))
    bench.evict(1)
    run = readings(bench.trace)
    assert not run.clocked
    assert [moment.at for moment in run.moments] == [0, 1, 2]
    assert "requests" in both_accounts_text([run])


def test_no_run_is_no_figure():
    with pytest.raises(ValueError, match="no run"):
        both_accounts([])
