"""How does an evicted prefix come home, and when not?"""

from __future__ import annotations

import pytest
from bench import Bench, where
from desk import Desk

from kvlab.cache.controller import MAX_LOAD_BATCHES
from kvlab.errors import EngineFault
from kvlab.record import events as ev
from kvlab.rules import Rules

P8, P16, P22 = range(8), range(16), range(22)
"""Three prompts, each the beginning of the next."""


def chain(*on_device: range, **knobs: object) -> Bench:
    """Return a cache in which 8 + 8 + 6 tokens lie on host in three nodes, and on the
    device what `on_device` locks."""
    cache = Bench(**{"host_tokens": 128, **knobs})
    for prompt in (P8, P16, P22):
        cache.insert(prompt)
        cache.ack_write()
    nodes = [cache.lock(prompt) for prompt in on_device]
    cache.cache.evict(64)
    for node in nodes:
        cache.cache.dec_lock_ref(node)
    return cache


def on_device(cache: Bench) -> list[int]:
    """Return the lengths of the paths whose last node is on device."""
    return sorted(len(p) for p, node in cache.paths().items() if not node.evicted)


def verdicts(cache: Bench) -> list[str]:
    return [event.verdict for event in cache.events(ev.LoadBack)]


# --- all or nothing


def test_a_chain_comes_back_whole():
    cache = chain()
    assert cache.load_back(P22) == 22
    assert on_device(cache) == [8, 16, 22]


def test_a_chain_comes_back_ancestor_first_from_one_allocation():
    cache = chain()
    allocations = len(cache.events(ev.Alloc))
    cache.load_back(P22)
    pages = [page for p in (P8, P16, P22) for page in cache.node(p).value.tolist()]
    (alloc,) = cache.events(ev.Alloc)[allocations:]
    assert pages == alloc.pages.tolist()


def test_the_tokens_of_all_loads_are_summed():
    cache = chain()
    cache.load_back(P22)
    cache.ack_load()
    cache.cache.evict(64)
    cache.load_back(P16)
    assert cache.cache.totals.loaded_back == 22 + 16


def test_a_load_begins_behind_what_is_on_device():
    cache = chain(P8)
    assert cache.load_back(P22) == 14


def test_a_load_ends_where_the_match_ends():
    cache = chain()
    assert cache.load_back(range(12)) == 12
    assert on_device(cache) == [8, 12]


def test_a_chain_comes_back_whole_or_not_at_all():
    cache = chain(pool_tokens=24)
    cache.insert(range(100, 103))
    cache.lock(range(100, 103))
    assert cache.load_back(P22) == 0
    assert on_device(cache) == [3]


def test_nothing_is_loaded_for_a_prefix_on_device():
    assert chain(P22).load_back(P22) == 0


def test_nothing_is_loaded_for_the_root():
    cache = chain()
    assert len(cache.cache.init_load_back(cache.cache.tree.root)) == 0


# --- why not


def test_below_threshold_nothing_is_loaded():
    cache = chain(P16)
    assert (cache.load_back(P22), verdicts(cache)) == (0, ["below_threshold"])


def test_the_threshold_itself_is_loaded():
    cache = chain(P16, load_back_threshold=6)
    assert cache.load_back(P22) == 6


def test_over_quota_nothing_is_loaded():
    cache = chain()
    assert (cache.load_back(P22, quota=21), verdicts(cache)) == (0, ["over_quota"])


def test_the_quota_itself_is_loaded():
    assert chain().load_back(P22, quota=22) == 22


def test_locking_the_ancestor_lowers_the_quota():
    cache = chain(P8)
    assert cache.load_back(P22, quota=21) == 0
    assert cache.load_back(P22, quota=22) == 14


def test_an_ancestor_that_was_locked_already_lowers_no_quota():
    cache = chain(P8)
    cache.lock(P8)
    assert cache.load_back(P22, quota=14) == 14


def test_a_refusal_leaves_the_accounts_as_they_were():
    cache = chain(P8)
    before = cache.account()
    cache.load_back(P22, quota=0)
    assert cache.account() == before


def test_without_room_for_it_nothing_is_loaded():
    cache = chain(pool_tokens=24)
    cache.insert(range(100, 110))
    cache.lock(range(100, 110))
    assert cache.load_back(P22) == 0
    assert verdicts(cache) == ["make_room", "no_device_memory"]


@pytest.mark.parametrize(("release", "next_page"), [("0.5.14", 11), ("0.5.23", 15)])
def test_only_0_5_14_asks_for_pages_before_it_knows_that_a_load_has_no_room(
    release, next_page
):
    cache = chain(pool_tokens=24, need_sort=True, rules=Rules.named(release))
    cache.insert(range(100, 110))
    cache.lock(range(100, 110))
    cache.insert(range(200, 204))
    cache.ack_write()
    cache.cache.evict(4)  # four pages rest; who asks for more than ten sorts them in
    assert cache.load_back(P22) == 0
    assert verdicts(cache)[-1] == "no_device_memory"
    assert cache.cache.allocator.free_pages()[0] == next_page


# --- room


def test_a_load_evicts_to_make_room():
    cache = chain(pool_tokens=24)
    cache.insert(range(100, 110))
    cache.ack_write()
    assert cache.load_back(P22) == 22
    assert on_device(cache) == [8, 16, 22]


def test_a_load_that_fits_exactly_evicts_nothing():
    cache = chain()
    cache.insert(range(100, 142))
    assert cache.load_back(P22) == 22
    assert (verdicts(cache), where(cache)[100]) == (["load"], "DH")


def test_a_load_asks_eviction_for_its_whole_length():
    cache = chain(pool_tokens=24)
    cache.insert(range(100, 110))
    cache.ack_write()
    cache.load_back(P22)
    assert cache.events(ev.Evict)[-1].ask == 22


def test_a_load_does_not_evict_its_own_ancestor():
    cache = chain(P8, pool_tokens=24)
    cache.insert(range(100, 110))
    cache.ack_write()
    cache.match(range(100, 110))
    assert cache.load_back(P22) == 14
    assert on_device(cache) == [8, 16, 22]


# --- while it is under way


def test_what_is_loaded_is_protected_until_it_is_acknowledged():
    cache = chain()
    cache.load_back(P22)
    assert cache.account() == (42, 0, 22)
    assert cache.ack_load() == 1
    assert cache.account() == (42, 22, 0)


def test_what_is_loaded_cannot_be_evicted_before_it_is_there():
    cache = chain()
    cache.load_back(P22)
    assert cache.cache.evict(64) == 0


def test_the_bytes_come_when_the_load_is_acknowledged():
    cache = chain()
    cache.load_back(P22)
    node = cache.node(P22)
    wanted = cache.engine.host_pool.read(node.host_value).tolist()
    assert cache.engine.device_pool.read(node.value).tolist() != wanted
    cache.ack_load()
    assert cache.engine.device_pool.read(node.value).tolist() == wanted


def test_no_byte_moves_before_loading_starts():
    cache = chain()
    cache.cache.init_load_back(cache.match(P22).best)
    assert cache.ack_load() == 0
    cache.cache.start_loading()
    assert cache.ack_load() == 1


def test_every_node_of_the_chain_waits_for_one_acknowledgement():
    cache = chain()
    cache.load_back(P22)
    waits = {cache.node(p).loading for p in (P8, P16, P22)}
    assert waits == {cache.node(P22).id}
    cache.ack_load()
    assert {cache.node(p).loading for p in (P8, P16, P22)} == {None}


def test_a_split_during_a_load_leaves_both_halves_right():
    cache = chain()
    cache.load_back(P22)
    cache.match(range(20))
    cache.ack_load()
    assert cache.unsound() == []
    assert cache.node(range(20)).loading is None


def test_the_host_copy_is_kept():
    cache = chain()
    written = len(cache.events(ev.Backup))
    cache.load_back(P22)
    cache.ack_load()
    cache.cache.evict(64)
    assert on_device(cache) == []
    assert len(cache.events(ev.Backup)) == written


def test_loads_queued_together_go_as_one_batch():
    cache = Bench(host_tokens=128)
    for first in (100, 200):
        cache.insert(range(first, first + 10))
    cache.ack_write()
    cache.cache.evict(20)
    for first in (100, 200):
        cache.cache.init_load_back(cache.match(range(first, first + 10)).best)
    cache.cache.start_loading()
    assert cache.cache.controller.batches_in_flight == 1
    assert cache.ack_load(1) == 2


def test_starting_without_a_queue_starts_nothing():
    cache = chain()
    cache.cache.start_loading()
    assert cache.cache.controller.batches_in_flight == 0


def four_loads() -> Bench:
    cache = Bench(host_tokens=128)
    firsts = [100 * n for n in range(MAX_LOAD_BATCHES + 1)]
    for first in firsts:
        cache.insert(range(first, first + 10))
    cache.ack_write()
    cache.cache.evict(64)
    for first in firsts:
        cache.load_back(range(first, first + 10))
    return cache


def test_a_fourth_batch_waits_for_the_oldest():
    cache = four_loads()
    assert cache.cache.controller.batches_in_flight == MAX_LOAD_BATCHES
    done = [cache.node(range(100 * n, 100 * n + 10)).loading is None for n in range(4)]
    assert done == [True, False, False, False]


def test_check_events_takes_note_of_both_directions():
    cache = chain()
    cache.load_back(P22)
    cache.insert(range(100, 110))
    cache.link.complete("write")
    cache.link.complete("load")
    cache.cache.check_events()
    assert cache.account() == (32, 32, 0)


# --- the fault of 0.5.14: nodes that are loaded are not protected (golden s25)


def faulty() -> Bench:
    """Return a full device and a nearly full host under write_back: room for a load is
    made by a write that drops the very node that is being loaded."""
    cache = Bench(pool_tokens=32, host_tokens=40, write_policy="write_back")
    cache.insert(range(20))
    cache.cache.evict(64)
    cache.insert(range(100, 130))
    cache.load_back(range(20))
    return cache


def test_the_node_being_loaded_is_dropped_from_the_host():
    cache = faulty()
    assert list(cache.paths()) == [tuple(range(100, 130))]


def test_half_of_what_was_loaded_then_is_somebody_elses():
    cache = faulty()
    cache.ack_load()
    (load,) = cache.events(ev.Load)
    found = cache.engine.device_pool.read(load.pages)
    other = cache.engine.host_pool.read(cache.node(range(100, 130)).host_value)
    assert found.tolist()[:10] == other.tolist()[20:]


def test_the_account_still_counts_the_node_that_left():
    cache = faulty()
    cache.ack_load()
    assert cache.account() == (12, 20, 0)
    assert cache.match(range(20)).device_len == 0


def test_a_request_lets_go_of_what_was_lost_under_it():
    desk = Desk(
        tree="hiradix", pool_tokens=32, host_tokens=40, write_policy="write_back"
    )
    desk.insert(range(20))
    desk.cache.evict(64)
    desk.insert(range(100, 130))
    request = desk.run("a", range(22))
    desk.ack_load()
    assert len(desk.events(ev.Load)) == 1
    desk.scheduler.finish(request)
    assert desk.account()[2] == 0


def test_dropping_the_lost_node_again_is_the_engines_own_assertion():
    cache = faulty()
    cache.ack_load()
    cache.match(range(100, 130))
    cache.cache.evict(64)
    with pytest.raises(EngineFault, match=r"n1 was dropped .*; set load_protects"):
        cache.cache.evict_host(5)


def test_a_node_that_left_while_it_was_loaded_does_not_keep_its_parent():
    cache = Bench(
        pool_tokens=36, host_tokens=40, write_policy="write_back", load_back_threshold=4
    )
    cache.insert(range(4))
    cache.insert(range(24))
    cache.cache.evict(64)
    cache.load_back(range(4))
    cache.insert(range(100, 130))
    cache.ack_load()
    assert cache.load_back(range(24)) == 20
    cache.ack_load()
    assert where(cache) == {0: "DH", 100: "H"}
    cache.cache.evict(64)
    assert where(cache) == {0: "H", 100: "H"}


def test_a_host_with_room_for_both_loads_the_right_prefix():
    cache = Bench(pool_tokens=32, host_tokens=50, write_policy="write_back")
    cache.insert(range(20))
    cache.cache.evict(64)
    cache.insert(range(100, 130))
    assert cache.load_back(range(20)) == 20
    cache.ack_load()
    assert cache.unsound() == []
