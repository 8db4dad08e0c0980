"""How is a prefix found, and how does a finished one get in? (L1 only.)"""

from __future__ import annotations

import pytest
from bench import Bench

from kvlab.cache.key import as_tokens


def bench(**knobs: object) -> Bench:
    return Bench(tree="radix", **knobs)


# --- match and insert


def test_a_match_finds_the_longest_cached_prefix():
    cache = bench()
    cache.insert([1, 2, 3, 4])
    assert cache.match([1, 2, 3, 9]).device_len == 3


def test_a_match_that_ends_inside_a_node_splits_it():
    cache = bench()
    cache.insert([1, 2, 3, 4])
    cache.match([1, 2])
    assert list(cache.paths()) == [(1, 2), (1, 2, 3, 4)]


def test_a_match_returns_the_pages_of_the_prefix_in_order():
    cache = bench()
    cache.insert([1, 2])
    cache.insert([5])
    cache.insert([1, 2, 3])
    assert cache.match([1, 2, 3]).pages.tolist() == [1, 2, 6]


def test_a_match_never_counts_a_hit():
    cache = bench()
    cache.insert([1, 2])
    for _ in range(3):
        cache.match([1, 2])
    assert cache.node([1, 2]).hit_count == 1


def test_a_match_is_cut_down_to_whole_pages():
    cache = bench(page_size=4)
    cache.insert(range(8))
    assert cache.match(range(7)).device_len == 4


def test_less_than_a_page_matches_the_root():
    cache = bench(page_size=4)
    cache.insert(range(8))
    assert cache.match(range(3)).last_device is cache.cache.tree.root


def test_an_insert_is_cut_down_to_whole_pages():
    cache = bench(page_size=4)
    page = cache.cache.allocator.alloc(1)
    cache.cache.insert(as_tokens(range(7)), page)
    assert list(cache.paths()) == [(0, 1, 2, 3)]


def test_an_insert_returns_what_was_there():
    cache = bench()
    cache.insert([1, 2, 3])
    assert [cache.insert([1, 2, 3, 4]), cache.insert([1, 2, 3, 4])] == [3, 4]


def test_the_tree_takes_only_the_pages_it_lacks():
    cache = bench()
    cache.insert([1, 2, 3])
    cache.insert([1, 2, 3, 4])
    assert cache.account() == (60, 4, 0)
    assert cache.node([1, 2, 3, 4]).value.tolist() == [7]


def test_an_insert_may_bring_only_the_pages_beyond_what_was_locked():
    cache = bench()
    cache.insert([1, 2, 3])
    pages = cache.cache.allocator.alloc(2)
    found = cache.cache.insert(as_tokens([1, 2, 3, 4, 5]), pages, start=3)
    assert (found.prefix_len, found.double_len) == (3, 3)
    assert found.last is cache.node([1, 2, 3, 4, 5])
    assert cache.node([1, 2, 3, 4, 5]).value.tolist() == pages.tolist()


def test_an_insert_counts_a_hit_on_every_node_of_its_path():
    cache = bench()
    cache.insert([1, 2])
    cache.insert([1, 2, 3])
    hits = {path: node.hit_count for path, node in cache.paths().items()}
    assert hits == {(1, 2): 2, (1, 2, 3): 1}


def test_the_lower_half_of_a_split_is_not_hit_by_the_insert_that_split_it():
    cache = bench()
    cache.insert([1, 2, 3, 4])
    cache.insert([1, 2, 9])
    assert cache.node([1, 2]).hit_count == 2
    assert cache.node([1, 2, 3, 4]).hit_count == 1


def test_a_chunked_insert_counts_no_hit():
    cache = bench()
    cache.insert([1, 2], chunked=True)
    assert cache.node([1, 2]).hit_count == 0


def test_a_path_takes_the_highest_priority_that_passed():
    cache = bench()
    cache.insert([1, 2], priority=3)
    cache.insert([1, 2, 3], priority=1)
    cache.insert([1, 2, 3, 4], priority=2)
    priorities = {path: node.priority for path, node in cache.paths().items()}
    assert priorities == {(1, 2): 3, (1, 2, 3): 2, (1, 2, 3, 4): 2}


def test_namespaces_keep_equal_tokens_apart():
    cache = bench()
    cache.insert([1, 2], space="a")
    assert cache.match([1, 2], "b").device_len == 0
    assert cache.match([1, 2], "a").device_len == 2


@pytest.mark.parametrize("page", [1, 4])
def test_the_tree_is_listed_node_by_node(page):
    cache = bench(page_size=page)
    cache.insert(range(8))
    cache.insert([*range(4), 9, 9, 9, 9])
    lines = sorted(cache.cache.tree_lines())
    assert lines == [(0, 0, 4, 1, 0, 2), (4, 4, 4, 1, 0, 1), (9, 4, 4, 1, 0, 1)]


def test_the_trace_of_all_this_folds_to_the_live_state():
    cache = bench(pool_tokens=16)
    cache.insert([1, 2, 3, 4])
    cache.lock([1, 2])
    cache.insert([1, 2, 9], priority=2)
    cache.insert([7, 8], space="a")
    cache.cache.make_room(14)
    assert cache.unsound() == []
