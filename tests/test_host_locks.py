"""What does a host lock keep, and does a split keep the lock?"""

from __future__ import annotations

from bench import Bench

from kvlab.record import events as ev
from kvlab.rules import Rules

NEW = Rules.v0_5_23()
A = range(100, 112)


def on_host(**knobs: object) -> Bench:
    """A on the host alone, under the rules of 0.5.23."""
    cache = Bench(rules=NEW, host_tokens=128, **knobs)
    cache.insert(A)
    cache.ack_write()
    cache.cache.evict(12)
    return cache


def counts(cache: Bench) -> dict[int, int]:
    """Return host_lock_ref by the node's first token."""
    return {int(n.key[0]): n.host_lock_ref for n in cache.paths().values()}


def test_a_host_locked_leaf_is_no_victim_of_the_host():
    cache = on_host()
    covered = cache.cache.inc_host_lock_ref(cache.node(A))
    assert cache.cache.evict_host(12) == 0
    cache.cache.dec_host_lock_ref(cache.node(A), covered)
    assert cache.cache.evict_host(12) == 12


def test_a_host_lock_moves_no_account():
    cache = on_host()
    before = cache.account()
    cache.cache.inc_host_lock_ref(cache.node(A))
    assert cache.account() == before


def test_both_halves_of_a_split_keep_the_lock():
    cache = on_host()
    cache.cache.inc_host_lock_ref(cache.node(A))
    cache.match(A[:5])
    assert counts(cache) == {100: 1, 105: 1}
    assert cache.unsound() == []


def test_undoing_a_lock_undoes_it_on_all_that_was_split_off():
    cache = on_host()
    node = cache.node(A)
    covered = cache.cache.inc_host_lock_ref(node)
    cache.match(A[:5])
    cache.match(A[:3])
    cache.cache.dec_host_lock_ref(node, covered)
    assert counts(cache) == {100: 0, 103: 0, 105: 0}
    assert cache.unsound() == []


def test_a_lock_taken_after_the_split_covers_the_lower_half_alone():
    cache = on_host()
    node = cache.node(A)
    old = cache.cache.inc_host_lock_ref(node)
    cache.match(A[:5])
    young = cache.cache.inc_host_lock_ref(node)
    assert (old, young, counts(cache)) == (12, 7, {100: 1, 105: 2})
    cache.cache.dec_host_lock_ref(node, old)
    assert counts(cache) == {100: 0, 105: 1}
    cache.cache.dec_host_lock_ref(node, young)
    assert counts(cache) == {100: 0, 105: 0}


def test_a_load_holds_a_host_lock_until_it_is_acknowledged():
    cache = on_host()
    assert cache.load_back(A) == 12
    assert counts(cache) == {100: 1}
    cache.ack_load()
    assert counts(cache) == {100: 0}


def test_a_split_while_it_loads_leaves_no_host_lock_behind():
    cache = on_host()
    cache.load_back(A)
    cache.match(A[:5])
    assert counts(cache) == {100: 1, 105: 1}
    cache.ack_load()
    assert counts(cache) == {100: 0, 105: 0}
    assert cache.unsound() == []


def test_a_refused_load_leaves_no_lock_behind():
    cache = on_host()
    assert cache.load_back(A, quota=3) == 0
    assert [(n.lock_ref, n.host_lock_ref) for n in cache.paths().values()] == [(0, 0)]
    assert len(cache.events(ev.HostUnlock)) == 1


def test_a_load_without_room_finds_its_source_again_afterwards():
    """The script of golden s25: 0.5.14 drops the very node that it loads."""
    cache = Bench(rules=NEW, pool_tokens=32, host_tokens=40, write_policy="write_back")
    cache.insert(range(20))
    cache.cache.evict(20)
    cache.insert(range(100, 130))
    assert cache.load_back(range(20)) == 20
    cache.ack_load()
    assert cache.match(range(20)).device_len == 20
    assert cache.unsound() == []


def test_what_a_request_holds_for_a_load_is_let_go():
    cache = on_host()
    node = cache.node(A)
    covered = cache.cache.hold(node)
    assert (covered, node.lock_ref, node.host_lock_ref) == (12, 1, 1)
    cache.cache.let_go(node, covered)
    assert (node.lock_ref, node.host_lock_ref) == (0, 0)


def test_0_5_14_holds_nothing_for_a_load():
    cache = Bench(host_tokens=128)
    cache.insert(A)
    node = cache.node(A)
    assert cache.cache.hold(node) == 0
    cache.cache.let_go(node, 0)
    assert node.host_lock_ref == 0
