"""Is a slot with the wrong contents named, with its token and its event?"""

from __future__ import annotations

import pytest

from kvlab.record import events as ev
from kvlab.run import script as sc
from kvlab.run.checker import Checker, explain
from kvlab.run.workbench import Workbench


@pytest.fixture
def bench():
    return Workbench(pool_tokens=24, host_tokens=48, load_back_threshold=1)


def check(bench):
    return Checker(bench.engine, bench.trace).check()


def test_an_untouched_engine_is_compared_and_right(bench):
    bench.insert(range(8))
    bench.ack_write()
    assert check(bench) == []
    assert bench.trace.events[-1] == ev.Compared(-1, 16, 0)


def test_a_wrong_slot_of_a_node_is_named_with_what_it_should_and_does_hold(bench):
    bench.insert(range(100, 108))
    bench.insert(range(200, 208))
    pool = bench.engine.device_pool
    pool.prints[3] = pool.prints[10]
    (wrong,) = check(bench)
    assert (wrong.tier, wrong.slot, wrong.holder, wrong.at) == ("L1", 3, "n1", 3)
    assert wrong.expected == "100 101 102 (3 tokens)"
    assert wrong.found == "200 201 (2 tokens)"


def test_a_wrong_slot_of_the_host_is_seen_too(bench):
    bench.insert(range(8))
    bench.ack_write()
    bench.engine.host_pool.prints[5] = 0
    (wrong,) = check(bench)
    assert (wrong.tier, wrong.slot, wrong.found) == ("L2", 5, "")


def test_a_slot_below_in_the_tree_is_compared_with_its_whole_prefix(bench):
    bench.insert(range(4))
    bench.insert(range(8))
    below = bench.engine.cache.tree.nodes()[1]
    bench.engine.device_pool.prints[below.value[1]] = 5
    (wrong,) = check(bench)
    assert (wrong.holder, wrong.at) == ("n2", 6)
    assert (wrong.expected, wrong.found) == ("0 1 .. 4 5 (6 tokens)", "?")


def test_what_a_request_holds_outside_the_tree_is_compared(bench):
    bench.do(sc.RequestStartOp("a", [1, 2, 3, 4], first_out=9))
    bench.do(sc.DecodeOp("a", 8))
    slot = int(bench.engine.scheduler.rows.table[0, 4])
    bench.engine.device_pool.prints[slot] = 0
    (wrong,) = check(bench)
    assert (wrong.holder, wrong.at, wrong.expected) == ("a", 5, "1 2 .. 4 9 (5 tokens)")


def test_a_copy_under_way_is_not_compared(bench):
    bench.insert(range(8))
    check(bench)
    assert bench.trace.events[-1].slots == 8


def test_a_wrong_slot_names_the_event_that_wrote_it_last(bench):
    bench.insert(range(8))
    bench.ack_write()
    bench.evict(8)
    bench.load_back(range(8))
    bench.ack_load()
    bench.engine.device_pool.prints[bench.engine.cache.tree.nodes()[0].value[2]] = 0
    (wrong,) = check(bench)
    assert isinstance(bench.trace.events[wrong.by - 1], ev.LoadDone)


def test_findings_hang_under_the_comparison(bench):
    bench.insert(range(8))
    bench.engine.device_pool.prints[1:3] = 0
    check(bench)
    *_, compared, one, two = bench.trace.events
    at = len(bench.trace) - 3
    assert (compared.wrong, one.cause, two.cause) == (2, at, at)


def test_a_check_changes_nothing(bench):
    bench.insert(range(8))
    before = bench.engine.device_pool.prints.clone()
    times = [node.last_access for node in bench.engine.cache.tree.nodes()]
    check(bench)
    assert [node.last_access for node in bench.engine.cache.tree.nodes()] == times
    assert bench.engine.device_pool.prints.equal(before)


def test_the_failure_is_one_line_with_slot_token_and_event(bench):
    bench.insert(range(100, 120))
    bench.ack_write()
    bench.engine.host_pool.prints[12] = 0
    (wrong,) = check(bench)
    done = next(
        i for i, e in enumerate(bench.trace.events) if isinstance(e, ev.BackupDone)
    )
    assert explain(wrong, bench.trace) == (
        "L2 slot 12: token 13 of n1 should end the prefix 100 101 .. 111 112 (13 "
        "tokens); the slot was never written. "
        f"Event {done + 1} touched it last: BackupDone n1"
    )
