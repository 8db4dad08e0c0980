"""Does vLLM's offloading connector store and load as recorded, and may any connector
answer the scheduler?"""

from __future__ import annotations

import pytest

from kvlab.block_config import BlockConfig, L2Config
from kvlab.blocks.block_pool import BlockPool
from kvlab.blocks.chunk_offload import ChunkOffload
from kvlab.blocks.connector import Computed
from kvlab.blocks.kv_cache_manager import KVCacheManager
from kvlab.blocks.offload import CpuOffload
from kvlab.errors import ConfigError
from kvlab.record.block_events import Offer
from kvlab.record.trace import QUIET, BlockHeader, BlockTrace, Emitter
from kvlab.run.accelerators import accelerator
from kvlab.run.block_timed_engine import TimedBlockEngine
from kvlab.run.cost import Cost
from kvlab.run.model_shapes import model_shape
from kvlab.schedule.block_request import BlockRequest, Status
from kvlab.schedule.block_scheduler import BlockScheduler

COST = Cost(model_shape("llama-3-8b"), accelerator("a100"))
NAMES = [bytes([number]) * 8 for number in range(1, 9)]


def connector(places: int = 8, emit: Emitter = QUIET, **how: object) -> ChunkOffload:
    l2 = L2Config(num_cpu_blocks=places + 1, connector="offloading", **how)
    config = BlockConfig(num_gpu_blocks=11, block_size=4, l2=l2)
    return ChunkOffload(config, BlockPool("L1", 11), emit)


def running(count: int, prompt: int | None = None, id: str = "a") -> Computed:
    """A request whose `count` full blocks, 1 and on, this step computes."""
    length = 4 * count
    blocks = list(range(1, count + 1))
    return Computed(id, blocks, 0, length, prompt or length, NAMES[:count])


def stored(offload: ChunkOffload, count: int) -> Computed:
    request = running(count)
    for job in offload.plan([request], []).stores:
        offload.stored(job)
    return request


def test_blocks_are_stored_in_the_step_that_computes_them():
    copies = connector().plan([running(2)], [])
    assert copies.stores == {0: ([1, 2], [1, 2])}


@pytest.mark.parametrize(("told", "blocks"), [({}, 2), ({"offload_prompt_only": 0}, 3)])
def test_outputs_are_stored_where_it_is_told_so(told, blocks):
    offload = connector(**{name: bool(value) for name, value in told.items()})
    copies = offload.plan([running(3, prompt=8)], [])
    assert copies.stores[0].l1 == [1, 2, 3][:blocks]


def test_a_block_is_offered_once():
    offload = connector()
    request = stored(offload, 2)
    assert offload.plan([request], []).stores == {}


def test_a_refused_store_is_tried_again():
    offload = connector(places=1)
    request = running(2)
    assert offload.plan([request], []).stores == {}
    offload.pool.num_chunks = 2
    offload.l2 = BlockPool("L2", 3)
    offload._fresh = 2
    assert offload.plan([request], []).stores[0].l1 == [1, 2]


def test_a_request_that_is_over_is_offered_in_the_step_after():
    offload = connector(places=1)
    offload.plan([running(2)], [])
    offload.finished(running(2)._replace(computed=7))
    assert offload.plan([], []).stores == {0: ([1], [1])}


def test_the_place_of_the_evicted_is_used_again():
    offload = connector(places=2)
    stored(offload, 2)
    offload.finished(running(2))
    offload.plan([], [])
    other = Computed("b", [5], 0, 4, 4, NAMES[5:6])
    assert offload.plan([other], []).stores == {1: ([5], [2])}
    assert offload.l2.num_evicted == 1


@pytest.mark.parametrize(("places", "told"), [(8, (1, 6, True)), (2, (1, 0, False))])
def test_an_offer_tells_of_new_chunks_and_of_the_room_before(places, told):
    trace = BlockTrace(BlockHeader(config=BlockConfig()))
    offload = connector(places, trace)
    offload.plan([running(2)], [])
    offload.plan([running(3, id="b")], [])
    offer = [event for event in trace.events if isinstance(event, Offer)][-1]
    assert (offer.chunks, offer.free, offer.took) == told


def test_a_lookup_takes_consecutive_chunks():
    offload = connector()
    stored(offload, 2)
    gap = [NAMES[0], NAMES[5], NAMES[1]]
    assert offload.matched("b", NAMES[:2], 9, 0) == 8
    assert offload.matched("b", gap, 13, 0) == 4


@pytest.mark.parametrize(
    ("length", "local", "found"), [(8, 0, 8), (9, 0, 8), (8, 4, 4), (8, 8, 0)]
)
def test_a_lookup_answers_as_the_real_connector(length, local, found):
    """Figures of vLLM 0.33.0: blocks of 4, two of them on the CPU."""
    offload = connector()
    stored(offload, 2)
    assert offload.matched("b", NAMES[: length // 4], length, local) == found


def test_what_l1_holds_is_not_read_again():
    offload = connector()
    stored(offload, 3)
    assert offload.matched("b", NAMES[:3], 13, 4) == 8
    offload.started("b", [7, 8, 9], 4)
    assert offload.loads["b"] == ([8, 9], [2, 3])


def test_a_chunk_that_another_request_loads_is_waited_for():
    offload = connector()
    stored(offload, 2)
    assert offload.matched("b", NAMES[:2], 9, 0) == 8
    offload.started("b", [7, 8], 0)
    assert offload.matched("c", NAMES[:2], 9, 0) is None
    offload.loaded("b")
    assert offload.matched("c", NAMES[:2], 9, 0) == 8


def test_what_was_loaded_is_not_offered_again():
    offload = connector()
    stored(offload, 2)
    offload.matched("b", NAMES[:2], 9, 0)
    offload.started("b", [7, 8, 9], 0)
    offload.pool.reset()
    loaded = Computed("b", [7, 8, 9], 0, 9, 9, NAMES[:2])
    assert offload.plan([loaded], []).stores == {}


def test_a_pending_chunk_defers_the_request():
    offload = connector()
    offload.plan([running(2)], [])
    assert offload.matched("b", NAMES[:2], 9, 0) is None


def test_a_request_waits_for_its_own_stores():
    offload = connector()
    offload.plan([running(2)], [])
    assert offload.matched("a", NAMES[4:6], 9, 0) is None


def test_a_read_chunk_cannot_be_evicted_until_it_was_read():
    offload = connector()
    stored(offload, 2)
    offload.matched("b", NAMES[:2], 9, 0)
    offload.started("b", [7, 8], 0)
    assert (offload.pool.evictable, offload.l2.num_evictable) == (0, 0)
    offload.loaded("b")
    assert (offload.pool.evictable, offload.l2.num_evictable) == (2, 2)


def test_a_store_ends_before_its_blocks_are_used_again():
    offload = connector()
    request = running(2)
    offload.plan([request], [])
    offload.finished(request)
    assert offload.plan([], []).flushed == set()
    other = Computed("b", [2, 5], 0, 1, 9)
    assert offload.plan([other], []).flushed == {0}


def test_a_store_of_who_is_over_ends_at_once_if_its_blocks_are_given_away():
    offload = connector()
    begun = running(2)._replace(computed=3)
    offload.plan([begun], [])
    offload.finished(running(2))
    copies = offload.plan([Computed("b", [2, 5], 0, 1, 9)], [])
    assert (copies.stores, copies.flushed) == ({0: ([1, 2], [1, 2])}, {0})


def test_the_stores_of_a_preempted_request_end_before_the_step():
    offload = connector()
    offload.plan([running(2)], [])
    assert offload.plan([], ["a"]).flushed == {0}
    offload.stored(0)
    assert offload._of("a").offered == 0


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"num_cpu_blocks": 1}, "num_cpu_blocks is 1; use at least 2"),
        ({"num_cpu_blocks": 9, "lazy": True}, "lazy is of the simple connector"),
        ({"num_cpu_blocks": 9, "store_threshold": -1}, "store_threshold is -1"),
    ],
)
def test_settings_that_make_no_sense_are_refused(wrong, words):
    with pytest.raises(ConfigError, match=words):
        L2Config(connector="offloading", **wrong)


def test_the_clock_knows_the_simple_connector_alone():
    l2 = L2Config(num_cpu_blocks=9, connector="offloading")
    with pytest.raises(ConfigError, match="the simple connector"):
        TimedBlockEngine(BlockConfig(l2=l2), COST)


# --- the scheduler and its connector


class Answering(CpuOffload):
    """Says what it is told to; knows no L2."""

    def __init__(self, config: BlockConfig, l1: BlockPool, answers: list) -> None:
        super().__init__(config, l1)
        self.answers = answers

    def matched(self, id, names, length, local):
        answer = self.answers.pop(0)
        if answer:
            self.pending[id] = self.l2.take(answer // 4)
        return answer


def bench(*answers: int | None, **settings: object) -> BlockScheduler:
    config = BlockConfig(
        num_gpu_blocks=11, block_size=4, l2=L2Config(num_cpu_blocks=9), **settings
    )
    manager = KVCacheManager(config)
    connector = Answering(config, manager.pool, list(answers))
    return BlockScheduler(manager, config, connector=connector)


def arrive(scheduler: BlockScheduler, id: str, length: int = 10) -> BlockRequest:
    request = BlockRequest(id, list(range(length)), 2)
    scheduler.arrive(request)
    return request


def test_a_request_whose_connector_cannot_tell_is_passed_over():
    scheduler = bench(None, 0, 0)
    a, b = arrive(scheduler, "a"), arrive(scheduler, "b")
    assert list(scheduler.schedule().tokens) == [b]
    assert list(scheduler.waiting) == [a]
    assert scheduler.retrying == {"a"}
    assert a in scheduler.schedule().tokens
    assert scheduler.retrying == set()


def test_who_asks_again_keeps_its_place_before_who_was_not_tried():
    scheduler = bench(None, 0, max_num_seqs=1)
    a, b, c = (arrive(scheduler, id) for id in "abc")
    assert list(scheduler.schedule().tokens) == [b]
    assert list(scheduler.waiting) == [a, c]


def test_a_loading_request_takes_no_seat():
    scheduler = bench(8, 0, max_num_seqs=1)
    a, b = arrive(scheduler, "a"), arrive(scheduler, "b")
    assert list(scheduler.schedule().tokens) == [b]
    assert a.status is Status.LOADING


def test_of_a_prompt_that_was_loaded_whole_the_last_token_is_computed():
    scheduler = bench(8)
    a = arrive(scheduler, "a", length=8)
    scheduler.schedule()
    scheduler.copied(["a"], [])
    assert scheduler.schedule().tokens == {a: 1}


def test_the_connector_hears_what_this_step_computes():
    l2 = L2Config(num_cpu_blocks=9, connector="offloading")
    config = BlockConfig(num_gpu_blocks=11, block_size=4, l2=l2)
    manager = KVCacheManager(config)
    chunks = ChunkOffload(config, manager.pool)
    scheduler = BlockScheduler(manager, config, connector=chunks)
    arrive(scheduler, "a")
    assert scheduler.schedule().copies.stores[0].l1 == manager.tables["a"][:2]


def test_a_failed_load_gives_the_request_up():
    scheduler = bench(8)
    a = arrive(scheduler, "a")
    scheduler.schedule()
    scheduler.load_failed("a", 1)
    assert a.status is Status.FINISHED
    scheduler.copied(["a"], [])
    assert scheduler.manager.pool.num_free == 10


@pytest.mark.parametrize(("valid", "left"), [(1, 6), (2, 2)])
def test_a_failed_load_may_keep_its_good_blocks(valid, left):
    scheduler = bench(8, kv_load_failure_policy="recompute")
    a = arrive(scheduler, "a")
    scheduler.schedule()
    scheduler.load_failed("a", valid)
    scheduler.copied(["a"], [])
    assert scheduler.schedule().tokens == {a: left}


def test_a_load_of_which_nothing_is_good_begins_anew():
    scheduler = bench(8, 0, kv_load_failure_policy="recompute")
    a = arrive(scheduler, "a")
    scheduler.schedule()
    scheduler.load_failed("a", 0)
    scheduler.copied(["a"], [])
    assert scheduler.schedule().tokens == {a: 10}
    assert len(scheduler.manager.tables["a"]) == 3
