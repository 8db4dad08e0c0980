"""When is nobody waiting tried, and when again?

`full` is a flag of the running batch. Each script here is the shortest on which the
released Scheduler does what the test says; a pool of 64 tokens in pages of one.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from kvlab.config import EngineConfig
from kvlab.rules import Rules
from kvlab.run.cost import FS, NS
from kvlab.run.timed_engine import TimedEngine
from kvlab.run.workload import Ask, OpenLoop

RULES = ("0.5.14", "0.5.23")
STEP = 1000


class Steps:
    """A cost by which a prefill takes three decode steps; a token's copy takes one."""

    model = SimpleNamespace(kv_bytes=1)
    link_rate = FS / (STEP * NS)

    def prefill(self, parts):
        return 3 * STEP * NS * bool(list(parts))

    def decode(self, batch, kv_tokens, steps=1):
        return steps * STEP * NS

    def steps_to(self, batch, kv_tokens, budget):
        return max(1, -(-budget // (STEP * NS)))

    def overlapped(self, load, compute):
        return max(load, compute)


def ask(id, size, outputs, at=0, begin=None):
    begin = 1000 * ord(id) if begin is None else begin
    tokens = np.arange(begin, begin + size, dtype=np.int32)
    return Ask(id, at * STEP, tokens, outputs, 10**6 + ord(id))


def turns(
    *asks, rules="0.5.23", seats=None, queued=None, policy="fcfs", jump=False,
    conservativeness=1.0, **knobs,
):  # fmt: skip
    """Return the engine, and who ran and who waited after each of its turns."""
    config = EngineConfig(**{"pool_tokens": 64, "tree": "radix", **knobs})
    engine = TimedEngine(
        config, Rules.named(rules), Steps(), policy=policy, max_running=seats,
        max_queued=queued, jump=jump, conservativeness=conservativeness,
    )  # fmt: skip
    engine._workload = OpenLoop(asks)
    told = []
    while engine._turn():
        scheduler = engine.scheduler
        ran, wait = (
            "".join(r.id for r in queue)
            for queue in (scheduler.running, scheduler.waiting)
        )
        told.append((ran, wait))
    return engine, told


def test_a_batch_that_takes_an_empty_ones_place_is_not_full():
    """b does not fit beside all that a may write. It is tried again in the next round,
    when a counts for seven tenths of that."""
    _, told = turns(ask("a", 10, 30), ask("b", 10, 16))
    assert told[:2] == [("a", "b"), ("ab", "")]


def test_a_batch_that_joins_another_stays_full():
    """c would fit beside b as soon as b runs; but nobody has left."""
    _, told = turns(ask("a", 4, 9), ask("b", 10, 30, at=4), ask("c", 10, 18, at=4))
    assert told[2:11] == [("ab", "c")] * 7 + [("b", "c"), ("bc", "")]


def test_a_chunk_leaves_the_batch_that_ran_so_it_is_not_full():
    engine, _ = turns(chunked_prefill_size=8)
    engine._workload = OpenLoop([ask("a", 40, 2)])
    queue = engine.scheduler
    assert engine._turn() and queue.chunked is not None
    queue.full = True
    assert engine._turn() and not queue.full


@pytest.mark.parametrize(("rules", "later"), [("0.5.23", 0), ("0.5.14", 1)])
def test_who_is_finished_leaves_before_the_round_or_with_the_next_step(rules, later):
    asks = ask("a", 4, 3), ask("b", 4, 20), ask("c", 4, 4)
    _, told = turns(*asks, rules=rules, seats=2)
    assert told[:2] == [("ab", "c")] * 2
    assert told[2:5] == [("b", "c")] * (1 + later) + [("bc", "")] * (2 - later)


@pytest.mark.parametrize(("rules", "later"), [("0.5.23", 0), ("0.5.14", 1)])
def test_until_it_leaves_the_finished_keeps_its_seat(rules, later):
    asks = ask("a", 4, 3), ask("b", 4, 9), ask("c", 4, 4, at=5)
    _, told = turns(*asks, rules=rules, seats=2)
    assert told[2:5] == [("b", "")] + [("b", "c")] * later + [("bc", "")] * (2 - later)


@pytest.mark.parametrize(("rules", "later"), [("0.5.23", 0), ("0.5.14", 1)])
def test_until_they_leave_a_batch_of_finished_ones_is_not_empty(rules, later):
    """So in 0.5.14 the batch that joins it stays full."""
    asks = ask("a", 4, 3), ask("b", 10, 30, at=5), ask("c", 10, 16, at=5)
    _, told = turns(*asks, rules=rules)
    assert told[3:6] == [("b", "c")] * (1 + later) + [("bc", "")] * (2 - later)


@pytest.mark.parametrize("rules", RULES)
def test_who_is_finished_by_its_prefill_leaves_at_once(rules):
    asks = ask("a", 4, 20), ask("b", 4, 1, at=4), ask("c", 4, 3, at=4)
    _, told = turns(*asks, rules=rules, seats=2)
    assert told[2:4] == [("a", "c"), ("ac", "")]


def test_all_who_are_finished_leave_though_no_step_follows():
    """In 0.5.14 too: the scheduler goes round once more, and no time passes."""
    asks = ask("a", 4, 3), ask("b", 4, 3), ask("c", 4, 4)
    ends = []
    for rules in RULES:
        engine, _ = turns(*asks, rules=rules, seats=2)
        ends.append(engine.tallies.done[-1].end)
    assert ends == [11 * STEP] * 2


@pytest.mark.parametrize("jump", [True, False])
def test_a_jump_stops_where_the_queue_is_tried_again(jump):
    asks = ask("a", 4, 3), ask("b", 4, 20), ask("c", 4, 4)
    engine, _ = turns(*asks, rules="0.5.14", seats=2, jump=jump)
    assert [(r.id, r.end // STEP) for r in engine.tallies.done] == [
        ("a", 5), ("c", 12), ("b", 25)
    ]  # fmt: skip


@pytest.mark.parametrize(("rules", "first"), [("0.5.23", "ab"), ("0.5.14", "a")])
def test_beside_a_chunk_there_is_a_seat_less_in_0_5_14(rules, first):
    _, told = turns(
        ask("a", 12, 4), ask("b", 4, 4, at=1), rules=rules, seats=2,
        chunked_prefill_size=8,
    )  # fmt: skip
    assert [ran for ran, _ in told[:3]] == ["", first, "ab"]


def test_without_a_seat_the_queue_is_not_even_sorted():
    """b begins as a does: lpm would match it, and use a's prefix."""
    asks = ask("a", 2, 3), ask("b", 1, 1, begin=97_000)
    engine, _ = turns(asks[0], policy="lpm", seats=1)
    clock = engine.cache.tree.clock
    queue = engine.scheduler
    queue.running.append(engine)
    engine._arrive(asks[1])
    assert queue.form_batch() == []
    assert (queue.full, engine.cache.tree.clock) == (True, clock)


def test_the_ratio_starts_anew_only_when_nobody_waits_and_no_copy_is_under_way():
    engine, _ = turns(tree="hiradix")
    engine._workload = OpenLoop([ask("a", 8, 4, at=9)])
    queue, copies = engine.scheduler, engine.cache.ongoing_writes
    for busy in (queue.waiting.append, lambda _: copies.update(x=None)):
        queue.decaying.restart(0.5)
        busy(None)
        engine._wait()
        assert queue.ratio == 0.5
        queue.waiting.clear()
        copies.clear()
        engine._wait()
        assert queue.ratio == queue.decaying.initial


def test_nobody_gets_more_outputs_than_an_empty_pool_would_admit():
    """In pages of 16 a prompt of 50 takes 64, a page is spare: 128 - 64 - 16 - 1."""
    knobs = {"pool_tokens": 128, "page_size": 16}
    asks = ask("a", 50, 60), ask("b", 50, 40), ask("c", 100, 60), ask("d", 112, 60)
    engine, _ = turns(*asks, **knobs)
    told = {r.id: r.outputs for r in engine.tallies.done}
    assert told == {"a": 47, "b": 40, "c": 1}
    assert [(r.id, r.need) for r in engine.tallies.refused] == [("d", 188)]


def test_who_is_sent_back_to_a_full_queue_is_turned_away():
    asks = ask("a", 10, 25), ask("b", 10, 25, at=4), ask("c", 40, 9, at=8)
    for queued, gone in ((None, []), (1, ["b"])):
        engine, _ = turns(*asks, queued=queued, conservativeness=0.1)
        assert engine.tallies.retractions > 0
        assert [r.id for r in engine.tallies.done if r.aborted] == gone


def test_a_load_that_ends_while_write_back_waits_is_noted_in_the_next_turn():
    engine, _ = turns(tree="hiradix")
    link, heard = engine.link, []
    link.submit("load", 7, 4, lambda: None)
    link.submit("write", 8, 9, lambda: None)
    link.complete("write")
    link.poll()
    assert link.next_done > link.now
    engine.scheduler.check_events = lambda: heard.append(link.collect("load"))
    engine._workload = OpenLoop([])
    engine._turn()
    assert heard == [[7]]
