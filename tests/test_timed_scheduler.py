"""Does the queue keep what it waits for in use, and when?

A, B and C are cached, the oldest first; requests for A, then B wait for more room than
there is, so every round tries the first and admits nobody.
"""

from __future__ import annotations

import pytest

from kvlab.cache.key import as_tokens
from kvlab.config import EngineConfig
from kvlab.rules import Rules
from kvlab.run import timed_scheduler
from kvlab.run.engine import Engine
from kvlab.run.timed_request import Steps, TimedRequest
from kvlab.run.timed_scheduler import TimedScheduler
from kvlab.schedule.policy import REFRESH_EVERY

OLD, NEW = Rules.v0_5_14(), Rules.v0_5_23()
A, B, C = range(4), range(10, 14), range(20, 24)


class Queue:
    """A scheduler with a full queue; knobs are those of `EngineConfig`."""

    def __init__(self, rules=NEW, policy="fcfs", seats=None, **knobs):
        config = EngineConfig(**{"pool_tokens": 32, "tree": "radix", **knobs})
        self.cache = Engine(config, rules).cache
        for prefix in (A, B, C):
            self.cache.insert(as_tokens(prefix), self.cache.allocator.alloc(4))
        self.queue = TimedScheduler(
            self.cache, config, policy=policy, max_running=seats
        )
        for id, prefix in (("a", A), ("b", B)):
            prompt = as_tokens([*prefix, 99])
            self.queue.arrive(TimedRequest(id, prompt, 500, 0, Steps()))

    def rounds(self, number=1):
        """Return, by first token, who would be evicted first after so many rounds."""
        for _ in range(number):
            assert self.queue.form_batch() == []
        return [node.key.item(0) for node in self.cache.device_leaves.in_order()]


def test_whoever_waits_keeps_a_prefix_in_use():
    assert Queue().rounds() == [20, 10, 0]


def test_in_0_5_14_only_who_is_tried_does():
    assert Queue(OLD).rounds() == [10, 20, 0]


def test_the_head_of_the_queue_is_used_last():
    queue = Queue()
    queue.queue._refresh_waiting()
    assert queue.rounds(0) == [20, 10, 0]


def test_no_more_are_looked_at_than_lpm_sorts(monkeypatch):
    monkeypatch.setattr(timed_scheduler, "LPM_MOST", 1)
    assert Queue().rounds() == [10, 20, 0]


def test_it_is_done_in_the_first_of_so_many_rounds():
    queue = Queue()
    queue.rounds()
    queue.cache.match_prefix(as_tokens(C))
    assert queue.rounds(REFRESH_EVERY - 1) == [10, 20, 0]
    assert queue.rounds() == [20, 10, 0]


@pytest.mark.parametrize(
    "other", [{"eviction_policy": "lfu"}, {"policy": "lpm"}], ids=["lfu", "lpm"]
)
def test_only_fcfs_and_lru_do_it(other):
    queue = Queue(**other)
    before = queue.cache.tree.clock
    queue.queue._refresh_waiting()
    assert queue.cache.tree.clock == before


def test_rounds_without_a_seat_or_a_queue_are_not_counted():
    full, empty = Queue(seats=1), Queue()
    full.queue.running.append(full.queue.waiting.pop())
    empty.queue.waiting.clear()
    for queue in (full, empty):
        before = queue.cache.tree.clock
        queue.rounds(3)
        assert queue.cache.tree.clock == before
        assert queue.queue._queued_rounds == 0
