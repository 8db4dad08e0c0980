"""Do the unverified connectors follow their rules, and the scheduler any connector?"""

from __future__ import annotations

import pytest

from kvlab.block_config import BlockConfig, L2Config
from kvlab.blocks.block_pool import BlockPool
from kvlab.blocks.chunk_offload import ChunkOffload
from kvlab.blocks.chunk_pool import ChunkPool
from kvlab.blocks.connector import Computed
from kvlab.blocks.kv_cache_manager import KVCacheManager
from kvlab.blocks.offload import CpuOffload
from kvlab.schedule.block_request import BlockRequest, Status
from kvlab.schedule.block_scheduler import BlockScheduler

NAMES = [bytes([number]) * 8 for number in range(1, 9)]


def connector(places: int = 8, **how: object) -> ChunkOffload:
    return ChunkOffload(BlockPool("L1", 11), ChunkPool(places), 4, **how)


def running(offload: ChunkOffload, count: int, prompt: int | None = None) -> Computed:
    """A request whose `count` full blocks are computed by the end of this step."""
    blocks = offload.l1.take(count)
    offload.started("a", blocks, 0)
    length = 4 * count
    return Computed("a", blocks, 0, length, prompt or length, NAMES[:count])


def stored(offload: ChunkOffload, count: int) -> Computed:
    request = running(offload, count)
    offload.stored(offload.plan([request], flush=False).job)
    return request


def test_chunks_are_stored_in_the_step_that_computes_them():
    offload = connector()
    request = running(offload, 2)
    assert offload.plan([request], flush=False).store.l1 == [1, 2]


def test_a_stored_block_gets_no_owner():
    offload = connector()
    offload.plan([running(offload, 2)], flush=False)
    assert offload.l1.ref_cnt[1] == 1


def test_outputs_are_not_stored_by_default():
    offload = connector()
    request = running(offload, 3, prompt=8)
    assert offload.plan([request], flush=False).store.l1 == [1, 2]


@pytest.mark.parametrize(("block", "stored"), [(64, 4), (256, 5), (512, 5)])
def test_lmcache_stores_outputs_in_chunks_of_its_own(block, stored):
    l1 = BlockPool("L1", 40)
    offload = ChunkOffload.lmcache(l1, ChunkPool(8), block)
    blocks = l1.take(5)
    offload.started("a", blocks, 0)
    request = Computed("a", blocks, 0, 5 * block, block, NAMES[:5])
    assert offload.plan([request], flush=False).store.l1 == blocks[:stored]


def test_a_chunk_is_offered_once():
    offload = connector()
    request = stored(offload, 2)
    assert offload.plan([request], flush=False).job is None


def test_a_refused_store_is_tried_again():
    offload = connector(places=1)
    request = running(offload, 2)
    assert offload.plan([request], flush=False).job is None
    offload.pool.num_chunks = 2
    assert offload.plan([request], flush=False).store.l1 == [1, 2]


def test_a_lookup_takes_consecutive_chunks():
    offload = connector()
    stored(offload, 2)
    gap = [NAMES[0], NAMES[5], NAMES[1]]
    assert offload.matched("b", NAMES[:2], 9, 0) == 8
    assert offload.matched("b", gap, 13, 0) == 4


def test_what_l1_holds_is_not_read_again():
    offload = connector()
    stored(offload, 3)
    assert offload.matched("b", NAMES[:3], 13, 4) == 8
    blocks = offload.l1.take(3)
    offload.started("b", blocks, 4)
    assert offload.loads["b"].l1 == blocks[1:]


@pytest.mark.parametrize(
    ("chunk", "length", "here", "local", "found"),
    [
        (1, 8, 2, 0, 8), (1, 9, 2, 0, 8), (1, 8, 2, 4, 4), (2, 17, 2, 4, 12),
        (2, 17, 1, 4, 0), (2, 16, 2, 0, 16), (2, 17, 2, 8, 8), (2, 17, 2, 12, 0),
    ],
)  # fmt: skip
def test_a_lookup_answers_as_the_real_connector(chunk, length, here, local, found):
    """Figures of vLLM 0.33.0: blocks of 4, so many of them a chunk."""
    offload = connector(chunk_blocks=chunk)
    stored(offload, here * chunk)
    assert offload.matched("b", NAMES[: length // 4], length, local) == found


def test_a_chunk_that_another_request_loads_is_waited_for():
    offload = connector()
    stored(offload, 2)
    assert offload.matched("b", NAMES[:2], 9, 0) == 8
    offload.started("b", offload.l1.take(2), 0)
    assert offload.matched("c", NAMES[:2], 9, 0) is None
    offload.loaded("b")
    assert offload.matched("c", NAMES[:2], 9, 0) == 8


def test_what_was_loaded_is_not_offered_again():
    offload = connector()
    stored(offload, 2)
    offload.matched("b", NAMES[:2], 9, 0)
    offload.started("b", blocks := offload.l1.take(3), 0)
    offload.pool.reset()
    loaded = Computed("b", blocks, 0, 9, 9, NAMES[:2])
    assert offload.plan([loaded], flush=False).job is None


def test_a_pending_chunk_defers_the_request():
    offload = connector()
    offload.plan([running(offload, 2)], flush=False)
    assert offload.matched("b", NAMES[:2], 9, 0) is None


def test_a_read_chunk_cannot_be_evicted_until_it_was_read():
    offload = connector()
    stored(offload, 2)
    offload.matched("b", NAMES[:2], 9, 0)
    offload.started("b", offload.l1.take(2), 0)
    assert offload.pool.evictable == 0
    offload.loaded("b")
    assert offload.pool.evictable == 2


def test_using_a_fenced_block_again_asks_for_a_flush():
    offload = connector()
    request = running(offload, 2)
    offload.plan([request], flush=False)
    offload.finished(request)
    offload.l1.release(request.blocks[::-1])
    assert not offload.plan([], flush=False).flush
    offload.l1.take(10)
    assert offload.plan([], flush=False).flush


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
    assert list(scheduler.deferred) == [a]
    assert list(scheduler.schedule().tokens) == [a]


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
    config = BlockConfig(num_gpu_blocks=11, block_size=4)
    manager = KVCacheManager(config)
    chunks = ChunkOffload(manager.pool, ChunkPool(8), 4)
    scheduler = BlockScheduler(manager, config, connector=chunks)
    arrive(scheduler, "a")
    assert scheduler.schedule().copies.store.l1 == manager.tables["a"][:2]


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
