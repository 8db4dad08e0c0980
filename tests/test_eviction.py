"""Does the coldest leaf go first, whatever happened before?"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvlab.cache.eviction import STRATEGIES, EvictionQueue
from kvlab.cache.key import as_tokens
from kvlab.cache.tree import Node
from kvlab.run.workbench import Workbench

every_policy = pytest.mark.parametrize("policy", list(STRATEGIES))


def leaves(policy: str, *nodes: Node) -> EvictionQueue:
    """Return a queue of the nodes that are not locked."""
    queue = EvictionQueue(policy, lambda node: node.lock_ref == 0)
    for node in nodes:
        queue.note(node)
    return queue


def leaf(id: int, **facts: int) -> Node:
    node = Node(id, None, as_tokens([id]))
    for name, value in facts.items():
        setattr(node, name, value)
    return node


def drained(queue: EvictionQueue) -> list[int]:
    ids = []
    while (node := queue.pop()) is not None:
        ids.append(node.id)
    return ids


@pytest.mark.parametrize(
    ("policy", "order"),
    [
        ("lru", [1, 2, 3, 4]),
        ("mru", [4, 3, 2, 1]),
        ("fifo", [4, 3, 2, 1]),
        ("filo", [1, 2, 3, 4]),
        ("lfu", [3, 2, 1, 4]),
        ("slru", [2, 3, 1, 4]),
        ("priority", [3, 4, 1, 2]),
    ],
)
def test_a_strategy_orders_leaves_by_its_own_key(policy, order):
    queue = leaves(
        policy,
        leaf(1, last_access=1, created=9, hit_count=2, priority=1),
        leaf(2, last_access=2, created=8, hit_count=1, priority=1),
        leaf(3, last_access=3, created=7, hit_count=0, priority=0),
        leaf(4, last_access=4, created=6, hit_count=2, priority=0),
    )
    assert drained(queue) == order


def test_a_full_tie_goes_to_the_older_node():
    assert drained(leaves("lru", leaf(5), leaf(2), leaf(9))) == [2, 5, 9]


def test_slru_does_not_tell_two_hits_from_nine():
    queue = leaves("slru", leaf(1, hit_count=9), leaf(2, hit_count=2, last_access=1))
    assert drained(queue) == [1, 2]


def test_an_empty_queue_has_no_victim():
    assert leaves("lru").pop() is None


def test_a_victim_is_no_candidate_until_it_is_noted_again():
    node = leaf(1)
    queue = leaves("lru", node)
    assert [queue.pop(), queue.pop()] == [node, None]
    queue.note(node)
    assert queue.pop() is node


def test_a_node_that_is_no_leaf_any_more_is_no_victim():
    node = leaf(1)
    queue = leaves("lru", node)
    node.lock_ref = 1
    queue.note(node)
    assert (len(queue), queue.pop()) == (0, None)


def test_a_removed_node_is_no_victim():
    node = leaf(1)
    queue = leaves("lru", node, leaf(2))
    queue.remove(node)
    assert drained(queue) == [2]


def test_a_touched_leaf_moves_in_the_order():
    cold, warm = leaf(1, last_access=1), leaf(2, last_access=2)
    queue = leaves("lru", cold, warm)
    queue.pop()
    queue.note(cold)
    cold.last_access = 9
    queue.note(cold)
    assert drained(queue) == [2, 1]


def test_a_leaf_noted_twice_is_one_victim():
    node = leaf(1)
    queue = leaves("lru", node, node)
    queue.note(node)
    assert drained(queue) == [1]


def test_the_order_can_be_seen_without_evicting():
    queue = leaves("lru", leaf(1, last_access=2), leaf(2, last_access=1))
    assert [node.id for node in queue.in_order()] == [2, 1]
    assert len(queue) == 2


TOUCHES = st.lists(
    st.tuples(
        st.sampled_from(["touch", "touch", "lock", "pop", "remove", "order"]),
        st.integers(0, 7),
        st.integers(0, 3),
    ),
    max_size=60,
)


@every_policy
@given(touches=TOUCHES)
def test_victims_come_sorted_by_key_under_any_touches(policy, touches):
    nodes = [leaf(id, created=id % 3) for id in range(8)]
    queue, members = leaves(policy), set()
    for clock, (act, which, value) in enumerate(touches):
        node = nodes[which]
        order = sorted(members, key=lambda n: (queue.key(n), n.last_access, n.id))
        if act == "touch":
            node.last_access = clock // 2
            node.hit_count += value % 2
            node.priority = max(node.priority, value)
            node.lock_ref = 0
            queue.note(node)
            members.add(node)
        elif act == "lock":
            node.lock_ref = 1
            queue.note(node)
            members.discard(node)
        elif act == "remove":
            queue.remove(node)
            members.discard(node)
        elif act == "pop":
            assert queue.pop() is (order[0] if order else None)
            members -= set(order[:1])
        else:
            assert queue.in_order() == order


def test_the_heap_does_not_grow_without_bound():
    coldest, warm = leaf(0), [leaf(id) for id in range(1, 10)]
    queue = leaves("lru", coldest, *warm)
    for clock in range(1, 5000):
        node = warm[clock % 9]
        node.last_access = clock
        queue.note(node)
        queue.note(queue.pop())
    assert len(queue) == 10
    assert len(queue._heap) < 64 + 5 * 10


def test_a_heap_that_was_cut_down_is_in_order_again():
    nodes = [leaf(id, last_access=99 - id) for id in range(20)]
    queue = leaves("lru", *nodes)
    for clock in range(100, 300):
        nodes[0].last_access = clock
        queue.note(nodes[0])
        assert len(queue) == 20
    assert len(queue._heap) < 200, "it was not cut down"
    assert drained(queue) == [*range(19, 0, -1), 0]


def test_nothing_is_kept_of_a_victim():
    queue = leaves("lru", leaf(1))
    queue.pop()
    assert len(queue._heap) + len(queue._noted) == 0


def test_nothing_is_kept_of_a_leaf_that_is_touched_and_never_evicted():
    node = leaf(1)
    queue = leaves("lru", node)
    for clock in range(10_000):
        node.last_access = clock
        queue.note(node)
    assert len(queue._heap) + len(queue._noted) == 1


def test_a_strategy_of_ones_own_chooses_the_victim():
    bench = Workbench(pool_tokens=12, tree="radix")
    bench.engine.cache.device_leaves.key = lambda node: (-len(node.key),)
    for first, size in ((0, 3), (10, 5), (20, 4)):
        bench.insert(range(first, first + size))
    assert bench.evict(1) == 5
