"""In which order are the waiting requests tried?"""

from __future__ import annotations

import pytest
from folding import Folded, differences

from kvlab.cache.key import as_tokens
from kvlab.config import EngineConfig
from kvlab.record import events as ev
from kvlab.record.snapshot import State
from kvlab.record.trace import QUIET, Header, Trace
from kvlab.rules import Rules
from kvlab.run.accelerators import accelerator
from kvlab.run.cost import Cost
from kvlab.run.engine import Engine
from kvlab.run.generators import poisson, shared_system
from kvlab.run.model_shapes import model_shape
from kvlab.run.timed_engine import TimedEngine
from kvlab.run.workload import OpenLoop
from kvlab.schedule.policy import LPM_MOST
from kvlab.schedule.radix_scheduler import RadixScheduler
from kvlab.schedule.request import Request

A, B = range(1000, 1100), range(2000, 2300)


def scheduler(policy, *cached, on_host=(), rules="0.5.14"):
    """A scheduler whose tree holds the runs of tokens given, some on the host only."""
    engine = Engine(EngineConfig(pool_tokens=4096), Rules.named(rules))
    cache = engine.cache
    for tokens in map(as_tokens, on_host):
        cache.insert(tokens, cache.allocator.alloc(len(tokens)))
    cache.check_events()
    cache.check_events()
    cache.evict(4096)
    for tokens in map(as_tokens, cached):
        cache.insert(tokens, cache.allocator.alloc(len(tokens)))
    return RadixScheduler(cache, engine.config, policy=policy)


def order(desk, **prompts):
    """The order in which requests with these prompts are tried."""
    for id, tokens in prompts.items():
        desk.arrive(Request(id, as_tokens(tokens), 5))
    desk.sort_waiting()
    return "".join(request.id for request in desk.waiting)


def own(number, size=50):
    return range(10_000 * number, 10_000 * number + size)


def test_fcfs_tries_requests_as_they_came():
    assert order(scheduler("fcfs", B), a=own(1), b=[*B, 1]) == "ab"


def test_lpm_tries_the_longest_prefix_first_and_keeps_ties():
    desk = scheduler("lpm", A, B)
    assert order(desk, a=own(1), b=[*A, 1], c=[*B, 1], d=own(2)) == "cbad"


def test_lpm_lets_requests_that_begin_alike_wait_for_the_first_of_them():
    shared = own(7)
    desk = scheduler("lpm", A)
    prompts = {"a": [*shared, 1], "b": [*shared, 2], "c": own(1), "d": [*A, 3]}
    assert order(desk, **prompts) == "dacb"


@pytest.mark.parametrize(("alike", "found"), [(31, "abc"), (32, "acb")])
def test_to_begin_alike_is_to_share_32_tokens(alike, found):
    shared = [*own(7)][:alike]
    prompts = {"a": [*shared, 1, 2], "b": [*shared, 3, 4], "c": own(1)}
    assert order(scheduler("lpm"), **prompts) == found


@pytest.mark.parametrize(("known", "found"), [(32, "acb"), (33, "abc")])
def test_those_that_find_more_than_32_tokens_wait_for_nobody(known, found):
    head = [*own(7)][:known]
    desk = scheduler("lpm", head)
    prompts = {"a": [*head, *own(1)], "b": [*head, *own(2)], "c": own(3)}
    assert order(desk, **prompts) == found


@pytest.mark.parametrize("rules", ["0.5.14", "0.5.23"])
def test_lpm_counts_what_lies_on_the_host_as_well(rules):
    desk = scheduler("lpm", A, on_host=[B], rules=rules)
    assert order(desk, a=[*A, 1], b=[*B, 1]) == "ba"


def test_those_that_find_much_on_the_host_alone_still_wait_for_one_another():
    desk = scheduler("lpm", A, on_host=[B])
    assert order(desk, a=[*B, 1], b=[*B, 2], c=[*A, 1], d=own(1)) == "acdb"


def test_a_prompt_that_is_cached_whole_counts_without_its_last_token():
    desk = scheduler("lpm", A)
    assert order(desk, a=[*A[:99], 1], b=A, c=[*A, 1]) == "cab"


def test_the_last_token_counts_where_little_is_told_from_enough():
    head = [*own(7)][:33]
    assert order(scheduler("lpm", head), a=head, b=head, c=own(3)) == "abc"


def test_a_sort_splits_no_prompt_that_is_cached_whole_but_a_try_does():
    desk = scheduler("lpm", A)
    order(desk, a=A)
    assert [len(node.key) for node in desk.cache.tree.nodes()] == [100]
    desk.match(desk.waiting[0])
    assert [len(node.key) for node in desk.cache.tree.nodes()] == [99, 1]
    assert desk.waiting[0].device_hit == 99


@pytest.mark.parametrize(("number", "first"), [(LPM_MOST, "last"), (LPM_MOST + 1, "0")])
def test_lpm_falls_back_to_fcfs_where_more_than_128_wait(number, first):
    desk = scheduler("lpm", B)
    prompts = {str(i): own(i + 1) for i in range(number - 1)}
    order(desk, **prompts, last=[*B, 1])
    assert desk.waiting[0].id == first


def test_dfs_weight_goes_into_the_branch_that_most_wait_for():
    desk = scheduler("dfs-weight", A, B)
    assert order(desk, a=[*A, 1], b=[*B, 1], c=own(1), d=[*B, 2]) == "bdac"


def test_who_waits_at_a_node_counts_no_more_than_who_waits_below_it():
    desk = scheduler("dfs-weight", [*A, *own(5)], [*A, *own(6)], B)
    at_b = {"a": [*B, 1], "b": [*B, 2]}
    below_a = {"c": [*A, *own(5), 1], "d": [*A, *own(5), 2], "e": [*A, *own(6), 1]}
    assert order(desk, **at_b, **below_a) == "cdeab"


def test_dfs_weight_tries_deep_nodes_before_those_above():
    desk = scheduler("dfs-weight", [*A, *own(5)], [*A, *own(6)])
    prompts = {"a": [*A, 1], "b": [*A, *own(6), 1], "c": [*A, *own(6), 2]}
    assert order(desk, **prompts) == "bca"


def machine(policy, emit=QUIET):
    config = EngineConfig(pool_tokens=4096, host_tokens=8192, page_size=16)
    cost = Cost(model_shape("llama-3-8b"), accelerator("a100"), link_rate=4e9)
    return TimedEngine(config, Rules.v0_5_14(), cost, emit=emit, policy=policy)


def crowd():
    return OpenLoop(
        shared_system(
            60, poisson(40.0, seed=3), length=500, outputs=120, share=0.6, groups=6,
            spread=0.5,
        )
    )  # fmt: skip


@pytest.mark.parametrize("policy", ["lpm", "dfs-weight"])
def test_a_sorted_queue_folds_from_the_trace_at_every_turn(policy):
    config = EngineConfig(pool_tokens=4096, host_tokens=8192, page_size=16)
    trace = Trace(Header(config=config, rules=Rules.v0_5_14()))
    engine = machine(policy, trace)
    folded = Folded(trace, State.start(config))

    def check(_):
        assert differences(folded.now(), engine.engine) == []

    engine.run(crowd(), check)
    assert any(isinstance(event, ev.Queue) for event in trace.events)
    assert len(engine.tallies.done) == 60


def test_lpm_finds_more_of_a_crowd_s_prefixes_than_fcfs():
    hits = {}
    for policy in ("fcfs", "lpm"):
        engine = machine(policy)
        engine.run(crowd())
        hits[policy] = engine.tallies.device_hit_tokens
    assert hits["lpm"] > hits["fcfs"]
