"""Are pages handed out and taken back in the engines' order?"""

from __future__ import annotations

import pytest

from kvlab.config import EngineConfig
from kvlab.memory.allocator import PageAllocator
from kvlab.pages import as_pages
from kvlab.record import events as ev
from kvlab.record.trace import Header, Trace
from kvlab.rules import Rules


def pool(**how: object) -> PageAllocator:
    return PageAllocator("L1", 6, 1, **how)


def test_the_device_begins_with_page_1_since_page_0_is_padding():
    assert pool().alloc(6).tolist() == [1, 2, 3, 4, 5, 6]


def test_the_host_begins_with_page_0():
    assert PageAllocator("L2", 3, 0).alloc(3).tolist() == [0, 1, 2]


def test_too_large_a_demand_gives_none_and_takes_nothing():
    device = pool()
    assert device.alloc(7) is None
    assert device.available == 6


def test_a_demand_for_nothing_gives_no_pages():
    assert pool().alloc(0).tolist() == []


def test_sizes_are_in_tokens():
    device = pool(page_size=16)
    device.alloc(2)
    assert (device.total, device.available) == (96, 64)


def test_a_pool_of_tokens_takes_pages_back_at_its_tail_as_given():
    device = pool()
    pages = device.alloc(3)
    device.free(pages[::-1])
    assert device.free_pages().tolist() == [4, 5, 6, 3, 2, 1]


def test_a_pool_of_larger_pages_takes_them_back_at_its_head_ascending():
    device = pool(page_size=4, paged=True)
    device.alloc(5)
    device.free(as_pages([5, 2]))
    assert device.free_pages().tolist() == [2, 5, 6]


def test_freeing_nothing_changes_nothing():
    device = pool()
    device.free(as_pages([]))
    assert device.available == 6


def test_with_need_sort_pages_rest_until_the_list_runs_short():
    device = pool(need_sort=True)
    device.free(device.alloc(5)[::-1])
    assert device.alloc(1).tolist() == [6]
    assert device.available == 5


def test_with_need_sort_a_short_list_is_sorted_before_it_is_served():
    device = pool(need_sort=True)
    device.free(device.alloc(5)[::-1])
    assert device.alloc(3).tolist() == [1, 2, 3]


def test_with_need_sort_the_list_is_sorted_where_more_is_foreseen_than_taken():
    device = pool(need_sort=True)
    device.free(device.alloc(5)[::-1])
    device.expect(2)
    assert device.alloc(1).tolist() == [1]


@pytest.mark.parametrize("need_sort", [False, True])
def test_all_free_pages_are_listed_the_next_first(need_sort):
    device = pool(need_sort=need_sort)
    device.free(device.alloc(2))
    assert device.free_pages().tolist() == [3, 4, 5, 6, 1, 2]


def traced(**how: object) -> tuple[PageAllocator, Trace]:
    header = Header(config=EngineConfig(pool_tokens=6), rules=Rules.v0_5_14())
    trace = Trace(header)
    return pool(emit=trace, **how), trace


def test_every_change_of_the_free_list_is_told():
    device, trace = traced(need_sort=True)
    device.free(device.alloc(5))
    device.alloc(3)
    kinds = [type(event) for event in trace.events]
    assert kinds == [ev.Alloc, ev.Free, ev.SortFree, ev.Alloc]


def test_what_changes_nothing_is_not_told():
    device, trace = traced()
    device.alloc(0)
    device.alloc(7)
    device.free(as_pages([]))
    assert trace.events == []
