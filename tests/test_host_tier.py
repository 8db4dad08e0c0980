"""When is a prefix written to the host, and what becomes of it when it is evicted?"""

from __future__ import annotations

import pytest
from bench import Bench, where

from kvlab.memory.transfer import InstantTransfer
from kvlab.record import events as ev

A, B, C = range(100, 104), range(200, 204), range(300, 304)
"""Three prompts of four tokens that share nothing."""


def bench(**knobs: object) -> Bench:
    return Bench(**{"host_tokens": 128, **knobs})


def through(**knobs: object) -> Bench:
    return bench(write_policy="write_through", **knobs)


def selective(**knobs: object) -> Bench:
    return bench(write_policy="write_through_selective", **knobs)


def write_back(**knobs: object) -> Bench:
    return bench(write_policy="write_back", **knobs)


def verdicts(cache: Bench) -> list[tuple[int, str]]:
    return [(event.node, event.verdict) for event in cache.events(ev.TryBackup)]


def fates(cache: Bench) -> list[str]:
    return [event.fate for event in cache.events(ev.Victim)]


# --- when it is written


def test_write_through_backs_up_at_the_first_insert():
    cache = through()
    cache.insert(A)
    assert where(cache) == {100: "DH"}


def test_selective_waits_for_the_second_insert():
    cache = selective()
    cache.insert(A)
    assert where(cache) == {100: "D"}
    cache.insert(A)
    assert where(cache) == {100: "DH"}


def test_a_match_backs_up_nothing():
    cache = selective()
    cache.insert(A)
    cache.match(A)
    cache.match(A)
    assert where(cache) == {100: "D"}


def test_a_threshold_that_is_given_counts():
    cache = through(write_through_threshold=3)
    cache.insert(A)
    cache.insert(A)
    assert where(cache) == {100: "D"}
    cache.insert(A)
    assert where(cache) == {100: "DH"}


def test_write_back_writes_nothing_while_the_prefix_is_used():
    cache = write_back()
    for _ in range(5):
        cache.insert(A)
    assert where(cache) == {100: "D"}


def test_write_back_counts_no_hits():
    cache = write_back()
    cache.insert(A)
    cache.insert(A)
    assert cache.node(A).hit_count == 0


def test_a_chunked_insert_backs_up_nothing():
    cache = through()
    cache.insert(A, chunked=True)
    assert (where(cache), cache.node(A).hit_count) == ({100: "D"}, 0)


def test_the_insert_after_the_chunks_backs_up_the_whole_path_top_down():
    cache = through()
    cache.insert([1, 2], chunked=True)
    cache.insert([1, 2, 3], chunked=True)
    cache.insert([1, 2, 3])
    written = [event.node for event in cache.events(ev.Backup)]
    assert written == [cache.node([1, 2]).id, cache.node([1, 2, 3]).id]


def test_a_node_is_written_once_and_not_at_every_hit():
    cache = through()
    for _ in range(3):
        cache.insert(A)
        cache.ack_write()
    assert len(cache.events(ev.Backup)) == 1


# --- who may be written


def test_a_child_is_not_backed_up_before_its_parent():
    cache = through(host_tokens=3)
    cache.insert(A)
    cache.insert([*A, 1])
    assert where(cache) == {100: "D", 1: "D"}
    parent, child = cache.node(A), cache.node([*A, 1])
    assert verdicts(cache)[-2:] == [
        (parent.id, "host_full"),
        (child.id, "parent_not_backed_up"),
    ]


def test_a_prefix_below_the_root_needs_no_parent():
    cache = through()
    cache.insert(A)
    assert verdicts(cache) == [(1, "write")]


def test_write_back_needs_no_parent_with_a_copy():
    cache = write_back()
    cache.insert(A)
    cache.insert([*A, 1, 2])
    cache.cache.evict(1)
    assert where(cache) == {100: "D", 1: "H"}


def test_a_full_host_drops_its_coldest_to_make_room():
    cache = through(host_tokens=8)
    cache.insert(A)
    cache.insert(B)
    cache.ack_write()
    cache.cache.evict(8)
    cache.insert(C)
    assert where(cache) == {200: "H", 300: "DH"}


def test_a_full_host_is_asked_for_the_whole_node():
    cache = through(host_tokens=9)
    cache.insert(A)
    cache.insert(B)
    cache.ack_write()
    cache.cache.evict(8)
    cache.insert(C)
    asked = [event.ask for event in cache.events(ev.Evict) if event.tier == "L2"]
    assert asked == [4]


def test_a_host_that_cannot_take_a_node_has_been_emptied_for_nothing():
    cache = through(host_tokens=4)
    cache.insert(A)
    cache.ack_write()
    cache.cache.evict(4)
    cache.insert(range(5))
    assert where(cache) == {0: "D"}
    assert cache.cache.host.available == 4


def test_a_host_copy_of_a_prefix_on_device_is_never_dropped():
    cache = through(host_tokens=4)
    cache.insert(A)
    cache.ack_write()
    cache.insert(B)
    assert where(cache) == {100: "DH", 200: "D"}


# --- while it is written


def test_a_node_counts_as_backed_up_before_its_bytes_moved():
    cache = through()
    cache.insert(A)
    node = cache.node(A)
    assert node.backed_up
    assert cache.engine.host_pool.read(node.host_value).tolist() == [0, 0, 0, 0]


def test_the_bytes_are_there_once_the_write_is_acknowledged():
    cache = through()
    cache.insert(A)
    cache.ack_write()
    assert cache.wrong_data() == []
    assert cache.node(A).writing is None


def test_its_path_is_locked_until_the_write_is_acknowledged():
    cache = through()
    cache.insert(A)
    cache.insert([*A, 1])
    assert cache.cache.evict(64) == 0
    cache.ack_write()
    assert cache.account() == (59, 5, 0)


def test_acknowledgements_are_taken_in_order():
    cache = through()
    for prompt in (A, B, C):
        cache.insert(prompt)
    assert cache.ack_write(2) == 2
    assert [cache.node(p).lock_ref for p in (A, B, C)] == [0, 0, 1]


def test_an_instant_link_is_done_by_the_next_check():
    cache = through(link=InstantTransfer())
    cache.insert(A)
    assert cache.cache.writing_check() == 1


def test_one_ack_releases_both_halves_of_a_split_write():
    cache = through()
    cache.insert(A)
    cache.match([*A[:2]])
    upper, lower = cache.node(A[:2]), cache.node(A)
    assert upper.writing == lower.writing == lower.id
    assert cache.ack_write() == 1
    assert (upper.writing, lower.writing) == (None, None)
    assert cache.account() == (60, 4, 0)


def test_a_split_during_a_write_leaves_the_right_bytes_on_both_halves():
    cache = through()
    cache.insert(A)
    cache.match(A[:2])
    cache.ack_write()
    assert cache.wrong_data() == []


def test_without_its_lock_a_copy_in_flight_takes_somebody_elses_bytes():
    cache = through(pool_tokens=4)
    cache.insert(A)
    node = cache.node(A)
    cache.cache.dec_lock_ref(node)
    cache.insert(B)
    cache.ack_write(1)
    assert cache.wrong_data() == [f"L2 of {tuple(A)}"]


# --- what a match says


def demoted(tail: bool = False, **knobs: object) -> Bench:
    """Return a cache in which A is on both tiers and 1..4 behind it on host only."""
    cache = through(**knobs)
    cache.insert(A)
    cache.insert([*A, 1, 2, 3, 4])
    if tail:
        cache.insert([*A, 1, 2, 3, 4, 5, 6])
    cache.ack_write()
    cache.cache.evict(6 if tail else 4)
    return cache


def test_a_match_tells_device_tokens_from_host_tokens():
    match = demoted().match([*A, 1, 2, 3, 4])
    assert (match.device_len, match.host_len) == (4, 4)


def test_a_match_names_the_deepest_device_node_and_where_a_load_would_end():
    cache = demoted()
    match = cache.match([*A, 1, 2, 3, 4])
    assert match.last_device is cache.node(A)
    assert match.best is cache.node([*A, 1, 2, 3, 4])


def test_a_match_may_end_inside_a_host_only_node_and_splits_it():
    cache = demoted()
    match = cache.match([*A, 1, 2, 9])
    assert (match.device_len, match.host_len) == (4, 2)
    assert where(cache) == {100: "DH", 1: "H", 3: "H"}


def test_the_best_match_of_a_prefix_without_host_copy_is_an_ancestor():
    cache = selective()
    cache.insert(A)
    match = cache.match(A)
    assert match.best is cache.cache.tree.root
    assert match.last_device is cache.node(A)


def test_the_pages_of_a_match_are_those_on_device():
    assert len(demoted().match([*A, 1, 2, 3, 4]).pages) == 4


# --- inserting over what is on host only


def test_a_host_only_node_takes_the_new_pages():
    cache = demoted()
    cache.insert([*A, 1, 2, 3, 4])
    assert where(cache) == {100: "DH", 1: "DH"}
    assert cache.wrong_data() == []


def test_what_was_on_host_only_is_no_duplicate():
    assert demoted().insert([*A, 1, 2, 3, 4]) == 4


def test_inserting_over_a_host_only_node_counts_no_hit_and_writes_nothing():
    cache = demoted()
    written = len(cache.events(ev.Backup))
    cache.insert([*A, 1, 2, 3, 4])
    assert cache.node([*A, 1, 2, 3, 4]).hit_count == 1
    assert len(cache.events(ev.Backup)) == written


def test_a_split_insert_raises_the_priority_of_both_halves():
    cache = through()
    cache.insert(A)
    cache.insert([*A[:2], 9], priority=4)
    assert cache.node(A).priority == 4


# --- eviction from the device


def test_a_backed_up_victim_is_demoted_and_stays_in_the_tree():
    cache = through()
    cache.insert(A)
    cache.ack_write()
    assert cache.cache.evict(4) == 4
    assert (where(cache), fates(cache)) == ({100: "H"}, ["demote"])


def test_a_victim_without_host_copy_is_deleted():
    cache = selective()
    cache.insert(A)
    cache.cache.evict(4)
    assert (where(cache), fates(cache)) == ({}, ["delete"])


def test_write_back_writes_a_victim_and_then_demotes_it():
    cache = write_back()
    cache.insert(A)
    assert cache.cache.evict(4) == 4
    assert (where(cache), fates(cache)) == ({100: "H"}, ["backup"])


def test_write_back_waits_for_its_writes_so_the_bytes_are_right():
    cache = write_back(pool_tokens=8)
    cache.insert(A)
    cache.cache.evict(4)
    cache.insert(B)
    cache.insert(C)
    assert (cache.wrong_data(), cache.cache.ongoing_writes) == ([], {})


def test_write_back_keeps_victims_until_the_end_of_the_call():
    cache = write_back()
    cache.insert(A)
    cache.insert([*A, 1, 2, 3, 4])
    cache.cache.evict(8)
    kinds = [type(e) for e in cache.trace.events if isinstance(e, ev.Backup | ev.Free)]
    assert kinds[-4:] == [ev.Backup, ev.Backup, ev.Free, ev.Free]


def test_write_back_counts_a_written_child_as_gone_for_its_parent():
    cache = write_back()
    cache.insert(A)
    cache.insert([*A, 1, 2, 3, 4])
    assert cache.cache.evict(8) == 8
    assert where(cache) == {100: "H", 1: "H"}


def test_a_victim_written_in_this_call_is_no_host_victim_yet():
    cache = write_back(host_tokens=4)
    cache.insert(A)
    cache.insert(B)
    assert cache.cache.evict(8) == 4
    assert where(cache) == {100: "H", 200: "D"}


def test_a_victim_demoted_in_this_call_is_a_host_victim_at_once():
    cache = write_back(host_tokens=4, load_back_threshold=0)
    cache.insert(A)
    cache.cache.evict(4)
    cache.load_back(A)
    cache.ack_load()
    cache.insert(B)
    assert cache.cache.evict(8) == 8
    assert where(cache) == {200: "H"}


def test_a_victim_that_the_host_cannot_take_stays():
    cache = write_back(host_tokens=3)
    cache.insert(A)
    assert cache.cache.evict(4) == 0
    assert (where(cache), fates(cache)) == ({100: "D"}, ["backup", "stays"])


def test_a_victim_that_stayed_is_a_candidate_again_in_the_next_call():
    cache = write_back(host_tokens=3)
    cache.insert(A)
    cache.cache.evict(4)
    cache.cache.evict(4)
    assert fates(cache) == ["backup", "stays"] * 2


def test_write_back_with_a_host_too_small_makes_no_room():
    cache = write_back(pool_tokens=8, host_tokens=3)
    cache.insert(range(6))
    assert not cache.cache.make_room(4)


def test_children_on_the_host_alone_do_not_keep_their_parent_on_device():
    cache = demoted()
    cache.cache.evict(4)
    assert where(cache) == {100: "H", 1: "H"}


def test_a_device_leaf_above_host_only_nodes_stays_a_candidate_after_a_match():
    cache = demoted(eviction_policy="mru")
    cache.insert(B)
    cache.ack_write()
    cache.cache.evict(1)
    cache.match([*A, 1, 2, 3, 4])
    assert cache.cache.evict(4) == 4


# --- eviction from the host


def hosted(**knobs: object) -> Bench:
    """Return a cache with A, B and C on host only, A the coldest."""
    cache = through(**knobs)
    for prompt in (A, B, C):
        cache.insert(prompt)
    cache.ack_write()
    cache.cache.evict(12)
    return cache


def test_the_coldest_host_leaf_goes_first():
    cache = hosted()
    assert cache.cache.evict_host(1) == 4
    assert where(cache) == {200: "H", 300: "H"}


def test_the_host_follows_the_same_strategy():
    cache = hosted(eviction_policy="mru")
    cache.cache.evict_host(1)
    assert where(cache) == {100: "H", 200: "H"}


def test_host_leaves_go_whole():
    assert hosted().cache.evict_host(5) == 8


def test_a_dropped_node_frees_its_host_pages_and_leaves_the_tree():
    cache = hosted()
    cache.cache.evict_host(12)
    assert (where(cache), cache.cache.host.available) == ({}, 128)


def test_what_is_on_device_is_no_host_victim():
    cache = through()
    cache.insert(A)
    cache.ack_write()
    assert cache.cache.evict_host(4) == 0


def test_a_host_parent_goes_in_the_same_call_once_its_last_child_went():
    cache = demoted()
    cache.cache.evict(4)
    assert cache.cache.evict_host(8) == 8
    assert where(cache) == {}


def test_a_host_parent_waits_for_its_children():
    cache = demoted(tail=True)
    cache.cache.evict_host(1)
    assert where(cache) == {100: "DH", 1: "H"}


def test_a_locked_host_node_is_no_victim():
    cache = hosted()
    node = cache.node(A)
    cache.cache.inc_lock_ref(node)
    cache.cache.evict_host(1)
    assert where(cache) == {100: "H", 300: "H"}


def test_a_match_of_a_locked_host_node_makes_it_no_victim():
    cache = hosted()
    cache.cache.inc_lock_ref(cache.node(A))
    cache.match(A)
    assert cache.cache.evict_host(64) == 8


def test_locking_host_only_nodes_moves_no_account():
    cache = hosted()
    assert cache.cache.inc_lock_ref(cache.node(A)) == 0
    assert cache.account() == (64, 0, 0)


def test_a_half_that_the_insert_splitting_it_dropped_is_not_dropped_again():
    cache = through(host_tokens=24, pool_tokens=40)
    cache.insert(range(20))
    cache.insert(A)
    cache.ack_write()
    cache.cache.evict(20)
    cache.insert([*range(16), 50, 51, 52, 53])
    assert where(cache) == {0: "DH", 100: "DH", 50: "DH"}
    assert cache.cache.evict_host(64) == 0


@pytest.mark.parametrize(("tree", "apart"), [("radix", 0), ("hiradix", 1)])
def test_only_where_there_is_a_host_a_deeper_node_is_newer(tree, apart):
    cache = Bench(tree=tree)
    cache.insert([1, 2])
    cache.insert([1, 2, 3])
    above, below = cache.node([1, 2]), cache.node([1, 2, 3])
    cache.match([1, 2, 3])
    assert below.last_access - above.last_access == apart


# --- sums


def test_the_totals_tell_what_was_written_evicted_and_lost():
    cache = hosted()
    cache.cache.evict_host(4)
    totals = cache.cache.totals
    assert (totals.evicted, totals.backed_up) == (12, 12)
    assert (totals.host_evicted, totals.lost) == (4, 4)


def test_the_peak_of_the_host_is_remembered():
    cache = hosted()
    cache.cache.evict_host(12)
    cache.insert(A)
    assert cache.cache.totals.host_peak == 12


@pytest.mark.parametrize("page", [1, 2])
@pytest.mark.parametrize("make", [through, selective, write_back])
def test_a_busy_small_host_stays_sound(make, page):
    cache = make(pool_tokens=12, host_tokens=20, page_size=page)
    for first in (0, 100, 200, 0, 300, 100, 400, 0):
        cache.insert(range(first, first + 6))
        cache.insert(range(first, first + 4))
        cache.ack_write()
        assert cache.unsound() == []
