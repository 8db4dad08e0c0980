"""Which chunks does the offloading connector's CPU pool keep?"""

from __future__ import annotations

import pytest

from kvlab.blocks.chunk_pool import Answer, ChunkPool, Stored


def full_pool(policy: str = "lru") -> ChunkPool:
    """Four places, filled by two requests of two chunks each."""
    pool = ChunkPool(4, policy)
    for request, keys in (("r1", (1, 2)), ("r2", (11, 12))):
        put(pool, request, *keys)
    return pool


def put(pool: ChunkPool, request: str, *keys: int) -> Stored | None:
    stored = pool.store(request, {key: key for key in keys})
    pool.store_done(keys)
    pool.finish(request)
    return stored


@pytest.mark.parametrize("policy", ["lru", "arc"])
def test_the_later_chunk_of_the_older_request_goes_first(policy):
    assert put(full_pool(policy), "r3", 21).evicted == [2]


def test_a_load_makes_a_chunk_young():
    pool = full_pool()
    pool.load("r3", {1: 1, 2: 2})
    pool.load_done([1, 2])
    assert put(pool, "r4", 21).evicted == [12]


def test_a_lookup_does_not():
    pool = full_pool()
    pool.lookup([2])
    assert put(pool, "r4", 21).evicted == [2]


def test_chunks_stored_by_one_request_in_two_steps_keep_their_order():
    pool = ChunkPool(4)
    for key in (1, 2):
        pool.store("r1", {key: key})
        pool.store_done([key])
    assert list(pool.lists.t1) == [2, 1]


def test_what_a_request_stores_later_stands_with_what_it_stored_first():
    pool = ChunkPool(4)
    for request, key in (("r1", 1), ("r2", 2), ("r1", 3)):
        pool.store(request, {key: key})
    assert list(pool.lists.t1) == [3, 1, 2]
    pool.finish("r1")
    assert list(pool.lists.t1) == [2, 3, 1]


def test_what_a_store_finds_becomes_young_though_nothing_is_stored():
    pool = full_pool()
    pool.store("r3", {1: 1, 2: 2})
    assert list(pool.lists.t1) == [12, 11, 2, 1]


def test_what_is_offered_too_seldom_is_still_not_evicted_by_its_own_offer():
    pool = ChunkPool(2, store_threshold=2)
    for request in ("r1", "r2"):
        pool.store(request, {1: 1, 2: 2})
    pool.store_done([1, 2])
    pool.store("r3", {3: 3})
    assert pool.store("r4", {1: 1, 2: 2, 3: 3}) is None


@pytest.mark.parametrize("policy", ["lru", "arc"])
def test_a_pending_store_cannot_be_evicted(policy):
    pool = ChunkPool(1, policy)
    pool.store("r1", {1: 0})
    assert pool.store("r2", {2: 0}) is None


def test_a_chunk_that_is_read_cannot_be_evicted():
    pool = full_pool()
    pool.load("r3", {2: 2})
    assert put(pool, "r4", 21).evicted == [1]


def test_a_refused_store_changes_nothing():
    pool = full_pool()
    pool.load("r3", {1: 1})
    before = list(pool.lists.t1)
    assert pool.store("r4", {key: key for key in range(20, 24)}) is None
    assert list(pool.lists.t1) == before


def test_a_request_does_not_evict_its_own_prefix():
    assert put(full_pool(), "r3", 1, 2, 3).evicted == [12]


def test_a_failed_store_leaves_nothing_behind():
    pool = ChunkPool(2)
    pool.store("r1", {1: 0})
    pool.store_done([1], ok=False)
    assert (pool.free, pool.lookup([1])) == (2, [Answer.MISS])


def test_a_pending_chunk_is_neither_hit_nor_miss():
    pool = ChunkPool(2)
    pool.store("r1", {1: 0})
    assert pool.lookup([1]) == [Answer.PENDING]


def test_a_threshold_stores_at_the_offer_of_that_number():
    pool = ChunkPool(2, store_threshold=2)
    assert pool.store("r1", {1: 0}).stored == []
    assert pool.store("r2", {1: 0}).stored == [1]


def test_arc_moves_what_is_used_again_to_t2():
    pool = full_pool("arc")
    pool.touch([1])
    assert list(pool.lists.t2) == [1]


def test_arc_keeps_a_store_in_its_order_until_the_request_is_over():
    pool = ChunkPool(3, "arc")
    pool.store("r1", {1: 1, 2: 2, 3: 3})
    assert list(pool.lists.t1) == [1, 2, 3]
    pool.finish("r1")
    assert list(pool.lists.t1) == [3, 2, 1]


def test_arc_moves_what_a_request_read_when_the_request_is_over():
    pool = full_pool("arc")
    pool.load("r3", {1: 1})
    pool.load_done([1])
    assert list(pool.lists.t2) == []
    pool.finish("r3")
    assert list(pool.lists.t2) == [1]


def test_arc_learns_from_a_lost_key_that_is_brought_again():
    pool = full_pool("arc")
    put(pool, "r3", 21)
    pool.store("r4", {2: 2})
    assert (pool.lists.target_t1, list(pool.lists.b1)) == (1, [1])


def test_arc_remembers_what_it_evicted():
    pool = full_pool("arc")
    put(pool, "r3", 21)
    assert list(pool.lists.b1) == [2]


def test_arc_gives_t1_more_room_when_a_key_it_lost_is_asked_for():
    pool = full_pool("arc")
    put(pool, "r3", 21)
    pool.touch([2])
    assert pool.lists.target_t1 == 1


def test_arc_gives_t2_more_room_when_a_key_that_lost_is_asked_for():
    pool = full_pool("arc")
    pool.touch([1, 2, 11, 12])
    put(pool, "r4", 21)
    assert list(pool.lists.b2) == [12]
    pool.lists.target_t1 = 2
    pool.touch([12])
    assert pool.lists.target_t1 == 1


@pytest.mark.parametrize(("share", "gone"), [(2, 12), (3, 2)])
def test_arc_evicts_from_t1_once_it_holds_its_share(share, gone):
    pool = full_pool("arc")
    pool.touch([1, 2])
    assert len(pool.lists.t1) == 2
    pool.lists.target_t1 = share
    assert put(pool, "r4", 21).evicted == [gone]


@pytest.mark.parametrize("policy", ["lru", "arc"])
def test_all_that_may_go_goes_for_as_many(policy):
    assert put(full_pool(policy), "r4", 21, 22, 23, 24).evicted == [2, 1, 12, 11]


def test_arc_remembers_no_more_keys_than_it_has_places():
    pool = full_pool("arc")
    for key in range(100, 110):
        put(pool, f"r{key}", key)
    assert len(pool.lists.b1) == 4


def test_a_reset_empties_the_pool():
    pool = full_pool()
    pool.reset()
    assert (pool.free, pool.evictable) == (4, 0)
    pool.check()


def test_check_finds_a_chunk_that_is_not_listed():
    pool = full_pool()
    pool.lists.t1.clear()
    with pytest.raises(AssertionError, match="the lists and the chunks differ"):
        pool.check()


def test_check_finds_more_chunks_than_places_and_prints_them(capsys):
    pool = full_pool()
    pool.num_chunks = 3
    with pytest.raises(AssertionError, match="4 chunks in 3 places"):
        pool.check()
    assert "12: 0" in capsys.readouterr().out
