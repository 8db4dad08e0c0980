"""Does the turn treat requests as vLLM's does?"""

from __future__ import annotations

import pytest

from kvlab.block_config import BlockConfig, L2Config
from kvlab.blocks.kv_cache_manager import KVCacheManager
from kvlab.blocks.offload import CpuOffload
from kvlab.record.block_events import PickVictim, Stop
from kvlab.record.trace import QUIET, BlockHeader, BlockTrace
from kvlab.schedule.block_queue import BlockQueue
from kvlab.schedule.block_request import BlockRequest, Status
from kvlab.schedule.block_scheduler import BlockScheduler
from kvlab.schedule.turn import Turn


class Bench:
    """A scheduler whose model answers every sampled request with token 0."""

    def __init__(self, trace: bool = False, **settings: object) -> None:
        settings = {"num_gpu_blocks": 11, "block_size": 4, **settings}
        config = BlockConfig(**settings)
        self.trace = BlockTrace(BlockHeader(config=config))
        emit = self.trace if trace else QUIET
        self.manager = KVCacheManager(config, emit)
        l2 = config.l2 and CpuOffload(config, self.manager.pool, emit)
        self.scheduler = BlockScheduler(self.manager, config, emit, l2)
        self.requests: dict[str, BlockRequest] = {}

    def add(self, id: str, prompt: int, out: int = 9, **how: object) -> BlockRequest:
        """Let a request of so many tokens, all its own, arrive."""
        first = 1000 * (len(self.requests) + 1)
        tokens = list(range(first, first + prompt))
        request = BlockRequest(id, tokens, out, arrival=len(self.requests), **how)
        self.requests[id] = request
        self.scheduler.arrive(request)
        return request

    def step(self) -> dict[str, int]:
        """One step; return what was scheduled."""
        return self.named(self.turn())

    def turn(self) -> Turn:
        turn = self.scheduler.schedule()
        self.scheduler.update(turn, {request.id: 0 for request in turn.sampling})
        return turn

    def named(self, turn: Turn) -> dict[str, int]:
        return {request.id: tokens for request, tokens in turn.tokens.items()}

    def queue(self) -> list[str]:
        return [r.id for r in (*self.scheduler.deferred, *self.scheduler.waiting)]

    def running(self) -> list[str]:
        return [request.id for request in self.scheduler.running]


def test_a_step_gives_the_whole_prompt_and_then_one_token():
    bench = Bench()
    bench.add("a", 10)
    assert [bench.step(), bench.step()] == [{"a": 10}, {"a": 1}]


def test_a_long_prompt_is_cut_to_the_budget():
    bench = Bench(max_num_batched_tokens=8)
    bench.add("a", 10)
    assert [bench.step(), bench.step(), bench.step()] == [{"a": 8}, {"a": 2}, {"a": 1}]


def test_running_requests_are_served_before_waiting_ones():
    bench = Bench(max_num_batched_tokens=8)
    bench.add("a", 4)
    bench.step()
    bench.add("b", 12)
    assert bench.step() == {"a": 1, "b": 7}


def test_without_chunked_prefill_a_prompt_waits_for_a_whole_step():
    bench = Bench(max_num_batched_tokens=8, enable_chunked_prefill=False)
    bench.add("a", 4)
    bench.step()
    bench.add("b", 8)
    assert bench.step() == {"a": 1}
    assert bench.queue() == ["b"]


def test_the_threshold_cuts_each_long_prompt():
    bench = Bench(long_prefill_token_threshold=6)
    bench.add("a", 10)
    bench.add("b", 10)
    assert bench.step() == {"a": 6, "b": 6}


def test_the_threshold_spares_a_request_that_is_alone():
    bench = Bench(long_prefill_token_threshold=6)
    bench.add("a", 10)
    assert bench.step() == {"a": 10}


def test_no_more_run_than_there_are_seats():
    bench = Bench(max_num_seqs=1)
    bench.add("a", 4)
    bench.add("b", 4)
    bench.step()
    assert (bench.running(), bench.queue()) == (["a"], ["b"])


def test_nobody_overtakes_a_request_that_does_not_fit():
    bench = Bench(trace=True)
    bench.add("a", 20)
    bench.add("big", 30)
    bench.add("small", 4)
    assert bench.step() == {"a": 20}
    assert [e.why for e in bench.trace.events if isinstance(e, Stop)] == ["no_blocks"]


def test_the_last_admitted_gives_up_its_blocks():
    bench = Bench(trace=True)
    bench.add("a", 16)
    bench.add("b", 24)
    bench.step()
    assert bench.step() == {"a": 1}
    assert bench.queue() == ["b"]
    picked = [e for e in bench.trace.events if isinstance(e, PickVictim)]
    assert [(e.victim, e.request) for e in picked] == [("b", "a")]


def test_a_step_that_preempts_admits_nobody():
    bench = Bench(policy="priority")
    bench.add("high", 16, priority=0)
    bench.add("low", 24, priority=5)
    bench.step()
    bench.add("small", 1, priority=1)
    assert bench.step() == {"high": 1}
    assert bench.step() == {"high": 1, "small": 1}


def test_the_last_preempted_is_first_in_the_queue():
    bench = Bench(num_gpu_blocks=7, scheduler_reserve_full_isl=False)
    for id in "abc":
        bench.add(id, 8)
    bench.step()
    turn = bench.turn()
    assert [request.id for request in turn.preempted] == ["c"]
    assert bench.queue() == ["c"]


def test_a_preempted_request_hits_its_own_blocks_again():
    bench = Bench()
    bench.add("a", 16, out=2)
    b = bench.add("b", 24, out=2)
    bench.step()
    bench.step()
    assert b.status is Status.PREEMPTED
    assert bench.step() == {"b": 5}
    assert b.num_outputs == 2 or b.computed == 25


def test_a_preempted_request_counts_apart_in_the_hit_rate():
    bench = Bench()
    bench.add("a", 16, out=2)
    bench.add("b", 24, out=2)
    for _ in range(3):
        bench.step()
    report = bench.scheduler.prefix.report()
    assert (report["requests"], report["preempted_requests"]) == (2, 1)


def test_a_report_begins_anew():
    bench = Bench()
    bench.add("a", 4)
    bench.step()
    assert bench.scheduler.prefix.report()["queries"] == 4
    assert bench.scheduler.prefix.report()["queries"] == 0


def test_priority_sends_back_the_largest_number():
    bench = Bench(policy="priority")
    bench.add("low", 16, priority=5)
    bench.add("high", 24, priority=0)
    bench.step()
    bench.step()
    assert bench.running() == ["high"]


def test_a_victim_that_was_served_gives_its_tokens_back_to_the_budget():
    bench = Bench(policy="priority", max_num_batched_tokens=40)
    bench.add("low", 18, priority=5)
    bench.step()
    bench.add("high", 20, priority=0)
    assert bench.step() == {"low": 1, "high": 20}
    turn = bench.turn()
    assert bench.named(turn) == {"high": 1}
    assert turn.budget == 39


def test_priority_serves_the_smallest_number_first():
    bench = Bench(policy="priority", max_num_seqs=1)
    bench.add("later", 4, priority=1)
    bench.add("first", 4, priority=0)
    assert bench.step() == {"first": 4}


def test_whoever_holds_blocks_is_admitted_before_a_smaller_number():
    bench = Bench(policy="priority", max_num_seqs=1)
    holder = bench.add("holder", 4, priority=9)
    bench.scheduler.waiting.remove(holder)
    bench.scheduler.deferred.append(holder)
    bench.add("first", 4, priority=0)
    assert bench.step() == {"holder": 4}


def test_a_request_that_outgrows_the_pool_sends_itself_back_for_good():
    bench = Bench(num_gpu_blocks=3)
    a = bench.add("a", 7, out=9)
    steps = [bench.step() for _ in range(5)]
    assert steps == [{"a": 7}, {"a": 1}, {}, {}, {}]
    assert (a.status, a.preemptions) == (Status.PREEMPTED, 1)


def test_a_finished_request_gives_its_blocks_back():
    bench = Bench()
    bench.add("a", 4, out=1)
    bench.step()
    assert bench.running() == []
    assert bench.manager.pool.num_free == 10


def test_a_request_ends_at_the_longest_sequence():
    bench = Bench(max_model_len=6)
    a = bench.add("a", 4, out=9)
    for _ in range(4):
        bench.step()
    assert (a.status, a.length) == (Status.FINISHED, 6)


def test_a_request_may_choose_not_to_read_the_cache():
    bench = Bench()
    bench.add("a", 9, out=1)
    bench.step()
    again = BlockRequest("b", list(bench.requests["a"].tokens[:9]), 1)
    again.skip_reading = True
    bench.scheduler.arrive(again)
    assert bench.step() == {"b": 9}


def test_an_asynchronous_turn_runs_ahead_of_the_outputs():
    bench = Bench(async_scheduling=True)
    a = bench.add("a", 4, out=3)
    first = bench.scheduler.schedule()
    second = bench.scheduler.schedule()
    assert (bench.named(first), bench.named(second)) == ({"a": 4}, {"a": 1})
    assert (a.in_flight, a.length) == (2, 4)


def test_an_asynchronous_turn_does_not_run_past_the_last_output():
    bench = Bench(async_scheduling=True)
    bench.add("a", 4, out=2)
    first, second = bench.scheduler.schedule(), bench.scheduler.schedule()
    bench.scheduler.update(first, {"a": 0})
    assert bench.named(second) == {"a": 1}
    assert bench.named(bench.scheduler.schedule()) == {}


def test_a_block_that_runs_ahead_is_named_with_its_last_output():
    bench = Bench(async_scheduling=True)
    bench.add("a", 7, out=5)
    first, second = bench.scheduler.schedule(), bench.scheduler.schedule()
    findable = [bench.manager.pool.num_findable]
    for turn in (first, second):
        bench.scheduler.update(turn, {"a": 0})
        findable.append(bench.manager.pool.num_findable)
    assert findable == [1, 1, 2]


@pytest.mark.parametrize("with_l2", [False, True])
def test_with_a_connector_nobody_in_the_step_under_way_is_preempted(with_l2):
    l2 = L2Config(num_cpu_blocks=9) if with_l2 else None
    bench = Bench(num_gpu_blocks=4, async_scheduling=True, l2=l2, trace=True)
    bench.add("a", 8)
    bench.add("b", 3)
    first, second = bench.scheduler.schedule(), bench.scheduler.schedule()
    assert bench.named(first) == {"a": 8, "b": 3}
    assert bench.named(second) == ({} if with_l2 else {"a": 1})
    assert [r.id for r in second.preempted] == ([] if with_l2 else ["b"])


@pytest.mark.parametrize(("policy", "order"), [("fcfs", "cabd"), ("priority", "abcd")])
def test_a_queue_keeps_to_its_policy(policy, order):
    queue = BlockQueue(policy)
    for at, id in enumerate("abcd"):
        queue.append(BlockRequest(id, [1], 1, arrival=at))
    c = next(request for request in queue if request.id == "c")
    queue.remove(c)
    queue.put_first([c])
    assert "".join(request.id for request in queue) == order


def test_requests_that_are_put_first_keep_their_order():
    queue = BlockQueue("fcfs")
    queue.append(BlockRequest("c", [1], 1))
    queue.put_first([BlockRequest(id, [1], 1) for id in "ab"])
    assert "".join(request.id for request in queue) == "abc"
