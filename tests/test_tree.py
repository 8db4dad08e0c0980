"""Do prefixes share nodes, split where they part, and remember when they were used?"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvlab.cache.key import as_tokens, whole_pages
from kvlab.cache.tree import Node, RadixTree
from kvlab.config import EngineConfig
from kvlab.pages import as_pages
from kvlab.record import events as ev
from kvlab.record.trace import Header, Trace
from kvlab.rules import Rules


def grown(*prompts: list[int], **how: object) -> RadixTree:
    """Return a tree of the prompts; token t of a page lies in page t."""
    tree = RadixTree(**how)
    for prompt in prompts:
        insert(tree, prompt)
    return tree


def insert(tree: RadixTree, prompt: list[int], space: str = "") -> Node:
    key = whole_pages(as_tokens(prompt), tree.page_size)
    walk = tree.walk(key, space)
    if walk.length == len(key):
        return walk.path[-1] if walk.path else tree.root
    parent = walk.path[-1] if walk.path else tree.root
    rest = key[walk.length :]
    return tree.add(parent, rest, as_pages(rest[:: tree.page_size]), 0, space)


def shape(tree: RadixTree) -> list[tuple[list[int], list[int]]]:
    """Return every node's parent's key and own key, sorted."""
    return sorted((n.above.key.tolist(), n.key.tolist()) for n in tree.nodes())


def walked(tree: RadixTree, prompt: list[int], space: str = "") -> list[list[int]]:
    path, _, _ = tree.walk(as_tokens(prompt), space)
    return [node.key.tolist() for node in path]


# --- the walk


def test_prompts_that_begin_alike_share_a_node():
    tree = grown([1, 2, 3], [1, 2, 4])
    assert shape(tree) == [([], [1, 2]), ([1, 2], [3]), ([1, 2], [4])]


def test_prompts_that_begin_otherwise_share_nothing():
    assert shape(grown([1, 2], [3, 4])) == [([], [1, 2]), ([], [3, 4])]


def test_a_walk_returns_the_nodes_and_the_tokens_they_hold():
    path, length, below = grown([1, 2], [1, 2, 3]).walk(as_tokens([1, 2, 3, 4]))
    assert ([n.key.tolist() for n in path], length, below) == ([[1, 2], [3]], 3, None)


def test_a_walk_that_finds_nothing_returns_no_node():
    assert grown([1, 2]).walk(as_tokens([5]))[:2] == ([], 0)


def test_a_walk_of_nothing_reads_no_clock():
    tree = grown([1, 2])
    before = tree.clock
    tree.walk(as_tokens([]))
    assert tree.clock == before


def test_a_walk_that_ends_inside_a_node_splits_it():
    tree = grown([1, 2, 3, 4])
    path, length, below = tree.walk(as_tokens([1, 2]))
    assert (length, path[0].key.tolist(), below.key.tolist()) == (2, [1, 2], [3, 4])


def test_a_walk_that_ends_with_a_node_splits_nothing():
    tree = grown([1, 2], [1, 2, 3])
    tree.walk(as_tokens([1, 2]))
    assert len(tree.nodes()) == 2


def test_a_node_is_split_between_pages_only():
    tree = grown(list(range(8)), page_size=4)
    tree.walk(as_tokens([0, 1, 2, 3, 4, 5, 9, 9]))
    assert shape(tree) == [([], [0, 1, 2, 3]), ([0, 1, 2, 3], [4, 5, 6, 7])]


def test_a_first_page_that_differs_at_its_end_is_another_branch():
    tree = grown([1, 2, 3, 4], [1, 2, 3, 9], page_size=4)
    assert shape(tree) == [([], [1, 2, 3, 4]), ([], [1, 2, 3, 9])]


def test_a_namespace_sees_only_its_own_prefixes():
    tree = grown([1, 2, 3])
    insert(tree, [1, 2, 3], "tenant")
    assert len(tree.nodes()) == 2
    assert walked(tree, [1, 2], "other") == []


def test_a_split_stays_in_its_namespace():
    tree = RadixTree()
    insert(tree, [1, 2, 3], "tenant")
    tree.walk(as_tokens([1, 2]), "tenant")
    assert walked(tree, [1, 2, 3], "tenant") == [[1, 2], [3]]
    assert walked(tree, [1, 2, 3]) == []


def test_a_walk_from_a_known_node_is_the_same_walk():
    prompts = ([1, 2], [1, 2, 3, 4], [1, 2, 3, 4, 5, 6])
    one, other = grown(*prompts), grown(*prompts)
    key = as_tokens([1, 2, 3, 4, 5, 9])
    known = one.walk(as_tokens([1, 2, 3, 4])).path[-1]
    other.walk(as_tokens([1, 2, 3, 4]))
    walks = [one.walk(key, known=known), other.walk(key)]
    facts = [[(n.id, n.key.tolist(), n.last_access) for n in w.path] for w in walks]
    assert facts[0] == facts[1]
    assert walks[0].length == walks[1].length == 5


def test_a_known_node_that_was_split_meanwhile_is_still_known():
    tree = grown([1, 2, 3, 4])
    known = tree.walk(as_tokens([1, 2, 3, 4])).path[-1]
    tree.walk(as_tokens([1, 2]))
    path, length, _ = tree.walk(as_tokens([1, 2, 3, 4]), known=known)
    assert ([n.key.tolist() for n in path], length) == ([[1, 2], [3, 4]], 4)


PROMPTS = st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=8), max_size=12)


@given(PROMPTS, st.lists(st.integers(0, 2), max_size=9), st.sampled_from([1, 2]))
def test_a_walk_finds_the_longest_prefix_of_any_prompt(prompts, asked, page):
    tree = grown(*prompts, page_size=page)
    asked_key = whole_pages(as_tokens(asked), page)
    found = [0]
    for prompt in prompts:
        cached = whole_pages(as_tokens(prompt), page)
        at = 0
        while asked_key[at : at + page].tolist() and (
            asked_key[at : at + page].tolist() == cached[at : at + page].tolist()
        ):
            at += page
        found.append(at)
    assert tree.walk(asked_key).length == max(found)


@given(PROMPTS)
def test_children_of_a_node_begin_with_different_tokens(prompts):
    tree = grown(*prompts)
    for node in [tree.root, *tree.nodes()]:
        first = [int(child.key[0]) for child in node.children.values()]
        assert len(first) == len(set(first))


# --- a split


def halves(**how: object) -> tuple[Node, Node]:
    """Split a node of four tokens that has one of everything; return both halves."""
    tree = RadixTree(**how)
    node = tree.add(tree.root, as_tokens([1, 2, 3, 4]), as_pages([7, 8, 9, 10]), 5)
    node.host_value = as_pages([0, 1, 2, 3])
    node.lock_ref, node.hit_count, node.writing = 2, 3, node.id
    path, _, below = tree.walk(as_tokens([1, 9]))
    return path[0], below


def test_the_lower_half_is_the_old_node():
    upper, lower = halves()
    assert (lower.id, upper.id) == (1, 2)


def test_a_split_cuts_the_pages_of_both_tiers():
    upper, lower = halves()
    assert (upper.value.tolist(), lower.value.tolist()) == ([7], [8, 9, 10])
    assert (upper.host_value.tolist(), lower.host_value.tolist()) == ([0], [1, 2, 3])


def test_both_halves_have_the_locks_hits_and_priority_of_the_whole():
    for half in halves():
        assert (half.lock_ref, half.hit_count, half.priority) == (2, 3, 5)


def test_both_halves_wait_for_the_same_copy():
    upper, lower = halves()
    assert (upper.writing, lower.writing) == (1, 1)


def test_the_upper_half_is_newer_than_the_lower():
    upper, lower = halves()
    assert lower.last_access < upper.last_access < upper.created


def test_the_lower_half_keeps_its_creation_and_the_stamp_of_the_walk():
    _, lower = halves()
    assert (lower.created, lower.last_access) == (2, 3)


def test_with_keep_creation_the_upper_half_inherits_it():
    upper, lower = halves(keep_creation=True)
    assert upper.created == lower.created


def test_the_lower_half_is_the_upper_ones_only_child_on_both_tiers():
    upper, lower = halves()
    assert list(upper.children.values()) == [lower]
    assert (upper.device_children, upper.host_children) == (1, 1)


def test_a_copy_that_is_not_there_is_not_split():
    tree = grown([1, 2])
    (upper,), _, _ = tree.walk(as_tokens([1]))
    assert (upper.host_value, upper.host_children) == (None, 0)


# --- times


def times(tree: RadixTree, prompt: list[int]) -> list[int]:
    return [node.last_access for node in tree.walk(as_tokens(prompt)).path]


def test_one_stamp_serves_a_whole_path():
    first, second = times(grown([1, 2], [1, 2, 3]), [1, 2, 3])
    assert first == second


def test_with_stamp_each_the_deeper_node_is_newer():
    first, second = times(grown([1, 2], [1, 2, 3], stamp_each=True), [1, 2, 3])
    assert second == first + 1


def test_a_walk_makes_its_path_newer_than_all_others():
    tree = grown([1], [2], [3])
    walked(tree, [1])
    newest = max(tree.nodes(), key=lambda node: node.last_access)
    assert newest.key.tolist() == [1]


def test_a_new_node_reads_the_clock_for_its_access_then_for_its_creation():
    node = insert(RadixTree(), [1])
    assert (node.last_access, node.created) == (1, 2)


# --- leaving


def test_a_detached_node_is_found_no_more():
    tree = grown([1, 2], [1, 2, 3])
    leaf = tree.walk(as_tokens([1, 2, 3])).path[-1]
    tree.detach(leaf)
    assert walked(tree, [1, 2, 3]) == [[1, 2]]
    assert not leaf.attached


def test_nodes_come_parents_first():
    tree = grown([1, 2, 3], [1, 2, 4], [1, 5])
    seen = {tree.root}
    for node in tree.nodes():
        assert node.above in seen
        seen.add(node)


def test_the_root_is_locked_and_has_no_parent():
    root = RadixTree().root
    assert root.lock_ref == 1
    with pytest.raises(AssertionError, match="the root has no parent"):
        _ = root.above


def test_a_node_shows_its_number_size_and_locks():
    assert repr(insert(RadixTree(), [1, 2])) == "<node 1: 2 tokens, lock 0>"


# --- what is told


def test_a_walk_tells_the_touch_and_then_the_split():
    header = Header(config=EngineConfig(pool_tokens=8), rules=Rules.v0_5_14())
    tree = grown([1, 2, 3], emit=(trace := Trace(header)))
    tree.walk(as_tokens([1]))
    assert [type(event) for event in trace.events] == [ev.Add, ev.Touch, ev.Split]
