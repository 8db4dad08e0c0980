"""How does 0.5.23 take a prefix to the host, and what if the host is full?

What both releases share is in test_host_tier.py.
"""

from __future__ import annotations

import pytest
from bench import Bench, where

from kvlab.record import events as ev
from kvlab.rules import Rules

NEW = Rules.v0_5_23()
A, B, C = range(100, 104), range(200, 204), range(300, 304)


def through(**knobs: object) -> Bench:
    return Bench(**{"rules": NEW, "host_tokens": 128, **knobs})


def write_back(**knobs: object) -> Bench:
    return through(**{"write_policy": "write_back", "load_back_threshold": 0, **knobs})


def fates(cache: Bench) -> list[tuple[int, str]]:
    return [(event.node, event.fate) for event in cache.events(ev.Victim)]


# --- writes


def late_parent() -> Bench:
    """C on both tiers; A on the device only, though the host has room again."""
    cache = through(host_tokens=8)
    cache.insert(B)
    cache.insert(C)
    cache.insert(A)
    cache.ack_write()
    cache.cache.evict(4)
    cache.cache.evict_host(4)
    assert where(cache) == {300: "DH", 100: "D"}
    return cache


def test_an_unwritten_parent_goes_to_the_host_before_its_child():
    cache = late_parent()
    cache.cache.evict(4)
    cache.cache.evict_host(4)
    cache.insert([*A, 1, 2], inserted_len=4)
    verdicts = [(e.node, e.verdict) for e in cache.events(ev.TryBackup)][-3:]
    assert verdicts == [(4, "ancestors_first"), (3, "write"), (4, "write")]
    assert where(cache) == {100: "DH", 1: "DH"}


def test_a_parent_that_finds_no_room_keeps_its_child_on_the_device():
    cache = late_parent()
    cache.lock(C)
    cache.insert([*A, 1, 2, 3, 4, 5], inserted_len=4)
    assert where(cache) == {300: "DH", 100: "DH", 1: "D"}
    assert cache.unsound() == []


def test_a_child_that_would_fit_is_not_tried_after_its_parent_failed():
    cache = through(host_tokens=6)
    cache.insert(C)
    cache.insert(A)
    cache.insert([*A, 1, 2], inserted_len=4)
    assert where(cache) == {300: "DH", 100: "D", 1: "D"}


def test_every_node_of_a_chain_holds_a_lock_of_its_own():
    cache = late_parent()
    cache.cache.evict(4)
    cache.cache.evict_host(4)
    cache.insert([*A, 1, 2], inserted_len=4)
    assert [node.lock_ref for node in cache.paths().values()] == [2, 1]
    cache.ack_write()
    assert [node.lock_ref for node in cache.paths().values()] == [0, 0]


def test_a_write_is_not_submitted_before_the_step_ends():
    cache = through()
    cache.insert(A)
    assert cache.link.pending("write") == 0
    cache.cache.flush_writes()
    assert cache.link.pending("write") == 1
    assert cache.events(ev.SendWrites) == [], "one write travels as it always did"


def test_the_writes_of_a_step_arrive_together():
    cache = through()
    cache.insert(A)
    cache.insert(B)
    assert cache.ack_write(1) == 2
    assert [event.nodes for event in cache.events(ev.SendWrites)] == [(1, 2)]
    assert cache.unsound() == []


def test_taking_note_of_events_submits_what_waits():
    cache = through()
    cache.insert(A)
    cache.cache.check_events()
    assert cache.link.pending("write") == 1


# --- write_back


def test_a_written_victim_may_leave_the_host_for_the_next():
    cache = write_back(host_tokens=4)
    cache.insert(A)
    cache.insert(B)
    assert cache.cache.evict(8) == 8
    assert where(cache) == {200: "H"}
    assert cache.unsound() == []


def test_a_victim_that_the_host_cannot_take_is_dropped():
    cache = write_back(host_tokens=3)
    cache.insert(A)
    assert cache.cache.evict(4) == 4
    assert fates(cache) == [(1, "backup"), (1, "drop")]
    assert cache.unsound() == []


def over_a_host_only_child(**knobs: object) -> Bench:
    """Node 1 on the device, node 2 below it on the host alone, which 2 fills."""
    cache = write_back(host_tokens=4, **knobs)
    cache.insert(range(6))
    cache.insert(range(10))
    cache.cache.evict(4)
    assert where(cache) == {0: "D", 6: "H"}
    return cache


def test_what_hangs_below_a_dropped_victim_goes_first():
    cache = over_a_host_only_child()
    assert cache.cache.evict(6) == 6
    assert fates(cache)[-3:] == [(1, "backup"), (2, "evict_host"), (1, "drop")]
    assert where(cache) == {}
    assert cache.cache.evict(1) == 0
    assert cache.unsound() == []


def test_a_victim_stays_while_somebody_needs_what_hangs_below():
    cache = over_a_host_only_child()
    cache.cache.inc_host_lock_ref(cache.node(range(10)))
    assert cache.cache.evict(6) == 0
    assert fates(cache)[-1] == (1, "stays")
    assert where(cache) == {0: "D", 6: "H"}
    assert cache.unsound() == []


def test_a_victim_that_stays_is_tried_once_though_its_child_made_it_a_leaf_again():
    cache = over_a_host_only_child(rules=Rules.named("0.5.23+unwritable_victim_stays"))
    cache.insert(A)
    before = len(fates(cache))
    assert cache.cache.evict(10) == 4
    assert fates(cache)[before:] == [
        (1, "backup"), (2, "evict_host"), (1, "stays"), (3, "backup"),
    ]  # fmt: skip
    assert where(cache) == {0: "D", 100: "H"}
    assert cache.unsound() == []


@pytest.mark.parametrize("release", ["0.5.14", "0.5.23"])
def test_a_victim_whose_host_child_made_room_for_it_is_not_taken_twice(release):
    cache = Bench(rules=Rules.named(release), write_policy="write_back", host_tokens=6)
    cache.insert(range(6))
    cache.insert(range(10))
    cache.insert(A)
    cache.cache.evict(4)
    assert cache.cache.evict(64) in (6, 10)
    victims = [
        event.node for event in cache.events(ev.Victim) if event.fate == "backup"
    ]
    assert len(victims) == len(set(victims))
    assert cache.unsound() == []


def test_a_victim_that_waits_is_no_candidate_once_it_has_left():
    """In 0.5.14. Writing B drops C from below it, so that B is a leaf again; then A
    goes, which is older, and both leave the device at the end."""
    a, ab, abc, other = range(4), range(8), range(12), range(100, 108)
    cache = Bench(
        rules=Rules.v0_5_14(), write_policy="write_back", pool_tokens=20,
        host_tokens=12,
    )  # fmt: skip
    cache.insert(other)
    cache.cache.evict(8)
    for prompt in (a, ab, abc):
        cache.insert(prompt)
    cache.cache.evict(4)
    cache.match(other)  # newer than C, which the host drops first
    assert cache.cache.evict(8) == 8
    assert where(cache) == {0: "H", 4: "H"}
    assert cache.cache.device_leaves.in_order() == []
    assert cache.cache.evict(8) == 0


# --- second copies


def doubled(**knobs: object) -> Bench:
    """A, then B, on both tiers."""
    cache = write_back(host_tokens=16, **knobs)
    for prompt in (A, B):
        cache.insert(prompt)
    cache.cache.evict(8)
    for prompt in (B, A):
        cache.load_back(prompt)
    cache.ack_load()
    assert where(cache) == {100: "DH", 200: "DH"}
    return cache


def test_a_second_copy_goes_before_anything_else_on_the_host():
    cache = doubled()
    cache.insert(C)
    cache.lock(A)
    cache.lock(B)
    cache.cache.evict(4)
    assert where(cache) == {100: "DH", 200: "DH", 300: "H"}
    assert cache.cache.evict_host(3) == 4
    assert where(cache) == {100: "D", 200: "DH", 300: "H"}
    assert cache.unsound() == []


def test_the_copy_of_a_device_leaf_goes_last():
    cache = doubled()
    cache.lock(B)
    assert cache.cache.evict_host(3) == 4
    assert where(cache) == {100: "DH", 200: "D"}
    assert cache.cache.evict_host(3) == 4
    assert where(cache) == {100: "D", 200: "D"}
    assert [e.key for e in cache.events(ev.Victim) if e.fate == "reclaim"] == [
        (0,),
        (1,),
    ]


def test_both_halves_of_a_split_have_a_second_copy():
    cache = doubled()
    cache.match(A[:2])
    assert cache.cache.evict_host(8) == 8
    assert where(cache) == {100: "D", 102: "D", 200: "D"}


def chain_loaded_back() -> Bench:
    """A, then two tokens more, loaded back by one load that is acknowledged, when no
    older entry of theirs was left."""
    cache = write_back(host_tokens=16)
    cache.insert(A)
    cache.insert([*A, 1, 2])
    cache.insert(B)
    cache.cache.evict(10)
    cache.match([*A, 1, 2])
    assert cache.cache.evict_host(1) == 4
    assert where(cache) == {100: "H", 1: "H"}
    cache.load_back([*A, 1, 2])
    cache.ack_load()
    cache.lock([*A, 1, 2])
    return cache


def test_what_was_loaded_has_a_second_copy_the_deepest_node_first():
    cache = chain_loaded_back()
    assert cache.cache.evict_host(1) == 2
    assert where(cache) == {100: "DH", 1: "D"}
    assert cache.cache.evict_host(1) == 4
    assert cache.unsound() == []


def test_a_copy_that_a_load_reads_is_not_given_up():
    cache = write_back(host_tokens=16)
    cache.insert(A)
    cache.cache.evict(4)
    cache.load_back(A)
    assert cache.cache.evict_host(4) == 0
    cache.ack_load()
    assert cache.cache.evict_host(4) == 4
    assert cache.unsound() == []


def test_a_reclaimed_copy_is_evicted_from_the_host_and_not_lost():
    cache = doubled()
    cache.cache.evict_host(8)
    totals = cache.cache.totals
    assert (totals.host_evicted, totals.lost) == (8, 0)


def test_write_through_keeps_its_second_copies():
    cache = through(host_tokens=16)
    cache.insert(A)
    cache.ack_write()
    assert cache.cache.evict_host(4) == 0
