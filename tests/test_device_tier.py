"""What is locked, and what goes when room is short? (L1 only.)"""

from __future__ import annotations

from bench import Bench

from kvlab.record import events as ev


def bench(**knobs: object) -> Bench:
    return Bench(tree="radix", **knobs)


def names(cache: Bench) -> list[tuple[int, int]]:
    """Return every node as (its first token, its length), sorted."""
    return sorted((int(n.key[0]), len(n.key)) for n in cache.paths().values())


# --- locks


def test_a_lock_moves_its_path_from_evictable_to_protected():
    cache = bench()
    cache.insert([1, 2, 3])
    cache.insert([1, 2, 3, 4])
    cache.insert([7])
    cache.lock([1, 2, 3, 4])
    assert cache.account() == (59, 1, 4)


def test_an_unlock_moves_it_back():
    cache = bench()
    cache.insert([1, 2, 3])
    cache.cache.dec_lock_ref(cache.lock([1, 2, 3]))
    assert cache.account() == (61, 3, 0)


def test_locking_returns_what_evictable_lost_and_unlocking_what_it_gained():
    cache = bench()
    cache.insert([1, 2, 3])
    node = cache.match([1, 2, 3]).last_device
    assert cache.cache.inc_lock_ref(node) == -3
    assert cache.cache.dec_lock_ref(node) == 3


def test_a_second_lock_moves_nothing():
    cache = bench()
    cache.insert([1, 2, 3])
    node = cache.lock([1, 2, 3])
    assert cache.cache.inc_lock_ref(node) == 0
    assert cache.cache.dec_lock_ref(node) == 0


def test_a_lock_reaches_the_root():
    cache = bench()
    cache.insert([1])
    cache.insert([1, 2])
    cache.lock([1, 2])
    assert cache.node([1]).lock_ref == 1


def test_locking_the_root_locks_nothing():
    cache = bench()
    root = cache.cache.tree.root
    assert (cache.cache.inc_lock_ref(root), root.lock_ref) == (0, 1)
    assert cache.cache.dec_lock_ref(root) == 0


def test_a_split_of_a_locked_node_leaves_both_halves_locked():
    cache = bench()
    cache.insert([1, 2, 3, 4])
    node = cache.lock([1, 2, 3, 4])
    cache.match([1, 2])
    assert cache.account() == (60, 0, 4)
    cache.cache.dec_lock_ref(node)
    assert cache.account() == (60, 4, 0)


# --- eviction


def test_the_coldest_leaf_goes_first():
    cache = bench()
    cache.insert([1])
    cache.insert([2])
    cache.match([1])
    cache.cache.evict(1)
    assert names(cache) == [(1, 1)]


def test_leaves_go_whole_so_eviction_overshoots():
    cache = bench()
    cache.insert(range(10))
    assert cache.cache.evict(3) == 10
    assert cache.account() == (64, 0, 0)


def test_no_more_leaves_go_than_are_needed():
    cache = bench()
    for first in (10, 20, 30):
        cache.insert(range(first, first + 5))
    assert cache.cache.evict(6) == 10
    assert names(cache) == [(30, 5)]


def test_evicting_nothing_evicts_nothing():
    cache = bench()
    cache.insert([1])
    assert cache.cache.evict(0) == 0


def test_an_empty_tree_has_nothing_to_evict():
    assert bench().cache.evict(5) == 0


def test_a_parent_goes_in_the_same_call_once_its_last_child_went():
    cache = bench()
    cache.insert([1, 2, 3])
    cache.insert([1, 2, 4])
    assert cache.cache.evict(4) == 4
    assert names(cache) == []


def test_a_parent_waits_for_its_children_however_cold_it_is():
    cache = bench(eviction_policy="fifo")
    cache.insert([1])
    cache.insert([1, 2])
    cache.insert([5])
    cache.cache.evict(1)
    assert names(cache) == [(1, 1), (5, 1)]


def test_a_parent_that_became_a_leaf_goes_by_its_own_key():
    cache = bench()
    cache.insert([1, 2])
    cache.insert([1, 2, 3])
    cache.insert([5])
    cache.match([1, 2])
    cache.cache.evict(2)
    assert names(cache) == [(1, 2)]


def test_a_locked_prefix_survives_eviction():
    cache = bench()
    cache.insert([1, 2])
    cache.insert([1, 2, 3])
    cache.insert([5])
    cache.lock([1, 2])
    assert cache.cache.evict(64) == 2
    assert names(cache) == [(1, 2)]


def test_an_unlocked_prefix_can_be_evicted_again():
    cache = bench()
    cache.insert([1, 2])
    cache.cache.dec_lock_ref(cache.lock([1, 2]))
    assert cache.cache.evict(64) == 2


def test_a_mere_match_saves_a_prefix_by_making_it_newer():
    cache = bench()
    cache.insert([1, 2, 3, 4])
    cache.insert([5])
    cache.match([1, 2])
    cache.cache.evict(1)
    assert names(cache) == [(1, 2), (3, 2)]


def test_the_half_below_a_split_stays_a_candidate():
    cache = bench()
    for first in (10, 20, 30):
        cache.insert(range(first, first + 4))
    cache.cache.evict(1)
    cache.match([20, 21])
    assert cache.cache.evict(64) == 8


def test_freed_pages_return_to_the_free_list():
    cache = bench(pool_tokens=4)
    cache.insert([1, 2])
    cache.cache.evict(2)
    assert cache.cache.allocator.free_pages().tolist() == [3, 4, 1, 2]


def test_what_is_evicted_is_lost():
    cache = bench()
    cache.insert(range(10))
    cache.cache.evict(1)
    totals = cache.cache.totals
    assert (totals.evicted, totals.lost, totals.backed_up) == (10, 10, 0)


# --- room


def test_eviction_asks_for_the_whole_need_and_overshoots_to_whole_leaves():
    cache = bench(pool_tokens=20)
    for first in (10, 20, 30):
        cache.insert(range(first, first + 6))
    assert cache.cache.make_room(4)
    assert (cache.cache.allocator.available, names(cache)) == (8, [(20, 6), (30, 6)])
    cache.cache.make_room(9)
    asked = [event.ask for event in cache.events(ev.Evict)]
    assert asked == [4, 9]
    assert names(cache) == []


def test_nothing_is_evicted_while_there_is_room():
    cache = bench()
    cache.insert([1])
    assert cache.cache.make_room(63)
    assert cache.events(ev.Evict) == []


def test_there_is_no_room_when_all_is_locked():
    cache = bench(pool_tokens=4)
    cache.insert([1, 2, 3])
    cache.lock([1, 2, 3])
    assert not cache.cache.make_room(2)


# --- what is told


def test_an_eviction_tells_why_whom_and_how_much():
    cache = bench(pool_tokens=4)
    cache.insert([1, 2, 3])
    cache.cache.make_room(2)
    told = cache.trace.events[-6:]
    kinds = [ev.MakeRoom, ev.Evict, ev.Victim, ev.Delete, ev.Free, ev.Evicted]
    assert [type(event) for event in told] == kinds
    first = len(cache.trace) - 6
    assert [event.cause for event in told] == [-1, first, *[first + 1] * 4]
